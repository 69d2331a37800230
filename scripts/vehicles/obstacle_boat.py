"""Write robot.urdf of the obstacle boat."""

from __future__ import annotations

from math import atan2, hypot

from shapes import Urdf, box, cylinder

ZERO = (0.0, 0.0, 0.0)
MASS, LENGTH, BEAM = 900.0, 5.0, 2.0  # kg, m, m
KEEL, RAIL = -0.113, 0.55  # heights above the waterline, m
STEM, BOW = 1.2, 2.5  # start and tip of the bow, m ahead of amidships

if __name__ == "__main__":
    boat = Urdf(
        "obstacle_boat",
        "A motor boat of 5 m that is in the way of others. An estimate in all; see vehicle.yaml.\n"
        "     x forward, y left, z up; metres, kilograms. The origin is amidships at the waterline.",
    )
    height, middle = RAIL - KEEL, 0.5 * (RAIL + KEEL)
    side, turn = hypot(BOW - STEM, 0.5 * BEAM), atan2(0.5 * BEAM, BOW - STEM)
    hull = box(STEM + 0.5 * LENGTH, BEAM, height)
    stern = (0.5 * (STEM - 0.5 * LENGTH), 0.0, middle)
    bow = [
        (box(side, 0.12, height), (0.5 * (STEM + BOW), port * 0.25 * BEAM, middle), (0.0, 0.0, -port * turn))
        for port in (1, -1)
    ]
    visuals = [
        ("white", hull, stern, ZERO),
        *(("white", *plank) for plank in bow),
        ("white", box(0.7, 1.1, height), (1.45, 0.0, middle), ZERO),
        ("red", box(STEM + 0.5 * LENGTH, BEAM + 0.02, 0.12), (stern[0], 0.0, RAIL - 0.12), ZERO),
        ("blue", box(1.5, 1.5, 0.9), (0.2, 0.0, RAIL + 0.45), ZERO),
        ("black", box(1.52, 1.52, 0.3), (0.2, 0.0, RAIL + 0.6), ZERO),
        ("white", box(1.7, 1.6, 0.06), (0.2, 0.0, RAIL + 0.93), ZERO),
        ("grey", cylinder(0.03, 0.9), (-0.4, 0.0, RAIL + 1.35), ZERO),
        *(("black", box(0.35, 0.3, 0.7), (-2.65, y, 0.25), ZERO) for y in (0.5, -0.5)),
    ]
    cabin = (box(1.5, 1.5, 0.96), (0.2, 0.0, RAIL + 0.48), ZERO)
    inertia = (MASS * (0.4 * BEAM) ** 2, MASS * (0.25 * LENGTH) ** 2, MASS * (0.25 * LENGTH) ** 2)
    boat.link("base_link", MASS, inertia, (0.0, 0.0, 0.35), visuals, [(hull, stern, ZERO), *bow, cabin])
    for name, y in (("port_link", 0.5), ("starboard_link", -0.5)):
        blades = [("black", box(0.02, 0.3, 0.06), ZERO, ZERO), ("black", box(0.02, 0.06, 0.3), ZERO, ZERO)]
        boat.link(name, 1e-4, (1e-7, 1e-7, 1e-7), visuals=blades)
        boat.joint(name, (-2.7, y, -0.35), kind="continuous")
    boat.write()
