"""The autopilot of the later dialect: arming, and the modes `manual`, `acro` and `stable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, Final

import numpy as np

from skerry.control.allocation import Allocation, AllocationConfig
from skerry.core.errors import SkerryError
from skerry.core.frames import FLU_TO_UNITY, UNITY_TO_FLU, inverse, multiply
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.instant import Instant
from skerry.interfaces.okon.packets import BadBody, number, vector, xyz
from skerry.interfaces.okon.unity import Triple, from_euler

NONE: Final = (0.0, 0.0, 0.0)
MODES: Final = ("manual", "acro", "stable")
AXES: Final = ("pitch", "yaw", "roll")  # about x, y and z of Unity
SMOOTHING: Final = 0.05  # s, of the derivative, without which the original's gains chatter at a step of 7 ms
ERROR_GAIN: Final = 50.0  # by which the original multiplies the vector part of the attitude's error
# What full output is, so that gains mean what they mean in the original, where a thruster gives 6.18 N at most:
FORCE: Final = 24.7  # N, four of them
TORQUE: Final = 3.7  # N m, four of them at some 0.15 m


@dataclass
class Loop:
    """One PID loop with the settings that SET_PID knows by name."""

    p: float = 0.0
    i: float = 0.0
    d: float = 0.0
    windupCap: float = 1.0  # noqa: N815  (the packet's own words)
    gain: float = 1.0
    limit: float = 0.5

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was."""
        self._sum = 0.0
        self._rate = 0.0
        self._last: float | None = None

    def step(self, error: float, seconds: float) -> float:
        """The output for an error, so long after the last one."""
        self._sum = min(max(self._sum + error * seconds, -self.windupCap), self.windupCap)
        if self._last is not None:
            self._rate += ((error - self._last) / seconds - self._rate) * seconds / (seconds + SMOOTHING)
        self._last = error
        output = self.gain * (self.p * error + self.i * self._sum + self.d * self._rate)
        return min(max(output, -self.limit), self.limit)

    def settings(self) -> dict[str, float]:
        """As SET_PID has them."""
        return asdict(self)

    def set(self, body: Mapping[str, Any]) -> None:
        """Take what a body gives; a limit below 0 would turn the loop against itself."""
        found = {key: number(dict(body), key, value) for key, value in self.settings().items()}
        if found["limit"] < 0 or found["windupCap"] < 0:
            raise BadBody("`limit` and `windupCap` must not be negative")
        for key, value in found.items():
            setattr(self, key, value)
        self.reset()


def _loops() -> dict[str, Loop]:
    rates = {f"{axis}Speed": Loop(1.0, 0.1, 0.05) for axis in ("roll", "pitch", "yaw")}
    return {
        "roll": Loop(0.4, 0.0, 0.03),
        "pitch": Loop(0.7, 0.0, 0.1),
        "yaw": Loop(0.3, 0.0, 0.04),
        "depth": Loop(10.0, 0.0, 4.0),
        **rates,
    }


@dataclass
class Wish:
    """What a mode is told: angular velocity, rad/s, or angles, degrees; thrust −1 to 1 along the axes; depth, m."""

    turn: Triple = NONE
    velocity: Triple = NONE
    depth: float = 0.0  # 0 holds none


