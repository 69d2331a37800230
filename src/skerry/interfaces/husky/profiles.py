"""Profiles: what the motors and cameras of the rover are called, and which way they count, in one era of the protocol.

Sources: the README of the Husky Robotics simulator of April 2022 for `spec`, its scene and scripts of April 2025 for
`latest`, and for the years between the names that the rover server's public versions command and open. Motors that this
rover has not (four swerve hinges, a drill, a suspension) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import atan2, degrees
from typing import Final, Literal

LimitMessage = Literal["alert", "report", "off"]


@dataclass(frozen=True)
class MotorRow:
    """A motor of the protocol by the actuators that it runs; the first is the one that it reports.

    Its position is `zero_deg + sign × angle`, of the joint or of the motor's shaft, as the profile says.
    """

    actuators: tuple[str, ...]
    power_sign: int = 1
    sign: int = 1
    zero_deg: float = 0.0
    is_heard: bool = True  # whether it can be commanded, or only reports
    tells_maximum: bool = True  # whether it has a limit switch at that end


@dataclass(frozen=True)
class Profile:
    """An era."""

    motors: Mapping[str, MotorRow]
    cameras: Mapping[str, str]  # the protocol's name to the vehicle's
    positions_of_shafts: bool
    has_lidar: bool
    watchdog: float | None  # s after which a power that is not asked for again is dropped
    limit_message: LimitMessage


def _alone(name: str, tells_maximum: bool = True) -> MotorRow:
    return MotorRow((name,), tells_maximum=tells_maximum)


WHEELS: Final = ("frontLeftWheel", "frontRightWheel", "rearLeftWheel", "rearRightWheel")
ARM: Final = ("armBase", "shoulder", "elbow", "forearm", "differentialLeft", "differentialRight")

SPEC: Final = Profile(
    motors={name: _alone(name) for name in (*WHEELS, *ARM)} | {"hand": _alone("hand", tells_maximum=False)},
    cameras={name: name for name in ("front", "rear", "upperArm")},
    positions_of_shafts=True,
    has_lidar=True,
    watchdog=None,
    limit_message="alert",
)

# Positions of `latest` are elevations of links: of the lower arm over the ground, of the upper arm over the lower. At
# the zeros of our joints they are as the vehicle's URDF has it: the lower arm reaches (−0.56, 0.6) m, the upper
# (0.95, 0.04) m.
LOWER_ARM_DEG: Final = degrees(atan2(0.6, -0.56))
UPPER_ARM_DEG: Final = degrees(atan2(0.04, 0.95))

# Positive power lowers the position, of every motor, since the autumn of 2023.
LATER_ARM: Final = {
    "armBase": MotorRow(("armBase",), sign=-1),
    "shoulder": MotorRow(("shoulder",), power_sign=-1, zero_deg=LOWER_ARM_DEG),
    "elbow": MotorRow(("elbow",), power_sign=-1, zero_deg=UPPER_ARM_DEG - LOWER_ARM_DEG),
    "forearm": MotorRow(("forearm",), power_sign=-1),
    "hand": MotorRow(("hand",), power_sign=-1, tells_maximum=False),
}
LATER_WRIST: Final = {
    "wristDiffLeft": MotorRow(("differentialLeft",), sign=-1),
    "wristDiffRight": MotorRow(("differentialRight",), sign=-1),
}
ONE_WRIST: Final = {
    "wrist": MotorRow(("differentialLeft", "differentialRight"), sign=-1)
}  # which bends and cannot roll
LATER_CAMERAS: Final = {"hand": "front", "wrist": "rear", "mast": "upperArm"}  # renamed there, and not moved

LATEST: Final = Profile(
    motors={
        "leftTread": MotorRow(("frontLeftWheel", "rearLeftWheel")),
        "rightTread": MotorRow(("frontRightWheel", "rearRightWheel")),
        "rearLeftWheel": MotorRow(("rearLeftWheel",), is_heard=False),
        "rearRightWheel": MotorRow(("rearRightWheel",), is_heard=False),
        **LATER_ARM,
        **LATER_WRIST,
    },
    cameras=LATER_CAMERAS,
    positions_of_shafts=False,
    has_lidar=False,
    watchdog=1.0,
    limit_message="report",
)

# Servers of 2024 drive four wheels and open cameras by their older names, or by their newer ones.
OF_2024: Final = replace(
    LATEST,
    motors={name: _alone(name) for name in WHEELS} | LATER_ARM | LATER_WRIST,
    cameras={**SPEC.cameras, **LATER_CAMERAS},
)
# Those of 2023 have one motor for the wrist, and listen to a lidar.
OF_2023: Final = replace(
    OF_2024, motors={name: _alone(name) for name in WHEELS} | LATER_ARM | ONE_WRIST, has_lidar=True
)

PROFILES: Final = {"spec": SPEC, "2023": OF_2023, "2024": OF_2024, "latest": LATEST}
