"""Actuators derived from joints: a servo for each driven joint, a thruster where the name suggests a propeller."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skerry.formats.urdf import UrdfJoint, UrdfRobot
from skerry.importers.vehicle_draft import PartDraft, round_decimals

PROPELLER_NAMES = ("prop", "thrust", "rotor", "screw", "impeller")
"""Parts of names of joints or links that suggest a propeller: `propeller_joint`, `thruster_3`."""
SURFACE_NAMES = ("fin", "rudder", "elevator", "aileron", "flap", "plane")
"""Parts of names of links that suggest a control surface."""


def is_propeller_name(joint: UrdfJoint) -> bool:
    """Return whether the name of a joint or of its child link suggests a propeller."""
    return any(part in name.lower() for part in PROPELLER_NAMES for name in (joint.name, joint.child))


def remove_zero_limits(robot: UrdfRobot, notes: list[str]) -> UrdfRobot:
    """Return the robot with effort and velocity limits of 0 removed.

    Exporters write 0 where they know no limit; such a joint could never move. Each change is added to `notes`.
    """
    joints = dict(robot.joints)
    for name, joint in robot.joints.items():
        zero = [limit for limit in ("effort", "velocity") if joint.kind != "fixed" and getattr(joint, limit) == 0.0]
        if zero:
            notes.append(
                f"joint {name}: limits for {' and '.join(zero)} of 0 would block it; treated as no limit [guess]"
            )
            joints[name] = replace(joint, effort=joint.effort or math.inf, velocity=joint.velocity or math.inf)
    return replace(robot, joints=joints)


def suggest_actuators(robot: UrdfRobot, notes: list[str]) -> list[PartDraft]:
    """Return an actuator for each joint that can be driven.

    Thrusters are returned as suggestions that are not in use, because their curves are unknown.
    """
    parts: list[PartDraft] = []
    for joint in robot.joints.values():
        name = joint.name.removesuffix("_joint")
        if is_propeller_name(joint) and joint.kind in {"fixed", "continuous"}:
            parts.append(_thruster(name, joint))
            notes.append(
                f"joint {joint.name} is named like a thruster: vehicle.yaml contains a suggestion as a comment"
            )
        elif joint.kind == "fixed":
            continue
        elif joint.mimic is not None:
            notes.append(f"joint {joint.name} mimics {joint.mimic.joint}; it gets no actuator")
        elif joint.kind != "continuous" and joint.lower >= joint.upper:
            notes.append(
                f"joint {joint.name} has an empty range, {joint.lower:g} to {joint.upper:g}; it gets no actuator"
            )
        elif joint.kind == "prismatic":
            start = 100.0 * (min(max(0.0, joint.lower), joint.upper) - joint.lower) / (joint.upper - joint.lower)
            settings = {"kind": "prismatic", "link": joint.child, "reset_value": round_decimals(start)}
            parts.append(
                PartDraft("actuators", name, settings, f"Drives {joint.name}; starts at the position of the file.")
            )
        else:
            parts.append(PartDraft("actuators", name, {"kind": "hinge", "link": joint.child}, f"Turns {joint.name}."))
            if any(part in joint.child.lower() for part in SURFACE_NAMES):
                notes.append(f"joint {joint.name} is named like a fin: it turns but has no lift; see `control_surface`")
    return parts


def _thruster(name: str, joint: UrdfJoint) -> PartDraft:
    settings = {
        "kind": "thruster",
        "link": joint.child,
        **_along(joint),
        "model": {"kind": "t200", "voltage": 16.0},
        "lag": 0.1,
        "diameter": 0.1,
    }
    reason = (
        f"{joint.name} is named like a thruster. Not in use: remove the # and set the model and the diameter of your "
        "thruster."
    )
    return PartDraft("actuators", name, settings, reason, in_use=False)


def _along(joint: UrdfJoint) -> dict[str, float]:
    """Return the mount angles that turn x, the direction of thrust, to the axis of the joint."""
    if joint.kind == "fixed":
        return {}
    x, y, z = joint.axis
    pitch, yaw = math.degrees(math.asin(float(np.clip(-z, -1.0, 1.0)))), math.degrees(math.atan2(y, x))
    angles = {"pitch_deg": round_decimals(pitch), "yaw_deg": round_decimals(yaw if math.hypot(x, y) > 1e-9 else 0.0)}
    return {name: angle for name, angle in angles.items() if angle != 0.0}
