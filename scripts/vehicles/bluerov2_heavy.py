"""Write robot.urdf of the BlueROV2 Heavy: eight thrusters."""

from __future__ import annotations

from math import pi

from bluerov2 import body, horizontal_thrusters, sensor_frames
from shapes import Urdf

if __name__ == "__main__":
    rov = Urdf(
        "bluerov2_heavy",
        "BlueROV2 Heavy. Mass, inertia and places of the thrusters: von Benzon et al. 2022; the shapes only resemble\n"
        "     it. x forward, y left, z up; metres, kilograms. The origin is the centre of mass.",
    )
    body(rov, 13.5, (0.26, 0.23, 0.37), (0.0, 0.0, 0.0))
    horizontal_thrusters(rov)
    for end, x in (("front", 0.12), ("rear", -0.12)):
        for side, y in (("right", -0.218), ("left", 0.218)):
            rov.thruster(f"vertical_{end}_{side}_link", (x, y, 0.0), (0.0, -pi / 2, 0.0))
    sensor_frames(rov)
    rov.write()
