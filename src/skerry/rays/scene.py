"""Scene for rays: the ground, objects and robots as rigid triangle meshes, and ropes, at the poses of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.meshes import Mesh
from skerry.rays.packets import EVERYTHING, GEOMETRIES, ROPES, ROTATIONS, TRANSFORMS, move_bodies
from skerry.rays.ropes import RayRope, RopeLayout
from skerry.rays.sphere_casts import BODY_FIELDS, MASK, NODES, TRIANGLES
from skerry.rays.tracer import TopScene, Tracer
from skerry.terrain.materials import NamedMaterial

TERRAIN_BIT: Final = 0
OBJECT_BIT: Final = 1
FIRST_ROBOT_BIT: Final = 2
ROBOT_BITS: Final = 30
"""Bits of a 32-bit ray mask that identify robots. With more than 30 robots two of them share a bit; such a pair does
not see each other."""
NO_STATE: Final = np.zeros(0)
"""Rope state of a scene without ropes."""


@dataclass(frozen=True, eq=False)
class RayBody:
    """Rigid body that rays can hit. The mesh's `face_materials` are indices into `materials`."""

    name: str  # "sam/base_link", "objects/buoy", "terrain"
    owner: str  # name of the robot or object; empty for the ground
    mesh: Mesh
    materials: tuple[NamedMaterial, ...]
    row: int = -1  # row of the body in the engine's motion array; −1 for a body that never moves
    bit: int = TERRAIN_BIT
    category: str = ""  # class of the owner, for image detections
    glows: tuple[float, ...] = ()  # light emitted by each material; empty means none

    def materials_with_glow(self) -> list[tuple[NamedMaterial, float]]:
        """Return each material paired with its glow."""
        return list(zip(self.materials, self.glows or (0.0,) * len(self.materials), strict=True))


def robot_bit(number: int) -> int:
    """Return the mask bit of the robot with this index."""
    return FIRST_ROBOT_BIT + number % ROBOT_BITS


@dataclass(eq=False)
class Frame:
    """Bodies and ropes of a scene at the poses of one sample.

    `RayScene` does not move a frame while `users` is above 0. Return it with `RayScene.release`.
    """

    context: NDArray[np.int64]  # native addresses that kernels need to trace in this frame; fields in `packets`
    transforms: NDArray[np.float32]  # (bodies and ropes, 12), row-major 3 × 4; unused for ropes
    rotations: NDArray[np.float32]  # (bodies and ropes, 9), row-major 3 × 3
    ropes: NDArray[np.float64] = field(repr=False)
    top: TopScene = field(repr=False)
    users: int = 0


