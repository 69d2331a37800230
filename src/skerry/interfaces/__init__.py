"""The border: peers that see and command the world, one kind per file."""
