"""Force fields: forces (not flows) on every force point inside a volume, in the water or above it.

A field of strength F acts on each of the N points of a robot or object with F/N, so one that lies wholly inside gets F.
A static field is a constant vector, or an attraction to or repulsion from a centre with constant strength.

The wash of a propeller with the thrust T and the diameter D is a round turbulent jet whose momentum flux is |T| at each
distance x from the disc. By momentum theory at rest, the jet contracts to the area A₀ = πD²/8 and has the speed
V₀ = √(|T|/(ρ A₀)). Its speed is u = u_c exp(−k r²/x²) at the distance r from the axis, with k = 15.4 (Blaauw & van de
Kaa 1978; Albertson et al. 1950). Conservation of momentum gives u_c = V₀ √(k/2) D₀/x = 2.77 V₀ D₀/x for x > 2.77 D₀,
D₀ = D/√2, and Blaauw & van de Kaa measured 2.8. Nearer to the disc u_c = V₀, with the profile at 2.77 D₀. So ρ u² is a
normal distribution of the momentum flux |T| with the variance σ² = max(x²/4k, A₀/2π), and the density of the fluid has
no effect on the force. A point whose cross-section is s stops the part of the momentum flux that flows through it: with
a section that is a normal distribution of the area s, the force is |T| s/(s + 2πσ²) exp(−r²/(2σ² + s/π)), along the
jet. Ahead of the disc, the inflow of an actuator disc, u = ½ V₀ (1 − d/√(d² + D²/4)) at the distance d (Medici et al.
2011), pulls towards the disc with |T| (u/V₀)² s/(s + A₀), at most |T|/4. The sum over a body is limited to |T|.
Reversed thrust reverses the jet. The body is taken to be at rest in the jet. The force fades to 0 over the last fifth
of `length`.

The simple form `cone` is a double cone with its tip near the propeller. Behind it, the wash pushes away from the tip;
ahead of it, the suction pulls against the thrust direction. The strength is min(T/r, cap), with the distance r from the
tip, and 0 while the thrust is negative. The field of a propeller never acts on its own vehicle.
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

# Kinds of fields, and offsets in the row of a field: kind, strength, direction (3) or centre (3), only under water,
# only above water, address of the volume's table, owner, whether the visualizer shows it. A propeller has in addition:
# userdata indices of its body's block and of its thrust, its position (3) on the body, distance of the tip along the
# axis, cosine of the cone's half angle, length of the cone, area of the contracted jet. A static field has the table of
# its volume in their place, so that one row holds everything; the table of a mesh is too long and stays separate.
VECTOR: Final = 0
ATTRACTION: Final = 1
REPULSION: Final = 2
CONE: Final = 3
JET: Final = 4
(
    KIND, STRENGTH, AX, AY, AZ, UNDER, ABOVE, VOLUME, OWNER, SHOWN, BLOCK_INDEX, THRUST_INDEX, X, Y, Z, TIP, COSINE,
    LENGTH, JET_AREA,
) = range(19)  # fmt: skip
JET_SPREAD: Final = 15.4  # k in exp(−k r²/x²), the profile of a jet's speed (Blaauw & van de Kaa 1978)
JET_FADE: Final = 0.2  # last part of the length of a jet, over which it fades
VOLUME_START: Final = BLOCK_INDEX
ROW: Final = VOLUME_START + HEADER
NO_FIELD_OWNER: Final = -1
SINGLE_PRECISION_COUNT: Final = 32  # number of central fields from which they are summed in single precision
BATCH: Final = 128  # most central fields that are summed together in single precision
NEAREST: Final = 1e-18  # squared distance from the centre below which a central field fades to 0, m²
HEADER_SIZE: Final = 2  # int64 before the rows: number of rows, and whether any depends on the water surface


@kernel
def _acts_at(row: Any, table: int, depth: float, x: float, y: float, z: float) -> bool:
    """Return whether a field acts at a point."""
    if (row[UNDER] != 0.0 and depth <= 0.0) or (row[ABOVE] != 0.0 and depth > 0.0):
        return False
    return is_inside(table, x, y, z)


@kernel
def _pull(x: float, y: float, z: float, strength: float, i: int, n: int, where: Any, force: Any) -> None:
    """Add the force of a central field on point i, which is inside the field."""
    rx, ry, rz = where[i] - x, where[n + i] - y, where[2 * n + i] - z
    factor = strength / np.sqrt(rx * rx + ry * ry + rz * rz + NEAREST)
    force[i] += factor * rx
    force[n + i] += factor * ry
    force[2 * n + i] += factor * rz


@kernel
def _add_point_by_point(row: Any, table: int, n: int, where: Any, depth: Any, force: Any) -> None:
    """Add the force of a static field whose boundary may run between the points."""
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
def _is_near_propeller(row: Any, userdata: int, x: float, y: float, z: float, radius: float, pose: Any) -> bool:
    """Write axis and tip of a propeller's field in the world to `pose` (6,); return whether it may reach a sphere."""
    block = floats(userdata + 8 * int(row[BLOCK_INDEX]), 12)  # position, then rotation row by row
    for i in range(3):
        R = block[3 + 3 * i : 6 + 3 * i]
        pose[i] = R[0] * row[AX] + R[1] * row[AY] + R[2] * row[AZ]
        pose[3 + i] = block[i] + R[0] * row[X] + R[1] * row[Y] + R[2] * row[Z] + row[TIP] * pose[i]
    square = (x - pose[3]) ** 2 + (y - pose[4]) ** 2 + (z - pose[5]) ** 2
    reach = row[LENGTH] + radius
    return square <= 1.001 * reach * reach


