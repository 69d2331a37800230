"""Episodes of a task in many worlds: reset by seed, stepped together, rewarded."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.noise import Noise
from skerry.gym.backend import Backend, camera_overrides
from skerry.gym.batch_backend import BatchBackend, can_use_batch
from skerry.gym.distributions import Distribution
from skerry.gym.randomisation import EpisodeSampler
from skerry.gym.step_buffers import Agents, StepBuffers, store_actions
from skerry.gym.task import TERMINATED, Task
from skerry.gym.world_backend import WorldBackend
from skerry.scenario import load_scenario
from skerry.scenario.merging import merge, to_plain
from skerry.world import build_world

logger = logging.getLogger("skerry")

Observation = Literal["truth", "sensors"]
OBSERVATIONS = ("truth", "sensors")
IMAGE_SIZE = (640, 360)  # pixels, width and height


class Episodes:
    """Episodes of a task, one per world, with one row of buffers per acting robot of each world."""

    def __init__(
        self,
        task: Task,
        worlds: int = 1,
        *,
        agents: Agents | None = None,
        observation: Observation = "truth",
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        threads: int = 0,
        render: bool = False,
        whole_worlds: bool = False,
    ) -> None:
        """Create the worlds.

        Args:
            task: Task to run.
            worlds: Number of worlds.
            agents: Acting robots with the position that each uses as its origin; by default the task's robot.
            observation: "truth" for features from the true state, "sensors" for features from sensor readings.
            randomise: Distributions by scenario path, merged into those of the task.
            overrides: Scenario overrides, merged into the task's scenario.
            steps: Physics steps per control step; the task's own value by default.
            threads: Native threads; 0 means one per core.
            render: Whether to add a camera to each robot.
            whole_worlds: Use full worlds even where the batch backend would be sufficient.
        """
        if observation not in OBSERVATIONS:
            hint = did_you_mean(str(observation), OBSERVATIONS)
            raise SkerryError(f"observation={observation!r}: expected 'truth' or 'sensors'; {hint}")
        self.task = task
        self.worlds = worlds
        self.agents = dict(agents or {task.robot: (0.0, 0.0)})
        self.steps = task.steps if steps is None else steps
        if self.steps < 1 or worlds < 1:
            raise SkerryError(f"expected at least one step and one world, found {self.steps} steps and {worlds} worlds")
        source: dict[str, Any] = merge(to_plain(task.scenario), to_plain(overrides or {}), lambda path: len(path) > 2)
        if render:
            source = merge(source, to_plain(camera_overrides(task, self.agents, IMAGE_SIZE)))
        loaded = load_scenario(source)
        self.step_seconds = float(self.steps * loaded.scenario.step)
        self._sampler = EpisodeSampler(loaded, {**task.randomise, **(randomise or {})})
        rows = worlds * len(self.agents)
        self.buffers = StepBuffers(task, rows, separate=observation == "sensors")
        self._all_worlds, self._all_rows = np.arange(worlds), np.arange(rows)
        mirror = build_world(source)
        self.backend: Backend
        ropes_follow = bool(mirror.ropes) and self._sampler.moves_robots  # suspended loads must be moved too
        if observation == "truth" and not whole_worlds and not ropes_follow and can_use_batch(task, mirror):
            self.backend = BatchBackend(task, source, mirror, self.agents, self.buffers, worlds, self.steps, threads)
        else:
            mirror.close()
            self.backend = WorldBackend(task, source, self.agents, self.buffers, worlds, self.steps, threads)
        self._count = task.observation_size
        self._actions = len(task.commands)

    @property
    def rows(self) -> int:
        """Number of acting robots in all worlds."""
        return len(self._all_rows)

    def reset(self, seeds: Mapping[int, int], observations: NDArray[np.float32]) -> dict[int, dict[str, Any]]:
        """Start new episodes.

        Args:
            seeds: Seed of the episode, by world index.
            observations: Array to which the first observations are written, (rows, observations).

        Returns:
            The random values of each episode, by world index.
        """
        agents = len(self.agents)
        drawn = {}
        for world, seed in seeds.items():
            episode = self._sampler.draw(seed)
            self.backend.reset(world, episode)
            drawn[world] = dict(episode.values)
            for agent, robot in enumerate(self.agents):
                noise = Noise(seed, f"{robot}/goal")
                goals = {name: float(what.at(noise.child(name).uniform(0))) for name, what in self.task.goals.items()}
                self.buffers.reset(world * agents + agent, list(goals.values()))
                drawn[world] |= {name if agents == 1 else f"{robot}.{name}": value for name, value in goals.items()}
        worlds = np.array(sorted(seeds), np.int64)
        rows = self._rows_of(worlds)
        self.backend.update_features(worlds)
        self.buffers.before[rows] = self.buffers.now[rows]
        self.buffers.observe(rows, observations)
        return drawn

    def step(
        self, actions: NDArray[Any], observations: NDArray[np.float32], worlds: NDArray[np.int64] | None = None
    ) -> dict[int, SkerryError]:
        """Apply actions, advance and compute rewards.

        Args:
            actions: Actions of all rows, (rows, commands), from −1 to 1.
            observations: Array to which the observations are written, (rows, observations).
            worlds: Indices of the worlds to step; all by default.

        Returns:
            The error of each world that failed, by world index; the episode of such a world is truncated.
        """
        buffers = self.buffers
        if actions.shape != (self.rows, self._actions):
            raise SkerryError(
                f"actions have shape {actions.shape}; expected ({self.rows}, {self._actions}): robots, commands"
            )
        if not store_actions(actions, buffers.actions):
            raise SkerryError("an action contains NaN or infinity; expected numbers from −1 to 1")
        chosen: NDArray[np.int64] = self._all_worlds
        rows: NDArray[np.int64] = self._all_rows
        if worlds is not None:
            chosen, rows = worlds, self._rows_of(worlds)
        buffers.before[:] = buffers.now
        errors = self.backend.advance(buffers.actions, chosen)
        self.backend.update_features(chosen)
        buffers.evaluate(rows, observations)
        for world, error in errors.items():
            logger.warning("episode truncated: %s", error)
            buffers.outcomes[self._rows_of(np.array([world])), TERMINATED] = 0.0
        return errors

    def new_observations(self) -> NDArray[np.float32]:
        """Return an uninitialised array for the observations of all rows."""
        return np.empty((self.rows, self._count), np.float32)

    def _rows_of(self, worlds: NDArray[np.int64]) -> NDArray[np.int64]:
        agents = len(self.agents)
        return worlds if agents == 1 else (worlds[:, None] * agents + np.arange(agents)).ravel()

    def close(self) -> None:
        """Release all memory. Calling it twice is harmless."""
        self.backend.close()
