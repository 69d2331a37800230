"""Contacts of ropes with the ground and with bodies, as planes that push nodes back.

A node is a sphere. In each step it gets the plane of the ground below it and that of the nearest body, if they are
close. The solver treats the planes as stiff springs, so that nodes do not bounce. Friction is Coulomb's: a drag of μ
N/|v| against sliding, linear in the new velocity, which stops a node but never reverses its motion. The opposite force
acts on the body. Ropes do not touch each other, except at hooks. Objects thinner than a segment may slip between nodes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import call3, floats, kernel, load_word, words
from skerry.physics.mujoco import GEOM_XPOS
from skerry.physics.points import BODY_ROW, ROOT, distance_to, push_at, velocity_at
from skerry.ropes.group import PLANE, PLANES, TOUCH
from skerry.ropes.layout import (
    AXIS_LIST,
    BODIES,
    BODY,
    DIAMETER,
    FRICTION,
    GROUND,
    GROUND_TABLE,
    PROBE,
    RADIUS,
    SEGMENT,
    SHAPE_SIZES,
    SHAPE_TABLE,
    SHAPES,
    STEP,
)
from skerry.ropes.matrices import add_along
from skerry.terrain import ground

FRICTION_SPEED: Final = 1e-3  # m/s, sliding speed below which friction decreases to 0
SOFTNESS: Final = 1e-3  # m, depth to which a node sinks in under its own weight in air
PER_NODE: Final = ground.ROWS  # floats of scratch memory per node, for the ground's values


@kernel
def _stiffness(own: Any, heavy: float, tension: Any, k: int) -> float:
    """Return the contact stiffness of a node, N/m: it yields by SOFTNESS under its weight, by a radius at a corner."""
    return heavy * 9.81 / SOFTNESS + 2.0 * max(tension[max(k - 1, 0)], tension[k]) / own[RADIUS]


@kernel
def _set_plane(
    side: int, planes: Any, touch: Any, nx: float, ny: float, nz: float, far: float, stiffness: float, body: float
) -> None:
    """Write a plane of a node, and the body behind it."""
    plane = planes[PLANE * side : PLANE * side + PLANE]
    plane[0], plane[1], plane[2], plane[3], plane[4] = nx, ny, nz, far, stiffness
    touch[TOUCH * side] = body
    for i in range(1, TOUCH):
        touch[TOUCH * side + i] = 0.0


@kernel
def find_ground_contacts(
    numbers: Any,
    common: Any,
    own: Any,
    count: int,
    x: Any,
    v: Any,
    tension: Any,
    heavy: Any,
    memory: int,
    planes: Any,
    touching: Any,
    touch: Any,
) -> None:
    """Set the plane of the ground for every node near it."""
    for k in range(count):
        touching[k] = 0
    if numbers[GROUND] == 0:
        return
    rows = floats(memory, ground.ROWS * count)
    for k in range(count):
        rows[k], rows[count + k] = x[3 * k], x[3 * k + 1]
    call3(numbers[GROUND], numbers[GROUND_TABLE], count, memory)
    h = common[STEP]
    for k in range(count):
        height = rows[ground.HEIGHT * count + k]
        reach = max(0.5 * own[DIAMETER], own[RADIUS]) + 0.05 + 2.0 * h * abs(v[3 * k + 2])
        if not x[3 * k + 2] - height < reach:  # also true for NaN, where there is no ground
            continue
        nx = rows[ground.NORMAL * count + k]
        ny = rows[(ground.NORMAL + 1) * count + k]
        nz = rows[(ground.NORMAL + 2) * count + k]
        far = nx * x[3 * k] + ny * x[3 * k + 1] + nz * height + 0.5 * own[DIAMETER]
        _set_plane(
            0, planes[PLANES * k :], touch[2 * TOUCH * k :], nx, ny, nz, far, _stiffness(own, heavy[k], tension, k), 0.0
        )
        touching[k] = 1


@kernel
def find_body_contacts(
    model: int,
    data: int,
    layout: Any,
    numbers: Any,
    common: Any,
    own: Any,
    head: Any,
    tail: Any,
    count: int,
    x: Any,
    v: Any,
    tension: Any,
    heavy: Any,
    line: Any,
    planes: Any,
    touching: Any,
    touch: Any,
) -> None:
    """Set the plane of the nearest body for every node near one."""
    if numbers[SHAPES] == 0:
        return
    h = common[STEP]
    positions = load_word(data + layout[GEOM_XPOS])
    probe = floats(positions + 24 * numbers[PROBE], 3)
    head_root = words(numbers[BODIES] + 24 * int(max(head[BODY], 0.0)), BODY_ROW)[ROOT]
    tail_root = words(numbers[BODIES] + 24 * int(max(tail[BODY], 0.0)), BODY_ROW)[ROOT]
    low_x = high_x = x[0]
    low_y = high_y = x[1]
    low_z = high_z = x[2]
    for k in range(count):
        low_x, high_x = min(low_x, x[3 * k]), max(high_x, x[3 * k])
        low_y, high_y = min(low_y, x[3 * k + 1]), max(high_y, x[3 * k + 1])
        low_z, high_z = min(low_z, x[3 * k + 2]), max(high_z, x[3 * k + 2])
    # The first nodes from an attachment have no contact with the robot or object that the rope is tied to.
    skipped = int(np.ceil(2.0 * (1.0 + own[RADIUS] / own[SEGMENT])))
    for shape in range(numbers[SHAPES]):
        row = words(numbers[SHAPE_TABLE] + 16 * shape, 2)
        sizes = floats(numbers[SHAPE_SIZES] + 16 * shape, 2)
        at = floats(positions + 24 * row[0], 3)
        reach = sizes[0] + own[RADIUS] + 0.1
        if at[0] + reach < low_x or at[0] - reach > high_x or at[1] + reach < low_y or at[1] - reach > high_y:
            continue
        if at[2] + reach < low_z or at[2] - reach > high_z:
            continue
        root = words(numbers[BODIES] + 24 * row[1], BODY_ROW)[ROOT]
        first = skipped if root == tail_root and tail[BODY] > 0.0 else 0
        last = count - skipped if root == head_root and head[BODY] > 0.0 else count
        for k in range(first, last):
            dx, dy, dz = x[3 * k] - at[0], x[3 * k + 1] - at[1], x[3 * k + 2] - at[2]
            speed = np.sqrt(v[3 * k] ** 2 + v[3 * k + 1] ** 2 + v[3 * k + 2] ** 2)
            near = own[RADIUS] + 0.02 + 2.0 * h * speed
            if dx * dx + dy * dy + dz * dz > (sizes[0] + near) ** 2:
                continue
            probe[0], probe[1], probe[2] = x[3 * k], x[3 * k + 1], x[3 * k + 2]
            apart = distance_to(model, data, np.int32(numbers[PROBE]), np.int32(row[0]), near, line.ctypes.data)
            if apart >= near:
                continue
            nx, ny, nz = line[0] - line[3], line[1] - line[4], line[2] - line[5]
            size = np.sqrt(nx * nx + ny * ny + nz * nz)
            if size < 1e-9:
                continue
            sign = 1.0 / size if apart > 0.0 else -1.0 / size
            nx, ny, nz = nx * sign, ny * sign, nz * sign
            far = nx * line[3] + ny * line[4] + nz * line[5] + own[RADIUS]
            own_planes, own_touch = planes[PLANES * k :], touch[2 * TOUCH * k :]
            side = touching[k]
            if side == 2 or (side == 1 and own_touch[0] > 0.0):
                # The node has the plane of another body already: keep the deeper contact.
                side = side - 1
                held = own_planes[PLANE * side : PLANE * side + PLANE]
                deep = held[3] - held[0] * x[3 * k] - held[1] * x[3 * k + 1] - held[2] * x[3 * k + 2]
                if deep >= own[RADIUS] - apart:
                    continue
            stiffness = min(_stiffness(own, heavy[k], tension, k), sizes[1])
            _set_plane(side, own_planes, own_touch, nx, ny, nz, far, stiffness, float(row[1]))
            motion = line[6:9]
            velocity_at(data, layout, numbers[BODIES], row[1], line[3], line[4], line[5], motion)
            for i in range(3):
                own_touch[TOUCH * side + 1 + i] = motion[i]
            # The plane moves with the body during the step.
            own_planes[PLANE * side + 3] += h * (nx * motion[0] + ny * motion[1] + nz * motion[2])
            touching[k] = side + 1


@kernel
def add_friction(
    common: Any, own: Any, k: int, x: Any, v: Any, planes: Any, touching: Any, touch: Any, mass: Any, push: Any
) -> None:
    """Add the friction of a node's contacts to its inertia and momentum."""
    h = common[STEP]
    for side in range(touching[k]):
        plane = planes[PLANES * k + PLANE * side : PLANES * k + PLANE * side + PLANE]
        kept = touch[TOUCH * (2 * k + side) : TOUCH * (2 * k + side) + TOUCH]
        nx, ny, nz = plane[0], plane[1], plane[2]
        deep = plane[3] - nx * x[3 * k] - ny * x[3 * k + 1] - nz * x[3 * k + 2]
        if deep <= 0.0:
            kept[4] = 0.0
            continue
        ux, uy, uz = v[3 * k] - kept[1], v[3 * k + 1] - kept[2], v[3 * k + 2] - kept[3]
        along = ux * nx + uy * ny + uz * nz
        speed = np.sqrt((ux - along * nx) ** 2 + (uy - along * ny) ** 2 + (uz - along * nz) ** 2)
        factor = own[FRICTION] * plane[4] * deep / max(speed, FRICTION_SPEED)
        kept[4] = factor
        add_along(mass, h * factor, -h * factor, nx, ny, nz)
        along = kept[1] * nx + kept[2] * ny + kept[3] * nz
        push[0] += h * factor * (kept[1] - along * nx)
        push[1] += h * factor * (kept[2] - along * ny)
        push[2] += h * factor * (kept[3] - along * nz)


