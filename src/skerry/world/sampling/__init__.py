"""Sampling: how sensors see the world at past ticks, and when each sensor is due."""
