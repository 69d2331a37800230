"""Fast backend: all worlds are rows of one batch, stepped in native threads, with one Python call per step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.gym.backend import Backend, render_camera
from skerry.gym.command_map import CommandMap
from skerry.gym.randomisation import Episode
from skerry.gym.step_buffers import Agents, FeatureWriter, StepBuffers
from skerry.gym.task import Task
from skerry.world import World, build_batch, build_world
from skerry.world.build import depends_on_seed, rebuild


def can_use_batch(task: Task, world: World) -> bool:
    """Return whether a task needs no Python code between steps: no setpoint, scan, event or active controller."""
    acting = any(not part.idle for robot in world.robots.values() for part in robot.controllers.values())
    manual_setpoints = any(command.manual_setpoints for command in task.commands)
    return not (acting or manual_setpoints or task.scan or world.scenario.events or world.water.raises_outside)


class BatchBackend(Backend):
    """Worlds that differ in values only. An additional world of the same scenario, the mirror, renders them."""

    def __init__(
        self,
        task: Task,
        source: Mapping[str, Any],
        mirror: World,
        agents: Agents,
        buffers: StepBuffers,
        worlds: int,
        steps: int,
        threads: int,
    ) -> None:
        self._source = source
        self._mirror = mirror
        self._mirrored: Episode | None = None  # episode whose values the mirror has
        self._episodes: list[Episode | None] = [None] * worlds
        self._agents = agents
        self._steps = steps
        self._batch = build_batch(source, [0] * worlds, threads=threads)
        self._engine = self._batch.engine
        self._userdata = self._engine.part("userdata")
        self._changes_with_seed = depends_on_seed(mirror.scenario)
        self._commands = CommandMap(task, [mirror.robots[name] for name in agents])
        self._feature_writer = FeatureWriter(self._engine, task, agents, buffers.now)

    def reset(self, world: int, episode: Episode) -> None:
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

    def update_features(self, worlds: NDArray[np.int64]) -> None:
        self._feature_writer.update()

    def render(self, world: int) -> NDArray[np.uint8]:
        episode = self._episodes[world]
        if self._mirrored is not episode and episode is not None:
            if self._changes_with_seed or episode.overrides or (self._mirrored and self._mirrored.overrides):
                self._mirror.close()
                self._mirror = build_world(self._source, episode.seed, episode.overrides)
            self._mirrored = episode
        self._mirror.load_state(self._batch.state(world))
        return render_camera(self._mirror, next(iter(self._agents)))

    def close(self) -> None:
        self._batch.close()
        self._mirror.close()
