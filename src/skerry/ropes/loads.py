"""Loads on the nodes of a rope besides tension: weight, buoyancy, water, wind, force fields.

A node represents half of each adjacent edge. Drag is Morison's, with separate terms along and across the rope: ½ ρ C_n
d ℓ |u_n| u_n and ½ ρ C_t π d ℓ |u_t| u_t; the added mass C_a ρ π d²/4 ℓ acts only across the rope; the Froude–Krylov
force and the added mass follow the acceleration of the water (Morison et al. 1950; Faltinsen 1990, ch. 7; split and
coefficients as in MoorDyn, Hall & Goupee 2015, Ocean Engineering 104). Drag is linear in the velocity at the end of the
step, with the factor |u| from its start, so that it never overshoots. A buoy or hook at the tail is a sphere: its share
under water is that of a spherical cap, its added mass half the displaced water (Lamb 1932, §92).
"""

from __future__ import annotations

from math import pi
from typing import Any, Final

import numpy as np

from skerry.core.kernels import call7, floats, kernel, words
from skerry.parts.law import FIELDS, HEADER, TIME_OFFSET, WATER, WATER_TABLE, WIND, WIND_TABLE
from skerry.ropes.layout import (
    ADDED,
    DIAMETER,
    END_DRAG,
    END_MASS,
    END_RADIUS,
    END_VOLUME,
    FLOW_NEEDED,
    GRAVITY,
    HAS_WIND,
    MASS,
    NORMAL_DRAG,
    OWNER,
    STEP,
    TANGENT_DRAG,
)
from skerry.ropes.matrices import add_along, times
from skerry.water import flow
from skerry.water.fields import add_fields

AIR_DENSITY: Final = 1.225  # kg/m³: the standard atmosphere at sea level (ISO 2533:1975, table 1)
# Floats of scratch memory per node for the environment: position, water, wind, depth, field force.
PER_NODE: Final = 3 + flow.ROWS + flow.ROWS + 1 + 3


@kernel
def sample_environment(
    data: int, table: int, userdata: int, numbers: Any, own: Any, count: int, x: Any, memory: int
) -> None:
    """Query water, wind and force fields at every node, and write the values to `memory` in rows of `count`."""
    header = words(table, HEADER)
    where = floats(memory, 3 * count)
    for k in range(count):
        where[k], where[count + k], where[2 * count + k] = x[3 * k], x[3 * k + 1], x[3 * k + 2]
    sample = memory + 24 * count
    time = data + header[TIME_OFFSET]
    call7(header[WATER], header[WATER_TABLE], userdata, time, numbers[FLOW_NEEDED], count, memory, sample)
    height = floats(sample + 8 * flow.HEIGHT * count, count)
    wind = sample + 8 * flow.ROWS * count
    if numbers[HAS_WIND] != 0:
        call7(header[WIND], header[WIND_TABLE], userdata, time, flow.NEED_FLOW, count, memory, wind)
    depth = floats(wind + 8 * flow.ROWS * count, count)
    for k in range(count):
        depth[k] = height[k] - where[2 * count + k]
    if header[FIELDS] != 0:
        force = floats(wind + 8 * (flow.ROWS + 1) * count, 3 * count)
        low_x = high_x = x[0]
        low_y = high_y = x[1]
        low_z = high_z = x[2]
        for k in range(count):
            low_x, high_x = min(low_x, x[3 * k]), max(high_x, x[3 * k])
            low_y, high_y = min(low_y, x[3 * k + 1]), max(high_y, x[3 * k + 1])
            low_z, high_z = min(low_z, x[3 * k + 2]), max(high_z, x[3 * k + 2])
        for k in range(3 * count):
            force[k] = 0.0
        middle_x, middle_y, middle_z = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0.5 * (low_z + high_z)
        radius = 0.5 * np.sqrt((high_x - low_x) ** 2 + (high_y - low_y) ** 2 + (high_z - low_z) ** 2)
        owner = int(own[OWNER])
        fields = header[FIELDS]
        section = own[DIAMETER] * 2.0 * radius / count
        add_fields(
            *(fields, owner, userdata, middle_x, middle_y, middle_z, radius),
            *(count, float(count), section, where, depth, force),
        )


@kernel
def _drag(
    own: Any,
    part: float,
    share: float,
    ball: float,
    rho: float,
    h: float,
    tx: float,
    ty: float,
    tz: float,
    rx: float,
    ry: float,
    rz: float,
    ux: float,
    uy: float,
    uz: float,
    mass: Any,
) -> tuple[float, float, float]:
    """Add h times the slope of the drag to `mass`; return the momentum that the moving fluid adds."""
    along = rx * tx + ry * ty + rz * tz
    square = rx * rx + ry * ry + rz * rz
    across = np.sqrt(max(square - along * along, 0.0))
    line = 0.5 * rho * own[DIAMETER] * part * share * h
    normal = line * own[NORMAL_DRAG] * across + 0.5 * rho * own[END_DRAG] * ball * np.sqrt(square) * h
    tangent = normal - line * own[NORMAL_DRAG] * across + line * pi * own[TANGENT_DRAG] * abs(along)
    add_along(mass, normal, tangent - normal, tx, ty, tz)
    flow_along = (tangent - normal) * (ux * tx + uy * ty + uz * tz)
    return normal * ux + flow_along * tx, normal * uy + flow_along * ty, normal * uz + flow_along * tz


