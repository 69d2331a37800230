"""Write robot.urdf of the quadrotor: a plus of four arms with a propeller at each end, legs, and a winch below."""

from __future__ import annotations

from math import pi

from urdf_text import box, capsule, cylinder, fixed, inertial, joint, link, shape, sphere, write

MASS, INERTIA, ARM = 4.34, (0.082, 0.0845, 0.1377), 0.315  # kg, kg m², m: Lee, Leok & McClamroch 2010, §V
RADIUS = 0.19  # radius of a propeller, m; an estimate: neighbours, 0.445 m apart, must not touch
QUARTERS = {"front": 0.0, "left": pi / 2, "back": pi, "right": -pi / 2}
POSITIONS = {"front": (ARM, 0, 0), "left": (0, ARM, 0), "back": (-ARM, 0, 0), "right": (0, -ARM, 0)}

body = [inertial(MASS, INERTIA)]
for use in ("visual", "collision"):
    paint = {"material": "white"} if use == "visual" else {}
    body.append(shape(use, cylinder(0.11, 0.08), (0, 0, 0), **paint))
    for name, yaw in QUARTERS.items():
        x, y, _ = POSITIONS[name]
        if use == "visual":
            arm_colour = "red" if name == "front" else "black"
            body.append(shape(use, box((ARM, 0.03, 0.02)), (x / 2, y / 2, 0), (0, 0, yaw), arm_colour))
            body.append(shape(use, cylinder(0.025, 0.05), (x, y, -0.005), (0, 0, 0), "black"))
            body.append(shape(use, cylinder(0.008, 0.12), (x / 2, y / 2, -0.07), (0, 0, 0), "black"))
            body.append(shape(use, sphere(0.02), (x / 2, y / 2, -0.14), (0, 0, 0), "black"))
        else:
            body.append(shape(use, capsule(0.02, ARM - 0.04), (x / 2, y / 2, 0), (0, pi / 2, yaw)))
            body.append(shape(use, sphere(0.02), (x / 2, y / 2, -0.14)))

parts = [link("base_link", *body)]
for name, position in POSITIONS.items():
    disc = shape("visual", box((2 * RADIUS, 0.025, 0.006)), (0, 0, 0), (0, 0, 0), "grey")
    parts.append(link(f"{name}_propeller_link", disc))
    above = (position[0], position[1], 0.0)
    parts.append(joint(f"{name}_propeller_joint", "continuous", f"{name}_propeller_link", above, axis=(0, 0, 1)))
parts += [
    fixed("winch_link", (0, 0, -0.042)),  # the SMaRC simulator's quadrotor
    fixed("camera_link", (0.11, 0, -0.03), (0, pi / 6, 0)),
    fixed("camera_down_link", (0.05, 0, -0.05), (0, pi / 2, 0)),
    fixed("gps_link", (0, 0, 0.05)),
    fixed("imu_link", (0, 0, 0)),
]
write(
    "quadrotor",
    "A quadrotor in plus layout, written by scripts/vehicles/quadrotor.py: x forward, y left, z up; metres and\n"
    "     kilograms. All mass is in the base, about whose origin it is balanced.",
    {
        "white": "0.92 0.92 0.90 1",
        "black": "0.08 0.08 0.09 1",
        "grey": "0.35 0.35 0.37 1",
        "red": "0.80 0.12 0.08 1",
    },
    *parts,
)
