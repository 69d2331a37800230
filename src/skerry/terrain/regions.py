"""Materials by height and slope: sand on the shore, rock where it is steep, mud in the deep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config
from skerry.terrain.function import Floats


class RegionConfig(Config):
    """What ground of some heights and slopes is made of; bounds that are left out do not bind."""

    material: str = Field(min_length=1)
    above: float | None = Field(None, description="z in the world, m")
    below: float | None = Field(None, description="z in the world, m")
    steeper_than_deg: float | None = Field(None, ge=0, le=90)
    flatter_than_deg: float | None = Field(None, ge=0, le=90)

    @model_validator(mode="after")
    def _bounds_leave_room(self) -> RegionConfig:
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError("nothing is `above` and `below` these heights; exchange them")
        steepest, flattest = self.flatter_than_deg, self.steeper_than_deg
        if steepest is not None and flattest is not None and flattest >= steepest:
            raise ValueError("nothing is `steeper_than_deg` and `flatter_than_deg` these slopes; exchange them")
        return self

    def covers(self, height: Floats, slope_deg: Floats) -> NDArray[np.bool_]:
        """Whether it holds ground of these heights and slopes."""
        held = np.ones(height.shape, np.bool_)
        if self.above is not None:
            held &= height >= self.above
        if self.below is not None:
            held &= height < self.below
        if self.steeper_than_deg is not None:
            held &= slope_deg >= self.steeper_than_deg
        if self.flatter_than_deg is not None:
            held &= slope_deg < self.flatter_than_deg
        return held


def materials_by_region(
    heights: Floats, size: tuple[float, float], regions: Sequence[RegionConfig], elsewhere: str
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The names of the materials, and the place among them of each cell: that of the first region that covers it.

    A cell counts by the mean height and the mean slope of its corners.
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