@kernel
def _add_cone(
    row: Any, userdata: int, x: float, y: float, z: float, radius: float, n: int, where: Any, depth: Any, force: Any
) -> None:
    """Add the force of a propeller's cone. A bounding sphere of the points rejects bodies that are too far away."""
    thrust = floats(userdata + 8 * int(row[THRUST_INDEX]), 1)[0]
    pose = floats(stack_floats(6), 6)
    if thrust <= 0.0 or not _is_near_propeller(row, userdata, x, y, z, radius, pose):
        return
    ax, ay, az, tx, ty, tz = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
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
def _add_jet(
    row: Any,
    userdata: int,
    x: float,
    y: float,
    z: float,
    radius: float,
    n: int,
    sharing: float,
    section: float,
    where: Any,
    depth: Any,
    force: Any,
) -> None:
    """Add the force of a propeller's jet, times `sharing`; the sum over the points is at most n/sharing of the thrust.

    The arguments are those of `add_fields`.
    """
    thrust = floats(userdata + 8 * int(row[THRUST_INDEX]), 1)[0]
    pose = floats(stack_floats(6), 6)
    if thrust == 0.0 or not _is_near_propeller(row, userdata, x, y, z, radius, pose):
        return
    sense = -1.0 if thrust > 0.0 else 1.0  # the jet flows against the thrust
    ax, ay, az, tx, ty, tz = sense * pose[0], sense * pose[1], sense * pose[2], pose[3], pose[4], pose[5]
    area = row[JET_AREA]
    own = section / (2.0 * np.pi)  # variance of the section of a point
    core = area / (2.0 * np.pi)  # variance of the jet near the disc
    disc = 2.0 * area / np.pi  # squared radius of the disc
    pushes = floats(stack_floats(3 * 128), 3 * 128)
    for first in range(0, n, 128):
        last = min(n - first, 128)
        sum_x = sum_y = sum_z = 0.0
        for i in range(last):
            k = first + i
            rx, ry, rz = where[k] - tx, where[n + k] - ty, where[2 * n + k] - tz
            along = rx * ax + ry * ay + rz * az
            square = rx * rx + ry * ry + rz * rz
            distance = np.sqrt(square)
            share, px, py, pz = 0.0, ax, ay, az
            if along > 0.0:
                spread = max(along * along / (4.0 * JET_SPREAD), core) + own
                share = own / spread * np.exp(-0.5 * (square - along * along) / spread)
            else:
                speed = 0.5 * (1.0 - distance / np.sqrt(square + disc))
                share = speed * speed * section / (section + area)
                if distance > 1e-9:
                    px, py, pz = -rx / distance, -ry / distance, -rz / distance
            share *= min(max((1.0 - distance / row[LENGTH]) / JET_FADE, 0.0), 1.0)
            if (row[UNDER] != 0.0 and depth[k] <= 0.0) or (row[ABOVE] != 0.0 and depth[k] > 0.0):
                share = 0.0
            share *= abs(thrust)
            pushes[i], pushes[128 + i], pushes[256 + i] = share * px, share * py, share * pz
            sum_x += share * px
            sum_y += share * py
            sum_z += share * pz
        total = np.sqrt(sum_x * sum_x + sum_y * sum_y + sum_z * sum_z)
        most = min(abs(thrust), row[STRENGTH]) * last / sharing
        scale = sharing * (most / total if total > most else 1.0)
        for i in range(last):
            k = first + i
            force[k] += scale * pushes[i]
            force[n + k] += scale * pushes[128 + i]
            force[2 * n + k] += scale * pushes[256 + i]


