"""Autopilot of the later dialects: arming, and the modes `manual`, `acro` and `stable`.

Control laws and numbers are those of the robot's controller in the public Unity project of Okoń's simulator, version
2.2.1. Comments mark the places where that controller would not work and this one differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt
from threading import Lock
from typing import Any, Final

import numpy as np

from skerry.actuators.drives.shaft import ShaftActuator
from skerry.core.errors import SkerryError, shorten
from skerry.core.frames import FLU_TO_UNITY, inverse, multiply, rotate
from skerry.interfaces.okon.packets import BadBody, read_number, read_vector, xyz
from skerry.interfaces.okon.robot import OkonRobot
from skerry.interfaces.okon.robot_state import RobotState
from skerry.interfaces.okon.unity import Triple, from_euler

NONE: Final = (0.0, 0.0, 0.0)
MODES: Final = ("manual", "acro", "stable")
AXES: Final = ("pitch", "yaw", "roll")
"""Names of the rotations about x, y and z of Unity."""
SMOOTHING: Final = 0.01
"""Time constant of the derivative's filter, s; without it the gains, made for steps of 1 ms, chatter at 7 ms."""
ERROR_GAIN: Final = 50.0
"""Gain from the vector part of the attitude error to an angular velocity, 1/s."""
FORCE: Final = 9.50482504
"""Force of a thruster at an output of 1, N: twice 4.752, because the original's inverse curve doubles the force."""
MIN_FORCE, MAX_FORCE = -4.7524, 6.1827
"""Largest force of a thruster of the original backward and forward, N."""
MIX: Final = {
    # pitch, yaw, roll, right, up, forward; the signs of the rotations are opposite to those of Unity's axes
    "FLH": (0, -1, 0, 1, 0, 1),
    "FRH": (0, 1, 0, -1, 0, 1),
    "BLH": (0, 1, 0, 1, 0, -1),
    "BRH": (0, -1, 0, -1, 0, -1),
    "FLV": (1, 0, 1, 0, 1, 0),
    "FRV": (1, 0, -1, 0, 1, 0),
    "BLV": (-1, 0, 1, 0, 1, 0),
    "BRV": (-1, 0, -1, 0, 1, 0),
}
"""Share of each output that a thruster adds to its force."""


