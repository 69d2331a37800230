"""What rays can hit at an instant: the ground, objects and robots as rigid bodies of triangles, and ropes."""

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
from skerry.rays.packets import EVERYTHING, GEOMETRIES, PLACES, ROPES, TURNS, move_bodies
from skerry.rays.ropes import RayRope, RopePlaces
from skerry.rays.sphere_casts import BODY_WORDS, MASK, NODES, TRIANGLES
from skerry.rays.tracer import TopScene, Tracer
from skerry.terrain.materials import NamedMaterial

TERRAIN_BIT: Final = 0
OBJECT_BIT: Final = 1
FIRST_ROBOT_BIT: Final = 2
ROBOT_BITS: Final = 30
"""A ray's mask has 32 bits, so of more than 30 robots two share one: these two do not see each other."""
NO_STATE: Final = np.zeros(0)
"""That in which there are no ropes."""


@dataclass(frozen=True, eq=False)
class RayBody:
    """A rigid body for rays. `faces` of the mesh have `face_materials`, places in `materials`."""

    name: str  # "sam/base_link", "objects/buoy", "terrain"
    owner: str  # the robot's or object's name; empty for the ground
    mesh: Mesh
    materials: tuple[NamedMaterial, ...]
    row: int = -1  # its row in the engine's motion; −1 for what never moves
    bit: int = TERRAIN_BIT
    category: str = ""  # what its owner is, for those who look for things in pictures
    glows: tuple[float, ...] = ()  # light that each of its materials sends out; none by default

    def looks(self) -> list[tuple[NamedMaterial, float]]:
        """Its materials, each with its glow."""
        return list(zip(self.materials, self.glows or (0.0,) * len(self.materials), strict=True))


def robot_bit(number: int) -> int:
    """The mask bit of a robot, by its number."""
    return FIRST_ROBOT_BIT + number % ROBOT_BITS


@dataclass(eq=False)
class Frame:
    """The bodies at the poses of one instant. Whoever holds it keeps it from being moved; see `RayScene.release`."""

    words: NDArray[np.int64]
    places: NDArray[np.float32]  # (bodies and ropes, 12), their transforms, rows of 3 × 4; of ropes, none
    turns: NDArray[np.float32]  # (bodies and ropes, 9), their rotations
    ropes: NDArray[np.float64] = field(repr=False)
    top: TopScene = field(repr=False)
    users: int = 0


class RayScene:
    """All that rays can hit. Building it takes about a second for a million triangles, so it is built when needed."""

    def __init__(self, bodies: Sequence[RayBody], tracer: Tracer, ropes: Sequence[RayRope] = ()) -> None:
        self.tracer = tracer
        self.bodies = tuple(bodies)
        self.names = (*(body.name for body in bodies), *(rope.name for rope in ropes))
        """Of all that a hit may be of: the bodies, and after them the ropes."""
        looks = dict.fromkeys(look for body in bodies for look in body.looks())
        looks |= dict.fromkeys((material, 0.0) for rope in ropes for material in rope.materials)
        self.materials: tuple[NamedMaterial, ...] = tuple(material for material, _ in looks)
        self.glows = tuple(glow for _, glow in looks)
        place = {look: i for i, look in enumerate(looks)}
        faces = [_materials_of_faces(body, place) for body in bodies]
        faces += [np.array([place[material, 0.0] for material in rope.materials], np.int32) for rope in ropes]
        counts = [len(part) for part in faces]
        self.first_faces = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64) if faces else np.zeros(0, int)
        self.face_materials = np.concatenate(faces) if faces else np.zeros(0, np.int32)
        self.rows = np.array([*(body.row for body in bodies), *(-1 for _ in ropes)], np.int64)
        """Of each in the engine's motion; −1 for what never moves, and for ropes."""
        self._children = [
            tracer.mesh_scene(body.mesh.vertices.astype(np.float32), body.mesh.faces.astype(np.uint32))
            for body in bodies
        ]
        self._ropes = RopePlaces(ropes, len(bodies), 1 << OBJECT_BIT)
        self._frames: list[Frame] = []
        self._lock = Lock()

    def frame(self, motion: NDArray[np.float64], state: NDArray[np.float64] = NO_STATE) -> Frame:
        """The bodies where they are in `motion` (bodies of the engine, 13); give it back by `release`.

        `state` (n,) is that in which the ropes are.
        """
        return self.frames(motion[None], state[None])[0]

    def frames(self, motions: NDArray[np.float64], states: NDArray[np.float64] = NO_STATE[None]) -> list[Frame]:
        """The bodies at several instants, (instants, bodies of the engine, 13); give each back by `release`."""
        with self._lock:
            free = (frame for frame in self._frames if frame.users == 0)
            taken = list(islice(free, len(motions)))
            taken += [self._new_frame() for _ in range(len(motions) - len(taken))]
            for frame in taken:
                frame.users = 1
        self._move(taken, motions, states)
        return taken

    def move(self, frame: Frame, motion: NDArray[np.float64], state: NDArray[np.float64] = NO_STATE) -> None:
        """Bring a frame that nobody else uses up to date."""
        self._move([frame], motion[None], state[None])

    def _move(self, frames: Sequence[Frame], motions: NDArray[np.float64], states: NDArray[np.float64]) -> None:
        words = words_of(frames)
        move_bodies(self.tracer.moving, words, self.rows[: len(self.bodies)], motions)
        if len(self._ropes):
            self._ropes.place(words, states)

    def hold(self, frame: Frame) -> Frame:
        """Use a frame along with others."""
        with self._lock:
            frame.users += 1
        return frame

    def release(self, frame: Frame) -> None:
        """Say that a frame is no longer used."""
        with self._lock:
            frame.users -= 1

    @cached_property
    def sphere_words(self) -> NDArray[np.int64]:
        """What sphere casts need of each body; the first of them builds Skerry's own trees."""
        words = np.zeros((len(self.bodies), BODY_WORDS), np.int64)
        for row, child, body in zip(words, self._children, self.bodies, strict=True):
            row[NODES], row[TRIANGLES] = child.tree.nodes.ctypes.data, child.tree.triangles.ctypes.data
            row[MASK] = 1 << body.bit
        return words

    def _new_frame(self) -> Frame:
        top = self.tracer.top_scene(self._children, [1 << body.bit for body in self.bodies])
        places = np.tile(np.eye(3, 4, dtype=np.float32).ravel(), (len(self.names), 1))
        turns = np.tile(np.eye(3, dtype=np.float32).ravel(), (len(self.names), 1))
        ropes = self._ropes.memory()
        words = self.tracer.words(top)
        words[[GEOMETRIES, PLACES, TURNS]] = top.geometries.ctypes.data, places.ctypes.data, turns.ctypes.data
        words[ROPES] = ropes.ctypes.data if len(self._ropes) else 0
        self._frames.append(Frame(words, places, turns, ropes, top))
        return self._frames[-1]


def words_of(frames: Sequence[Frame]) -> NDArray[np.int64]:
    """What kernels need to trace in each of these frames, (frames, words)."""
    return np.array([frame.words for frame in frames])


def mask_without(bit: int | None) -> int:
    """The mask of a ray that sees all but one owner."""
    return EVERYTHING if bit is None else EVERYTHING & ~(1 << bit)


def _materials_of_faces(body: RayBody, place: dict[tuple[NamedMaterial, float], int]) -> NDArray[np.int32]:
    own = np.array([place[look] for look in body.looks()], np.int32)
    if body.mesh.face_materials is None:
        return np.full(len(body.mesh.faces), own[0], np.int32)
    return own[body.mesh.face_materials]
