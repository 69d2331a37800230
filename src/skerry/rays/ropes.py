"""Ropes for rays: chains of round segments, and a ball at an end, where they lie at the instant of a frame.

The memory of a frame has, for each strand, some numbers and two tables: its *pieces*, which are segments with round
ends, and a ball that has no length; and a binary tree of balls around them, in the order of the chain, the root first.
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
STRANDS: Final = 0  # how many there are, and
SEEN_BY: Final = 1  # the mask of rays that see them; then
FIRST: Final = 2  # the numbers of each strand:
BODY: Final = 0  # its number among the scene's bodies, behind the rigid ones
BALL: Final = 1  # 1 if its first piece is the ball at its end
PIECES: Final = 2  # how many; 0 if it is not there
LEAVES: Final = 3  # of its tree, a power of two
PIECE_TABLE: Final = 4  # place of its pieces, and
TREE: Final = 5  # of its tree
STRAND: Final = 6
PIECE: Final = 7  # from, to, radius
NODE: Final = 4  # of the tree: middle, radius; a radius below 0 where there is nothing
LEAF: Final = 4
"""Pieces that a leaf of the tree has."""

FACE_OF_ROPE, FACE_OF_BALL = 0, 1

# columns of the table that leads from a world's state to that memory
_BODY, _COUNT, _POINTS, _RADIUS, _BALL_RADIUS, _ENDED, _END, _PIECE_TABLE, _TREE, _COLUMNS = range(10)


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
        place = FIRST + STRAND * len(strands)
        for row, (body, strand) in zip(self._table, strands, strict=True):
            pieces = strand.room  # one fewer than points, and the ball
            tree = place + PIECE * pieces
            row[:] = (
                body,
                strand.count,
                strand.points,
                strand.radius,
                strand.ball_radius,
                *strand.ended,
                place,
                tree,
            )
            place = tree + NODE * 2 * _leaves(pieces)
        self._size, self._mask = place, mask
        self._states = max((strand.points + 3 * strand.room for _, strand in strands), default=0)

    def __len__(self) -> int:
        return len(self._table)

    def memory(self) -> NDArray[np.float64]:
        """Of a frame, in which no rope is there."""
        memory = np.zeros(self._size)
        memory[[STRANDS, SEEN_BY]] = len(self), self._mask
        return memory

    def place(self, words: NDArray[np.int64], states: NDArray[np.float64]) -> None:
        """Put the ropes of each of several frames, of which these are the words (n, …), where they are then."""
        if len(states) != len(words) or states.shape[1] < self._states:
            raise SkerryError(f"the ropes of {len(words)} frames need a state of {self._states} numbers each")
        place_ropes(self._table, words, states)


def _leaves(pieces: int) -> int:
    return 1 << max(-(-pieces // LEAF) - 1, 0).bit_length()


@strict_kernel
def _grow_tree(pieces: Any, count: int, leaves: int, tree: Any) -> None:
    """Put balls around the pieces: leaf i is node `leaves` + i, and those of node i are 2 i and 2 i + 1."""
    for leaf in range(leaves):
        node = tree[NODE * (leaves + leaf) : NODE * (leaves + leaf + 1)]
        first, end = LEAF * leaf, min(LEAF * (leaf + 1), count)
        node[3] = -1.0
        if first >= end:
            continue
        for i in range(3):
            low = high = pieces[PIECE * first + i]
            for k in range(first, end):
                a, b = pieces[PIECE * k + i], pieces[PIECE * k + 3 + i]
                low, high = min(low, a, b), max(high, a, b)
            node[i] = 0.5 * (low + high)
        for k in range(first, end):
            piece = pieces[PIECE * k : PIECE * (k + 1)]
            for corner in (0, 3):
                x, y, z = piece[corner] - node[0], piece[corner + 1] - node[1], piece[corner + 2] - node[2]
                node[3] = max(node[3], np.sqrt(x * x + y * y + z * z) + piece[6])
    for k in range(leaves - 1, 0, -1):
        node, one = tree[NODE * k : NODE * (k + 1)], tree[NODE * 2 * k : NODE * (2 * k + 1)]
        other = tree[NODE * (2 * k + 1) : NODE * (2 * k + 2)]
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
def place_ropes(table: Any, words: Any, states: Any) -> None:
    """Write the ropes of several frames from the states of each (n, …)."""
    for n in range(len(words)):
        state = states[n]
        for s in range(len(table)):
            row = table[s]
            tree = int(row[_TREE])
            memory = floats(words[n, ROPES], tree)
            strand = memory[FIRST + STRAND * s : FIRST + STRAND * (s + 1)]
            pieces = memory[int(row[_PIECE_TABLE]) : tree]
            count = int(state[int(row[_COUNT])])
            strand[BODY], strand[PIECE_TABLE], strand[TREE] = row[_BODY], row[_PIECE_TABLE], row[_TREE]
            strand[PIECES] = strand[BALL] = 0.0
            if count < 2:
                continue
            points = state[int(row[_POINTS]) :]
            k = 0
            if row[_BALL_RADIUS] > 0.0 and state[int(row[_ENDED])] != row[_END]:
                strand[BALL], k = 1.0, 1
                for i in range(3):
                    pieces[i] = pieces[3 + i] = points[i]
                pieces[6] = row[_BALL_RADIUS]
            for p in range(count - 1):
                for i in range(6):
                    pieces[PIECE * k + i] = points[3 * p + i]
                pieces[PIECE * k + 6] = row[_RADIUS]
                k += 1
            leaves = 1
            while leaves * LEAF < k:
                leaves *= 2
            strand[PIECES], strand[LEAVES] = k, leaves
            _grow_tree(pieces, k, leaves, floats(words[n, ROPES] + 8 * tree, NODE * 2 * leaves))