@kernel
def _pull_all(centres: Any, count: int, x: float, y: float, z: float, n: int, where: Any, force: Any) -> None:
    """Add the forces of central fields that contain all points; `centres` has four rows of `BATCH`: x, y, z, strength.

    Many fields are summed in single precision, which is several times as fast: vector code processes eight points and
    two fields together. Positions are relative to (x, y, z), which is near the points. Their error is 1e-7 of the size
    of the body or of the distance to the centre, whichever is larger. The error of the forces is at most 1e-5 of the
    fields' strengths.
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
    sharing: float,
    section: float,
    where: Any,
    depth: Any,
    force: Any,
) -> None:
    """Add the force of every field on each of n points of a body, times the number of points that share it.

    Most fields contain all points of a body or none, which the bounding sphere of the points decides.

    Args:
        fields: Address of the table of fields; see `field_table`.
        owner: Number of the body's robot, whose own propellers have no effect.
        userdata: Address of the engine's userdata.
        x, y, z, radius: Bounding sphere of the points, m.
        n: Number of points.
        sharing: Number of points of the whole robot or object, by which the caller divides the forces.
        section: Cross-section of the part of the body at each point, m², for jets.
        where: Positions of the points, three rows of n, m.
        depth: Depths of the points below the surface, n, m.
        force: Forces on the points, three rows of n, N; the fields are added.
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
        if row[KIND] == CONE:
            _add_cone(row, userdata, x, y, z, radius, n, where, depth, force)
            continue
        if row[KIND] == JET:
            _add_jet(row, userdata, x, y, z, radius, n, sharing, section, where, depth, force)
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
    """Static force field in a volume."""

    kind: Literal["vector", "attraction", "repulsion"]
    volume: Volume
    magnitude: NonNegative = Field(1.0, description="force on a body that lies wholly inside, N")
    vector: Vector3 | None = Field(None, description="direction, for kind `vector`")
    center: Vector3 | None = Field(None, description="centre, for the other kinds; the middle of the volume by default")
    only_underwater: bool = False
    only_above_water: bool = False
    include_in_visualizer: bool = Field(True, description="whether the visualizer's particles show it")

    @model_validator(mode="after")
    def _check(self) -> FieldConfig:
        if (self.kind == "vector") != (self.vector is not None):
            raise ValueError("`vector` is required for kind `vector` and not allowed for others")
        if self.kind == "vector" and self.center is not None:
            raise ValueError("`center` is only for the kinds attraction and repulsion")
        if self.vector is not None and not np.linalg.norm(self.vector) > 0:
            raise ValueError("`vector` must not be zero")
        if self.only_underwater and self.only_above_water:
            raise ValueError("`only_underwater` and `only_above_water` exclude each other; set at most one")
        return self

    def row(self) -> Floats:
        """Return the row of the field, without the address of its volume."""
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
    """Wash behind a propeller and inflow ahead of it, which act on other bodies."""

    model: Literal["jet", "cone"] = Field(
        "jet", description="turbulent jet with the momentum of the thrust; or cone with the strength min(T/r, cap)"
    )
    cone_tip: float | None = Field(
        None, description="distance of the cone's tip ahead of the propeller along its thrust, m; 0 by default"
    )
    half_angle_deg: Positive | None = Field(None, lt=90, description="half angle of the cone; 20 by default")
    length: Positive = Field(5.0, description="distance that the jet or cone reaches in each direction, m")
    force_magnitude_cap: Positive | None = Field(
        None, description="largest force, N; by default 1 for a cone and the thrust for a jet"
    )
    only_underwater: bool = False
    only_above_water: bool = False
    include_in_visualizer: bool = Field(True, description="whether the visualizer's particles show it")

    @model_validator(mode="after")
    def _check(self) -> PropellerField:
        if self.only_underwater and self.only_above_water:
            raise ValueError("`only_underwater` and `only_above_water` exclude each other; set at most one")
        if self.model == "jet":
            for name in ("cone_tip", "half_angle_deg"):
                if getattr(self, name) is not None:
                    raise ValueError(f"`{name}` is for `model: cone`; set this model, or remove `{name}`")
        return self

    def row(self, position: Floats, axis: Floats, diameter: float, medium: Literal["water", "air"]) -> Floats:
        """Return the row of the field; the engine fills in owner and userdata indices.

        Args:
            position: Position of the propeller on its body, m, (3,).
            axis: Direction of its thrust on the body, (3,).
            diameter: Diameter of its disc, m.
            medium: Fluid of the propeller; a jet stays in it.
        """
        row = np.zeros(ROW)
        row[X : Z + 1], row[AX : AZ + 1], row[LENGTH] = position, axis, self.length
        row[UNDER], row[ABOVE], row[SHOWN] = self.only_underwater, self.only_above_water, self.include_in_visualizer
        if self.model == "cone":
            row[KIND], row[STRENGTH] = CONE, self.force_magnitude_cap or 1.0
            row[TIP], row[COSINE] = self.cone_tip or 0.0, np.cos(np.radians(self.half_angle_deg or 20.0))
        else:
            row[KIND], row[STRENGTH] = JET, self.force_magnitude_cap or np.inf
            row[UNDER if medium == "water" else ABOVE] = True
            row[JET_AREA] = np.pi * diameter**2 / 8
            row[COSINE] = np.cos(np.arctan(2 / np.sqrt(4 * JET_SPREAD)))  # two standard deviations, for the particles
        return row


def field_table(fields: list[tuple[Floats, Floats | None]]) -> tuple[Floats, list[Floats]]:
    """Return the native table of fields, and the arrays that must be kept alive with it.

    Args:
        fields: For each field its row, and the table of its volume (None for a propeller).
    """
    table = np.zeros(HEADER_SIZE + ROW * len(fields))
    table.view(np.int64)[:HEADER_SIZE] = len(fields), any(row[UNDER] or row[ABOVE] for row, _ in fields)
    kept = []
    for k, (row, volume) in enumerate(fields):
        start = HEADER_SIZE + ROW * k
        table[start : start + ROW] = row
        if volume is not None:
            first = start + VOLUME_START
            if volume.size == HEADER:
                table[first : first + HEADER] = volume
                volume = table[first:]
            kept.append(volume)
            table.view(np.int64)[start + VOLUME] = volume.ctypes.data
    return table, kept
