"""Station keeping for boats without sideways thrust: the bow turns against the drift, and surge holds the position."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import atan2, cos, hypot, isfinite, sin
from typing import Literal

from pydantic import Field, model_validator

from skerry.control.hold import HoldController, HoldSettings
from skerry.control.loops.navigation import Navigation
from skerry.core.config import NonNegative
from skerry.core.errors import SkerryError
from skerry.core.frames import yaw_to_heading
from skerry.parts.sensor import SampleView


class StationKeepingController(HoldController):
    """Station keeping controller; idle until `keep` is called."""

    config: StationKeeping

    def __init__(self, config: StationKeeping) -> None:
        super().__init__(config)
        self.distance: float | None = None
        """Distance to the held position, m; None without one."""
        self._here = False  # whether the position at the next act becomes the held position

    @property
    def idle(self) -> bool:
        return super().idle and not self._here

    def keep(self, position: Sequence[float] | None = None) -> None:
        """Hold a position.

        Args:
            position: East and north, m; by default the present position.

        Raises:
            SkerryError: If the position is not two finite numbers, or the settings have no loop for it.
        """
        self.config.check({"east": 0.0, "north": 0.0})
        if position is None:
            self.stop()
            self._here = True
            return
        values = list(position)
        if len(values) != 2 or not all(isfinite(number) for number in values):
            raise SkerryError(f"a position is two numbers, east and north, not {values}")
        self.hold(east=values[0], north=values[1])

    def hold(self, **setpoints: float) -> None:
        if "east" in setpoints and "heading_deg" in setpoints:
            raise SkerryError("station keeping controls the heading; omit heading_deg")
        super().hold(**setpoints)
        self._here, self.distance = False, None

    def stop(self) -> None:
        super().stop()
        self._here, self.distance = False, None

    def update_setpoints(self, here: Navigation, sample: SampleView) -> None:
        """Set the held position if it is the present one, and update the distance."""
        if (position := here.position()) is None:
            return
        if self._here:
            self.hold(east=position[0], north=position[1])
        if "east" in self.setpoints:
            self.distance = hypot(self.setpoints["east"] - position[0], self.setpoints["north"] - position[1])

    def horizontal_outputs(self, east: float, north: float, yaw: float) -> dict[str, float]:
        """Return the surge; a force above `least_force` also sets the heading along it, from the next act on."""
        if hypot(east, north) > self.config.least_force:
            self.setpoints["heading_deg"] = float(yaw_to_heading(atan2(north, east)))
        return {"surge": cos(yaw) * east + sin(yaw) * north}

    def state(self) -> bytes:
        return json.dumps([super().state().decode(), self.distance, self._here]).encode()

    def set_state(self, state: bytes) -> None:
        inner, self.distance, self._here = json.loads(state)
        super().set_state(inner.encode())


class StationKeeping(HoldSettings):
    """Settings of station keeping for boats with surge and yaw."""

    kind: Literal["station_keeping"] = "station_keeping"
    least_force: NonNegative = Field(
        0.0, description="smallest force that changes the heading, N; avoids turning in still water"
    )

    @model_validator(mode="after")
    def _check_needed_loops(self) -> StationKeeping:
        if self.loops.present() and (self.loops.position is None or self.loops.heading is None):
            raise ValueError("station keeping needs the loops `position` and `heading`")
        return self

    @property
    def needs_axes(self) -> tuple[str, ...]:
        return ("surge",)

    def build(self) -> StationKeepingController:
        return StationKeepingController(self)
