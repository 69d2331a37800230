"""Force fields: forces, not flows, on every force point inside a volume, in the water or above it.

A body of N points feels at each of them its share F/N, so that one that lies wholly inside feels F. Static fields give
a constant vector, or pull to or push from a centre with a constant strength. The field of a propeller is a cone from a
tip near it: behind, its wash pushes away from the tip, ahead, its suction pulls along; min(T/r, cap) with T its thrust
and r the distance from the tip, and nothing while it pushes backwards. It never acts on the vehicle that carries it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive, Vector3
from skerry.core.kernels import floats, kernel, singles, stack_floats, words
from skerry.water.volumes import HEADER, Volume, covers, is_inside

Floats = NDArray[np.float64]

# The kinds, and the row of a field: kind, strength, direction (3) or centre (3), only under, only above, the address of
# the volume's table, its owner; of a propeller: places in userdata of its body's block and of its thrust, its place (3)
# on that body, the tip's distance along the axis, cosine of the cone's half angle, its length; whether it is shown. A
# static field has the volume's table where a propeller has its own, so that all is read in one go; a mesh is too long.
VECTOR: Final = 0
ATTRACTION: Final = 1
REPULSION: Final = 2
PROPELLER: Final = 3
(
    KIND, STRENGTH, AX, AY, AZ, UNDER, ABOVE, VOLUME, OWNER, SHOWN, BLOCK_INDEX, THRUST_INDEX, X, Y, Z, TIP, COSINE,
    LENGTH,
) = range(18)  # fmt: skip
VOLUME_START: Final = BLOCK_INDEX
ROW: Final = VOLUME_START + HEADER
NO_FIELD_OWNER: Final = -1
SINGLE_PRECISION_COUNT: Final = 32  # central fields at once, from where on single precision will do
BATCH: Final = 128  # central fields whose forces are summed up in single precision
NEAREST: Final = 1e-18  # square of the distance from its centre within which a central field fades, m²
HEADER_SIZE: Final = 2  # words before the rows: how many there are, and whether any cares for the water


@kernel
def _acts_at(row: Any, table: int, depth: float, x: float, y: float, z: float) -> bool:
    """Whether a field acts at a point."""
    if (row[UNDER] != 0.0 and depth <= 0.0) or (row[ABOVE] != 0.0 and depth > 0.0):
        return False
    return is_inside(table, x, y, z)


@kernel
def _pull(x: float, y: float, z: float, strength: float, i: int, n: int, where: Any, force: Any) -> None:
    """A central field on one point in it."""
    rx, ry, rz = where[i] - x, where[n + i] - y, where[2 * n + i] - z
    factor = strength / np.sqrt(rx * rx + ry * ry + rz * rz + NEAREST)
    force[i] += factor * rx
    force[n + i] += factor * ry
    force[2 * n + i] += factor * rz


@kernel
def _add_point_by_point(row: Any, table: int, n: int, where: Any, depth: Any, force: Any) -> None:
    """A static field whose edge may run through the points."""
    for i in range(n):
        x, y, z = where[i], where[n + i], where[2 * n + i]
        if not _acts_at(row, table, depth[i], x, y, z):
            continue
        if row[KIND] == VECTOR:
            force[i] += row[STRENGTH] * row[AX]
            force[n + i] += row[STRENGTH] * row[AY]
            force[2 * n + i] += row[STRENGTH] * row[AZ]
        else:
            strength = -row[STRENGTH] if row[KIND] == ATTRACTION else row[STRENGTH]
            _pull(row[AX], row[AY], row[AZ], strength, i, n, where, force)


@kernel
def _add_wash(
    row: Any, userdata: int, x: float, y: float, z: float, radius: float, n: int, where: Any, depth: Any, force: Any
) -> None:
    """The wash of a propeller, which most bodies are too far away for: the ball around their points tells at once."""
    thrust = floats(userdata + 8 * int(row[THRUST_INDEX]), 1)[0]
    if thrust <= 0.0:
        return
    block = floats(userdata + 8 * int(row[BLOCK_INDEX]), 12)  # position, then rotation row by row
    ax = block[3] * row[AX] + block[4] * row[AY] + block[5] * row[AZ]
    ay = block[6] * row[AX] + block[7] * row[AY] + block[8] * row[AZ]
    az = block[9] * row[AX] + block[10] * row[AY] + block[11] * row[AZ]
    tx = block[0] + block[3] * row[X] + block[4] * row[Y] + block[5] * row[Z] + row[TIP] * ax
    ty = block[1] + block[6] * row[X] + block[7] * row[Y] + block[8] * row[Z] + row[TIP] * ay
    tz = block[2] + block[9] * row[X] + block[10] * row[Y] + block[11] * row[Z] + row[TIP] * az
    reach = row[LENGTH] + radius
    if (x - tx) ** 2 + (y - ty) ** 2 + (z - tz) ** 2 > 1.001 * reach * reach:
        return
    for i in range(n):
        rx, ry, rz = where[i] - tx, where[n + i] - ty, where[2 * n + i] - tz
        distance = np.sqrt(rx * rx + ry * ry + rz * rz)
        ahead = rx * ax + ry * ay + rz * az
        if distance < 1e-9 or distance > row[LENGTH] or abs(ahead) < row[COSINE] * distance:
            continue
        if (row[UNDER] != 0.0 and depth[i] <= 0.0) or (row[ABOVE] != 0.0 and depth[i] > 0.0):
            continue
        strength = min(thrust / distance, row[STRENGTH])
        if ahead > 0.0:
            force[i] -= strength * ax
            force[n + i] -= strength * ay
            force[2 * n + i] -= strength * az
        else:
            force[i] += strength * rx / distance
            force[n + i] += strength * ry / distance
            force[2 * n + i] += strength * rz / distance


@kernel
def _pull_all(centres: Any, count: int, x: float, y: float, z: float, n: int, where: Any, force: Any) -> None:
    """Central fields that hold all points: four rows of `BATCH`, centres and strengths; x, y, z is near the points.

    Many are summed up in single precision, which is several times as fast: vector code runs along the points, eight at
    a time, for two fields at once. Places are counted from x, y, z, so that they are right to 1e-7 of the size of the
    body, or of the way to the centre if that is longer, and forces to 1e-5 of the fields' strengths at worst.
    """
    px, py, pz = singles(stack_floats(64), 128), singles(stack_floats(64), 128), singles(stack_floats(64), 128)
    fx, fy, fz = singles(stack_floats(64), 128), singles(stack_floats(64), 128), singles(stack_floats(64), 128)
    nearest, one, zero = np.float32(NEAREST), np.float32(1.0), np.float32(0.0)
    if count < SINGLE_PRECISION_COUNT:
        for k in range(count):
            for i in range(n):
                _pull(
                    centres[k], centres[BATCH + k], centres[2 * BATCH + k], centres[3 * BATCH + k], i, n, where, force
                )
        return
    if count % 2:
        centres[count] = centres[BATCH + count] = centres[2 * BATCH + count] = centres[3 * BATCH + count] = 0.0
    for first in range(0, n, 128):
        last = min(n - first, 128)
        padded = (last + 7) // 8 * 8
        for i in range(padded):
            px[i] = py[i] = pz[i] = fx[i] = fy[i] = fz[i] = zero
        for i in range(last):
            j = first + i
            px[i], py[i], pz[i] = where[j] - x, where[n + j] - y, where[2 * n + j] - z
        for k in range(0, count, 2):
            ax, ay = np.float32(centres[k] - x), np.float32(centres[BATCH + k] - y)
            bx, by = np.float32(centres[k + 1] - x), np.float32(centres[BATCH + k + 1] - y)
            az, bz = np.float32(centres[2 * BATCH + k] - z), np.float32(centres[2 * BATCH + k + 1] - z)
            a, b = np.float32(centres[3 * BATCH + k]), np.float32(centres[3 * BATCH + k + 1])
            for i in range(padded):
                rx, ry, rz = px[i] - ax, py[i] - ay, pz[i] - az
                sx, sy, sz = px[i] - bx, py[i] - by, pz[i] - bz
                r = a * (one / np.sqrt(nearest + rx * rx + ry * ry + rz * rz))
                s = b * (one / np.sqrt(nearest + sx * sx + sy * sy + sz * sz))
                fx[i] += r * rx + s * sx
                fy[i] += r * ry + s * sy
                fz[i] += r * rz + s * sz
        for i in range(last):
            j = first + i
            force[j] += fx[i]
            force[n + j] += fy[i]
            force[2 * n + j] += fz[i]


@kernel
def add_fields(
    fields: int,
    owner: int,
    userdata: int,
    x: float,
    y: float,
    z: float,
    radius: float,
    n: int,
    where: Any,
    depth: Any,
    force: Any,
) -> None:
    """Add the force of every field on each of n points: `where` and `force` have three rows of n, `depth` one.

    The table begins with the number of fields, and whether any cares for the water; an owner's own propellers are left
    out. Most fields hold all of a body's points or none, which a ball around them (x, y, z, radius) tells at once.
    """
    shallow = deep = depth[0]
    if words(fields, HEADER_SIZE)[1] != 0:
        for i in range(1, n):
            shallow, deep = min(shallow, depth[i]), max(deep, depth[i])
    everywhere_x = everywhere_y = everywhere_z = 0.0
    centres = floats(stack_floats(4 * 128), 4 * BATCH)
    central = 0
    for f in range(words(fields, HEADER_SIZE)[0]):
        row = floats(fields + 8 * (HEADER_SIZE + ROW * f), ROW)
        if row[OWNER] == owner:
            continue
        if row[KIND] == PROPELLER:
            _add_wash(row, userdata, x, y, z, radius, n, where, depth, force)
            continue
        table = words(fields + 8 * (HEADER_SIZE + ROW * f), ROW)[VOLUME]
        held = covers(table, x, y, z, radius)
        if held == 0 or (row[UNDER] != 0.0 and deep <= 0.0) or (row[ABOVE] != 0.0 and shallow > 0.0):
            continue
        if held == 1 or (row[UNDER] != 0.0 and shallow <= 0.0) or (row[ABOVE] != 0.0 and deep > 0.0):
            _add_point_by_point(row, table, n, where, depth, force)
        elif row[KIND] == VECTOR:
            everywhere_x += row[STRENGTH] * row[AX]
            everywhere_y += row[STRENGTH] * row[AY]
            everywhere_z += row[STRENGTH] * row[AZ]
        else:
            if central == BATCH:
                _pull_all(centres, central, x, y, z, n, where, force)
                central = 0
            centres[central], centres[BATCH + central], centres[2 * BATCH + central] = row[AX], row[AY], row[AZ]
            centres[3 * BATCH + central] = -row[STRENGTH] if row[KIND] == ATTRACTION else row[STRENGTH]
            central += 1
    _pull_all(centres, central, x, y, z, n, where, force)
    for i in range(n):
        force[i] += everywhere_x
        force[n + i] += everywhere_y
        force[2 * n + i] += everywhere_z


class FieldConfig(Config):
    """A static force field in a volume."""

    kind: Literal["vector", "attraction", "repulsion"]
    volume: Volume
    magnitude: NonNegative = Field(1.0, description="N on a body that lies wholly inside")
    vector: Vector3 | None = Field(None, description="its direction, for kind `vector`")
    center: Vector3 | None = Field(None, description="for the other kinds; the middle of the volume by default")
    only_underwater: bool = False
    only_above_water: bool = False
    include_in_visualizer: bool = Field(True, description="whether particles show it")

    @model_validator(mode="after")
    def _consistent(self) -> FieldConfig:
        if (self.kind == "vector") != (self.vector is not None):
            raise ValueError("`vector` goes with kind `vector`, and only with it")
        if self.kind == "vector" and self.center is not None:
            raise ValueError("`center` goes with the kinds attraction and repulsion")
        if self.vector is not None and not np.linalg.norm(self.vector) > 0:
            raise ValueError("`vector` must point somewhere")
        if self.only_underwater and self.only_above_water:
            raise ValueError("a field only under water and only above it acts nowhere")
        return self

    def row(self) -> Floats:
        """The field's row, without the address of its volume."""
        row = np.zeros(ROW)
        row[KIND] = {"vector": VECTOR, "attraction": ATTRACTION, "repulsion": REPULSION}[self.kind]
        row[STRENGTH], row[OWNER] = self.magnitude, NO_FIELD_OWNER
        row[UNDER], row[ABOVE], row[SHOWN] = self.only_underwater, self.only_above_water, self.include_in_visualizer
        if self.vector is not None:
            row[AX : AZ + 1] = np.array(self.vector) / np.linalg.norm(self.vector)
        else:
            low, high = self.volume.bounds()
            row[AX : AZ + 1] = 0.5 * (low + high) if self.center is None else self.center
        return row


