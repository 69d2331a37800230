"""Propeller: thrust along its shaft and torque about it, proportional to rpm or by an open-water curve.

Linear: T = k rpm, and Q = c T. Open water: T = ρ D⁴ (K_T0 n|n| + (K_Tmax − K_T0)/J_max (V_a/D) |n|), and Q likewise
with D⁵ and K_Q; n is in rev/s, V_a = (1 − w) times the speed of the water through the disc (Fossen 2021, eq. 9.7 to
9.10, a straight line through K(0) and K(J_max)). Backwards, the thrust is the bollard thrust times an efficiency. The
reaction torque on the body is −Q about the shaft. The thrust is multiplied by the fraction of the disc inside its
medium: below the surface for a propeller in water, above it for a propeller in air.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.actuators.drives.shaft import (
    ACTUAL,
    ANGLE,
    AX,
    AY,
    AZ,
    COUNT,
    DIAMETER,
    OWN,
    SENSE,
    SETPOINT,
    THRUST,
    ShaftActuator,
    X,
    Y,
    Z,
    apply_thrust,
    submerged_fraction,
)
from skerry.core.config import Config, NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.parts.actuator import Actuator, ActuatorConfig, CommandSlot
from skerry.parts.law import (
    DENSITY,
    RELATIVE,
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
from skerry.water.water import DEFAULT_DENSITY

(
    MEDIUM, PER_RPM, TORQUE_PER_THRUST, KT0, KT_SLOPE, KQ0, KQ_SLOPE, INFLOW, BACKWARDS, LAG, RATE, STEP, CONSTANTS,
) = range(OWN, OWN + 13)  # fmt: skip
WATER, AIR = 0.0, 1.0


@law
def spin_up(model: int, data: int, table: int) -> None:
    """Move the shaft speed towards the command: first-order lag with a rate limit; exact for a constant command."""
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    change = state[SETPOINT] - state[ACTUAL]
    if c[LAG] > 0.0:
        change *= 1.0 - np.exp(-c[STEP] / c[LAG])
    most = c[RATE] * c[STEP]
    state[ACTUAL] += min(max(change, -most), most)
    state[ANGLE] = (state[ANGLE] + c[SENSE] * state[ACTUAL] * (np.pi / 30.0) * c[STEP]) % (2.0 * np.pi)


@law
def push(model: int, data: int, table: int) -> None:
    """Compute thrust and torque and apply them to the body."""
    block = block_of(data, table)
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    x, y, z, ax, ay, az = c[X], c[Y], c[Z], c[AX], c[AY], c[AZ]
    share = submerged_fraction(block, c)
    if c[MEDIUM] == AIR:
        share = 1.0 - share
    n = state[ACTUAL] / 60.0
    if c[PER_RPM] > 0.0:
        thrust = c[PER_RPM] * state[ACTUAL]
        if n < 0.0:
            thrust *= c[BACKWARDS]
        torque = c[TORQUE_PER_THRUST] * thrust
    else:
        v = block[RELATIVE : RELATIVE + 6]
        speed = (
            ax * (v[0] + v[4] * z - v[5] * y) + ay * (v[1] + v[5] * x - v[3] * z) + az * (v[2] + v[3] * y - v[4] * x)
        )
        if n > 0.0:
            advance = c[INFLOW] * max(speed, 0.0) / c[DIAMETER] * n
            thrust = c[KT0] * n * n + c[KT_SLOPE] * advance
            torque = c[KQ0] * n * n + c[KQ_SLOPE] * advance
        else:
            thrust = -c[KT0] * n * n * c[BACKWARDS]
            torque = -c[KQ0] * n * n * c[BACKWARDS]
        scale = block[DENSITY] * c[DIAMETER] ** 4
        thrust *= scale
        torque *= scale * c[DIAMETER]
    apply_thrust(block, state, c, thrust * share, torque * share)


class PropellerActuator(ShaftActuator):
    """Propeller, commanded by `rpm=`; positive rpm push forward for either sense of rotation."""

    keyword = "rpm"
    unit = "rpm"

    def __init__(self, config: Propeller, shaft: Law, reset_value: float) -> None:
        limits = (-config.maximum_rpm, config.maximum_rpm)
        super().__init__([(config.link, shaft)], limits, reset_value, config.expected_frequency)
        self._shaft = shaft
        self._efficiency = config.efficiency if config.open_water or config.torque_per_thrust > 0 else None
        self._minimum = config.minimum_rpm

    @property
    def setpoint(self) -> float:
        return float(self._shaft.memory[SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._shaft.memory[ACTUAL : ACTUAL + 1])

    def rpm_from(self, read: Read) -> Any:
        return read(self.state_channel)

    @property
    def thrust_per_rpm(self) -> float | None:
        """Thrust per rpm forwards, N; None if the thrust is not linear in rpm."""
        return float(self._shaft.constants[PER_RPM]) or None

    @property
    def thrust_limits(self) -> tuple[float, float]:
        return self._thrust_at(self.limits[0]), self._thrust_at(self.limits[1])

    def command_for(self, thrust: float) -> float:
        largest, full = self.thrust_limits[thrust > 0.0], self.limits[thrust > 0.0]
        share = min(thrust / largest, 1.0) if largest else 0.0
        return full * (share if self.thrust_per_rpm else float(np.sqrt(share)))

    def _thrust_at(self, rpm: float) -> float:
        """Return the thrust at rest, N; an open-water curve uses the default density of water."""
        c, n = self._shaft.constants, rpm / 60.0
        thrust = c[PER_RPM] * rpm or DEFAULT_DENSITY * c[DIAMETER] ** 4 * c[KT0] * n * abs(n)
        return float(thrust * (c[BACKWARDS] if rpm < 0.0 else 1.0))

    @property
    def torque_per_thrust(self) -> float:
        """Reaction torque on the body about the thrust axis per thrust, N m/N; only with `rpm_to_force`."""
        return float(-self._shaft.constants[SENSE] * self._shaft.constants[TORQUE_PER_THRUST])

    def power_from(self, read: Read) -> Any | None:
        """Return shaft power divided by the efficiency in the last step, W; None if it has no torque."""
        return None if self._efficiency is None else self.shaft_power_from(read, self.rpm_from(read)) / self._efficiency

    @property
    def command_slot(self) -> CommandSlot:
        return CommandSlot(self._shaft.memory[SETPOINT : SETPOINT + 1], minimum=self._minimum)

    def _set(self, value: float) -> None:
        self._shaft.memory[SETPOINT] = value if abs(value) >= self._minimum else 0.0


class OpenWater(Config):
    """Open-water curve: a straight line from advance ratio J = 0 (bollard) to the largest J."""

    diameter: Positive = Field(description="diameter of the disc, m")
    thrust_at_rest: Positive = Field(description="K_T at J = 0")
    torque_at_rest: Positive = Field(description="K_Q at J = 0")
    thrust_at_most: NonNegative = Field(description="K_T at the largest J")
    torque_at_most: NonNegative = Field(description="K_Q at the largest J")
    largest_advance: Positive = Field(description="largest advance ratio J")
    inflow: Positive = Field(
        1.0, description="speed of the water through the disc over that of the vehicle: 1 − wake fraction"
    )


class Propeller(ActuatorConfig):
    """Settings of a propeller that pushes along the x axis of its mount."""

    kind: Literal["propeller"] = "propeller"
    rpm_to_force: Positive | None = Field(None, description="thrust per rpm, N; alternative to `open_water`")
    torque_per_thrust: NonNegative = Field(0.0, description="torque per thrust, N m/N; used with `rpm_to_force`")
    open_water: OpenWater | None = None
    maximum_rpm: Positive = Field(description="largest rpm in both directions")
    minimum_rpm: NonNegative = Field(0.0, description="a command of smaller magnitude counts as 0")
    reverse: bool = Field(False, description="whether it rotates against the right-hand rule about its thrust")
    reverse_efficiency: NonNegative = Field(1.0, description="thrust backwards divided by thrust forwards")
    medium: Literal["water", "air"] = "water"
    diameter: Positive | None = Field(
        None, description="diameter of the disc, m; used with `rpm_to_force` at the surface; 0.1 by default"
    )
    lag: NonNegative = Field(0.0, description="time constant of the shaft, s")
    rate: Positive | None = Field(None, description="largest change of the shaft speed, rpm per second")
    hover_default: bool = Field(
        False, description="whether the start and reset value is the rpm that carries the vehicle and what hangs on it"
    )
    field: PropellerField | None = Field(None, description="wash and inflow that push other bodies; none by default")
    efficiency: float = Field(1.0, gt=0, le=1, description="shaft power divided by electric power")
    num_propellers: int = Field(
        4, ge=1, description="number of propellers that share the weight; used with `hover_default`"
    )

    @model_validator(mode="after")
    def _check_consistency(self) -> Propeller:
        if (self.rpm_to_force is None) == (self.open_water is None):
            raise ValueError("give either `rpm_to_force` or `open_water`")
        if self.hover_default and self.rpm_to_force is None:
            raise ValueError("`hover_default` needs `rpm_to_force`")
        if self.open_water is not None:
            if self.medium == "air":
                raise ValueError("`open_water` needs `medium: water`; a propeller in air needs `rpm_to_force`")
            if self.torque_per_thrust > 0 or self.diameter is not None:
                raise ValueError(
                    "`torque_per_thrust` and `diameter` are for `rpm_to_force`; omit them with `open_water`"
                )
        if self.minimum_rpm > self.maximum_rpm:
            raise ValueError("`minimum_rpm` must not be above `maximum_rpm`")
        return self

    @property
    def joint_is_visual(self) -> bool:
        return True

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"rpm_to_force": 0.01, "maximum_rpm": 1500} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        reset = 0.0
        if self.hover_default:
            assert self.rpm_to_force is not None
            mass = at.robot_mass + at.hanging_mass
            reset = mass * at.gravity / self.num_propellers / self.rpm_to_force
            if reset > self.maximum_rpm:
                raise SkerryError(
                    f"`hover_default` needs {reset:.0f} rpm to carry {mass:g} kg with {self.num_propellers} "
                    f"propellers, but `maximum_rpm` is {self.maximum_rpm:g}; set a larger `maximum_rpm`, "
                    "`rpm_to_force` or `num_propellers`, or `hover_default: false`"
                )
        pose = at.offset @ self.offset()
        shaft = Law(
            self._constants(pose, at.step),
            force=push,
            update=spin_up,
            initial_state=np.array([reset, reset, 0.0, 0.0, 0.0]),
        )
        if self.medium == "water":
            shaft.jet = Jet(pose.rotation[:, 0], float(shaft.constants[DIAMETER]), THRUST)
        if self.field is not None:
            disc = float(shaft.constants[DIAMETER])
            shaft.wash = (self.field.row(pose.position, pose.rotation[:, 0], disc, self.medium), THRUST)
        return PropellerActuator(self, shaft, reset)

    def _constants(self, pose: Pose, step: float) -> NDArray[np.float64]:
        c = np.zeros(CONSTANTS)
        c[X : Z + 1], c[AX : AZ + 1] = pose.position, pose.rotation[:, 0]
        c[SENSE] = -1.0 if self.reverse else 1.0
        c[MEDIUM] = AIR if self.medium == "air" else WATER
        c[DIAMETER] = self.open_water.diameter if self.open_water else self.diameter or 0.1
        c[PER_RPM], c[TORQUE_PER_THRUST] = self.rpm_to_force or 0.0, self.torque_per_thrust
        if curve := self.open_water:
            c[KT0], c[KQ0] = curve.thrust_at_rest, curve.torque_at_rest
            c[KT_SLOPE] = (curve.thrust_at_most - curve.thrust_at_rest) / curve.largest_advance
            c[KQ_SLOPE] = (curve.torque_at_most - curve.torque_at_rest) / curve.largest_advance
            c[INFLOW] = curve.inflow
        c[BACKWARDS], c[LAG], c[RATE], c[STEP] = self.reverse_efficiency, self.lag, self.rate or np.inf, step
        return c
