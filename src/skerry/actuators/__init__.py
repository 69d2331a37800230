"""Actuators, one kind per file, each with its native law."""
