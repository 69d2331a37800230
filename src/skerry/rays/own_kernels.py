"""Kernels of Skerry's own tracer, which traces packets through BVHs on machines without Embree.

The sixteen rays of a packet traverse a BVH together: one loop tests a box or a triangle against all rays, and the
compiler turns it into vector instructions. A block of rays is rows of sixteen 32-bit values.
"""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np

from skerry.core.kernels import integer_pointer, load_word, single_pointer, stack_floats
from skerry.rays.bvh import COUNT, FIRST, NODE_SIZE, TRIANGLE_SIZE
from skerry.rays.packets import (
    DIRECTION,
    FACE,
    FAR,
    GEOMETRY,
    INSTANCE,
    INSTANCE_PART,
    MASK,
    NEAR,
    NORMAL,
    ORIGIN,
    U,
    V,
)

LANES: Final = 16

# offsets in a block of rays
_O: Final = 0  # origin x, y, z
_D: Final = 3 * LANES  # direction
_I: Final = 6 * LANES  # 1 / direction
_P: Final = 9 * LANES  # with _Q, two vectors perpendicular to the direction
_Q: Final = 12 * LANES
_LOW: Final = 15 * LANES  # origin for tests against lower sides of boxes
_HIGH: Final = 18 * LANES  # origin for tests against upper sides of boxes
_NEAR: Final = 21 * LANES
_FAR: Final = 22 * LANES  # −inf for an inactive ray
_U: Final = 23 * LANES
_V: Final = 24 * LANES
_HIT: Final = 25 * LANES  # index of the triangle that was hit, or −1
_EDGES: Final = 26 * LANES  # three edge functions of the triangle that was tested last
_T: Final = 29 * LANES  # distance of the triangle that was tested last; infinite where it was missed
_BLOCK: Final = 30 * LANES // 2  # size of a block in float64 values

# fields of the record of an instance, int64
NODES: Final = 0
TRIANGLES: Final = 1
INSTANCE_MASK: Final = 2
TO_LOCAL: Final = 3  # row-major 3 × 4 float32 transform from the world to the instance's frame
WORLD_BOX: Final = 9  # 6 float32
RECORD_SIZE: Final = 12

# fields of the table of a scene of instances, int64
RECORDS: Final = 0
INSTANCES: Final = 1
TOP_NODES: Final = 2
NUMBERS: Final = 3  # address of the indices of the instances, in the order of the BVH's leaves
BOXES: Final = 4  # address of memory for building the BVH
TOP_SIZE: Final = 5

_SMALLEST: Final = np.float32(1e-18)  # smaller components of a direction count as this, so that 1 / d is finite
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_INFINITE: Final = np.float32(np.inf)
# A ray that hits a triangle in `_intersect_triangle` must also hit the triangle's boxes. The rounded arithmetic there
# moves corners by about 10 · 2⁻²⁴ of their distance, so boxes are enlarged by this share of the distance.
_STRAY: Final = np.float32(2.0**-20)

# Kernels inherit fast maths from their caller unless it is switched off here. It must be off, because watertight hits
# depend on the rounding of products; see `_intersect_triangle`.
_exact = numba.njit(error_model="numpy", fastmath=False)


@_exact
def _any_hits_box(rays: Any, node: Any) -> bool:
    """Return whether any ray passes through a box before it ends."""
    x0, y0, z0, x1, y1, z1 = node[0], node[1], node[2], node[3], node[4], node[5]
    found = np.int32(0)
    for j in range(LANES):
        ix, iy, iz = rays[_I + j], rays[_I + LANES + j], rays[_I + 2 * LANES + j]
        a, b = (x0 - rays[_LOW + j]) * ix, (x1 - rays[_HIGH + j]) * ix
        c, d = (y0 - rays[_LOW + LANES + j]) * iy, (y1 - rays[_HIGH + LANES + j]) * iy
        e, f = (z0 - rays[_LOW + 2 * LANES + j]) * iz, (z1 - rays[_HIGH + 2 * LANES + j]) * iz
        near, far = rays[_NEAR + j], rays[_FAR + j]
        low, high = (a if a < b else b), (b if a < b else a)
        near = low if low > near else near
        far = high if high < far else far
        low, high = (c if c < d else d), (d if c < d else c)
        near = low if low > near else near
        far = high if high < far else far
        low, high = (e if e < f else f), (f if e < f else e)
        near = low if low > near else near
        far = high if high < far else far
        found |= np.int32(near <= far)
    return found != 0


