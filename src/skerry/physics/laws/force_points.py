"""Force points: buoyancy, and optionally weight, of a body, distributed over points.

Each of N points at depth d pushes up with ρ g V/N · min(d/ramp, 1), where V is the volume of the whole body. The ramp
may start above the surface, for points in the middle of cells. `max_buoyancy` limits each point to its share. The ramp
keeps the force continuous. The mean of the ramps is the share of the body under water, which its other laws use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import ExistingFile, NonNegative, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.core.kernels import call7, floats, load_word, stack_floats, words
from skerry.core.meshes import closed_volume
from skerry.formats.mesh_files import read_mesh
from skerry.parts.law import (
    FIELDS,
    GRAVITY,
    HEADER,
    IMMERSION,
    OWNER,
    POSITION,
    ROTATION,
    STATE_START,
    SUBMERGED,
    TIME_OFFSET,
    TOUCHING,
    USERDATA_OFFSET,
    VOLUME,
    WATER,
    WATER_TABLE,
    WET_VOLUME,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
)
from skerry.water import flow
from skerry.water.fields import add_fields
from skerry.water.flow import HEIGHT_KNOWN, NEED_FLOW_RATE
from skerry.water.water import heights_of

CHUNK = 128  # points per call of the water's native function
# Number of settings at the start of the constants: number of points; share per point of volume, ramp, largest buoyancy,
# custom force (3) and mass; start of the ramp above the surface, needed values of the flow, bounding sphere of the
# points (4), number of points of the whole body. Then follow x, y, z and density of all points.
SETTINGS = 15


@law
def apply_point_forces(model: int, data: int, table: int) -> None:
    """Apply the forces of all points. State: the force on each point in the world frame, three rows."""
    block = block_of(data, table)
    header = words(table, HEADER)
    constants = constants_of(table)
    count = int(constants[0])
    volume, ramp, cap, mass, start = constants[1], constants[2], constants[3], constants[7], constants[8]
    px = constants[SETTINGS : SETTINGS + count]
    py = constants[SETTINGS + count : SETTINGS + 2 * count]
    pz = constants[SETTINGS + 2 * count : SETTINGS + 3 * count]
    density = constants[SETTINGS + 3 * count : SETTINGS + 4 * count]
    userdata = load_word(data + header[USERDATA_OFFSET])
    applied = floats(userdata + 8 * header[STATE_START], 3 * count)
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
    fx, fy, fz = constants[4], constants[5], constants[6] - mass * g
    need = int(constants[9])
    lowest, highest, still = heights_of(header[WATER_TABLE])
    nominal_density = floats(header[WATER_TABLE], 1)[0]  # density
    dry = highest + start
    deep = min(lowest + start - ramp, still)  # below this height a point is under water in any wave
    fields, owner, sharing = header[FIELDS], header[OWNER], constants[14]
    steepness = 1.0 / ramp if ramp > 0.0 else 1e300  # 1/ramp; without a ramp the share is 0 or 1
    bx, by, bz = constants[10], constants[11], constants[12]
    ball_x, ball_y = X + R[0] * bx + R[1] * by + R[2] * bz, Y + R[3] * bx + R[4] * by + R[5] * bz
    ball_z = Z + R[6] * bx + R[7] * by + R[8] * bz
    sum_fx = sum_fy = sum_fz = wet = tx = ty = tz = 0.0
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
        if fields != 0:
            for i in range(n):
                under[i] = height[i] - where[2 * n + i]
            for i in range(3 * n):
                pushed[i] = 0.0
            add_fields(fields, owner, userdata, ball_x, ball_y, ball_z, constants[13], n, where, under, pushed)
        j = 0
        for i in range(n):
            share = covered[i]
            rho = density[first + i] if density[first + i] > 0.0 else around[i]
            push_x, push_y, lift = fx, fy, fz + min(rho * g * volume * share, cap)
            if need and share > 0.0:
                carried = rho * volume * share
                push_x += carried * rate[j]
                push_y += carried * rate[wetted + j]
                lift += carried * rate[2 * wetted + j]
                j += 1
            if fields != 0:
                push_x += pushed[i] / sharing
                push_y += pushed[n + i] / sharing
                lift += pushed[2 * n + i] / sharing
            applied[first + i] = push_x
            applied[count + first + i] = push_y
            applied[2 * count + first + i] = lift
            wet += share
            dx, dy, dz = where[i] - X, where[n + i] - Y, where[2 * n + i] - Z
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


class ForcePointsLaw(Law):
    """Law of force points."""

    points: NDArray[np.float64]  # (points, 3), in the frame of the carrying body, m

    @property
    def forces(self) -> NDArray[np.float64]:
        """Current force on each point, (points, 3), world frame, N."""
        rows = self.memory.reshape(*self.memory.shape[:-1], 3, -1)
        return np.swapaxes(rows, -1, -2)


class ForcePoints(LawConfig):
    """Settings of buoyancy, and optionally weight and a constant force, at points of a link."""

    kind: Literal["force_points"] = "force_points"
    points: tuple[Vector3, ...] = Field(
        min_length=1, max_length=100_000, description="positions in the mount's frame, m"
    )
    volume: Positive | Literal["neutral"] | None = Field(
        None, description="volume of the whole body, m³; or `neutral`: the volume at which the robot floats in its trim"
    )
    mesh: ExistingFile | None = Field(None, description="closed mesh whose volume is used instead of `volume`")
    density: Positive | tuple[Annotated[float, Field(ge=0)], ...] | None = Field(
        None, description="density of the fluid, kg/m³, for all points or for each; that of the water by default"
    )
    depth_before_submerged: NonNegative = Field(0.03, description="depth at which a point has full buoyancy, m")
    height_before_dry: NonNegative = Field(
        0.0,
        description="height above the surface at which buoyancy starts, m; for points in the middle of their cells",
    )
    max_buoyancy: Positive | None = Field(None, description="largest buoyancy of the whole body, N")
    gravity: bool = Field(False, description="whether the points carry the weight instead of the link")
    mass: Positive | None = Field(None, description="mass of the weight of `gravity`, kg; the link's mass by default")
    automatic_center_of_gravity: bool = Field(
        False, description="whether to move the link's centre of mass to the mean of the points"
    )
    custom_force: Vector3 = Field(
        (0.0, 0.0, 0.0), description="constant force on the body in the world frame, N, distributed over the points"
    )

    @model_validator(mode="after")
    def _check_consistency(self) -> ForcePoints:
        if (self.volume is None) == (self.mesh is None):
            raise ValueError("give either `volume` or `mesh`; it defines the displaced volume")
        if isinstance(self.density, tuple) and len(self.density) != len(self.points):
            raise ValueError(
                f"`density` has {len(self.density)} values for {len(self.points)} points; give one per point"
            )
        if self.mass is not None and not self.gravity:
            raise ValueError("`mass` has an effect only with `gravity: true`; set it, or remove `mass`")
        return self

    def displaced_volume(self, neutral: float) -> float:
        """Return the volume of the whole body, m³; `neutral` is the volume at which the robot floats."""
        if self.volume is not None:
            return neutral if self.volume == "neutral" else self.volume
        assert self.mesh is not None
        return closed_volume(read_mesh(self.mesh), str(self.mesh))

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"points": [[0.3, 0, 0], [-0.3, 0, 0]], "volume": 0.02} | settings)

    def build(self, at: Attachment) -> Law:
        points = self.pose_on_body(at).transform(np.array(self.points))
        count = len(points)
        volume = self.displaced_volume(at.neutral_volume)
        mass = (self.mass or at.mass) if self.gravity else 0.0
        if self.gravity and mass <= 0:
            raise SkerryError(
                f"link {at.link!r} has no mass for `gravity: true`; give `mass`, or an <inertial> in the URDF"
            )
        density = np.zeros(count) if self.density is None else np.broadcast_to(np.array(self.density), (count,))
        ramp = self.depth_before_submerged + self.height_before_dry
        settings = [count, volume / count, ramp, (self.max_buoyancy or np.inf) / count]
        settings += [*(np.array(self.custom_force) / count), mass / count, self.height_before_dry]
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        radius = float(np.linalg.norm(points - middle, axis=1).max())
        settings += [NEED_FLOW_RATE if at.water_accelerates else 0, *middle, radius, count]
        mean = points.mean(axis=0)
        law = ForcePointsLaw(
            np.concatenate([np.array(settings), points.T.ravel(), density]),
            force=apply_point_forces,
            initial_state=np.zeros(3 * count),
            phase=IMMERSION,
            points_index=(count, 14),
            center_of_mass=(mean[0], mean[1], mean[2]) if self.automatic_center_of_gravity else None,
            weightless=self.gravity,
        )
        law.points = points
        return law
