"""Height function: boulders, or knolls with larger radii, scattered over the ground."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.terrain.function import Floats, SeededFunctionConfig, cells_near, random_numbers


class BouldersFunction(SeededFunctionConfig):
    """Half ellipsoids at random positions in a rectangle; where two overlap, the higher one counts."""

    kind: Literal["boulders"] = "boulders"
    count: Annotated[int, Field(ge=0, le=100_000)] = 100
    radius: tuple[Positive, Positive] = Field((0.5, 2.0), description="radius of the smallest and of the largest, m")
    flatness: NonNegative = Field(0.7, description="height over radius")
    center: tuple[float, float] = Field(
        (0.0, 0.0), description="centre of the rectangle relative to the centre of the field, m"
    )
    size: tuple[Positive, Positive] = Field((100.0, 100.0), description="size of the rectangle along x and y, m")

    @model_validator(mode="after")
    def _smallest_first(self) -> BouldersFunction:
        if self.radius[0] > self.radius[1]:
            raise ValueError("`radius` must be the smallest radius, then the largest")
        return self

    def heights(self, x: Floats, y: Floats) -> Floats:
        seed = self.known_seed()
        east, north, share = (random_numbers(seed, layer, self.count) for layer in range(3))
        east = self.center[0] + self.size[0] / 2 * east
        north = self.center[1] + self.size[1] / 2 * north
        # uniform in the logarithm, as for fragments of rock: many small boulders, few large ones
        low, high = np.log(self.radius)
        radius = np.exp(low + (high - low) * (share + 1.0) / 2)
        total = np.zeros((len(y), len(x)))
        for cx, cy, r in zip(east.tolist(), north.tolist(), radius.tolist(), strict=True):
            columns, rows = cells_near(x, cx - r, cx + r), cells_near(y, cy - r, cy + r)
            away = ((x[columns] - cx) / r) ** 2 + ((y[rows, None] - cy) / r) ** 2
            part = total[rows, columns]
            np.maximum(part, self.flatness * r * np.sqrt(np.maximum(1.0 - away, 0.0)), out=part)
        return total
