"""Compass: heading of its x axis, with declination, deviation, bias and noise.

Reading = heading − declination − deviation, both positive to the east. The deviation is A + B sin ζ + C cos ζ +
D sin 2ζ + E cos 2ζ of the magnetic heading ζ, where A is a misalignment of the mount, B and C are hard iron, and D and
E soft iron (NGA Pub. 226, Handbook of Magnetic Compass Adjustment). Roll and pitch have no effect, except when the
axis points straight up or down and the heading is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.frames import Pose, rotate, wrap_degrees
from skerry.core.noise import Noise
from skerry.core.rotations import rotate_each_to_world
from skerry.core.units import unit
from skerry.parts.display import Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

NOISE, BIAS = range(2)  # noise channels


@dataclass(frozen=True)
class CompassReading:
    """Heading of the compass."""

    time: float = unit("s")
    heading_deg: float = unit("°")  # clockwise from the compass's north, from 0 to below 360
    variance: float = unit("°²")  # of the noise


class CompassSensor(Sensor[CompassReading]):
    """Compass that measures the heading of its x axis."""

    execution = "batch"

    def __init__(self, config: Compass, offset: Pose) -> None:
        self._config = config
        self._ahead = rotate(offset.orientation, [1.0, 0.0, 0.0])
        self._deviates = any(config.deviation_deg)

    def measure(self, view: SensorView, noise: Noise) -> Readings[CompassReading]:
        config, ahead = self._config, np.empty((len(view), 3))
        rotate_each_to_world(view.motion(config.link), self._ahead, ahead)
        heading = np.degrees(np.arctan2(ahead[:, 0], ahead[:, 1])) - config.declination_deg
        if self._deviates:
            a, b, c, d, e = config.deviation_deg
            angle = np.radians(heading)
            heading -= a + b * np.sin(angle) + c * np.cos(angle) + d * np.sin(2.0 * angle) + e * np.cos(2.0 * angle)
        if config.bias_deg > 0.0:
            heading += config.bias_deg * noise.normal(0, (), BIAS)
        if config.noise_deg > 0.0:
            heading += config.noise_deg * noise.normals(view.ticks, 1, NOISE)[:, 0]
        variance = np.full(len(view), config.noise_deg**2)
        return Readings(
            CompassReading, {"time": view.times, "heading_deg": wrap_degrees(heading), "variance": variance}
        )


class Compass(SensorConfig):
    """Compass. North is the world's y axis, which is grid north if the scenario has a `reference`."""

    display = (Scalars(("heading_deg",)),)
    ros = {"smarc_msgs/FloatStamped": {"data": "heading_deg"}}

    perfect = {"bias_deg": 0.0, "noise_deg": 0.0}

    kind: Literal["compass"] = "compass"
    declination_deg: float = Field(
        0.0, ge=-180, le=180, description="angle of magnetic north east of the world's north; 0 gives the true heading"
    )
    deviation_deg: tuple[float, float, float, float, float] = Field(
        (0.0, 0.0, 0.0, 0.0, 0.0), description="A, B, C, D and E of the deviation caused by the vehicle's iron, °"
    )
    bias_deg: NonNegative = Field(0.0, description="standard deviation of a bias that is constant during a run, °")
    noise_deg: NonNegative = Field(
        0.5, description="standard deviation, °; the default is typical of small tilt-compensated compasses"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"bias_deg": 1} | settings)

    def build(self) -> CompassSensor:
        return CompassSensor(self, self.offset())
