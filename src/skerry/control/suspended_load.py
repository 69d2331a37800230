"""A multirotor that flies as by geometric tracking, and lets the load go where it would go while its rope carries one.

Its law is that of `load_law.py`. The load's mass is given, or taken from the rope's pull, smoothed over a third of a
second, so that a load that floats counts for what it weighs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skerry.control.geometric_tracking import GeometricTracking, GeometricTrackingController, Words
from skerry.control.tracking.load_law import LOAD_CAP
from skerry.control.tracking.native_tracking import LOAD_MASS, PULL
from skerry.core.config import Positive
from skerry.parts.native_controller import NativeView


class SuspendedLoadController(GeometricTrackingController):
    """Flies as the geometric tracking controller does, and lets the load go where it would go while it carries one."""

    _config: SuspendedLoad

    def __init__(self, config: SuspendedLoad) -> None:
        super().__init__(config)
        self._load_gains[: LOAD_CAP + 1] = (
            config.load_position_gain,
            config.load_velocity_gain,
            config.direction_gain,
            config.turning_gain,
            config.load_error_cap,
        )
        self._constants[LOAD_MASS] = config.load_mass or 0.0

    @property
    def carried(self) -> float:
        """The mass that it takes its load to have, kg."""
        return self._config.load_mass or float(self._memory[PULL]) / 9.81

    def _ropes(self, view: NativeView) -> list[Words | None]:
        buoy = self._config.swoop_to_rope
        return [view.rope_offsets(self._config.rope), None if buoy is None else view.rope_offsets(buoy)]


class SuspendedLoad(GeometricTracking):
    """Tracking by a multirotor that carries a load on a rope."""

    kind: Literal["suspended_load"] = "suspended_load"  # type: ignore[assignment]
    rope: str = Field(min_length=1, description="the rope that the load hangs on")
    load_mass: Positive | None = Field(None, description="kg; by default from the rope's pull")
    load_position_gain: Positive = Field(0.8, description="of the load, 1/s²")
    load_velocity_gain: Positive = Field(1.6, description="of the load, 1/s")
    direction_gain: Positive = Field(12.0, description="of the rope's direction, 1/s²")
    turning_gain: Positive = Field(6.0, description="of its rate, 1/s")
    load_error_cap: Positive = Field(2.0, description="m; a longer distance of the load counts as this")
    swoop_to_rope: str | None = Field(
        None, description="a rope whose end it swoops to while it carries nothing, whatever else it is to track"
    )

    def build(self) -> SuspendedLoadController:
        return SuspendedLoadController(self)
