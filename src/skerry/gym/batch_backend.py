"""The fast stage: all worlds are rows of one batch, stepped in native threads; Python touches them once a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.backend import Stage, take_picture
from skerry.gym.command_map import CommandMap
from skerry.gym.randomisation import Episode
from skerry.gym.rows import Agents, Ledger, Lookout
from skerry.gym.task import Task
from skerry.world import World, build_batch, build_world
from skerry.world.build import depends_on_seed, rebuild


def suits(task: Task, world: World) -> bool:
    """Whether nothing in Python has to happen on the way: no dial, scan, event or controller that acts."""
    acting = any(not part.idle for robot in world.robots.values() for part in robot.controllers.values())
    manual_setpoints = any(command.manual_setpoints for command in task.commands)
    return not (acting or manual_setpoints or task.scan or world.scenario.events or world.water.raises_outside)


class BatchStage(Stage):
    """Worlds that differ in values only. One world beside them, of the same scenario, shows them."""

    def __init__(
        self,
        task: Task,
        source: Mapping[str, Any],
        mirror: World,
        agents: Agents,
        ledger: Ledger,
        worlds: int,
        steps: int,
        threads: int,
    ) -> None:
        self._source = source
        self._mirror = mirror
        self._mirrored: Episode | None = None  # of which the mirror has the values
        self._episodes: list[Episode | None] = [None] * worlds
        self._agents = agents
        self._steps = steps
        self._batch = build_batch(source, [0] * worlds, threads=threads)
        self._engine = self._batch.engine
        self._userdata = self._engine.part("userdata")
        self._changes_with_seed = depends_on_seed(mirror.scenario)
        self._commands = CommandMap(task, [mirror.robots[name] for name in agents])
        self._lookout = Lookout(self._engine, task, agents, ledger.now)

    def begin(self, world: int, episode: Episode) -> None:
        before, self._episodes[world] = self._episodes[world], episode
        if self._changes_with_seed or episode.overrides or (before is not None and before.overrides):
            rebuild(self._batch, world, self._source, episode.seed, episode.overrides)
        else:
            self._batch.reset(world)
        for name, pose in episode.poses.items():
            self._engine.set_pose(world, self._engine.model.roots[name], pose)

    def advance(self, actions: NDArray[np.float64], worlds: NDArray[np.int64]) -> dict[int, SkerryError]:
        self._commands.write(actions, worlds, self._userdata)
        whole = len(worlds) == len(self._episodes)
        return self._engine.advance(self._steps, None if whole else worlds.tolist())

    def look(self, worlds: NDArray[np.int64]) -> None:
        self._lookout.look()

    def picture(self, world: int) -> NDArray[np.uint8]:
        episode = self._episodes[world]
        if self._mirrored is not episode and episode is not None:
            if self._changes_with_seed or episode.overrides or (self._mirrored and self._mirrored.overrides):
                self._mirror.close()
                self._mirror = build_world(self._source, episode.seed, episode.overrides)
            self._mirrored = episode
        self._mirror.load_state(self._batch.state(world))
        return take_picture(self._mirror, next(iter(self._agents)))

    def close(self) -> None:
        self._batch.close()
        self._mirror.close()
