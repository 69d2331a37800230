"""Actuators suggested from joints: servos where a joint can be driven, thrusters where it looks like a shaft."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skerry.formats.urdf import UrdfJoint, UrdfRobot
from skerry.importers.draft import Part, tidy

PROPELLER_WORDS = ("prop", "thrust", "rotor", "screw", "impeller")
"""In the name of a joint or of its link: `propeller_joint`, `thruster_3`."""
SURFACE_WORDS = ("fin", "rudder", "elevator", "aileron", "flap", "plane")


def looks_like_propeller(joint: UrdfJoint) -> bool:
    """By the names of a joint and what it carries."""
    return any(word in name.lower() for word in PROPELLER_WORDS for name in (joint.name, joint.child))


def with_sound_limits(robot: UrdfRobot, notes: list[str]) -> UrdfRobot:
    """The robot without limits of 0, which exporters write where they know none and which nothing could move."""
    joints = dict(robot.joints)
    for name, joint in robot.joints.items():
        zero = [word for word in ("effort", "velocity") if joint.kind != "fixed" and getattr(joint, word) == 0.0]
        if zero:
            notes.append(
                f"joint {name}: its {' and '.join(zero)} of 0 would hold it for ever; taken for no limit [guess]"
            )
            joints[name] = replace(joint, effort=joint.effort or math.inf, velocity=joint.velocity or math.inf)
    return replace(robot, joints=joints)


def suggest_actuators(robot: UrdfRobot, notes: list[str]) -> list[Part]:
    """A part for each joint that can be driven, and suggestions, not in use, where only people can know."""
    parts: list[Part] = []
    for joint in robot.joints.values():
        name = joint.name.removesuffix("_joint")
        if looks_like_propeller(joint) and joint.kind in {"fixed", "continuous"}:
            parts.append(_thruster(name, joint))
            notes.append(
                f"joint {joint.name} looks like a thruster's: one is suggested in vehicle.yaml, not in use yet"
            )
        elif joint.kind == "fixed":
            continue
        elif joint.mimic is not None:
            notes.append(f"joint {joint.name} follows {joint.mimic.joint}, and has no actuator of its own")
        elif joint.kind != "continuous" and joint.lower >= joint.upper:
            notes.append(f"joint {joint.name} has no way to go, {joint.lower:g} to {joint.upper:g}; it has no actuator")
        elif joint.kind == "prismatic":
            start = 100.0 * (min(max(0.0, joint.lower), joint.upper) - joint.lower) / (joint.upper - joint.lower)
            settings = {"kind": "prismatic", "link": joint.child, "reset_value": tidy(start)}
            parts.append(Part("actuators", name, settings, f"Drives {joint.name}; starts where the file has it."))
        else:
            parts.append(Part("actuators", name, {"kind": "hinge", "link": joint.child}, f"Turns {joint.name}."))
            if any(word in joint.child.lower() for word in SURFACE_WORDS):
                notes.append(f"joint {joint.name} looks like a fin's: it turns, but has no lift; see `control_surface`")
    return parts


def _thruster(name: str, joint: UrdfJoint) -> Part:
    settings = {
        "kind": "thruster",
        "link": joint.child,
        **_along(joint),
        "model": {"kind": "t200", "voltage": 16.0},
        "lag": 0.1,
        "diameter": 0.1,
    }
    reason = (
        f"{joint.name} looks like a thruster's, by its name. Not in use: take away the # and give it the curve and "
        "size of yours."
    )
    return Part("actuators", name, settings, reason, in_use=False)


def _along(joint: UrdfJoint) -> dict[str, float]:
    """The mount that points x, along which a thruster pushes, along the joint's axis."""
    if joint.kind == "fixed":
        return {}
    x, y, z = joint.axis
    pitch, yaw = math.degrees(math.asin(float(np.clip(-z, -1.0, 1.0)))), math.degrees(math.atan2(y, x))
    angles = {"pitch_deg": tidy(pitch), "yaw_deg": tidy(yaw if math.hypot(x, y) > 1e-9 else 0.0)}
    return {word: angle for word, angle in angles.items() if angle != 0.0}
