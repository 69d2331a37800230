"""Magnetometer: the Earth's magnetic field in the sensor's axes, distorted by the vehicle's iron.

m = S Rᵀ B + h + noise, with B the field in the world, S the soft iron and h the hard iron (Renaudin, Afzal and
Lachapelle: "Complete triaxis magnetometer calibration in the magnetic domain", Journal of Sensors 2010). B has the same
strength and direction everywhere in a world: F (cos I sin D, cos I cos D, −sin I) east, north and up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.rotations import rotate_each_to_frame
from skerry.core.units import unit
from skerry.parts.display import Scalars
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

# At Stockholm, 59.33° N 18.07° E at sea level, on 1 January 2025, by the World Magnetic Model 2025 (NOAA and BGS).
STRENGTH: Final = 51.81e-6  # T
INCLINATION: Final = 72.85  # ° below the horizon
DECLINATION: Final = 7.46  # ° east of true north


@dataclass(frozen=True)
class MagnetometerReading:
    """Magnetic field in the sensor's axes (FLU)."""

    time: float = unit("s")
    field: NDArray[np.float64] = unit("T")
    covariance: NDArray[np.float64] = unit("T²")  # (3, 3)


class MagnetometerSensor(Sensor[MagnetometerReading]):
    """Magnetometer with hard iron, soft iron and noise."""

    execution = "batch"

    def __init__(self, config: Magnetometer, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        down, east = radians(config.inclination_deg), radians(config.declination_deg)
        self._field = config.strength * np.array([cos(down) * sin(east), cos(down) * cos(east), -sin(down)])
        self._soft = None if config.soft_iron == IDENTITY else np.array(config.soft_iron)
        self._hard = np.array(config.hard_iron)
        self._covariance = np.eye(3) * config.noise**2
        self._covariance.setflags(write=False)

    def measure(self, view: SensorView, noise: Noise) -> Readings[MagnetometerReading]:
        field = np.empty((len(view), 3))
        rotate_each_to_frame(view.motion(self._config.link, self._offset), self._field, field)
        if self._soft is not None:
            field = field @ self._soft.T
        field = field + self._hard
        if self._config.noise > 0.0:
            field += self._config.noise * noise.normals(view.ticks, 3)
        covariance = shared(self._covariance, len(view))
        return Readings(MagnetometerReading, {"time": view.times, "field": field, "covariance": covariance})


IDENTITY: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Magnetometer(SensorConfig):
    """Magnetometer. The default field is that of Stockholm."""

    display = (Scalars(vectors=("field",)),)
    ros = {"sensor_msgs/MagneticField": {"magnetic_field": "field", "magnetic_field_covariance": "covariance"}}

    perfect = {"noise": 0.0}

    kind: Literal["magnetometer"] = "magnetometer"
    strength: Positive = Field(STRENGTH, description="strength of the field, T")
    inclination_deg: float = Field(INCLINATION, ge=-90, le=90, description="angle of the field below the horizon")
    declination_deg: float = Field(
        DECLINATION, ge=-180, le=180, description="angle of the field east of the world's north"
    )
    hard_iron: Vector3 = Field((0.0, 0.0, 0.0), description="field of the vehicle's magnets, T, in the sensor's axes")
    soft_iron: tuple[Vector3, Vector3, Vector3] = Field(
        IDENTITY, description="3×3 matrix of the vehicle's soft iron, in the sensor's axes; identity by default"
    )
    noise: NonNegative = Field(
        1e-7, description="standard deviation per axis, T; the default is that of small magneto-inductive sensors"
    )

    def build(self) -> MagnetometerSensor:
        return MagnetometerSensor(self, self.offset())
