"""Keeps a boat that cannot push sideways at a place: the bow turns against what would carry it off, and pushes."""

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
    """Idle until `keep` is called."""

    config: StationKeeping

    def __init__(self, config: StationKeeping) -> None:
        super().__init__(config)
        self.distance: float | None = None
        """To the place that is kept, m; None while there is none."""
        self._here = False  # whether the place is where it is when it next looks

    @property
    def idle(self) -> bool:
        return super().idle and not self._here

    def keep(self, position: Sequence[float] | None = None) -> None:
        """Stay at a place, east and north in m; by default where it is."""
        self.config.check({"east": 0.0, "north": 0.0})
        if position is None:
            self.stop()
            self._here = True
            return
        place = list(position)
        if len(place) != 2 or not all(isfinite(number) for number in place):
            raise SkerryError(f"a place is two numbers, east and north, not {place}")
        self.hold(east=place[0], north=place[1])

    def hold(self, **setpoints: float) -> None:
        if "east" in setpoints and "heading_deg" in setpoints:
            raise SkerryError("keeping a station sets the heading; leave out heading_deg")
        super().hold(**setpoints)
        self._here, self.distance = False, None

    def stop(self) -> None:
        super().stop()
        self._here, self.distance = False, None

    def update_setpoints(self, here: Navigation, sample: SampleView) -> None:
        """Note where the place is, and how far."""
        if (place := here.position()) is None:
            return
        if self._here:
            self.hold(east=place[0], north=place[1])
        if "east" in self.setpoints:
            self.distance = hypot(self.setpoints["east"] - place[0], self.setpoints["north"] - place[1])

    def horizontal_outputs(self, east: float, north: float, yaw: float) -> dict[str, float]:
        """Surge, and from the next time on a heading along the force, if that is more than the hull drifts with."""
        if hypot(east, north) > self.config.least_force:
            self.setpoints["heading_deg"] = float(yaw_to_heading(atan2(north, east)))
        return {"surge": cos(yaw) * east + sin(yaw) * north}

    def state(self) -> bytes:
        return json.dumps([super().state().decode(), self.distance, self._here]).encode()

    def set_state(self, state: bytes) -> None:
        inner, self.distance, self._here = json.loads(state)
        super().set_state(inner.encode())


class StationKeeping(HoldSettings):
    """Settings of a keeper of stations for boats with surge and yaw."""

    kind: Literal["station_keeping"] = "station_keeping"
    least_force: NonNegative = Field(0.0, description="N; a smaller force, as at rest in still water, does not turn it")

    @model_validator(mode="after")
    def _can_turn(self) -> StationKeeping:
        if self.loops.present() and (self.loops.position is None or self.loops.heading is None):
            raise ValueError("keeping a station needs loops for the position and the heading")
        return self

    @property
    def needs_axes(self) -> tuple[str, ...]:
        return ("surge",)

    def build(self) -> StationKeepingController:
        return StationKeepingController(self)
