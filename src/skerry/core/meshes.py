"""Triangle meshes: primitives, transforms, and the volume and inertia of solids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError
from skerry.core.kernels import kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangle mesh. Seen from outside, the corners of a face run anticlockwise."""

    vertices: Floats  # (n, 3), metres
    faces: Indices  # (m, 3), indices into `vertices`
    face_materials: Indices | None = None  # (m,), indices into `materials`; −1 for a face without a material
    materials: tuple[str, ...] = ()


class SolidInertia(NamedTuple):
    """Mass of a solid (kg), its centre of mass (m), and its inertia about that centre in the mesh's axes (kg m²)."""

    mass: float
    centre: Floats
    inertia: Floats


# ------------------------------------------------------------------------------------------------ transforms


def merge_vertices(mesh: Mesh) -> Mesh:
    """Merge vertices that are exactly equal; the order of first occurrence is kept."""
    points = mesh.vertices
    order = np.lexsort(points.T)
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    group = np.empty(len(points), dtype=np.int64)
    group[order] = np.cumsum(starts) - 1
    first = order[starts]  # lexsort is stable, so the first of equal points comes first in its group
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return replace(mesh, vertices=points[np.sort(first)], faces=rank[group][mesh.faces])


def flip(mesh: Mesh) -> Mesh:
    """Reverse the orientation of all faces."""
    return replace(mesh, faces=np.ascontiguousarray(mesh.faces[:, ::-1]))


def transform(
    mesh: Mesh, position: ArrayLike = (0, 0, 0), rotation: ArrayLike | None = None, scale: ArrayLike = 1.0
) -> Mesh:
    """Scale a mesh along its axes, rotate it by a 3×3 matrix, then translate it.

    If the scale mirrors the mesh, its faces are flipped, so that the outside stays outside.
    """
    matrix = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
    matrix = matrix * np.asarray(scale, dtype=np.float64)
    moved = replace(mesh, vertices=mesh.vertices @ matrix.T + np.asarray(position, dtype=np.float64))
    return flip(moved) if np.linalg.det(matrix) < 0 else moved


def concatenate(meshes: Sequence[Mesh]) -> Mesh:
    """Join several meshes into one; materials of the same name are merged."""
    offsets = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    materials: dict[str, int] = {}
    columns = []
    for mesh in meshes:
        # The last entry is for index −1, a face without a material.
        indices = [materials.setdefault(name, len(materials)) for name in mesh.materials] + [-1]
        own = np.full(len(mesh.faces), -1) if mesh.face_materials is None else mesh.face_materials
        columns.append(np.array(indices, dtype=np.int32)[own])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + np.int32(offset) for mesh, offset in zip(meshes, offsets, strict=False)]),
        np.concatenate(columns) if materials else None,
        tuple(materials),
    )


# ------------------------------------------------------------------------------------------------ properties


def open_edges(mesh: Mesh) -> int:
    """Return the number of edges that are not shared by exactly two faces with opposite directions."""
    start = mesh.faces.astype(np.int64).ravel()
    end = np.roll(mesh.faces, -1, axis=1).astype(np.int64).ravel()
    key = np.minimum(start, end) * len(mesh.vertices) + np.maximum(start, end)
    edges, edge, count = np.unique(key, return_inverse=True, return_counts=True)
    direction = np.bincount(edge, weights=np.where(start < end, 1.0, -1.0), minlength=len(edges))
    return int(((count != 2) | (direction != 0)).sum())


def is_closed(mesh: Mesh) -> bool:
    """Return whether the mesh is the complete surface of a solid."""
    return len(mesh.faces) > 0 and open_edges(mesh) == 0


def is_inside_out(mesh: Mesh) -> bool:
    """Return whether the faces of a closed mesh point inwards; `flip` corrects this."""
    return _signed_volume(mesh) < 0


def volume(mesh: Mesh) -> float:
    """Return the volume of a closed mesh, positive even if it is inside out; undefined for an open mesh."""
    return abs(_signed_volume(mesh))


def closed_volume(mesh: Mesh, name: str) -> float:
    """Return the volume of a mesh.

    Args:
        mesh: Mesh that must be closed.
        name: Name of the mesh for the error message.

    Raises:
        SkerryError: The mesh is open or flat; the message says how to repair it.
    """
    count = open_edges(mesh)
    if count or not len(mesh.faces):
        raise SkerryError(
            f"the mesh {name!r} is open: {count} of its edges are not shared by exactly two faces of the same "
            "orientation, so its volume is undefined; merge duplicate vertices, fill holes and make the normals "
            "consistent (in Blender: Merge by Distance, Fill, Recalculate Outside), or use a box, sphere, cylinder or "
            "capsule instead"
        )
    enclosed = volume(mesh)
    if enclosed <= 1e-12 * np.ptp(mesh.vertices, axis=0).max() ** 3:
        raise SkerryError(f"the mesh {name!r} is closed but flat: its volume is 0; give it a thickness")
    return enclosed


def contains(mesh: Mesh, points: Floats) -> NDArray[np.bool_]:
    """Return which of the points (n, 3) lie inside a closed mesh, by the solid angle of its faces around each point.

    The solid angle of a triangle follows van Oosterom & Strackee 1983, IEEE Trans. Biomed. Eng. 30, eq. 8.
    """
    angles = np.empty(len(points))
    _solid_angles(np.ascontiguousarray(mesh.vertices[mesh.faces]), np.ascontiguousarray(points), angles)
    return np.asarray(np.abs(angles) > 2.0 * np.pi)


