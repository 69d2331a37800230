"""Task: scenario, commands, observation and reward of an environment; one file of `tasks/` each.

A task reads *features* of a robot: first those named here, then its `joints` (rad or m), then position and velocity of
each of its `others` in the world (six numbers), then the sectors of its `scan`. With `observation="truth"` they are
true values; with "sensors" they come from the robot's own sensors.

A task has two native functions, compiled by numba, so that a step of a thousand worlds costs one Python call. They read
and write arrays of numbers:

- `observe(now, goal, action, memory, observation)` writes the observation;
- `reward(before, now, goal, action, memory, outcome)` writes `REWARD`, `TERMINATED` and `SUCCESS`.

`before` and `now` are features; those of `reward` are always true values. `goal` holds the numbers drawn for this
episode. `action` holds the action of this step, then the previous action, each from −1 to 1. `memory` holds numbers of
the task itself, 0 at the start of an episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from numba import types

from skerry.control.loops.navigation import NavigationConfig
from skerry.core.errors import SkerryError
from skerry.core.kernels import native
from skerry.gym.distributions import Distribution
from skerry.scenario import Scenario

# ------------------------------------------------------------------------------------------------ features of a robot
TIME: Final = 0  # s since the start of the episode
X, Y, Z = 1, 2, 3  # m, of the root link's origin in the world (ENU)
ROLL, PITCH, YAW = 4, 5, 6  # rad; pitch is positive with the nose down, yaw turns left from east
U, V, W = 7, 8, 9  # m/s: forward, left and up, in body axes
P, Q, R = 10, 11, 12  # rad/s about the body axes
QX, QY, QZ, QW = 13, 14, 15, 16  # attitude as a quaternion
BASE_FEATURES: Final = 17  # number of base features; joints, others and scan follow
OBJECT_FEATURES: Final = 6  # features per other object: position and velocity

REWARD, TERMINATED, SUCCESS, OUTCOME = 0, 1, 2, 3

_numbers = types.CPointer(types.float64)
observe = native(types.void(*[_numbers] * 5))
"""Decorator of a task's function `(now, goal, action, memory, observation)`."""
reward = native(types.void(*[_numbers] * 6))
"""Decorator of a task's function `(before, now, goal, action, memory, outcome)`."""


@dataclass(frozen=True)
class ActionCommand:
    """Element of an action, from −1 to 1, and the actuators or controller setpoints (`flight.roll_deg`) it commands.

    −1 maps to `low` and 1 to `high`, in the unit of the actuator's command.
    """

    names: tuple[str, ...]
    low: float
    high: float

    def __init__(self, *names: str, low: float, high: float) -> None:
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def manual_setpoints(self) -> tuple[tuple[str, str], ...]:
        """Controller and setpoint of each name of the form `controller.setpoint`."""
        return tuple((name.split(".")[0], name.split(".")[1]) for name in self.names if "." in name)

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of actuators."""
        return tuple(name for name in self.names if "." not in name)


@dataclass(frozen=True)
class Scan:
    """Lidar scan: nearest range in each of `sectors` sectors; sector 0 begins astern, numbers increase to the left.

    True ranges are computed from the `obstacles`, which are upright cylinders.
    """

    sensor: str
    sectors: int
    range: float  # m; larger ranges are cut to this value
    obstacles: Mapping[str, float]  # radius by object name, m


@dataclass(frozen=True)
class Task:
    """Settings of a task: data and two native functions."""

    name: str
    description: str
    scenario: Mapping[str, Any]
    robot: str
    commands: tuple[ActionCommand, ...]
    observations: Mapping[str, tuple[str, ...]]  # description of each element, by entry
    observe: Any
    reward: Any
    seconds: float  # duration of an episode, after which it is truncated
    steps: int  # physics steps per control step
    navigation: NavigationConfig  # sensors that give the features
    goals: Mapping[str, Distribution] = field(default_factory=dict)  # drawn for each episode
    randomise: Mapping[str, Distribution] = field(default_factory=dict)  # distribution by scenario path
    joints: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # objects or robots whose position and velocity are features
    scan: Scan | None = None
    memory: int = 0  # number of memory values
    reward_threshold: float | None = None  # mean return at which the task counts as solved
    camera: Mapping[str, Any] = field(default_factory=lambda: {"position": [-3.0, 0.0, 0.8], "pitch_deg": 12})

    def __post_init__(self) -> None:
        if not self.commands or not self.observations:
            raise SkerryError(f"task {self.name!r} needs at least one command and one observation")

    def __deepcopy__(self, memo: object) -> Task:
        """Return the task itself, since it is immutable; Gymnasium deep-copies environment arguments."""
        return self

    @property
    def control_steps(self) -> int:
        """Control steps of a full episode."""
        step = Fraction(str(self.scenario.get("step", Scenario.model_fields["step"].default)))
        return round(self.seconds / float(self.steps * step))

    @property
    def observation_size(self) -> int:
        """Number of elements of an observation."""
        return sum(map(len, self.observations.values()))

    @property
    def features(self) -> int:
        """Number of features."""
        scan = 0 if self.scan is None else self.scan.sectors
        return BASE_FEATURES + len(self.joints) + OBJECT_FEATURES * len(self.others) + scan
