"""Bounding volume hierarchy (BVH) over triangles, or over other items with bounding boxes.

Nodes are split by the surface-area heuristic over bins (Wald 2007, On fast construction of SAH-based bounding volume
hierarchies). The same input gives the same hierarchy.

A node is eight 32-bit values: the lower and the upper corner of its box, then two integers. For a leaf, these are the
index of its first item and the number of items. For an inner node, they are the index of its first child (the second
child follows it) and −1, −2 or −3 for the axis x, y or z along which the first child is the lower one.
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
"""Fields of a triangle: the corners a, b and c, and the index of the face."""
MAX_DEPTH: Final = 64
_HALVING_DEPTH: Final = 32
"""From this depth on, nodes are split into halves by item count, so that 31-bit indices stay within MAX_DEPTH."""
_BINS: Final = 16
_MAX_LEAF: Final = 8
_STEP_COST: Final = 1.0
_ITEM_COST: Final = 2.0


@dataclass(frozen=True, eq=False)
class Bvh:
    """Bounding volume hierarchy of a mesh, with the triangles in the order of its leaves."""

    nodes: NDArray[np.float32] = field(repr=False)  # (n, 8)
    triangles: NDArray[np.float32] = field(repr=False)  # (m, 10)


def build_bvh(vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> Bvh:
    """Build the hierarchy of a mesh. Triangles with a corner that is not finite are omitted, as in Embree."""
    boxes, numbers = np.empty((len(faces), 6), np.float32), np.empty(len(faces), np.int32)
    count = triangle_boxes(vertices, faces, boxes, numbers)
    nodes = np.empty((max(2 * count, 1), NODE_SIZE), np.float32)
    used = build(boxes[:count], numbers[:count], nodes)
    triangles = np.empty((count, TRIANGLE_SIZE), np.float32)
    triangles[:, :9] = vertices[faces[numbers[:count]]].reshape(-1, 9)
    triangles.view(np.int32)[:, 9] = numbers[:count]
    return Bvh(nodes[:used].copy(), triangles)


@kernel
def triangle_boxes(vertices: Any, faces: Any, boxes: Any, numbers: Any) -> int:
    """Write the boxes and face indices of all finite triangles, and return their number."""
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
def _clear(box: Any) -> None:
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
def _push(task: Any, node: int, begin: int, end: int, depth: int) -> None:
    task[0], task[1], task[2], task[3] = node, begin, end, depth


@kernel
def build(boxes: Any, numbers: Any, nodes: Any) -> int:
    """Build the hierarchy over boxes and return the number of nodes.

    Args:
        boxes: Lower and upper corners of the items, (n, 6). Reordered in place to the order of the leaves.
        numbers: Indices of the items, (n,). Reordered with the boxes.
        nodes: Output, (≥ max(2 n, 1), 8).
    """
    integers = nodes.view(np.int32)
    stack = np.empty((MAX_DEPTH + 2, 4), np.int64)  # node, first item, end, depth
    bin_boxes, bin_counts = np.empty((_BINS, 6), np.float32), np.empty(_BINS, np.int64)
    right_costs, side, centres = np.empty(_BINS), np.empty(6, np.float32), np.empty(6, np.float32)
    used, pending = 1, 1
    _push(stack[0], 0, 0, len(boxes), 0)
    while pending > 0:
        pending -= 1
        task = stack[pending]
        node, begin, end, depth = task[0], task[1], task[2], task[3]
        count = end - begin
        box_of_node = nodes[node]
        _clear(box_of_node)
        _clear(centres)
        for i in range(begin, end):
            _grow(box_of_node, boxes[i])
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
            if not width > 0.0 or depth >= _HALVING_DEPTH:
                continue
            scale = bins / width
            for b in range(bins):
                bin_counts[b] = 0
                _clear(bin_boxes[b])
            for i in range(begin, end):
                b = _bin_of(boxes[i], axis, low, scale, bins)
                bin_counts[b] += 1
                _grow(bin_boxes[b], boxes[i])
            _clear(side)
            items = 0
            for b in range(bins - 1, 0, -1):
                items += bin_counts[b]
                _grow(side, bin_boxes[b])
                right_costs[b] = items * _half_area(side) if items else np.inf
            _clear(side)
            items = 0
            for b in range(1, bins):
                items += bin_counts[b - 1]
                _grow(side, bin_boxes[b - 1])
                cost = items * _half_area(side) + right_costs[b] if items else np.inf
                if cost < best_cost:
                    best_cost, best_axis, best_bin = cost, axis, b
        if count <= _MAX_LEAF:
            area = _half_area(box_of_node)
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
        _push(stack[pending], used + 1, middle, end, depth + 1)
        _push(stack[pending + 1], used, begin, middle, depth + 1)
        used += 2
        pending += 2
    return used
