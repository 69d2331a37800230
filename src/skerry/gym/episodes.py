"""Episodes of a task in many worlds: they begin by their seeds, go on together, and are judged."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.noise import Noise
from skerry.gym.backend import Stage, camera_overrides
from skerry.gym.batch_backend import BatchStage, suits
from skerry.gym.distributions import Distribution
from skerry.gym.randomisation import Draws
from skerry.gym.rows import Agents, Ledger, take_actions
from skerry.gym.task import OVER, Task
from skerry.gym.world_backend import WorldStage
from skerry.scenario import load_scenario
from skerry.scenario.merging import merge, to_plain
from skerry.world import build_world

logger = logging.getLogger("skerry")

Observation = Literal["truth", "sensors"]
OBSERVATIONS = ("truth", "sensors")
PICTURE = (640, 360)  # pixels, width and height


class Episodes:
    """As many episodes as there are worlds; of each, one row for every robot that acts."""

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
        """`randomise` and `overrides` are laid over the task's own; `steps` of physics make a step of control.

        `agents` are the robots that act; that of the task alone by default. `whole_worlds` takes the stage on which
        everything works even where the fast one would do.
        """
        if observation not in OBSERVATIONS:
            hint = did_you_mean(str(observation), OBSERVATIONS)
            raise SkerryError(f"observation={observation!r}: an agent sees by truth or by sensors; {hint}")
        self.task = task
        self.worlds = worlds
        self.agents = dict(agents or {task.robot: (0.0, 0.0)})
        self.steps = task.steps if steps is None else steps
        if self.steps < 1 or worlds < 1:
            raise SkerryError(f"needs at least one step and one world (found {self.steps} and {worlds})")
        source: dict[str, Any] = merge(to_plain(task.scenario), to_plain(overrides or {}), lambda place: len(place) > 2)
        if render:
            source = merge(source, to_plain(camera_overrides(task, self.agents, PICTURE)))
        loaded = load_scenario(source)
        self.step_seconds = float(self.steps * loaded.scenario.step)
        self._draws = Draws(loaded, {**task.randomise, **(randomise or {})})
        rows = worlds * len(self.agents)
        self.ledger = Ledger(task, rows, separate=observation == "sensors")
        self._all_worlds, self._all_rows = np.arange(worlds), np.arange(rows)
        mirror = build_world(source)
        self.stage: Stage
        ropes_follow = bool(mirror.ropes) and self._draws.moves_robots  # what hangs on them must come along
        if observation == "truth" and not whole_worlds and not ropes_follow and suits(task, mirror):
            self.stage = BatchStage(task, source, mirror, self.agents, self.ledger, worlds, self.steps, threads)
        else:
            mirror.close()
            self.stage = WorldStage(task, source, self.agents, self.ledger, worlds, self.steps, threads)
        self._count = len(task.observations)
        self._actions = len(task.commands)

    @property
    def rows(self) -> int:
        """Robots of all worlds."""
        return len(self._all_rows)

    def begin(self, seeds: Mapping[int, int], observations: NDArray[np.float32]) -> dict[int, dict[str, Any]]:
        """Begin anew in some worlds, each with its seed; write what is seen there, and give what was drawn."""
        agents = len(self.agents)
        drawn = {}
        for world, seed in seeds.items():
            episode = self._draws.draw(seed)
            self.stage.begin(world, episode)
            drawn[world] = dict(episode.values)
            for agent, robot in enumerate(self.agents):
                noise = Noise(seed, f"{robot}/goal")
                goals = {name: float(what.at(noise.child(name).uniform(0))) for name, what in self.task.goals.items()}
                self.ledger.begin(world * agents + agent, list(goals.values()))
                drawn[world] |= {name if agents == 1 else f"{robot}.{name}": value for name, value in goals.items()}
        worlds = np.array(sorted(seeds), np.int64)
        rows = self._rows_of(worlds)
        self.stage.look(worlds)
        self.ledger.before[rows] = self.ledger.now[rows]
        self.ledger.observe(rows, observations)
        return drawn

    def step(
        self, actions: NDArray[Any], observations: NDArray[np.float32], worlds: NDArray[np.int64] | None = None
    ) -> dict[int, SkerryError]:
        """Act, go on and judge, in all worlds or in some; say what went wrong in which world, whose episode is over."""
        ledger = self.ledger
        if actions.shape != (self.rows, self._actions):
            raise SkerryError(f"an action is {self._actions} numbers for each robot, not {actions.shape}")
        if not take_actions(actions, ledger.actions):
            raise SkerryError("an action holds something that is not a number; numbers from −1 to 1 are expected")
        chosen: NDArray[np.int64] = self._all_worlds
        rows: NDArray[np.int64] = self._all_rows
        if worlds is not None:
            chosen, rows = worlds, self._rows_of(worlds)
        ledger.before[:] = ledger.now
        errors = self.stage.advance(ledger.actions, chosen)
        self.stage.look(chosen)
        ledger.judge(rows, observations)
        for world, error in errors.items():
            logger.warning("an episode is cut off: %s", error)
            ledger.verdicts[self._rows_of(np.array([world])), OVER] = 0.0
        return errors

    def new_observations(self) -> NDArray[np.float32]:
        """Room for what is seen, of all rows."""
        return np.empty((self.rows, self._count), np.float32)

    def _rows_of(self, worlds: NDArray[np.int64]) -> NDArray[np.int64]:
        agents = len(self.agents)
        return worlds if agents == 1 else (worlds[:, None] * agents + np.arange(agents)).ravel()

    def close(self) -> None:
        """Free all memory; closing twice is harmless."""
        self.stage.close()
