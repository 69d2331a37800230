"""Props in the water and before the camera: how deep they float, where moorings hold them, what gates let through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply, quaternion_to_matrix, rpy_to_quaternion
from skerry.rays.lens import Lens
from skerry.rays.ray_caster import Bundle
from skerry.rays.renderer import Conditions, Renderer, linear_light
from skerry.rays.sea_view import SeaView
from skerry.scenario.geometry import marker_cells
from skerry.scenario.props import read_prop, shipped_props
from skerry.water.daylight import SkyConfig
from skerry.water.optics import optics_of

DENSITY, GRAVITY = 1025.0, 9.81
GROUND = {"kind": "flat", "depth": 10}
AFLOAT = [name for name in shipped_props() if read_prop(name).motion == "dynamic"]


def tilt_deg(thing: Any) -> float:
    """Between its z and the vertical."""
    return float(np.degrees(np.arccos(np.clip(quaternion_to_matrix(thing.pose.orientation)[2, 2], -1, 1))))


# ------------------------------------------------------------------------------------------------ floating


def cap(depth: float, radius: float) -> float:
    """The volume of a ball below its waterline: π h² (3 r − h)/3."""
    h = min(depth, 2 * radius)
    return np.pi * h**2 * (3 * radius - h) / 3


def cylinders(*parts: tuple[float, float, float]) -> Any:
    """The volume below a draught of upright cylinders (radius, lowest, highest), heights over the lowest of all."""
    return lambda depth: sum(np.pi * r**2 * np.clip(depth - low, 0, high - low) for r, low, high in parts)


# The lowest point in the prop's frame, the volume below a draught, the mass, and how near the draught must come.
# Cylinders are layers of cells, exact; a ball's layers are straight lines between points of its volume's curve,
# wrong by at most an eighth of the layer's change of slope: 6 layers of r/3 give 1 % of r here.
FLOATING = {
    "buoy_port": (-0.764, cylinders((0.1, 0.0, 0.5), (0.4, 0.5, 1.3), (0.26, 1.3, 2.2)), 152.0, 0.001),
    "buoy_starboard": (-0.764, cylinders((0.1, 0.0, 0.5), (0.4, 0.5, 1.3)), 152.0, 0.001),
    "buoy_cardinal_north": (-1.273, cylinders((0.12, 0.0, 0.9), (0.45, 0.9, 1.7), (0.12, 1.7, 3.9)), 285.0, 0.001),
    "buoy_spar": (-1.46, cylinders((0.1, 0.0, 2.3)), 47.0, 0.001),
    "buoy_mooring": (-0.264, lambda depth: cap(depth, 0.4), 70.0, 0.004),
    "float": (-0.07, lambda depth: cap(depth, 0.15), 2.0, 0.003),
}


def test_every_prop_that_floats_has_its_row() -> None:
    assert set(FLOATING) == set(AFLOAT)


@pytest.mark.parametrize("name", AFLOAT)
def test_it_floats_upright_at_its_draught_also_after_it_was_tilted(load, name: str) -> None:
    """Archimedes: ρ V(T) = m, solved for the draught T by halving; released at 20° it rights itself in a minute."""
    lowest, volume, mass, tolerance = FLOATING[name]
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if DENSITY * volume(middle) > mass else (middle, high)
    pose = {"position": [0, 0, 0.05], "roll_deg": 20}
    world = load({"terrain": GROUND, "objects": {"it": {"prop": name, "pose": pose}}})
    world.advance(60.0)
    thing = world.objects["it"]
    draught = -(thing.pose.position[2] + lowest)
    assert draught == pytest.approx(low, abs=tolerance)
    assert tilt_deg(thing) < 0.5
    assert abs(thing.twist.linear[2]) < 1e-4  # level, it may still glide a little


@pytest.mark.parametrize("name", AFLOAT)
def test_its_origin_is_its_waterline_in_sea_water(load, name: str) -> None:
    """`position: [x, y, 0]` is the floating position, to 3 mm, the rounding of the file and of the buoyancy cells."""
    world = load({"terrain": GROUND, "objects": {"it": {"prop": name}}})
    world.advance(20.0)
    assert world.objects["it"].pose.position[2] == pytest.approx(0.0, abs=0.003)


# ------------------------------------------------------------------------------------------------ moorings


def test_a_taut_line_stretches_by_hookes_law(load) -> None:
    """A ball wholly under water pulls up with B = (ρ V − m) g; its line of E A is stretched by B L/(E A).

    To 1e-6 of the stretch: it has come to rest, in 60 s and by a damper.
    """
    mass, radius, stiffness, length = 20.0, 0.3, 2000.0, 4.0
    ball = {
        "geometry": {"kind": "sphere", "radius": radius},
        "motion": "dynamic",
        "mass": mass,
        "pose": {"position": [0, 0, -6]},
        "linear_damping": [50, 50, 50, 1, 1, 1],
        "mooring": {"anchor": [0, 0, -10], "scope": 1, "axial_stiffness": stiffness, "damping": 50},
    }
    world = load({"objects": {"ball": ball}})
    world.advance(60.0)
    pull = (DENSITY * 4 / 3 * np.pi * radius**3 - mass) * GRAVITY
    stretch = world.objects["ball"].pose.position[2] - (-10 + length)
    assert stretch == pytest.approx(pull * length / stiffness, rel=1e-6)


def test_a_line_far_stiffer_than_the_step_can_follow_stays_calm(load) -> None:
    """√(k/m) h = 160, far beyond the 2 at which an explicit spring explodes: the line gives no energy.

    On its way up to over its anchor, 0.9 m, the lift of 958 N can give it no more than √(2 · 958 · 0.9/20) = 9.3 m/s.
    """
    ball = {
        "geometry": {"kind": "sphere", "radius": 0.3},
        "motion": "dynamic",
        "mass": 20,
        "pose": {"position": [0, 0, -6]},
        "quadratic_damping": [60, 60, 60, 1, 1, 1],
        "mooring": {"anchor": [3, 0, -10], "scope": 1, "axial_stiffness": 1e11, "position": [0, 0, -0.3]},
    }
    world = load(
        {"water": {"currents": {"tide": {"kind": "uniform", "velocity": [1, 1, 0]}}}, "objects": {"ball": ball}}
    )
    start = np.linalg.norm(np.array([0, 0, -6.3]) - [3, 0, -10])
    for _ in range(40):
        world.advance(0.5)
        thing = world.objects["ball"]
        fast = thing.pose.transform(np.array([0, 0, -0.3]))
        assert np.linalg.norm(fast - [3, 0, -10]) < start + 1e-3
        assert np.linalg.norm(thing.twist.linear) < 9.3


def test_a_current_carries_a_buoy_to_the_end_of_its_line_and_no_further(load) -> None:
    """The line is taut: from the anchor, its upper end is its length L = 1.02 · 9.236 m away and T L/(E A) more.

    The current's drag is some hundred N at 0.6 m/s, and the line slants by 13°: T < 1 kN, or 1 % of E A. A float
    without a line drifts off with the water, to 5 %, since it starts at rest.
    """
    world = load(
        {
            "terrain": GROUND,
            "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.6, 0, 0]}}},
            "objects": {"buoy": {"prop": "buoy_port"}, "drifter": {"prop": "float", "pose": {"position": [0, 9, 0]}}},
        }
    )
    world.advance(120.0)
    end = world.objects["buoy"].pose.transform(np.array([0, 0, -0.764]))
    length = 1.02 * 9.236
    assert length < np.linalg.norm(end - [0, 0, -10]) < 1.01 * length
    assert end[0] > 1.5
    assert abs(end[1]) < 0.01
    assert tilt_deg(world.objects["buoy"]) < 30
    assert world.objects["drifter"].pose.position[0] == pytest.approx(0.6 * 120, rel=0.05)


# ------------------------------------------------------------------------------------------------ the pool


def test_okon_swims_through_the_gate_without_touching_it(load) -> None:
    """The gate lets through what is 1.5 m wide and 1 m high; Okoń, 0.6 m wide, swims straight at its middle."""
    bumper = {"kind": "contact", "link": "base_link", "frequency": 50, "whole_robot": True}
    world = load("okon_pool", overrides={"robots": {"okon": {"overrides": {"sensors": {"bumper": bumper}}}}})
    okon = world.robots["okon"]
    for name in ("ML", "MR"):
        okon.actuators[name].command(throttle=0.25)
    gate = world.objects["gate"].pose.position
    assert okon.pose.position[0] < gate[0] - 1
    for _ in range(180):
        world.advance(0.1)
        assert not okon.sensors["bumper"].reading.touching
    assert okon.pose.position[0] > gate[0] + 1
    assert abs(okon.pose.position[1] - gate[1]) < 0.2


def test_okon_is_stopped_by_a_post_of_the_gate(load) -> None:
    """The same swim, aimed at a post: it is felt, and holds."""
    bumper = {"kind": "contact", "link": "base_link", "frequency": 50, "whole_robot": True}
    robot = {"pose": {"position": [-20, 0.77, -1.55]}, "overrides": {"sensors": {"bumper": bumper}}}
    world = load("okon_pool", overrides={"robots": {"okon": robot}})
    okon = world.robots["okon"]
    for name in ("ML", "MR"):
        okon.actuators[name].command(throttle=0.25)
    touched = set()
    for _ in range(150):
        world.advance(0.1)
        touched |= {contact.other for contact in okon.sensors["bumper"].reading.contacts}
    assert "gate" in {other.partition("/")[0] for other in touched}
    assert okon.pose.position[0] < -14.8


# ------------------------------------------------------------------------------------------------ before the camera


def picture(world: Any, place: list[float], sky: dict[str, float], pixels: int = 240, fov_deg: float = 30.0) -> Any:
    """Linear light of what a camera sees along x."""
    f = 0.5 * pixels / np.tan(np.radians(0.5 * fov_deg))
    lens = Lens(pixels, pixels, f, f, (pixels - 1) / 2, (pixels - 1) / 2)
    conditions = Conditions(SkyConfig(**sky).build(), optics_of("I"), SeaView.level(0.0))  # type: ignore[arg-type]
    pose = Pose(np.array(place, float), multiply(rpy_to_quaternion(np.zeros(3)), OPTICAL_IN_BODY))
    shown = Renderer(lens).render(world.ray_scene.view(), pose, conditions, threads=1)
    return f, shown.light.copy()


@pytest.mark.parametrize("number", [0, 1, 7, 23, 49])
@pytest.mark.parametrize("depth", [-20.0, 3.0])
def test_a_marker_is_read_from_its_picture(load, number: int, depth: float) -> None:
    """The cells' middles in the picture, where a pinhole puts them, are dark or light as the marker's bits say.

    Seen from 2 m, in air (at a depth of −20 m) and under water; dark is below the middle between the plate's darkest
    and lightest dot, as detectors take it (OpenCV's, tried by hand, reads these markers too).
    """
    post = {
        "prop": "aruco_post",
        "pose": {"position": [2.046, 0, -depth - 1.25], "yaw_deg": 180},
        "shapes": {"marker": {"geometry": {"id": number}}},
    }
    world = load({"objects": {"tag": post}})
    f, light = picture(world, [0, 0, -depth], {"cloud": 0.5})
    grey = light.sum(axis=2)
    away, cell = 2.0 - 0.005 - 0.001, 0.05
    middle = 0.5 * (grey.shape[0] - 1)
    offsets = np.rint(middle + f * (np.arange(6) - 2.5) * cell / away).astype(int)
    seen = grey[np.ix_(offsets, offsets)]
    edge = round(middle + f * 3.5 * cell / away)
    plate = grey[2 * int(middle) - edge : edge, 2 * int(middle) - edge : edge]
    assert ((seen < 0.5 * (plate.min() + plate.max())) == marker_cells(number)).all()


def test_a_lamp_shines_with_its_glow_at_night_and_as_the_water_lets_it_through(load) -> None:
    """Without daylight its light is glow × colour (linear), times exp(−c d) after d of water with attenuation c.

    Single precision: to 1e-4.
    """
    colour = np.array([1.0, 0.5, 0.2])
    lamp = {"geometry": {"kind": "box", "size": [0.2, 1, 1]}, "colour": colour.tolist(), "glow": 3.0}
    objects = {
        name: {"shapes": {"lamp": lamp}, "pose": {"position": [4.1, 0, z]}} for name, z in (("dry", 9), ("wet", -9))
    }
    world = load({"objects": objects})
    night = {"brightness": 0.0}
    _, dry = picture(world, [0, 0, 9], night, 41)
    _, wet = picture(world, [0, 0, -9], night, 41)
    expected = 3.0 * linear_light(colour)
    optics = optics_of("I")
    np.testing.assert_allclose(dry[20, 20], expected, rtol=1e-4)
    np.testing.assert_allclose(wet[20, 20], expected * np.exp(-np.asarray(optics.attenuation) * 4.0), rtol=1e-4)
    assert dry[0, 0].max() == 0.0


# ------------------------------------------------------------------------------------------------ the farm


def test_the_farms_floats_stay_at_their_line_and_its_kelp_is_detected_by_sonar_and_camera(load) -> None:
    """Floats are held by lines of 1.05 times 1.5 m and so within some 0.5 m of their place, waves and all."""
    world = load("algae_farm")
    world.advance(30.0)
    for name, thing in world.objects.items():
        if name.startswith(("float_", "west_buoy", "east_buoy")):
            start = np.array(world.scenario.objects[name].pose.position)
            assert np.hypot(*(thing.pose.position - start)[:2]) < 0.6, name
            assert abs(thing.pose.position[2]) < 0.3, name
    view = world.ray_scene.view()
    place = Pose(np.array([-10.0, 3.0, -1.8]), np.array([0.0, 0.0, 0.0, 1.0]))
    hits = view.cast(Bundle([[0.0, 1.0, 0.0]]), place, 10.0)
    assert view.materials[int(hits.material[0])].name == "algae"
    assert hits.distance[0] == pytest.approx(3.0, abs=0.1)