@kernel
def push_bodies(
    data: int, layout: Any, numbers: Any, k: int, x: Any, v: Any, planes: Any, touching: Any, touch: Any
) -> None:
    """Apply the opposite of a node's contact forces to the bodies."""
    for side in range(touching[k]):
        kept = touch[TOUCH * (2 * k + side) : TOUCH * (2 * k + side) + TOUCH]
        if kept[0] <= 0.0:
            continue
        plane = planes[PLANES * k + PLANE * side : PLANES * k + PLANE * side + PLANE]
        nx, ny, nz = plane[0], plane[1], plane[2]
        deep = plane[3] - nx * x[3 * k] - ny * x[3 * k + 1] - nz * x[3 * k + 2]
        press = plane[4] * max(deep, 0.0)
        ux, uy, uz = v[3 * k] - kept[1], v[3 * k + 1] - kept[2], v[3 * k + 2] - kept[3]
        along = ux * nx + uy * ny + uz * nz
        fx = kept[4] * (ux - along * nx) - press * nx
        fy = kept[4] * (uy - along * ny) - press * ny
        fz = kept[4] * (uz - along * nz) - press * nz
        px, py, pz = x[3 * k], x[3 * k + 1], x[3 * k + 2]
        push_at(data, layout, numbers[BODIES], numbers[AXIS_LIST], int(kept[0]), px, py, pz, fx, fy, fz)
