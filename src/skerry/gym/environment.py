"""One episode of a task at a time, as a Gymnasium environment."""

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
from skerry.gym.rows import FARTHEST
from skerry.gym.task import Task
from skerry.gym.tasks import find_task

MOST_SEED = 2**31 - 1


def spaces_of(task: Task) -> tuple[Any, Any]:
    """What an agent sees, and what it may do."""
    seen = spaces.Box(-FARTHEST, FARTHEST, (len(task.observations),), np.float32)
    return seen, spaces.Box(-1.0, 1.0, (len(task.commands),), np.float32)


def check_render_mode(render_mode: str | None) -> None:
    """Raise an error if nobody knows how to show it so."""
    if render_mode not in (None, "rgb_array"):
        raise SkerryError(f"render_mode={render_mode!r}: an environment is shown as 'rgb_array', or not at all (None)")


class Environment(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """A task; made by `gymnasium.make("skerry/SamDepth-v0")`, which also cuts it off after its time."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(
        self,
        task: Task | str,
        *,
        observation: Observation = "truth",
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        render_mode: str | None = None,
        whole_worlds: bool = False,
    ) -> None:
        """`task` is a task or its name; the others are as of `Episodes`."""
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
        self.observation_space, self.action_space = spaces_of(self.task)
        self._verdict = self.episodes.ledger.verdicts[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode; `info` has what was drawn for it."""
        super().reset(seed=seed)
        observations = self.episodes.new_observations()
        drawn = self.episodes.begin({0: int(self.np_random.integers(MOST_SEED))}, observations)
        return observations[0], drawn[0]

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Act for one step of control."""
        episodes = self.episodes
        observations = episodes.new_observations()
        errors = episodes.step(np.asarray(action)[None], observations)
        reward, over, success = self._verdict.tolist()
        if not (over or errors):
            return observations[0], reward, False, False, {}
        info: dict[str, Any] = {"is_success": bool(success)}
        if errors:
            info["failure"] = str(errors[0])
        return observations[0], reward, bool(over), bool(errors), info

    def render(self) -> NDArray[np.uint8] | None:
        """A picture by the ray-traced camera that follows the robot, (height, width, 3)."""
        return None if self.render_mode is None else self.episodes.stage.picture(0)

    def close(self) -> None:
        """Free all memory; closing twice is harmless."""
        self.episodes.close()
