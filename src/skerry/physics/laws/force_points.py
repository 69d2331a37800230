"""Force points: buoyancy, and optionally weight, drag and a custom force, of a body, distributed over points.

Each of N points at depth d pushes up with ρ g V/N · min(d/ramp, 1), where V is the volume of the whole body. The ramp
may start above the surface, for points in the middle of cells. `max_buoyancy` limits each point to its share. The ramp
keeps the force continuous. The mean of the ramps is the share of the body under water, which its other laws use.

With the drag rates d_w and d_a, 1/s, each point of a body of mass m has the drag
−(m/N) (s d_w (v − u) + (1 − s) d_a (v − w)): s is the share of the point under water, v its velocity, u that of the
water and w that of the air at the point. So a current carries the body, and a current that changes along the body turns
it. The rates of rotation add −(s D_w + (1 − s) D_a) I ω, with the inertia I of the body about its centre of mass. These
are the drag settings of game engines (a share of momentum per second), applied point by point. The drag is implicit in
the step, as all damping.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import ExistingFile, NonNegative, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.core.kernels import call7, floats, kernel, load_word, stack_floats, words
from skerry.core.meshes import closed_volume
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape
from skerry.parts.law import (
    FIELDS,
    GRAVITY,
    HEADER,
    IMMERSION,
    INERTIA,
    OWNER,
    POSITION,
    ROTATION,
    STATE_START,
    STEP,
    SUBMERGED,
    TIME_OFFSET,
    TOUCHING,
    USERDATA_OFFSET,
    VELOCITY,
    VOLUME,
    WATER,
    WATER_TABLE,
    WET_VOLUME,
    WIND,
    WIND_TABLE,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    PointSet,
    block_of,
    constants_of,
    law,
    spatial_inertia,
)
from skerry.water import flow
from skerry.water.fields import add_fields
from skerry.water.flow import HEIGHT_KNOWN, NEED_FLOW, NEED_FLOW_RATE
from skerry.water.water import heights_of

CHUNK = 128  # points per call of the water's native function
# Settings at the start of the constants: number of points; share per point of volume, ramp, largest buoyancy and mass;
# start of the ramp above the surface; needed values of the flow; bounding sphere of the points (4); number of points of
# the whole robot; cross-section of a point in a jet; drag per point in water and in air; drag of rotation in water and
# in air (9 each). Then follow x, y, z and density of all points.
(
    POINTS, EACH_VOLUME, RAMP, CAP, EACH_MASS, START, NEED, BALL, _BALL_Y, _BALL_Z, BALL_RADIUS, SHARING, SECTION,
    WATER_DRAG, AIR_DRAG, WATER_SPIN,
) = range(16)  # fmt: skip
AIR_SPIN = WATER_SPIN + 9
SETTINGS = AIR_SPIN + 9
# State: whether the custom force acts, the point that it acts on (−1: all points), and the force (3). Then follow the
# forces on the points in the world frame, three rows each: buoyancy, force of fields, and, with drag, drag.
CUSTOM_ON, CUSTOM_POINT, CUSTOM_FORCE, FORCES = 0, 1, 2, 5


@kernel
def _damp(
    block: Any, wet: float, total: float, px: float, py: float, pz: float, squares: Any, spin_w: Any, spin_a: Any
) -> None:
    """Add the implicit part of the drag of the points, and the drag of rotation, to the block of the body.

    Args:
        block: Block of the body.
        wet: Share of the points under water.
        total: Sum of the drag of all points, Σ k, N s/m.
        px, py, pz: Σ k p, with p the position of a point in the frame of the body.
        squares: Σ k p pᵀ, its six different elements xx, yy, zz, xy, xz, yz.
        spin_w, spin_a: Drag of rotation in water and in air, 3×3, N m s.
    """
    step = block[STEP]
    matrix = block[INERTIA : INERTIA + 36]
    for i in range(3):
        matrix[7 * i] += step * total
        for j in range(3):
            rate = wet * spin_w[3 * i + j] + (1.0 - wet) * spin_a[3 * i + j]
            block[WRENCH + 3 + i] -= rate * block[VELOCITY + 3 + j]
            matrix[6 * (3 + i) + 3 + j] += step * rate
    px, py, pz = step * px, step * py, step * pz
    matrix[4] += pz
    matrix[5] -= py
    matrix[9] -= pz
    matrix[11] += px
    matrix[15] += py
    matrix[16] -= px
    matrix[24] += pz
    matrix[30] -= py
    matrix[19] -= pz
    matrix[31] += px
    matrix[20] += py
    matrix[26] -= px
    xx, yy, zz = step * squares[0], step * squares[1], step * squares[2]
    xy, xz, yz = step * squares[3], step * squares[4], step * squares[5]
    matrix[21] += yy + zz
    matrix[28] += xx + zz
    matrix[35] += xx + yy
    matrix[22] -= xy
    matrix[27] -= xy
    matrix[23] -= xz
    matrix[33] -= xz
    matrix[29] -= yz
    matrix[34] -= yz


MOST_BUOYANCY = 1e4  # largest displaced mass over mass; a balloon has 850, a mesh in millimetres about 1e9


@kernel
def _apply(data: int, table: int, has_drag: bool) -> None:
    """Apply the forces of all points; `has_drag` is a constant of each caller, so that code for drag is left out."""
    block = block_of(data, table)
    header = words(table, HEADER)
    constants = constants_of(table)
    count = int(constants[POINTS])
    volume, ramp, cap, mass = constants[EACH_VOLUME], constants[RAMP], constants[CAP], constants[EACH_MASS]
    start, water_drag, air_drag = constants[START], constants[WATER_DRAG], constants[AIR_DRAG]
    px = constants[SETTINGS : SETTINGS + count]
    py = constants[SETTINGS + count : SETTINGS + 2 * count]
    pz = constants[SETTINGS + 2 * count : SETTINGS + 3 * count]
    density = constants[SETTINGS + 3 * count : SETTINGS + 4 * count]
    userdata = load_word(data + header[USERDATA_OFFSET])
    state = userdata + 8 * header[STATE_START]
    custom = floats(state, FORCES)
    buoyant, driven = floats(state + 8 * FORCES, 3 * count), floats(state + 8 * (FORCES + 3 * count), 3 * count)
    dragged = floats(state + 8 * (FORCES + 6 * count), 3 * count)  # only with drag
    R = block[ROTATION : ROTATION + 9]
    X, Y, Z = block[POSITION], block[POSITION + 1], block[POSITION + 2]
    g = block[GRAVITY]
    points = stack_floats(3 * 128)
    query_points = stack_floats(3 * 128)
    query_sample = stack_floats(10 * 128)
    heights = stack_floats(128)
    densities = stack_floats(128)
    depths = stack_floats(128)
    shares = stack_floats(128)
    pushes = stack_floats(3 * 128)
    custom_x = custom_y = custom_z = 0.0
    custom_point = -1
    if custom[CUSTOM_ON] != 0.0:
        custom_point = int(custom[CUSTOM_POINT])
        share = 1.0 / count if custom_point < 0 else 1.0
        custom_x, custom_y, custom_z = share * custom[2], share * custom[3], share * custom[4]
    everywhere = custom_point < 0
    need = int(constants[NEED])
    accelerates = need & NEED_FLOW_RATE
    lowest, highest, still = heights_of(header[WATER_TABLE])
    nominal_density = floats(header[WATER_TABLE], 1)[0]  # density
    dry = highest + start
    deep = min(lowest + start - ramp, still)  # below this height a point is under water in any wave
    fields, owner, sharing = header[FIELDS], header[OWNER], constants[SHARING]
    steepness = 1.0 / ramp if ramp > 0.0 else 1e300  # 1/ramp; without a ramp the share is 0 or 1
    bx, by, bz = constants[BALL], constants[BALL + 1], constants[BALL + 2]
    ball_x, ball_y = X + R[0] * bx + R[1] * by + R[2] * bz, Y + R[3] * bx + R[4] * by + R[5] * bz
    ball_z = Z + R[6] * bx + R[7] * by + R[8] * bz
    sum_fx = sum_fy = sum_fz = wet = tx = ty = tz = 0.0
    v = block[VELOCITY : VELOCITY + 6]
    vx, vy = R[0] * v[0] + R[1] * v[1] + R[2] * v[2], R[3] * v[0] + R[4] * v[1] + R[5] * v[2]
    vz = R[6] * v[0] + R[7] * v[1] + R[8] * v[2]
    wx, wy = R[0] * v[3] + R[1] * v[4] + R[2] * v[5], R[3] * v[3] + R[4] * v[4] + R[5] * v[5]
    wz = R[6] * v[3] + R[7] * v[4] + R[8] * v[5]
    drag_sum = drag_x = drag_y = drag_z = 0.0
    squares = floats(stack_floats(6), 6)
    for i in range(6):
        squares[i] = 0.0
    air_points, air_sample = stack_floats(3 * 128), stack_floats(10 * 128)
    touching = 0.0
    first = 0
    while first < count:
        n = min(count - first, CHUNK)
        where = floats(points, 3 * n)
        for i in range(n):
            x, y, z = px[first + i], py[first + i], pz[first + i]
            where[i] = X + R[0] * x + R[1] * y + R[2] * z
            where[n + i] = Y + R[3] * x + R[4] * y + R[5] * z
            where[2 * n + i] = Z + R[6] * x + R[7] * y + R[8] * z
        near_surface = 0
        for i in range(n):
            near_surface += 1 if deep < where[2 * n + i] < dry else 0
        height, around = floats(heights, n), floats(densities, n)
        # With most points near the surface, a query of all points is faster than a selection.
        queried = near_surface if 2 * near_surface < n else n
        level = floats(query_sample + 8 * flow.HEIGHT * queried, queried)
        found = floats(query_sample + 8 * flow.DENSITY * queried, queried)
        query, query_address = floats(query_points, 3 * queried), points
        if queried < n:
            query_address = query_points
            j = 0
            for i in range(n):
                # Points far from the surface need no query: any height on the right side gives the same share.
                height[i] = highest if where[2 * n + i] >= dry else lowest
                around[i] = nominal_density
                if deep < where[2 * n + i] < dry:
                    query[j], query[queried + j], query[2 * queried + j] = where[i], where[n + i], where[2 * n + i]
                    j += 1
        if queried > 0:
            call7(
                *(header[WATER], header[WATER_TABLE], userdata, data + header[TIME_OFFSET]),
                *(0, queried, query_address, query_sample),
            )
        if queried == n:
            for i in range(n):
                height[i], around[i] = level[i], found[i]
        else:
            j = 0
            for i in range(n):
                if deep < where[2 * n + i] < dry:
                    height[i], around[i] = level[j], found[j]
                    j += 1
        under, pushed, covered = floats(depths, n), floats(pushes, 3 * n), floats(shares, n)
        wetted = 0
        for i in range(n):
            depth = height[i] - where[2 * n + i] + start
            covered[i] = min(max(depth * steepness, 0.0), 1.0)
            wetted += 1 if covered[i] > 0.0 else 0
            if depth > 0.0:
                touching = 1.0
        rate = floats(query_sample + 8 * flow.FLOW_RATE * wetted, 3 * wetted)
        stream = floats(query_sample + 8 * flow.FLOW * wetted, 3 * wetted)
        if need and wetted > 0:  # the acceleration costs more than the height, so only wet points are queried
            query, level = floats(query_points, 3 * wetted), floats(query_sample + 8 * flow.HEIGHT * wetted, wetted)
            j = 0
            for i in range(n):
                if covered[i] > 0.0:
                    query[j], query[wetted + j], query[2 * wetted + j] = where[i], where[n + i], where[2 * n + i]
                    level[j] = height[i]
                    j += 1
            call7(
                *(header[WATER], header[WATER_TABLE], userdata, data + header[TIME_OFFSET]),
                *(need | HEIGHT_KNOWN, wetted, query_points, query_sample),
            )
        wind = floats(air_sample + 8 * flow.FLOW * n, 3 * n)
        if has_drag and air_drag > 0.0 and (wetted < n or touching != 0.0):
            above = floats(air_points, 3 * n)
            for i in range(n):
                above[i], above[n + i] = where[i], where[n + i]
                above[2 * n + i] = max(where[2 * n + i], height[i])
            call7(
                *(header[WIND], header[WIND_TABLE], userdata, data + header[TIME_OFFSET]),
                *(flow.NEED_FLOW, n, air_points, air_sample),
            )
        if fields != 0:
            for i in range(n):
                under[i] = height[i] - where[2 * n + i]
            for i in range(3 * n):
                pushed[i] = 0.0
            add_fields(
                *(fields, owner, userdata, ball_x, ball_y, ball_z, constants[BALL_RADIUS]),
                *(n, sharing, constants[SECTION], where, under, pushed),
            )
        j = 0
        for i in range(n):
            k = first + i
            share = covered[i]
            dx, dy, dz = where[i] - X, where[n + i] - Y, where[2 * n + i] - Z
            rho = density[k] if density[k] > 0.0 else around[i]
            push_x, push_y, lift = 0.0, 0.0, min(rho * g * volume * share, cap)
            if accelerates and share > 0.0:
                carried = rho * volume * share
                push_x += carried * rate[j]
                push_y += carried * rate[wetted + j]
                lift += carried * rate[2 * wetted + j]
            buoyant[k], buoyant[count + k], buoyant[2 * count + k] = push_x, push_y, lift
            if has_drag:
                sx, sy, sz = vx + wy * dz - wz * dy, vy + wz * dx - wx * dz, vz + wx * dy - wy * dx
                water, air = water_drag * share, air_drag * (1.0 - share)
                hx, hy, hz = -(water + air) * sx, -(water + air) * sy, -(water + air) * sz
                if water > 0.0:
                    hx += water * stream[j]
                    hy += water * stream[wetted + j]
                    hz += water * stream[2 * wetted + j]
                if air > 0.0:
                    hx += air * wind[i]
                    hy += air * wind[n + i]
                    hz += air * wind[2 * n + i]
                dragged[k], dragged[count + k], dragged[2 * count + k] = hx, hy, hz
                push_x += hx
                push_y += hy
                lift += hz
                x, y, z, damp = px[k], py[k], pz[k], water + air
                drag_sum += damp
                drag_x += damp * x
                drag_y += damp * y
                drag_z += damp * z
                squares[0] += damp * x * x
                squares[1] += damp * y * y
                squares[2] += damp * z * z
                squares[3] += damp * x * y
                squares[4] += damp * x * z
                squares[5] += damp * y * z
            if share > 0.0:
                j += 1
            lift -= mass * g
            if everywhere or k == custom_point:
                push_x += custom_x
                push_y += custom_y
                lift += custom_z
            field_x = field_y = field_z = 0.0
            if fields != 0:
                field_x, field_y, field_z = pushed[i] / sharing, pushed[n + i] / sharing, pushed[2 * n + i] / sharing
                push_x += field_x
                push_y += field_y
                lift += field_z
            driven[k], driven[count + k], driven[2 * count + k] = field_x, field_y, field_z
            wet += share
            sum_fx += push_x
            sum_fy += push_y
            sum_fz += lift
            tx += dy * lift - dz * push_y
            ty += dz * push_x - dx * lift
            tz += dx * push_y - dy * push_x
        first += n
    # With several sets of points on one body, the share under water is that of the sum of their volumes.
    first_set = block[VOLUME] == 0.0
    block[VOLUME] += volume * count
    block[WET_VOLUME] += volume * wet
    block[SUBMERGED] = block[WET_VOLUME] / block[VOLUME]
    block[TOUCHING] = touching if first_set else max(block[TOUCHING], touching)
    for i in range(3):
        block[WRENCH + i] += R[i] * sum_fx + R[3 + i] * sum_fy + R[6 + i] * sum_fz
        block[WRENCH + 3 + i] += R[i] * tx + R[3 + i] * ty + R[6 + i] * tz
    if has_drag:
        in_water, in_air = constants[WATER_SPIN : WATER_SPIN + 9], constants[AIR_SPIN : AIR_SPIN + 9]
        _damp(block, wet / count, drag_sum, drag_x, drag_y, drag_z, squares, in_water, in_air)


@law
def apply_point_forces(model: int, data: int, table: int) -> None:
    """Apply the forces of points without drag."""
    _apply(data, table, False)


@law
def apply_point_forces_with_drag(model: int, data: int, table: int) -> None:
    """Apply the forces of points with drag."""
    _apply(data, table, True)


class ForcePointsLaw(Law):
    """Law of force points. Its forces are arrays (points, 3) in the world frame, N, of the last step."""

    gravity: float  # m/s²

    @property
    def points(self) -> NDArray[np.float64]:
        """Positions of the points in the frame of the carrying body, (points, 3), m."""
        assert self.point_set is not None
        return self.point_set.points

    @property
    def buoyancy(self) -> NDArray[np.float64]:
        """Force of the water on each point: buoyancy, and in waves the pressure of the accelerated water."""
        return self._rows(0)

    @property
    def field(self) -> NDArray[np.float64]:
        """Force of the force fields on each point."""
        return self._rows(1)

    @property
    def drag(self) -> NDArray[np.float64]:
        """Drag of each point by the drag rates of the points; the `damping` of other laws is not included."""
        return self._rows(2) if self._has_drag else np.zeros_like(self.buoyancy)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weight that each point carries; 0 without `gravity`."""
        found = np.zeros_like(self.buoyancy)
        found[..., 2] = -self.constants[EACH_MASS] * self.gravity
        return found

    @property
    def custom(self) -> NDArray[np.float64]:
        """Custom force on each point; 0 while it is switched off."""
        on, point = self.memory[..., CUSTOM_ON], self.memory[..., CUSTOM_POINT]
        force = self.memory[..., CUSTOM_FORCE:FORCES]
        count = len(self.points)
        here = np.where(point[..., None] < 0, 1.0 / count, np.arange(count) == point[..., None])
        return np.asarray((on != 0)[..., None, None] * here[..., None] * force[..., None, :])

    @property
    def forces(self) -> NDArray[np.float64]:
        """Sum of all these forces on each point."""
        return self.buoyancy + self.weight + self.drag + self.field + self.custom

    @property
    def apply_custom_force(self) -> bool:
        """Whether the custom force acts; it can be set at any time."""
        return bool(np.any(self.memory[..., CUSTOM_ON] != 0))

    @apply_custom_force.setter
    def apply_custom_force(self, value: bool) -> None:
        self.memory[..., CUSTOM_ON] = float(value)

    def set_custom_force(self, force: ArrayLike, point: int | None = None) -> None:
        """Set the custom force and switch it on.

        Args:
            force: Force in the world frame, (3,), N.
            point: Index of the point that the force acts on. By default it is distributed over all points.

        Raises:
            SkerryError: The force is not three finite numbers, or there is no such point.
        """
        given = np.asarray(force, np.float64)
        if given.shape != (3,) or not np.isfinite(given).all():
            raise SkerryError(f"a custom force is three finite numbers in N (world frame); got {force!r}")
        _check_point(point, len(self.points))
        self.memory[..., CUSTOM_FORCE:FORCES] = given
        self.memory[..., CUSTOM_POINT] = -1 if point is None else point
        self.apply_custom_force = True

    @property
    def _has_drag(self) -> bool:
        return bool(self.constants[WATER_DRAG] >= 0.0)

    def _rows(self, number: int) -> NDArray[np.float64]:
        count = len(self.points)
        start = FORCES + 3 * count * number
        rows = self.memory[..., start : start + 3 * count]
        return np.swapaxes(rows.reshape(*rows.shape[:-1], 3, count), -1, -2)


