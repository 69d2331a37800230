"""Write robot.urdf of LoLo."""

from __future__ import annotations

from math import pi

from shapes import TOWARDS_X, Urdf, box, cylinder, sphere

ZERO = (0.0, 0.0, 0.0)
MOVING = 1e-5  # mass of a fin or propeller, kg; the hull has the mass of the whole vehicle

if __name__ == "__main__":
    auv = Urdf(
        "lolo",
        "LoLo, the large AUV of the SMaRC project. Link poses, mass and inertia: the SMaRC simulator's;\n"
        "     the shapes only resemble it. x forward, y left, z up; metres, kilograms.",
    )
    visuals = [
        ("orange", box(3.0, 0.92, 0.46), (0.70, 0.0, 0.205), ZERO),
        ("orange", box(0.30, 0.74, 0.36), (2.33, 0.0, 0.205), ZERO),
        ("black", cylinder(0.17, 0.60), (2.46, 0.0, 0.205), (pi / 2, 0.0, 0.0)),
        ("orange", box(0.62, 0.60, 0.34), (-1.10, 0.0, 0.205), ZERO),
        ("black", box(2.4, 0.30, 0.03), (0.80, 0.0, 0.445), ZERO),
        ("black", cylinder(0.03, 0.22), (-0.308, 0.0, 0.55), ZERO),
        ("white", sphere(0.05), (-0.308, 0.0, 0.66), ZERO),
    ]
    hull = (box(4.02, 1.0, 0.58), (0.60, 0.0, 0.205), ZERO)
    auv.link("base_link", 750.0, (180.84, 1061.76, 986.73), (0.598, 0.0, 0.168), visuals, [hull])
    servo = (pi / 4, 100.0, 1.0)
    for name, shape, position, axis in (
        ("elevator_link", box(0.16, 0.75, 0.02), (-1.265, 0.0, 0.203), (0.0, 1.0, 0.0)),
        ("elevon_port_link", box(0.20, 0.30, 0.02), (-1.04, 0.509, 0.204), (0.0, 1.0, 0.0)),
        ("elevon_starboard_link", box(0.20, 0.30, 0.02), (-1.04, -0.509, 0.204), (0.0, 1.0, 0.0)),
        ("rudder_port_link", box(0.20, 0.02, 0.30), (-0.945, 0.252, 0.287), (0.0, 0.0, 1.0)),
        ("rudder_starboard_link", box(0.20, 0.02, 0.30), (-0.945, -0.252, 0.287), (0.0, 0.0, 1.0)),
    ):
        auv.link(name, MOVING, (1e-7, 1e-7, 1e-7), visuals=[("black", shape, ZERO, ZERO)])
        auv.joint(name, position, kind="revolute", axis=axis, limit=servo)
    for name, y in (("thruster_port_link", 0.277), ("thruster_starboard_link", -0.277)):
        duct = ("black", cylinder(0.14, 0.10), ZERO, TOWARDS_X)
        auv.link(name, MOVING, (1e-7, 1e-7, 1e-7), visuals=[duct])
        auv.joint(name, (-1.551, y, 0.204), kind="continuous")
    for name, position in (
        ("vertical_front_port_link", (1.875, 0.381, 0.241)),
        ("vertical_front_starboard_link", (1.875, -0.381, 0.241)),
        ("vertical_back_port_link", (-1.083, 0.102, 0.193)),
        ("vertical_back_starboard_link", (-1.083, -0.102, 0.193)),
    ):
        auv.thruster(name, position, (0.0, -pi / 2, 0.0), 0.07)
    auv.frame("imu_link", (0.598, 0.0, 0.168))
    auv.frame("dvl_link", (0.241, 0.0025, 0.007))
    auv.frame("gps_link", (-0.308, 0.002, 0.659))
    auv.frame("fls_link", (2.263, -0.03, 0.17), (0.0, 0.284, 0.0))
    auv.frame("mbes_link", (-0.753, 0.0, 0.088))
    auv.frame("usbl_link", (1.611, 0.097, 0.481))
    auv.frame("camera_link", (-0.656, 0.003, 0.494))
    auv.frame("pressure_link", (0.0, 0.0, 0.20))
    auv.write()
