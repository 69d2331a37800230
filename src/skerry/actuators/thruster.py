"""Thruster with a thrust curve: force over throttle, from measurements at rest, a polynomial or a table.

The throttle follows its command with a first-order lag. Every curve is converted to a fine table over throttle,
linear between its nodes. The force is multiplied by the fraction of the disc under water. The reaction torque on the
body is −Q about the shaft, with Q = c T. The speed of the thruster through the water does not change the force; use a
propeller with an open-water curve where that matters.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.actuators.drives.shaft import (
    ACTUAL,
    ANGLE,
    AX,
    AZ,
    COUNT,
    DIAMETER,
    OWN,
    SENSE,
    SETPOINT,
    THRUST,
    ShaftActuator,
    X,
    Z,
    apply_thrust,
    submerged_fraction,
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
SPEEDS = FORCES + NODES  # FORCES is the start of the force curve (N), SPEEDS that of the shaft speed (rad/s)
CONSTANTS = SPEEDS + NODES


@law
def spin_up(model: int, data: int, table: int) -> None:
    """Move the throttle towards the command with a first-order lag; exact for a constant command."""
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    change = state[SETPOINT] - state[ACTUAL]
    if c[LAG] > 0.0:
        change *= 1.0 - np.exp(-c[STEP] / c[LAG])
    state[ACTUAL] += change
    at = 0.5 * (state[ACTUAL] + 1.0) * (NODES - 1)
    node = min(max(int(at), 0), NODES - 2)
    part = at - node
    speed = (1.0 - part) * c[SPEEDS + node] + part * c[SPEEDS + node + 1]
    state[ANGLE] = (state[ANGLE] + c[SENSE] * speed * c[STEP]) % (2.0 * np.pi)


@law
def push(model: int, data: int, table: int) -> None:
    """Compute thrust and torque and apply them to the body."""
    block = block_of(data, table)
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    at = 0.5 * (state[ACTUAL] + 1.0) * (NODES - 1)
    node = min(max(int(at), 0), NODES - 2)
    part = at - node
    force = (1.0 - part) * c[FORCES + node] + part * c[FORCES + node + 1]
    thrust = submerged_fraction(block, c) * force
    apply_thrust(block, state, c, thrust, c[TORQUE_PER_THRUST] * thrust)


class ThrusterActuator(ShaftActuator):
    """Thruster, commanded by `throttle=` (−1 to 1) or by `pulse_width=` (1100 µs to 1900 µs), as its settings say.

    If its curve has rpm, it is also commanded by `rpm=`, which is converted to throttle.
    """

    def __init__(self, config: Thruster, shaft: Law, curve: ThrustCurve) -> None:
        self.keyword = config.command
        self.unit = "µs" if config.command == "pulse_width" else ""
        self._middle, self._half = (MIDDLE_PULSE, HALF_PULSE) if config.command == "pulse_width" else (0.0, 1.0)
        limits = (self._middle - self._half, self._middle + self._half)
        super().__init__([(config.link, shaft)], limits, self._middle, config.expected_frequency)
        self._shaft = shaft
        self._curve = curve
        self._rising = np.maximum.accumulate(
            curve.force
        )  # measured curves are not monotonic where they are almost flat
        self.torque_is_known = config.torque_per_thrust > 0.0

    @property
    def setpoint(self) -> float:
        return self._middle + self._half * float(self._shaft.memory[SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._shaft.memory[ACTUAL : ACTUAL + 1], self._half, self._middle)

    @property
    def thrust_limits(self) -> tuple[float, float]:
        return float(self._curve.force[0]), float(self._curve.force[-1])

    def command_for(self, thrust: float) -> float:
        throttle = float(np.interp(thrust, self._rising, THROTTLES)) if thrust else 0.0
        return self._middle + self._half * throttle

    def rpm_from(self, read: Read) -> Any | None:
        return self._by(read, self._curve.rpm)

    @property
    def keywords(self) -> tuple[str, ...]:
        return (self.keyword,) if self._curve.rpm is None else (self.keyword, "rpm")

    def _checked(self, value: dict[str, float]) -> dict[str, float]:
        if self._curve.rpm is None or value.keys() != {"rpm"}:
            return super()._checked(value)
        rising = np.maximum.accumulate(self._curve.rpm)
        rpm = within("rpm", value["rpm"], (float(rising[0]), float(rising[-1])))
        throttle = float(np.interp(rpm, rising, THROTTLES)) if rpm else 0.0
        return {self.keyword: self._middle + self._half * throttle}

    def power_from(self, read: Read) -> Any | None:
        """Return the electric power from the curve, W, otherwise the shaft power; None if neither is known."""
        if self._curve.power is None and (rpm := self.rpm_from(read)) is not None and self.torque_is_known:
            return self.shaft_power_from(read, rpm)
        return self._by(read, self._curve.power)

    def _by(self, read: Read, values: NDArray[np.float64] | None) -> Any | None:
        """Return a column of the curve at the actual throttle; None if the curve does not have the column."""
        if values is None:
            return None
        return np.interp(read(StateChannel(self._shaft.memory[ACTUAL : ACTUAL + 1])), THROTTLES, values)

    def _set(self, value: float) -> None:
        self._shaft.memory[..., SETPOINT] = (value - self._middle) / self._half


class Thruster(ActuatorConfig):
    """Settings of a thruster that pushes along the x axis of its mount, by a curve of force over throttle."""

    kind: Literal["thruster"] = "thruster"
    model: ThrustModel = Field(description="thrust curve: kind `t200`, `polynomial` or `table`")
    command: Literal["throttle", "pulse_width"] = Field(
        "throttle", description="keyword of its command: throttle (−1 to 1) or pulse width (1100 µs to 1900 µs)"
    )
    lag: NonNegative = Field(0.0, description="time constant of the throttle, s")
    torque_per_thrust: NonNegative = Field(0.0, description="torque per thrust, N m/N")
    reverse: bool = Field(False, description="whether it rotates against the right-hand rule about its thrust")
    diameter: Positive = Field(0.1, description="diameter of the disc, m; used at the surface and for its wash")
    field: PropellerField | None = Field(None, description="wash and inflow that push other bodies; none by default")

    @property
    def joint_is_visual(self) -> bool:
        return True

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"model": {"kind": "t200"}} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        pose = at.offset @ self.offset()
        curve = self.model.curve()
        shaft = Law(self._constants(pose, at.step, curve), force=push, update=spin_up, initial_state=np.zeros(COUNT))
        shaft.jet = Jet(pose.rotation[:, 0], self.diameter, THRUST)
        if self.field is not None:
            shaft.wash = (self.field.row(pose.position, pose.rotation[:, 0], self.diameter, "water"), THRUST)
        return ThrusterActuator(self, shaft, curve)

    def _constants(self, pose: Pose, step: float, curve: ThrustCurve) -> NDArray[np.float64]:
        c = np.zeros(CONSTANTS)
        c[X : Z + 1], c[AX : AZ + 1] = pose.position, pose.rotation[:, 0]
        c[SENSE] = -1.0 if self.reverse else 1.0
        c[DIAMETER], c[TORQUE_PER_THRUST], c[LAG], c[STEP] = self.diameter, self.torque_per_thrust, self.lag, step
        c[FORCES:SPEEDS] = curve.force
        if curve.rpm is not None:
            c[SPEEDS:] = curve.rpm * (np.pi / 30.0)
        return c
