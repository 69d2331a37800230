"""Write robot.urdf of Okoń: five thrusters."""

from __future__ import annotations

from math import pi

from shapes import TOWARDS_X, TOWARDS_Y, Urdf, box, capsule, cylinder, sphere

ZERO = (0.0, 0.0, 0.0)
MASS = 12.55  # kg
FRAME = (0.504, 0.447, 0.044)  # m, box of its collision shape
TUBE = (0.119, 0.599)  # m, radius and total length of the capsule above it
TUBE_HEIGHT = 0.132  # m above the frame


def even_inertia() -> tuple[float, float, float]:
    """Return the inertia of frame and tube with constant density about their common centre.

    Game engines do the same if no inertia is given.
    """
    radius, length = TUBE
    straight = length - 2 * radius
    tube, ends = pi * radius**2 * straight, 4 / 3 * pi * radius**3
    x, y, z = FRAME
    plate = x * y * z
    density = MASS / (tube + ends + plate)
    tube, ends, plate = (density * volume for volume in (tube, ends, plate))
    # the centre of a hemisphere is 3/8 r from its flat face; its inertia about the centre, across, is 83/320 m r²
    across = tube * (3 * radius**2 + straight**2) / 12
    across += ends * (83 / 320 * radius**2 + (straight / 2 + 3 / 8 * radius) ** 2)
    along = tube * radius**2 / 2 + ends * 2 / 5 * radius**2
    apart = (tube + ends) * plate / MASS * TUBE_HEIGHT**2
    return (
        along + plate * (y**2 + z**2) / 12 + apart,
        across + plate * (x**2 + z**2) / 12 + apart,
        across + plate * (x**2 + y**2) / 12,
    )


if __name__ == "__main__":
    auv = Urdf(
        "okon",
        "Okoń, the AUV of the students' robotics club KNR. Mass, collision shapes and thrusters: those of its own\n"
        "     simulator, 1.x; inertia: the collision shapes filled evenly. x forward, y left, z up; metres, kilograms.",
    )
    visuals = [
        ("black", box(*FRAME), ZERO, ZERO),
        ("white", cylinder(TUBE[0], TUBE[1] - 2 * TUBE[0]), (0.0, 0.0, TUBE_HEIGHT), TOWARDS_X),
        ("cyan", sphere(TUBE[0]), (0.18, 0.0, TUBE_HEIGHT), ZERO),
        ("red", sphere(TUBE[0]), (-0.18, 0.0, TUBE_HEIGHT), ZERO),
        ("black", cylinder(0.012, 0.55), (0.11, 0.0, 0.0), TOWARDS_Y),
        ("black", box(0.18, 0.03, 0.03), (-0.30, 0.0, 0.0), ZERO),
    ]
    tube = (capsule(TUBE[0], TUBE[1] - 2 * TUBE[0]), (0.0, 0.0, TUBE_HEIGHT), TOWARDS_X)
    auv.link("base_link", MASS, even_inertia(), ZERO, visuals, [(box(*FRAME), ZERO, ZERO), tube])
    up, ahead = (0.0, -pi / 2, 0.0), ZERO
    auv.thruster("FL_link", (0.110, 0.277, 0.024), up)
    auv.thruster("FR_link", (0.110, -0.277, 0.024), up)
    auv.thruster("B_link", (-0.357, 0.0, 0.024), up)
    auv.thruster("ML_link", (-0.034, 0.178, 0.056), ahead)
    auv.thruster("MR_link", (-0.034, -0.178, 0.056), ahead)
    auv.frame("camera_link", (0.3443, 0.0, 0.042))
    auv.write()