class RayScene:
    """Everything that rays can hit. A million triangles take about a second to build, so build it on first use."""

    def __init__(self, bodies: Sequence[RayBody], tracer: Tracer, ropes: Sequence[RayRope] = ()) -> None:
        self.tracer = tracer
        self.bodies = tuple(bodies)
        self.names = (*(body.name for body in bodies), *(rope.name for rope in ropes))
        """Names by body index of a hit: the rigid bodies first, then the ropes."""
        surfaces = dict.fromkeys(surface for body in bodies for surface in body.materials_with_glow())
        surfaces |= dict.fromkeys((material, 0.0) for rope in ropes for material in rope.materials)
        self.materials: tuple[NamedMaterial, ...] = tuple(material for material, _ in surfaces)
        self.glows = tuple(glow for _, glow in surfaces)
        index = {surface: i for i, surface in enumerate(surfaces)}
        faces = [_face_materials(body, index) for body in bodies]
        faces += [np.array([index[material, 0.0] for material in rope.materials], np.int32) for rope in ropes]
        counts = [len(part) for part in faces]
        self.first_faces = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64) if faces else np.zeros(0, int)
        self.face_materials = np.concatenate(faces) if faces else np.zeros(0, np.int32)
        self.rows = np.array([*(body.row for body in bodies), *(-1 for _ in ropes)], np.int64)
        """Row of each body in the engine's motion array; −1 for ropes and for bodies that never move."""
        self._children = [
            tracer.mesh_scene(body.mesh.vertices.astype(np.float32), body.mesh.faces.astype(np.uint32))
            for body in bodies
        ]
        self._ropes = RopeLayout(ropes, len(bodies), 1 << OBJECT_BIT)
        self._frames: list[Frame] = []
        self._lock = Lock()

    def frame(self, motion: NDArray[np.float64], state: NDArray[np.float64] = NO_STATE) -> Frame:
        """Return a frame with the bodies at one sample; the caller returns it with `release`.

        Args:
            motion: Motions of the engine's bodies, (bodies of the engine, 13).
            state: State vector that holds the ropes, (n,).
        """
        return self.frames(motion[None], state[None])[0]

    def frames(self, motions: NDArray[np.float64], states: NDArray[np.float64] = NO_STATE[None]) -> list[Frame]:
        """Return one frame per sample; the caller returns each with `release`.

        Args:
            motions: Motions of the engine's bodies, (samples, bodies of the engine, 13).
            states: State vectors that hold the ropes, (samples, n).
        """
        with self._lock:
            free = (frame for frame in self._frames if frame.users == 0)
            taken = list(islice(free, len(motions)))
            taken += [self._new_frame() for _ in range(len(motions) - len(taken))]
            for frame in taken:
                frame.users = 1
        self._move(taken, motions, states)
        return taken

    def move(self, frame: Frame, motion: NDArray[np.float64], state: NDArray[np.float64] = NO_STATE) -> None:
        """Move the bodies and ropes of a frame that has no other user."""
        self._move([frame], motion[None], state[None])

    def _move(self, frames: Sequence[Frame], motions: NDArray[np.float64], states: NDArray[np.float64]) -> None:
        contexts = contexts_of(frames)
        move_bodies(self.tracer.move_functions, contexts, self.rows[: len(self.bodies)], motions)
        if len(self._ropes):
            self._ropes.move(contexts, states)

    def hold(self, frame: Frame) -> Frame:
        """Add a user to a frame and return the frame."""
        with self._lock:
            frame.users += 1
        return frame

    def release(self, frame: Frame) -> None:
        """Remove a user from a frame. Without users the frame may be moved and reused."""
        with self._lock:
            frame.users -= 1

    @cached_property
    def sphere_bodies(self) -> NDArray[np.int64]:
        """Fields of each body for sphere casts, (bodies, BODY_FIELDS). The first access builds Skerry's own BVHs."""
        table = np.zeros((len(self.bodies), BODY_FIELDS), np.int64)
        for row, child, body in zip(table, self._children, self.bodies, strict=True):
            row[NODES], row[TRIANGLES] = child.bvh.nodes.ctypes.data, child.bvh.triangles.ctypes.data
            row[MASK] = 1 << body.bit
        return table

    def _new_frame(self) -> Frame:
        top = self.tracer.top_scene(self._children, [1 << body.bit for body in self.bodies])
        transforms = np.tile(np.eye(3, 4, dtype=np.float32).ravel(), (len(self.names), 1))
        rotations = np.tile(np.eye(3, dtype=np.float32).ravel(), (len(self.names), 1))
        ropes = self._ropes.allocate()
        context = self.tracer.context(top)
        context[[GEOMETRIES, TRANSFORMS, ROTATIONS]] = (
            top.geometries.ctypes.data,
            transforms.ctypes.data,
            rotations.ctypes.data,
        )
        context[ROPES] = ropes.ctypes.data if len(self._ropes) else 0
        self._frames.append(Frame(context, transforms, rotations, ropes, top))
        return self._frames[-1]


def contexts_of(frames: Sequence[Frame]) -> NDArray[np.int64]:
    """Return the trace contexts of frames as rows, (frames, CONTEXT_SIZE)."""
    return np.array([frame.context for frame in frames])


def mask_without(bit: int | None) -> int:
    """Return the mask of a ray that ignores the owner with this bit; None ignores no owner."""
    return EVERYTHING if bit is None else EVERYTHING & ~(1 << bit)


def _face_materials(body: RayBody, index: dict[tuple[NamedMaterial, float], int]) -> NDArray[np.int32]:
    """Return the scene's material index of each face of a body."""
    own = np.array([index[surface] for surface in body.materials_with_glow()], np.int32)
    if body.mesh.face_materials is None:
        return np.full(len(body.mesh.faces), own[0], np.int32)
    return own[body.mesh.face_materials]
