"""Intersection of ray packets with ropes, after the packet was traced against the triangles.

All numbers are 64-bit, because a rope is thin compared with the distances at which it is seen.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import float_pointer, integer_pointer, single_pointer, stack_floats, strict_kernel
from skerry.rays.packets import (
    DIRECTION,
    FACE,
    FAR,
    GEOMETRY,
    INSTANCE,
    INSTANCE_PART,
    MASK,
    MAX_WIDTH,
    NEAR,
    NORMAL,
    ORIGIN,
    U,
    V,
)
from skerry.rays.ropes import (
    BODY,
    ENDS,
    FIRST,
    LEAF,
    LEAVES,
    NODE,
    PIECE,
    PIECES,
    RADIUS,
    SEEN_BY,
    STRAND,
    STRAND_INDEX,
    TREE,
)
from skerry.rays.ropes import FACE as FACE_OF_PIECE

# rows of a block of rays, float64
_O: Final = 0  # origin x, y, z
_D: Final = 3 * MAX_WIDTH  # direction
_SQUARE: Final = 6 * MAX_WIDTH  # squared length of the direction
_FAR: Final = 7 * MAX_WIDTH  # −inf for an inactive ray
_BLOCK: Final = 8 * MAX_WIDTH

_ROOM: Final = 1.0 + 1e-6  # factor that enlarges balls, because directions have length 1 only in 32 bits
_UNSURE: Final = np.float32(1e-6)  # relative error of a squared distance in 32 bits, with a margin
ATTACHMENT_RADIUS: Final = 0.05
"""Rays of a sensor within this distance of a rope's end ignore the rope, because the sensor's robot holds it; m."""


@strict_kernel
def _may_hit_ball_32(packet: Any, w: int, x: Any, y: Any, z: Any, radius: Any) -> Any:
    """Return non-zero if a ray of a packet of width w may pass through a ball; 32-bit test with a margin."""
    found = np.int32(0)
    for j in range(w):
        a, b, c = x - packet[ORIGIN * w + j], y - packet[(ORIGIN + 1) * w + j], z - packet[(ORIGIN + 2) * w + j]
        dx, dy, dz = packet[DIRECTION * w + j], packet[(DIRECTION + 1) * w + j], packet[(DIRECTION + 2) * w + j]
        along, away = a * dx + b * dy + c * dz, a * a + b * b + c * c
        across = away - along * along - _UNSURE * away
        found |= np.int32((across <= radius * radius) & (along >= -radius) & (along - radius <= packet[FAR * w + j]))
    return found


@strict_kernel
def _may_hit_ball(packet: Any, w: int, ball: Any) -> bool:
    """Return whether a ray of a packet may pass through a ball. Constant widths let the loops be vectorised."""
    single = np.float32
    x, y, z, radius = single(ball[0]), single(ball[1]), single(ball[2]), single(ball[3] * 1.001 + 0.01)
    if w == MAX_WIDTH:
        return bool(_may_hit_ball_32(packet, MAX_WIDTH, x, y, z, radius))
    return bool(
        _may_hit_ball_32(packet, 8, x, y, z, radius) if w == 8 else _may_hit_ball_32(packet, w, x, y, z, radius)
    )


@strict_kernel
def _fill(rays: Any, packet: Any, bits: Any, valid: Any, w: int, mask: int) -> None:
    """Copy the rays of a packet that can hit ropes into a block."""
    for j in range(w):
        square = 0.0
        for k in range(3):
            d = np.float64(packet[(DIRECTION + k) * w + j])
            rays[_O + k * MAX_WIDTH + j], rays[_D + k * MAX_WIDTH + j] = packet[(ORIGIN + k) * w + j], d
            square += d * d
        rays[_SQUARE + j] = square
        sees = valid[j] != 0 and bits[MASK * w + j] & mask != 0
        rays[_FAR + j] = packet[FAR * w + j] if sees else -np.inf
    for j in range(w, MAX_WIDTH):
        for row in range(_FAR // MAX_WIDTH):
            rays[row * MAX_WIDTH + j] = 0.0
        rays[_FAR + j] = -np.inf


@strict_kernel
def _passes_ball(rays: Any, j: int, ball: Any) -> Any:
    """Return whether a ray passes through a ball before it ends."""
    radius = ball[3] * _ROOM
    x, y, z = ball[0] - rays[_O + j], ball[1] - rays[_O + MAX_WIDTH + j], ball[2] - rays[_O + 2 * MAX_WIDTH + j]
    along = x * rays[_D + j] + y * rays[_D + MAX_WIDTH + j] + z * rays[_D + 2 * MAX_WIDTH + j]
    across = (x * x + y * y + z * z) * rays[_SQUARE + j] - along * along
    return (across <= radius * radius * rays[_SQUARE + j]) & (along >= -radius) & (along - radius <= rays[_FAR + j])


@strict_kernel
def _any_passes_ball(rays: Any, ball: Any) -> bool:
    found = np.int32(0)
    for j in range(MAX_WIDTH):
        found |= np.int32(_passes_ball(rays, j, ball))
    return found != 0


@strict_kernel
def _may_hit_piece(rays: Any, j: int, ball: Any, piece: Any) -> Any:
    """Return whether a ray passes through a ball and its line comes within the radius of a piece's axis."""
    x, y, z = piece[0] - rays[_O + j], piece[1] - rays[_O + MAX_WIDTH + j], piece[2] - rays[_O + 2 * MAX_WIDTH + j]
    dx, dy, dz = rays[_D + j], rays[_D + MAX_WIDTH + j], rays[_D + 2 * MAX_WIDTH + j]
    ex, ey, ez = piece[3] - piece[0], piece[4] - piece[1], piece[5] - piece[2]
    nx, ny, nz = dy * ez - dz * ey, dz * ex - dx * ez, dx * ey - dy * ex
    across, square = x * nx + y * ny + z * nz, nx * nx + ny * ny + nz * nz
    parallel = square <= 1e-16 * (ex * ex + ey * ey + ez * ez)
    within = across * across <= piece[RADIUS] * piece[RADIUS] * _ROOM * square
    return (within | parallel) & _passes_ball(rays, j, ball)