@kernel
def load_node(
    k: int,
    count: int,
    has_end: bool,
    has_fields: bool,
    windy: bool,
    common: Any,
    own: Any,
    under: Any,
    x: Any,
    v: Any,
    rest: Any,
    memory: int,
    mass: Any,
    push: Any,
) -> float:
    """Write the inertia and drag of a node to `mass`, and its momentum after the step without tension to `push`.

    Args:
        k: number of the node.
        count: number of nodes.
        has_end: whether the rope has its buoy or hook.
        has_fields: whether there are force fields.
        windy: whether there is wind.
        common: constants of all ropes.
        own: constants of the rope, for the node and the edge towards the head.
        under: constants of the rope for the mass of the edge towards the tail.
        x: positions of the nodes, m.
        v: velocities of the nodes, m/s.
        rest: rest lengths of the edges, m.
        memory: address of the values that `sample_environment` wrote.
        mass: symmetric matrix (6,), kg.
        push: momentum (3,), kg m/s.

    Returns:
        The mass of the node without added mass, kg.
    """
    h, g = common[STEP], common[GRAVITY]
    water = floats(memory + 24 * count, flow.ROWS * count)
    before, after = max(k - 1, 0), min(k + 1, count - 1)
    tx, ty, tz = (
        x[3 * after] - x[3 * before],
        x[3 * after + 1] - x[3 * before + 1],
        x[3 * after + 2] - x[3 * before + 2],
    )
    tall = abs(tz) * (0.25 if after - before == 2 else 0.5)
    length = np.sqrt(tx * tx + ty * ty + tz * tz)
    scale = 1.0 / length if length > 1e-12 else 0.0
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    part = 0.5 * ((rest[k - 1] if k > 0 else 0.0) + (rest[k] if k < count - 1 else 0.0))
    d = own[DIAMETER]
    depth = water[flow.HEIGHT * count + k] - x[3 * k + 2]
    rho = water[flow.DENSITY * count + k]
    wet = min(max(0.5 + 0.5 * depth / max(0.5 * d, tall), 0.0), 1.0)
    displaced = rho * 0.25 * pi * d * d * part * wet
    heavy = own[MASS] * part
    if under[MASS] != own[MASS] and k > 0:
        heavy += 0.5 * (under[MASS] - own[MASS]) * rest[k - 1]
    added = own[ADDED] * displaced
    ball = 0.0
    at_end = k == 0 and has_end
    if at_end:
        heavy += own[END_MASS]
        radius = own[END_RADIUS]
        if radius > 0.0:
            q = min(max(0.5 + 0.5 * depth / radius, 0.0), 1.0)
            ball = q * q * (3.0 - 2.0 * q)
    displaced_ball = rho * own[END_VOLUME] * ball  # a hook displaces nothing
    for i in range(6):
        mass[i] = 0.0
    add_along(mass, heavy + added + 0.5 * displaced_ball, -added, tx, ty, tz)
    vx, vy, vz = v[3 * k], v[3 * k + 1], v[3 * k + 2]
    px, py, pz = times(mass, vx, vy, vz)
    # The acceleration of the water acts on the displaced volume (Froude–Krylov) and on the added mass.
    ax, ay, az = (
        water[flow.FLOW_RATE * count + k],
        water[(flow.FLOW_RATE + 1) * count + k],
        water[(flow.FLOW_RATE + 2) * count + k],
    )
    carried = displaced + displaced_ball
    along = ax * tx + ay * ty + az * tz
    pushed = added + 0.5 * displaced_ball + carried
    px += h * (pushed * ax - added * along * tx)
    py += h * (pushed * ay - added * along * ty)
    pz += h * (pushed * az - added * along * tz + carried * g - heavy * g)
    ux, uy, uz = water[flow.FLOW * count + k], water[(flow.FLOW + 1) * count + k], water[(flow.FLOW + 2) * count + k]
    qx, qy, qz = _drag(own, part, wet, ball, rho, h, tx, ty, tz, vx - ux, vy - uy, vz - uz, ux, uy, uz, mass)
    px, py, pz = px + qx, py + qy, pz + qz
    if wet < 1.0 or ball < 1.0:
        ux = uy = uz = 0.0
        if windy:
            wind = floats(memory + 8 * (3 + flow.ROWS) * count, flow.ROWS * count)
            ux, uy, uz = (
                wind[flow.FLOW * count + k],
                wind[(flow.FLOW + 1) * count + k],
                wind[(flow.FLOW + 2) * count + k],
            )
        dry_ball = 1.0 - ball if own[END_RADIUS] > 0.0 and at_end else 0.0
        qx, qy, qz = _drag(
            own, part, 1.0 - wet, dry_ball, AIR_DENSITY, h, tx, ty, tz, vx - ux, vy - uy, vz - uz, ux, uy, uz, mass
        )
        px, py, pz = px + qx, py + qy, pz + qz
    if has_fields:
        force = floats(memory + 8 * (4 + 2 * flow.ROWS) * count, 3 * count)
        px += h * force[k] / count
        py += h * force[count + k] / count
        pz += h * force[2 * count + k] / count
    push[0], push[1], push[2] = px, py, pz
    return heavy
