"""Write robot.urdf of the BlueROV2: the standard frame with six thrusters."""

from __future__ import annotations

from math import pi

from shapes import TOWARDS_X, Urdf, box, capsule, cylinder, sphere

CENTER = (0.0, 0.0, -0.02)  # centre of mass, m, below the centre of buoyancy, which is the origin (Wu 2018)


def body(urdf: Urdf, mass: float, inertia: tuple[float, float, float], center: tuple[float, float, float]) -> None:
    """Add the frame of both variants: 0.457 m long, 0.254 m high (drawing of Blue Robotics)."""
    no_turn = (0.0, 0.0, 0.0)
    visuals = [
        ("blue", box(0.44, 0.10, 0.045), (0.0, 0.10, 0.10), no_turn),
        ("blue", box(0.44, 0.10, 0.045), (0.0, -0.10, 0.10), no_turn),
        ("white", cylinder(0.057, 0.30), (0.02, 0.0, 0.06), TOWARDS_X),
        ("cyan", sphere(0.055), (0.175, 0.0, 0.06), no_turn),
        ("black", cylinder(0.045, 0.22), (-0.02, 0.0, -0.08), TOWARDS_X),
        ("black", box(0.457, 0.012, 0.20), (0.0, 0.16, -0.02), no_turn),
        ("black", box(0.457, 0.012, 0.20), (0.0, -0.16, -0.02), no_turn),
        ("black", box(0.42, 0.32, 0.012), (0.0, 0.0, -0.12), no_turn),
        ("white", capsule(0.02, 0.03), (0.215, 0.11, -0.06), TOWARDS_X),
        ("white", capsule(0.02, 0.03), (0.215, -0.11, -0.06), TOWARDS_X),
    ]
    urdf.link("base_link", mass, inertia, center, visuals, [(box(0.457, 0.338, 0.254), (0.0, 0.0, 0.0), no_turn)])


def horizontal_thrusters(urdf: Urdf) -> None:
    """Add four thrusters at 45°, (0.156 + 0.111)/√2 = 0.1888 m from the vertical axis; the rear ones push back."""
    for side, x, y, degrees in (
        ("front_right", 0.156, -0.111, 45.0),
        ("front_left", 0.156, 0.111, -45.0),
        ("rear_right", -0.156, -0.111, 135.0),
        ("rear_left", -0.156, 0.111, -135.0),
    ):
        urdf.thruster(f"{side}_link", (x, y, 0.0), (0.0, 0.0, degrees * pi / 180))


def sensor_frames(urdf: Urdf) -> None:
    """Add the frames of the sensors, estimated from photographs."""
    urdf.frame("imu_link", (0.0, 0.0, 0.06))
    urdf.frame("pressure_link", (-0.15, 0.0, 0.06))
    urdf.frame("dvl_link", (-0.10, 0.0, -0.13))
    urdf.frame("sonar_link", (0.20, 0.0, 0.13))
    urdf.frame("camera_link", (0.22, 0.0, 0.06))
    urdf.frame("tether_link", (-0.22, 0.0, 0.08))


if __name__ == "__main__":
    rov = Urdf(
        "bluerov2",
        "BlueROV2, the standard frame. Mass, inertia and centre of mass: Wu 2018; the shapes only resemble it.\n"
        "     x forward, y left, z up; metres, kilograms. The origin is the centre of buoyancy.",
    )
    body(rov, 11.5, (0.16, 0.16, 0.16), CENTER)
    horizontal_thrusters(rov)
    for name, y in (("vertical_right_link", -0.111), ("vertical_left_link", 0.111)):
        rov.thruster(name, (0.0, y, 0.05), (0.0, -pi / 2, 0.0))
    sensor_frames(rov)
    rov.write()
