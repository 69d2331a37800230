"""Random drive of a boat within an area: straight ahead for a period, then a turn of random rate, and so on.

The random rates depend on seed, name and time, so that two boats differ and a run can be repeated. The controller does
not avoid collisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, radians
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from skerry.control.loops import pid
from skerry.control.loops.native_control import NativeLawController
from skerry.control.loops.pid import PidConfig, gains_of, wrapped
from skerry.core.config import Positive
from skerry.core.kernels import floats, strict_kernel, words
from skerry.core.noise import fill_uniform
from skerry.core.rotations import MOTION, motion_of_fixed_frame
from skerry.parts.actuator import Actuator
from skerry.parts.controller import ControllerConfig
from skerry.parts.native_controller import NativeController, NativeView, native_controller

MIN_RETURN_COSINE = cos(radians(60.0))  # near the edge it goes straight if the bow is within 60° of the centre
MIN_RETURN_RATE = radians(10.0)  # smallest rate of turn towards the centre, rad/s
SETTLING = 3.0  # approximate time until a boat follows a commanded turn, s

# Constants: period of the controller (s), speed, duration of a leg, largest rate of turn, rate of turn towards the
# centre, centre of the area (2), and distance from the centre at which it turns back
STEP, SPEED, LEG, FASTEST, RETURN, CENTER, EDGE, CONSTANTS = 0, 1, 2, 3, 4, 5, 7, 8
# Memory: states of the loops of speed and of turn; TURN is the start of the second one
TURN = pid.MEMORY_SIZE
# Table: body that carries the link, noise key (2), and addresses of: pose of the link on its body, memory, constants,
# gains of both loops, output
BODY, KEY, LINK_AT, MEMORY_AT, CONSTANTS_AT, GAINS_AT, ANSWER_AT, TABLE_SIZE = 0, 1, 3, 4, 5, 6, 7, 8


@strict_kernel
def desired_rate(time: float, x: float, y: float, yaw: float, key0: int, key1: int, c: Any) -> float:
    """Return the rate of turn to port for a time and position, rad/s."""
    to_x, to_y = c[CENTER] - x, c[CENTER + 1] - y
    if np.sqrt(to_x * to_x + to_y * to_y) > c[EDGE]:
        off = wrapped(np.arctan2(to_y, to_x) - yaw)
        if np.cos(off) > MIN_RETURN_COSINE:
            return 0.0
        return c[RETURN] if off > 0.0 else -c[RETURN]
    leg = int(time / c[LEG])
    if leg % 2 == 0:
        return 0.0
    chance = np.empty(1)
    fill_uniform(key0, key1, leg, 0, 0, chance)
    return c[FASTEST] * (2.0 * chance[0] - 1.0)


@native_controller
def drive_randomly(motions: int, userdata: int, time: int, table: int) -> None:
    """Write the commands of the port and starboard propeller."""
    w = words(table, TABLE_SIZE)
    c, n, answer = (
        floats(w[CONSTANTS_AT], CONSTANTS),
        floats(w[MEMORY_AT], 2 * pid.MEMORY_SIZE),
        floats(w[ANSWER_AT], 2),
    )
    gains = floats(w[GAINS_AT], 2 * pid.GAINS)
    m = np.empty(MOTION)
    motion_of_fixed_frame(floats(motions + 8 * MOTION * w[BODY], MOTION), floats(w[LINK_AT], 7), m)
    x, y, z, s = m[3], m[4], m[5], m[6]
    bow_x, bow_y, bow_z = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * s), 2.0 * (x * z - y * s)
    turning = desired_rate(floats(time, 1)[0], m[0], m[1], np.arctan2(bow_y, bow_x), w[KEY], w[KEY + 1], c)
    along = bow_x * m[7] + bow_y * m[8] + bow_z * m[9]
    ahead = pid.step(n[:TURN], gains[: pid.GAINS], c[SPEED], along, c[STEP], True)
    aside = pid.step(n[TURN:], gains[pid.GAINS :], turning, m[12], c[STEP], True)
    answer[0], answer[1] = ahead - aside, ahead + aside


class WanderController(NativeLawController):
    """Random drive with two propellers, by loops for speed and rate of turn."""

    def __init__(self, config: Wander) -> None:
        super().__init__()
        self.config = config
        self._memory = np.zeros(2 * pid.MEMORY_SIZE)
        self._on_command_refused()

    def _prepare(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        config = self.config
        constants = np.zeros(CONSTANTS)
        constants[STEP], constants[SPEED], constants[LEG] = 1.0 / float(config.frequency), config.speed, config.period
        constants[FASTEST], constants[RETURN] = radians(config.turn_rate_deg), config.return_rate
        constants[CENTER : CENTER + 2], constants[EDGE] = config.center, config.radius - config.margin
        gains = np.concatenate([gains_of(config.speed_loop), gains_of(config.turn_loop)])
        body, link = view.frame(config.link)
        arrays = (link, self._memory, constants, gains, answer := np.zeros(2))
        table = [body, *self.noise.key, *(array.ctypes.data for array in arrays)]
        driven = [actuators[name] for name in config.propellers]
        return NativeController(drive_randomly, table, self._memory, driven, view, answer, arrays)

    def _on_command_refused(self) -> None:
        # otherwise the integrals wind up while another owner commands
        self._memory[:] = 0.0
        self._memory[pid.LAST :: pid.MEMORY_SIZE] = np.nan

    def state(self) -> bytes:
        return self._memory.tobytes()

    def set_state(self, state: bytes) -> None:
        self._memory[:] = np.frombuffer(state)
        self._native = None  # the noise key may have changed with the seed


class Wander(ControllerConfig):
    """Settings of a random drive."""

    example_vehicle = "obstacle_boat"

    kind: Literal["wander"] = "wander"
    link: str = Field("base_link", description="link whose motion is controlled")
    propellers: tuple[str, str] = Field(
        ("port", "starboard"), description="two actuators commanded by `rpm`, port first"
    )
    speed: Positive = Field(2.0, description="speed, m/s")
    period: Positive = Field(10.0, description="duration of each straight leg and of each turn, s")
    turn_rate_deg: Positive = Field(15.0, le=90, description="largest rate of turn in both directions, °/s")
    center: tuple[float, float] = Field((0.0, 0.0), description="centre of the area: east and north, m")
    radius: Positive = Field(100.0, description="radius of the area, m")
    speed_loop: PidConfig = Field(
        PidConfig(proportional=400.0, integral=60.0, limit=1500.0),
        description="loop of the speed; rpm per m/s of error",
    )
    turn_loop: PidConfig = Field(
        PidConfig(proportional=1500.0, integral=1000.0, limit=1500.0),
        description="loop of the rate of turn; rpm per rad/s of error",
    )

    @property
    def return_rate(self) -> float:
        """Rate of turn towards the centre, rad/s."""
        return max(radians(self.turn_rate_deg), MIN_RETURN_RATE)

    @property
    def margin(self) -> float:
        """Distance before the edge at which it turns back, m: diameter of the turn plus the distance until it turns."""
        return self.speed * (2.0 / self.return_rate + SETTLING)

    @model_validator(mode="after")
    def _check_radius(self) -> Wander:
        if self.radius < self.margin:
            problem = (
                f"`radius` is {self.radius:g} m; at this speed and rate of turn it must be at least {self.margin:.0f} m"
            )
            raise ValueError(problem)
        return self

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return self.propellers

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"period": 0.1} | settings)

    def build(self) -> WanderController:
        return WanderController(self)
