"""Base class of terrain: heights, normals and materials, triangles for rays, and a contact shape."""

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
"""Most nodes of a height grid: 128 MiB of heights and 33 million triangles."""

TERRAINS = Family("terrains", "skerry.terrain.kinds")


def count_nodes(side: float, resolution: float) -> int:
    """Return the number of nodes along a side (m) of a grid, so that their distance is at most `resolution` (m)."""
    # The small offset makes 10 m at 0.1 m 100 cells, not 101. The bound is for an infinite quotient.
    return max(math.ceil(min(side / resolution, 1e9) - 1e-9), 1) + 1


@dataclass(frozen=True)
class ContactPlane:
    """Contact shape of the ground: an infinite horizontal plane."""

    z: float


@dataclass(frozen=True, eq=False)
class ContactHeightfield:
    """Contact shape of the ground: a grid of heights whose cells are split from south-west to north-east."""

    center: tuple[float, float]  # x and y in the world, m
    half_size: tuple[float, float]  # from the centre to the outermost nodes, m
    lowest: float  # z of the lowest node, m
    heights: NDArray[np.float32]  # (rows, columns) above `lowest`, m; rows northwards, columns eastwards
    thickness: float = 1.0  # thickness below the lowest node, m; bodies that penetrate deeper fall through


@dataclass(frozen=True, eq=False)
class GroundSample:
    """Ground below or above points; the leading shape of the arrays is that of the points."""

    height: Floats  # z, m; NaN without ground
    normal: Floats  # (…, 3), upward unit normal; NaN without ground
    material: NDArray[np.int32]  # index into the terrain's `materials`; −1 without ground


class Terrain(ABC):
    """Base class of the ground. Native code calls it with `address` and `table_address`; see `ground.py`."""

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
        """Bounding rectangle of the ground: west, south, east and north edge, m; infinite for unbounded ground."""

    @property
    @abstractmethod
    def contact(self) -> ContactPlane | ContactHeightfield:
        """Contact shape of the ground."""

    @abstractmethod
    def triangles(self) -> Mesh:
        """Return the ground as triangles for rays: the surface of `height`, each face with its material."""

    def sample(self, points: ArrayLike) -> GroundSample:
        """Return height, normal and material at points (…, 2), x and y in the world, m."""
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
        """Return the z of the ground at points (…, 2), m; NaN without ground."""
        return self.sample(points).height

    def normal(self, points: ArrayLike) -> Floats:
        """Return the upward unit normal at points (…, 2), shape (…, 3); NaN without ground."""
        return self.sample(points).normal

    def material(self, points: ArrayLike) -> NDArray[np.int32]:
        """Return the index into `materials` at points (…, 2); −1 without ground."""
        return self.sample(points).material


class TerrainConfig(KindConfig):
    """Base class of terrain settings."""

    material: str = Field("sand", min_length=1, description="material of the ground")
    friction: NonNegative = Field(
        0.6,
        description="sliding friction coefficient; the default is that of loose sand (friction angle about 30°)",
    )

    def with_seed(self, seed: int) -> Self:
        """Return the same settings with this seed wherever no seed is given."""
        return self

    def named_materials(self) -> dict[str, str]:
        """Return the names of the materials, by the setting that names them."""
        return {"material": self.material}

    def build(self, projection: Projection | None = None) -> Terrain:
        """Build the terrain.

        Args:
            projection: Position of the world's origin on the Earth; None if the scenario has no `reference`.
        """
        raise NotImplementedError
