"""Materials by height and slope, such as sand on the shore, rock on steep slopes and mud in deep water."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config
from skerry.terrain.function import Floats


class RegionConfig(Config):
    """Material of the ground within a range of heights and slopes; omitted bounds do not limit the region."""

    material: str = Field(min_length=1)
    above: float | None = Field(None, description="lower bound of z in the world, m")
    below: float | None = Field(None, description="upper bound of z in the world, m")
    steeper_than_deg: float | None = Field(None, ge=0, le=90)
    flatter_than_deg: float | None = Field(None, ge=0, le=90)

    @model_validator(mode="after")
    def _check_bounds(self) -> RegionConfig:
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError("`above` must be less than `below`; exchange them")
        steepest, flattest = self.flatter_than_deg, self.steeper_than_deg
        if steepest is not None and flattest is not None and flattest >= steepest:
            raise ValueError("`steeper_than_deg` must be less than `flatter_than_deg`; exchange them")
        return self

    def covers(self, height: Floats, slope_deg: Floats) -> NDArray[np.bool_]:
        """Return whether ground of these heights (m) and slopes belongs to the region."""
        covered = np.ones(height.shape, np.bool_)
        if self.above is not None:
            covered &= height >= self.above
        if self.below is not None:
            covered &= height < self.below
        if self.steeper_than_deg is not None:
            covered &= slope_deg >= self.steeper_than_deg
        if self.flatter_than_deg is not None:
            covered &= slope_deg < self.flatter_than_deg
        return covered


def materials_by_region(
    heights: Floats, size: tuple[float, float], regions: Sequence[RegionConfig], elsewhere: str
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the names of the materials, and for each cell the index of its material.

    A cell gets the material of the first region that covers the mean height and mean slope of its corners, or
    `elsewhere` if no region does.
    """
    rows, columns = heights.shape
    sw, se, nw, ne = heights[:-1, :-1], heights[:-1, 1:], heights[1:, :-1], heights[1:, 1:]
    east = (se + ne - sw - nw) * ((columns - 1) / (2 * size[0]))
    north = (nw + ne - sw - se) * ((rows - 1) / (2 * size[1]))
    slope_deg = np.degrees(np.arctan(np.hypot(east, north)))
    height = (sw + se + nw + ne) / 4
    names = tuple(dict.fromkeys((elsewhere, *(region.material for region in regions))))
    cells = np.zeros(height.shape, np.int32)
    for region in reversed(regions):
        cells[region.covers(height, slope_deg)] = names.index(region.material)
    return names, cells