@strict_kernel
def _any_may_hit_piece(rays: Any, ball: Any, piece: Any) -> bool:
    found = np.int32(0)
    for j in range(MAX_WIDTH):
        found |= np.int32(_may_hit_piece(rays, j, ball, piece))
    return found != 0


@strict_kernel
def _distance_to_piece(piece: Any, px: float, py: float, pz: float, dx: float, dy: float, dz: float) -> float:
    """Return the distance from p along d at which a ray enters a piece.

    The distance is negative if the ray starts inside or beyond the piece, and infinite if it misses.
    """
    ax, ay, az = piece[0], piece[1], piece[2]
    ex, ey, ez, radius = piece[3] - ax, piece[4] - ay, piece[5] - az, piece[RADIUS]
    mx, my, mz = px - ax, py - ay, pz - az
    length = ex * ex + ey * ey + ez * ez
    if length > 0.0:
        # components perpendicular to the piece's axis
        me, de = (mx * ex + my * ey + mz * ez) / length, (dx * ex + dy * ey + dz * ez) / length
        sx, sy, sz = mx - me * ex, my - me * ey, mz - me * ez
        tx, ty, tz = dx - de * ex, dy - de * ey, dz - de * ez
        across = tx * tx + ty * ty + tz * tz
        t = 0.0
        if across > 1e-18:
            t = -(sx * tx + sy * ty + sz * tz) / across
            sx, sy, sz = sx + t * tx, sy + t * ty, sz + t * tz
        room = radius * radius - (sx * sx + sy * sy + sz * sz)
        if room < 0.0:
            return np.inf
        if across > 1e-18:
            t -= np.sqrt(room / across)
            at = me + t * de
            if 0.0 <= at <= 1.0:
                return t
            if at > 1.0:
                mx, my, mz = mx - ex, my - ey, mz - ez
        elif de < 0.0:
            mx, my, mz = mx - ex, my - ey, mz - ez
    # a round end
    size = dx * dx + dy * dy + dz * dz
    t = -(mx * dx + my * dy + mz * dz) / size
    mx, my, mz = mx + t * dx, my + t * dy, mz + t * dz
    room = radius * radius - (mx * mx + my * my + mz * mz)
    return t - np.sqrt(room / size) if room >= 0.0 else np.inf


