"""A multirotor that fetches a vehicle out of the sea by the rope that floats beside it, and sets it down elsewhere.

It flies beside the middle of the rope, lowers its hook below the surface, sweeps across the rope at a right angle until
the hook has it, climbs until the rope has run through and the vehicle hangs from its winch, carries it over, lowers it
until it floats, lets go and climbs away. A sweep that misses is flown again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

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
NEAR: Final = 0.3  # m within which a place has been reached
SLOW: Final = 0.3  # m/s below which it has come to rest
AFLOAT: Final = 0.3  # share of the load's weight that the rope still bears when it floats


class RopeRecoveryController(SuspendedLoadController):
    """Fetches a vehicle by its rope; `task` says what it is at."""

    _config: RopeRecovery

    def __init__(self, config: RopeRecovery) -> None:
        super().__init__(config)
        self._task = 0
        self._middle: Floats = np.zeros(3)  # of the rope, when the sweep began
        self._across: Floats = np.array([1.0, 0.0, 0.0])  # the way of the sweep, level
        self._swept = 0.0  # m
        self._aim: Floats = np.zeros(3)
        self._heaviest = 0.0  # pull of the load in the air, N

    @property
    def task(self) -> Task:
        """What it is at."""
        return TASKS[self._task]

    def native_controller(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController | None:
        return super().native_controller(view, actuators) if self.task == "done" else None

    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        self._work(sample, actuators)
        if self.task != "done":
            self._memory[MODE], self._memory[POINT : POINT + 3] = AT_POINT, self._aim
        super().act(sample, sensors, actuators)

    # -------------------------------------------------------------------------------------------- the tasks

    def _work(self, sample: SampleView, actuators: Mapping[str, Actuator]) -> None:
        config = self._config
        own, caught = sample.rope(config.rope), sample.rope(config.catch)
        motion = sample.motion(config.link)
        here, speed = motion[:3], float(np.linalg.norm(motion[7:10]))
        winch = actuators[config.winch]
        task = self.task
        if task in ("lower", "sweep", "approach") and own.phase == "pulley":
            self._begin("hoist")
            self._aim = here.copy()
        if task == "approach":
            self._look_at_rope(caught)
            winch.command(length=config.hook_length)
            surface = float(sample.surface_height(self._middle))
            self._aim = self._beside(-config.run_up, surface + config.cruise_height)
            if self._is_at(here, speed):
                self._begin("lower")
        elif task == "lower":
            surface = float(sample.surface_height(self._middle))
            height = surface + config.hook_length - config.hook_depth
            self._aim = self._beside(-config.run_up, height)
            if self._is_at(here, speed):
                self._begin("sweep")
                self._swept = -config.run_up
        elif task == "sweep":
            self._swept += config.sweep_speed * self._constants[PERIOD]
            height = float(sample.surface_height(here)) + config.hook_length - config.hook_depth
            self._aim = self._beside(self._swept, height)
            if self._swept > config.run_up:
                self._begin("approach")  # it missed
        elif task == "hoist":
            self._aim[2] += config.climb_speed * self._constants[PERIOD]
            if own.loaded:
                self._begin("carry")
                self._aim = own.points[-1].copy()  # from now on it is the load's place
                self._heaviest = 0.0
        elif task == "carry":
            self._heaviest = max(self._heaviest, float(self._memory[PULL]))
            goal = np.array(config.set_down)
            goal[2] = float(sample.surface_height(goal)) + config.carry_height
            load = own.points[-1]
            if load[2] < goal[2] - 0.5 and np.linalg.norm(self._aim[:2] - load[:2]) < 1.0:
                self._aim[2] = min(
                    self._aim[2] + config.climb_speed * self._constants[PERIOD], goal[2]
                )  # straight up first
            else:
                self._aim = goal
            if np.linalg.norm(load - goal) < NEAR and np.linalg.norm(own.velocities[-1]) < SLOW:
                self._begin("set_down")
        elif task == "set_down":
            self._aim[2] -= 0.5 * config.climb_speed * self._constants[PERIOD]
            if self._memory[PULL] < AFLOAT * self._heaviest or not own.loaded:
                winch.command(release=1.0)
                self._begin("leave")
                self._aim = here + np.array([0.0, 0.0, config.cruise_height])
        elif task == "leave" and self._is_at(here, speed):
            self._begin("done")
            self._memory[MODE], self._memory[POINT : POINT + 3] = self._configured_mode, self._aim

    def _begin(self, task: Task) -> None:
        self._task = TASKS.index(task)

    def _is_at(self, here: Floats, speed: float) -> bool:
        return bool(np.linalg.norm(here - self._aim) < NEAR and speed < SLOW)

    def _beside(self, way: float, height: float) -> Floats:
        place = self._middle + way * self._across
        place[2] = height
        return np.asarray(place)

    def _look_at_rope(self, rope: Any) -> None:
        """Find the middle of the rope, and the level direction across it."""
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
        numbers = [self._task, *self._middle, *self._across, self._swept, *self._aim, self._heaviest]
        return np.array(numbers, np.float64).tobytes() + super().state()

    def set_state(self, state: bytes) -> None:
        numbers = np.frombuffer(state[: 8 * 12])
        self._task = int(numbers[0])
        self._middle, self._across, self._swept = numbers[1:4].copy(), numbers[4:7].copy(), float(numbers[7])
        self._aim, self._heaviest = numbers[8:11].copy(), float(numbers[11])
        super().set_state(state[8 * 12 :])


class RopeRecovery(SuspendedLoad):
    """Fetching a vehicle by its rope with a hook on a winch."""

    kind: Literal["rope_recovery"] = "rope_recovery"  # type: ignore[assignment]
    winch: str = Field("winch", min_length=1, description="the winch of its rope")
    catch: str = Field(min_length=1, description="the rope to be caught: its name, or robot/rope")
    set_down: Vector3 = Field(description="where the load is set down, m; its height does not matter")
    hook_length: Positive = Field(2.0, description="m of rope that the hook hangs on while it fishes")
    hook_depth: Positive = Field(0.15, description="m below the surface at which the hook sweeps")
    run_up: Positive = Field(2.0, description="m beside the rope where a sweep begins and ends")
    sweep_speed: Positive = Field(0.5, description="m/s")
    cruise_height: Positive = Field(5.0, description="m above the surface")
    carry_height: Positive = Field(1.5, description="m of the load above the surface while it is carried")
    climb_speed: Positive = Field(0.5, description="m/s")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return (*self.propellers, self.winch)

    def build(self) -> RopeRecoveryController:
        return RopeRecoveryController(self)
