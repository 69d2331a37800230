"""Sensors, one kind per file."""
