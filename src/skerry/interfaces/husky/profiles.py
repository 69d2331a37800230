"""Profiles: names and signs of the rover's motors and cameras in each version of the protocol.

Sources: the README of the Husky Robotics simulator of April 2022 for `spec`; its scene and scripts of April 2025 for
`latest`; the names that public versions of the rover server use for the years between. Motors that this rover lacks
(four swerve hinges, a drill, a suspension) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import atan2, degrees
from typing import Final


@dataclass(frozen=True)
class MotorRow:
    """Actuators and signs of one motor of the protocol; the first actuator is the one that it reports.

    The reported position is `zero_deg + sign × angle`. The angle is that of the motor's shaft if the profile sets
    `positions_of_shafts`, otherwise that of the joint.
    """

    actuators: tuple[str, ...]
    power_sign: int = 1
    sign: int = 1
    zero_deg: float = 0.0
    accepts_commands: bool = True
    """False for a motor that only reports."""
    reports_maximum: bool = True
    """Whether the motor has a limit switch at its maximum."""
    limits_deg: tuple[float, float] | None = None
    """Lowest and highest position in the protocol; default: those of the vehicle's motor."""


@dataclass(frozen=True)
class RoverProfile:
    """Names and signs of one version of the protocol."""

    motors: Mapping[str, MotorRow]
    cameras: Mapping[str, str]
    """Names of cameras of the vehicle by their names in the protocol."""
    positions_of_shafts: bool
    has_lidar: bool
    watchdog: float | None
    """Time after which a motor stops unless its power is sent again, s."""


def _single(name: str, reports_maximum: bool = True) -> MotorRow:
    return MotorRow((name,), reports_maximum=reports_maximum)


WHEELS: Final = ("frontLeftWheel", "frontRightWheel", "rearLeftWheel", "rearRightWheel")
ARM: Final = ("armBase", "shoulder", "elbow", "forearm", "differentialLeft", "differentialRight")

SPEC: Final = RoverProfile(
    motors={name: _single(name) for name in (*WHEELS, *ARM)} | {"hand": _single("hand", reports_maximum=False)},
    cameras={name: name for name in ("front", "rear", "upperArm")},
    positions_of_shafts=True,
    has_lidar=True,
    watchdog=None,
)

# Positions of `latest` are elevation angles: of the lower arm above the ground, of the upper arm relative to the lower.
# The angles at the zeros of the joints follow from the vehicle's URDF, in which the lower arm reaches (−0.56, 0.6) m
# and the upper arm (0.95, 0.04) m.
LOWER_ARM_DEG: Final = degrees(atan2(0.6, -0.56))
UPPER_ARM_DEG: Final = degrees(atan2(0.04, 0.95))

# Since the autumn of 2023 positive power decreases the position of every motor. Limits of the scene of April 2025.
LATER_ARM: Final = {
    "armBase": MotorRow(("armBase",), sign=-1, limits_deg=(-9000, 9000)),
    "shoulder": MotorRow(("shoulder",), power_sign=-1, zero_deg=LOWER_ARM_DEG, limits_deg=(18.2, 152.5)),
    "elbow": MotorRow(("elbow",), power_sign=-1, zero_deg=UPPER_ARM_DEG - LOWER_ARM_DEG, limits_deg=(-169.1, 0)),
    "forearm": MotorRow(("forearm",), power_sign=-1, limits_deg=(-9720, 9720)),
    "hand": MotorRow(("hand",), power_sign=-1, reports_maximum=False, limits_deg=(-15, 100)),
}
LATER_WRIST: Final = {
    "wristDiffLeft": MotorRow(("differentialLeft",), sign=-1, limits_deg=(-3000, 6000)),
    "wristDiffRight": MotorRow(("differentialRight",), sign=-1, limits_deg=(-3000, 6000)),
}
ONE_WRIST: Final = {"wrist": MotorRow(("differentialLeft", "differentialRight"), sign=-1)}  # bends but cannot roll
LATER_CAMERAS: Final = {
    "hand": "front",
    "wrist": "rear",
    "mast": "upperArm",
}  # renamed in the original, at the same mounts

LATEST: Final = RoverProfile(
    motors={
        "leftTread": MotorRow(("frontLeftWheel", "rearLeftWheel")),
        "rightTread": MotorRow(("frontRightWheel", "rearRightWheel")),
        "rearLeftWheel": MotorRow(("rearLeftWheel",), accepts_commands=False),
        "rearRightWheel": MotorRow(("rearRightWheel",), accepts_commands=False),
        **LATER_ARM,
        **LATER_WRIST,
    },
    cameras=LATER_CAMERAS,
    positions_of_shafts=False,
    has_lidar=False,
    watchdog=1.0,
)

# Servers of 2024 drive four wheels and open cameras by their old or their new names.
OF_2024: Final = replace(
    LATEST,
    motors={name: _single(name) for name in WHEELS} | LATER_ARM | LATER_WRIST,
    cameras={**SPEC.cameras, **LATER_CAMERAS},
)
# Servers of 2023 have one motor for the wrist, and read a lidar.
OF_2023: Final = replace(
    OF_2024, motors={name: _single(name) for name in WHEELS} | LATER_ARM | ONE_WRIST, has_lidar=True
)

PROFILES: Final = {"spec": SPEC, "2023": OF_2023, "2024": OF_2024, "latest": LATEST}
