"""What actuators on joints share: the settings of the drive, and finding the joint."""

from __future__ import annotations

from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.formats.urdf import UrdfJoint
from skerry.parts.actuator import ActuatorConfig
from skerry.parts.law import Attachment
from skerry.physics.joint_drive import JointDrive, joint_drive


class JointActuatorConfig(ActuatorConfig):
    """A servo on the joint that moves its link."""

    frequency_hz: Positive = Field(15.0, description="natural frequency of the servo loop, Hz")
    damping_ratio: Positive = Field(1.0, description="1 is critical: as fast as it goes without overshoot")
    armature: NonNegative = Field(0.0, description="inertia of motor and gear as the joint feels it, kg m² or kg")

    def drive(self, at: Attachment, start: float, speed: float | None = None) -> JointDrive:
        """The drive of the link's joint; force and speed are the joint's own limits unless given."""
        assert at.joint is not None
        return joint_drive(
            at.joint.name,
            start=start,
            step=at.step,
            frequency_hz=self.frequency_hz,
            damping_ratio=self.damping_ratio,
            force=at.joint.effort,
            speed=at.joint.velocity if speed is None else speed,
            armature=self.armature,
        )


def need_joint(at: Attachment, *kinds: str) -> UrdfJoint:
    """The joint that moves a link, if it is of one of these kinds."""
    if at.joint is None or at.joint.kind not in kinds:
        found = "no joint" if at.joint is None else f"a {at.joint.kind} one"
        raise SkerryError(f"needs a {' or '.join(kinds)} joint above link {at.link!r}, which has {found}")
    if at.joint.effort == 0 or at.joint.velocity == 0:
        raise SkerryError(
            f"joint {at.joint.name!r} has an effort or velocity limit of 0, so that nothing could move it; "
            "give the real limit, or leave the attribute out for none"
        )
    return at.joint
