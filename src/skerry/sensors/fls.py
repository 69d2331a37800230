"""Forward-looking sonar: an image of range by beam, and a point cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Positive
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Cloud, Rays, SonarFan
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.sonar import BucketConfig, BucketSonar, Bytes, Fan, Singles, SonarCloud, forward_fan

MAX_VALUES = 1 << 24  # maximum number of rays, and of values in an image


@dataclass(frozen=True, eq=False)
class FlsReading:
    """Image and point cloud of a ping."""

    time: float = unit("s")
    bin_size: float = unit("m")
    azimuths: NDArray[np.float64] = unit("rad")  # (beams,), positive to the left, from the leftmost to the rightmost
    image: Singles = unit("µPa²")  # (beams, bins), after gain
    levels: Bytes = unit("")  # (beams, bins), amplitudes
    cloud: SonarCloud = unit()


class FlsSensor(BucketSonar[FlsReading]):
    """Forward-looking sonar."""

    def __init__(self, config: Fls, fan: Fan, azimuths: NDArray[np.float64]) -> None:
        super().__init__(config, fan, config.beams, config.bins)
        self._azimuths = azimuths
        self._azimuths.setflags(write=False)

    def measure(self, view: SensorView, noise: Noise) -> Readings[FlsReading]:
        pings = self.pings(view, noise)
        found = self.fill(noise, pings)
        return Readings(
            FlsReading,
            {
                "time": view.times,
                "bin_size": np.full(len(view), self.bucket_size),
                "azimuths": shared(self._azimuths, len(view)),
                "image": found.intensity,
                "levels": found.levels,
                "cloud": self.clouds(noise, pings),
            },
            pings.valid,
        )


class Fls(BucketConfig):
    """Forward-looking sonar."""

    display = (
        SonarFan("levels", "azimuths", "bin_size"),
        Cloud("cloud.points", "cloud.pose", "cloud.levels"),
        Rays("cloud.points", "cloud.pose"),
    )

    kind: Literal["fls"] = "fls"
    frequency_khz: float = Field(750.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    beam_breadth_deg: float = Field(
        20.0, gt=0, le=180, description="angle of each beam from its upper to its lower edge"
    )
    tilt_deg: float = Field(0.0, ge=-90, le=90, description="angle of the beams' upper edge below level")
    fov_deg: float = Field(120.0, gt=0, le=360, description="angle from the leftmost beam to the rightmost")
    beams: int = Field(256, ge=2, le=4096, description="number of beams")
    rays_per_beam: int = Field(
        128, ge=2, le=65536, description="rays of a beam, spread evenly from its upper to its lower edge"
    )
    bins: int = Field(512, ge=1, le=100_000, description="range bins of each beam")
    max_range: Positive = Field(40.0, description="maximum range, m")

    @model_validator(mode="after")
    def _fit_memory(self) -> Fls:
        for name, each in (("rays_per_beam", self.rays_per_beam), ("bins", self.bins)):
            if self.beams * each > MAX_VALUES:
                raise ValueError(f"`beams` × `{name}` ({self.beams * each}) must not be more than {MAX_VALUES}")
        return self

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"beams": 16, "rays_per_beam": 8, "bins": 40} | settings)

    def build(self) -> FlsSensor:
        fov, breadth, tilt = np.radians([self.fov_deg, self.beam_breadth_deg, self.tilt_deg])
        right = np.linspace(-fov / 2, fov / 2, self.beams)
        return FlsSensor(self, forward_fan(right, fov / self.beams, breadth, self.rays_per_beam, tilt), -right)