@_exact
def _normal(corners: Any) -> tuple[float, float, float]:
    """Return the normal of a triangle; its length is twice the triangle's area."""
    x1, y1, z1 = corners[3] - corners[0], corners[4] - corners[1], corners[5] - corners[2]
    x2, y2, z2 = corners[6] - corners[0], corners[7] - corners[1], corners[8] - corners[2]
    return y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2


@_exact
def _intersect_triangle(rays: Any, corners: Any) -> bool:
    """Return whether any ray hits a triangle; write edge functions and distances to the rows _EDGES and _T.

    The test is watertight (Woop, Benthin & Wald 2013, Watertight ray/triangle intersection, J. Computer Graphics
    Techniques 2). Projected along the ray, a corner has the same coordinates in all triangles that share it, and the
    difference of two rounded products never has the wrong sign. Where it is 0, both triangles at the edge count as
    hit. So no ray passes between triangles that share an edge or a corner.
    """
    nx, ny, nz = _normal(corners)
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = (
        corners[0],
        corners[1],
        corners[2],
        corners[3],
        corners[4],
        corners[5],
        corners[6],
        corners[7],
        corners[8],
    )
    found = np.int32(0)
    for j in range(LANES):
        ox, oy, oz = rays[_O + j], rays[_O + LANES + j], rays[_O + 2 * LANES + j]
        dx, dy, dz = rays[_D + j], rays[_D + LANES + j], rays[_D + 2 * LANES + j]
        px, py, pz = rays[_P + j], rays[_P + LANES + j], rays[_P + 2 * LANES + j]
        qx, qy, qz = rays[_Q + j], rays[_Q + LANES + j], rays[_Q + 2 * LANES + j]
        ax, ay, az = x0 - ox, y0 - oy, z0 - oz
        bx, by, bz = x1 - ox, y1 - oy, z1 - oz
        cx, cy, cz = x2 - ox, y2 - oy, z2 - oz
        ap, aq = ax * px + ay * py + az * pz, ax * qx + ay * qy + az * qz
        bp, bq = bx * px + by * py + bz * pz, bx * qx + by * qy + bz * qz
        cp, cq = cx * px + cy * py + cz * pz, cx * qx + cy * qy + cz * qz
        u = ap * cq - aq * cp
        v = bp * aq - bq * ap
        w = cp * bq - cq * bp
        least = u if u < v else v
        least = w if w < least else least
        most = u if u > v else v
        most = w if w > most else most
        den = nx * dx + ny * dy + nz * dz
        t = (nx * ax + ny * ay + nz * az) / den
        inside = (least >= _ZERO) | (most <= _ZERO)
        hit = inside & (den != _ZERO) & (u + v + w != _ZERO) & (t > rays[_NEAR + j]) & (t <= rays[_FAR + j])
        found |= np.int32(hit)
        rays[_EDGES + j], rays[_EDGES + LANES + j], rays[_EDGES + 2 * LANES + j] = u, v, w
        rays[_T + j] = t if hit else _INFINITE
    return found != 0


@_exact
def _widen_boxes(rays: Any, root: Any) -> None:
    """Set the rows _LOW and _HIGH so that all boxes below a root are enlarged by the rounding error of corners."""
    for j in range(LANES):
        reach = _ZERO
        for k in range(3):
            o = rays[_O + k * LANES + j]
            reach += max(abs(root[k] - o), abs(root[3 + k] - o))
        for k in range(3):
            rays[_LOW + k * LANES + j] = rays[_O + k * LANES + j] + _STRAY * reach
            rays[_HIGH + k * LANES + j] = rays[_O + k * LANES + j] - _STRAY * reach


