"""Water surfaces, one kind per file."""