@kernel
def _solid_angles(corners: Any, points: Any, angles: Any) -> None:
    """Write the solid angle of all faces seen from each point: 4π inside a closed mesh, 0 outside."""
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        total = 0.0
        for f in range(len(corners)):
            ax, ay, az = corners[f, 0, 0] - x, corners[f, 0, 1] - y, corners[f, 0, 2] - z
            bx, by, bz = corners[f, 1, 0] - x, corners[f, 1, 1] - y, corners[f, 1, 2] - z
            cx, cy, cz = corners[f, 2, 0] - x, corners[f, 2, 1] - y, corners[f, 2, 2] - z
            la = math.sqrt(ax * ax + ay * ay + az * az)
            lb = math.sqrt(bx * bx + by * by + bz * bz)
            lc = math.sqrt(cx * cx + cy * cy + cz * cz)
            triple = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
            total += 2.0 * math.atan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb)
        angles[i] = total


def centroid(mesh: Mesh) -> Floats:
    """Return the centre of the volume of a closed mesh."""
    return solid_inertia(mesh, 1.0).centre


def solid_inertia(mesh: Mesh, density: float, name: str = "solid") -> SolidInertia:
    """Return mass, centre and inertia of a closed mesh of uniform density; `name` is for the error message.

    By the divergence theorem, a solid is the sum of the signed tetrahedra between a fixed point and its faces.
    With that point as the origin and corners a, b, c, s = a + b + c, d = a · (b × c), a tetrahedron has
    ∫dV = d/6, ∫x dV = d s/24 and ∫x xᵀ dV = d (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/120 (Blow and Binstock,
    "How to find the inertia tensor (or other mass properties) of a 3D solid body represented by a triangle
    mesh", 2004).
    """
    closed_volume(mesh, name)
    origin, corners, d = _tetrahedra(mesh)
    s = corners.sum(axis=1)
    signed = d.sum() / 6  # negative if the mesh is inside out; the moments are negative too, so the sign cancels
    centre = d @ s / 24 / signed
    moment = np.einsum("f,fki,fkj->ij", d, corners, corners) + np.einsum("f,fi,fj->ij", d, s, s)
    spread = moment / 120 / signed - np.outer(centre, centre)  # mean of x xᵀ about the centre
    mass = density * abs(float(signed))
    return SolidInertia(mass, origin + centre, mass * (np.trace(spread) * np.eye(3) - spread))


def _signed_volume(mesh: Mesh) -> float:
    return float(_tetrahedra(mesh)[2].sum()) / 6


def _tetrahedra(mesh: Mesh) -> tuple[Floats, Floats, Floats]:
    """Return the centre of the bounding box, the corners of each face relative to it, and a · (b × c) of each face.

    An origin in the middle of the mesh keeps rounding errors small.
    """
    origin = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
    corners = (mesh.vertices - origin)[mesh.faces]
    return origin, corners, np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))


# ------------------------------------------------------------------------------------------------ primitives


def box(size: Sequence[float]) -> Mesh:
    """Return a box centred at the origin; `size` is the full length along x, y and z."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    return Mesh(corners * np.asarray(size, dtype=np.float64), faces)


def sphere(radius: float, segments: int = 32) -> Mesh:
    """Return a sphere centred at the origin, with vertices on the surface and `segments` of them on the equator."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)[1:-1]
    return _revolve(radius * np.cos(latitude), radius * np.sin(latitude), -radius, radius, segments)


def cylinder(radius: float, length: float, segments: int = 32) -> Mesh:
    """Return a cylinder along z centred at the origin, as a prism whose edges lie on the surface."""
    half = length / 2
    return _revolve(np.full(2, radius), np.array([-half, half]), -half, half, segments)


def capsule(radius: float, length: float, segments: int = 32) -> Mesh:
    """Return a capsule centred at the origin: a cylinder of this length along z with a hemisphere at each end."""
    latitude = np.linspace(0, np.pi / 2, segments // 4 + 1)[:-1]
    radii, heights = radius * np.cos(latitude), length / 2 + radius * np.sin(latitude)
    end = length / 2 + radius
    return _revolve(
        np.concatenate([radii[::-1], radii]), np.concatenate([-heights[::-1], heights]), -end, end, segments
    )


def _revolve(radii: Floats, heights: Floats, bottom: float, top: float, segments: int) -> Mesh:
    """Return a surface of revolution about z: rings from bottom to top, closed by a vertex on the axis at each end."""
    angle = np.arange(segments) * (2 * np.pi / segments)
    x, y = np.outer(radii, np.cos(angle)), np.outer(radii, np.sin(angle))
    z = np.repeat(heights[:, None], segments, axis=1)
    rings = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    here = 1 + np.arange(len(rings)).reshape(-1, segments)
    beside = np.roll(here, -1, axis=1)
    last = np.full(segments, len(rings) + 1)
    faces = [
        np.stack([np.zeros_like(here[0]), beside[0], here[0]], axis=1),
        np.stack([here[:-1], beside[:-1], beside[1:]], axis=-1).reshape(-1, 3),
        np.stack([here[:-1], beside[1:], here[1:]], axis=-1).reshape(-1, 3),
        np.stack([last, here[-1], beside[-1]], axis=1),
    ]
    vertices = np.concatenate([[[0, 0, bottom]], rings, [[0, 0, top]]])
    return Mesh(vertices, np.concatenate(faces).astype(np.int32))
