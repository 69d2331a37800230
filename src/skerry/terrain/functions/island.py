"""Height function: an island, a shoal or a levelled area, where the ground reaches a given height at a centre."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import Positive
from skerry.terrain.function import Floats, SeededFunctionConfig, ShapingFunctionConfig, cells_near, smooth_noise

INLETS: Final = 0.25
"""Spacing of the noise of a ragged outline, in radii; chosen by eye."""
OCTAVES: Final = 3
"""Number of octaves of the noise of a ragged outline."""


class IslandFunction(ShapingFunctionConfig, SeededFunctionConfig):
    """Island: the ground has the height `top` at the centre and is not changed beyond the `radius`."""

    kind: Literal["island"] = "island"
    center: tuple[float, float] = Field((0.0, 0.0), description="x and y relative to the centre of the field, m")
    radius: Positive = Field(30.0, description="radius of the foot, m; the mean if the outline is ragged")
    top: float = Field(5.0, description="height at the centre, m, before `level` is added")
    plateau: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="fraction of the radius that is flat")
    ragged: Annotated[float, Field(ge=0, le=0.5)] = Field(
        0.0, description="standard deviation of the outline, in radii"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"ragged": 0.2} | settings)

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        seed = self.known_seed() if self.ragged else 0
        reach = self.radius * (1.0 + 4.0 * self.ragged)  # noise beyond four standard deviations is clipped
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
        share = (1.0 - slope * slope) ** 2  # 1 at the centre; slope 0 there and at the foot
        shaped[rows, columns] += share * (self.top - shaped[rows, columns])
        return shaped
