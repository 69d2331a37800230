"""Kinds of currents, one per file; several currents are added."""
