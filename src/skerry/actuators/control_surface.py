"""Control surface: a fin on a hinge."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.actuators.drives.joints import JointActuatorConfig, need_joint
from skerry.actuators.hinge import Hinge
from skerry.core.config import Positive
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.parts.actuator import Actuator, CommandSlot
from skerry.parts.law import Attach, Law
from skerry.parts.state_channel import StateChannel
from skerry.physics.laws.fin import BROADSIDE, SLOPE, FinShape


class ControlSurfaceActuator(Actuator):
    """Control surface, commanded by `angle=` of its hinge (rad)."""

    keyword = "angle"
    unit = "rad"

    def __init__(self, config: ControlSurface, hinge: Actuator, fin: Law, pose: Pose) -> None:
        laws = [*hinge.laws, (config.link, fin)]
        super().__init__(laws, hinge.limits, hinge.reset_value, config.expected_frequency)
        self._hinge = hinge
        self.pose = pose  # pose at angle 0 on the body that carries the hinge
        self.area = config.area  # m²
        self.lift_slope = float(fin.constants[SLOPE])  # C_L per rad in attached flow
        # C_D of a plate across the flow; also the lift slope in backward flow
        self.broadside_drag = float(fin.constants[BROADSIDE])

    @property
    def setpoint(self) -> float:
        return self._hinge.setpoint

    @property
    def state_channel(self) -> StateChannel:
        return self._hinge.state_channel

    @property
    def command_slot(self) -> CommandSlot | None:
        return self._hinge.command_slot

    def _set(self, value: float) -> None:
        self._hinge._set(value)


class ControlSurface(JointActuatorConfig, FinShape):
    """Settings of a fin on a revolute joint; `position` is its centre of pressure, x is forward, y along its span."""

    kind: Literal["control_surface"] = "control_surface"
    maximum: Positive | None = Field(
        None, description="largest angle in both directions, rad; the limits of the joint also apply"
    )
    reverse: bool = Field(False, description="whether it turns in the negative direction of its joint")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "fin", "area": 0.02, "aspect_ratio": 2} | settings)

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        hinge = Hinge(
            link=self.link,
            expected_frequency=self.expected_frequency,
            frequency_hz=self.frequency_hz,
            damping_ratio=self.damping_ratio,
            armature=self.armature,
            maximum=self.maximum,
            reverse=self.reverse,
        ).build(attach)
        joint = need_joint(at, "revolute", "continuous")
        hinge_pose = Pose(np.array(joint.position), rpy_to_quaternion(joint.rpy))
        pose = attach(joint.parent).offset @ hinge_pose @ self.offset()
        return ControlSurfaceActuator(self, hinge, self.law_at(at.offset @ self.offset(), at.water_density), pose)
