"""The kinds of ground, one per file."""
