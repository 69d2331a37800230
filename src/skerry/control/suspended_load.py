"""Geometric tracking of a multirotor with a rope: while the rope carries a load, the load tracks the target.

The law is that of `load_law.py`. The mass of the load is given, or estimated from the pull of the rope, smoothed over
0.3 s. A floating load therefore counts only with the weight that the rope carries.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from skerry.control.geometric_tracking import GeometricTracking, GeometricTrackingController, Words
from skerry.control.tracking.load_law import LOAD_CAP
from skerry.control.tracking.native_tracking import LOAD_MASS, PULL
from skerry.core.config import Positive
from skerry.parts.native_controller import NativeView


class SuspendedLoadController(GeometricTrackingController):
    """Geometric tracking; while the rope carries a load, the load tracks the target instead of the vehicle."""

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
        """Mass of the load in the controller's model, kg."""
        return self._config.load_mass or float(self._memory[PULL]) / 9.81

    def _ropes(self, view: NativeView) -> list[Words | None]:
        swoop = self._config.swoop_to_rope
        return [view.rope_offsets(self._config.rope), None if swoop is None else view.rope_offsets(swoop)]


class SuspendedLoad(GeometricTracking):
    """Settings of tracking with a load on a rope."""

    example_vehicle = "quadrotor"

    kind: Literal["suspended_load"] = "suspended_load"  # type: ignore[assignment]
    rope: str = Field(min_length=1, description="rope that carries the load")
    load_mass: Positive | None = Field(None, description="mass of the load, kg; by default from the pull of the rope")
    load_position_gain: Positive = Field(0.8, description="position gain of the load, 1/s²")
    load_velocity_gain: Positive = Field(1.6, description="velocity gain of the load, 1/s")
    direction_gain: Positive = Field(12.0, description="gain of the direction of the rope, 1/s²")
    turning_gain: Positive = Field(6.0, description="gain of the rate of the direction, 1/s")
    load_error_cap: Positive = Field(2.0, description="cap on the position error of the load, m")
    swoop_to_rope: str | None = Field(
        None, description="rope to whose end it swoops while it carries no load; replaces the other target"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"rope": "lift", "load_mass": 5} | settings)

    def build(self) -> SuspendedLoadController:
        return SuspendedLoadController(self)
