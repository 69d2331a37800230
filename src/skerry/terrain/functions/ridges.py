"""Height function: parallel ridges, such as sand waves and ripples."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import heading_to_yaw
from skerry.terrain.function import Floats, SeededFunctionConfig, smooth_noise

WANDER_LENGTH: Final = 2.0
"""Spacing of the noise that shifts the crests, in wavelengths; chosen by eye."""


class RidgesFunction(SeededFunctionConfig):
    """Cosine across the ridges, whose crests deviate from straight lines."""

    kind: Literal["ridges"] = "ridges"
    height: NonNegative = Field(0.5, description="from trough to crest, m")
    wavelength: Positive = Field(10.0, description="from crest to crest, m")
    heading_deg: float = Field(0.0, description="heading across the ridges")
    wander: NonNegative = Field(
        0.15, description="standard deviation of the crests from straight lines, in wavelengths"
    )

    def heights(self, x: Floats, y: Floats) -> Floats:
        yaw = heading_to_yaw(self.heading_deg)
        across = (np.cos(yaw) * x[None, :] + np.sin(yaw) * y[:, None]) / self.wavelength
        length = WANDER_LENGTH * self.wavelength
        stray = self.wander * smooth_noise(x / length, y / length, self.known_seed(), 0)
        return self.height / 2 * np.cos(2 * math.pi * (across + stray))
