"""Recovery of a floating vehicle by a multirotor with a hook on a winch.

The multirotor flies beside the middle of the rope that floats next to the vehicle, and lowers its hook below the
surface. It sweeps across the rope at a right angle until the hook catches it. It climbs until the rope has run
through the hook and the vehicle hangs from the winch. It carries the vehicle to another position, lowers it until it
floats, releases it and climbs. A sweep that misses the rope is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.control.suspended_load import SuspendedLoad, SuspendedLoadController
from skerry.control.tracking.native_tracking import AT_POINT, MODE, PERIOD, POINT, PULL
from skerry.core.config import Positive, Vector3
from skerry.parts.actuator import Actuator
from skerry.parts.native_controller import NativeController, NativeView
from skerry.parts.sensor import SampleView

Floats = NDArray[np.float64]
Task = Literal["approach", "lower", "sweep", "hoist", "carry", "set_down", "leave", "done"]
TASKS: Final[tuple[Task, ...]] = ("approach", "lower", "sweep", "hoist", "carry", "set_down", "leave", "done")
ARRIVAL_DISTANCE: Final = 0.3  # distance from the aim point at which it is reached, m
REST_SPEED: Final = 0.3  # speed below which the vehicle or the load counts as at rest, m/s
FLOATING_PULL: Final = 0.3  # pull of the rope below which the load floats, as a fraction of the pull in air
MIN_RISE: Final = 0.5  # m; a load lower than this below its carrying height is first lifted straight up
MAX_SIDEWAYS: Final = 1.0  # largest horizontal distance of the load from the aim point while it is lifted, m


@dataclass(frozen=True)
class _Inputs:
    """Values that the tasks read in one act."""

    sample: SampleView
    rope: Any  # own rope with the hook
    caught: Any  # rope to be caught
    position: Floats  # position of the multirotor, m, (3,)
    speed: float  # speed of the multirotor, m/s
    winch: Actuator


class RopeRecoveryController(SuspendedLoadController):
    """Recovery of a vehicle by its rope, as a sequence of tasks."""

    _config: RopeRecovery

    def __init__(self, config: RopeRecovery) -> None:
        super().__init__(config)
        self._task = 0  # index in TASKS
        self._middle: Floats = np.zeros(3)  # middle of the rope at the start of the sweep, m
        self._across: Floats = np.array([1.0, 0.0, 0.0])  # horizontal direction of the sweep
        self._swept = 0.0  # position along the sweep, m; 0 at the rope
        self._aim: Floats = np.zeros(3)  # point that the multirotor, or its load, flies to, m
        self._largest_pull = 0.0  # pull of the load in air, N

    @property
    def task(self) -> Task:
        """Name of the present task."""
        return TASKS[self._task]

    @property
    def status(self) -> str:
        return super().status if self.idle else f"task {self.task}"

    def native_controller(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController | None:
        return super().native_controller(view, actuators) if self.task == "done" else None

    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        self._run_task(sample, actuators)
        if self.task != "done":
            self._memory[MODE], self._memory[POINT : POINT + 3] = AT_POINT, self._aim
        super().act(sample, sensors, actuators)

    # -------------------------------------------------------------------------------------------- the tasks

    def _run_task(self, sample: SampleView, actuators: Mapping[str, Actuator]) -> None:
        """Run the present task: set the aim point, command the winch, and start the next task if this one is done."""
        now = self._read_inputs(sample, actuators)
        task = self.task
        if task in ("lower", "sweep", "approach") and now.rope.phase in ("pulley", "carrying"):
            self._start("hoist")
            self._aim = now.position.copy()
        steps = {
            "approach": self._approach,
            "lower": self._lower,
            "sweep": self._sweep,
            "hoist": self._hoist,
            "carry": self._carry,
            "set_down": self._set_down,
            "leave": self._leave,
        }
        if task in steps:
            steps[task](now)

    def _read_inputs(self, sample: SampleView, actuators: Mapping[str, Actuator]) -> _Inputs:
        config = self._config
        motion = sample.motion(config.link)
        speed = float(np.linalg.norm(motion[7:10]))
        ropes = sample.rope(config.rope), sample.rope(config.catch)
        return _Inputs(sample, *ropes, motion[:3], speed, actuators[config.winch])

    def _approach(self, now: _Inputs) -> None:
        """Fly to the start of the sweep at cruise height, with the hook paid out."""
        config = self._config
        self._locate_rope(now.caught)
        now.winch.command(length=config.hook_length)
        surface = float(now.sample.surface_height(self._middle))
        self._aim = self._point_on_sweep(-config.run_up, surface + config.cruise_height)
        if self._has_arrived(now):
            self._start("lower")

    def _lower(self, now: _Inputs) -> None:
        """Descend until the hook is below the surface."""
        self._aim = self._point_on_sweep(-self._config.run_up, self._sweep_height(now, self._middle))
        if self._has_arrived(now):
            self._start("sweep")
            self._swept = -self._config.run_up

    def _sweep(self, now: _Inputs) -> None:
        """Move the hook across the rope; start again if it misses."""
        config = self._config
        self._swept += config.sweep_speed * self._constants[PERIOD]
        self._aim = self._point_on_sweep(self._swept, self._sweep_height(now, now.position))
        if self._swept > config.run_up:
            self._start("approach")

    def _hoist(self, now: _Inputs) -> None:
        """Climb until the load hangs from the winch; then the aim point is that of the load."""
        self._aim[2] += self._config.climb_speed * self._constants[PERIOD]
        if now.rope.loaded:
            self._start("carry")
            self._aim = now.rope.points[-1].copy()
            self._largest_pull = 0.0

    def _carry(self, now: _Inputs) -> None:
        """Lift the load straight up to its carrying height, then move it over the position to set it down."""
        config = self._config
        self._largest_pull = max(self._largest_pull, float(self._memory[PULL]))
        goal = np.array(config.set_down)
        goal[2] = float(now.sample.surface_height(goal)) + config.carry_height
        load = now.rope.points[-1]
        if load[2] < goal[2] - MIN_RISE and np.linalg.norm(self._aim[:2] - load[:2]) < MAX_SIDEWAYS:
            self._aim[2] = min(self._aim[2] + config.climb_speed * self._constants[PERIOD], goal[2])
        else:
            self._aim = goal
        if np.linalg.norm(load - goal) < ARRIVAL_DISTANCE and np.linalg.norm(now.rope.velocities[-1]) < REST_SPEED:
            self._start("set_down")

    def _set_down(self, now: _Inputs) -> None:
        """Lower the load until it floats, and release it."""
        config = self._config
        self._aim[2] -= 0.5 * config.climb_speed * self._constants[PERIOD]
        if self._memory[PULL] < FLOATING_PULL * self._largest_pull or not now.rope.loaded:
            now.winch.command(release=1.0)
            self._start("leave")
            self._aim = now.position + np.array([0.0, 0.0, config.cruise_height])

    def _leave(self, now: _Inputs) -> None:
        """Climb away; afterwards the controller tracks as its settings say."""
        if self._has_arrived(now):
            self._start("done")
            self._memory[MODE], self._memory[POINT : POINT + 3] = self._configured_mode, self._aim

    # -------------------------------------------------------------------------------------------- helpers

    def _start(self, task: Task) -> None:
        self._task = TASKS.index(task)

    def _has_arrived(self, now: _Inputs) -> bool:
        """Return whether the multirotor is at rest at the aim point."""
        return bool(np.linalg.norm(now.position - self._aim) < ARRIVAL_DISTANCE and now.speed < REST_SPEED)

    def _sweep_height(self, now: _Inputs, point: Floats) -> float:
        """Return the height of the multirotor at which the hook is `hook_depth` below the surface, m."""
        return float(now.sample.surface_height(point)) + self._config.hook_length - self._config.hook_depth

    def _point_on_sweep(self, distance: float, height: float) -> Floats:
        """Return the point of the sweep at a distance from the rope and a height, m."""
        point = self._middle + distance * self._across
        point[2] = height
        return np.asarray(point)

    def _locate_rope(self, rope: Any) -> None:
        """Find the middle of the rope and the horizontal direction across it."""
        points = rope.points
        if len(points) < 2:
            return
        self._middle = points[len(points) // 2].copy()
        along = points[3 * len(points) // 4] - points[len(points) // 4]
        size = float(np.hypot(along[0], along[1]))
        if size > 1e-6:
            self._across = np.array([-along[1] / size, along[0] / size, 0.0])

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        numbers = [self._task, *self._middle, *self._across, self._swept, *self._aim, self._largest_pull]
        return np.array(numbers, np.float64).tobytes() + super().state()

    def set_state(self, state: bytes) -> None:
        numbers = np.frombuffer(state[: 8 * 12])
        self._task = int(numbers[0])
        self._middle, self._across, self._swept = numbers[1:4].copy(), numbers[4:7].copy(), float(numbers[7])
        self._aim, self._largest_pull = numbers[8:11].copy(), float(numbers[11])
        super().set_state(state[8 * 12 :])


class RopeRecovery(SuspendedLoad):
    """Settings of the recovery of a vehicle by its rope, with a hook on a winch."""

    example_vehicle = "quadrotor"

    kind: Literal["rope_recovery"] = "rope_recovery"  # type: ignore[assignment]
    winch: str = Field("winch", min_length=1, description="winch of its rope")
    catch: str = Field(min_length=1, description="rope to catch: its name, or robot/rope")
    set_down: Vector3 = Field(description="position at which the load is set down, m; its z is ignored")
    hook_length: Positive = Field(2.0, description="length of rope paid out during the sweep, m")
    hook_depth: Positive = Field(0.15, description="depth of the hook during the sweep, m")
    run_up: Positive = Field(2.0, description="distance from the rope at which a sweep starts and ends, m")
    sweep_speed: Positive = Field(0.5, description="speed of the sweep, m/s")
    cruise_height: Positive = Field(5.0, description="height above the surface between the tasks, m")
    carry_height: Positive = Field(1.5, description="height of the load above the surface while it is carried, m")
    climb_speed: Positive = Field(0.5, description="speed of climbing, m/s; the load is lowered at half of it")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return (*self.propellers, self.winch)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"catch": "lift", "set_down": [3, 0, 0]} | settings)

    def build(self) -> RopeRecoveryController:
        return RopeRecoveryController(self)
