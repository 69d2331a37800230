"""Multibeam echo sounder: a fan of rays across the track, and the points that they hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Cloud, Rays
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.sonar import SonarCloud, SonarConfig, SonarSensor, across_track_fan


@dataclass(frozen=True, eq=False)
class MbesReading:
    """Swath of points, from port to starboard."""

    time: float = unit("s")
    cloud: SonarCloud = unit()


class MbesSensor(SonarSensor[MbesReading]):
    """Multibeam echo sounder."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[MbesReading]:
        pings = self.pings(view, noise)
        return Readings(MbesReading, {"time": view.times, "cloud": self.clouds(noise, pings)}, pings.valid)


class Mbes(SonarConfig):
    """Multibeam echo sounder that points down, or to one side."""

    display = (Cloud("cloud.points", "cloud.pose", "cloud.levels"), Rays("cloud.points", "cloud.pose"))

    kind: Literal["mbes"] = "mbes"
    thickness_deg: float = Field(1.0, gt=0, le=90, description="thickness of the fan along the track")
    tilt_deg: float | None = Field(
        None, ge=0, le=90, description="angle of the fan's upper edge below level; by default the fan points down"
    )
    side: Literal["port", "starboard"] = Field(
        "starboard", description="side of the upper edge of a fan with `tilt_deg`"
    )
    tvg_spreading: float = Field(20.0, ge=0, le=100, description="time-varied gain, dB per decade of range")

    def build(self) -> MbesSensor:
        breadth, thickness = np.radians([self.beam_breadth_deg, self.thickness_deg])
        middle = 0.0
        if self.tilt_deg is not None:
            middle = (np.pi - breadth) / 2 - np.radians(self.tilt_deg)
        if self.side == "port":
            middle = -middle
        return MbesSensor(self, across_track_fan(breadth, self.rays_per_beam, middle, thickness))
