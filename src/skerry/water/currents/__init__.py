"""Currents, one kind per file; several of them add up."""
