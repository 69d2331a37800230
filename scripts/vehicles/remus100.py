"""Write robot.urdf of the REMUS 100."""

from __future__ import annotations

from shapes import TOWARDS_X, Urdf, box, capsule, cylinder, sphere

ZERO = (0.0, 0.0, 0.0)
# Radius of the hull, m. Its nose is 0.610 m ahead of the centre of buoyancy, its tail 0.721 m behind (Prestero).
RADIUS = 0.0955
FIN = 1e-4  # mass of a fin, kg; the hull has the mass of the whole vehicle

if __name__ == "__main__":
    auv = Urdf(
        "remus100",
        "REMUS 100 of Hydroid. Mass, inertia, centre of mass and fins: Prestero 2001 and Sgarioto 2007; the shapes\n"
        "     only resemble it. x forward, y left, z up; metres, kilograms. The origin is the centre of buoyancy.",
    )
    visuals = [
        ("yellow", cylinder(RADIUS, 0.80), (0.10, 0.0, 0.0), TOWARDS_X),
        ("black", sphere(RADIUS), (0.5145, 0.0, 0.0), ZERO),
        ("yellow", capsule(0.07, 0.14), (-0.36, 0.0, 0.0), TOWARDS_X),
        ("black", capsule(0.045, 0.16), (-0.52, 0.0, 0.0), TOWARDS_X),
        ("black", cylinder(0.02, 0.06), (-0.67, 0.0, 0.0), TOWARDS_X),
        ("black", box(0.05, 0.01, 0.12), (0.30, 0.0, 0.13), ZERO),
        ("grey", cylinder(0.04, 0.03), (0.30, 0.0, -0.09), ZERO),
    ]
    hull = (capsule(RADIUS, 1.3327 - 2 * RADIUS), (-0.0555, 0.0, 0.0), TOWARDS_X)
    auv.link("base_link", 30.48, (0.177, 3.45, 3.45), (0.0, 0.0, -0.0196), visuals, [hull])
    for name, shape, axis in (
        ("rudder_link", box(0.07, 0.008, 0.26), (0.0, 0.0, 1.0)),
        ("stern_planes_link", box(0.07, 0.26, 0.008), (0.0, 1.0, 0.0)),
    ):
        auv.link(name, FIN, (1e-7, 1e-7, 1e-7), visuals=[("black", shape, ZERO, ZERO)])
        auv.joint(name, (-0.638, 0.0, 0.0), kind="revolute", axis=axis, limit=(0.23736, 20.0, 1.0))
    blades = [("grey", box(0.008, 0.14, 0.02), ZERO, ZERO), ("grey", box(0.008, 0.02, 0.14), ZERO, ZERO)]
    auv.link("propeller_link", FIN, (1e-7, 1e-7, 1e-7), visuals=blades)
    auv.joint("propeller_link", (-0.71, 0.0, 0.0), kind="continuous")
    auv.frame("imu_link", (0.0, 0.0, -0.02))
    auv.frame("dvl_link", (0.30, 0.0, -0.105))
    auv.frame("sidescan_link", (-0.05, 0.0, -0.03))
    auv.frame("pressure_link", (-0.30, 0.0, 0.0))
    auv.frame("gps_link", (0.30, 0.0, 0.19))
    auv.frame("ctd_link", (0.45, 0.0, 0.09))
    auv.write()
