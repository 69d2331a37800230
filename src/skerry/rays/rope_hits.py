"""Where rays meet ropes: packets that a tracer has traced, and whose rays may meet a rope before what they hit.

Everything is in 64 bits, since a rope is thin for how far away it is seen.
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
    NEAR,
    NORMAL,
    ORIGIN,
    WIDEST,
    U,
    V,
)
from skerry.rays.ropes import BODY, ENDS, FIRST, LEAF, LEAVES, NODE, OF, PIECE, PIECES, RADIUS, SEEN_BY, STRAND, TREE
from skerry.rays.ropes import FACE as FACE_OF_PIECE

# rows of a block of rays, in 64 bits
_O: Final = 0  # origin x, y, z
_D: Final = 3 * WIDEST  # direction
_SQUARE: Final = 6 * WIDEST  # of its length
_FAR: Final = 7 * WIDEST  # −inf for a ray that takes no part
_BLOCK: Final = 8 * WIDEST

_ROOM: Final = 1.0 + 1e-6  # by which balls are larger, as directions are of length 1 in 32 bits only
_UNSURE: Final = np.float32(1e-6)  # share of a distance squared that 32 bits may be wrong by, several times
BESIDE: Final = 0.05
"""How near to an end of a rope, m, a sensor sits that looks past it: where its robot holds the rope."""


@strict_kernel
def _look_at(packet: Any, w: int, x: Any, y: Any, z: Any, radius: Any) -> Any:
    """How many rays of a packet, of that width, may pass through a ball, in 32 bits, and so with room to spare."""
    found = np.int32(0)
    for j in range(w):
        a, b, c = x - packet[ORIGIN * w + j], y - packet[(ORIGIN + 1) * w + j], z - packet[(ORIGIN + 2) * w + j]
        dx, dy, dz = packet[DIRECTION * w + j], packet[(DIRECTION + 1) * w + j], packet[(DIRECTION + 2) * w + j]
        along, away = a * dx + b * dy + c * dz, a * a + b * b + c * c
        across = away - along * along - _UNSURE * away
        found |= np.int32((across <= radius * radius) & (along >= -radius) & (along - radius <= packet[FAR * w + j]))
    return found


@strict_kernel
def _looks_at(packet: Any, w: int, ball: Any) -> bool:
    """Whether any ray of a packet may pass through a ball; the widths by name, so that loops become vector code."""
    single = np.float32
    x, y, z, radius = single(ball[0]), single(ball[1]), single(ball[2]), single(ball[3] * 1.001 + 0.01)
    if w == WIDEST:
        return bool(_look_at(packet, WIDEST, x, y, z, radius))
    return bool(_look_at(packet, 8, x, y, z, radius) if w == 8 else _look_at(packet, w, x, y, z, radius))


@strict_kernel
def _fill(rays: Any, packet: Any, bits: Any, valid: Any, w: int, mask: int) -> None:
    """Take those rays of a packet that see ropes."""
    for j in range(w):
        square = 0.0
        for k in range(3):
            d = np.float64(packet[(DIRECTION + k) * w + j])
            rays[_O + k * WIDEST + j], rays[_D + k * WIDEST + j] = packet[(ORIGIN + k) * w + j], d
            square += d * d
        rays[_SQUARE + j] = square
        sees = valid[j] != 0 and bits[MASK * w + j] & mask != 0
        rays[_FAR + j] = packet[FAR * w + j] if sees else -np.inf
    for j in range(w, WIDEST):
        for row in range(_FAR // WIDEST):
            rays[row * WIDEST + j] = 0.0
        rays[_FAR + j] = -np.inf


@strict_kernel
def _is_near(rays: Any, j: int, ball: Any) -> Any:
    """Whether a ray passes through a ball before it ends."""
    radius = ball[3] * _ROOM
    x, y, z = ball[0] - rays[_O + j], ball[1] - rays[_O + WIDEST + j], ball[2] - rays[_O + 2 * WIDEST + j]
    along = x * rays[_D + j] + y * rays[_D + WIDEST + j] + z * rays[_D + 2 * WIDEST + j]
    across = (x * x + y * y + z * z) * rays[_SQUARE + j] - along * along
    return (across <= radius * radius * rays[_SQUARE + j]) & (along >= -radius) & (along - radius <= rays[_FAR + j])


@strict_kernel
def _any_is_near(rays: Any, ball: Any) -> bool:
    found = np.int32(0)
    for j in range(WIDEST):
        found |= np.int32(_is_near(rays, j, ball))
    return found != 0


@strict_kernel
def _may_meet(rays: Any, j: int, ball: Any, piece: Any) -> Any:
    """Whether a ray is near a ball, and its line passes that of a piece in it within its radius."""
    x, y, z = piece[0] - rays[_O + j], piece[1] - rays[_O + WIDEST + j], piece[2] - rays[_O + 2 * WIDEST + j]
    dx, dy, dz = rays[_D + j], rays[_D + WIDEST + j], rays[_D + 2 * WIDEST + j]
    ex, ey, ez = piece[3] - piece[0], piece[4] - piece[1], piece[5] - piece[2]
    nx, ny, nz = dy * ez - dz * ey, dz * ex - dx * ez, dx * ey - dy * ex
    across, square = x * nx + y * ny + z * nz, nx * nx + ny * ny + nz * nz
    parallel = square <= 1e-16 * (ex * ex + ey * ey + ez * ez)
    within = across * across <= piece[RADIUS] * piece[RADIUS] * _ROOM * square
    return (within | parallel) & _is_near(rays, j, ball)


@strict_kernel
def _any_may_meet(rays: Any, ball: Any, piece: Any) -> bool:
    found = np.int32(0)
    for j in range(WIDEST):
        found |= np.int32(_may_meet(rays, j, ball, piece))
    return found != 0


@strict_kernel
def _to_piece(piece: Any, px: float, py: float, pz: float, dx: float, dy: float, dz: float) -> float:
    """How far from p along d a ray enters a piece; negative where it begins in it or behind it, infinite for never."""
    ax, ay, az = piece[0], piece[1], piece[2]
    ex, ey, ez, radius = piece[3] - ax, piece[4] - ay, piece[5] - az, piece[RADIUS]
    mx, my, mz = px - ax, py - ay, pz - az
    length = ex * ex + ey * ey + ez * ez
    if length > 0.0:
        # as seen along the piece
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
def _out_of_piece(piece: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """From the nearest point of a piece's middle line to a point."""
    ex, ey, ez = piece[3] - piece[0], piece[4] - piece[1], piece[5] - piece[2]
    x, y, z = x - piece[0], y - piece[1], z - piece[2]
    length = ex * ex + ey * ey + ez * ez
    share = min(max((x * ex + y * ey + z * ez) / length, 0.0), 1.0) if length > 0.0 else 0.0
    return x - share * ex, y - share * ey, z - share * ez


