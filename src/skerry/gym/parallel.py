"""PettingZoo parallel environment: several robots with the same task in one world; they interact physically."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from skerry.core.errors import DependencyError, SkerryError
from skerry.gym.distributions import Distribution
from skerry.gym.environment import MAX_SEED, action_space_of, check_render_mode
from skerry.gym.episodes import Episodes, Observation
from skerry.gym.observation_format import ObservationFormat
from skerry.gym.task import REWARD, SUCCESS, TERMINATED, Task
from skerry.gym.tasks import find_task
from skerry.scenario import load_scenario
from skerry.scenario.key_paths import parse_key_path

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise DependencyError("skerry.gym.parallel needs PettingZoo; run `pip install 'skerry[pettingzoo]'`") from error


@dataclass(frozen=True)
class Shifted(Distribution):
    """Distribution with a constant offset."""

    inner: Distribution
    by: float

    def at(self, probability: float) -> float:
        return float(self.inner.at(probability)) + self.by


def fleet(
    task: Task, count: int, spacing: float, randomise: Mapping[str, Distribution]
) -> tuple[Task, dict[str, tuple[float, float]]]:
    """Return the task for several robots side by side, and the origin (east, north) of each robot by name."""
    scenario = load_scenario(task.scenario).scenario.model_dump(mode="json")
    if scenario["ropes"]:
        raise SkerryError(f"task {task.name!r} attaches its robot to a rope; it supports one robot only")
    one = scenario["robots"].pop(task.robot)
    agents = {f"{task.robot}_{k}": (0.0, spacing * k) for k in range(count)}
    distributions: dict[str, Distribution] = {}
    for name, origin in agents.items():
        robot = scenario["robots"][name] = deepcopy(one)
        robot["pose"]["position"][1] += origin[1]
        for path, what in {**task.randomise, **randomise}.items():
            key_path = parse_key_path(path)
            if key_path[:2] == ("robots", task.robot):
                path = f"robots.{name}" + path.removeprefix(f"robots.{task.robot}")
                what = Shifted(what, origin[1]) if key_path[2:] == ("pose", "position", 1) else what
            distributions[path] = what
    return replace(task, scenario=scenario, randomise=distributions), agents


class ParallelEnvironment(ParallelEnv[str, Any, NDArray[np.float32]]):  # type: ignore[misc]
    """Environment with the robots `sam_0`, `sam_1`, …, `spacing` metres apart to the north, each with the same task."""

    metadata: dict[str, Any] = {"name": "skerry", "render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(
        self,
        task: Task | str,
        robots: int = 2,
        *,
        spacing: float = 10.0,
        observation: Observation = "truth",
        dict_observations: bool = False,
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        if robots < 1:
            raise SkerryError(f"expected at least one robot, found {robots}")
        task = find_task(task) if isinstance(task, str) else task
        self.task, agents = fleet(task, robots, spacing, randomise or {})
        self.render_mode = render_mode
        self.episodes = Episodes(
            self.task,
            agents=agents,
            observation=observation,
            overrides=overrides,
            steps=steps,
            threads=1,
            render=render_mode is not None,
        )
        self.max_episode_steps = max_episode_steps or round(task.seconds / self.episodes.step_seconds)
        self.possible_agents = list(agents)
        self.agents: list[str] = []
        self._rows = {name: row for row, name in enumerate(agents)}
        self._formats = {name: ObservationFormat(task, dict_observations) for name in agents}
        self._action_spaces = {name: action_space_of(task) for name in agents}
        self._generator = seeding.np_random()[0]
        self._actions = np.zeros((robots, len(task.commands)), np.float32)
        self._length = 0

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of a robot."""
        return self._formats[agent].space

    def action_space(self, agent: str) -> Any:
        """Return the action space of a robot."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new episode for all robots."""
        if seed is not None:
            self._generator = seeding.np_random(seed)[0]
        observations = self.episodes.new_observations()
        drawn = self.episodes.reset({0: int(self._generator.integers(MAX_SEED))}, observations)[0]
        self.agents = list(self.possible_agents)
        self._actions[:] = 0.0
        self._length = 0
        observed = {name: self._formats[name].format(observations[row]) for name, row in self._rows.items()}
        return observed, {name: dict(drawn) for name in self.agents}

    def step(
        self, actions: Mapping[str, NDArray[np.float32]]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Apply actions for one control step; a robot whose episode has ended keeps its last command."""
        for name, action in actions.items():
            self._actions[self._rows[name]] = action
        observations = self.episodes.new_observations()
        errors = self.episodes.step(self._actions, observations)
        self._length += 1
        truncated = bool(errors) or self._length >= self.max_episode_steps
        acting, outcomes = self.agents, self.episodes.buffers.outcomes
        rows = {name: self._rows[name] for name in acting}
        terminated = {name: bool(outcomes[row, TERMINATED]) for name, row in rows.items()}
        rewards = {name: float(outcomes[row, REWARD]) for name, row in rows.items()}
        infos = {name: {"is_success": bool(outcomes[row, SUCCESS])} for name, row in rows.items()}
        self.agents = [] if truncated else [name for name in acting if not terminated[name]]
        observed = {name: self._formats[name].format(observations[row]) for name, row in rows.items()}
        return observed, rewards, terminated, dict.fromkeys(acting, truncated), infos

    def render(self) -> NDArray[np.uint8] | None:
        """Return an image of the ray-traced camera that follows the first robot."""
        return None if self.render_mode is None else self.episodes.backend.render(0)

    def close(self) -> None:
        """Release all memory. Calling it twice is harmless."""
        self.episodes.close()
