"""A tree of boxes over triangles, or over anything else that has boxes, built by Skerry itself.

Split by the surface-area heuristic over bins (Wald 2007, On fast construction of SAH-based bounding volume
hierarchies); the same input gives the same tree. A node is eight 32-bit values: the lower and the upper corner of its
box, then two integers: for a leaf its first item and how many it has, for others its first child (the second follows
it) and −1, −2 or −3 for an x, y or z along which the first child is the lower one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel

NODE_SIZE: Final = 8
FIRST: Final = 6
COUNT: Final = 7
TRIANGLE_SIZE: Final = 10
"""Corners a, b, c, and the number of the face."""
DEEPEST: Final = 64
_EVEN_FROM: Final = 32
"""From this depth on items are halved by number, so that no tree of 31-bit numbers is deeper than DEEPEST."""
_BINS: Final = 16
_LARGEST_LEAF: Final = 8
_STEP_COST: Final = 1.0
_ITEM_COST: Final = 2.0


@dataclass(frozen=True, eq=False)
class Tree:
    """The triangles of a mesh, in the order of their leaves, under a tree of boxes."""

    nodes: NDArray[np.float32] = field(repr=False)  # (n, 8)
    triangles: NDArray[np.float32] = field(repr=False)  # (m, 10)


def build_tree(vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> Tree:
    """The tree of a mesh. Triangles with a corner that is not finite are left out, as Embree does."""
    boxes, numbers = np.empty((len(faces), 6), np.float32), np.empty(len(faces), np.int32)
    count = triangle_boxes(vertices, faces, boxes, numbers)
    nodes = np.empty((max(2 * count, 1), NODE_SIZE), np.float32)
    used = build(boxes[:count], numbers[:count], nodes)
    triangles = np.empty((count, TRIANGLE_SIZE), np.float32)
    triangles[:, :9] = vertices[faces[numbers[:count]]].reshape(-1, 9)
    triangles.view(np.int32)[:, 9] = numbers[:count]
    return Tree(nodes[:used].copy(), triangles)


@kernel
def triangle_boxes(vertices: Any, faces: Any, boxes: Any, numbers: Any) -> int:
    """Boxes and numbers of the triangles that are finite; how many they are."""
    count = 0
    for i in range(len(faces)):
        a, b, c = vertices[faces[i, 0]], vertices[faces[i, 1]], vertices[faces[i, 2]]
        finite = True
        for k in range(3):
            boxes[count, k] = min(a[k], b[k], c[k])
            boxes[count, 3 + k] = max(a[k], b[k], c[k])
            finite = finite and np.isfinite(a[k]) and np.isfinite(b[k]) and np.isfinite(c[k])
        if finite:
            numbers[count] = i
            count += 1
    return count


@kernel
def _half_area(box: Any) -> float:
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


@kernel
def _empty(box: Any) -> None:
    for k in range(3):
        box[k], box[3 + k] = np.float32(np.inf), np.float32(-np.inf)


@kernel
def _grow(box: Any, other: Any) -> None:
    for k in range(3):
        box[k] = min(box[k], other[k])
        box[3 + k] = max(box[3 + k], other[3 + k])


@kernel
def _bin_of(box: Any, axis: int, low: float, scale: float, bins: int) -> int:
    return min(bins - 1, int((box[axis] + box[3 + axis] - low) * scale))


@kernel
def _put(task: Any, node: int, begin: int, end: int, depth: int) -> None:
    task[0], task[1], task[2], task[3] = node, begin, end, depth


@kernel
def build(boxes: Any, numbers: Any, nodes: Any) -> int:
    """Build the tree over boxes (n, 6), which are put in the order of its leaves, and numbers (n,) with them.

    `nodes` has room for max(2 n, 1); how many were needed is returned.
    """
    integers = nodes.view(np.int32)
    stack = np.empty((DEEPEST + 2, 4), np.int64)  # node, first item, end, depth
    bin_boxes, bin_counts = np.empty((_BINS, 6), np.float32), np.empty(_BINS, np.int64)
    right_costs, side, centres = np.empty(_BINS), np.empty(6, np.float32), np.empty(6, np.float32)
    used, waiting = 1, 1
    _put(stack[0], 0, 0, len(boxes), 0)
    while waiting > 0:
        waiting -= 1
        task = stack[waiting]
        node, begin, end, depth = task[0], task[1], task[2], task[3]
        count = end - begin
        whole = nodes[node]
        _empty(whole)
        _empty(centres)
        for i in range(begin, end):
            _grow(whole, boxes[i])
            for k in range(3):
                centre = boxes[i, k] + boxes[i, 3 + k]  # twice the centre
                centres[k], centres[3 + k] = min(centres[k], centre), max(centres[3 + k], centre)
        integers[node, FIRST], integers[node, COUNT] = begin, count
        if count < 2:
            continue
        bins = min(_BINS, 4 + count // 4)
        best_cost, best_axis, best_bin = np.inf, -1, 0
        for axis in range(3):
            low, width = centres[axis], centres[3 + axis] - centres[axis]
            if not width > 0.0 or depth >= _EVEN_FROM:
                continue
            scale = bins / width
            for b in range(bins):
                bin_counts[b] = 0
                _empty(bin_boxes[b])
            for i in range(begin, end):
                b = _bin_of(boxes[i], axis, low, scale, bins)
                bin_counts[b] += 1
                _grow(bin_boxes[b], boxes[i])
            _empty(side)
            items = 0
            for b in range(bins - 1, 0, -1):
                items += bin_counts[b]
                _grow(side, bin_boxes[b])
                right_costs[b] = items * _half_area(side) if items else np.inf
            _empty(side)
            items = 0
            for b in range(1, bins):
                items += bin_counts[b - 1]
                _grow(side, bin_boxes[b - 1])
                cost = items * _half_area(side) + right_costs[b] if items else np.inf
                if cost < best_cost:
                    best_cost, best_axis, best_bin = cost, axis, b
        if count <= _LARGEST_LEAF:
            area = _half_area(whole)
            if best_axis < 0 or not area * _ITEM_COST * count > 2 * _STEP_COST * area + _ITEM_COST * best_cost:
                continue
        middle = begin + count // 2
        if best_axis >= 0:
            low, width = centres[best_axis], centres[3 + best_axis] - centres[best_axis]
            scale = bins / width
            i, j = begin, end - 1
            while i <= j:
                if _bin_of(boxes[i], best_axis, low, scale, bins) < best_bin:
                    i += 1
                else:
                    for k in range(6):
                        boxes[i, k], boxes[j, k] = boxes[j, k], boxes[i, k]
                    numbers[i], numbers[j] = numbers[j], numbers[i]
                    j -= 1
            if begin < i < end:
                middle = i
        integers[node, FIRST], integers[node, COUNT] = used, -1 - max(best_axis, 0)
        _put(stack[waiting], used + 1, middle, end, depth + 1)
        _put(stack[waiting + 1], used, begin, middle, depth + 1)
        used += 2
        waiting += 2
    return used
