"""Wanders: straight ahead for a while, then a turn of random rate for as long, and so on, without leaving its area.

What is random is a function of seed, name and time, so that two boats differ and a run can be repeated. It sees nobody
and gives way to nobody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import atan2, cos, hypot, radians
from typing import Any, Literal

from pydantic import Field, model_validator

from skerry.control.pid import Pid, PidConfig, wrapped
from skerry.core.config import Positive
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.sensor import Truth

HOMEWARD = cos(radians(60.0))  # near its edge it goes on straight if the area's middle lies this near ahead
SLOWEST_RETURN = radians(10.0)  # rad/s: it turns back at least so fast
SETTLING = 3.0  # s, about, that a boat needs to come into a turn, and that it slides outwards


class WanderController(Controller):
    """Drives two propellers by loops for speed and rate of turn."""

    def __init__(self, config: Wander) -> None:
        self.config = config
        self._period = 1.0 / float(config.frequency)
        self._loops = {"speed": Pid(config.speed_loop), "turn": Pid(config.turn_loop)}

    def act(self, truth: Truth, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        place_x, place_y, _, x, y, z, w, east, north, up, _, _, turning = truth.motion(self.config.link).tolist()
        bow_x, bow_y, bow_z = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)
        wanted = self._wanted_rate(truth.time, place_x, place_y, atan2(bow_y, bow_x))
        ahead = self._loops["speed"].step(self.config.speed, bow_x * east + bow_y * north + bow_z * up, self._period)
        turn = self._loops["turn"].step(wanted, turning, self._period)
        heard = True
        for name, side in zip(self.config.propellers, (-1.0, 1.0), strict=True):
            actuator = actuators[name]
            heard &= actuator.command(**{actuator.keyword: ahead + side * turn})
        if not heard:  # or its integrals would wind up while somebody else drives
            for loop in self._loops.values():
                loop.reset()

    def _wanted_rate(self, time: float, x: float, y: float, yaw: float) -> float:
        """Of turn to port, rad/s."""
        config = self.config
        to_x, to_y = config.center[0] - x, config.center[1] - y
        if hypot(to_x, to_y) > config.radius - config.margin:
            off = wrapped(atan2(to_y, to_x) - yaw)
            return 0.0 if cos(off) > HOMEWARD else (config.return_rate if off > 0.0 else -config.return_rate)
        leg = int(time / config.period)
        if leg % 2 == 0:
            return 0.0
        return radians(config.turn_rate_deg) * (2.0 * self.noise.uniform(leg) - 1.0)

    def state(self) -> bytes:
        return json.dumps({name: loop.state() for name, loop in self._loops.items()}).encode()

    def set_state(self, state: bytes) -> None:
        for name, kept in json.loads(state).items():
            self._loops[name].set_state(kept)


class Wander(ControllerConfig):
    """Settings of a boat that wanders."""

    kind: Literal["wander"] = "wander"
    link: str = Field("base_link", description="whose motion it controls")
    propellers: tuple[str, str] = Field(("port", "starboard"), description="two actuators with `rpm`, port first")
    speed: Positive = Field(2.0, description="m/s")
    period: Positive = Field(10.0, description="s that it goes straight, and then that it turns")
    turn_rate_deg: Positive = Field(15.0, le=90, description="°/s of the fastest turn, either way")
    center: tuple[float, float] = Field((0.0, 0.0), description="of its area, east and north, m")
    radius: Positive = Field(100.0, description="of its area, m")
    speed_loop: PidConfig = Field(
        PidConfig(proportional=400.0, integral=60.0, limit=1500.0), description="rpm per m/s of error"
    )
    turn_loop: PidConfig = Field(
        PidConfig(proportional=1500.0, integral=1000.0, limit=1500.0), description="rpm per rad/s of error"
    )

    @property
    def return_rate(self) -> float:
        """At which it turns back into its area, rad/s."""
        return max(radians(self.turn_rate_deg), SLOWEST_RETURN)

    @property
    def margin(self) -> float:
        """How far before the edge of its area it turns back, m: a circle of the turn, and the way until it turns."""
        return self.speed * (2.0 / self.return_rate + SETTLING)

    @model_validator(mode="after")
    def _can_turn_in_its_area(self) -> Wander:
        if self.radius < self.margin:
            problem = f"at this speed and rate it cannot turn within `radius`; at least {self.margin:.0f} m"
            raise ValueError(problem)
        return self

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return self.propellers

    def build(self) -> WanderController:
        return WanderController(self)
