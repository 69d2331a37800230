"""The units of what actuators are commanded in, for people."""

from __future__ import annotations

from typing import Final

UNITS: Final = {"rpm": "rpm", "percent": "%", "angle": "rad", "torque": "N m", "length": "m", "pulse_width": "µs"}
"""By an actuator's keyword; others are shares."""
