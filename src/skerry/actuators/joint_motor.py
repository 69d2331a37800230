"""Joint motor: moves a joint through a gear, with an encoder on its shaft and limit switches at both ends."""

from __future__ import annotations

from typing import Any, Literal, Self

from skerry.actuators.drives.joints import need_joint
from skerry.actuators.drives.motors import MotorActuator, MotorConfig
from skerry.parts.law import Attach


class JointMotor(MotorConfig):
    """Settings of a geared motor on the joint above its link."""

    kind: Literal["joint_motor"] = "joint_motor"

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "wheel", "maximum_rpm": 30} | settings)

    def build(self, attach: Attach) -> MotorActuator:
        at = attach(self.link)
        joint = need_joint(at, "revolute", "continuous", "prismatic")
        drive = self.motor(joint, at.step, (joint.lower, joint.upper), joint.effort, self.geared_inertia())
        return MotorActuator(self, self.link, drive)
