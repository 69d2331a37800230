"""The stage on which everything works: whole worlds with sensors and controllers, each stepped in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.backend import Stage, take_picture
from skerry.gym.command_map import CommandMap
from skerry.gym.randomisation import Episode
from skerry.gym.rows import Agents, Ledger, Lookout
from skerry.gym.sensor_features import Senses, true_scan
from skerry.gym.task import Command, Task
from skerry.parts.controller import Setpoint
from skerry.rays.threads import processors
from skerry.world import World, build_world


class Play:
    """One world with all that looks at it and commands it, for the length of an episode."""

    def __init__(self, task: Task, world: World, agents: Agents, ledger: Ledger, first: int) -> None:
        self.world = world
        self._task = task
        self._agents = agents
        self._robots = [world.robots[name] for name in agents]
        self._rows = slice(first, first + len(agents))
        self._ledger = ledger
        engine = self._robots[0].engine
        self._userdata = engine.part("userdata")
        self._commands = CommandMap(task, self._robots)
        self._lookout = Lookout(engine, task, agents, ledger.now[self._rows])
        self._dials: list[tuple[int, int, Command, Setpoint]] = []
        for agent, robot in enumerate(self._robots):
            for number, command in enumerate(task.commands):
                for controller, dial in command.manual_setpoints:
                    found = robot.controllers[controller].manual_setpoints()[dial]
                    self._dials.append((agent, number, command, found))
                for name in command.actuators:
                    robot.actuators[name].owner = "api"
        self._senses: list[Senses] = []
        if ledger.seen is not ledger.now:
            self._senses = [Senses(task, world, robot, agents[robot.name]) for robot in self._robots]

    def command(self, actions: NDArray[np.float64]) -> None:
        own = actions[self._rows]
        self._commands.write(own, _ONE, self._userdata)
        for agent, number, command, dial in self._dials:
            dial.set(0.5 * (command.low + command.high) + 0.5 * (command.high - command.low) * own[agent, number])

    def look(self) -> None:
        self._lookout.look()
        if self._task.scan is not None:
            for row, origin in zip(self._ledger.now[self._rows], self._agents.values(), strict=True):
                true_scan(self._task, self.world, origin, row)
        for row, senses in zip(self._ledger.seen[self._rows], self._senses, strict=bool(self._senses)):
            senses.look(row)


_ONE = np.zeros(1, np.int64)


class WorldStage(Stage):
    """Worlds that are built anew for each episode."""

    def __init__(
        self,
        task: Task,
        source: Mapping[str, Any],
        agents: Agents,
        ledger: Ledger,
        worlds: int,
        steps: int,
        threads: int,
    ) -> None:
        self._task = task
        self._source = source
        self._agents = agents
        self._ledger = ledger
        self._steps = steps
        self._plays: list[Play | None] = [None] * worlds
        threads = min(threads or processors(), worlds)
        self._pool = ThreadPoolExecutor(threads, "skerry-gym") if threads > 1 else None

    def begin(self, world: int, episode: Episode) -> None:
        if (before := self._plays[world]) is not None:
            before.world.close()
        built = build_world(self._source, episode.seed, episode.overrides)
        for name, pose in episode.poses.items():
            built.teleport(name, pose)
        first = world * len(self._agents)
        self._plays[world] = Play(self._task, built, self._agents, self._ledger, first)
        if self._ledger.seen is not self._ledger.now:
            self._ledger.seen[first : first + len(self._agents)] = 0.0

    def advance(self, actions: NDArray[np.float64], worlds: NDArray[np.int64]) -> dict[int, SkerryError]:
        def go(world: int) -> SkerryError | None:
            play = self._play(world)
            play.command(actions)
            try:
                play.world.advance_steps(self._steps)
            except SkerryError as error:
                return error
            return None

        chosen = worlds.tolist()
        results = map(go, chosen) if self._pool is None else self._pool.map(go, chosen)
        return {world: error for world, error in zip(chosen, results, strict=True) if error is not None}

    def look(self, worlds: NDArray[np.int64]) -> None:
        for world in worlds.tolist():
            self._play(world).look()

    def picture(self, world: int) -> NDArray[np.uint8]:
        return take_picture(self._play(world).world, next(iter(self._agents)))

    def close(self) -> None:
        for play in self._plays:
            if play is not None:
                play.world.close()
        if self._pool is not None:
            self._pool.shutdown()

    def _play(self, world: int) -> Play:
        play = self._plays[world]
        if play is None:
            raise SkerryError("this world has not begun yet; call `reset` first")
        return play
