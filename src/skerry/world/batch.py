"""Many worlds of one scenario, stepped in native threads; each is bit-equal to stepping it alone."""

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
    """One robot in all worlds of a batch: arrays with a first axis over the worlds."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._root = engine.model.roots[name]
        self.forces = Parts("force", engine.model.laws[name])

    @property
    def position(self) -> NDArray[np.float64]:
        """(worlds, 3), ENU."""
        return self._engine.all_motion()[:, self._root, :3].copy()

    @property
    def orientation(self) -> NDArray[np.float64]:
        """(worlds, 4), quaternions x, y, z, w."""
        return self._engine.all_motion()[:, self._root, 3:7].copy()

    @property
    def velocity(self) -> NDArray[np.float64]:
        """(worlds, 3), of the root link's origin, in the world's axes."""
        return self._engine.all_motion()[:, self._root, 7:10].copy()

    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """(worlds, 3), in the world's axes."""
        return self._engine.all_motion()[:, self._root, 10:13].copy()


class Batch:
    """Worlds of one structure. A world that fails stays where it was, and the others go on; see `failures`."""

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

    @property
    def time(self) -> float:
        """Simulated time of the worlds that have not failed, s."""
        return self._clock.time

    def advance(self, seconds: float) -> None:
        """Simulate so many seconds in every world that has not failed."""
        steps = self._clock.steps_for(seconds)
        alive = [world for world in range(len(self)) if world not in self.failures]
        if alive:
            whole = len(alive) == len(self)
            self.failures |= self._engine.advance(steps, None if whole else alive)
        self._clock.advance(steps)

    @property
    def engine(self) -> Engine:
        """What steps them; its arrays are those of all worlds, one row each."""
        return self._engine

    def reset(self, world: int) -> None:
        """Let one world begin anew, whatever the time of the others."""
        self._engine.states[world] = self._starts[world]
        self._begin(world)

    def replace(self, world: int, scenario: Scenario, model: Model) -> None:
        """Let one world begin anew as another one of the same structure; `rebuild` of `world/build.py` makes it."""
        self._engine.replace(world, model)
        self.scenarios[world] = scenario

    def keep_start(self, world: int) -> None:
        """Take the state that a world is in as the one that it begins with."""
        self._starts[world] = self._engine.states[world]
        self._begin(world)

    def _begin(self, world: int) -> None:
        self._engine.reset_motion(world)
        self.failures.pop(world, None)

    def state(self, world: int) -> bytes:
        """The physical state of one world: the same bytes as those of the world stepped alone."""
        return self._engine.states[world].tobytes()

    def snapshot(self) -> NDArray[np.float64]:
        """The states of all worlds, (worlds, n)."""
        return self._engine.states.copy()

    def restore(self, states: NDArray[np.float64]) -> None:
        """Go back to states that `snapshot` gave."""
        if states.shape != self._engine.states.shape:
            raise SkerryError(f"these are states of shape {states.shape}; this batch has {self._engine.states.shape}")
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
