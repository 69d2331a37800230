"""Sampling: schedules of sensors, the buffer of past samples, and the views that sensors get of them."""
