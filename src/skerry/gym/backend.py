"""Backends: step the worlds of a task. Worlds are reset one by one and advanced together."""

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
"""Name of the camera that is added to each robot to render an environment."""


class Backend(ABC):
    """Set of worlds of one task."""

    @abstractmethod
    def reset(self, world: int, episode: Episode) -> None:
        """Start a new episode in one world."""

    @abstractmethod
    def advance(self, actions: NDArray[np.float64], worlds: NDArray[np.int64]) -> dict[int, SkerryError]:
        """Command the robots of these worlds and advance by one control step.

        Args:
            actions: Actions of all rows, (rows, 2 × commands), from −1 to 1; see `StepBuffers.actions`.
            worlds: Indices of the worlds to advance.

        Returns:
            The error of each world that failed, by world index.
        """

    @abstractmethod
    def update_features(self, worlds: NDArray[np.int64]) -> None:
        """Compute the features of at least these worlds."""

    @abstractmethod
    def render(self, world: int) -> NDArray[np.uint8]:
        """Return the camera image of a world, (height, width, 3)."""

    @abstractmethod
    def close(self) -> None:
        """Release all memory. Calling it twice is harmless."""


def camera_overrides(task: Task, robots: Iterable[str], size: tuple[int, int]) -> Mapping[str, Any]:
    """Return scenario overrides that add a camera behind each robot.

    Args:
        task: Task whose `camera` settings are used.
        robots: Names of the robots.
        size: Width and height of the image, pixels.
    """
    width, height = size
    camera = {"kind": "camera", "link": "base_link", "frequency": 1, "width": width, "height": height}
    part = {CAMERA: {**camera, "see_self": True, **task.camera}}
    return {"robots": {name: {"overrides": {"sensors": part}} for name in robots}}


def render_camera(world: World, robot: str) -> NDArray[np.uint8]:
    """Render the camera of a robot in its current state."""
    mounted = world.robots[robot].sensors[CAMERA]
    image: NDArray[np.uint8] = mounted.measure_with(mounted.sensor)().image
    return image
