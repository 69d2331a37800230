"""A hinge: turns a link to an angle."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skerry.actuators.joints import JointActuatorConfig, need_joint
from skerry.core.config import Positive
from skerry.parts.actuator import Actuator
from skerry.parts.law import Attach
from skerry.physics.joint_drive import WANTED, JointDrive


class HingeActuator(Actuator):
    """Commanded by `angle=`, rad."""

    keyword = "angle"

    def __init__(self, config: Hinge, drive: JointDrive, maximum: float) -> None:
        super().__init__([(config.link, drive)], (-maximum, maximum), 0.0, config.expected_frequency)
        self._drive = drive
        self._sign = -1.0 if config.reverse else 1.0

    @property
    def wanted(self) -> float:
        return self._sign * float(self._drive.memory[WANTED])

    @property
    def feedback(self) -> float:
        return self._sign * self._drive.read()

    def _set(self, value: float) -> None:
        self._drive.go_to(self._sign * value)


class Hinge(JointActuatorConfig):
    """A servo on a revolute joint."""

    kind: Literal["hinge"] = "hinge"
    maximum: Positive | None = Field(None, description="largest angle either way, rad; the joint's own by default")
    reverse: bool = Field(False, description="turn the other way than commanded")

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        joint = need_joint(at, "revolute", "continuous")
        maximum = self.maximum if self.maximum is not None else min(-joint.lower, joint.upper)
        return HingeActuator(self, self.drive(at, 0.0), maximum)