def _check_point(point: int | None, count: int) -> None:
    if point is not None and not 0 <= point < count:
        raise SkerryError(f"there is no point {point}; the points of this law have the numbers 0 to {count - 1}")


def _check_volume(volume: float, at: Attachment) -> None:
    """Raise an error for a volume that no vehicle of this mass can have, as of a mesh in millimetres."""
    if volume * at.water_density > MOST_BUOYANCY * at.robot_mass > 0.0:
        raise SkerryError(
            f"the volume of {volume:.4g} m³ displaces {volume * at.water_density / 1000:.4g} t of water, but "
            f"{at.robot!r} has {at.robot_mass:.4g} kg; a mesh in millimetres needs the scale 0.001"
        )


def shape_volume(shape: Shape) -> float:
    """Return the volume of a shape, m³; a mesh must be closed."""
    ball = 4 / 3 * np.pi * shape.radius**3
    if shape.kind == "mesh":
        assert shape.mesh is not None
        return closed_volume(read_mesh(shape.mesh), str(shape.mesh)) * abs(float(np.prod(shape.scale)))
    if shape.kind == "box":
        return float(np.prod(shape.size))
    if shape.kind == "sphere":
        return float(ball)
    return float(np.pi * shape.radius**2 * shape.length + (ball if shape.kind == "capsule" else 0.0))


