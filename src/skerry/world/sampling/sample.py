"""An instant of a world: the present, which moves on, or one that is held."""

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
    """When it is, where all bodies are, and the state of all else that is in the engine."""

    motions: NDArray[np.float64]  # (2, bodies, 13): now and one step before
    userdata: NDArray[np.float64]  # for the water only, which reads no more than a level that follows an object
    positions: NDArray[np.float64]  # of all joints, and
    velocities: NDArray[np.float64]

    @property
    def probe(self) -> WaterProbe: ...
    @property
    def tick(self) -> int: ...
    @property
    def time(self) -> float: ...
    def view(self, own_mask_bit: int) -> RayCaster: ...
    def hold(self) -> SampleCopy: ...


class LiveState:
    """Now, whenever that is."""

    def __init__(self, engine: Engine, clock: Clock, water: Water, surroundings: RaySceneBuilder) -> None:
        self.motions = engine.motions(0)
        self.userdata = engine.part("userdata")[0]
        self.positions, self.velocities = engine.part("qpos")[0], engine.part("qvel")[0]
        self.probe = WaterProbe(water, self.userdata)
        self._clock = clock
        self._water = water
        self._surroundings = surroundings

    @property
    def tick(self) -> int:
        return self._clock.tick

    @property
    def time(self) -> float:
        return self._clock.time

    def view(self, own_mask_bit: int) -> RayCaster:
        return self._surroundings.view(own_mask_bit)

    def hold(self) -> SampleCopy:
        """This instant as it is, for a thread of its own; to be released."""
        return SampleCopy(self, self._water, self._surroundings.scene, self._surroundings.hold())


@dataclass(frozen=True, eq=False, slots=True)
class Glimpse:
    """No more of an instant than what the engine has kept of it; valid until it goes on."""

    tick: int
    time: float
    motions: NDArray[np.float64]
    userdata: NDArray[np.float64]


class SampleCopy:
    """An instant that stays while time goes on."""

    def __init__(self, instant: Sample, water: Water, scene: RayScene, frame: Frame) -> None:
        self.motions = instant.motions.copy()
        self.userdata = instant.userdata if water.followed_object is None else instant.userdata.copy()
        self.positions, self.velocities = instant.positions.copy(), instant.velocities.copy()
        self.tick = instant.tick
        self.time = instant.time
        self._water = water
        self._scene = scene
        self._frame = frame

    @cached_property
    def probe(self) -> WaterProbe:
        """Made by whoever needs it, in that one's thread."""
        return WaterProbe(self._water, self.userdata)

    def view(self, own_mask_bit: int) -> RayCaster:
        return RayCaster(self._scene, self._frame, self.motions[0], own_mask_bit)

    def release(self) -> None:
        """Give its frame of poses back."""
        self._scene.release(self._frame)

    def hold(self) -> SampleCopy:
        """It is held already."""
        return self