@dataclass
class Pilot:
    """Commands the thrusters in its modes. `see` is called by the loop, all else by the threads of clients."""

    craft: Craft
    center: tuple[float, float, float]
    armed: bool = False
    mode: str = "manual"
    acro: Wish = field(default_factory=Wish)
    stable: Wish = field(default_factory=Wish)
    loops: dict[str, Loop] = field(default_factory=_loops)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._tick: int | None = None
        self.throttles = dict.fromkeys(self.craft.thrusters, 0.0)
        self._problem = ""
        try:
            config = AllocationConfig(thrusters=self.craft.thrusters, center=self.center)
            self._allocation = Allocation(config, self.craft.actuators)
        except (SkerryError, ValueError) as error:
            self._problem = f"the robot {self.craft.name!r} can be steered by SET_MTR alone: {error}"

    # -------------------------------------------------------------------------------------------- what clients ask for

    def arm(self) -> None:
        """Let thrusters turn."""
        self.armed = True

    def disarm(self) -> None:
        """Stop the thrusters."""
        self.armed = False
        self._drive(dict.fromkeys(self.craft.thrusters, 0.0))

    def drive(self, throttles: Mapping[str, float]) -> None:
        """Set thrusters by hand; unheard unless they are armed, and while a mode has them."""
        if self.armed and self.mode == "manual":
            self._drive(throttles)

    def _drive(self, throttles: Mapping[str, float]) -> None:
        self.throttles |= {name: min(max(value, -1.0), 1.0) for name, value in throttles.items()}
        self.craft.drive(throttles)

    def set_mode(self, word: str) -> None:
        """Change the mode; any word that is none means by hand."""
        mode = word if word in MODES else "manual"
        if mode != "manual" and self._problem:
            raise SkerryError(self._problem)
        with self._lock:
            for loop in self.loops.values():
                loop.reset()
            self.mode, self._tick = mode, None
        if mode == "manual" and self.armed:
            self._drive(dict.fromkeys(self.craft.thrusters, 0.0))

    def set_loops(self, body: Mapping[str, Any]) -> None:
        """SET_PID."""
        with self._lock:
            for name, value in body.items():
                if name in self.loops:
                    if not isinstance(value, dict):
                        raise BadBody(f"{name} must be an object of p, i, d, windupCap, gain and limit")
                    self.loops[name].set(value)

    def loops_body(self) -> dict[str, dict[str, float]]:
        """The answer to an empty SET_PID."""
        return {name: loop.settings() for name, loop in self.loops.items()}

    # -------------------------------------------------------------------------------------------- the loop's

    def see(self, instant: Instant, step: float) -> None:
        """Act, if it is a mode's turn."""
        with self._lock:
            if not self.armed or self.mode == "manual":
                self._tick = None
                return
            before, self._tick = self._tick, instant.tick
            seconds = step * (instant.tick - before) if before is not None else 0.0
            if seconds <= 0.0:
                return
            wish = self.stable if self.mode == "stable" else self.acro
            turn = self._turn_wanted(instant, seconds) if self.mode == "stable" else wish.turn
            rates = instant.body_rates
            outputs = [
                self.loops[f"{axis}Speed"].step(wanted - rate, seconds)
                for axis, wanted, rate in zip(AXES, turn, rates, strict=True)
            ]
            right, up, forward = wish.velocity
            if wish.depth > 0.0:
                up -= self.loops["depth"].step(wish.depth + instant.position[1], seconds)
        push = FORCE * UNITY_TO_FLU.vector([right, up, forward])
        torque = TORQUE * UNITY_TO_FLU.angular(outputs)
        names = ("surge", "sway", "heave", "roll", "pitch", "yaw")
        wrench = dict(zip(names, [*push.tolist(), *torque.tolist()], strict=True))
        self._drive(self._allocation.share_out(wrench)[0])

    def _turn_wanted(self, instant: Instant, seconds: float) -> Triple:
        """The angular velocity that the attitude's loops ask for."""
        error = multiply(inverse(instant.pose.orientation), from_euler(self.stable.turn))
        part = FLU_TO_UNITY.angular(error[:3] * np.copysign(ERROR_GAIN, error[3]))
        x, y, z = (self.loops[axis].step(value, seconds) for axis, value in zip(AXES, part.tolist(), strict=True))
        return x, y, z


def read_wish(body: dict[str, Any], turn: str) -> Wish:
    """A wish of a body; what it lacks is 0."""
    return Wish(vector(body, turn, NONE), vector(body, "vel", NONE), number(body, "depth", 0.0))


def wish_body(wish: Wish, turn: str) -> dict[str, Any]:
    """The answer that gives a wish."""
    return {turn: xyz(wish.turn), "vel": xyz(wish.velocity)}
