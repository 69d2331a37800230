"""The ground as one object: heights, normals and materials, triangles for rays, a shape for contacts."""

from __future__ import annotations

import ctypes
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Family, KindConfig, NonNegative
from skerry.core.errors import SkerryError
from skerry.core.geo import Projection
from skerry.core.meshes import Mesh
from skerry.terrain.ground import HEIGHT, MATERIAL, NORMAL, POINT, ROWS

Floats = NDArray[np.float64]

MAX_NODES: Final = 4096 * 4096
"""Of a grid of heights: 128 MiB of them, and 33 million triangles."""

TERRAINS = Family("terrains", "skerry.terrain.kinds")


def count_nodes(side: float, resolution: float) -> int:
    """How many nodes a side of a grid needs so that they are no further apart than the resolution, m."""
    # A hair fewer: 10 m by 0.1 m are 100 cells, not 101. And a bound, because the quotient may be infinite.
    return max(math.ceil(min(side / resolution, 1e9) - 1e-9), 1) + 1


@dataclass(frozen=True)
class ContactPlane:
    """The ground as bodies touch it: an endless level plane."""

    z: float


@dataclass(frozen=True, eq=False)
class ContactHeightfield:
    """The ground as bodies touch it: a grid of heights, its cells cut from south-west to north-east."""

    center: tuple[float, float]  # x and y in the world, m
    half_size: tuple[float, float]  # from the centre to the outermost nodes, m
    lowest: float  # z of the lowest node, m
    heights: NDArray[np.float32]  # (rows, columns) above `lowest`, m; rows northwards, columns eastwards
    thickness: float = 1.0  # of the ground below its lowest node, m; what sinks deeper falls through


@dataclass(frozen=True, eq=False)
class GroundSample:
    """The ground below or above some points; leading shape is that of the points."""

    height: Floats  # z, m; NaN where there is no ground
    normal: Floats  # (…, 3), of length 1, upwards; NaN where there is no ground
    material: NDArray[np.int32]  # places in the terrain's `materials`; −1 where there is no ground


class Terrain(ABC):
    """The ground. Native code calls it by `address` and `table_address`, through `call3`; see `ground.py`."""

    def __init__(self, function: Any, table: Floats, materials: tuple[str, ...], friction: float) -> None:
        self.materials = materials
        self.friction = friction
        self.address: int = function.address
        self.table_address: int = table.ctypes.data
        self._table = table
        self._call: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(function.address)

    @property
    @abstractmethod
    def extent(self) -> tuple[float, float, float, float]:
        """The rectangle that all ground lies in: west, south, east and north edge, m; infinite if endless."""

    @property
    @abstractmethod
    def contact(self) -> ContactPlane | ContactHeightfield:
        """The shape that bodies touch."""

    @abstractmethod
    def triangles(self) -> Mesh:
        """The ground as triangles, for rays: the surface that `height` gives, each face with its material."""

    def sample(self, points: ArrayLike) -> GroundSample:
        """Height, normal and material at points (…, 2), x and y in the world."""
        given = np.asarray(points, np.float64)
        if given.shape[-1:] != (2,):
            raise SkerryError(f"points must have 2 coordinates each, but have the shape {given.shape}")
        shape, flat = given.shape[:-1], given.reshape(-1, 2)
        rows = np.empty((ROWS, len(flat)))
        rows[POINT : POINT + 2] = flat.T
        self._call(self.table_address, len(flat), rows.ctypes.data)
        return GroundSample(
            rows[HEIGHT].reshape(shape),
            rows[NORMAL : NORMAL + 3].T.reshape(*shape, 3),
            rows[MATERIAL].astype(np.int32).reshape(shape),
        )

    def height(self, points: ArrayLike) -> Floats:
        """The z of the ground at points (…, 2), m; NaN where there is none."""
        return self.sample(points).height

    def normal(self, points: ArrayLike) -> Floats:
        """The ground's upward normal at points (…, 2), shape (…, 3); NaN where there is none."""
        return self.sample(points).normal

    def material(self, points: ArrayLike) -> NDArray[np.int32]:
        """The ground's material at points (…, 2), as a place in `materials`; −1 where there is no ground."""
        return self.sample(points).material


class TerrainConfig(KindConfig):
    """Settings of the ground."""

    material: str = Field("sand", min_length=1, description="what the ground is made of")
    friction: NonNegative = Field(
        0.6,
        description="sliding coefficient; a plausible default: loose sand's angle of friction is about 30°",
    )

    def with_seed(self, seed: int) -> Self:
        """The same settings with this seed wherever a seed was left out."""
        return self

    def named_materials(self) -> dict[str, str]:
        """The materials that are named, by the place of the setting that names them."""
        return {"material": self.material}

    def build(self, projection: Projection | None = None) -> Terrain:
        """The ground; the projection tells the place on Earth of the world's origin, where a scenario gives it."""
        raise NotImplementedError
