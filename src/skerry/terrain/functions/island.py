"""An island, a shoal or a levelled place: the ground rises or falls to a given height about a centre."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from skerry.core.config import Positive
from skerry.terrain.function import Floats, SeededFunctionConfig, ShapingFunctionConfig, cells_near, smooth_noise

INLETS: Final = 0.25
"""Spacing of the noise that makes the outline ragged, in radii; chosen by eye."""
OCTAVES: Final = 3


class IslandFunction(ShapingFunctionConfig, SeededFunctionConfig):
    """At its centre the ground has the height `top`, from its `radius` outwards it is what it was before."""

    kind: Literal["island"] = "island"
    center: tuple[float, float] = Field((0.0, 0.0), description="x and y from the field's centre, m")
    radius: Positive = Field(30.0, description="of its foot, m, on average if it is ragged")
    top: float = Field(5.0, description="height at the centre, m, before `level` is added")
    plateau: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="share of the radius that is level")
    ragged: Annotated[float, Field(ge=0, le=0.5)] = Field(
        0.0, description="how far its outline strays, in radii: one standard deviation"
    )

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        seed = self.known_seed() if self.ragged else 0
        reach = self.radius * (1.0 + 4.0 * self.ragged)  # noise beyond four deviations is cut off
        (east, north), shaped = self.center, ground.copy()
        columns, rows = (cells_near(axis, at - reach, at + reach) for axis, at in ((x, east), (y, north)))
        x, y = x[columns] / self.radius, y[rows] / self.radius
        away = np.hypot(x[None, :] - east / self.radius, y[:, None] - north / self.radius)
        if self.ragged:
            stray = sum(
                0.5**octave * smooth_noise(x * 2**octave / INLETS, y * 2**octave / INLETS, seed, octave)
                for octave in range(OCTAVES)
            )
            away = away / np.clip(1.0 + self.ragged * stray, 0.25, 1.0 + 4.0 * self.ragged)
        slope = np.clip((away - self.plateau) / (1.0 - self.plateau), 0.0, 1.0)
        share = (1.0 - slope * slope) ** 2  # 1 in the middle, level there and at the foot
        shaped[rows, columns] += share * (self.top - shaped[rows, columns])
        return shaped