@dataclass
class AxisPid:
    """PID controller of one axis with the settings of SET_PID."""

    p: float = 0.0
    i: float = 0.0
    d: float = 0.0
    windupCap: float = 1.0  # noqa: N815  (a key of the packet)
    gain: float = 1.0
    limit: float = 0.5

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear the integral and the derivative."""
        self._sum = 0.0
        self._rate = 0.0
        self._last: float | None = None

    def step(self, error: float, seconds: float, derive: float | None = None) -> float:
        """Return the output for an error.

        Args:
            error: Control error.
            seconds: Time since the last step, s.
            derive: Value of which the derivative is taken; None is the error.
        """
        self._sum = min(max(self._sum + error * seconds, -self.windupCap), self.windupCap)
        derived = error if derive is None else derive
        if self._last is not None:
            self._rate += ((derived - self._last) / seconds - self._rate) * seconds / (seconds + SMOOTHING)
        self._last = derived
        output = self.gain * (self.p * error + self.i * self._sum + self.d * self._rate)
        return min(max(output, -self.limit), self.limit)

    def settings(self) -> dict[str, float]:
        """Return the settings as SET_PID sends them."""
        return asdict(self)

    def set(self, body: Mapping[str, Any]) -> None:
        """Set the settings that a body contains; a negative limit would reverse the output and is refused."""
        found = {key: read_number(dict(body), key, value) for key, value in self.settings().items()}
        if found["limit"] < 0 or found["windupCap"] < 0:
            raise BadBody("`limit` and `windupCap` must be 0 or more")
        for key, value in found.items():
            setattr(self, key, value)
        self.reset()


def _loops() -> dict[str, AxisPid]:
    rates = {f"{axis}Speed": AxisPid(1.0, 0.1, 0.05) for axis in ("roll", "pitch", "yaw")}
    return {
        "roll": AxisPid(0.4, 0.0, 0.03),
        "pitch": AxisPid(0.7, 0.0, 0.1),
        "yaw": AxisPid(0.3, 0.0, 0.04),
        "depth": AxisPid(10.0, 0.0, 4.0),
        **rates,
    }


@dataclass
class OkonAutopilot:
    """Autopilot that commands the thrusters. The simulation loop calls `update`; threads of clients call the rest."""

    robot: OkonRobot
    armed: bool = False
    mode: str = "stable"
    rates: Triple = NONE
    """Setpoint of `acro`: angular velocity in the body's axes, rad/s."""
    angles: Triple = NONE
    """Setpoint of `stable`: Euler angles, °."""
    velocity: Triple = NONE
    """Outputs to the right, up and forward in both modes, -1 to 1."""
    depth: float = 1.0
    """Setpoint of `stable`: depth, m; 0 leaves the depth uncontrolled."""
    loops: dict[str, AxisPid] = field(default_factory=_loops)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._tick: int | None = None
        self._chosen = False  # whether a client has set a mode or its setpoints
        self.throttles = dict.fromkeys(self.robot.thrusters, 0.0)
        known = {name: self.robot.actuators[name] for name in self.robot.thrusters}
        self._thrusters = {name: part for name, part in known.items() if isinstance(part, ShaftActuator)}
        if missing := [name for name in MIX if name not in self._thrusters]:
            self.mode = "manual"
            self._problem = f"robot {self.robot.name!r} lacks the thrusters {missing}; only SET_MTR drives it"
        else:
            self._problem = ""

    # -------------------------------------------------------------------------------------------- clients

    def arm(self) -> None:
        """Enable the thrusters."""
        self.armed = True

    def disarm(self) -> None:
        """Stop and disable the thrusters."""
        self.armed = False
        self._drive(dict.fromkeys(self.robot.thrusters, 0.0))

    def drive(self, throttles: Mapping[str, float]) -> None:
        """Set throttles; ignored while the thrusters are not armed or a mode other than `manual` was chosen."""
        if self.armed and not self._chosen:
            self.set_mode("manual")
        if self.armed and self.mode == "manual":
            self._drive(throttles)

    def _drive(self, throttles: Mapping[str, float]) -> None:
        self.throttles |= {name: min(max(value, -1.0), 1.0) for name, value in throttles.items()}
        self.robot.drive(throttles)

    def set_mode(self, name: str) -> None:
        """Change the mode; an unknown name selects `manual`, as in the original."""
        mode = name if name in MODES else "manual"
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
            self._drive(dict.fromkeys(self.robot.thrusters, 0.0))

    def set_acro(self, body: dict[str, Any]) -> None:
        """Set the setpoints of SET_ACRO; missing values are 0."""
        self.rates, self.velocity = read_vector(body, "rotSpeed", NONE), read_vector(body, "vel", NONE)
        self._chosen = True

    def acro_body(self) -> dict[str, Any]:
        """Return the answer to an empty SET_ACRO."""
        return {"rotSpeed": xyz(self.rates), "vel": xyz(self.velocity)}

    def set_stable(self, body: dict[str, Any]) -> None:
        """Set the setpoints of SET_STABLE; missing values are 0."""
        angles, velocity = read_vector(body, "rot", NONE), read_vector(body, "vel", NONE)
        self.angles, self.velocity, self.depth = angles, velocity, read_number(body, "depth", 0.0)
        self._chosen = True

    def stable_body(self) -> dict[str, Any]:
        """Return the answer to an empty SET_STABLE."""
        return {"rot": xyz(self.angles), "vel": xyz(self.velocity), "depth": self.depth}

    def set_loops(self, body: Mapping[str, Any]) -> None:
        """Set the gains of SET_PID.

        Zeros for the loops of `acro` are ignored: the original reports zeros for them, and clients send these back.
        """
        with self._lock:
            for name, value in body.items():
                if name in self.loops:
                    if not isinstance(value, dict):
                        raise BadBody(
                            f"{name} must be an object of p, i, d, windupCap, gain and limit; found {shorten(value)}"
                        )
                    if not name.endswith("Speed") or any(value.values()):
                        self.loops[name].set(value)

    def loops_body(self) -> dict[str, dict[str, float]]:
        """Return the answer to an empty SET_PID."""
        return {name: loop.settings() for name, loop in self.loops.items()}

    # -------------------------------------------------------------------------------------------- simulation loop

    def update(self, state: RobotState, step: float) -> None:
        """Command the thrusters if they are armed and the mode is `acro` or `stable`.

        Args:
            state: State of the robot.
            step: Length of a step of the world, s.
        """
        with self._lock:
            if not self.armed or self.mode == "manual":
                self._tick = None
                return
            before, self._tick = self._tick, state.tick
            seconds = step * (state.tick - before) if before is not None else 0.0
            if seconds <= 0.0:
                return
            outputs = self._stable(state, seconds) if self.mode == "stable" else self._acro(state, seconds)
        self._drive(self._mix(outputs))

    def _acro(self, state: RobotState, seconds: float) -> list[float]:
        """Return the outputs of `acro`; the sign of the original is wrong and drives the robot off the setpoint."""
        axes = zip(AXES, self.rates, state.body_rates, strict=True)
        return [-self.loops[f"{axis}Speed"].step(setpoint - now, seconds) for axis, setpoint, now in axes] + [
            *self.velocity
        ]

    def _stable(self, state: RobotState, seconds: float) -> list[float]:
        """Return the outputs of `stable`: the loops act on the attitude error (shorter way round) minus the body rates.

        Only the attitude error is differentiated. The derivative of the angular velocity would act as a negative
        inertia that is larger than the inertia of the robot.
        """
        error = multiply(inverse(from_euler(self.angles)), state.pose.orientation)
        correction = FLU_TO_UNITY.angular(error[:3] * np.copysign(ERROR_GAIN, error[3])).tolist()
        axes = zip(AXES, correction, state.body_rates, strict=True)
        outputs = [self.loops[axis].step(rate - now, seconds, derive=rate) for axis, rate, now in axes]
        right, up, forward = self.velocity
        if self.depth != 0.0:
            lift = self.loops["depth"].step(-self.depth - state.position[1], seconds)
            up_axis = FLU_TO_UNITY.vector(rotate(inverse(state.pose.orientation), [0.0, 0.0, 1.0])).tolist()
            # Vertical force whatever the attitude; the horizontal thrusters are turned by 30° from the nose.
            right, up, forward = (
                right + lift * up_axis[0],
                up + 0.5 * lift * up_axis[1],
                forward + lift * up_axis[2] / sqrt(3.0),
            )
        return [*outputs, right, up, forward]

    def _mix(self, outputs: list[float]) -> dict[str, float]:
        """Return throttles for the six outputs of MIX; if a thruster would exceed 1, all are scaled down alike."""
        shares = {
            name: sum(sign * output for sign, output in zip(signs, outputs, strict=True)) for name, signs in MIX.items()
        }
        largest = max(1.0, *map(abs, shares.values()))
        forces = {name: min(max(FORCE * share / largest, MIN_FORCE), MAX_FORCE) for name, share in shares.items()}
        return {name: self._thrusters[name].command_for(force) for name, force in forces.items()}
