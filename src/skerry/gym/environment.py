"""Gymnasium environment: one episode of a task at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.distributions import Distribution
from skerry.gym.episodes import Episodes, Observation
from skerry.gym.observation_format import ObservationFormat
from skerry.gym.task import Task
from skerry.gym.tasks import find_task

MAX_SEED = 2**31 - 1


def action_space_of(task: Task) -> Any:
    """Return the action space of a task."""
    return spaces.Box(-1.0, 1.0, (len(task.commands),), np.float32)


def check_render_mode(render_mode: str | None) -> None:
    """Raise `SkerryError` if the render mode is not supported."""
    if render_mode not in (None, "rgb_array"):
        raise SkerryError(f"render_mode={render_mode!r} is not supported; use 'rgb_array' or None")


class Environment(gymnasium.Env[Any, NDArray[np.float32]]):
    """Environment of a task; `gymnasium.make("skerry/SamDepth-v0")` also truncates episodes after the task's time."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(
        self,
        task: Task | str,
        *,
        observation: Observation = "truth",
        dict_observations: bool = False,
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        render_mode: str | None = None,
        whole_worlds: bool = False,
    ) -> None:
        """Create the environment.

        Args:
            task: Task or name of a shipped task.
            observation: "truth" or "sensors"; see `Episodes`.
            dict_observations: Whether an observation is a dictionary with an array for each entry of
                `task.observations`; otherwise it is one array.
            randomise: Distributions by scenario path, merged into those of the task.
            overrides: Scenario overrides, merged into the task's scenario.
            steps: Physics steps per control step; the task's own value by default.
            render_mode: "rgb_array" or None.
            whole_worlds: Use full worlds even where the batch backend would be sufficient.
        """
        check_render_mode(render_mode)
        self.task = find_task(task) if isinstance(task, str) else task
        self.render_mode = render_mode
        self.episodes = Episodes(
            self.task,
            observation=observation,
            randomise=randomise,
            overrides=overrides,
            steps=steps,
            threads=1,
            render=render_mode is not None,
            whole_worlds=whole_worlds,
        )
        self._format = ObservationFormat(self.task, dict_observations)
        self.observation_space, self.action_space = self._format.space, action_space_of(self.task)
        self._outcome = self.episodes.buffers.outcomes[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; `info` holds the random values drawn for it."""
        super().reset(seed=seed)
        observations = self.episodes.new_observations()
        drawn = self.episodes.reset({0: int(self.np_random.integers(MAX_SEED))}, observations)
        return self._format.format(observations[0]), drawn[0]

    def step(self, action: NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply an action for one control step."""
        episodes = self.episodes
        observations = episodes.new_observations()
        errors = episodes.step(np.asarray(action)[None], observations)
        observation = self._format.format(observations[0])
        reward, terminated, success = self._outcome.tolist()
        if not (terminated or errors):
            return observation, reward, False, False, {}
        info: dict[str, Any] = {"is_success": bool(success)}
        if errors:
            info["failure"] = str(errors[0])
        return observation, reward, bool(terminated), bool(errors), info

    def render(self) -> NDArray[np.uint8] | None:
        """Return an image of the ray-traced camera that follows the robot, (height, width, 3)."""
        return None if self.render_mode is None else self.episodes.backend.render(0)

    def close(self) -> None:
        """Release all memory. Calling it twice is harmless."""
        self.episodes.close()
