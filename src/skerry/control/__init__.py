"""Controllers that a robot may carry, one kind per file."""
