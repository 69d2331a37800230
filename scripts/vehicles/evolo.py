"""Write robot.urdf of Evolo: a hull on a mast, and at its foot a pod with flaps, elevator, rudder and propeller."""

from __future__ import annotations

from math import pi

from urdf_text import box, capsule, cylinder, fixed, inertial, joint, link, shape, write

# Hull, mast and pod have the sizes of the colliders of the SMaRC simulator; x forward, y left, z up from the deck.
HULL, HULL_AT = (1.45, 0.65, 0.60), (0.108, 0, -0.206)
FOIL = -1.30  # z of pod and foils, m
HULL_MASS, POD_MASS = 40.0, 7.0  # kg; with 3 kg of control surfaces the total is 50 kg, an estimate
HULL_CENTER, POD_CENTER = (0.0, 0, -0.26), (0.0, 0, -1.25)


def hull_inertial() -> str:
    """Return the inertial of hull and pod as one body: boxes of their sizes about the common centre (Steiner)."""
    mass = HULL_MASS + POD_MASS
    z = (HULL_MASS * HULL_CENTER[2] + POD_MASS * POD_CENTER[2]) / mass
    ixx = iyy = izz = 0.0
    for part, (x, y, h), at in ((HULL_MASS, HULL, HULL_CENTER[2]), (POD_MASS, (0.93, 0.13, 0.13), POD_CENTER[2])):
        ixx += part * ((y * y + h * h) / 12 + (at - z) ** 2)
        iyy += part * ((x * x + h * h) / 12 + (at - z) ** 2)
        izz += part * (x * x + y * y) / 12
    return inertial(mass, (ixx, iyy, izz), (0, 0, z))


def surface(
    name: str, at: tuple[float, float, float], size: tuple[float, float, float], mass: float, roll: float
) -> str:
    """Return a control surface that turns about its y axis, the span."""
    x, y, z = size
    body = link(
        f"{name}_link",
        inertial(mass, (mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12)),
        shape("visual", box(size), (0, 0, 0), (0, 0, 0), "black"),
        shape("collision", box(size), (0, 0, 0)),
    )
    limit = 'lower="-0.35" upper="0.35" effort="200" velocity="8"'
    return body + joint(f"{name}_joint", "revolute", f"{name}_link", at, (roll, 0, 0), (0, 1, 0), limit)


pod = (0, pi / 2, 0)
base = [
    hull_inertial(),
    shape("visual", capsule(0.18, 1.09), (0.108, 0.145, -0.326), (0, pi / 2, 0), "red"),
    shape("visual", capsule(0.18, 1.09), (0.108, -0.145, -0.326), (0, pi / 2, 0), "red"),
    shape("visual", box((1.15, 0.65, 0.20)), (-0.042, 0, -0.156), (0, 0, 0), "white"),
    shape("visual", cylinder(0.325, 0.20), (0.508, 0, -0.156), (0, 0, 0), "white"),
    shape("visual", box((0.70, 0.40, 0.15)), (-0.10, 0, 0.019), (0, 0, 0), "white"),
    shape("visual", box((0.14, 0.03, 0.80)), (0, 0, -0.90), (0, 0, 0), "black"),
    shape("visual", capsule(0.05, 0.93), (-0.30, 0, FOIL), pod, "black"),
    shape("visual", cylinder(0.05, 0.35), (0, 0, 0.26), (0, 0, 0), "black"),
    shape("visual", cylinder(0.06, 0.08), (0, 0, 0.40), (0, 0, 0), "grey"),
    shape("collision", box(HULL), HULL_AT),
    shape("collision", capsule(0.05, 0.75), (0, 0, -0.90)),
    shape("collision", capsule(0.065, 0.93), (-0.30, 0, FOIL), pod),
]
parts = [
    link("base_link", *base),
    surface("port_flap", (0.08, 0.28, FOIL), (0.27, 0.55, 0.02), 1.0, 0),
    surface("starboard_flap", (0.08, -0.28, FOIL), (0.27, 0.55, 0.02), 1.0, 0),
    surface("elevator", (-0.75, 0, FOIL), (0.14, 0.70, 0.012), 0.5, 0),
    surface("rudder", (-0.75, 0, -1.15), (0.10, 0.30, 0.012), 0.5, pi / 2),
    link("propeller_link", shape("visual", box((0.02, 0.22, 0.03)), (0, 0, 0), (0, 0, 0), "grey")),
    joint("propeller_joint", "continuous", "propeller_link", (-0.85, 0, FOIL), axis=(1, 0, 0)),
    # sensor positions of the SMaRC simulator; the lidar is 0.40 m above the deck, at its mesh
    fixed("gps_link", (0, 0, 0.10)),
    fixed("imu_link", (0, 0, -0.20)),
    fixed("lidar_link", (0, 0, 0.40)),
    fixed("camera_link", (0.45, 0, 0.11)),
    fixed("sidescan_link", (-0.29, 0, -1.29)),
]
write(
    "evolo",
    "Evolo, a hydrofoil boat, written by scripts/vehicles/evolo.py: x forward, y left, z up from the deck; metres,\n"
    "     kilograms.",
    {"white": "0.93 0.93 0.91 1", "red": "0.78 0.10 0.10 1", "black": "0.08 0.08 0.09 1", "grey": "0.35 0.35 0.37 1"},
    *parts,
)
