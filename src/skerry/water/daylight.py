"""Daylight: direction of the sun, and light of sun and sky for each colour channel of a camera.

The sun's beam is attenuated by the optical depth of the air times the air mass at the sun's elevation (Kasten & Young
1989, Applied Optics 28, 4735–4738). The optical depths are those of Rayleigh scattering at 625, 525 and 450 nm
(Bucholtz 1995, Applied Optics 34, 2765–2773) plus 0.1 for haze over a clear sea. A cloud cover N transmits
1 − ¾ N^3.4 of the light (Kasten & Czeplak 1980, Solar Energy 24, 177–189); the diffuse part grows with N. All light is
relative to the beam of a sun in the zenith of a clear sky.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, NonNegative
from skerry.core.frames import heading_to_yaw

Colours = NDArray[np.float64]
AIR_DEPTH: Final = np.array([0.058, 0.117, 0.222]) + 0.1
BLUE_SKY: Final = np.array([0.45, 0.83, 1.72])  # colour channels of the skylight over their mean; chosen by eye
TWILIGHT: Final = 4.0  # degrees below the horizon at which a tenth of the skylight remains


@dataclass(frozen=True, eq=False)
class Daylight:
    """Light of sun and sky; colours are red, green, blue, in linear light."""

    sun_direction: NDArray[np.float64]  # (3,), towards the sun, in the world
    sun: Colours  # irradiance of the sun's beam on a surface that faces the sun
    ambient: Colours  # irradiance of the sky on horizontal ground
    zenith: (
        Colours  # radiance of the blue sky in the zenith, in units of a white horizontal surface under a uniform sky
    )
    horizon: Colours  # radiance of the haze at the horizon
    clouds: Colours  # radiance of clouds
    cloud: float  # fraction of the sky that clouds cover


class SkyConfig(Config):
    """Sun and sky for cameras."""

    sun_elevation_deg: float = Field(
        45.0, ge=-10, le=90, description="elevation above the horizon; below 0 is twilight"
    )
    sun_heading_deg: float = Field(200.0, description="direction of the sun, clockwise from north")
    brightness: NonNegative = Field(1.0, description="factor of all daylight; 0 is a night without moon")
    cloud: float = Field(0.2, ge=0, le=1, description="fraction of the sky that clouds cover")
    ambient: NonNegative = Field(0.25, description="skylight of a clear sky relative to a sun in the zenith")

    def build(self) -> Daylight:
        height = radians(self.sun_elevation_deg)
        yaw = float(heading_to_yaw(self.sun_heading_deg))
        direction = np.array([cos(height) * cos(yaw), cos(height) * sin(yaw), sin(height)])
        sun = np.zeros(3)
        if self.sun_elevation_deg > 0:
            air_mass = 1.0 / (sin(height) + 0.50572 * (self.sun_elevation_deg + 6.07995) ** -1.6364)
            sun = np.exp(-AIR_DEPTH * (air_mass - 1.0))
        share = min(1.0, 0.35 + 0.65 * max(sin(height), 0.0)) * 10.0 ** min(self.sun_elevation_deg / TWILIGHT, 0.0)
        clear = self.ambient * share * BLUE_SKY
        # Clouds absorb a part of the beam and scatter the rest, which reaches the ground as diffuse light.
        left = 1.0 - 0.75 * self.cloud**3.4
        level = sun * max(sin(height), 0.0)
        beam = 1.0 - self.cloud
        grey = np.full(3, float(np.mean((level + clear) * left - level * beam * left)))
        diffuse = (1.0 - self.cloud) * clear + self.cloud * np.maximum(grey, 0.0)
        haze = 0.3 * clear + 0.7 * float(np.mean(clear))
        return Daylight(
            direction,
            self.brightness * beam * left * sun,
            self.brightness * diffuse,
            self.brightness * 0.8 * clear,
            self.brightness * 1.6 * haze,
            self.brightness * np.maximum(1.2 * grey / max(self.cloud, 0.5), 0.0),
            self.cloud,
        )
