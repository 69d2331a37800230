"""Units of actuator commands, as the page shows them."""

from __future__ import annotations

from typing import Final

UNITS: Final = {"rpm": "rpm", "percent": "%", "angle": "rad", "torque": "N m", "length": "m", "pulse_width": "µs"}
"""Unit by the keyword of the actuator's command. Commands with other keywords are fractions without a unit."""
