"""Prismatic actuator: moves a link along a prismatic joint, commanded in percent of the travel."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from skerry.actuators.drives.joints import JointActuatorConfig, need_joint
from skerry.formats.urdf import UrdfJoint
from skerry.parts.actuator import Actuator
from skerry.parts.law import Attach
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import SETPOINT, JointDrive


class PrismaticActuator(Actuator):
    """Prismatic actuator, commanded by `percent=`: 0 is the lower limit of the joint, 100 the upper limit."""

    keyword = "percent"
    unit = "%"

    def __init__(self, config: Prismatic, drive: JointDrive, joint: UrdfJoint) -> None:
        super().__init__([(config.link, drive)], (0.0, 100.0), config.reset_value, config.expected_frequency)
        self._drive = drive
        self._joint = joint

    @property
    def setpoint(self) -> float:
        return to_percent(self._joint, float(self._drive.memory[SETPOINT]))

    @property
    def state_channel(self) -> StateChannel:
        joint = self._joint
        return StateChannel(self._drive.position, 100.0, zero=joint.lower, span=joint.upper - joint.lower)

    def _set(self, value: float) -> None:
        self._drive.go_to(to_travel(self._joint, value))


class Prismatic(JointActuatorConfig):
    """Settings of a servo on a prismatic joint."""

    kind: Literal["prismatic"] = "prismatic"
    reset_value: float = Field(50.0, ge=0, le=100, description="position at the start and after a reset, %")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "piston"} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        joint = need_joint(at, "prismatic")
        return PrismaticActuator(self, self.drive(at, to_travel(joint, self.reset_value)), joint)


def to_travel(joint: UrdfJoint, percent: float) -> float:
    """Convert a percentage of the travel to the position of the joint, m."""
    return joint.lower + (joint.upper - joint.lower) * percent / 100.0


def to_percent(joint: UrdfJoint, position: float) -> float:
    """Convert the position of the joint (m) to a percentage of the travel."""
    return 100.0 * (position - joint.lower) / (joint.upper - joint.lower)