class ForcePoints(LawConfig):
    """Settings of buoyancy, and optionally weight, drag and a custom force, at points of a link."""

    kind: Literal["force_points"] = "force_points"
    points: tuple[Vector3, ...] = Field(
        min_length=1, max_length=100_000, description="positions in the mount's frame, m"
    )
    volume: Positive | Literal["neutral", "visual", "collision"] | None = Field(
        None,
        description="volume of the whole body, m³; or `neutral`: the volume at which the robot floats in its trim; or "
        "`visual` or `collision`: the sum of the volumes of these shapes of the link",
    )
    mesh: ExistingFile | None = Field(None, description="closed mesh whose volume is used instead of `volume`")
    scale: Positive | tuple[Positive, Positive, Positive] | None = Field(
        None, description="factor of the size of `mesh`, one or along x, y and z; 1 by default, 0.001 for millimetres"
    )
    density: Positive | tuple[Annotated[float, Field(ge=0)], ...] | None = Field(
        None, description="density of the fluid, kg/m³, for all points or for each; that of the water by default"
    )
    depth_before_submerged: NonNegative = Field(0.03, description="depth at which a point has full buoyancy, m")
    height_before_dry: NonNegative = Field(
        0.0,
        description="height above the surface at which buoyancy starts, m; for points in the middle of their cells",
    )
    max_buoyancy: Positive | None = Field(None, description="largest buoyancy of the whole body, N")
    underwater_drag: NonNegative | None = Field(
        None, description="rate at which the points lose their speed through the water, 1/s; none by default"
    )
    underwater_angular_drag: NonNegative | None = Field(
        None, description="additional rate of rotation in water, 1/s; none by default"
    )
    air_drag: NonNegative | None = Field(
        None, description="rate at which points above the water lose their speed through the air, 1/s; none by default"
    )
    air_angular_drag: NonNegative | None = Field(
        None, description="additional rate of rotation in air, 1/s; none by default"
    )
    gravity: bool = Field(False, description="whether the points carry the weight instead of the link")
    mass: Positive | None = Field(
        None,
        description="part of the link's mass whose weight the points carry, kg; by default all that no other points "
        "carry. The rest stays at the link's centre of mass",
    )
    automatic_center_of_gravity: bool = Field(
        False,
        description="whether to move the link's centre of mass to the mean of the points of all such laws",
    )
    custom_force: Vector3 = Field(
        (0.0, 0.0, 0.0), description="force on the body in the world frame, N; can be changed at run time"
    )
    custom_force_point: int | None = Field(
        None, description="number of the point that `custom_force` acts on; distributed over all points by default"
    )
    apply_custom_force: bool = Field(True, description="whether `custom_force` acts from the start")

    @model_validator(mode="after")
    def _check_consistency(self) -> ForcePoints:
        if (self.volume is None) == (self.mesh is None):
            raise ValueError("give either `volume` or `mesh`; it defines the displaced volume")
        if self.scale is not None and self.mesh is None:
            raise ValueError("`scale` has an effect only with `mesh`; set it, or remove `scale`")
        if isinstance(self.density, tuple) and len(self.density) != len(self.points):
            raise ValueError(
                f"`density` has {len(self.density)} values for {len(self.points)} points; give one per point"
            )
        if self.mass is not None and not self.gravity:
            raise ValueError("`mass` has an effect only with `gravity: true`; set it, or remove `mass`")
        try:
            _check_point(self.custom_force_point, len(self.points))
        except SkerryError as error:
            raise ValueError(f"`custom_force_point`: {error}") from None
        return self

    def displaced_volume(self, at: Attachment) -> float:
        """Return the volume of the whole body, m³."""
        if self.mesh is not None:
            scale = (self.scale or 1.0,) * 3 if not isinstance(self.scale, tuple) else self.scale
            return shape_volume(Shape("mesh", mesh=self.mesh, scale=scale))
        if isinstance(self.volume, float):
            return self.volume
        if self.volume == "neutral":
            return at.neutral_volume
        shapes = at.geometry.visuals if self.volume == "visual" else at.geometry.collisions
        volume = sum(shape_volume(shape) for shape in shapes)
        if volume <= 0.0:
            other = "collision" if self.volume == "visual" else "visual"
            raise SkerryError(
                f"`volume: {self.volume}`: link {at.link!r} has no {self.volume} shape with a volume; use `{other}`, a "
                "number or a `mesh`"
            )
        return volume

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"points": [[0.3, 0, 0], [-0.3, 0, 0]], "volume": 0.02} | settings)

    def build(self, at: Attachment) -> Law:
        points = self.pose_on_body(at).transform(np.array(self.points))
        count = len(points)
        volume = self.displaced_volume(at)
        _check_volume(volume, at)
        rates = (self.underwater_drag, self.air_drag, self.underwater_angular_drag, self.air_angular_drag)
        has_drag = any(rate is not None for rate in rates)
        if (self.gravity or has_drag) and at.mass <= 0:
            setting = "gravity: true" if self.gravity else "underwater_drag"
            raise SkerryError(f"link {at.link!r} has no mass for `{setting}`; give it an <inertial> in the URDF")
        density = np.zeros(count) if self.density is None else np.broadcast_to(np.array(self.density), (count,))
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        settings = np.zeros(SETTINGS)
        settings[POINTS], settings[EACH_VOLUME] = count, volume / count
        settings[RAMP] = self.depth_before_submerged + self.height_before_dry
        settings[CAP], settings[START] = (self.max_buoyancy or np.inf) / count, self.height_before_dry
        settings[NEED] = NEED_FLOW_RATE if at.water_accelerates else 0
        settings[BALL : BALL + 3] = middle
        settings[BALL_RADIUS] = np.linalg.norm(points - middle, axis=1).max()
        settings[SECTION] = np.pi * (0.75 * volume / np.pi) ** (2 / 3) / count  # section of the ball of this volume
        settings[WATER_DRAG] = settings[AIR_DRAG] = -1.0
        if has_drag:
            water, air, water_spin, air_spin = (rate or 0.0 for rate in rates)
            settings[NEED] += NEED_FLOW
            settings[WATER_DRAG], settings[AIR_DRAG] = water * at.mass / count, air * at.mass / count
            settings[WATER_SPIN:AIR_SPIN] = water_spin * at.inertia.ravel()
            settings[AIR_SPIN:SETTINGS] = air_spin * at.inertia.ravel()
        state = np.zeros(FORCES + (9 if has_drag else 6) * count)
        state[CUSTOM_ON], state[CUSTOM_FORCE:FORCES] = self.apply_custom_force, self.custom_force
        state[CUSTOM_POINT] = -1 if self.custom_force_point is None else self.custom_force_point
        law = ForcePointsLaw(
            np.concatenate([settings, points.T.ravel(), density]),
            force=apply_point_forces_with_drag if has_drag else apply_point_forces,
            initial_state=state,
            phase=IMMERSION,
            damping=self._damping(points, at, self.underwater_drag, self.underwater_angular_drag),
            air_damping=self._damping(points, at, self.air_drag, self.air_angular_drag),
            point_set=PointSet(points, SHARING, EACH_MASS, self.gravity, self.mass, self.automatic_center_of_gravity),
        )
        law.gravity = at.gravity
        return law

    @staticmethod
    def _damping(
        points: NDArray[np.float64], at: Attachment, drag: float | None, spin: float | None
    ) -> NDArray[np.float64] | None:
        """Return the 6×6 drag of all points in one medium; None without drag."""
        if drag is None and spin is None:
            return None
        total = np.zeros((6, 6))
        total[3:, 3:] = (spin or 0.0) * at.inertia
        for point in points:
            total += spatial_inertia((drag or 0.0) * at.mass / len(points), point, np.zeros((3, 3)))
        return total
