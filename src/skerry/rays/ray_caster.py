"""Casting rays from a sensor: bundles of directions, ray casters of a robot at one or more samples, and hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.rays.casts import trace_batch
from skerry.rays.packets import EVERYTHING, allocate_packet
from skerry.rays.scene import Frame, RayScene, mask_without
from skerry.rays.sphere_casts import SphereHit, sweep_sphere
from skerry.rays.threads import processors, run_on_tiles
from skerry.rays.tiles import COUNTER_SIZE
from skerry.terrain.materials import NamedMaterial

SINGLE_THREAD_RAYS: Final = 8192
"""Bundles with fewer rays are cast by one thread, because starting the others costs 50–100 µs."""
ONE_CAST: Final = np.ones(1, np.bool_)


@dataclass(eq=False)
class Hits:
    """Hits of the rays of a bundle. The bundle owns the arrays and overwrites them at its next cast.

    For a batch of casts, each array has one row per cast before the shape given here.
    """

    distance: NDArray[np.float32]  # (n,), m; infinite where nothing was hit
    normal: NDArray[np.float32]  # (3, n), in the world, of length 1, towards the sensor; 0 where nothing was hit
    material: NDArray[np.int32]  # (n,), indices into the scene's materials; −1 where nothing was hit
    body: NDArray[np.int32]  # (n,), indices into the scene's names; −1 where nothing was hit

    @classmethod
    def allocate(cls, casts: int, rays: int) -> Hits:
        """Return uninitialised arrays for a batch of casts."""
        return cls(
            np.empty((casts, rays), np.float32),
            np.empty((casts, 3, rays), np.float32),
            np.empty((casts, rays), np.int32),
            np.empty((casts, rays), np.int32),
        )

    def __getitem__(self, casts: int | slice) -> Hits:
        return Hits(self.distance[casts], self.normal[casts], self.material[casts], self.body[casts])


class Bundle:
    """Rays from one point: their directions in the sensor's frame, and the arrays for their hits.

    With directions (rows, columns, 3), for an image or a scan, rays that are neighbours in rows and columns share a
    packet. This is a fifth to a third faster, and is skipped where rows are much further apart than columns, as in a
    lidar. Hits are in the order of the directions in either case.

    Args:
        directions: Directions in the sensor's frame, (n, 3) or (rows, columns, 3), of any length.
        with_down_ray: Whether to append one ray that points straight down in the world at any attitude.
    """

    def __init__(self, directions: ArrayLike, with_down_ray: bool = False) -> None:
        given = np.asarray(directions, np.float64)
        if given.ndim not in {2, 3} or given.shape[-1] != 3 or given.size == 0:
            raise SkerryError(f"directions must have the shape (n, 3) or (rows, columns, 3), not {given.shape}")
        lengths = np.linalg.norm(given, axis=-1, keepdims=True)
        if not (np.isfinite(given).all() and (lengths > 0).all()):
            raise SkerryError("directions must be finite and have a length above 0")
        grid = given / lengths
        unit = grid.reshape(-1, 3).astype(np.float32)
        order = tile_order(*given.shape[:2]) if _is_even(grid) else np.arange(len(unit), dtype=np.int32)
        if with_down_ray:
            unit, order = np.append(unit, [[0.0, 0.0, -1.0]], axis=0), np.append(order, len(unit))
        self.with_down_ray = with_down_ray
        self.directions: NDArray[np.float32] = np.ascontiguousarray(unit.T, np.float32)  # (3, n)
        self._order = order.astype(np.int32)
        self._ordered = np.ascontiguousarray(unit[self._order].T, np.float32)
        self._packet = allocate_packet()
        self._pose = np.empty((1, 7))
        self._position, self._orientation = self._pose[0, :3], self._pose[0, 3:]
        self._grow(1)

    def __len__(self) -> int:
        return self.directions.shape[1]

    def world_directions(self, pose: Pose) -> NDArray[np.float32]:
        """Return the directions in the world, (n, 3), for a sensor at this pose."""
        directions = self.directions.T @ pose.rotation.T.astype(np.float32)
        if self.with_down_ray:
            directions[-1] = 0.0, 0.0, -1.0
        return directions

    def hits_buffer(self, casts: int) -> Hits:
        """Return the arrays to which a batch of this many casts is written, with the hits of the latest casts."""
        if len(self._tiles) < casts:
            self._grow(casts)
        return self._hits[:casts]

    def _grow(self, casts: int) -> None:
        self._hits = Hits.allocate(casts, len(self))
        self._first, self._only = self._hits[0], self._hits[:1]
        self._tiles = np.zeros((casts, COUNTER_SIZE), np.int64)
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
        """Cast the rays in one frame.

        Args:
            scene: Scene of the frame.
            frame: Bodies and ropes at one sample.
            pose: Pose of the sensor in the world.
            far: Distance up to which hits are found, m.
            near: Distance from which hits are found, m.
            mask: Bits of the bodies that the rays can hit.
            threads: 1 for the calling thread only; 0 to share large bundles among all processors. The result is the
                same.

        Returns:
            The hits, in arrays that the bundle overwrites at its next cast.
        """
        self._position[:], self._orientation[:] = pose.position, pose.orientation
        self._cast(scene, frame.context[None], self._pose, ONE_CAST, far, near, None, mask, threads, self._only)
        return self._first

    def cast_batch(
        self,
        scene: RayScene,
        contexts: NDArray[np.int64],
        poses: NDArray[np.float64],
        valid: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
        mask: int = EVERYTHING,
        threads: int = 0,
    ) -> Hits:
        """Cast the rays once in each of several frames of a scene. A batch of more than one cast uses one thread.

        Args:
            scene: Scene of the frames.
            contexts: Trace contexts of the frames, (n, CONTEXT_SIZE).
            poses: Position and quaternion of the sensor in each frame, (n, ≥ 7).
            valid: Frames in which to cast, (n,); the hits of the others stay as they are.
            far: Distance up to which hits are found, m.
            near: Distance from which hits are found, m.
            floors: Heights in the world, (n,), below which hits may be omitted. Halves the time where rays would
                continue to the seabed.
            mask: Bits of the bodies that the rays can hit.
            threads: As in `cast`.

        Returns:
            The hits, one row per frame, in arrays that the bundle overwrites at its next cast.
        """
        hits = self.hits_buffer(len(poses))
        self._cast(scene, contexts, poses, valid, far, near, floors, mask, threads, hits)
        return hits

    def _cast(
        self,
        scene: RayScene,
        contexts: NDArray[np.int64],
        poses: NDArray[np.float64],
        valid: NDArray[np.bool_],
        far: float,
        near: float,
        floors: NDArray[np.float64] | None,
        mask: int,
        threads: int,
        hits: Hits,
    ) -> None:
        lowest = self._no_floors if floors is None else floors

        def run(packet: NDArray[np.float32], tiles: NDArray[np.int64]) -> None:
            trace_batch(
                contexts,
                packet,
                poses,
                valid,
                self._ordered,
                self._order,
                self.with_down_ray,
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

        if threads == 1 or len(self) < SINGLE_THREAD_RAYS or len(poses) > 1 or processors() == 1:
            self._tiles.fill(0)
            run(self._packet, self._tiles)
        else:
            run_on_tiles(lambda packet, tiles: run(packet, tiles[None]))


def _is_even(directions: NDArray[np.float64]) -> bool:
    """Return whether the directions are a grid with similar spacing of rows and columns."""
    if directions.ndim < 3 or min(directions.shape[:2]) < 2:
        return False
    down, across = (np.linalg.norm(np.diff(directions, axis=axis), axis=-1).mean() for axis in (0, 1))
    return bool(down < 1.5 * across)


def tile_order(rows: int, columns: int) -> NDArray[np.int32]:
    """Return the flat indices of a grid in squares of 4 × 4, so that a packet of 8 rays is half a square."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    return np.lexsort((column % 4, row % 4, column // 4, row // 4)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class RayCaster:
    """Caster of rays and spheres for the sensors of one robot, at one sample."""

    scene: RayScene
    frame: Frame
    motion: NDArray[np.float64]  # (bodies of the engine, 13): position, quaternion, velocity, angular velocity
    own_mask_bit: int | None
    """Bit of the robot in a ray's mask. Rays ignore the robot that casts them unless `see_self` is set."""

    @property
    def materials(self) -> tuple[NamedMaterial, ...]:
        """Materials of the scene, by the index that hits contain."""
        return self.scene.materials

    @property
    def as_batch(self) -> RayCasterBatch:
        """Batch with this sample only."""
        return RayCasterBatch(
            self.scene, self.frame.context[None], self.motion[None], np.zeros(1, np.int64), self.own_mask_bit
        )

    def mask(self, see_self: bool) -> int:
        """Return the mask of this robot's rays."""
        return mask_without(None if see_self else self.own_mask_bit)

    def cast(
        self, bundle: Bundle, pose: Pose, far: float, near: float = 0.0, see_self: bool = False, threads: int = 0
    ) -> Hits:
        """Cast a bundle from a pose in the world; see `Bundle.cast`."""
        return bundle.cast(self.scene, self.frame, pose, far, near, self.mask(see_self), threads)

    def cast_sphere(
        self, start: ArrayLike, direction: ArrayLike, radius: float, far: float, see_self: bool = False
    ) -> SphereHit:
        """Move a sphere along a line to its first contact.

        A sphere that touches or overlaps a body at the start has a distance of 0, unless it moves away from that
        body. So the path of an echo may start where a sphere has come to rest against a body.

        Args:
            start: Centre of the sphere at the start, in the world, m.
            direction: Direction of motion in the world, of any length.
            radius: Radius of the sphere, m.
            far: Distance that the centre moves at most, m.
            see_self: Whether the sphere can touch this robot.

        Raises:
            SkerryError: If a number is not finite, the direction or the radius is 0, or `far` is negative.
        """
        centre, heading = np.asarray(start, np.float64), np.asarray(direction, np.float64)
        if centre.shape != (3,) or heading.shape != (3,) or not np.isfinite([*centre, *heading]).all():
            raise SkerryError("start and direction of a sphere cast must be three finite numbers each")
        length = np.linalg.norm(heading)
        if not length > 0:
            raise SkerryError("the direction of a sphere cast must have a length above 0")
        if not (np.isfinite(radius) and radius > 0):
            raise SkerryError(f"the radius of a sphere cast must be above 0 m, not {radius!r}; for 0, cast a ray")
        if not far >= 0:
            raise SkerryError(f"the distance of a sphere cast must be 0 m or more, not {far!r}")
        found = np.array([np.inf, 0.0, 0.0, 0.0])
        scene, mask = self.scene, self.mask(see_self)
        body, face = sweep_sphere(
            scene.sphere_bodies, self.frame.transforms, mask, centre, heading / length, float(radius), float(far), found
        )
        material = -1 if body < 0 else int(scene.face_materials[scene.first_faces[body] + face])
        return SphereHit(float(found[0]), found[1:], material, int(body))


@dataclass(frozen=True, eq=False)
class RayCasterBatch:
    """Caster of rays for the sensors of one robot at several samples, with one frame per sample."""

    scene: RayScene
    contexts: NDArray[np.int64]  # (samples, CONTEXT_SIZE), trace contexts of the frames
    log: NDArray[np.float64]  # (rows, bodies of the engine, 13), motions
    rows: NDArray[np.int64]  # (samples,), row of `log` of each sample
    own_mask_bit: int | None

    @property
    def motions(self) -> NDArray[np.float64]:
        """Motions, (samples, bodies of the engine, 13): position, quaternion, velocity, angular velocity."""
        return self.log[self.rows]

    def cast(
        self,
        bundle: Bundle,
        poses: NDArray[np.float64],
        valid: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
        see_self: bool = False,
        threads: int = 0,
    ) -> Hits:
        """Cast a bundle at each sample where `valid` (n,) is true, from `poses` (n, ≥ 7); see `Bundle.cast_batch`."""
        mask = mask_without(None if see_self else self.own_mask_bit)
        return bundle.cast_batch(self.scene, self.contexts, poses, valid, far, near, floors, mask, threads)
