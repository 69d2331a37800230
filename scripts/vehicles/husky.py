"""Write the URDF of the rover `husky` from its dimensions: `python scripts/vehicles/husky.py`.

Sources: [R] the geometry of the rover of the Husky Robotics simulator, converted to x forward, y left, z up;
[E] an estimate, with its reason. Inertias follow from the shapes. Lengths are in m, masses in kg.
"""

from math import atan2, cos, pi, radians, sin
from pathlib import Path

TARGET = Path(__file__).parents[2] / "src" / "skerry" / "vehicles" / "husky" / "robot.urdf"

WHEELBASE, TRACK = 0.65, 0.77  # [R]
WHEEL_RADIUS, WHEEL_WIDTH, WHEEL_HEIGHT = 0.175, 0.164, -0.05  # [R]; height at rest above the chassis origin
TRAVEL, DAMPER = 0.25, 100.0  # [R] m and N s/m; the spring is in vehicle.yaml
# [R] 15 kg in total, 36.8 N on each wheel; 2 kg for a wheel with its carrier. Masses of the arm [E]: aluminium tubes
# and small gear motors.
CARRIER_MASS, WHEEL_MASS, CHASSIS_MASS = 0.2, 1.8, 4.6
CHASSIS = (1.055, 0.397, 0.253)  # [R] length, width, height
CHASSIS_MIDDLE = (-0.0805, 0.0, 0.1415)  # [R] from −0.608 to 0.447 and from 0.015 to 0.268
COLOURS = {"husky_yellow": "0.95 0.75 0.08 1", "black": "0.07 0.07 0.08 1", "grey": "0.55 0.56 0.58 1"}

Numbers = tuple[float, ...]


def text(values: Numbers) -> str:
    return " ".join(f"{value:.6g}" for value in values)


