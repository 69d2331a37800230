"""Several robots with the same task in one world, as a PettingZoo parallel environment; they feel each other."""

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
from skerry.gym.environment import MOST_SEED, check_render_mode, spaces_of
from skerry.gym.episodes import Episodes, Observation
from skerry.gym.task import OVER, REWARD, SUCCESS, Task
from skerry.gym.tasks import find_task
from skerry.scenario import load_scenario
from skerry.scenario.key_paths import parse_key_path

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise DependencyError("skerry.gym.parallel needs PettingZoo; run `pip install 'skerry[pettingzoo]'`") from error

Seen = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Shifted(Distribution):
    """Another one, some way off."""

    inner: Distribution
    by: float

    def at(self, probability: float) -> float:
        return float(self.inner.at(probability)) + self.by


def fleet(
    task: Task, count: int, spacing: float, randomise: Mapping[str, Distribution]
) -> tuple[Task, dict[str, tuple[float, float]]]:
    """The task for several robots side by side, and their names, each with where it takes the world's origin to be."""
    scenario = load_scenario(task.scenario).scenario.model_dump(mode="json")
    if scenario["ropes"]:
        raise SkerryError(f"the task {task.name!r} ties its robot to something; there cannot be several of them")
    one = scenario["robots"].pop(task.robot)
    agents = {f"{task.robot}_{k}": (0.0, spacing * k) for k in range(count)}
    distributions: dict[str, Distribution] = {}
    for name, origin in agents.items():
        robot = scenario["robots"][name] = deepcopy(one)
        robot["pose"]["position"][1] += origin[1]
        for path, what in {**task.randomise, **randomise}.items():
            place = parse_key_path(path)
            if place[:2] == ("robots", task.robot):
                path = f"robots.{name}" + path.removeprefix(f"robots.{task.robot}")
                what = Shifted(what, origin[1]) if place[2:] == ("pose", "position", 1) else what
            distributions[path] = what
    return replace(task, scenario=scenario, randomise=distributions), agents


class ParallelEnvironment(ParallelEnv[str, NDArray[np.float32], NDArray[np.float32]]):  # type: ignore[misc]
    """Robots `sam_0`, `sam_1`, … , `spacing` metres apart to the north; each has the task, from where it began."""

    metadata: dict[str, Any] = {"name": "skerry", "render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(
        self,
        task: Task | str,
        robots: int = 2,
        *,
        spacing: float = 10.0,
        observation: Observation = "truth",
        randomise: Mapping[str, Distribution] | None = None,
        overrides: Mapping[str, Any] | None = None,
        steps: int | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        if robots < 1:
            raise SkerryError(f"a fleet has at least one robot, not {robots}")
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
        self._spaces = {name: spaces_of(task) for name in agents}
        self._generator = seeding.np_random()[0]
        self._actions = np.zeros((robots, len(task.commands)), np.float32)
        self._length = 0

    def observation_space(self, agent: str) -> Any:
        """What a robot sees."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> Any:
        """What a robot may do."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, dict[str, Any]]]:
        """Begin a new episode for all robots."""
        if seed is not None:
            self._generator = seeding.np_random(seed)[0]
        observations = self.episodes.new_observations()
        drawn = self.episodes.begin({0: int(self._generator.integers(MOST_SEED))}, observations)[0]
        self.agents = list(self.possible_agents)
        self._actions[:] = 0.0
        self._length = 0
        seen = {name: observations[row] for name, row in self._rows.items()}
        return seen, {name: dict(drawn) for name in self.agents}

    def step(
        self, actions: Mapping[str, NDArray[np.float32]]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Act for one step of control; a robot whose episode is over stays in the world as it was last commanded."""
        for name, action in actions.items():
            self._actions[self._rows[name]] = action
        observations = self.episodes.new_observations()
        errors = self.episodes.step(self._actions, observations)
        self._length += 1
        cut = bool(errors) or self._length >= self.max_episode_steps
        acting, verdicts = self.agents, self.episodes.ledger.verdicts
        rows = {name: self._rows[name] for name in acting}
        over = {name: bool(verdicts[row, OVER]) for name, row in rows.items()}
        rewards = {name: float(verdicts[row, REWARD]) for name, row in rows.items()}
        infos = {name: {"is_success": bool(verdicts[row, SUCCESS])} for name, row in rows.items()}
        self.agents = [] if cut else [name for name in acting if not over[name]]
        seen = {name: observations[row] for name, row in rows.items()}
        return seen, rewards, over, dict.fromkeys(acting, cut), infos

    def render(self) -> NDArray[np.uint8] | None:
        """A picture by the ray-traced camera that follows the first robot."""
        return None if self.render_mode is None else self.episodes.stage.picture(0)

    def close(self) -> None:
        """Free all memory; closing twice is harmless."""
        self.episodes.close()
