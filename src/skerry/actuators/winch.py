"""A winch: pays out and takes in the rope that is wound on its drum, towards a length, at a speed.

Its length goes towards the target at the winch's speed and stops on it: L' = ±s until L = target; never shorter than
the least length, never longer than what the drum holds. The rope itself, with its tension, is a part of its own that
names the winch.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.parts.actuator import Actuator, ActuatorConfig, within
from skerry.parts.law import Attach, Law, constants_of, law, state_of
from skerry.parts.state_channel import StateChannel

# state
TARGET: Final = 0  # length, m
SPEED: Final = 1  # at which the drum turns, m/s of rope
LENGTH: Final = 2  # that is out, m
RATE: Final = 3  # at which it grows, m/s
EXTRA: Final = 4  # length tied to the end of what the drum holds, m
RELEASE: Final = 5  # 1 to let go of what hangs at its end, in the next step
WINCH_STATE: Final = 6
# constants
STEP, LEAST, LONGEST, WINCH_CONSTANTS = range(4)


@law
def wind(model: int, data: int, table: int) -> None:
    """Let the length follow its target for a step."""
    state = state_of(data, table, WINCH_STATE)
    c = constants_of(table)
    most = state[SPEED] * c[STEP]
    before = state[LENGTH]
    after = before + min(max(state[TARGET] - before, -most), most)
    state[LENGTH] = min(max(after, c[LEAST]), c[LONGEST] + state[EXTRA])
    state[RATE] = (state[LENGTH] - before) / c[STEP]


class WinchActuator(Actuator):
    """Commanded by `length=`, m of rope that shall be out, and by `speed=`, m/s at which it gets there, or by both.

    `release=1` lets go of what hangs at the end of its rope.
    """

    keyword = "length"

    def __init__(self, config: Winch, drum: Law) -> None:
        limits = (config.minimum_length, config.rope_length)
        super().__init__([(config.link, drum)], limits, config.target_length, config.expected_frequency)
        self.config = config
        self._drum = drum

    @property
    def setpoint(self) -> float:
        return float(self._drum.memory[TARGET])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._drum.memory[LENGTH : LENGTH + 1])

    @property
    def length(self) -> float:
        """What is out, m."""
        return self.feedback

    @property
    def rate(self) -> float:
        """How fast it grows, m/s."""
        return float(self._drum.memory[RATE])

    @property
    def speed(self) -> float:
        """How fast it goes towards its target, m/s."""
        return float(self._drum.memory[SPEED])

    def check(self, **value: float) -> None:
        for word, number in self._parts_of(value).items():
            within(word, number, (-np.inf, np.inf))

    def _apply(self, value: dict[str, float]) -> None:
        for word, number in self._parts_of(value).items():
            if word == "release":
                self._drum.memory[RELEASE] = float(within(word, number, (0.0, 1.0)) > 0.5)
            elif word == "speed":
                self._drum.memory[SPEED] = within(word, number, (0.0, self.config.maximum_speed))
            else:
                self._set(within(word, number, (self.limits[0], self.limits[1] + float(self._drum.memory[EXTRA]))))

    def _parts_of(self, value: dict[str, float]) -> dict[str, float]:
        if value and value.keys() <= {"length", "speed", "release"}:
            return value
        self._checked(value)  # says what it may be commanded by
        return {}

    def _set(self, value: float) -> None:
        self._drum.memory[TARGET] = value


class Winch(ActuatorConfig):
    """A drum with a rope; `ropes:` of the vehicle names it as its `winch`."""

    kind: Literal["winch"] = "winch"
    rope_length: Positive = Field(5.0, description="that the drum holds, m")
    target_length: NonNegative = Field(0.5, description="m; where it goes at the start and after a reset")
    start_length: NonNegative | None = Field(None, description="that is out at the start, m; the target by default")
    speed: NonNegative = Field(0.5, description="m/s")
    maximum_speed: Positive = Field(5.0, description="m/s that `speed` may be commanded to")
    minimum_length: Positive = Field(0.1, description="m that always stays out")

    @model_validator(mode="after")
    def _within(self) -> Winch:
        if self.minimum_length > self.rope_length:
            raise ValueError(
                f"`minimum_length` {self.minimum_length} m is more than the drum holds, {self.rope_length} m"
            )
        for name in ("target_length", "start_length"):
            length = getattr(self, name)
            if length is not None and not self.minimum_length <= length <= self.rope_length:
                raise ValueError(
                    f"`{name}` {length} m must be between `minimum_length` {self.minimum_length} m and "
                    f"`rope_length` {self.rope_length} m"
                )
        if self.speed > self.maximum_speed:
            raise ValueError(f"`speed` {self.speed} m/s is more than `maximum_speed` {self.maximum_speed} m/s")
        return self

    def build(self, attach: Attach) -> WinchActuator:
        at = attach(self.link)
        length = self.target_length if self.start_length is None else self.start_length
        state = np.array([self.target_length, self.speed, length, 0.0, 0.0, 0.0])
        constants = np.array([at.step, self.minimum_length, self.rope_length])
        return WinchActuator(self, Law(constants, update=wind, initial_state=state))
