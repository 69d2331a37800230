"""Gymnasium vector environment: one native call steps all worlds of a task in threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.distributions import Distribution
from skerry.gym.environment import MAX_SEED, action_space_of, check_render_mode
from skerry.gym.episodes import Episodes, Observation
from skerry.gym.observation_format import ObservationFormat
from skerry.gym.task import REWARD, Task
from skerry.gym.tasks import find_task

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class VectorEnvironment(VectorEnv[Any, Floats, NDArray[Any]]):
    """Vector environment; world i is bit-equal to the single environment with seed + i, in every episode."""

    def __init__(
        self,
        task: Task | str,
        num_envs: int = 1,
        *,
        observation: Observation = "truth",
        dict_observations: bool = False,
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        whole_worlds: bool = False,
    ) -> None:
        """Create the environment. Arguments not listed here are those of `Environment`.

        Args:
            num_envs: Number of worlds.
            threads: Native threads; 0 means one per core.
            autoreset_mode: When ended episodes are reset; see Gymnasium.
            max_episode_steps: Control steps after which an episode is truncated; by default the task's duration.
        """
        check_render_mode(render_mode)
        self.task = find_task(task) if isinstance(task, str) else task
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 25, "autoreset_mode": self.autoreset_mode}
        self.episodes = Episodes(
            self.task,
            num_envs,
            observation=observation,
            randomise=randomise,
            overrides=overrides,
            steps=steps,
            threads=threads,
            render=render_mode is not None,
            whole_worlds=whole_worlds,
        )
        self.max_episode_steps = max_episode_steps or round(self.task.seconds / self.episodes.step_seconds)
        self._format = ObservationFormat(self.task, dict_observations)
        self.single_observation_space, self.single_action_space = self._format.space, action_space_of(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]
        self._lengths = np.zeros(num_envs, np.int64)
        self._ended: NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._some_ended = False
        self._all = np.arange(num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes in all worlds, or in those of `options["reset_mask"]`."""
        seeds: list[int | None]
        if isinstance(seed, int | np.integer):
            seeds = [int(seed) + k for k in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise SkerryError(f"expected {self.num_envs} seeds, one per environment, found {len(seeds)}")
        chosen: NDArray[Any] = self._all
        if options is not None and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise SkerryError(f"`reset_mask` must be an array of {self.num_envs} bools with at least one True")
            chosen = np.flatnonzero(mask)
        for world in chosen.tolist():
            if seeds[world] is not None:
                self._generators[world] = seeding.np_random(seeds[world])[0]
        observations = self.episodes.new_observations()
        if len(chosen) < self.num_envs:
            self.episodes.buffers.observe(self._all, observations)
        infos = self._begin(chosen, observations)
        return self._format.format(observations), infos

    def step(self, actions: Floats) -> tuple[Any, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Apply actions for one control step in all worlds; ended episodes are reset according to `autoreset_mode`."""
        buffers, observations = self.episodes.buffers, self.episodes.new_observations()
        resting = self._ended if self._some_ended else None  # worlds that are reset in this step
        if resting is not None and self.autoreset_mode is AutoresetMode.DISABLED:
            raise SkerryError("some episodes have ended; reset them with `reset_mask` before the next step")
        going = None if resting is None else np.flatnonzero(~resting)
        errors: dict[int, SkerryError] = {}
        if going is None or len(going):
            errors = self.episodes.step(np.asarray(actions), observations, going)
        self._lengths += 1
        terminated = buffers.terminated()
        truncated = self._lengths >= self.max_episode_steps
        for world in errors:
            truncated[world] = True
        rewards = buffers.outcomes[:, REWARD].copy()
        infos: dict[str, Any] = {}
        if resting is not None:
            begun = np.flatnonzero(resting)
            rewards[begun], terminated[begun], truncated[begun] = 0.0, False, False
            infos = self._begin(begun, observations)
        self._ended = terminated | truncated
        self._some_ended = bool(self._ended.any())
        if self._some_ended:
            infos = self._finish(observations, infos, errors)
        return self._format.format(observations), rewards, terminated, truncated, infos

    def _begin(self, worlds: NDArray[np.int64], observations: Floats) -> dict[str, Any]:
        seeds = {world: int(self._generators[world].integers(MAX_SEED)) for world in worlds.tolist()}
        drawn = self.episodes.reset(seeds, observations)
        self._lengths[worlds] = 0
        self._ended[worlds] = False
        self._some_ended = bool(self._ended.any())
        infos: dict[str, Any] = {}
        for world, values in drawn.items():
            infos = self._add_info(infos, values, world)
        return infos

    def _finish(self, observations: Floats, infos: dict[str, Any], errors: dict[int, SkerryError]) -> dict[str, Any]:
        """Add the infos of ended episodes; with SAME_STEP, also start the next episodes."""
        success = self.episodes.buffers.success()
        ended = np.flatnonzero(self._ended)
        for world in ended.tolist():
            info: dict[str, Any] = {"is_success": bool(success[world])}
            if world in errors:
                info["failure"] = str(errors[world])
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                info = {"final_obs": self._format.format(observations[world].copy()), "final_info": info}
            infos = self._add_info(infos, info, world)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos |= self._begin(ended, observations)
        return infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return an image of every world from the ray-traced camera that follows its robot."""
        if self.render_mode is None:
            return None
        return tuple(self.episodes.backend.render(world) for world in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Release all memory."""
        self.episodes.close()
