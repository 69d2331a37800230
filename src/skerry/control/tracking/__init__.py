"""Trajectory tracking of multirotors: control laws and their native versions."""
