"""Samples of the world: the live state, a copy for a worker thread, or one stored by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Clock
from skerry.physics.engine import Engine
from skerry.rays import Frame, RayCaster, RayScene
from skerry.water import Water
from skerry.water.probe import WaterProbe
from skerry.world.ray_scene import RaySceneBuilder


class Sample(Protocol):
    """State of the world at one tick: motions of all bodies, joints, and userdata of the engine."""

    motions: NDArray[np.float64]  # (2, bodies, 13): at the tick, and one step earlier
    userdata: NDArray[np.float64]  # only for the water, which may follow the level of an object
    positions: NDArray[np.float64]  # positions of all joints
    velocities: NDArray[np.float64]  # velocities of all joints

    @property
    def probe(self) -> WaterProbe: ...
    @property
    def tick(self) -> int: ...
    @property
    def time(self) -> float: ...
    def view(self, own_mask_bit: int) -> RayCaster: ...
    def copy(self) -> SampleCopy: ...


class LiveState:
    """Sample of the present; its values change as the world advances."""

    def __init__(self, engine: Engine, clock: Clock, water: Water, ray_scene: RaySceneBuilder) -> None:
        self.motions = engine.motions(0)
        self.userdata = engine.part("userdata")[0]
        self.positions, self.velocities = engine.part("qpos")[0], engine.part("qvel")[0]
        self.probe = WaterProbe(water, self.userdata)
        self._clock = clock
        self._water = water
        self._ray_scene = ray_scene

    @property
    def tick(self) -> int:
        return self._clock.tick

    @property
    def time(self) -> float:
        return self._clock.time

    def view(self, own_mask_bit: int) -> RayCaster:
        """Return the world as rays see it now, without the robot of `own_mask_bit`."""
        return self._ray_scene.view(own_mask_bit)

    def copy(self) -> SampleCopy:
        """Return a copy for a worker thread; the caller must release it."""
        return SampleCopy(self, self._water, self._ray_scene.scene, self._ray_scene.hold_frame())


@dataclass(frozen=True, eq=False, slots=True)
class StoredSample:
    """Motions and userdata that the engine stored at one tick; valid until the engine advances again."""

    tick: int
    time: float
    motions: NDArray[np.float64]
    userdata: NDArray[np.float64]


class SampleCopy:
    """Copy of a sample that stays valid while the world advances."""

    def __init__(self, sample: Sample, water: Water, scene: RayScene, frame: Frame) -> None:
        self.motions = sample.motions.copy()
        self.userdata = sample.userdata if water.followed_object is None else sample.userdata.copy()
        self.positions, self.velocities = sample.positions.copy(), sample.velocities.copy()
        self.tick = sample.tick
        self.time = sample.time
        self._water = water
        self._scene = scene
        self._frame = frame

    @cached_property
    def probe(self) -> WaterProbe:
        """Water probe, created in the thread that first uses it."""
        return WaterProbe(self._water, self.userdata)

    def view(self, own_mask_bit: int) -> RayCaster:
        """Return the world as rays see it in this sample, without the robot of `own_mask_bit`."""
        return RayCaster(self._scene, self._frame, self.motions[0], own_mask_bit)

    def release(self) -> None:
        """Return the frame of body poses to the ray scene."""
        self._scene.release(self._frame)

    def copy(self) -> SampleCopy:
        """Return this object, which is a copy already."""
        return self
