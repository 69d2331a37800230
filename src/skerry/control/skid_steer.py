"""Skid steering: controls speed and rate of turn of a rover by the motors of its left and right side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import degrees, isfinite, radians
from typing import Any, Literal, Self

from pydantic import Field

from skerry.control.loops.navigation import Navigation, NavigationConfig
from skerry.control.loops.pid import Pid, PidConfig
from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig, Setpoint
from skerry.parts.sensor import SampleView


class SkidSteerController(Controller):
    """Skid steering controller; idle until `command` is called, and after `stop`."""

    def __init__(self, config: SkidSteer) -> None:
        self.config = config
        self.speed, self.turn_rate_deg = 0.0, 0.0
        self._active = False  # stays true until the motors are commanded to stop
        self._is_limited = False  # whether the power for the speed was limited in the last act
        self._speed, self._turn = Pid(config.speed), Pid(config.turn)

    @property
    def idle(self) -> bool:
        return not self._active

    def command(self, speed: float | None = None, turn_rate_deg: float | None = None) -> None:
        """Set the forward speed (m/s) and the rate of turn to the left (°/s); omitted values stay.

        Raises:
            SkerryError: If a value is not a finite number.
        """
        for name, value in (("speed", speed), ("turn_rate_deg", turn_rate_deg)):
            if value is None:
                continue
            if isinstance(value, bool | str) or not isfinite(value):
                raise SkerryError(f"a command must be a finite number, not {name}={value!r}")
            low, high = self.manual_setpoints()[name].limits
            setattr(self, name, min(max(float(value), low), high))
        self._active = True

    def stop(self) -> None:
        """Stop the rover and release the motors."""
        self.speed = self.turn_rate_deg = 0.0

    def manual_setpoints(self) -> dict[str, Setpoint]:
        """Return the setpoints of speed and rate of turn."""
        fastest, turn = self.config.maximum_speed, self.config.maximum_turn_rate_deg
        return {
            "speed": Setpoint((-fastest, fastest), 0.0, lambda: self.speed, lambda value: self.command(speed=value)),
            "turn_rate_deg": Setpoint(
                (-turn, turn), 0.0, lambda: self.turn_rate_deg, lambda value: self.command(turn_rate_deg=value)
            ),
        }

    @property
    def status(self) -> str:
        return super().status if self.idle else f"speed={self.speed:g} m/s, turn_rate_deg={self.turn_rate_deg:g}"

    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        left, right = self._sides(Navigation(self.config.navigation, self.config.link, sample, sensors))
        accepted = True
        for names, power in ((self.config.left, left), (self.config.right, right)):
            for name in names:
                actuator = actuators[name]
                accepted = actuator.command(**{actuator.keyword: power * actuator.limits[1]}) and accepted
        self._active = bool(self.speed or self.turn_rate_deg)
        if not (accepted and self._active):
            self._speed.reset()
            self._turn.reset()

    def _sides(self, here: Navigation) -> tuple[float, float]:
        """Return the power of the left and right side, as fractions of full power."""
        if not (self.speed or self.turn_rate_deg):
            return 0.0, 0.0
        config, seconds, turn = self.config, 1.0 / float(self.config.frequency), radians(self.turn_rate_deg)
        speed, rate = here.speed(), here.turn_rate()
        if self.speed and speed is not None:  # a slower rover also turns more slowly, to stay on its arc
            turn *= min(max(speed / self.speed, 0.0), 1.0)
        forward, aside = self._speed.output, self._turn.output
        if rate is not None:
            aside = self._turn.step(turn, rate, seconds)
        aside += config.power_per_turn * degrees(turn)
        aside = min(max(aside, -1.0), 1.0)
        if speed is not None:
            forward = self._speed.step(self.speed, speed, seconds, not self._is_limited)
        forward += config.power_per_speed * self.speed
        room = 1.0 - abs(aside)  # turning has priority: a rover that is too fast to turn leaves its arc
        self._is_limited = abs(forward) > room
        forward = min(max(forward, -room), room)
        return forward - aside, forward + aside

    def state(self) -> bytes:
        loops = [self._speed.state(), self._turn.state()]
        return json.dumps([self.speed, self.turn_rate_deg, self._active, self._is_limited, *loops]).encode()

    def set_state(self, state: bytes) -> None:
        self.speed, self.turn_rate_deg, self._active, self._is_limited, speed, turn = json.loads(state)
        self._speed.set_state(speed)
        self._turn.set_state(turn)


class SkidSteer(ControllerConfig):
    """Settings of skid steering."""

    example_vehicle = "husky"

    kind: Literal["skid_steer"] = "skid_steer"
    link: str = Field(
        "base_link", description="link whose motion is controlled, for quantities taken from the true state"
    )
    left: tuple[str, ...] = Field(min_length=1, description="motors of the left side")
    right: tuple[str, ...] = Field(min_length=1, description="motors of the right side")
    navigation: NavigationConfig = NavigationConfig()
    speed: PidConfig = Field(description="loop of the speed; fraction of full power per m/s of error")
    turn: PidConfig = Field(description="loop of the rate of turn; fraction of full power per rad/s of error")
    power_per_speed: NonNegative = Field(
        0.0, description="feedforward, fraction of full power per m/s of commanded speed"
    )
    power_per_turn: NonNegative = Field(
        0.0, description="feedforward, fraction of full power per °/s of commanded rate of turn"
    )
    maximum_speed: Positive = Field(description="largest speed in both directions, m/s")
    maximum_turn_rate_deg: Positive = Field(description="largest rate of turn in both directions, °/s")

    @property
    def manual_setpoints(self) -> tuple[str, ...]:
        return ("speed", "turn_rate_deg")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return (*self.left, *self.right)

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        return self.navigation.sensors

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(
            **{
                "left": ["frontLeftWheel", "rearLeftWheel"],
                "right": ["frontRightWheel", "rearRightWheel"],
                "speed": {"proportional": 0.5, "limit": 1},
                "turn": {"proportional": 0.3, "limit": 1},
                "maximum_speed": 2,
                "maximum_turn_rate_deg": 60,
            }
            | settings
        )

    def build(self) -> SkidSteerController:
        return SkidSteerController(self)