class PropellerField(Config):
    """The wash behind a propeller and the suction ahead of it, felt by others."""

    cone_tip: float = Field(0.0, description="the cone's tip, m ahead of the propeller along its thrust")
    half_angle_deg: Positive = Field(20.0, lt=90, description="of the cone")
    length: Positive = Field(5.0, description="of the cone either way, m")
    force_magnitude_cap: Positive = Field(1.0, description="N, at most")
    only_underwater: bool = False
    only_above_water: bool = False
    include_in_visualizer: bool = Field(True, description="whether particles show it")

    @model_validator(mode="after")
    def _acts_somewhere(self) -> PropellerField:
        if self.only_underwater and self.only_above_water:
            raise ValueError("a field only under water and only above it acts nowhere")
        return self

    def row(self, place: Floats, axis: Floats) -> Floats:
        """The row for a propeller at a place on its body, pushing along an axis; the engine fills in the rest."""
        row = np.zeros(ROW)
        row[KIND], row[STRENGTH] = PROPELLER, self.force_magnitude_cap
        row[X : Z + 1], row[AX : AZ + 1] = place, axis
        row[UNDER], row[ABOVE], row[SHOWN] = self.only_underwater, self.only_above_water, self.include_in_visualizer
        row[TIP], row[COSINE], row[LENGTH] = self.cone_tip, np.cos(np.radians(self.half_angle_deg)), self.length
        return row


def field_table(fields: list[tuple[Floats, Floats | None]]) -> tuple[Floats, list[Floats]]:
    """The native table of fields, each a row and the table of its volume, and what must be kept alive with it."""
    table = np.zeros(HEADER_SIZE + ROW * len(fields))
    table.view(np.int64)[:HEADER_SIZE] = len(fields), any(row[UNDER] or row[ABOVE] for row, _ in fields)
    kept = []
    for k, (row, volume) in enumerate(fields):
        start = HEADER_SIZE + ROW * k
        table[start : start + ROW] = row
        if volume is not None:
            place = start + VOLUME_START
            if volume.size == HEADER:
                table[place : place + HEADER] = volume
                volume = table[place:]
            kept.append(volume)
            table.view(np.int64)[start + VOLUME] = volume.ctypes.data
    return table, kept
