"""Ropes for rays: chains of round segments, with a ball at one end, at the poses of one frame.

The rope memory of a frame contains *pieces*. A piece is a segment with round ends, or a ball, which is a piece of
length 0. Four pieces of one strand are a leaf of a binary tree of bounding balls. Leaf i of n is node n + i; the
children of node i are 2 i and 2 i + 1.
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

# header of the rope memory
LEAVES: Final = 0  # leaves of the tree, a power of two; 0 without ropes
SEEN_BY: Final = 1  # mask of the rays that can hit ropes
PIECES: Final = 2  # offset of the first piece
TREE: Final = 3  # offset of the tree
FIRST: Final = 4  # offset of the first strand
# fields of a strand
BODY: Final = 0  # index among the scene's bodies, after the rigid ones
ENDS: Final = 1  # 6: the two end points, where the strand may be attached; NaN at the end that has the ball
STRAND: Final = 7  # size of a strand
# fields of a piece; the first six are its two end points
RADIUS: Final = 6  # negative for an unused piece
FACE: Final = 7  # FACE_OF_ROPE or FACE_OF_BALL
STRAND_INDEX: Final = 8  # index of its strand
PIECE: Final = 9  # size of a piece
NODE: Final = 4  # size of a tree node: centre and radius of its ball; the radius is negative for an empty node
LEAF: Final = 4  # pieces in a leaf of the tree

FACE_OF_ROPE, FACE_OF_BALL = 0, 1

# columns of the table that maps the world's state to the rope memory
_BODY, _COUNT, _POINTS, _RADIUS, _BALL_RADIUS, _GONE_OFFSET, _GONE_VALUE, _COLUMNS = range(8)


@dataclass(frozen=True)
class Strand:
    """Chain of points in the world's state vector."""

    count_offset: int  # offset of the number of points in the state
    points_offset: int  # offset of the first point in the state
    capacity: int  # greatest number of points
    radius: float  # m
    ball_radius: float = 0.0  # radius of the ball at the first point, m; 0 for no ball
    ball_gone: tuple[int, float] = (0, np.nan)  # offset in the state, and the value there that means the ball is gone


@dataclass(frozen=True)
class RayRope:
    """Rope that rays can hit. A rope that a hook can cut has several strands."""

    name: str
    strands: tuple[Strand, ...]
    material: NamedMaterial
    ball_material: NamedMaterial

    @property
    def materials(self) -> tuple[NamedMaterial, NamedMaterial]:
        """Materials by face: FACE_OF_ROPE, FACE_OF_BALL."""
        return self.material, self.ball_material


class RopeLayout:
    """Layout of the rope memory of a scene, which copies ropes from state vectors into frames."""

    def __init__(self, ropes: Sequence[RayRope], first_body: int, mask: int) -> None:
        strands = [(first_body + i, strand) for i, rope in enumerate(ropes) for strand in rope.strands]
        self._table = np.zeros((len(strands), _COLUMNS))
        for row, (body, strand) in zip(self._table, strands, strict=True):
            sizes = strand.radius, strand.ball_radius
            row[:] = body, strand.count_offset, strand.points_offset, *sizes, *strand.ball_gone
        # a strand with n points has n − 1 segments and possibly a ball
        leaves = _power_of_two(sum(-(-strand.capacity // LEAF) for _, strand in strands))
        pieces = FIRST + STRAND * len(strands)
        tree = pieces + PIECE * LEAF * leaves
        self._empty = np.zeros(tree + NODE * 2 * leaves)
        self._empty[[SEEN_BY, PIECES, TREE]] = mask, pieces, tree
        self._state_size = max((strand.points_offset + 3 * strand.capacity for _, strand in strands), default=0)

    def __len__(self) -> int:
        return len(self._table)

    def allocate(self) -> NDArray[np.float64]:
        """Return new rope memory without any rope in it."""
        return self._empty.copy()

    def move(self, contexts: NDArray[np.int64], states: NDArray[np.float64]) -> None:
        """Write the ropes of several frames from one state vector per frame.

        Args:
            contexts: Trace contexts of the frames, (n, CONTEXT_SIZE).
            states: State vectors, (n, size).
        """
        if len(states) != len(contexts) or states.shape[1] < self._state_size:
            raise SkerryError(
                f"{len(contexts)} frames with ropes need states of the shape ({len(contexts)}, {self._state_size} or "
                f"more), not {states.shape}"
            )
        write_ropes(self._table, contexts, states, self._empty.size)


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


@strict_kernel
def _write_strand(row: Any, state: Any, number: int, strand: Any, pieces: Any) -> int:
    """Write a strand and its pieces, and return the number of leaves that they fill."""
    count = int(state[int(row[_COUNT])])
    if count < 2:
        return 0
    points = state[int(row[_POINTS]) : int(row[_POINTS]) + 3 * count]
    strand[BODY] = row[_BODY]
    for i in range(3):
        strand[ENDS + i], strand[ENDS + 3 + i] = points[i], points[3 * count - 3 + i]
    k = 0
    if row[_BALL_RADIUS] > 0.0 and state[int(row[_GONE_OFFSET])] != row[_GONE_VALUE]:
        for i in range(3):
            pieces[i] = pieces[3 + i] = points[i]
            strand[ENDS + i] = np.nan
        pieces[RADIUS], pieces[FACE], pieces[STRAND_INDEX] = row[_BALL_RADIUS], FACE_OF_BALL, number
        k = 1
    for p in range(count - 1):
        piece = pieces[PIECE * k : PIECE * (k + 1)]
        for i in range(6):
            piece[i] = points[3 * p + i]
        piece[RADIUS], piece[FACE], piece[STRAND_INDEX] = row[_RADIUS], FACE_OF_ROPE, number
        k += 1
    leaves = (k + LEAF - 1) // LEAF
    while k < LEAF * leaves:
        pieces[PIECE * k + RADIUS] = -1.0
        k += 1
    return leaves


@strict_kernel
def _bound_leaf(pieces: Any, node: Any) -> None:
    """Write a bounding ball of the pieces of a leaf."""
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
def _bound_pair(one: Any, other: Any, node: Any) -> None:
    """Write a bounding ball of two balls, of which the second may be empty."""
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
def write_ropes(table: Any, contexts: Any, states: Any, size: int) -> None:
    """Write the rope memory, of `size` numbers, of several frames from their state vectors (n, …)."""
    for n in range(len(contexts)):
        memory = floats(contexts[n, ROPES], size)
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
                _bound_leaf(pieces[PIECE * LEAF * k : PIECE * LEAF * (k + 1)], node)
            else:
                node[3] = -1.0
        for k in range(leaves - 1, 0, -1):
            one, other = tree[NODE * 2 * k : NODE * (2 * k + 1)], tree[NODE * (2 * k + 1) : NODE * (2 * k + 2)]
            _bound_pair(one, other, tree[NODE * k : NODE * (k + 1)])
