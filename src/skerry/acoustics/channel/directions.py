"""Where echoes of the bottom are looked for: directions spread evenly over a cone straight down."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.meshes import Mesh

Directions = NDArray[np.float64]
MAX_DIRECTIONS = 20_000  # rays of one sound


@lru_cache(maxsize=16)
def icosphere(divisions: int) -> Directions:
    """The corners (n, 3) of an icosahedron whose faces are divided in four so often; one points straight down.

    There are 10 · 4^divisions + 2 of them.
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
    """The corners of an icosphere that lie within a cone around straight down, of that whole angle."""
    corners = icosphere(divisions)
    lowest = np.cos(np.radians(opening_angle_deg / 2)) - 1e-9
    return corners[-corners[:, 2] >= lowest]


def directions_of(mesh: Mesh) -> Directions:
    """The corners of a mesh, seen from its origin, each once."""
    lengths = np.linalg.norm(mesh.vertices, axis=1)
    if len(lengths) == 0 or not (lengths > 0).all():
        raise SkerryError("a mesh of directions must have corners, none of them at its origin")
    unit = mesh.vertices / lengths[:, None]
    _, first = np.unique(np.round(unit, 9) + 0.0, axis=0, return_index=True)
    if len(first) > MAX_DIRECTIONS:
        raise SkerryError(f"a mesh of directions has at most {MAX_DIRECTIONS} corners, not {len(first)}")
    return np.ascontiguousarray(unit[np.sort(first)], np.float64)
