"""Actuators, one kind per file, its law beside it."""
