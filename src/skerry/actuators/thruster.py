"""A thruster that is known by a curve: force over throttle, measured at rest, as a polynomial or as a table.

The throttle follows its command with a first-order lag; the force is that of the curve, which takes the same native
form whatever it came from: a fine table of throttle, linear between its nodes. It falls with the share of the disc that
is out of the water. The body feels −Q about the shaft, with Q = c T. How fast the thruster moves through the water does
not change the force; for that take a propeller with its open-water curve.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.actuators.drives.shaft import (
    ANGLE,
    AX,
    AZ,
    COUNT,
    DIAMETER,
    OWN,
    SENSE,
    THRUST,
    TURNING,
    WANTED,
    ShaftActuator,
    X,
    Z,
    push_along,
    share_under_water,
)
from skerry.actuators.drives.thrust_curves import HALF_PULSE, MIDDLE_PULSE, NODES, THROTTLES, ThrustCurve, ThrustModel
from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.parts.actuator import Actuator, ActuatorConfig, within
from skerry.parts.law import (
    Attach,
    Jet,
    Law,
    block_of,
    constants_of,
    law,
    state_of,
)
from skerry.parts.state_channel import Read, StateChannel
from skerry.water.fields import PropellerField

TORQUE_PER_THRUST, LAG, STEP, FORCES = range(OWN, OWN + 4)
SPEEDS = FORCES + NODES  # two curves over throttle: N from FORCES on, rad/s of the shaft from here on
CONSTANTS = SPEEDS + NODES


@law
def spin_up(model: int, data: int, table: int) -> None:
    """Let the throttle follow the command, first order; exact for a command that holds."""
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    change = state[WANTED] - state[TURNING]
    if c[LAG] > 0.0:
        change *= 1.0 - np.exp(-c[STEP] / c[LAG])
    state[TURNING] += change
    at = 0.5 * (state[TURNING] + 1.0) * (NODES - 1)
    node = min(max(int(at), 0), NODES - 2)
    part = at - node
    speed = (1.0 - part) * c[SPEEDS + node] + part * c[SPEEDS + node + 1]
    state[ANGLE] = (state[ANGLE] + c[SENSE] * speed * c[STEP]) % (2.0 * np.pi)


@law
def push(model: int, data: int, table: int) -> None:
    """Thrust and torque."""
    block = block_of(data, table)
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    at = 0.5 * (state[TURNING] + 1.0) * (NODES - 1)
    node = min(max(int(at), 0), NODES - 2)
    part = at - node
    force = (1.0 - part) * c[FORCES + node] + part * c[FORCES + node + 1]
    thrust = share_under_water(block, c) * force
    push_along(block, state, c, thrust, c[TORQUE_PER_THRUST] * thrust)


class ThrusterActuator(ShaftActuator):
    """Commanded by `throttle=`, −1 to 1, or by `pulse_width=`, 1100 µs to 1900 µs, as its settings say.

    Where its curve knows the rpm, also by `rpm=`: the throttle is the one that turns it so.
    """

    def __init__(self, config: Thruster, shaft: Law, curve: ThrustCurve) -> None:
        self.keyword = config.command
        self._middle, self._half = (MIDDLE_PULSE, HALF_PULSE) if config.command == "pulse_width" else (0.0, 1.0)
        limits = (self._middle - self._half, self._middle + self._half)
        super().__init__([(config.link, shaft)], limits, self._middle, config.expected_frequency)
        self._shaft = shaft
        self._curve = curve
        self._rising = np.maximum.accumulate(curve.force)  # measured curves may dip where they are almost level
        self.torque_is_known = config.torque_per_thrust > 0.0

    @property
    def setpoint(self) -> float:
        return self._middle + self._half * float(self._shaft.memory[WANTED])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._shaft.memory[TURNING : TURNING + 1], self._half, self._middle)

    @property
    def thrust_limits(self) -> tuple[float, float]:
        return float(self._curve.force[0]), float(self._curve.force[-1])

    def command_for(self, thrust: float) -> float:
        throttle = float(np.interp(thrust, self._rising, THROTTLES)) if thrust else 0.0
        return self._middle + self._half * throttle

    def rpm_by(self, read: Read) -> Any | None:
        return self._by(read, self._curve.rpm)

    @property
    def keywords(self) -> tuple[str, ...]:
        return (self.keyword,) if self._curve.rpm is None else (self.keyword, "rpm")

    def _checked(self, value: dict[str, float]) -> float:
        if self._curve.rpm is None or value.keys() != {"rpm"}:
            return super()._checked(value)
        rising = np.maximum.accumulate(self._curve.rpm)
        rpm = within("rpm", value["rpm"], (float(rising[0]), float(rising[-1])))
        return self._middle + self._half * (float(np.interp(rpm, rising, THROTTLES)) if rpm else 0.0)

    def power_from(self, read: Read) -> Any | None:
        """Drawn, W, by the curve, or else torque times speed of the shaft; None if neither is known."""
        if self._curve.power is None and (rpm := self.rpm_by(read)) is not None and self.torque_is_known:
            return self.shaft_power_from(read, rpm)
        return self._by(read, self._curve.power)

    def _by(self, read: Read, values: NDArray[np.float64] | None) -> Any | None:
        """What a column of the curve has at the throttle that it runs with."""
        if values is None:
            return None
        return np.interp(read(StateChannel(self._shaft.memory[TURNING : TURNING + 1])), THROTTLES, values)

    def _set(self, value: float) -> None:
        self._shaft.memory[..., WANTED] = (value - self._middle) / self._half


class Thruster(ActuatorConfig):
    """A thruster that pushes along the x axis of its mount, by a curve of force over throttle."""

    kind: Literal["thruster"] = "thruster"
    model: ThrustModel = Field(description="the curve: kind `t200`, `polynomial` or `table`")
    command: Literal["throttle", "pulse_width"] = Field(
        "throttle", description="its keyword: throttle from −1 to 1, or pulse width from 1100 µs to 1900 µs"
    )
    lag: NonNegative = Field(0.0, description="time constant of the throttle, s")
    torque_per_thrust: NonNegative = Field(0.0, description="N m per N")
    reverse: bool = Field(False, description="turns against the right-hand rule about its thrust")
    diameter: Positive = Field(0.1, description="m: how soon it is out of the water, and how wide its wash is")
    field: PropellerField | None = Field(None, description="the wash and suction that others feel; none by default")

    @property
    def joint_is_visual(self) -> bool:
        return True

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        place = at.offset @ self.offset()
        curve = self.model.curve()
        shaft = Law(self._constants(place, at.step, curve), force=push, update=spin_up, initial_state=np.zeros(COUNT))
        shaft.jet = Jet(place.rotation[:, 0], self.diameter, THRUST)
        if self.field is not None:
            shaft.wash = (self.field.row(place.position, place.rotation[:, 0]), THRUST)
        return ThrusterActuator(self, shaft, curve)

    def _constants(self, place: Pose, step: float, curve: ThrustCurve) -> NDArray[np.float64]:
        c = np.zeros(CONSTANTS)
        c[X : Z + 1], c[AX : AZ + 1] = place.position, place.rotation[:, 0]
        c[SENSE] = -1.0 if self.reverse else 1.0
        c[DIAMETER], c[TORQUE_PER_THRUST], c[LAG], c[STEP] = self.diameter, self.torque_per_thrust, self.lag, step
        c[FORCES:SPEEDS] = curve.force
        if curve.rpm is not None:
            c[SPEEDS:] = curve.rpm * (np.pi / 30.0)
        return c
