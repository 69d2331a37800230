"""Write robot.urdf of Okoń's second frame: eight thrusters."""

from __future__ import annotations

from math import pi

from okon import MASS, even_inertia
from shapes import TOWARDS_X, Urdf, box, capsule, cylinder, sphere

ZERO = (0.0, 0.0, 0.0)

if __name__ == "__main__":
    auv = Urdf(
        "okon2",
        "Okoń's second frame, with eight thrusters. Mass and thrusters: those of its own simulator, 2.x;\n"
        "     inertia: as of the first frame. x forward, y left, z up; metres, kilograms.",
    )
    visuals = [
        ("orange", box(0.50, 0.03, 0.16), (0.0119, 0.155, 0.06), ZERO),
        ("orange", box(0.50, 0.03, 0.16), (0.0119, -0.155, 0.06), ZERO),
        ("black", box(0.40, 0.30, 0.02), (0.0119, 0.0, 0.0), ZERO),
        ("white", cylinder(0.085, 0.42), (0.0119, 0.0, 0.10), TOWARDS_X),
        ("cyan", sphere(0.083), (0.225, 0.0, 0.10), ZERO),
    ]
    hull = (capsule(0.119, 0.361), (0.0119, 0.0, 0.09), TOWARDS_X)
    auv.link("base_link", MASS, even_inertia(), (0.0119, 0.0, 0.081), visuals, [hull])
    for name, x, y, degrees in (
        ("FLH_link", 0.2389, 0.193, -30.0),
        ("FRH_link", 0.2389, -0.193, 30.0),
        ("BLH_link", -0.2151, 0.193, -150.0),
        ("BRH_link", -0.2151, -0.193, 150.0),
    ):
        auv.thruster(name, (x, y, 0.0937), (0.0, 0.0, degrees * pi / 180))
    for name, x, y in (
        ("FLV_link", 0.1195, 0.1709),
        ("FRV_link", 0.1195, -0.1709),
        ("BLV_link", -0.0963, 0.1709),
        ("BRV_link", -0.0963, -0.1709),
    ):
        auv.thruster(name, (x, y, 0.0), (0.0, -pi / 2, 0.0))
    auv.frame("camera_link", (0.2854, 0.0, 0.0772))
    auv.write()
