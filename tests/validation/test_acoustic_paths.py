"""Paths of sound: bottom echoes against closed forms, and channels that are open in both directions or in none."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, hypot, radians, sin, tan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

import skerry
from skerry.acoustics.channel.directions import cap
from skerry.acoustics.channel.obstacles import GROWTH, Obstacles, is_open
from skerry.world import World

C = 1500.0  # m/s, the default

FLOAT = """
<robot name="float">
  <link name="base_link">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
</robot>
"""


@pytest.fixture
def drifter(tmp_path: Path) -> str:
    (tmp_path / "robot.urdf").write_text(FLOAT)
    (tmp_path / "vehicle.yaml").write_text("description: drifts\n")
    return str(tmp_path)


def robot(vehicle: str, at: ArrayLike, **part: Any) -> dict[str, Any]:
    modem = {"kind": "transceiver", "link": "base_link", "max_range": 500, **part}
    place = {"position": np.asarray(at, float).tolist()}
    return {"vehicle": vehicle, "anchored": True, "pose": place, "overrides": {"acoustics": {"modem": modem}}}


def sea(robots: dict[str, Any], **more: Any) -> World:
    return skerry.load({"seed": 3, "gravity": 0, "robots": robots} | more)


def times_by_path(world: World, name: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    while (packet := world.robots[name].acoustics["modem"].read()) is not None:
        found.setdefault(packet.path, []).append(packet.travel_time)
    return found


# ------------------------------------------------------------------------------------------------ bottom echoes


def slope(degrees: float, cells: int = 161, size: float = 320.0) -> dict[str, Any]:
    """Return a plane through z = −60 at the origin that rises towards x."""
    x = np.linspace(-size / 2, size / 2, cells)
    heights = np.tile(-60 + tan(radians(degrees)) * x, (cells, 1))
    return {"kind": "heightfield", "size": [size, size], "array": heights.tolist()}


def mirrored(source: ArrayLike, target: ArrayLike, degrees: float) -> tuple[float, float]:
    """Return the length of the echo of the plane, and the cosine between straight down and its first leg."""
    normal, point = np.array([-sin(radians(degrees)), 0, cos(radians(degrees))]), np.array([0, 0, -60.0])
    s, t = np.asarray(source, float), np.asarray(target, float)
    image = s - 2 * ((s - point) @ normal) * normal
    a, b = (s - point) @ normal, (t - point) @ normal
    bounce = image + a / (a + b) * (t - image)
    return float(np.linalg.norm(t - image)), float((s - bounce)[2] / np.linalg.norm(s - bounce))


@pytest.mark.parametrize("resolution", [0, 1, 2, 3])
@pytest.mark.parametrize("degrees", [0, 8, 25])
def test_every_receiver_with_an_echo_of_a_plane_receives_it_at_the_closed_form_time(
    drifter: str, degrees: float, resolution: int
) -> None:
    """t = |t − s'|/c, s' being the mirror image of the source, to 1e-8 s for 60 receivers and any resolution."""
    random = np.random.default_rng(5)
    source = [-10, 5, -25]
    places = random.uniform([-60, -60, -30], [40, 60, -3], (60, 3))
    robots = {f"r{k}": robot(drifter, place) for k, place in enumerate(places)}
    robots["a"] = robot(drifter, source, bottom_resolution=resolution)
    ground = {"kind": "flat", "depth": 60} if degrees == 0 else slope(degrees)
    received = 0
    with sea(robots, terrain=ground) as world:
        world.robots["a"].acoustics["modem"].write("x")
        world.advance(0.5)
        shown = {path.receiver: path for path in world.acoustics.paths("a/modem") if path.path == "bottom"}
        for k, place in enumerate(places):
            length, cosine = mirrored(source, place, degrees)
            found = times_by_path(world, f"r{k}").get("bottom", [])
            if cosine < 0.5:
                assert shown[f"r{k}/modem"].status == "outside the cone"
                assert not found
            elif abs(cosine - 0.5) > 1e-6:
                assert found == pytest.approx([length / C], abs=1e-8)
                received += 1
    assert received > 25


def test_without_the_cone_no_receiver_over_flat_ground_is_without_an_echo(drifter: str) -> None:
    """Down to grazing angles of 2°, with the default tolerance and 180°."""
    places = [[d, 0, -58.0] for d in (5, 20, 50, 80, 110)]
    robots = {f"r{k}": robot(drifter, place) for k, place in enumerate(places)}
    robots["a"] = robot(drifter, [0, 0, -58.0], bottom_opening_angle_deg=180)
    with sea(robots, terrain={"kind": "flat", "depth": 60}) as world:
        world.robots["a"].acoustics["modem"].write("x")
        world.advance(0.3)
        for k, (d, _, _) in enumerate(places):
            assert times_by_path(world, f"r{k}")["bottom"] == pytest.approx([hypot(d, 4.0) / C], abs=1e-8)


ROUGH = {"kind": "heightfield", "size": [200, 200], "resolution": 1, "level": -50}
ROUGH["function"] = {"kind": "hills", "amplitude": 4, "wavelength": 30, "octaves": 3}


def test_rough_ground_has_several_echoes_each_of_which_is_a_shortest_path(drifter: str) -> None:
    """No point of the ground around a bounce point gives a shorter path; 1e-5 m are left for steps past an edge."""
    random = np.random.default_rng(2)
    search = {"single_bottom_echo": False, "bottom_echo_tolerance": 1e-6}
    robots = {"a": robot(drifter, [0, 0, -10], **search), "b": robot(drifter, [30, 10, -20])}
    with sea(robots, terrain=ROUGH) as world:
        assert world.terrain is not None
        world.robots["a"].acoustics["modem"].write("x")
        world.advance(0.3)
        echoes = [path for path in world.acoustics.paths("a/modem") if path.path == "bottom"]
        clear = [path for path in echoes if path.status == "clear"]
        assert len(times_by_path(world, "b")["bottom"]) == len(clear) >= 3
        for path in clear:
            s, p, t = np.array(path.points)
            around = p[:2] + random.uniform(-0.02, 0.02, (200, 2))
            ground = np.column_stack([around, world.terrain.height(around)])
            lengths = np.linalg.norm(ground - s, axis=1) + np.linalg.norm(ground - t, axis=1)
            assert path.length == pytest.approx(np.linalg.norm(p - s) + np.linalg.norm(t - p))
            assert lengths.min() > path.length - 1e-5
            assert p[2] == pytest.approx(float(world.terrain.height(p[:2])), abs=1e-3)


def test_over_rough_ground_nearly_every_receiver_has_a_bottom_echo(drifter: str) -> None:
    random = np.random.default_rng(3)
    robots = {f"r{k}": robot(drifter, random.uniform([-30, -30, -30], [30, 30, -5])) for k in range(40)}
    robots["a"] = robot(drifter, [0, 0, -15])
    with sea(robots, terrain=ROUGH) as world:
        world.robots["a"].acoustics["modem"].write("x")
        world.advance(0.3)
        assert sum("bottom" in times_by_path(world, f"r{k}") for k in range(40)) >= 38


def test_every_bottom_echo_over_rough_ground_closes(drifter: str) -> None:
    """Steep hills, 60 receivers; the search may start on a triangle that faces away from the receiver."""
    random = np.random.default_rng(7)
    robots = {f"r{k}": robot(drifter, random.uniform([-60, -60, -36], [60, 60, -5])) for k in range(60)}
    robots["a"] = robot(drifter, [0, 0, -25], bottom_echo_tolerance=1e-6)
    steep = ROUGH | {"function": {"kind": "hills", "amplitude": 10, "wavelength": 30, "octaves": 4}}
    with sea(robots, terrain=steep) as world:
        world.robots["a"].acoustics["modem"].write("x")
        world.advance(0.1)
        echoes = [path for path in world.acoustics.paths("a/modem") if path.path == "bottom"]
        assert len(echoes) == 60
        assert not [path for path in echoes if path.status == "misses the receiver"]


def test_a_path_that_fails_is_listed_with_the_reason(drifter: str) -> None:
    box = {"geometry": {"kind": "box", "size": [1, 30, 10]}, "pose": {"position": [10, 0, -20]}}
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=100),
        "behind": robot(drifter, [20, 0, -20]),
        "far": robot(drifter, [0, 120, -20]),
        "wide": robot(drifter, [0, 49, -39]),
        "above": robot(drifter, [0, 5, 3], max_range=100),
    }
    with sea(robots, terrain={"kind": "flat", "depth": 40}, objects={"box": box}) as world:
        for name in ("a", "above"):
            world.robots[name].acoustics["modem"].write("x")
        world.advance(0.3)
        found = {(path.receiver, path.path): path.status for path in world.acoustics.paths("a/modem")}
        assert found["behind/modem", "direct"] == "occluded"
        assert found["behind/modem", "bottom"] == "clear"
        assert found["far/modem", "direct"] == "too far"
        assert found["wide/modem", "bottom"] in {"outside the cone", "too far"}
        assert {path.status for path in world.acoustics.paths("above/modem")} == {"in air"}
        lines = world.acoustics.signal_lines()
        assert sum(line.path == "ray" for line in lines) == len(cap(2, 120))
        assert {line.status for line in lines if line.path == "ray"} == {"reflected"}


# ------------------------------------------------------------------------------------------------ both directions


@pytest.mark.parametrize("height", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("terrain", ["flat", "heightfield"])
def test_a_beacon_on_the_bottom_hears_and_is_heard(drifter: str, height: float, terrain: str) -> None:
    ground = {"kind": "flat", "depth": 60} if terrain == "flat" else slope(0)
    robots = {"beacon": robot(drifter, [3.3, 4.7, -60 + height]), "auv": robot(drifter, [40, 0, -50])}
    with sea(robots, terrain=ground) as world:
        for name in ("beacon", "auv"):
            world.robots[name].acoustics["modem"].write("x")
        world.advance(0.2)
        assert "direct" in times_by_path(world, "beacon")
        assert "direct" in times_by_path(world, "auv")


def test_a_landed_vehicle_hears() -> None:
    robots = {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -14.5]}}, "auv": robot("torpedo", [30, 5, -8])}
    here = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    with skerry.load({"robots": robots, "terrain": {"kind": "flat", "depth": 15}, "reference": here}) as world:
        world.robots["sam"].actuators["vbs"].command(percent=100)
        world.advance(60.0)
        world.robots["auv"].acoustics["modem"].write("x")
        world.advance(0.2)
        assert "direct" in times_by_path(world, "sam")


def test_a_pole_behind_the_receiver_does_not_block(drifter: str) -> None:
    pole = {"geometry": {"kind": "cylinder", "radius": 0.05, "length": 10}, "pose": {"position": [40.2, 0, -20]}}
    robots = {name: robot(drifter, [x, 0, -20], echoing=False) for name, x in (("a", 0), ("b", 40))}
    with sea(robots, objects={"pole": pole}) as world:
        for name in robots:
            world.robots[name].acoustics["modem"].write("x")
        world.advance(0.2)
        assert "direct" in times_by_path(world, "a")
        assert "direct" in times_by_path(world, "b")


@pytest.fixture(scope="module")
def cluttered() -> Iterator[tuple[World, Obstacles]]:
    """World with hills and one box, which the property test moves."""
    box = {"geometry": {"kind": "box", "size": [1.0, 0.6, 2.0]}, "pose": {"position": [0, 0, -5]}}
    hills = {"kind": "heightfield", "size": [60, 60], "resolution": 1, "level": -14, "function": {"kind": "hills"}}
    with skerry.load({"objects": {"box": box}, "terrain": hills}) as world:
        yield world, Obstacles.of(world.ray_scene.scene, {}, 0.5)


def coordinates(low: float, high: float) -> Any:
    return st.floats(low, high, allow_nan=False)


points = st.tuples(coordinates(-25, 25), coordinates(-25, 25), coordinates(-16, -1))
turns = st.tuples(*[coordinates(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.1)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=points, b=points, box=points, turn=turns, radius=coordinates(0.01, 0.5), back=coordinates(0, 20))
def test_a_channel_is_open_in_both_directions_or_in_none(
    cluttered: tuple[World, Obstacles], a: Any, b: Any, box: Any, turn: Any, radius: float, back: float
) -> None:
    """occlusion(a, b) = occlusion(b, a), and an obstacle behind one end never matters."""
    world, obstacles = cluttered
    line = np.subtract(b, a)
    assume(np.linalg.norm(line) > 0.01)

    def open_with(place: ArrayLike) -> bool:
        motion = np.array(world._engine.motions(0)[0])
        row = int(obstacles.rows.max())
        motion[row, :3], motion[row, 3:7] = place, np.array(turn) / np.linalg.norm(turn)
        obstacles.move(motion)
        there = is_open(obstacles.native, 7, 8, radius, (GROWTH, GROWTH), a, b)
        assert there == is_open(obstacles.native, 8, 7, radius, (GROWTH, GROWTH), b, a)
        return bool(there)

    open_with(box)
    without = open_with([0.0, 0.0, 500.0])
    reach = 0.5 * hypot(1.0, 0.6, 2.0)  # of the box, in any attitude
    direction = line / np.linalg.norm(line)
    assert open_with(b + (reach + back) * direction) == without
    assert open_with(a - (reach + back) * direction) == without
