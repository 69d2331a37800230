"""Skerry's own tracer, with the same native functions as Embree. Importing it compiles kernels, so import it late."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import integer_pointer, load_word, native, single_pointer
from skerry.rays.bvh import build
from skerry.rays.own_kernels import (
    BOXES,
    INSTANCE_MASK,
    INSTANCES,
    LANES,
    NODES,
    NUMBERS,
    RECORD_SIZE,
    RECORDS,
    TO_LOCAL,
    TOP_NODES,
    TOP_SIZE,
    TRIANGLES,
    WORLD_BOX,
    trace_packet,
)
from skerry.rays.packets import ROW_MAJOR_3X4
from skerry.rays.tracer import MeshScene, TopScene, Tracer

_four_integers = types.void(*[types.int64] * 4)
_one_integer = types.void(types.int64)


@native(_four_integers)
def intersect(valid: int, scene: int, packet: int, arguments: int) -> None:
    trace_packet(valid, scene, packet, False)


@native(_four_integers)
def occluded(valid: int, scene: int, packet: int, arguments: int) -> None:
    trace_packet(valid, scene, packet, True)


@native(_four_integers)
def set_transform(record: int, time_step: int, layout: int, transform_at: int) -> None:
    """Store the inverse of a rigid transform and the box of the instance in the world."""
    transform, inverse = single_pointer(transform_at), single_pointer(record + 8 * TO_LOCAL)
    for k in range(3):
        a, b, c = transform[k], transform[4 + k], transform[8 + k]
        inverse[4 * k], inverse[4 * k + 1], inverse[4 * k + 2] = a, b, c
        inverse[4 * k + 3] = -(
            np.float64(a) * transform[3] + np.float64(b) * transform[7] + np.float64(c) * transform[11]
        )
    own, world = single_pointer(load_word(record + 8 * NODES)), single_pointer(record + 8 * WORLD_BOX)
    for k in range(3):
        middle, reach, size = np.float64(transform[4 * k + 3]), 0.0, abs(np.float64(transform[4 * k + 3]))
        for i in range(3):
            middle += transform[4 * k + i] * (np.float64(own[i]) + own[3 + i]) / 2
            reach += abs(transform[4 * k + i]) * (np.float64(own[3 + i]) - own[i]) / 2
            size += abs(own[i]) + abs(own[3 + i])
        reach += size * 1e-6  # 32-bit rounding error, with a margin
        world[k], world[3 + k] = middle - reach, middle + reach


@native(_one_integer)
def commit_geometry(record: int) -> None:
    """Do nothing; `set_transform` has already stored everything."""


@native(_one_integer)
def commit_scene(scene: int) -> None:
    """Build the BVH over all instances with a finite box."""
    records, count = load_word(scene + 8 * RECORDS), load_word(scene + 8 * INSTANCES)
    boxes = numba.carray(single_pointer(load_word(scene + 8 * BOXES)), (count, 6))
    numbers = numba.carray(integer_pointer(load_word(scene + 8 * NUMBERS)), (count,))
    nodes = numba.carray(single_pointer(load_word(scene + 8 * TOP_NODES)), (2 * count + 1, 8))
    used = 0
    for i in range(count):
        box = single_pointer(records + 8 * (RECORD_SIZE * i + WORLD_BOX))
        finite = True
        for k in range(6):
            boxes[used, k] = box[k]
            finite = finite and np.isfinite(box[k])
        if finite:
            numbers[used] = i
            used += 1
    build(boxes[:used], numbers[:used], nodes)


class OwnTracer(Tracer):
    """Tracer that uses Skerry's own kernels."""

    name = "Skerry"

    def __init__(self) -> None:
        super().__init__(
            width=LANES,
            intersect=intersect.address,
            occluded=occluded.address,
            arguments=0,
            set_transform=set_transform.address,
            commit_geometry=commit_geometry.address,
            commit_scene=commit_scene.address,
        )

    def mesh_scene(self, vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> MeshScene:
        made = MeshScene(0, vertices, faces)
        made.handle = made.bvh.nodes.ctypes.data
        return made

    def top_scene(self, children: Sequence[MeshScene], masks: Sequence[int]) -> TopScene:
        count = len(children)
        records = np.zeros((count, RECORD_SIZE), np.int64)
        for record, child, mask in zip(records, children, masks, strict=True):
            record[NODES], record[TRIANGLES] = child.bvh.nodes.ctypes.data, child.bvh.triangles.ctypes.data
            record[INSTANCE_MASK] = mask
        geometries = records.ctypes.data + 8 * RECORD_SIZE * np.arange(count)
        origin = np.eye(3, 4, dtype=np.float32)
        boxes, numbers = np.zeros((count, 6), np.float32), np.zeros(count, np.int32)
        nodes = np.zeros((2 * count + 1, 8), np.float32)
        table = np.zeros(TOP_SIZE, np.int64)
        table[[RECORDS, INSTANCES, TOP_NODES, NUMBERS, BOXES]] = (
            records.ctypes.data,
            count,
            nodes.ctypes.data,
            numbers.ctypes.data,
            boxes.ctypes.data,
        )
        for geometry in geometries:
            set_transform.ctypes(geometry, 0, ROW_MAJOR_3X4, origin.ctypes.data)
        commit_scene.ctypes(table.ctypes.data)
        return TopScene(table.ctypes.data, geometries, tuple(children), keep=(records, boxes, numbers, nodes, table))
