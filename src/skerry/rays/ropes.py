"""Ropes for rays: chains of round segments, and a ball at an end, where they lie at the instant of a frame.

The memory of a frame has *pieces*, which are segments with round ends, or a ball, which has no length; four of one
strand are a leaf of a binary tree of balls around them. Leaf i of n is node n + i; below node i are 2 i and 2 i + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.kernels import floats, strict_kernel
from skerry.rays.packets import ROPES
from skerry.terrain.materials import NamedMaterial

# the memory of a frame begins with
LEAVES: Final = 0  # how many the tree has room for, a power of two; 0 if there is no rope
SEEN_BY: Final = 1  # the mask of rays that see ropes
PIECES: Final = 2  # place of the first piece, and
TREE: Final = 3  # of the tree; then
FIRST: Final = 4  # the numbers of each strand:
BODY: Final = 0  # its number among the scene's bodies, behind the rigid ones
ENDS: Final = 1  # 6: the two points at which it is, or may be, tied; NaN where its ball is
STRAND: Final = 7
# numbers of a piece: from, to,
RADIUS: Final = 6  # negative if there is none
FACE: Final = 7
OF: Final = 8  # the strand
PIECE: Final = 9
NODE: Final = 4  # numbers of a ball of the tree: middle, radius; a radius below 0 where there is nothing
LEAF: Final = 4
"""Pieces that a leaf of the tree has."""

FACE_OF_ROPE, FACE_OF_BALL = 0, 1

# columns of the table that leads from a world's state to that memory
_BODY, _COUNT, _POINTS, _RADIUS, _BALL_RADIUS, _ENDED, _END, _COLUMNS = range(8)


@dataclass(frozen=True)
class Strand:
    """A chain of points, as a state has it: places in the state, and sizes, m."""

    count: int  # place of the number of its points
    points: int  # place of its first point
    room: int  # points that it may have
    radius: float
    ball_radius: float = 0.0  # of the ball at its first point; 0 for none
    ended: tuple[int, float] = (0, np.nan)  # the ball is gone when the number at this place is that


@dataclass(frozen=True)
class RayRope:
    """A rope for rays: of several strands if it is cut by a hook."""

    name: str
    strands: tuple[Strand, ...]
    material: NamedMaterial
    ball_material: NamedMaterial

    @property
    def materials(self) -> tuple[NamedMaterial, NamedMaterial]:
        """Of its faces."""
        return self.material, self.ball_material


class RopePlaces:
    """Leads from the states of ropes to the memory of frames."""

    def __init__(self, ropes: Sequence[RayRope], first_body: int, mask: int) -> None:
        strands = [(first_body + i, strand) for i, rope in enumerate(ropes) for strand in rope.strands]
        self._table = np.zeros((len(strands), _COLUMNS))
        for row, (body, strand) in zip(self._table, strands, strict=True):
            row[:] = body, strand.count, strand.points, strand.radius, strand.ball_radius, *strand.ended
        # a strand has one segment fewer than points, and a ball
        leaves = _power_of_two(sum(-(-strand.room // LEAF) for _, strand in strands))
        pieces = FIRST + STRAND * len(strands)
        tree = pieces + PIECE * LEAF * leaves
        self._blank = np.zeros(tree + NODE * 2 * leaves)
        self._blank[[SEEN_BY, PIECES, TREE]] = mask, pieces, tree
        self._states = max((strand.points + 3 * strand.room for _, strand in strands), default=0)

    def __len__(self) -> int:
        return len(self._table)

    def memory(self) -> NDArray[np.float64]:
        """Of a frame, in which no rope is there."""
        return self._blank.copy()

    def place(self, words: NDArray[np.int64], states: NDArray[np.float64]) -> None:
        """Put the ropes of each of several frames, of which these are the words (n, …), where they are then."""
        if len(states) != len(words) or states.shape[1] < self._states:
            raise SkerryError(f"the ropes of {len(words)} frames need a state of {self._states} numbers each")
        place_ropes(self._table, words, states, self._blank.size)


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


@strict_kernel
def _write_strand(row: Any, state: Any, number: int, strand: Any, pieces: Any) -> int:
    """Write a strand and its pieces; how many leaves these fill is returned."""
    count = int(state[int(row[_COUNT])])
    if count < 2:
        return 0
    points = state[int(row[_POINTS]) : int(row[_POINTS]) + 3 * count]
    strand[BODY] = row[_BODY]
    for i in range(3):
        strand[ENDS + i], strand[ENDS + 3 + i] = points[i], points[3 * count - 3 + i]
    k = 0
    if row[_BALL_RADIUS] > 0.0 and state[int(row[_ENDED])] != row[_END]:
        for i in range(3):
            pieces[i] = pieces[3 + i] = points[i]
            strand[ENDS + i] = np.nan
        pieces[RADIUS], pieces[FACE], pieces[OF] = row[_BALL_RADIUS], FACE_OF_BALL, number
        k = 1
    for p in range(count - 1):
        piece = pieces[PIECE * k : PIECE * (k + 1)]
        for i in range(6):
            piece[i] = points[3 * p + i]
        piece[RADIUS], piece[FACE], piece[OF] = row[_RADIUS], FACE_OF_ROPE, number
        k += 1
    leaves = (k + LEAF - 1) // LEAF
    while k < LEAF * leaves:
        pieces[PIECE * k + RADIUS] = -1.0
        k += 1
    return leaves


@strict_kernel
def _put_around(pieces: Any, node: Any) -> None:
    """Put a ball around the pieces of a leaf."""
    for i in range(3):
        low = high = pieces[i]
        for k in range(LEAF):
            if pieces[PIECE * k + RADIUS] >= 0.0:
                a, b = pieces[PIECE * k + i], pieces[PIECE * k + 3 + i]
                low, high = min(low, a, b), max(high, a, b)
        node[i] = 0.5 * (low + high)
    node[3] = 0.0
    for k in range(LEAF):
        piece = pieces[PIECE * k : PIECE * (k + 1)]
        for corner in (0, 3):
            if piece[RADIUS] >= 0.0:
                x, y, z = piece[corner] - node[0], piece[corner + 1] - node[1], piece[corner + 2] - node[2]
                node[3] = max(node[3], np.sqrt(x * x + y * y + z * z) + piece[RADIUS])


@strict_kernel
def _join(one: Any, other: Any, node: Any) -> None:
    """Put a ball around two, of which the second may not be there."""
    x, y, z = other[0] - one[0], other[1] - one[1], other[2] - one[2]
    apart = np.sqrt(x * x + y * y + z * z)
    if other[3] < 0.0 or apart + other[3] <= one[3]:
        node[:] = one
    elif apart + one[3] <= other[3]:
        node[:] = other
    else:
        radius = 0.5 * (apart + one[3] + other[3])
        share = (radius - one[3]) / apart
        node[0], node[1], node[2] = one[0] + share * x, one[1] + share * y, one[2] + share * z
        node[3] = radius


@strict_kernel
def place_ropes(table: Any, words: Any, states: Any, size: int) -> None:
    """Write the memory of several frames, of that size, from the states of each (n, …)."""
    for n in range(len(words)):
        memory = floats(words[n, ROPES], size)
        pieces, tree = memory[int(memory[PIECES]) : int(memory[TREE])], memory[int(memory[TREE]) :]
        used = 0
        for s in range(len(table)):
            strand = memory[FIRST + STRAND * s : FIRST + STRAND * (s + 1)]
            used += _write_strand(table[s], states[n], s, strand, pieces[PIECE * LEAF * used :])
        leaves = int(used > 0)
        while leaves < used:
            leaves *= 2
        memory[LEAVES] = leaves
        for k in range(leaves):
            node = tree[NODE * (leaves + k) : NODE * (leaves + k + 1)]
            if k < used:
                _put_around(pieces[PIECE * LEAF * k : PIECE * LEAF * (k + 1)], node)
            else:
                node[3] = -1.0
        for k in range(leaves - 1, 0, -1):
            one, other = tree[NODE * 2 * k : NODE * (2 * k + 1)], tree[NODE * (2 * k + 1) : NODE * (2 * k + 2)]
            _join(one, other, tree[NODE * k : NODE * (k + 1)])
