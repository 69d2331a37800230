"""What a task is: a scenario, what is commanded, what is seen, and what is good; one file of `tasks/` each.

A task looks at numbers, the *facts* of a robot: first those named here, then its `joints` (rad or m), then of each of
its `others` place and velocity in the world (six numbers), then the sectors of its `scan`. With `observation="truth"`
they are true; with "sensors" the same facts are what the robot's own sensors say.

Its two rules are native functions, compiled by numba, so that a step of a thousand worlds costs Python no more than
one of a single world. They read and write plain numbers by their places:

- `observe(now, goal, action, memory, observation)` writes what an agent sees;
- `judge(before, now, goal, action, memory, verdict)` writes `REWARD`, and whether it is `OVER` and a `SUCCESS`.

`before` and `now` are facts, always true for the judge; `goal` the numbers that were drawn for this episode; `action`
the one of this step and, behind it, the one before, each −1 to 1; `memory` numbers of the task's own, 0 at first.
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

# ------------------------------------------------------------------------------------------------ the facts of a robot
TIME: Final = 0  # s since the episode's beginning
X, Y, Z = 1, 2, 3  # m, of the root link's origin in the world (ENU)
ROLL, PITCH, YAW = 4, 5, 6  # rad; pitch is positive with the nose down, yaw turns left from east
U, V, W = 7, 8, 9  # m/s, forwards, to the left and up, in the robot's own axes
P, Q, R = 10, 11, 12  # rad/s about these axes
QX, QY, QZ, QW = 13, 14, 15, 16  # the attitude as a quaternion
OWN: Final = 17  # joints, others and scan follow
OTHER: Final = 6  # numbers of each of the others: place and velocity

REWARD, OVER, SUCCESS, VERDICT = 0, 1, 2, 3

_numbers = types.CPointer(types.float64)
observe = native(types.void(*[_numbers] * 5))
"""Decorator of a task's rule `(now, goal, action, memory, observation)`."""
judge = native(types.void(*[_numbers] * 6))
"""Decorator of a task's rule `(before, now, goal, action, memory, verdict)`."""


@dataclass(frozen=True)
class Command:
    """One number of an action, −1 to 1, and what it commands: actuators, or a dial of a controller (`flight.roll_deg`).

    −1 is `low` and 1 is `high`, in the unit of the actuator's own command.
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
        """Controller and dial of each name that is one."""
        return tuple((name.split(".")[0], name.split(".")[1]) for name in self.names if "." in name)

    @property
    def actuators(self) -> tuple[str, ...]:
        """The others."""
        return tuple(name for name in self.names if "." not in name)


@dataclass(frozen=True)
class Scan:
    """What a lidar sees round about, as the nearest range in each of so many sectors, from astern on to the left.

    A scanner sees objects above the water; their true ranges are those of the `obstacles`, upright cylinders.
    """

    sensor: str
    sectors: int
    range: float  # m; what is farther counts as this
    obstacles: Mapping[str, float]  # names of objects, with their radius, m


@dataclass(frozen=True)
class Task:
    """Settings of a task; all of it data but the two rules."""

    name: str
    description: str
    scenario: Mapping[str, Any]
    robot: str
    commands: tuple[Command, ...]
    observations: tuple[str, ...]  # what each number is, for people
    observe: Any
    judge: Any
    seconds: float  # of an episode, after which it is cut off
    steps: int  # of physics, to a step of control
    navigation: NavigationConfig  # the sensors that tell the facts
    goals: Mapping[str, Distribution] = field(default_factory=dict)  # drawn for each episode
    randomise: Mapping[str, Distribution] = field(default_factory=dict)  # path in the scenario → its value
    joints: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # objects or robots whose place and velocity it knows
    scan: Scan | None = None
    memory: int = 0  # numbers of its own
    reward_threshold: float | None = None  # mean return from which the task counts as solved
    camera: Mapping[str, Any] = field(default_factory=lambda: {"position": [-3.0, 0.0, 0.8], "pitch_deg": 12})

    def __post_init__(self) -> None:
        if not self.commands or not self.observations:
            raise SkerryError(f"the task {self.name!r} needs at least one command and one observation")

    def __deepcopy__(self, memo: object) -> Task:
        """Itself, as nothing can change it; Gymnasium copies what an environment is made from."""
        return self

    @property
    def control_steps(self) -> int:
        """Steps of control in an episode that is not over before."""
        step = Fraction(str(self.scenario.get("step", Scenario.model_fields["step"].default)))
        return round(self.seconds / float(self.steps * step))

    @property
    def facts(self) -> int:
        """How many there are."""
        scan = 0 if self.scan is None else self.scan.sectors
        return OWN + len(self.joints) + OTHER * len(self.others) + scan
