"""Write robot.urdf of the Otter."""

from __future__ import annotations

from shapes import TOWARDS_X, Urdf, box, capsule, cylinder

ZERO = (0.0, 0.0, 0.0)
HULL, BEAM, LENGTH = 55.0, 1.08, 2.0  # kg, m, m (Fossen's model)
PAYLOAD, SIDE = 25.0, 0.3  # mass, kg (Fossen's model), and side of a box of that mass, m
PONTOON = 0.395  # m from the centre plane (Fossen's model)

if __name__ == "__main__":
    boat = Urdf(
        "otter",
        "Otter of Maritime Robotics. Masses, their places and radii of gyration: Fossen's model; the shapes only\n"
        "     resemble it. x forward, y left, z up; metres, kilograms. The origin is amidships at the waterline.",
    )
    inertia = (HULL * (0.4 * BEAM) ** 2, HULL * (0.25 * LENGTH) ** 2, HULL * (0.25 * LENGTH) ** 2)
    pontoons = [(capsule(0.14, 1.72), (0.1, side * PONTOON, 0.05), TOWARDS_X) for side in (1, -1)]
    visuals = [("yellow", *pontoon) for pontoon in pontoons]
    visuals += [
        ("black", box(0.06, 0.80, 0.05), (0.55, 0.0, 0.24), ZERO),
        ("black", box(0.06, 0.80, 0.05), (-0.25, 0.0, 0.24), ZERO),
        ("black", box(0.9, 0.30, 0.03), (0.15, 0.0, 0.27), ZERO),
        ("grey", cylinder(0.02, 0.60), (-0.25, 0.0, 0.56), ZERO),
        ("white", cylinder(0.07, 0.04), (-0.25, 0.0, 0.87), ZERO),
    ]
    boat.link("base_link", HULL, inertia, (0.2, 0.0, 0.2), visuals, pontoons)
    boat.link(
        "payload_link",
        PAYLOAD,
        [PAYLOAD * SIDE**2 / 6] * 3,
        visuals=[("white", box(SIDE, SIDE, SIDE), ZERO, ZERO)],
    )
    boat.joint("payload_link", (0.0, 0.0, 0.35))
    for name, y in (("propeller_port_link", PONTOON), ("propeller_starboard_link", -PONTOON)):
        blades = [("black", box(0.01, 0.19, 0.03), ZERO, ZERO), ("black", box(0.01, 0.03, 0.19), ZERO, ZERO)]
        boat.link(name, 1e-4, (1e-7, 1e-7, 1e-7), visuals=blades)
        boat.joint(name, (-0.85, y, -0.12), kind="continuous")
    boat.frame("imu_link", (0.0, 0.0, 0.3))
    boat.frame("gps_link", (-0.25, 0.0, 0.9))
    boat.frame("camera_link", (0.2, 0.0, 0.6))
    boat.frame("lidar_link", (0.0, 0.0, 0.75))
    boat.frame("mbes_link", (0.1, 0.0, -0.15))
    boat.frame("rope_link", (-0.9, 0.0, 0.2))
    boat.write()