def inertial(mass: float, moments: Numbers, at: Numbers = (0, 0, 0), rpy: Numbers = (0, 0, 0)) -> str:
    x, y, z = moments
    return (
        f'    <inertial><origin xyz="{text(at)}" rpy="{text(rpy)}"/><mass value="{mass:g}"/>'
        f'<inertia ixx="{x:.6g}" iyy="{y:.6g}" izz="{z:.6g}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def box_moments(mass: float, size: Numbers) -> Numbers:
    x, y, z = (value**2 for value in size)
    return mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12


def rod_moments(mass: float, radius: float, length: float) -> Numbers:
    """Return the moments of inertia of a cylinder along z."""
    across = mass * (radius**2 / 4 + length**2 / 12)
    return across, across, mass * radius**2 / 2


def box(size: Numbers) -> str:
    return f'<box size="{text(size)}"/>'


def rod(radius: float, length: float) -> str:
    return f'<cylinder radius="{radius:g}" length="{length:g}"/>'


def shape(tag: str, geometry: str, at: Numbers = (0, 0, 0), rpy: Numbers = (0, 0, 0), material: str = "") -> str:
    colour = f'<material name="{material}"/>' if material else ""
    return f'    <{tag}><origin xyz="{text(at)}" rpy="{text(rpy)}"/><geometry>{geometry}</geometry>{colour}</{tag}>'


def link(name: str, *parts: str) -> str:
    if not parts:
        return f'  <link name="{name}"/>'
    return "\n".join([f'  <link name="{name}">', *parts, "  </link>"])


def joint(name: str, kind: str, parent: str, child: str, at: Numbers, axis: Numbers = (), more: str = "") -> str:
    turning = f'<axis xyz="{text(axis)}"/>' if axis else ""
    rpy = ' rpy="0 0 3.14159265358979"' if name == "rear_camera_mount" else ""
    return (
        f'  <joint name="{name}" type="{kind}"><origin xyz="{text(at)}"{rpy}/><parent link="{parent}"/>'
        f'<child link="{child}"/>{turning}{more}</joint>'
    )


# Ranges of joints contain the limits of all versions of [R]; the limits of its first version are in vehicle.yaml.
def limit(low_deg: float, high_deg: float, effort: float) -> str:
    return f'<limit lower="{radians(low_deg):.6g}" upper="{radians(high_deg):.6g}" effort="{effort:g}" velocity="2"/>'


def tube(mass: float, end: Numbers, radius: float) -> tuple[str, str, str]:
    """Return inertial, visual and collision of a tube from a link's origin to an end in its x-z plane."""
    length = (end[0] ** 2 + end[2] ** 2) ** 0.5
    pitch = pi / 2 - atan2(end[2], end[0])
    middle = tuple(0.5 * value for value in end)
    turn = (0.0, pitch, 0.0)
    return (
        inertial(mass, rod_moments(mass, radius, length), middle, turn),
        shape("visual", rod(radius, length), middle, turn, "grey"),
        shape("collision", f'<capsule radius="{radius:g}" length="{length:g}"/>', middle, turn),
    )


def chassis() -> list[str]:
    length, width, _ = CHASSIS
    x = CHASSIS_MIDDLE[0]
    parts = [
        inertial(
            CHASSIS_MASS, box_moments(CHASSIS_MASS, CHASSIS), (-0.215, 0, 0.1)
        ),  # [E] batteries low and aft, so that all wheels carry the same load with the arm at zero
        shape("visual", box((length, width, 0.15)), (x, 0, 0.09), material="black"),
        shape("visual", box((length - 0.06, width - 0.02, 0.103)), (x, 0, 0.2165), material="husky_yellow"),
        shape("visual", rod(0.02, 0.35), (-0.5, 0.12, 0.44), material="grey"),  # mast of the antenna [E]
        shape("visual", rod(0.05, 0.03), (-0.5, 0.12, 0.63), material="black"),
        shape("visual", rod(0.05, 0.06), (0.3, 0, 0.24), material="black"),
        shape("collision", box(CHASSIS), CHASSIS_MIDDLE),
    ]
    rocker = box((0.88, 0.04, 0.06))  # [R]
    parts += [shape("visual", rocker, (0, 0.25 * side, 0.075), material="husky_yellow") for side in (1, -1)]
    return [link("base_link", *parts)]


def wheel(name: str, ahead: int, left: int) -> list[str]:
    quarter = (pi / 2, 0.0, 0.0)
    radius, width = WHEEL_RADIUS, WHEEL_WIDTH
    tread = [
        shape(
            "visual",
            box((0.03, width, 0.012)),
            (0.172 * cos(k * pi / 6), 0, 0.172 * sin(k * pi / 6)),
            (0.0, pi / 2 - k * pi / 6, 0.0),
            "grey",
        )
        for k in range(12)
    ]
    return [
        link(
            f"{name}Carrier",
            inertial(CARRIER_MASS, box_moments(CARRIER_MASS, (0.05, 0.1, 0.12))),
            shape("visual", box((0.05, 0.05, 0.2)), (0, -0.115 * left, 0.05), material="grey"),
            shape("visual", rod(0.02, 0.12), (0, -0.07 * left, 0), quarter, "grey"),
        ),
        joint(
            f"{name}Suspension",
            "prismatic",
            "base_link",
            f"{name}Carrier",
            (ahead * WHEELBASE / 2, left * TRACK / 2, WHEEL_HEIGHT),
            (0, 0, 1),
            f'<limit lower="{-TRAVEL / 2:g}" upper="{TRAVEL / 2:g}"/><dynamics damping="{DAMPER:g}"/>',
        ),
        # A sphere touches the ground in one point below the hub on any slope, as the crown of a tyre does.
        link(
            name,
            inertial(WHEEL_MASS, rod_moments(WHEEL_MASS, radius, width), rpy=quarter),
            shape("visual", rod(0.166, width), (0, 0, 0), quarter, "black"),  # [R] radius of its mesh
            shape("visual", rod(0.09, width + 0.01), (0, 0, 0), quarter, "husky_yellow"),
            *tread,
            shape("collision", f'<sphere radius="{radius:g}"/>'),
        ),
        joint(f"{name}Axle", "continuous", f"{name}Carrier", name, (0, 0, 0), (0, 1, 0)),
    ]


def arm() -> list[str]:
    """Return the arm. Limits [R]; efforts [E]: at least twice the torque that holds the arm stretched out.

    Positive angles lift, and roll right-handed.
    """
    up, roll = (0, -1, 0), (1, 0, 0)
    finger = box((0.103, 0.012, 0.03))
    fingers = []
    for name, side in (("leftFinger", 1), ("rightFinger", -1)):
        mimic = '<mimic joint="leftFingerHinge"/>' if side < 0 else ""
        fingers += [
            link(
                name,
                inertial(0.05, box_moments(0.05, (0.103, 0.012, 0.03)), (0.0515, 0, 0)),
                shape("visual", finger, (0.0515, 0, 0), material="black"),
                shape("collision", finger, (0.0515, 0, 0)),
            ),
            joint(
                f"{name}Hinge",
                "revolute",
                "hand",
                name,
                (0.02, 0.04 * side, 0),
                (0, 0, side),
                limit(-15, 100, 5) + mimic,
            ),
        ]
    return [
        link(
            "turret",
            inertial(0.5, rod_moments(0.5, 0.06, 0.12), (0, 0, 0.06)),
            shape("visual", rod(0.06, 0.12), (0, 0, 0.06), material="black"),
        ),
        joint("armBase", "revolute", "base_link", "turret", (0.3, 0, 0.15), (0, 0, -1), limit(-9000, 9000, 60)),
        link("lower_arm", *tube(0.6, (-0.56, 0, 0.6), 0.03)),
        joint("shoulder", "revolute", "turret", "lower_arm", (0, 0, 0.12), up, limit(-125, 40, 80)),
        link(
            "upper_arm",
            *tube(0.6, (0.95, 0, 0.04), 0.025),
            shape("visual", rod(0.01, 0.09), (0.785, 0, 0.075), material="grey"),  # post of its camera
        ),
        joint("elbow", "revolute", "lower_arm", "upper_arm", (-0.56, 0, 0.6), up, limit(-38.5, 150, 50)),
        link(
            "forearm",
            inertial(0.2, rod_moments(0.2, 0.03, 0.125), (0.0625, 0, 0), (0, pi / 2, 0)),
            shape("visual", rod(0.03, 0.125), (0.0625, 0, 0), (0, pi / 2, 0), "husky_yellow"),
        ),
        joint("forearmRoll", "revolute", "upper_arm", "forearm", (0.95, 0, 0.04), roll, limit(-9720, 9720, 10)),
        link(
            "wrist",
            inertial(0.2, box_moments(0.2, (0.12, 0.08, 0.06)), (0.06, 0, 0)),
            shape("visual", box((0.12, 0.08, 0.06)), (0.06, 0, 0), material="black"),
        ),
        # pitch = (a + b)/2 and roll = (a − b)/2 of gears that turn from −111.1° to 55.6°, later without end [R]
        joint("wristPitch", "revolute", "forearm", "wrist", (0.125, 0, 0), up, limit(-111.111, 55.556, 10)),
        link(
            "hand",
            inertial(0.2, box_moments(0.2, (0.11, 0.1, 0.04)), (-0.02, 0, 0)),
            shape("visual", box((0.13, 0.1, 0.04)), (-0.03, 0, 0), material="husky_yellow"),
            shape("collision", box((0.13, 0.1, 0.04)), (-0.03, 0, 0)),
        ),
        joint("wristRoll", "revolute", "wrist", "hand", (0.215, 0, 0), roll, limit(-6000, 6000, 10)),
        *fingers,
    ]


def mounts() -> list[str]:
    """Return the mounts of cameras and lidar [R]."""
    mounts = {
        "front_camera": ("base_link", (0.4, 0, 0.2)),
        "rear_camera": ("base_link", (-0.625, 0, 0.2)),
        "upper_arm_camera": ("upper_arm", (0.8, 0, 0.125)),
        "lidar": ("base_link", (0.3, 0, 0.3)),
    }
    parts = []
    for name, (parent, at) in mounts.items():
        lens = [shape("visual", box((0.03, 0.04, 0.03)), (-0.015, 0, 0), material="black")] if "camera" in name else []
        parts += [link(name, *lens), joint(f"{name}_mount", "fixed", parent, name, at)]
    return parts


def main() -> None:
    """Write the URDF."""
    wheels = {
        "frontLeftWheel": (1, 1),
        "frontRightWheel": (1, -1),
        "rearLeftWheel": (-1, 1),
        "rearRightWheel": (-1, -1),
    }
    lines = [
        '<?xml version="1.0"?>',
        "<!-- Written by scripts/vehicles/husky.py, which has the sources; do not edit. x forward, y left, z up. -->",
        '<robot name="husky">',
        *(f'  <material name="{name}"><color rgba="{rgba}"/></material>' for name, rgba in COLOURS.items()),
        *chassis(),
        *(line for name, corner in wheels.items() for line in wheel(name, *corner)),
        *arm(),
        *mounts(),
        "</robot>",
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
