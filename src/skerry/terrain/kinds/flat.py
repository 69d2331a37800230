"""Terrain: flat and unbounded."""

from __future__ import annotations

import math
from typing import Any, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from skerry.core.geo import Projection
from skerry.core.kernels import floats
from skerry.core.meshes import Mesh
from skerry.terrain.ground import POINT, ROWS, ground, write_ground, write_no_ground
from skerry.terrain.terrain import ContactPlane, Terrain, TerrainConfig

REACH: Final = 10_000.0
"""Half the side of the plane for rays, m; beyond it, their single precision is too coarse."""


@ground
def flat(table: int, count: int, rows: int) -> None:
    """Native function of flat ground. Table: z."""
    z = floats(table, 1)[0]
    block = floats(rows, ROWS * count)
    for i in range(count):
        if math.isfinite(block[POINT * count + i]) and math.isfinite(block[(POINT + 1) * count + i]):
            write_ground(block, count, i, z, 0.0, 0.0, 0.0)
        else:
            write_no_ground(block, count, i)


class FlatGround(Terrain):
    """Flat, unbounded ground."""

    def __init__(self, z: float, material: str, friction: float) -> None:
        super().__init__(flat, np.array([z]), (material,), friction)
        self.z = z

    @property
    def extent(self) -> tuple[float, float, float, float]:
        return (-math.inf, -math.inf, math.inf, math.inf)

    @property
    def contact(self) -> ContactPlane:
        return ContactPlane(self.z)

    def triangles(self) -> Mesh:
        """Return a square of ±`REACH`."""
        corners = [[x * REACH, y * REACH, self.z] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
        return Mesh(np.array(corners), faces, np.zeros(2, np.int32), self.materials)


class FlatTerrain(TerrainConfig):
    """Flat ground at a `depth` below z = 0, or at a `z`."""

    kind: Literal["flat"] = "flat"
    depth: float | None = Field(None, description="depth below z = 0, m, positive down")
    z: float | None = Field(None, description="height of the ground, m, positive up")

    @model_validator(mode="after")
    def _check_form(self) -> FlatTerrain:
        if (self.depth is None) == (self.z is None):
            raise ValueError("give either `depth` or `z`")
        return self

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"depth": 20} | settings)

    def build(self, projection: Projection | None = None) -> FlatGround:
        if self.z is not None:
            return FlatGround(self.z, self.material, self.friction)
        assert self.depth is not None
        return FlatGround(-self.depth, self.material, self.friction)
