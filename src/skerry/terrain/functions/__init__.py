"""Functions that give a heightfield its heights, one per file."""