@strict_kernel
def _offset_from_axis(piece: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the vector from the nearest point of a piece's axis to a point."""
    ex, ey, ez = piece[3] - piece[0], piece[4] - piece[1], piece[5] - piece[2]
    x, y, z = x - piece[0], y - piece[1], z - piece[2]
    length = ex * ex + ey * ey + ez * ez
    share = min(max((x * ex + y * ey + z * ez) / length, 0.0), 1.0) if length > 0.0 else 0.0
    return x - share * ex, y - share * ey, z - share * ez


@strict_kernel
def _is_attached_at(strand: Any, x: float, y: float, z: float) -> bool:
    """Return whether an end of a strand is, or may be, attached at a position."""
    for end in (ENDS, ENDS + 3):
        a, b, c = strand[end] - x, strand[end + 1] - y, strand[end + 2] - z
        if a * a + b * b + c * c < ATTACHMENT_RADIUS * ATTACHMENT_RADIUS:
            return True
    return False


@strict_kernel
def _intersect_piece(rays: Any, j: int, piece: Any, body: int, packet: Any, bits: Any, w: int, any_hit: bool) -> None:
    """Shorten a ray to its hit on a piece, if that is nearer than the ray's current hit."""
    px, py, pz = rays[_O + j], rays[_O + MAX_WIDTH + j], rays[_O + 2 * MAX_WIDTH + j]
    dx, dy, dz = rays[_D + j], rays[_D + MAX_WIDTH + j], rays[_D + 2 * MAX_WIDTH + j]
    t = _distance_to_piece(piece, px, py, pz, dx, dy, dz)
    if not (t > packet[NEAR * w + j] and t < rays[_FAR + j]):
        return
    if any_hit:
        packet[FAR * w + j] = rays[_FAR + j] = -np.inf
        return
    packet[FAR * w + j] = rays[_FAR + j] = t
    x, y, z = _offset_from_axis(piece, px + t * dx, py + t * dy, pz + t * dz)
    packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j] = x, y, z
    packet[U * w + j] = packet[V * w + j] = 0.0
    bits[FACE * w + j], bits[INSTANCE * w + j] = int(piece[FACE_OF_PIECE]), body
    bits[GEOMETRY * w + j] = bits[INSTANCE_PART * w + j] = 0


@strict_kernel
def intersect_ropes(
    memory_at: int, valid_at: int, packet_at: int, w: int, any_hit: bool, x0: float, y0: float, z0: float
) -> None:
    """Shorten the rays of a traced packet to their hits on ropes, where these are nearer.

    Args:
        memory_at: Address of the rope memory of a frame.
        valid_at: Address of the row of active rays.
        packet_at: Address of the packet.
        w: Width of the packet.
        any_hit: Whether this is an occlusion test.
        x0: Position of the sensor in the world, m, with `y0` and `z0`. Ropes attached there are ignored; NaN ignores
            none.
        y0: See `x0`.
        z0: See `x0`.
    """
    memory, rays = float_pointer(memory_at), float_pointer(stack_floats(_BLOCK))
    packet, bits = single_pointer(packet_at), integer_pointer(packet_at)
    leaves, pieces_at, tree_at = (
        int(memory[LEAVES]),
        memory_at + 8 * int(memory[PIECES]),
        memory_at + 8 * int(memory[TREE]),
    )
    if leaves == 0 or not _may_hit_ball(packet, w, float_pointer(tree_at + 8 * NODE)):  # true for most packets
        return
    _fill(rays, packet, bits, integer_pointer(valid_at), w, int(memory[SEEN_BY]))
    node = 1
    while node > 0:
        ball = float_pointer(tree_at + 8 * NODE * node)
        near = ball[3] >= 0.0 and _any_passes_ball(rays, ball)
        if near and node < leaves:
            node *= 2
            continue
        if near:
            for k in range(LEAF * (node - leaves), LEAF * (node - leaves + 1)):
                piece = float_pointer(pieces_at + 8 * PIECE * k)
                if piece[RADIUS] < 0.0 or not _any_may_hit_piece(rays, ball, piece):
                    continue
                strand = float_pointer(memory_at + 8 * (FIRST + STRAND * int(piece[STRAND_INDEX])))
                if _is_attached_at(strand, x0, y0, z0):
                    break
                for j in range(w):
                    if _may_hit_piece(rays, j, ball, piece):
                        _intersect_piece(rays, j, piece, int(strand[BODY]), packet, bits, w, any_hit)
        while node & 1:  # from a second child up to the parent, then on to the sibling of a first child
            node >>= 1
        node += int(node > 0)
