"""Where episodes are played: many worlds that begin anew one by one, are commanded and advanced together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.randomisation import Episode
from skerry.gym.task import Task
from skerry.world import World

CAMERA = "gym_camera"
"""The name of the camera that shows an environment, on each of its robots."""


class Stage(ABC):
    """Some worlds of a task."""

    @abstractmethod
    def begin(self, world: int, episode: Episode) -> None:
        """Let a world begin anew."""

    @abstractmethod
    def advance(self, actions: NDArray[np.float64], worlds: NDArray[np.int64]) -> dict[int, SkerryError]:
        """Command the robots of these worlds and go on by a step of control; say what went wrong in which world."""

    @abstractmethod
    def look(self, worlds: NDArray[np.int64]) -> None:
        """Fill in the facts of at least these worlds."""

    @abstractmethod
    def picture(self, world: int) -> NDArray[np.uint8]:
        """What the camera sees, (height, width, 3)."""

    @abstractmethod
    def close(self) -> None:
        """Free all memory; closing twice is harmless."""


def camera_overrides(task: Task, robots: Iterable[str], size: tuple[int, int]) -> Mapping[str, Any]:
    """A camera that follows the robots of a task, to be laid over its scenario."""
    width, height = size
    camera = {"kind": "camera", "link": "base_link", "frequency": 1, "width": width, "height": height}
    part = {CAMERA: {**camera, "see_self": True, **task.camera}}
    return {"robots": {name: {"overrides": {"sensors": part}} for name in robots}}


def take_picture(world: World, robot: str) -> NDArray[np.uint8]:
    """What the camera of a robot sees now."""
    mounted = world.robots[robot].sensors[CAMERA]
    image: NDArray[np.uint8] = mounted.measure_with(mounted.sensor)().image
    return image
