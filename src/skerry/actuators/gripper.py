"""Gripper: one motor opens and closes coupled fingers with a limited force."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from skerry.actuators.drives.joints import need_joint
from skerry.actuators.drives.motors import BY_ANGLE, MotorActuator, MotorConfig
from skerry.core.config import Positive
from skerry.parts.actuator import within
from skerry.parts.law import Attach
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import SETPOINT, JointDrive


class GripperActuator(MotorActuator):
    """Gripper, commanded by `opening=` (0 closed, 1 open), or by `power=` (positive opens)."""

    keyword = "opening"

    def __init__(self, config: Gripper, drive: JointDrive) -> None:
        super().__init__(config, config.link, drive)
        self._set_power = super()._set
        self.limits = (0.0, 1.0)
        self.reset_value = (
            self._opening(self._sign * drive.joint_start) if config.reset_value is None else config.reset_value
        )
        drive.initial_state[[SETPOINT, BY_ANGLE]] = self._sign * self._angle_of(self.reset_value), 1.0

    @property
    def setpoint(self) -> float:
        """Commanded opening; if it was commanded by power, the present opening."""
        memory = self._drive.memory
        return self._opening(self._sign * float(memory[SETPOINT])) if memory[BY_ANGLE] else self.feedback

    @property
    def state_channel(self) -> StateChannel:
        """State channel of the opening, 0 to 1."""
        lower, upper = self.angle_limits
        return StateChannel(self._drive.position, self._sign, zero=self._sign * lower, span=upper - lower)

    @property
    def keywords(self) -> tuple[str, ...]:
        return ("opening", "power", "angle")

    def _checked(self, value: dict[str, float]) -> dict[str, float]:
        if list(value) == ["power"]:
            return {"power": within("power", value["power"], (-1.0, 1.0))}
        return super()._checked(value)

    def _write(self, checked: dict[str, float]) -> None:
        if "power" in checked:
            self._write_limits(checked)
            self._set_power(checked["power"])
        else:
            super()._write(checked)

    def _set(self, value: float) -> None:
        self._go_to(self._angle_of(value))

    def _opening(self, angle: float) -> float:
        lower, upper = self.angle_limits
        return (angle - lower) / (upper - lower)

    def _angle_of(self, opening: float) -> float:
        lower, upper = self.angle_limits
        return lower + opening * (upper - lower)


class Gripper(MotorConfig):
    """Settings of a gripper: a motor on one finger's joint; the other fingers follow by `<mimic>` in the URDF."""

    kind: Literal["gripper"] = "gripper"
    force: Positive | None = Field(
        None, description="largest force at the tip of a finger, N; by default from the effort of the joint"
    )
    finger_length: Positive = Field(0.1, description="distance from the joint to the tip, m; used with `force`")
    reset_value: float | None = Field(
        None,
        ge=0,
        le=1,
        description="opening at the start and after a reset; by default the opening at joint position 0",
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "fin", "maximum_rpm": 10} | settings)

    def build(self, attach: Attach) -> GripperActuator:
        at = attach(self.link)
        joint = need_joint(at, "revolute", "prismatic")
        arm = self.finger_length if joint.kind == "revolute" else 1.0
        effort = joint.effort if self.force is None else min(joint.effort, self.force * arm)
        drive = self.motor(joint, at.step, (joint.lower, joint.upper), effort, self.geared_inertia())
        return GripperActuator(self, drive)
