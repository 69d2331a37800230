"""Readers of georeferenced grids, one per file format."""
