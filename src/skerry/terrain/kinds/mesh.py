"""Terrain from a triangle mesh in a file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import ExistingFile, Positive, Vector3
from skerry.core.errors import Fault, FileError, SkerryError
from skerry.core.frames import quaternion_to_matrix, rpy_to_quaternion
from skerry.core.geo import Projection
from skerry.core.kernels import floats, integers, kernel, words
from skerry.core.meshes import Mesh, transform
from skerry.formats.mesh_files import read_mesh
from skerry.terrain.ground import POINT, ROWS, ground, write_ground, write_no_ground
from skerry.terrain.terrain import MAX_NODES, ContactHeightfield, Floats, Terrain, TerrainConfig, count_nodes

FACE: Final = 10
"""Length of the row of a face: corner a (3); the 2 × 2 matrix from (x − ax, y − ay) to the weights of corners b and c;
bz − az; cz − az; material."""
SLACK: Final = 1e-9
"""Tolerance of weights and of index cells, so that rounding does not leave gaps between adjacent faces."""
STEEPEST: Final = 1e-12
"""Smallest ratio of a face's horizontal area to its squared edge length; steeper faces are walls, not ground."""

# ------------------------------------------------------------------------------------------------ ground


@ground
def mesh(table: int, count: int, rows: int) -> None:
    """Native function of a mesh ground: the highest face at each point.

    Table: west, south, east, north edge, index cells per metre along x and y; then as int64: columns and rows of the
    index, addresses of its starts (int64), of its items (int32) and of the faces, number of faces.
    """
    west, south, east, north, per_x, per_y = floats(table, 6)
    nx, ny, starts_at, items_at, faces_at, face_count = words(table + 48, 6)
    starts = words(starts_at, nx * ny + 1)
    items = integers(items_at, starts[nx * ny])
    f = floats(faces_at, FACE * face_count)
    block = floats(rows, ROWS * count)
    for i in range(count):
        x, y = block[POINT * count + i], block[(POINT + 1) * count + i]
        best, top = -1, -math.inf
        if west <= x <= east and south <= y <= north:
            cell = min(int((y - south) * per_y), ny - 1) * nx + min(int((x - west) * per_x), nx - 1)
            for k in range(starts[cell], starts[cell + 1]):
                n = FACE * items[k]
                dx, dy = x - f[n], y - f[n + 1]
                b = f[n + 3] * dx + f[n + 4] * dy
                c = f[n + 5] * dx + f[n + 6] * dy
                if b >= -SLACK and c >= -SLACK and b + c <= 1.0 + SLACK:
                    z = f[n + 2] + b * f[n + 7] + c * f[n + 8]
                    if z > top:
                        best, top = n, z
        if best < 0:
            write_no_ground(block, count, i)
        else:
            gx = f[best + 3] * f[best + 7] + f[best + 5] * f[best + 8]
            gy = f[best + 4] * f[best + 7] + f[best + 6] * f[best + 8]
            write_ground(block, count, i, top, gx, gy, f[best + 9])


class MeshGround(Terrain):
    """Highest surface of a mesh. Rays also hit surfaces below an overhang, but heights and contacts ignore them.

    Every face of the mesh has a material. The contact shape is a heightfield, because the physics engine would replace
    a mesh by its convex hull. It has a height every `contact_resolution`, and the lowest height where there is no
    ground.
    """

    def __init__(self, surface: Mesh, contact_resolution: float, friction: float) -> None:
        faces, corners = _faces_seen_from_above(surface)
        low, high = corners[..., :2].min(axis=(0, 1)), corners[..., :2].max(axis=(0, 1))
        self._low, self._high = low, high
        self._surface = surface
        index = _index_faces(corners[..., :2], low, high)
        self._arrays = (faces, index)
        table = np.zeros(12)
        table[:6] = *low, *high, *index.per_metre
        table.view(np.int64)[6:] = (
            *index.shape,
            index.starts.ctypes.data,
            index.items.ctypes.data,
            faces.ctypes.data,
            len(faces),
        )
        super().__init__(mesh, table, surface.materials, friction)
        self._contact = self._rasterise(contact_resolution)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        return (*self._low.tolist(), *self._high.tolist())

    @property
    def contact(self) -> ContactHeightfield:
        return self._contact

    def _rasterise(self, resolution: float) -> ContactHeightfield:
        columns, rows = _contact_nodes(self._high - self._low, resolution)
        nodes = np.empty((rows, columns, 2))
        nodes[..., 0] = np.linspace(self._low[0], self._high[0], columns)
        nodes[..., 1] = np.linspace(self._low[1], self._high[1], rows)[:, None]
        heights = self.height(nodes)
        if np.isnan(heights).all():
            raise SkerryError(
                f"a contact_resolution of {resolution:g} m is too coarse: no node is on the ground; use a smaller one"
            )
        lowest = float(np.nanmin(heights))
        above = np.nan_to_num(heights - lowest, nan=0.0).astype(np.float32)
        center, half_size = (self._low + self._high) / 2, (self._high - self._low) / 2
        return ContactHeightfield(tuple(center.tolist()), tuple(half_size.tolist()), lowest, above)

    def triangles(self) -> Mesh:
        """Return the whole mesh, including walls and undersides."""
        return self._surface


