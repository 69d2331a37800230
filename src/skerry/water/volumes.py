"""Volumes that limit a current, a wind or a field: a box, a sphere, a cylinder, or the inside of a closed mesh."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Config, ExistingFile, Positive, Vector3
from skerry.core.kernels import floats, kernel
from skerry.core.meshes import closed_volume, flip, is_inside_out, transform
from skerry.formats.mesh_files import read_mesh

Floats = NDArray[np.float64]

EVERYWHERE: Final = 0
BOX: Final = 1
SPHERE: Final = 2
CYLINDER: Final = 3
MESH: Final = 4
# Length of the header of a table: kind, centre (3), and five numbers of the kind: half sizes or radius, cosine and sine
# of the yaw. The faces of a mesh follow the header.
HEADER: Final = 9


@kernel
def _is_over_edge(px: float, py: float, qx: float, qy: float, x: float, y: float) -> bool:
    """Return whether a ray along x crosses an edge; the result does not depend on the direction of the edge."""
    if (py > y) == (qy > y):
        return False
    if py > qy:
        px, py, qx, qy = qx, qy, px, py
    return (qx - px) * (y - py) > (x - px) * (qy - py)


@kernel
def _is_inside_mesh(table: int, x: float, y: float, z: float) -> bool:
    """Return whether a point is inside a mesh: an upward ray crosses it an odd number of times."""
    t = floats(table, HEADER)
    if abs(x - t[1]) > t[4] or abs(y - t[2]) > t[5] or abs(z - t[3]) > t[6]:
        return False
    inside = False
    for f in range(int(t[7])):
        c = floats(table + 8 * (HEADER + 9 * f), 9)
        # Seen from above, a point on an edge belongs to exactly one of its two faces.
        under = _is_over_edge(c[0], c[1], c[3], c[4], x, y)
        under ^= _is_over_edge(c[3], c[4], c[6], c[7], x, y)
        under ^= _is_over_edge(c[6], c[7], c[0], c[1], x, y)
        if under:
            # signed areas of the three parts of the triangle
            a0 = (c[0] - x) * (c[4] - y) - (c[3] - x) * (c[1] - y)
            a1 = (c[3] - x) * (c[7] - y) - (c[6] - x) * (c[4] - y)
            a2 = (c[6] - x) * (c[1] - y) - (c[0] - x) * (c[7] - y)
            total = a0 + a1 + a2
            if total != 0.0 and (a1 * c[2] + a2 * c[5] + a0 * c[8]) / total > z:
                inside = not inside
    return inside


@kernel
def is_inside(table: int, x: float, y: float, z: float) -> bool:
    """Return whether a point lies in the volume whose table is at this address."""
    t = floats(table, HEADER)
    kind = int(t[0])
    if kind == EVERYWHERE:
        return True
    dx, dy, dz = x - t[1], y - t[2], z - t[3]
    if kind == SPHERE:
        return dx * dx + dy * dy + dz * dz <= t[4] * t[4]
    if kind == CYLINDER:
        return dx * dx + dy * dy <= t[4] * t[4] and abs(dz) <= t[5]
    if kind == BOX:
        c, s = t[7], t[8]
        return abs(c * dx + s * dy) <= t[4] and abs(c * dy - s * dx) <= t[5] and abs(dz) <= t[6]
    return _is_inside_mesh(table, x, y, z)


@kernel
def _covers_flat(away: float, radius: float) -> int:
    """Return how a half-space covers a sphere whose centre is `away` outside its face; see `covers`."""
    return 2 if away <= -radius else (0 if away > radius else 1)


@kernel
def _covers_round(square: float, size: float, radius: float) -> int:
    """Return how a circle or sphere of radius `size` covers a sphere; `square` is the squared centre distance."""
    if square > (size + radius) ** 2:
        return 0
    return 2 if size >= radius and square <= (size - radius) ** 2 else 1


@kernel
def covers(table: int, x: float, y: float, z: float, radius: float) -> int:
    """Return how a volume covers a sphere: 2 completely, 1 possibly in part, 0 not at all."""
    t = floats(table, HEADER)
    kind = int(t[0])
    if kind == EVERYWHERE:
        return 2
    dx, dy, dz = x - t[1], y - t[2], abs(z - t[3])
    if kind == SPHERE:
        return _covers_round(dx * dx + dy * dy + dz * dz, t[4], radius)
    if kind == CYLINDER:
        return min(_covers_round(dx * dx + dy * dy, t[4], radius), _covers_flat(dz - t[5], radius))
    if kind == BOX:
        c, s = t[7], t[8]
        return _covers_flat(max(abs(c * dx + s * dy) - t[4], abs(c * dy - s * dx) - t[5], dz - t[6]), radius)
    return min(_covers_flat(max(abs(dx) - t[4], abs(dy) - t[5], dz - t[6]), radius), 1)


class VolumeConfig(Config):
    """Base class of the settings of a volume."""

    def table(self) -> Floats:
        """Return the table of the volume, as native code reads it."""
        raise NotImplementedError

    def contains(self, point: ArrayLike) -> bool:
        """Return whether a point (3,) lies in the volume."""
        table, (x, y, z) = self.table(), np.asarray(point, np.float64)
        return bool(is_inside(table.ctypes.data, x, y, z))


class BoxVolume(VolumeConfig):
    """Box; `size` is the full length along its x, y and z, m."""

    kind: Literal["box"]
    center: Vector3
    size: tuple[Positive, Positive, Positive]
    yaw_deg: float = 0.0

    def table(self) -> Floats:
        yaw = np.radians(self.yaw_deg)
        return np.array([BOX, *self.center, *(0.5 * value for value in self.size), np.cos(yaw), np.sin(yaw)])

    def bounds(self) -> tuple[Floats, Floats]:
        x, y, z = (0.5 * value for value in self.size)
        c, s = abs(np.cos(np.radians(self.yaw_deg))), abs(np.sin(np.radians(self.yaw_deg)))
        reach = np.array([c * x + s * y, s * x + c * y, z])
        return np.array(self.center) - reach, np.array(self.center) + reach


class SphereVolume(VolumeConfig):
    """Sphere of a `radius`, m."""

    kind: Literal["sphere"]
    center: Vector3
    radius: Positive

    def table(self) -> Floats:
        return np.array([SPHERE, *self.center, self.radius, 0, 0, 0, 0], np.float64)

    def bounds(self) -> tuple[Floats, Floats]:
        return np.array(self.center) - self.radius, np.array(self.center) + self.radius


class CylinderVolume(VolumeConfig):
    """Upright cylinder; `height` is the full height, m."""

    kind: Literal["cylinder"]
    center: Vector3
    radius: Positive
    height: Positive

    def table(self) -> Floats:
        return np.array([CYLINDER, *self.center, self.radius, 0.5 * self.height, 0, 0, 0], np.float64)

    def bounds(self) -> tuple[Floats, Floats]:
        reach = np.array([self.radius, self.radius, 0.5 * self.height])
        return np.array(self.center) - reach, np.array(self.center) + reach


class MeshVolume(VolumeConfig):
    """Inside of a closed mesh; an open mesh is an error."""

    kind: Literal["mesh"]
    file: ExistingFile
    position: Vector3 = (0.0, 0.0, 0.0)
    scale: Positive = 1.0

    def _corners(self) -> Floats:
        mesh = transform(read_mesh(self.file), self.position, scale=self.scale)
        closed_volume(mesh, str(self.file))
        mesh = flip(mesh) if is_inside_out(mesh) else mesh
        return np.asarray(mesh.vertices[mesh.faces])

    def table(self) -> Floats:
        corners = self._corners()
        low, high = self.bounds()
        head = [MESH, *(0.5 * (low + high)), *(0.5 * (high - low)), len(corners), 0]
        return np.concatenate([np.array(head, np.float64), corners.ravel()])

    def bounds(self) -> tuple[Floats, Floats]:
        corners = self._corners().reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)


Volume = Annotated[BoxVolume | SphereVolume | CylinderVolume | MeshVolume, Field(discriminator="kind")]


def volume_table(volume: Any) -> Floats:
    """Return the table of a volume; None means the whole space."""
    return np.zeros(HEADER) if volume is None else volume.table()
