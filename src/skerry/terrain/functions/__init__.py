"""Height functions of a heightfield, one kind per file."""
