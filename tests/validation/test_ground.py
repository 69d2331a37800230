"""Bodies that start inside the ground, and bodies that are faster than a step is long."""

from __future__ import annotations

import numpy as np
import pytest

SLOPE = {
    "kind": "heightfield",
    "size": [40, 40],
    "resolution": 1,
    "function": {"kind": "slope", "height": -5, "slope_deg": 10},
}
HILLS = {"kind": "heightfield", "size": [40, 40], "resolution": 0.1, "function": {"kind": "hills", "amplitude": 1}}
GROUNDS = {"flat": {"kind": "flat", "depth": 5}, "slope": SLOPE, "hills": HILLS}
SHAPES = {
    "ball": {"kind": "sphere", "radius": 0.1},
    "box": {"kind": "box", "size": [0.5, 0.3, 0.2]},
    "drum": {"kind": "cylinder", "radius": 0.1, "length": 0.4},
}
DRY = {"motion": "dynamic", "volume": 0.0}


def _height(world, name="thing"):
    """Height of the origin of an object above the ground below it, m."""
    position = world.objects[name].position
    return position[2] - float(world.terrain.height(position[:2]))


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [0.3, 2.0, 12.0])
def test_a_body_that_starts_inside_the_ground_is_lifted_out_and_stays_at_rest(load, caplog, ground, shape, depth):
    """The body starts on the ground, to 5 mm: an outline with 12 points per rim misses 3.4 % of 0.1 m. In half a
    second it does not get faster than a body that rolls down the steepest slope here (20°), g t sin 20° = 1.7 m/s;
    contacts at a depth of 2 m would throw it up at 40 m/s.
    """
    flat = load({"terrain": GROUNDS[ground]})
    bottom = float(flat.terrain.height([0.3, 0.2]))
    thing = {**DRY, "geometry": SHAPES[shape], "mass": 20.0, "pose": {"position": [0.3, 0.2, bottom - depth]}}
    world = load({"terrain": GROUNDS[ground], "objects": {"thing": thing}})
    assert "thing starts" in caplog.text
    assert "inside the ground and is lifted" in caplog.text
    lowest = {"ball": 0.1, "box": 0.1, "drum": 0.2}[shape]
    assert lowest - 0.005 < _height(world) < lowest + 0.15
    fastest = 0.0
    for _ in range(10):
        world.advance(0.05)
        fastest = max(fastest, float(np.linalg.norm(world.objects["thing"].twist.linear)))
    assert fastest < 1.7
    assert _height(world) > 0.05


def test_a_robot_is_lifted_by_its_lowest_link(load, vehicle, caplog):
    """The arm reaches 0.8 m below the hull: the robot is lifted as a whole until the arm stands on the ground."""
    links = {
        "hull": {"mass": 5.0, "inertia": [0.1, 0.1, 0.1], "collision": '<box size="0.4 0.4 0.2"/>'},
        "arm": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1], "collision": '<sphere radius="0.1"/>'},
    }
    joints = {"hinge": {"parent": "hull", "child": "arm", "at": [0, 0, -0.7], "axis": [0, 1, 0]}}
    robot = {"vehicle": vehicle(links, {}, joints), "pose": {"position": [0, 0, -4.5]}}
    world = load({"terrain": GROUNDS["flat"], "robots": {"craft": robot}})
    assert world.robots["craft"].position[2] == pytest.approx(-5 + 0.8, abs=1e-9)
    assert "craft starts 0.30 m inside the ground" in caplog.text
    world.reset()
    assert world.robots["craft"].position[2] == pytest.approx(-5 + 0.8, abs=1e-9)


def test_a_body_on_the_ground_or_anchored_in_it_is_not_moved(load, caplog):
    objects = {
        "resting": {**DRY, "geometry": SHAPES["ball"], "mass": 4.0, "pose": {"position": [0, 0, -4.93]}},
        "post": {"geometry": SHAPES["drum"], "pose": {"position": [2, 0, -5.1]}},
    }
    world = load({"terrain": GROUNDS["flat"], "objects": objects})
    assert world.objects["resting"].position[2] == -4.93
    assert world.objects["post"].position[2] == -5.1
    assert not caplog.messages


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("radius", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("speed", [5.0, 20.0, 50.0, 80.0])
def test_a_fast_ball_does_not_fall_through_the_ground(load, set_velocity, ground, radius, speed):
    """The ball moves by up to 0.4 m in a step of 5 ms, many times its radius. It may sink in by twice that, and comes
    out again, on a heightfield as on a plane.
    """
    mass = 2000 * 4 / 3 * np.pi * radius**3
    thing = {**DRY, "geometry": {"kind": "sphere", "radius": radius}, "mass": mass, "pose": {"position": [0.3, 0.2, 2]}}
    world = load({"terrain": GROUNDS[ground], "objects": {"thing": thing}})
    set_velocity(world, [0, 0, -speed])
    deepest = 0.0
    for _ in range(100):
        world.advance(0.01)
        height = _height(world)
        if np.isnan(height):  # it has left the ground over its edge
            return
        deepest = max(deepest, -height)
    assert deepest < 0.05 + 2 * (speed + 10) * 0.005
    assert _height(world) > 0.9 * radius
