"""Variable buoyancy system (VBS): a piston that takes water into a tank, commanded in percent of the tank volume.

The water adds its mass, weight and momentum to the parent body of the piston's joint, at the position of the joint (see
the ballast law). The piston itself moves on its joint.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.actuators.drives.joints import JointActuatorConfig, need_joint
from skerry.actuators.prismatic import to_travel
from skerry.core.config import Positive, Vector3
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.formats.urdf import UrdfJoint
from skerry.parts.actuator import Actuator
from skerry.parts.law import Attach
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import JointDrive
from skerry.physics.laws.ballast import MASS, SETPOINT, Ballast, BallastLaw


class VbsActuator(Actuator):
    """Variable buoyancy system, commanded by `percent=` of the tank volume."""

    keyword = "percent"
    unit = "%"

    def __init__(self, config: Vbs, drive: JointDrive, tank: BallastLaw, joint: UrdfJoint) -> None:
        laws = [(config.link, drive), (joint.parent, tank)]
        super().__init__(laws, (0.0, 100.0), config.reset_value, config.expected_frequency)
        self._drive = drive
        self._tank = tank
        self._joint = joint

    @property
    def setpoint(self) -> float:
        return 100.0 * float(self._tank.memory[SETPOINT]) / self._tank.capacity

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._tank.memory[MASS : MASS + 1], 100.0, span=self._tank.capacity)

    @property
    def water(self) -> float:
        """Mass of the water in the tank, kg."""
        return float(self._tank.mass)

    def _set(self, value: float) -> None:
        self._tank.set_target(self._tank.capacity * value / 100.0)
        self._drive.go_to(to_travel(self._joint, value))


class Vbs(JointActuatorConfig):
    """Settings of a tank with a piston on a prismatic joint; its lower limit is the empty tank, its upper the full."""

    kind: Literal["vbs"] = "vbs"
    volume: Positive = Field(description="volume of the full tank, m³")
    density: Positive | None = Field(None, description="density of the fluid, kg/m³; by default that of the water")
    rate: Positive = Field(description="% of the volume per second")
    reset_value: float = Field(50.0, ge=0, le=100, description="fill at the start and after a reset, %")
    trim_value: float | None = Field(
        None, ge=0, le=100, description="fill at which the vehicle is neutrally buoyant, %; by default `reset_value`"
    )

    def trim_ballast(self, density: float) -> float:
        percent = self.reset_value if self.trim_value is None else self.trim_value
        return self.volume * (self.density or density) * percent / 100.0

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "piston", "volume": 0.0004, "rate": 10} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        joint = need_joint(at, "prismatic")
        tank = Ballast(
            link=joint.parent,
            position=self._tank_position(joint),
            volume=self.volume,
            density=self.density,
            fill=self.reset_value / 100.0,
            rate=self.volume * self.rate / 100.0,
        ).build(attach(joint.parent))
        assert isinstance(tank, BallastLaw)
        speed = (joint.upper - joint.lower) * self.rate / 100.0
        drive = self.drive(at, to_travel(joint, self.reset_value), speed)
        return VbsActuator(self, drive, tank, joint)

    def _tank_position(self, joint: UrdfJoint) -> Vector3:
        """Return the position of the tank in the frame of the parent link, m."""
        origin = Pose(np.array(joint.position), rpy_to_quaternion(joint.rpy))
        x, y, z = (float(value) for value in origin.transform(self.position))
        return x, y, z
