"""Winch: pays out and hauls in the rope on its drum, to a commanded length at a commanded speed.

The length changes at the speed of the winch until it reaches the target: L' = ±s until L = target. It stays between the
minimum length and the length on the drum. The rope with its tension is a separate part that names the winch.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.parts.actuator import Actuator, ActuatorConfig, within
from skerry.parts.law import Attach, Law, constants_of, law, state_of
from skerry.parts.state_channel import StateChannel

# State
TARGET: Final = 0  # commanded length, m
SPEED: Final = 1  # speed of the drum, m/s of rope
LENGTH: Final = 2  # length of rope paid out, m
RATE: Final = 3  # rate of change of the length, m/s
EXTRA: Final = 4  # length of a caught rope that is tied to the end of this rope, m
RELEASE: Final = 5  # 1 to release the load in the next step
WINCH_STATE: Final = 6
# Constants
STEP, MIN_LENGTH, MAX_LENGTH = range(3)


@law
def wind(model: int, data: int, table: int) -> None:
    """Move the length towards its target for one step."""
    state = state_of(data, table, WINCH_STATE)
    c = constants_of(table)
    most = state[SPEED] * c[STEP]
    before = state[LENGTH]
    after = before + min(max(state[TARGET] - before, -most), most)
    state[LENGTH] = min(max(after, c[MIN_LENGTH]), c[MAX_LENGTH] + state[EXTRA])
    state[RATE] = (state[LENGTH] - before) / c[STEP]


class WinchActuator(Actuator):
    """Winch, commanded by `length=` of rope to pay out (m), by `speed=` (m/s), or by both.

    `release=1` releases the load at the end of its rope.
    """

    keyword = "length"
    unit = "m"

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
        """Length of rope paid out, m."""
        return self.feedback

    @property
    def rate(self) -> float:
        """Rate of change of the length, m/s."""
        return float(self._drum.memory[RATE])

    @property
    def speed(self) -> float:
        """Speed at which the length moves towards its target, m/s."""
        return float(self._drum.memory[SPEED])

    @property
    def keywords(self) -> tuple[str, ...]:
        return ("length", "speed", "release")

    def _checked(self, value: dict[str, float]) -> dict[str, float]:
        if not value or not value.keys() <= set(self.keywords):
            return super()._checked(value)  # raises an error that lists the keywords
        longest = self.limits[1] + float(self._drum.memory[EXTRA])
        limits = {
            "length": (self.limits[0], longest),
            "speed": (0.0, self.config.maximum_speed),
            "release": (0.0, 1.0),
        }
        return {keyword: within(keyword, number, limits[keyword]) for keyword, number in value.items()}

    def _write(self, checked: dict[str, float]) -> None:
        if "length" in checked:
            self._set(checked["length"])
        if "speed" in checked:
            self._drum.memory[SPEED] = checked["speed"]
        if "release" in checked:
            self._drum.memory[RELEASE] = float(checked["release"] > 0.5)

    def _set(self, value: float) -> None:
        self._drum.memory[TARGET] = value


class Winch(ActuatorConfig):
    """Settings of a winch; a rope under `ropes:` of the vehicle names it as its `winch`."""

    kind: Literal["winch"] = "winch"
    rope_length: Positive = Field(5.0, description="length of rope on the drum, m")
    target_length: NonNegative = Field(0.5, description="commanded length at the start and after a reset, m")
    start_length: NonNegative | None = Field(
        None, description="length paid out at the start, m; by default `target_length`"
    )
    speed: NonNegative = Field(0.5, description="speed of the rope at the start, m/s")
    maximum_speed: Positive = Field(5.0, description="largest speed that can be commanded, m/s")
    minimum_length: Positive = Field(0.1, description="smallest length paid out, m")

    @model_validator(mode="after")
    def _check_lengths(self) -> Winch:
        if self.minimum_length > self.rope_length:
            raise ValueError(
                f"`minimum_length` {self.minimum_length} m must not exceed `rope_length` {self.rope_length} m"
            )
        for name in ("target_length", "start_length"):
            length = getattr(self, name)
            if length is not None and not self.minimum_length <= length <= self.rope_length:
                raise ValueError(
                    f"`{name}` {length} m must be between `minimum_length` {self.minimum_length} m and "
                    f"`rope_length` {self.rope_length} m"
                )
        if self.speed > self.maximum_speed:
            raise ValueError(f"`speed` {self.speed} m/s must not exceed `maximum_speed` {self.maximum_speed} m/s")
        return self

    def build(self, attach: Attach) -> WinchActuator:
        at = attach(self.link)
        length = self.target_length if self.start_length is None else self.start_length
        state = np.array([self.target_length, self.speed, length, 0.0, 0.0, 0.0])
        constants = np.array([at.step, self.minimum_length, self.rope_length])
        return WinchActuator(self, Law(constants, update=wind, initial_state=state))