@_exact
def _trace_mesh(block: int, nodes: int, triangles: int, any_hit: bool) -> None:
    """Trace a block of rays through the BVH of a mesh."""
    rays, hits = single_pointer(block), integer_pointer(block)
    _widen_boxes(rays, single_pointer(nodes))
    lead = 0
    while lead < LANES - 1 and not rays[_FAR + lead] > rays[_NEAR + lead]:
        lead += 1
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    pending = 1
    while pending > 0:
        pending -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[pending])
        node = single_pointer(here)
        if not _any_hits_box(rays, node):
            continue
        links = integer_pointer(here)
        first, count = np.int64(links[FIRST]), np.int64(links[COUNT])
        if count < 0:
            upwards = np.int64(rays[_D + (-1 - count) * LANES + lead] >= _ZERO)
            stack[pending] = first + upwards  # the farther child is visited later
            stack[pending + 1] = first + 1 - upwards
            pending += 2
            continue
        for i in range(first, first + count):
            if not _intersect_triangle(rays, single_pointer(triangles + 4 * TRIANGLE_SIZE * i)):
                continue
            for j in range(LANES):
                t = rays[_T + j]
                if t < _INFINITE:
                    u, v = rays[_EDGES + j], rays[_EDGES + LANES + j]
                    scale = _ONE / (u + v + rays[_EDGES + 2 * LANES + j])
                    rays[_U + j], rays[_V + j] = u * scale, v * scale
                    rays[_FAR + j] = -_INFINITE if any_hit else t
                    hits[_HIT + j] = i


@_exact
def _reciprocal(x: Any) -> Any:
    return _ONE / x if abs(x) >= _SMALLEST else (_ONE / _SMALLEST if x >= _ZERO else -_ONE / _SMALLEST)


@_exact
def _set_direction(rays: Any, j: int, x: Any, y: Any, z: Any) -> None:
    """Set a ray's direction, its reciprocal, and two vectors perpendicular to it.

    The two vectors are from Duff et al. 2017, Building an orthonormal basis, revisited, J. Computer Graphics
    Techniques 6.
    """
    rays[_D + j], rays[_D + LANES + j], rays[_D + 2 * LANES + j] = x, y, z
    rays[_I + j], rays[_I + LANES + j], rays[_I + 2 * LANES + j] = _reciprocal(x), _reciprocal(y), _reciprocal(z)
    scale = _ONE / np.sqrt(x * x + y * y + z * z)
    x, y, z = x * scale, y * scale, z * scale
    sign = _ONE if z >= _ZERO else -_ONE
    a = -_ONE / (sign + z)
    b = x * y * a
    rays[_P + j], rays[_P + LANES + j], rays[_P + 2 * LANES + j] = _ONE + sign * x * x * a, sign * b, -sign * x
    rays[_Q + j], rays[_Q + LANES + j], rays[_Q + 2 * LANES + j] = b, sign + y * y * a, -y


@_exact
def _fill_world(rays: Any, packet: Any, valid: Any) -> None:
    for j in range(LANES):
        for k in range(3):
            d = packet[(DIRECTION + k) * LANES + j]
            rays[_O + k * LANES + j] = packet[(ORIGIN + k) * LANES + j]
            rays[_D + k * LANES + j] = d
            rays[_I + k * LANES + j] = _reciprocal(d)
        rays[_NEAR + j] = packet[NEAR * LANES + j]
        rays[_FAR + j] = packet[FAR * LANES + j] if valid[j] != 0 else -_INFINITE