@strict_kernel
def _is_tied_at(strand: Any, x: float, y: float, z: float) -> bool:
    """Whether a strand is tied at a place, or may be."""
    for end in (ENDS, ENDS + 3):
        a, b, c = strand[end] - x, strand[end + 1] - y, strand[end + 2] - z
        if a * a + b * b + c * c < BESIDE * BESIDE:
            return True
    return False


@strict_kernel
def _meet(rays: Any, j: int, piece: Any, body: int, packet: Any, bits: Any, w: int, any_hit: bool) -> None:
    """Let a ray end at a piece, if it meets that before what it has met so far."""
    px, py, pz = rays[_O + j], rays[_O + WIDEST + j], rays[_O + 2 * WIDEST + j]
    dx, dy, dz = rays[_D + j], rays[_D + WIDEST + j], rays[_D + 2 * WIDEST + j]
    t = _to_piece(piece, px, py, pz, dx, dy, dz)
    if not (t > packet[NEAR * w + j] and t < rays[_FAR + j]):
        return
    if any_hit:
        packet[FAR * w + j] = rays[_FAR + j] = -np.inf
        return
    packet[FAR * w + j] = rays[_FAR + j] = t
    x, y, z = _out_of_piece(piece, px + t * dx, py + t * dy, pz + t * dz)
    packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j] = x, y, z
    packet[U * w + j] = packet[V * w + j] = 0.0
    bits[FACE * w + j], bits[INSTANCE * w + j] = int(piece[FACE_OF_PIECE]), body
    bits[GEOMETRY * w + j] = bits[INSTANCE_PART * w + j] = 0


@strict_kernel
def meet_ropes(
    memory_at: int, valid_at: int, packet_at: int, w: int, any_hit: bool, x0: float, y0: float, z0: float
) -> None:
    """Let the rays of a packet that was traced end at the ropes that they meet before what they have hit.

    `memory_at` is the address of the ropes of a frame. With `any_hit` it is as of a test for occlusion. The last three
    are where the sensor is; NaN if that does not matter.
    """
    memory, rays = float_pointer(memory_at), float_pointer(stack_floats(_BLOCK))
    packet, bits = single_pointer(packet_at), integer_pointer(packet_at)
    leaves, pieces_at, tree_at = (
        int(memory[LEAVES]),
        memory_at + 8 * int(memory[PIECES]),
        memory_at + 8 * int(memory[TREE]),
    )
    if leaves == 0 or not _looks_at(packet, w, float_pointer(tree_at + 8 * NODE)):  # as most packets do not
        return
    _fill(rays, packet, bits, integer_pointer(valid_at), w, int(memory[SEEN_BY]))
    node = 1
    while node > 0:
        ball = float_pointer(tree_at + 8 * NODE * node)
        near = ball[3] >= 0.0 and _any_is_near(rays, ball)
        if near and node < leaves:
            node *= 2
            continue
        if near:
            for k in range(LEAF * (node - leaves), LEAF * (node - leaves + 1)):
                piece = float_pointer(pieces_at + 8 * PIECE * k)
                if piece[RADIUS] < 0.0 or not _any_may_meet(rays, ball, piece):
                    continue
                strand = float_pointer(memory_at + 8 * (FIRST + STRAND * int(piece[OF])))
                if _is_tied_at(strand, x0, y0, z0):
                    break
                for j in range(w):
                    if _may_meet(rays, j, ball, piece):
                        _meet(rays, j, piece, int(strand[BODY]), packet, bits, w, any_hit)
        while node & 1:  # up from second nodes, and on to what stands beside a first one
            node >>= 1
        node += int(node > 0)
