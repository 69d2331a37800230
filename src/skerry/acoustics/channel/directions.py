"""Directions of the rays that search for bottom echoes: spread evenly over a cone around straight down."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.meshes import Mesh

Directions = NDArray[np.float64]
MAX_DIRECTIONS = 20_000  # largest number of rays per sound


@lru_cache(maxsize=16)
def icosphere(divisions: int) -> Directions:
    """Return the corners of an icosahedron whose faces were divided into four `divisions` times.

    Returns:
        10 · 4^divisions + 2 unit vectors, (n, 3). One of them points straight down.
    """
    around = np.radians(np.arange(5) * 72.0)
    low, flat = -1.0 / np.sqrt(5.0), 2.0 / np.sqrt(5.0)
    lower = np.stack([flat * np.cos(around), flat * np.sin(around), np.full(5, low)], axis=1)
    corners = np.concatenate([[[0.0, 0.0, -1.0]], lower, -lower, [[0.0, 0.0, 1.0]]])
    edge = np.linalg.norm(corners[1] - corners[0]) * 1.01
    near = np.linalg.norm(corners[:, None] - corners[None], axis=-1) < edge
    faces = [
        (corners[a], corners[b], corners[c])
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[a, c]
    ]
    for _ in range(divisions):
        divided = []
        for a, b, c in faces:
            ab, bc, ca = (middle / np.linalg.norm(middle) for middle in (a + b, b + c, c + a))
            divided += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = divided
    points = np.array(faces).reshape(-1, 3)
    _, first = np.unique(np.round(points, 9) + 0.0, axis=0, return_index=True)
    return points[np.sort(first)]


def cap(divisions: int, opening_angle_deg: float) -> Directions:
    """Return the corners of an icosphere within a cone around straight down; the angle is the full opening angle."""
    corners = icosphere(divisions)
    lowest = np.cos(np.radians(opening_angle_deg / 2)) - 1e-9
    return corners[-corners[:, 2] >= lowest]


def directions_of(mesh: Mesh) -> Directions:
    """Return the directions from the origin of a mesh to its corners, without duplicates, (n, 3).

    Raises:
        SkerryError: If the mesh has no corners, a corner at its origin, or too many corners.
    """
    lengths = np.linalg.norm(mesh.vertices, axis=1)
    if len(lengths) == 0 or not (lengths > 0).all():
        raise SkerryError("the mesh must have at least one corner, and no corner at its origin")
    unit = mesh.vertices / lengths[:, None]
    _, first = np.unique(np.round(unit, 9) + 0.0, axis=0, return_index=True)
    if len(first) > MAX_DIRECTIONS:
        raise SkerryError(f"the mesh has {len(first)} corners; use a mesh with at most {MAX_DIRECTIONS}")
    return np.ascontiguousarray(unit[np.sort(first)], np.float64)
