"""General backend: full worlds with sensors and controllers, each stepped in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.backend import Backend, render_camera
from skerry.gym.command_map import CommandMap
from skerry.gym.randomisation import Episode
from skerry.gym.sensor_features import SensorFeatures, true_scan
from skerry.gym.step_buffers import Agents, FeatureWriter, StepBuffers
from skerry.gym.task import ActionCommand, Task
from skerry.parts.controller import Setpoint
from skerry.rays.threads import processors
from skerry.world import World, build_world


class EpisodeWorld:
    """World of one episode, with its feature writer and command map."""

    def __init__(self, task: Task, world: World, agents: Agents, buffers: StepBuffers, first: int) -> None:
        self.world = world
        self._task = task
        self._agents = agents
        self._robots = [world.robots[name] for name in agents]
        self._rows = slice(first, first + len(agents))
        self._buffers = buffers
        engine = self._robots[0].engine
        self._userdata = engine.part("userdata")
        self._commands = CommandMap(task, self._robots)
        self._feature_writer = FeatureWriter(engine, task, agents, buffers.now[self._rows])
        self._setpoints: list[tuple[int, int, ActionCommand, Setpoint]] = []
        for agent, robot in enumerate(self._robots):
            for number, command in enumerate(task.commands):
                for controller, setpoint in command.manual_setpoints:
                    found = robot.controllers[controller].manual_setpoints()[setpoint]
                    self._setpoints.append((agent, number, command, found))
                for name in command.actuators:
                    robot.actuators[name].owner = "api"
        self._sensor_features: list[SensorFeatures] = []
        if buffers.observed is not buffers.now:
            self._sensor_features = [SensorFeatures(task, world, robot, agents[robot.name]) for robot in self._robots]

    def command(self, actions: NDArray[np.float64]) -> None:
        own = actions[self._rows]
        self._commands.write(own, _ONE, self._userdata)
        for agent, number, command, setpoint in self._setpoints:
            setpoint.set(0.5 * (command.low + command.high) + 0.5 * (command.high - command.low) * own[agent, number])

    def update_features(self) -> None:
        self._feature_writer.update()
        if self._task.scan is not None:
            for row, origin in zip(self._buffers.now[self._rows], self._agents.values(), strict=True):
                true_scan(self._task, self.world, origin, row)
        observed, sources = self._buffers.observed[self._rows], self._sensor_features
        for row, source in zip(observed, sources, strict=bool(sources)):
            source.update(row)


_ONE = np.zeros(1, np.int64)


class WorldBackend(Backend):
    """Worlds that are rebuilt for each episode."""

    def __init__(
        self,
        task: Task,
        source: Mapping[str, Any],
        agents: Agents,
        buffers: StepBuffers,
        worlds: int,
        steps: int,
        threads: int,
    ) -> None:
        self._task = task
        self._source = source
        self._agents = agents
        self._buffers = buffers
        self._steps = steps
        self._episode_worlds: list[EpisodeWorld | None] = [None] * worlds
        threads = min(threads or processors(), worlds)
        self._pool = ThreadPoolExecutor(threads, "skerry-gym") if threads > 1 else None

    def reset(self, world: int, episode: Episode) -> None:
        if (before := self._episode_worlds[world]) is not None:
            before.world.close()
        built = build_world(self._source, episode.seed, episode.overrides)
        for name, pose in episode.poses.items():
            built.teleport(name, pose)
        first = world * len(self._agents)
        self._episode_worlds[world] = EpisodeWorld(self._task, built, self._agents, self._buffers, first)
        if self._buffers.observed is not self._buffers.now:
            self._buffers.observed[first : first + len(self._agents)] = 0.0

    def advance(self, actions: NDArray[np.float64], worlds: NDArray[np.int64]) -> dict[int, SkerryError]:
        def go(world: int) -> SkerryError | None:
            episode_world = self._episode_world(world)
            episode_world.command(actions)
            try:
                episode_world.world.advance_steps(self._steps)
            except SkerryError as error:
                return error
            return None

        chosen = worlds.tolist()
        results = map(go, chosen) if self._pool is None else self._pool.map(go, chosen)
        return {world: error for world, error in zip(chosen, results, strict=True) if error is not None}

    def update_features(self, worlds: NDArray[np.int64]) -> None:
        for world in worlds.tolist():
            self._episode_world(world).update_features()

    def render(self, world: int) -> NDArray[np.uint8]:
        return render_camera(self._episode_world(world).world, next(iter(self._agents)))

    def close(self) -> None:
        for episode_world in self._episode_worlds:
            if episode_world is not None:
                episode_world.world.close()
        if self._pool is not None:
            self._pool.shutdown()

    def _episode_world(self, world: int) -> EpisodeWorld:
        episode_world = self._episode_worlds[world]
        if episode_world is None:
            raise SkerryError("the world has no episode yet; call `reset` first")
        return episode_world
