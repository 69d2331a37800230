"""Stable-Baselines3 `VecEnv` on the native vector environment; it resets episodes in the same step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from skerry.core.errors import DependencyError
from skerry.gym.task import Task
from skerry.gym.vector import VectorEnvironment

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise DependencyError(
        "skerry.gym.stable_baselines needs Stable-Baselines3; run `pip install stable-baselines3`"
    ) from error


class StableBaselinesEnvironment(VecEnv):  # type: ignore[misc]
    """Vector environment for Stable-Baselines3; takes the arguments of `VectorEnvironment`."""

    def __init__(self, task: Task | str, num_envs: int, **settings: Any) -> None:
        self.vector = VectorEnvironment(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        self._actions: NDArray[np.float32] | None = None
        super().__init__(num_envs, self.vector.single_observation_space, self.vector.single_action_space)
        self.render_mode = self.vector.render_mode

    def reset(self) -> Any:
        """Start new episodes with the seeds set by `seed`."""
        seeds = list(self._seeds) if any(seed is not None for seed in self._seeds) else None
        observations, _ = self.vector.reset(seed=seeds)
        self._reset_seeds()
        return observations

    def step_async(self, actions: NDArray[np.float32]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Execute the step with the stored actions."""
        assert self._actions is not None
        observations, rewards, terminated, truncated, infos = self.vector.step(self._actions)
        ended = terminated | truncated
        step_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(ended).tolist():
            step_infos[world] = {
                "terminal_observation": infos["final_obs"][world],
                "TimeLimit.truncated": bool(truncated[world] and not terminated[world]),
                "is_success": bool(infos["final_info"]["is_success"][world]),
            }
        return observations, rewards.astype(np.float32), ended, step_infos

    def close(self) -> None:
        """Release all memory."""
        self.vector.close()

    def get_images(self) -> Sequence[NDArray[np.uint8]]:
        """Return an image of every world."""
        return self.vector.render() or ()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector environment once per world."""
        return [getattr(self.vector, attr_name)] * len(self._places(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment."""
        setattr(self.vector, attr_name, value)

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **settings: Any) -> list[Any]:
        """Call a method of the vector environment once and return the result once per world."""
        return [getattr(self.vector, method_name)(*arguments, **settings)] * len(self._places(indices))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for every world; worlds have no wrappers."""
        return [False] * len(self._places(indices))

    def _places(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))
