"""The autopilot of the later dialect: arming, and the modes `manual`, `acro` and `stable`.

Source of its laws and numbers: the robot's controller in the public Unity project of Okoń's simulator, version 2.2.1.
Where it would not work, it is left, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt
from threading import Lock
from typing import Any, Final

import numpy as np

from skerry.actuators.drives.shaft import ShaftActuator
from skerry.core.errors import SkerryError
from skerry.core.frames import FLU_TO_UNITY, inverse, multiply, rotate
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.packets import BadBody, number, vector, xyz
from skerry.interfaces.okon.robot_state import Instant
from skerry.interfaces.okon.unity import Triple, from_euler

NONE: Final = (0.0, 0.0, 0.0)
MODES: Final = ("manual", "acro", "stable")
AXES: Final = ("pitch", "yaw", "roll")  # about x, y and z of Unity
SMOOTHING: Final = 0.01  # s, of the derivative, without which gains meant for a step of 1 ms chatter at one of 7 ms
ERROR_GAIN: Final = 50.0  # 1/s, from the vector part of the attitude's error to an angular velocity
FORCE: Final = 9.50482504  # N of a thruster at an output of 1: twice 4.752, as its inverse curve counts the force twice
LEAST_FORCE, MOST_FORCE = -4.7524, 6.1827  # N that a thruster of the original gives at most, either way
MIX: Final = {
    # pitch, yaw, roll, right, up, forward; the turns are against the axes of Unity
    "FLH": (0, -1, 0, 1, 0, 1),
    "FRH": (0, 1, 0, -1, 0, 1),
    "BLH": (0, 1, 0, 1, 0, -1),
    "BRH": (0, -1, 0, -1, 0, -1),
    "FLV": (1, 0, 1, 0, 1, 0),
    "FRV": (1, 0, -1, 0, 1, 0),
    "BLV": (-1, 0, 1, 0, 1, 0),
    "BRV": (-1, 0, -1, 0, 1, 0),
}
"""What each thruster takes of an output."""


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

    def step(self, error: float, seconds: float, slope_of: float | None = None) -> float:
        """The output for an error, so long after the last one; the derivative is the error's, or of a part of it."""
        self._sum = min(max(self._sum + error * seconds, -self.windupCap), self.windupCap)
        sloping = error if slope_of is None else slope_of
        if self._last is not None:
            self._rate += ((sloping - self._last) / seconds - self._rate) * seconds / (seconds + SMOOTHING)
        self._last = sloping
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
class Pilot:
    """Commands the thrusters in its modes. `see` is called by the loop, all else by the threads of clients."""

    craft: Craft
    armed: bool = False
    mode: str = "stable"
    rates: Triple = NONE  # rad/s in the body's axes, that `acro` shall turn with
    angles: Triple = NONE  # degrees, that `stable` shall have
    velocity: Triple = NONE  # outputs to the right, up and ahead, -1 to 1, of either mode
    depth: float = 1.0  # m, that `stable` shall hold; 0 for none
    loops: dict[str, Loop] = field(default_factory=_loops)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._tick: int | None = None
        self._chosen = False  # whether somebody has said what it shall do
        self.throttles = dict.fromkeys(self.craft.thrusters, 0.0)
        known = {name: self.craft.actuators[name] for name in self.craft.thrusters}
        self._thrusters = {name: part for name, part in known.items() if isinstance(part, ShaftActuator)}
        if missing := [name for name in MIX if name not in self._thrusters]:
            self.mode = "manual"
            self._problem = f"the robot {self.craft.name!r} can be steered by SET_MTR alone: it lacks {missing}"
        else:
            self._problem = ""

    # -------------------------------------------------------------------------------------------- what clients ask for

    def arm(self) -> None:
        """Let thrusters turn."""
        self.armed = True

    def disarm(self) -> None:
        """Stop the thrusters."""
        self.armed = False
        self._drive(dict.fromkeys(self.craft.thrusters, 0.0))

    def drive(self, throttles: Mapping[str, float]) -> None:
        """Set thrusters by hand; unheard unless they are armed, and while a mode that was asked for has them."""
        if self.armed and not self._chosen:
            self.set_mode("manual")
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
            if mode != self.mode:
                for loop in self.loops.values():
                    loop.reset()
                self._tick = None
            stops = mode == "manual" != self.mode and self.armed
            self.mode, self._chosen = mode, True
        if stops:
            self._drive(dict.fromkeys(self.craft.thrusters, 0.0))

    def set_acro(self, body: dict[str, Any]) -> None:
        """SET_ACRO; what is missing is 0."""
        self.rates, self.velocity = vector(body, "rotSpeed", NONE), vector(body, "vel", NONE)
        self._chosen = True

    def acro_body(self) -> dict[str, Any]:
        """The answer to an empty SET_ACRO."""
        return {"rotSpeed": xyz(self.rates), "vel": xyz(self.velocity)}

    def set_stable(self, body: dict[str, Any]) -> None:
        """SET_STABLE; what is missing is 0."""
        angles, velocity, depth = vector(body, "rot", NONE), vector(body, "vel", NONE), number(body, "depth", 0.0)
        self.angles, self.velocity, self.depth = angles, velocity, depth
        self._chosen = True

    def stable_body(self) -> dict[str, Any]:
        """The answer to an empty SET_STABLE."""
        return {"rot": xyz(self.angles), "vel": xyz(self.velocity), "depth": self.depth}

    def set_loops(self, body: Mapping[str, Any]) -> None:
        """SET_PID. The original tells noughts for the loops of `acro` and takes none, so clients send noughts back."""
        with self._lock:
            for name, value in body.items():
                if name in self.loops:
                    if not isinstance(value, dict):
                        raise BadBody(f"{name} must be an object of p, i, d, windupCap, gain and limit")
                    if not name.endswith("Speed") or any(value.values()):
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
            outputs = self._stable(instant, seconds) if self.mode == "stable" else self._acro(instant, seconds)
        self._drive(self._mix(outputs))

    def _acro(self, instant: Instant, seconds: float) -> list[float]:
        """Outputs of `acro`; in the original they turn it away from what it shall have."""
        turns = zip(AXES, self.rates, instant.body_rates, strict=True)
        return [-self.loops[f"{axis}Speed"].step(wanted - now, seconds) for axis, wanted, now in turns] + [
            *self.velocity
        ]

    def _stable(self, instant: Instant, seconds: float) -> list[float]:
        """Outputs of `stable`: from the attitude's error less the angular velocity, of the shorter way round.

        The derivative is of the former alone: that of the latter takes away more inertia than the robot has.
        """
        error = multiply(inverse(from_euler(self.angles)), instant.pose.orientation)
        away = FLU_TO_UNITY.angular(error[:3] * np.copysign(ERROR_GAIN, error[3])).tolist()
        turns = zip(AXES, away, instant.body_rates, strict=True)
        outputs = [self.loops[axis].step(wrong - now, seconds, slope_of=wrong) for axis, wrong, now in turns]
        right, up, forward = self.velocity
        if self.depth != 0.0:
            lift = self.loops["depth"].step(-self.depth - instant.position[1], seconds)
            skyward = FLU_TO_UNITY.vector(rotate(inverse(instant.pose.orientation), [0.0, 0.0, 1.0])).tolist()
            # to the sky, however the robot lies; horizontal thrusters stand 30° off the nose
            right, up, forward = (
                right + lift * skyward[0],
                up + 0.5 * lift * skyward[1],
                forward + lift * skyward[2] / sqrt(3.0),
            )
        return [*outputs, right, up, forward]

    def _mix(self, outputs: list[float]) -> dict[str, float]:
        """Throttles for outputs of MIX; if one thruster would have more than 1, all have less alike."""
        shares = {
            name: sum(sign * output for sign, output in zip(signs, outputs, strict=True)) for name, signs in MIX.items()
        }
        most = max(1.0, *map(abs, shares.values()))
        forces = {name: min(max(FORCE * share / most, LEAST_FORCE), MOST_FORCE) for name, share in shares.items()}
        return {name: self._thrusters[name].command_for(force) for name, force in forces.items()}
