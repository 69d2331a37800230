"""Normals at the corners of triangles, so that curved surfaces look smooth and sharp edges stay sharp."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.core.meshes import Mesh

CREASE: Final = np.cos(np.radians(40.0))  # faces at a greater angle to each other are not blended
SCALE: Final = 32767.0


@kernel
def _corners(faces: Any, normals: Any, lengths: Any, first: Any, around: Any, out: Any) -> None:
    """Write the corner normals of all faces.

    `around[first[v]:first[v + 1]]` are the faces at vertex v. The length of a face's normal is twice its area.
    """
    for f in range(len(faces)):
        size = lengths[f]
        for k in range(3):
            v = faces[f, k]
            x = y = z = 0.0
            for i in range(first[v], first[v + 1]):
                g = around[i]
                dot = normals[f, 0] * normals[g, 0] + normals[f, 1] * normals[g, 1] + normals[f, 2] * normals[g, 2]
                if dot >= CREASE * size * lengths[g]:
                    x += normals[g, 0]
                    y += normals[g, 1]
                    z += normals[g, 2]
            length = np.sqrt(x * x + y * y + z * z)
            scale = SCALE / length if length > 0.0 else 0.0
            out[f, 3 * k] = np.int16(np.round(x * scale))
            out[f, 3 * k + 1] = np.int16(np.round(y * scale))
            out[f, 3 * k + 2] = np.int16(np.round(z * scale))


def corner_normals(mesh: Mesh) -> NDArray[np.int16]:
    """Return the normals at the three corners of each face, (faces, 9), in units of 1/32767, in the mesh's frame."""
    vertices, faces = mesh.vertices, np.ascontiguousarray(mesh.faces, np.int64)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    flat = faces.ravel()
    around = np.argsort(flat, kind="stable") // 3
    first = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=len(vertices)))])
    out = np.empty((len(faces), 9), np.int16)
    _corners(faces, normals, np.linalg.norm(normals, axis=1), first, around, out)
    return out
