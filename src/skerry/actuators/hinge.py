"""Hinge: turns a link to an angle."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from skerry.actuators.drives.joints import JointActuatorConfig, need_joint
from skerry.core.config import Positive
from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator, CommandSlot
from skerry.parts.law import Attach
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import SETPOINT, JointDrive

ROUNDING = 5e-4  # rad by which `maximum` may be above the limit of the joint, as both are often rounded to 3 digits


class HingeActuator(Actuator):
    """Hinge, commanded by `angle=` (rad)."""

    keyword = "angle"
    unit = "rad"

    def __init__(self, config: Hinge, drive: JointDrive, lower: float, upper: float) -> None:
        limits = (-upper, -lower) if config.reverse else (lower, upper)
        super().__init__([(config.link, drive)], limits, _nearest_to_zero(*limits), config.expected_frequency)
        self._drive = drive
        self._sign = -1.0 if config.reverse else 1.0

    @property
    def setpoint(self) -> float:
        return self._sign * float(self._drive.memory[SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._drive.position, self._sign)

    @property
    def command_slot(self) -> CommandSlot:
        return CommandSlot(self._drive.memory[SETPOINT : SETPOINT + 1], self._sign)

    def _set(self, value: float) -> None:
        self._drive.go_to(self._sign * value)


class Hinge(JointActuatorConfig):
    """Settings of a servo on a revolute joint."""

    kind: Literal["hinge"] = "hinge"
    maximum: Positive | None = Field(
        None, description="largest angle in both directions, rad; at most the limit of the joint, which also applies"
    )
    reverse: bool = Field(False, description="whether it turns in the negative direction of its joint")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "fin"} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        joint = need_joint(at, "revolute", "continuous")
        lower, upper = joint.lower, joint.upper
        if self.maximum is not None:
            limit = max(-lower, upper)
            if self.maximum > limit + ROUNDING:
                raise SkerryError(
                    f"`maximum` is {self.maximum:g} rad, beyond the limit of joint {joint.name!r}, {limit:g} rad; "
                    "lower `maximum`, or raise the limit in the URDF"
                )
            lower, upper = max(lower, -self.maximum), min(upper, self.maximum)
        if lower > upper:
            raise SkerryError(
                f"`maximum` is {self.maximum} rad, but the range of joint {joint.name!r} is {joint.lower} rad to "
                f"{joint.upper} rad; no angle is within both"
            )
        return HingeActuator(self, self.drive(at, _nearest_to_zero(lower, upper)), lower, upper)


def _nearest_to_zero(lower: float, upper: float) -> float:
    """Return the start angle of a hinge: 0 if its range contains 0, otherwise the nearest limit."""
    return min(max(0.0, lower), upper)
