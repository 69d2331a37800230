"""How a sensor sees the world by rays: bundles that it sends from its pose, and what they hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.rays.casts import trace_each
from skerry.rays.packets import EVERYTHING, packet_memory
from skerry.rays.scene import Frame, RayScene, mask_without
from skerry.rays.sphere_casts import Contact, sweep
from skerry.rays.threads import in_tiles, processors
from skerry.rays.tiles import WORDS as TILE_WORDS
from skerry.terrain.materials import NamedMaterial

FEW: Final = 8192
"""Rays that one thread casts alone: to hand them over costs 50–100 µs."""
ONCE: Final = np.ones(1, np.bool_)


@dataclass(eq=False)
class Hits:
    """What the rays of a bundle hit. The arrays are the bundle's own, and are overwritten by its next cast.

    Of several casts at once, each array has a row for each.
    """

    distance: NDArray[np.float32]  # (n,), m; infinite where nothing was hit
    normal: NDArray[np.float32]  # (3, n), in the world, of length 1, towards the sensor; 0 where nothing was hit
    material: NDArray[np.int32]  # (n,), places in the scene's materials; −1 where nothing was hit
    body: NDArray[np.int32]  # (n,), places in the scene's names; −1 where nothing was hit

    @classmethod
    def of(cls, casts: int, rays: int) -> Hits:
        """Memory for so many casts of so many rays."""
        return cls(
            np.empty((casts, rays), np.float32),
            np.empty((casts, 3, rays), np.float32),
            np.empty((casts, rays), np.int32),
            np.empty((casts, rays), np.int32),
        )

    def __getitem__(self, casts: int | slice) -> Hits:
        return Hits(self.distance[casts], self.normal[casts], self.material[casts], self.body[casts])


class Bundle:
    """Rays from one point, with their directions in the sensor's frame, and the memory for what they hit.

    Directions are (n, 3), or (rows, columns, 3) for a picture or a scan: then neighbours in both ways share a packet,
    which is a fifth to a third quicker, unless rows are much further apart than columns, as a lidar's are; hits are
    in the order of the directions all the same. A bundle that is `plumb` has one ray more, its last, which goes
    straight down in the world however the sensor is turned.
    """

    def __init__(self, directions: ArrayLike, plumb: bool = False) -> None:
        given = np.asarray(directions, np.float64)
        if given.ndim not in {2, 3} or given.shape[-1] != 3 or given.size == 0:
            raise SkerryError(f"directions must have the shape (n, 3) or (rows, columns, 3), not {given.shape}")
        lengths = np.linalg.norm(given, axis=-1, keepdims=True)
        if not (np.isfinite(given).all() and (lengths > 0).all()):
            raise SkerryError("directions must be finite and have a length")
        grid = given / lengths
        unit = grid.reshape(-1, 3).astype(np.float32)
        order = tile_order(*given.shape[:2]) if _is_even(grid) else np.arange(len(unit), dtype=np.int32)
        if plumb:
            unit, order = np.append(unit, [[0.0, 0.0, -1.0]], axis=0), np.append(order, len(unit))
        self.plumb = plumb
        self.directions: NDArray[np.float32] = np.ascontiguousarray(unit.T, np.float32)  # (3, n)
        self._order = order.astype(np.int32)
        self._sent = np.ascontiguousarray(unit[self._order].T, np.float32)
        self._packet = packet_memory()
        self._place = np.empty((1, 7))
        self._position, self._orientation = self._place[0, :3], self._place[0, 3:]
        self._grow(1)

    def __len__(self) -> int:
        return self.directions.shape[1]

    def turned(self, pose: Pose) -> NDArray[np.float32]:
        """The directions in the world, (n, 3), of a sensor that is turned like this."""
        turned = self.directions.T @ pose.rotation.T.astype(np.float32)
        if self.plumb:
            turned[-1] = 0.0, 0.0, -1.0
        return turned

    def memory(self, casts: int) -> Hits:
        """What so many casts at once are, or the latest have been, written to."""
        if len(self._tiles) < casts:
            self._grow(casts)
        return self._memory[:casts]

    def _grow(self, casts: int) -> None:
        self._memory = Hits.of(casts, len(self))
        self._first, self._alone = self._memory[0], self._memory[:1]
        self._tiles = np.zeros((casts, TILE_WORDS), np.int64)
        self._no_floors = np.full(casts, -np.inf)

    def cast(
        self,
        scene: RayScene,
        frame: Frame,
        pose: Pose,
        far: float,
        near: float = 0.0,
        mask: int = EVERYTHING,
        threads: int = 0,
    ) -> Hits:
        """Send the rays; with `threads` 0, large bundles go over all processors, to the same result."""
        self._position[:], self._orientation[:] = pose.position, pose.orientation
        self._send(scene, frame.words[None], self._place, ONCE, far, near, None, mask, threads, self._alone)
        return self._first

    def cast_each(
        self,
        scene: RayScene,
        words: NDArray[np.int64],
        places: NDArray[np.float64],
        there: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
        mask: int = EVERYTHING,
        threads: int = 0,
    ) -> Hits:
        """Send the rays once for each of several frames of a scene, from where the sensor is in each.

        `words` (n, …) are those of the frames, `places` (n, ≥ 7) position and quaternion of the sensor; only those are
        sent that are `there` (n,). Several at once are sent by one thread. Whatever is below `floors` (n,), heights in
        the world, need not be found, which saves half the time where rays would go on to the seabed.
        """
        hits = self.memory(len(places))
        self._send(scene, words, places, there, far, near, floors, mask, threads, hits)
        return hits

    def _send(
        self,
        scene: RayScene,
        words: NDArray[np.int64],
        places: NDArray[np.float64],
        there: NDArray[np.bool_],
        far: float,
        near: float,
        floors: NDArray[np.float64] | None,
        mask: int,
        threads: int,
        hits: Hits,
    ) -> None:
        lowest = self._no_floors if floors is None else floors

        def run(packet: NDArray[np.float32], tiles: NDArray[np.int64]) -> None:
            trace_each(
                words,
                packet,
                places,
                there,
                self._sent,
                self._order,
                self.plumb,
                near,
                far,
                lowest,
                mask,
                scene.first_faces,
                scene.face_materials,
                hits.distance,
                hits.normal,
                hits.material,
                hits.body,
                tiles,
            )

        if threads == 1 or len(self) < FEW or len(places) > 1 or processors() == 1:
            self._tiles.fill(0)
            run(self._packet, self._tiles)
        else:
            in_tiles(lambda packet, tiles: run(packet, tiles[None]))


def _is_even(directions: NDArray[np.float64]) -> bool:
    """Whether they are a grid whose rows are hardly further apart than its columns."""
    if directions.ndim < 3 or min(directions.shape[:2]) < 2:
        return False
    down, across = (np.linalg.norm(np.diff(directions, axis=axis), axis=-1).mean() for axis in (0, 1))
    return bool(down < 1.5 * across)


def tile_order(rows: int, columns: int) -> NDArray[np.int32]:
    """The places of a grid, four rows at a time, four columns at a time: packets of 8 are halves of such a square."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    return np.lexsort((column % 4, row % 4, column // 4, row // 4)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class RayView:
    """The world as one robot's sensors see it by rays, at one instant."""

    scene: RayScene
    frame: Frame
    motion: NDArray[np.float64]  # (bodies of the engine, 13): position, quaternion, velocity, angular velocity
    own_bit: int | None
    """The robot's bit in a ray's mask; rays do not see the robot that they come from unless they are told to."""

    @property
    def materials(self) -> tuple[NamedMaterial, ...]:
        return self.scene.materials

    @property
    def alone(self) -> RayViews:
        """This view as the only one of several."""
        return RayViews(self.scene, self.frame.words[None], self.motion[None], np.zeros(1, np.int64), self.own_bit)

    def mask(self, see_self: bool) -> int:
        """The mask of this robot's rays."""
        return mask_without(None if see_self else self.own_bit)

    def cast(
        self, bundle: Bundle, pose: Pose, far: float, near: float = 0.0, see_self: bool = False, threads: int = 0
    ) -> Hits:
        """Send a bundle from a pose in the world."""
        return bundle.cast(self.scene, self.frame, pose, far, near, self.mask(see_self), threads)

    def cast_sphere(
        self, start: ArrayLike, direction: ArrayLike, radius: float, far: float, see_self: bool = False
    ) -> Contact:
        """Move a sphere from a point in the world, at most `far`, to where it first touches anything.

        One that touches or overlaps something at the start has gone a distance of 0, unless it moves away from it: so
        an echo may start where a sphere has come to touch.
        """
        centre, heading = np.asarray(start, np.float64), np.asarray(direction, np.float64)
        if centre.shape != (3,) or heading.shape != (3,) or not np.isfinite([*centre, *heading]).all():
            raise SkerryError("start and direction of a sphere cast must be three finite numbers each")
        length = np.linalg.norm(heading)
        if not length > 0:
            raise SkerryError("the direction of a sphere cast must have a length")
        if not (np.isfinite(radius) and radius > 0):
            raise SkerryError(f"the radius of a sphere cast must be positive (found {radius!r}); for 0, cast a ray")
        if not far >= 0:
            raise SkerryError(f"how far a sphere cast goes must be 0 or more (found {far!r})")
        found = np.array([np.inf, 0.0, 0.0, 0.0])
        scene, mask = self.scene, self.mask(see_self)
        body, face = sweep(
            scene.sphere_words, self.frame.places, mask, centre, heading / length, float(radius), float(far), found
        )
        material = -1 if body < 0 else int(scene.face_materials[scene.first_faces[body] + face])
        return Contact(float(found[0]), found[1:], material, int(body))


@dataclass(frozen=True, eq=False)
class RayViews:
    """The world as one robot's sensors see it by rays, at several instants: a frame for each."""

    scene: RayScene
    words: NDArray[np.int64]  # (instants, …), those of the frames
    log: NDArray[np.float64]  # (rows, bodies of the engine, 13), and
    rows: NDArray[np.int64]  # which of its rows the instants are
    own_bit: int | None

    @property
    def motions(self) -> NDArray[np.float64]:
        """(instants, bodies of the engine, 13): position, quaternion, velocity, angular velocity."""
        return self.log[self.rows]

    def cast(
        self,
        bundle: Bundle,
        places: NDArray[np.float64],
        there: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
        see_self: bool = False,
        threads: int = 0,
    ) -> Hits:
        """Send a bundle at those instants at which it is `there`, from where it is then: `places` (n, ≥ 7)."""
        mask = mask_without(None if see_self else self.own_bit)
        return bundle.cast_each(self.scene, self.words, places, there, far, near, floors, mask, threads)
