"""Base of actuators on joints: settings of the servo drive, and the check of the joint."""

from __future__ import annotations

from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.formats.urdf import UrdfJoint
from skerry.parts.actuator import ActuatorConfig
from skerry.parts.law import Attachment
from skerry.physics.joint_drive import JointDrive, joint_drive


class JointActuatorConfig(ActuatorConfig):
    """Settings of a servo on the joint that moves its link."""

    frequency_hz: Positive = Field(15.0, description="natural frequency of the servo loop, Hz")
    damping_ratio: Positive = Field(
        1.0, description="damping ratio of the servo loop; 1 is critical (fastest response without overshoot)"
    )
    armature: NonNegative = Field(0.0, description="inertia of motor and gear, reflected to the joint, kg m² or kg")

    def drive(self, at: Attachment, start: float, speed: float | None = None) -> JointDrive:
        """Return the drive of the link's joint.

        Args:
            at: Attachment of the link.
            start: Initial position of the joint, rad or m.
            speed: Largest speed, rad/s or m/s; by default the velocity limit of the joint.
        """
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
    """Return the joint that moves a link.

    Raises:
        SkerryError: If there is no such joint, its kind is not among `kinds`, or a limit of it is 0.
    """
    if at.joint is None or at.joint.kind not in kinds:
        found = "no joint" if at.joint is None else f"a {at.joint.kind} joint"
        raise SkerryError(f"link {at.link!r} has {found} above it; this actuator needs a {' or '.join(kinds)} joint")
    if at.joint.effort == 0 or at.joint.velocity == 0:
        raise SkerryError(
            f"joint {at.joint.name!r} has an effort or velocity limit of 0, so it cannot move; give the real limit, or "
            "omit the attribute for no limit"
        )
    return at.joint
