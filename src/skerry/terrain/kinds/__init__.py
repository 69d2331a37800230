"""Kinds of terrain, one per file."""