def _faces_seen_from_above(surface: Mesh) -> tuple[Floats, Floats]:
    """Return the rows of `FACE` numbers and the corners (n, 3, 3) of all faces except walls."""
    assert surface.face_materials is not None
    corners = surface.vertices[surface.faces]
    (bx, by, bz), (cx, cy, cz) = ((corners[:, k] - corners[:, 0]).T for k in (1, 2))
    shadow = bx * cy - by * cx
    longest = np.max([bx**2 + by**2 + bz**2, cx**2 + cy**2 + cz**2], axis=0)
    seen = np.abs(shadow) > STEEPEST * longest
    rows = np.empty((len(corners), FACE))
    rows[:, :3] = corners[:, 0]
    rows[:, 3:7] = np.stack([cy, -cx, -by, bx], axis=1)
    rows[:, 7], rows[:, 8], rows[:, 9] = bz, cz, surface.face_materials
    rows, corners = rows[seen], corners[seen]
    if not len(rows):
        raise SkerryError(
            "the mesh has no face that is visible from above, so it cannot be ground; check that z is up in the file"
        )
    rows[:, 3:7] /= shadow[seen, None]
    return rows, corners


def _contact_nodes(size: Floats, resolution: float) -> tuple[int, int]:
    columns, rows = (count_nodes(side, resolution) for side in size.tolist())
    if columns * rows > MAX_NODES:
        coarser = float(np.sqrt(np.prod(size) / MAX_NODES)) * 1.06
        raise SkerryError(
            f"a contact_resolution of {resolution:g} m makes {columns} × {rows} nodes of this mesh, "
            f"{size[0]:g} m × {size[1]:g} m, more than {MAX_NODES}; use {coarser:.2g} m or more"
        )
    return columns, rows


# ------------------------------------------------------------------------------------------------ index


class _Index(NamedTuple):
    """Index of the faces by grid cell: items[starts[cell] : starts[cell + 1]]; cells run row by row northwards."""

    shape: tuple[int, int]  # columns and rows
    per_metre: Floats  # cells along x and y
    starts: NDArray[np.int64]
    items: NDArray[np.int32]


def _index_faces(corners: Floats, low: Floats, high: Floats) -> _Index:
    """Return an index with about one cell per face; fewer cells if long faces would each lie in too many of them."""
    size, count = high - low, len(corners)
    slack = SLACK * size
    least, greatest = corners.min(axis=1) - slack - low, corners.max(axis=1) + slack - low
    cells = np.clip(np.sqrt(count * size / size[::-1]), 1, 4096).astype(np.int64)
    while True:
        per_metre = cells / size
        first, last = (np.clip((edge * per_metre).astype(np.int64), 0, cells - 1) for edge in (least, greatest))
        overlaps = int(np.prod(last - first + 1, axis=1).sum())
        if overlaps <= 16 * count or cells.max() == 1:
            break
        cells = np.maximum(cells // 2, 1)
    starts = np.zeros(int(cells.prod()) + 1, np.int64)
    items = np.empty(overlaps, np.int32)
    _fill_index(first, last, int(cells[0]), starts, items)
    return _Index((int(cells[0]), int(cells[1])), per_metre, starts, items)


@kernel
def _fill_index(first: Any, last: Any, columns: int, starts: Any, items: Any) -> None:
    for n in range(len(first)):
        for row in range(first[n, 1], last[n, 1] + 1):
            for column in range(first[n, 0], last[n, 0] + 1):
                starts[row * columns + column + 1] += 1
    for cell in range(len(starts) - 1):
        starts[cell + 1] += starts[cell]
    # While items are inserted, each start moves to that of the next cell; afterwards all are shifted back by one cell.
    for n in range(len(first)):
        for row in range(first[n, 1], last[n, 1] + 1):
            for column in range(first[n, 0], last[n, 0] + 1):
                cell = row * columns + column
                items[starts[cell]] = n
                starts[cell] += 1
    for cell in range(len(starts) - 1, 0, -1):
        starts[cell] = starts[cell - 1]
    starts[0] = 0


# ------------------------------------------------------------------------------------------------ settings


class MeshTerrain(TerrainConfig):
    """Ground from an STL, OBJ or COLLADA file; faces without a material get the `material` of the settings."""

    kind: Literal["mesh"] = "mesh"
    mesh: ExistingFile
    scale: Positive = Field(1.0, description="metres per unit of the file")
    roll_deg: float = Field(0.0, description="90 for a file with y up; roll is applied first, then pitch, then yaw")
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    position: Vector3 = Field((0.0, 0.0, 0.0), description="position of the file's origin in the world, m")
    contact_resolution: Positive = Field(0.25, description="distance between the heights of the contact shape, m")

    def build(self, projection: Projection | None = None) -> MeshGround:
        rotation = quaternion_to_matrix(rpy_to_quaternion(np.radians([self.roll_deg, self.pitch_deg, self.yaw_deg])))
        surface = transform(read_mesh(self.mesh), self.position, rotation, self.scale)
        try:
            return MeshGround(_with_material(surface, self.material), self.contact_resolution, self.friction)
        except SkerryError as error:
            raise FileError(str(self.mesh), [Fault("", str(error))]) from None


def _with_material(surface: Mesh, default: str) -> Mesh:
    """Return the mesh with the default material for faces that have none."""
    given = surface.face_materials
    own = np.full(len(surface.faces), -1, np.int32) if given is None else given.copy()
    materials = surface.materials
    if (own < 0).any():
        materials = materials if default in materials else (*materials, default)
        own[own < 0] = materials.index(default)
    return replace(surface, face_materials=own, materials=materials)
