"""Batch of worlds of one scenario, stepped in native threads; each is bit-equal to a world stepped alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Clock
from skerry.core.errors import SkerryError
from skerry.physics.engine import Engine
from skerry.physics.model import Model
from skerry.scenario import Scenario
from skerry.world.robot import Parts


class BatchRobot:
    """Robot or object in all worlds of a batch; the first axis of its arrays is the world."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._root = engine.model.roots[name]
        self.forces = Parts("force", engine.model.laws[name])

    @property
    def position(self) -> NDArray[np.float64]:
        """Positions, (worlds, 3), m, ENU."""
        return self._engine.all_motion()[:, self._root, :3].copy()

    @property
    def orientation(self) -> NDArray[np.float64]:
        """Quaternions (x, y, z, w), (worlds, 4)."""
        return self._engine.all_motion()[:, self._root, 3:7].copy()

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Velocities of the origin of the root link, (worlds, 3), m/s, ENU."""
        return self._engine.all_motion()[:, self._root, 7:10].copy()

    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """Angular velocities, (worlds, 3), rad/s, ENU."""
        return self._engine.all_motion()[:, self._root, 10:13].copy()


class Batch:
    """Worlds of one structure. A world that fails stays at its last step, and the others continue.

    `failures` holds the error of each failed world, by index.
    """

    def __init__(self, scenarios: Sequence[Scenario], engine: Engine, clock: Clock) -> None:
        self.scenarios = list(scenarios)
        self.failures: dict[int, SkerryError] = {}
        self.robots = Parts("robot", {name: BatchRobot(engine, name) for name in scenarios[0].robots})
        self.objects = Parts("object", {name: BatchRobot(engine, name) for name in scenarios[0].objects})
        self._engine = engine
        self._clock = clock
        self._starts = engine.states.copy()

    def __len__(self) -> int:
        return len(self.scenarios)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<Batch of {self.scenarios[0].name}: {len(self)} worlds, t = {self.time:g} s{failed}>"

    @property
    def time(self) -> float:
        """Simulated time of the worlds that have not failed, s."""
        return self._clock.time

    def advance(self, seconds: float) -> None:
        """Simulate `seconds`, rounded to whole steps, in every world that has not failed."""
        steps = self._clock.steps_for(seconds)
        alive = [world for world in range(len(self)) if world not in self.failures]
        if alive:
            whole = len(alive) == len(self)
            self.failures |= self._engine.advance(steps, None if whole else alive)
        self._clock.advance(steps)

    @property
    def engine(self) -> Engine:
        """Physics engine; its arrays have one row per world."""
        return self._engine

    def reset(self, world: int) -> None:
        """Restart one world, independent of the time of the others."""
        self._engine.states[world] = self._starts[world]
        self._clear_failure(world)

    def replace(self, world: int, scenario: Scenario, model: Model) -> None:
        """Replace one world by another of the same structure; used by `rebuild` in `world/build.py`."""
        self._engine.replace(world, model)
        self.scenarios[world] = scenario

    def save_start(self, world: int) -> None:
        """Make the present state of a world the state that `reset` restores."""
        self._starts[world] = self._engine.states[world]
        self._clear_failure(world)

    def _clear_failure(self, world: int) -> None:
        self._engine.reset_motion(world)
        self.failures.pop(world, None)

    def state(self, world: int) -> bytes:
        """Return the physical state of one world; the same bytes as for a world stepped alone."""
        return self._engine.states[world].tobytes()

    def snapshot(self) -> NDArray[np.float64]:
        """Return the states of all worlds, (worlds, n)."""
        return self._engine.states.copy()

    def restore(self, states: NDArray[np.float64]) -> None:
        """Restore states that `snapshot` returned."""
        if states.shape != self._engine.states.shape:
            needed = self._engine.states.shape
            raise SkerryError(f"cannot restore states of shape {states.shape}; this batch needs {needed}")
        self._engine.states[:] = states
        self._engine.refresh()
        tick = round(float(self._engine.part("time").max()) / self._engine.step_length)
        self._clock.set_state(json.dumps([tick, 0, 1]).encode())
        self.failures.clear()

    def close(self) -> None:
        """Free the native memory; closing twice is harmless."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
