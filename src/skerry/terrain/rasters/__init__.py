"""Readers of georeferenced grids, one file format per module."""