@_exact
def _fill_local(rays: Any, world: Any, hits: Any, to_local: Any, masks: Any, mask: int) -> None:
    """Copy the rays that can hit an instance into its frame."""
    for j in range(LANES):
        x, y, z = world[_O + j], world[_O + LANES + j], world[_O + 2 * LANES + j]
        dx, dy, dz = world[_D + j], world[_D + LANES + j], world[_D + 2 * LANES + j]
        rays[_O + j] = to_local[0] * x + to_local[1] * y + to_local[2] * z + to_local[3]
        rays[_O + LANES + j] = to_local[4] * x + to_local[5] * y + to_local[6] * z + to_local[7]
        rays[_O + 2 * LANES + j] = to_local[8] * x + to_local[9] * y + to_local[10] * z + to_local[11]
        _set_direction(
            rays,
            j,
            to_local[0] * dx + to_local[1] * dy + to_local[2] * dz,
            to_local[4] * dx + to_local[5] * dy + to_local[6] * dz,
            to_local[8] * dx + to_local[9] * dy + to_local[10] * dz,
        )
        rays[_NEAR + j] = world[_NEAR + j]
        rays[_FAR + j] = world[_FAR + j] if (np.int64(masks[j]) & mask) != 0 else -_INFINITE
        hits[_HIT + j] = -1


@_exact
def trace_packet(valid_at: int, scene: int, packet_at: int, any_hit: bool) -> None:
    """Trace a packet through a scene of instances, to the nearest hit or, with `any_hit`, to any hit."""
    packet, packet_bits, valid = single_pointer(packet_at), integer_pointer(packet_at), integer_pointer(valid_at)
    masks = integer_pointer(packet_at + 4 * MASK * LANES)
    world_block, local_block = stack_floats(_BLOCK), stack_floats(_BLOCK)
    world, local, hits = single_pointer(world_block), single_pointer(local_block), integer_pointer(local_block)
    _fill_world(world, packet, valid)
    records, nodes = load_word(scene + 8 * RECORDS), load_word(scene + 8 * TOP_NODES)
    numbers = integer_pointer(load_word(scene + 8 * NUMBERS))
    _widen_boxes(world, single_pointer(nodes))
    lead = 0
    while lead < LANES - 1 and not world[_FAR + lead] > world[_NEAR + lead]:
        lead += 1
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    pending = 1
    while pending > 0:
        pending -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[pending])
        if not _any_hits_box(world, single_pointer(here)):
            continue
        links = integer_pointer(here)
        first, count = np.int64(links[FIRST]), np.int64(links[COUNT])
        if count < 0:
            upwards = np.int64(world[_D + (-1 - count) * LANES + lead] >= _ZERO)
            stack[pending] = first + upwards
            stack[pending + 1] = first + 1 - upwards
            pending += 2
            continue
        for i in range(first, first + count):
            number = np.int64(numbers[i])
            record = records + 8 * RECORD_SIZE * number
            triangles = load_word(record + 8 * TRIANGLES)
            to_local, mask = single_pointer(record + 8 * TO_LOCAL), load_word(record + 8 * INSTANCE_MASK)
            _fill_local(local, world, hits, to_local, masks, mask)
            _trace_mesh(local_block, load_word(record + 8 * NODES), triangles, any_hit)
            for j in range(LANES):
                hit = np.int64(hits[_HIT + j])
                if hit < 0:
                    continue
                world[_FAR + j] = packet[FAR * LANES + j] = local[_FAR + j]
                if not any_hit:
                    at = triangles + 4 * TRIANGLE_SIZE * hit
                    nx, ny, nz = _normal(single_pointer(at))
                    packet[NORMAL * LANES + j] = nx
                    packet[(NORMAL + 1) * LANES + j] = ny
                    packet[(NORMAL + 2) * LANES + j] = nz
                    packet[U * LANES + j], packet[V * LANES + j] = local[_U + j], local[_V + j]
                    packet_bits[FACE * LANES + j] = integer_pointer(at)[9]
                    packet_bits[GEOMETRY * LANES + j] = 0
                    packet_bits[INSTANCE * LANES + j] = number
                    packet_bits[INSTANCE_PART * LANES + j] = 0
