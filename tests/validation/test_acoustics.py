"""Underwater sound against closed forms: arrival times, paths, obstacles, levels, and received packets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import acosh, asin, atan2, hypot, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import skerry
from skerry.acoustics.channel.directions import cap, icosphere
from skerry.acoustics.channel.link_budget import bit_error, packet_error, roughness_loss, transmission_loss
from skerry.acoustics.channel.obstacles import GROWTH, MARGIN, Obstacles, is_open
from skerry.acoustics.channel.travel_time import travel_time
from skerry.acoustics.transceiver import AcousticPacket
from skerry.core.errors import SkerryError
from skerry.core.meshes import Mesh
from skerry.formats.mesh_files import write_stl
from skerry.rays import robot_bit
from skerry.world import World

C = 1500.0  # m/s, the default
EXACT = 1e-12  # s: rounding of times of some seconds, and of lengths of some hundred metres over C

HERE = {"latitude_deg": 58.8, "longitude_deg": 17.6}

FLOAT = """
<robot name="float">
  <link name="base_link">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.05"/></geometry></visual>
  </link>
</robot>
"""


@pytest.fixture
def drifter(tmp_path: Path) -> str:
    """Vehicle without forces: without gravity it keeps its velocity."""
    (tmp_path / "robot.urdf").write_text(FLOAT)
    (tmp_path / "vehicle.yaml").write_text("description: drifts\n")
    return str(tmp_path)


def robot(vehicle: str, at: ArrayLike, *, anchored: bool = True, pose: Any = None, **part: Any) -> dict[str, Any]:
    settings = {"kind": "transceiver", "link": "base_link", **part}
    place = {"position": np.asarray(at, float).tolist(), **(pose or {})}
    return {"vehicle": vehicle, "anchored": anchored, "pose": place, "overrides": {"acoustics": {"modem": settings}}}


@contextmanager
def sea(robots: dict[str, Any], **more: Any) -> Iterator[World]:
    """Return a world without gravity, and without ground unless it is given."""
    with skerry.load({"seed": 3, "gravity": 0, "robots": robots} | more) as world:
        yield world


def modem(world: World, name: str) -> Any:
    return world.robots[name].acoustics["modem"]


def push(world: World, name: str, velocity: ArrayLike) -> None:
    """Set the velocity of a free robot, m/s."""
    compiled = world._engine.model.compiled
    joint = int(compiled.body_jntadr[world.robots[name].root])
    start = int(compiled.jnt_dofadr[joint])
    world._engine.part("qvel")[0, start : start + 3] = velocity
    world._engine.refresh()


def read_all(part: Any) -> list[AcousticPacket]:
    found = []
    while (packet := part.read()) is not None:
        found.append(packet)
    return found


def by_path(part: Any) -> dict[str, float]:
    """Return the travel times by path, s."""
    return {packet.path: packet.travel_time for packet in read_all(part)}


# ------------------------------------------------------------------------------------------------ straight


@pytest.mark.parametrize("step", ["1/1000", "1/200", "7/1000", "1/50"])
def test_sound_over_150_m_takes_100_ms_for_any_step(drifter: str, step: str) -> None:
    """t = d/c = 150/1500 s."""
    robots = {"a": robot(drifter, [0, 0, -20], max_range=500), "b": robot(drifter, [150, 0, -20])}
    with sea(robots, step=step) as world:
        world.advance(0.1)
        sent = world.time
        modem(world, "a").write("hello")
        world.advance(0.2)
        packet = modem(world, "b").read()
        assert packet.data == "hello"
        assert packet.sent == sent
        assert packet.path == "direct"
        assert packet.travel_time == pytest.approx(0.1, abs=EXACT)


@pytest.mark.parametrize("step", ["1/1000", "1/200", "1/20"])
def test_a_moving_receiver_is_met_at_its_position_at_the_arrival_time(drifter: str, step: str) -> None:
    """|d + v t| = c t, so t = (d·v + √((d·v)² + (c² − v²) d²))/(c² − v²); exact but for rounding, at every step."""
    start, velocity = np.array([90.0, 40.0, -30.0]), np.array([4.0, -25.0, 3.0])
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=500, echoing=False),
        "b": robot(drifter, start, anchored=False),
    }
    with sea(robots, step=step) as world:
        push(world, "b", velocity)
        modem(world, "a").write("x")
        world.advance(0.5)
        d = start - [0, 0, -20]
        along, speed = d @ velocity, velocity @ velocity
        expected = (along + sqrt(along**2 + (C**2 - speed) * (d @ d))) / (C**2 - speed)
        packet = modem(world, "b").read()
        assert packet.travel_time == pytest.approx(expected, abs=EXACT)
        assert abs(expected - np.linalg.norm(d) / C) > 1e-5  # so that it would show


def test_sound_starts_at_the_position_of_the_transmitter_at_the_transmission(drifter: str) -> None:
    """t = |r − s(t₀)|/c for any later motion of the transmitter."""
    robots = {
        "a": robot(drifter, [0, 0, -20], anchored=False, max_range=500, echoing=False),
        "b": robot(drifter, [120, 0, -20]),
    }
    with sea(robots) as world:
        push(world, "a", [20.0, 0, 0])
        world.advance(0.5)
        place = world.robots["a"].pose.position
        assert place[0] == pytest.approx(10.0)
        modem(world, "a").write("x")
        world.advance(0.5)
        assert modem(world, "b").read().travel_time == pytest.approx((120.0 - place[0]) / C, abs=EXACT)


@pytest.mark.parametrize("step", [Fraction(1, 1000), Fraction(1, 100)])
def test_an_accelerating_receiver_is_met_exactly(step: Fraction) -> None:
    """The root of |r(t) − s| = c t by bisection, r(t) being SAM's track with straight lines between the ticks.

    Those are off by a h²/8 at most: for 2 m/s² and 10 ms 2.5e-5 m, or 2e-8 s.
    """
    sam = {"vehicle": "sam", "pose": {"position": [0, 0, -10]}, "commands": {"thruster1": {"rpm": 1500}}}
    far = robot("torpedo", [300, 0, -12], max_range=500, echoing=False)
    with skerry.load({"step": str(step), "reference": HERE, "robots": {"a": far, "sam": sam}}) as world:
        world.robots["sam"].actuators["thruster2"].command(rpm=1500)
        world.advance(1.0)
        start = world.snapshot()
        track = []
        for _ in range(int(0.3 / step)):
            track.append(world.robots["sam"].pose.position.copy())
            world.advance_steps(1)
        world.restore(start)
        modem(world, "a").write("x")
        world.advance(0.3)
        times, source = float(step) * np.arange(len(track)), world.robots["a"].pose.position
        low, high = 0.0, 0.29
        for _ in range(60):
            t = 0.5 * (low + high)
            place = np.array([np.interp(t, times, axis) for axis in np.transpose(track)])
            low, high = (t, high) if np.linalg.norm(place - source) > C * t else (low, t)
        found = modem(world, "sam").read().travel_time
        assert found == pytest.approx(low, abs=2e-8)
        assert abs(found - np.linalg.norm(track[0] - source) / C) > 1e-4  # so that it would show


def test_doppler_is_that_of_both_their_speeds(drifter: str) -> None:
    """f'/f = (1 − v_r/c)/(1 − v_s/c), speeds along the path (Urick 1983, §2.5); here they approach at 7 + 5 m/s."""
    robots = {
        "a": robot(drifter, [0, 0, -20], anchored=False, max_range=500, echoing=False),
        "b": robot(drifter, [100, 0, -20], anchored=False),
    }
    with sea(robots) as world:
        push(world, "a", [7.0, 0, 0])
        push(world, "b", [-5.0, 0, 0])
        modem(world, "a").write("x")
        world.advance(0.2)
        assert modem(world, "b").read().doppler == pytest.approx((1 + 5 / C) / (1 - 7 / C) - 1, rel=1e-9)


# ------------------------------------------------------------------------------------------------ echoes


@pytest.mark.parametrize("level", [0.0, 2.5, -3.0])
def test_the_surface_echo_comes_from_the_image_of_the_source(drifter: str, level: float) -> None:
    """t = √(d² + (h₁ + h₂)²)/c with the depths below the real level of the water."""
    robots = {"a": robot(drifter, [0, 0, -20], max_range=500), "b": robot(drifter, [80, 60, -35])}
    with sea(robots, water={"surface": {"kind": "flat", "level": level}}) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        length = hypot(100.0, (level + 20) + (level + 35))
        times = by_path(modem(world, "b"))
        assert times["surface"] == pytest.approx(length / C, abs=EXACT)
        shown = {path.path: path for path in world.acoustics.paths("a/modem")}
        share = (level + 20) / (2 * level + 55)
        np.testing.assert_allclose(shown["surface"].points[1], [80 * share, 60 * share, level], atol=1e-9)


def test_waves_move_the_surface_echo(drifter: str) -> None:
    """The echo bounces at the wave height at the bounce point at the time of the bounce."""
    water = {"surface": {"kind": "waves", "spectrum": "regular", "height": 2.0, "period": 6.0, "heading_deg": 0}}
    robots = {"a": robot(drifter, [0, 0, -20], max_range=500), "b": robot(drifter, [80, 0, -20])}
    found = []
    with sea(robots, water=water, gravity=9.81) as world:
        for _ in range(6):
            modem(world, "a").write("x")
            sent = world.time
            world.advance(1.0)
            time = by_path(modem(world, "b"))["surface"]
            point = {path.path: path for path in world.acoustics.paths("a/modem")}["surface"].points[1]
            height = float(world.water.sample(point, sent + 0.5 * time).height)
            assert point[2] == pytest.approx(height, abs=1e-6)  # iterated to 1e-9 m, but at most four times
            assert time == pytest.approx(hypot(80, 2 * (20 + height)) / C, abs=1e-8)
            found.append(height)
    assert max(found) - min(found) > 0.5


def test_the_bottom_echo_comes_by_the_point_of_reflection(drifter: str, tmp_path: Path) -> None:
    """Over flat ground t = √(d² + (a₁ + a₂)²)/c with the heights above it; the ray is aimed at the right point.

    The ground's triangles are of 32 bits, which costs some 1e-6 m.
    """
    aims = [[60 * 30 / 45, 0, -30], [5, 60, -30], [-30, 5, -30]]
    write_stl(tmp_path / "aims.stl", Mesh(np.array(aims, float), np.array([[0, 1, 2]])))
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=500, bottom_directions=str(tmp_path / "aims.stl")),
        "b": robot(drifter, [60, 0, -35]),
    }
    with sea(robots, terrain={"kind": "flat", "depth": 50}) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert by_path(modem(world, "b"))["bottom"] == pytest.approx(hypot(60.0, 30 + 15) / C, abs=1e-8)


def test_the_echo_rays_find_the_ground_below(drifter: str) -> None:
    """Two robots above each other: 25 m down to the ground and 40 m up, on the ray that points straight down."""
    robots = {"a": robot(drifter, [0, 0, -35], max_range=500), "b": robot(drifter, [0, 0, -20])}
    with sea(robots, terrain={"kind": "flat", "depth": 60}) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        times = by_path(modem(world, "b"))
        assert times["bottom"] == pytest.approx(65.0 / C, abs=1e-8)
        assert times["surface"] == pytest.approx(55.0 / C, abs=EXACT)


def test_an_echo_goes_no_further_than_its_share_of_the_range_on_both_legs(drifter: str) -> None:
    """Direct paths up to 100 m; whole echo paths (source, bounce, receiver) up to 100 m × 0.6."""
    for down, received in ((59.9, True), (60.1, False)):
        half = down / 2  # depth of both, for which the whole echo path has this length
        robots = {
            "a": robot(drifter, [0, 0, -half], remaining_range_ratio_after_echo=0.6),
            "b": robot(drifter, [0.5, 0, -half]),
        }
        with sea(robots) as world:
            modem(world, "a").write("x")
            world.advance(0.2)
            assert ("surface" in by_path(modem(world, "b"))) == received
            status = {path.path: path.status for path in world.acoustics.paths("a/modem")}
            assert status["surface"] == ("clear" if received else "too far")
        robots["a"]["pose"]["position"][2] = robots["b"]["pose"]["position"][2] = -200.0
        with sea(robots, terrain={"kind": "flat", "depth": 200 + half}) as world:
            modem(world, "a").write("x")
            world.advance(0.2)
            assert ("bottom" in by_path(modem(world, "b"))) == received
    robots = {
        "a": robot(drifter, [0, 0, -20]),
        "b": robot(drifter, [99.9, 0, -20]),
        "c": robot(drifter, [0, 100.1, -20]),
    }
    with sea(robots) as world:
        modem(world, "a").write("x")
        world.advance(0.2)
        assert modem(world, "b").read() is not None
        assert modem(world, "c").read() is None


def test_echoes_have_their_switches(drifter: str) -> None:
    for settings, paths in (
        ({}, {"direct", "surface", "bottom"}),
        ({"bottom_echoes": False}, {"direct", "surface"}),
        ({"echoing": False}, {"direct"}),
    ):
        robots = {"a": robot(drifter, [0, 0, -35], max_range=500, **settings), "b": robot(drifter, [0, 0, -20])}
        with sea(robots, terrain={"kind": "flat", "depth": 60}) as world:
            modem(world, "a").write("x")
            world.advance(0.3)
            assert set(by_path(modem(world, "b"))) == paths


def test_an_icosphere_has_its_corners_and_its_cap_is_a_cone() -> None:
    """10 · 4ⁿ + 2 corners, all of length 1, and about (1 − cos 60°)/2 = 1/4 of them within 120°."""
    for divisions, count in ((0, 12), (1, 42), (2, 162), (3, 642)):
        corners = icosphere(divisions)
        assert corners.shape == (count, 3)
        np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 1.0)
        assert (corners[:, 2] < -1 + 1e-12).sum() == 1
    rays = cap(3, 120)
    assert len(rays) == pytest.approx(642 / 4, rel=0.05)
    assert (-rays[:, 2] >= 0.5 - 1e-8).all()


# ------------------------------------------------------------------------------------------------ obstacles


def wall(position: ArrayLike, size: ArrayLike) -> dict[str, Any]:
    return {
        "geometry": {"kind": "box", "size": np.asarray(size, float).tolist()},
        "pose": {"position": np.asarray(position, float).tolist()},
    }


def test_a_wall_blocks_the_direct_path_but_not_the_echo_over_it(drifter: str) -> None:
    robots = {"a": robot(drifter, [0, 0, -20], max_range=500), "b": robot(drifter, [40, 0, -20])}
    with sea(robots, objects={"wall": wall([20, 0, -20], [1, 20, 10])}) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert set(by_path(modem(world, "b"))) == {"surface"}
        assert {path.path: path.status for path in world.acoustics.paths("a/modem")}["direct"] == "occluded"
    robots["a"]["overrides"]["acoustics"]["modem"]["ignore_occlusions"] = True
    with sea(robots, objects={"wall": wall([20, 0, -20], [1, 20, 10])}) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert set(by_path(modem(world, "b"))) == {"direct", "surface"}


@pytest.mark.parametrize(("gap", "received"), [(0.38, False), (0.42, True)])
def test_sound_needs_a_gap_as_wide_as_its_sphere(drifter: str, gap: float, received: bool) -> None:
    """A slit of 0.4 m is just wide enough for a sphere of 0.2 m radius."""
    robots = {"a": robot(drifter, [0, 0, -20], echoing=False), "b": robot(drifter, [40, 0, -20])}
    sides = {
        "left": wall([20, 5 + gap / 2, -20], [1, 10, 10]),
        "right": wall([20, -5 - gap / 2, -20], [1, 10, 10]),
    }
    with sea(robots, objects=sides) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert (modem(world, "b").read() is not None) == received


def test_a_vehicle_blocks_the_sound_of_others_but_not_its_own(drifter: str) -> None:
    """Torpedo between two others; the hulls of transmitter and receiver do not block."""
    robots = {
        "a": robot("torpedo", [0, 0, -20], echoing=False),
        "b": robot("torpedo", [40, 0, -20]),
        "between": {"vehicle": "torpedo", "anchored": True, "pose": {"position": [20, 0, -20]}},
    }
    with sea(robots) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert modem(world, "b").read() is None
    robots["between"]["pose"]["position"][1] = 5.0
    with sea(robots) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert modem(world, "b").read() is not None


def test_more_robots_than_mask_bits_still_block_sound(drifter: str) -> None:
    """With more than 30 robots two share a bit of the ray mask; sound distinguishes all robots."""
    robots = {f"r{k}": robot(drifter, [0, 3.0 * k, -200]) for k in range(40)}
    robots["r0"] = robot(drifter, [0, 0, -20], echoing=False)
    robots["r1"] = robot(drifter, [40, 0, -20])
    robots["r30"] = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [20, 0, -20]}}  # the bit of r0
    robots["r31"] = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [20, 30, -20]}}
    with sea(robots) as world:
        modem(world, "r0").write("x")
        world.advance(0.2)
        assert modem(world, "r1").read() is None


def test_only_the_ground_reflects_and_everything_else_blocks(drifter: str) -> None:
    """A plate above the ground blocks the bottom echo and does not reflect."""
    robots = {"a": robot(drifter, [0, 0, -35], max_range=500), "b": robot(drifter, [0, 0, -20])}
    plate = {"plate": wall([0, 0, -45], [200, 200, 1])}
    with sea(robots, terrain={"kind": "flat", "depth": 60}, objects=plate) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert set(by_path(modem(world, "b"))) == {"direct", "surface"}


def test_sound_that_goes_through_everything_still_has_its_echo_of_the_ground(drifter: str) -> None:
    """The same plate: down 25 m to the ground and 40 m up again, through it."""
    robots = {
        "a": robot(drifter, [0, 0, -35], max_range=500, ignore_occlusions=True),
        "b": robot(drifter, [0, 0, -20]),
    }
    plate = {"plate": wall([0, 0, -45], [200, 200, 1])}
    with sea(robots, terrain={"kind": "flat", "depth": 60}, objects=plate) as world:
        modem(world, "a").write("x")
        world.advance(0.3)
        assert by_path(modem(world, "b"))["bottom"] == pytest.approx(65.0 / C, abs=1e-8)


def test_sound_is_blocked_by_the_same_obstacles_as_a_sphere_cast(drifter: str) -> None:
    """Random lines among hills, boxes and all SAMs but one.

    A full sphere that stays clear of everything leaves the channel open. A full sphere that is blocked between the
    cones at both ends blocks it.
    """
    random = np.random.default_rng(6)
    robots: dict[str, Any] = {f"r{k}": robot("sam", [8.0 * k - 16, 3, -9]) for k in range(4)}
    boxes = {f"box{k}": wall(random.uniform([-20, -20, -14], [20, 20, -2]), [2, 1, 3]) for k in range(8)}
    hills = {"kind": "heightfield", "size": [60, 60], "resolution": 1, "level": -14, "function": {"kind": "hills"}}
    with skerry.load({"reference": HERE, "robots": robots, "objects": boxes, "terrain": hills}) as world:
        world.advance(0.5)
        view = world.ray_scene.view(own_mask_bit=robot_bit(2))  # a cast that does not see the third robot
        numbers = {name: k for k, name in enumerate(world.robots)}
        obstacles = Obstacles.of(world.ray_scene.scene, numbers, 0.2)
        obstacles.move(world._engine.motions(0)[0])
        met, counts, cone = set(), [0, 0], MARGIN + 0.2 / GROWTH
        for _ in range(2000):
            start, end = random.uniform([-25, -25, -14], [25, 25, -1], (2, 3))
            direction, far = (end - start) / np.linalg.norm(end - start), float(np.linalg.norm(end - start))
            is_clear = is_open(obstacles.native, 2, 2, 0.2, (GROWTH, GROWTH), tuple(start), tuple(end))
            whole = view.cast_sphere(start, direction, 0.201, far)
            if whole.body < 0:
                assert is_clear
                counts[0] += 1
            inner = view.cast_sphere(start + cone * direction, direction, 0.199, max(far - 2 * cone, 0.0))
            if inner.body >= 0 and far > 2 * cone:
                assert not is_clear
                counts[1] += 1
                met.add(view.scene.bodies[inner.body].owner)
    assert min(counts) > 100
    assert {"", "r0", "r1", "r3"} < met
    assert "r2" not in met


def test_a_hill_of_the_ground_blocks_sound(drifter: str) -> None:
    heights = np.full((41, 41), -40.0)
    heights[:, 20] = -5.0
    ground = {"kind": "heightfield", "size": [80, 80], "array": heights.tolist()}
    robots = {"a": robot(drifter, [-30, 0, -20], echoing=False), "b": robot(drifter, [30, 0, -20])}
    with sea(robots, terrain=ground) as world:
        modem(world, "a").write("x")
        world.advance(0.2)
        assert modem(world, "b").read() is None


# ------------------------------------------------------------------------------------------------ speed of sound


def bent(gradient: float, c1: float, c2: float, across: float, down: float) -> float:
    """Along the arc of a circle where c = c₁ + g z: (1/g) acosh(1 + g² (x² + Δz²)/(2 c₁ c₂)).

    Jensen, Kuperman, Porter & Schmidt 2011, §3.3; Urick 1983, §5.7.
    """
    return acosh(1 + gradient**2 * (across**2 + down**2) / (2 * c1 * c2)) / abs(gradient)


@pytest.mark.parametrize("gradient", [0.017, -0.05, 0.2])
@pytest.mark.parametrize(
    ("across", "depth", "other"), [(1000, 500, 500), (1000, 100, 900), (10, 0, 1000), (300, 40, 55)]
)
def test_sound_along_a_bent_ray_takes_as_long_as_the_closed_form(
    gradient: float, across: float, depth: float, other: float
) -> None:
    """The second order of the bending is in it; of the fourth, 10⁻⁵ of the time is left for turns of up to 12°.

    Without the bending a level ray of 1 km at 0.2 /s would be off by 7e-4.
    """
    table = 1480.0 + gradient * np.arange(12_001.0)
    c1, c2 = 1480 + gradient * depth, 1480 + gradient * other
    expected = bent(gradient, c1, c2, across, other - depth)
    assert travel_time(table, across, depth, other) == pytest.approx(expected, rel=1e-5)


def test_the_water_of_the_scenario_gives_the_speed(drifter: str) -> None:
    """A profile with a slope of 0.05 /s, over 400 m: the arc's time, to 1e-7 of it."""
    water = {"sound_speed": {"formula": "profile", "depths": [0, 1000], "values": [1470, 1520]}}
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=500, sound_speed="water"),
        "b": robot(drifter, [400, 0, -180]),
    }
    with sea(robots, water=water) as world:
        modem(world, "a").write("x")
        world.advance(0.5)
        expected = bent(0.05, 1471, 1479, 400, 160)
        assert modem(world, "b").read().travel_time == pytest.approx(expected, rel=1e-7)


# ------------------------------------------------------------------------------------------------ positions and ranges


def test_four_beacons_give_a_position_to_a_centimetre(drifter: str) -> None:
    """One-way times of four pingers, and Gauss and Newton: the position, without noise, to 1 cm and far better."""
    places = np.array([[0, 0, -5], [200, 0, -40], [0, 200, -10], [180, 190, -60]], float)
    true = np.array([73.0, 121.0, -33.0])
    pinger = {"kind": "pinger", "link": "base_link", "frequency": 1, "max_range": 500}
    robots: dict[str, Any] = {"auv": robot(drifter, true)}
    for k, place in enumerate(places):
        robots[f"beacon{k}"] = robot(drifter, place)
        robots[f"beacon{k}"]["overrides"] = {"acoustics": {"pinger": {**pinger, "delay": 0.2 * k}}}
    with sea(robots) as world:
        world.advance(1.0)
        ranges = {p.source: p.travel_time * C for p in read_all(modem(world, "auv")) if p.path == "direct"}
    measured = np.array([ranges[f"beacon{k}/pinger"] for k in range(4)])
    guess = np.array([100.0, 100.0, -20.0])
    for _ in range(20):
        away = guess - places
        lengths = np.linalg.norm(away, axis=1)
        guess = guess + np.linalg.lstsq(away / lengths[:, None], measured - lengths, rcond=None)[0]
    assert np.linalg.norm(guess - true) < 1e-6


def test_a_range_by_a_reply_is_half_the_round_trip(drifter: str) -> None:
    """r = c (t − hold)/2; of one that goes away at v it is r₀ + v t₁, where it was met, with t₁ = r₀/(c − v)."""
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=500, echoing=False),
        "b": robot(drifter, [120, 50, -20], max_range=500, echoing=False, turnaround=0.0123),
        "c": robot(drifter, [-90, 0, -20], anchored=False, max_range=500, echoing=False, turnaround=0.0),
    }
    with sea(robots) as world:
        push(world, "c", [-12.0, 0, 0])
        modem(world, "a").ping("b/modem")
        modem(world, "a").ping("c/modem")
        start = world.snapshot()
        world.advance(0.5)
        found = {}
        while (reading := modem(world, "a").read_range()) is not None:
            found[reading.peer] = reading
        assert found["b/modem"].range == pytest.approx(130.0, abs=1e-9)
        first = 90 + 12 * 0.005  # it was sent one step later than the other
        assert found["c/modem"].range == pytest.approx(first + 12 * first / (C - 12), abs=1e-8)
        assert modem(world, "b").read() is None  # a request is not delivered as a packet
        world.restore(start)
        world.advance(0.05)
        world.restore(world.snapshot())
        for _ in range(90):
            world.advance(0.005)
        assert modem(world, "a").read_range() == found["b/modem"] or modem(world, "a").read_range() == found["b/modem"]


def test_a_usbl_finds_range_bearing_and_elevation(drifter: str) -> None:
    """Direction to the other in its own frame (yaw 90°, roll 10°), and half the round trip as range."""
    other = np.array([30.0, 80.0, -45.0])
    usbl = {"kind": "usbl", "echoing": False, "max_range": 500}
    robots = {
        "ship": robot(drifter, [0, 0, -5], pose={"yaw_deg": 90, "roll_deg": 10}, **usbl),
        "auv": robot(drifter, other, max_range=500, echoing=False),
    }
    with sea(robots) as world:
        head = modem(world, "ship")
        head.ping("auv/modem")
        world.advance(0.5)
        fix = head.read_fix()
        away = world.robots["ship"].pose.rotation.T @ (other - [0, 0, -5])
        distance = float(np.linalg.norm(away))
        assert fix.range == pytest.approx(distance, abs=1e-9)
        assert fix.bearing == pytest.approx(atan2(away[1], away[0]), abs=1e-9)
        assert fix.elevation == pytest.approx(asin(away[2] / distance), abs=1e-9)
        np.testing.assert_allclose(fix.position, away, atol=1e-6)
        assert head.read_range().range == fix.range


def test_the_noise_of_a_usbl_has_its_size(drifter: str) -> None:
    """Standard deviations of 400 fixes; each is known to 1/√800 = 3.5 %, and four times that is allowed."""
    usbl = {"kind": "usbl", "echoing": False, "one_way": True}
    usbl |= {"range_noise": 0.2, "bearing_noise_deg": 1.0, "elevation_noise_deg": 0.5}
    robots = {"ship": robot(drifter, [0, 0, -5], **usbl), "auv": robot(drifter, [50, 0, -15], echoing=False)}
    with sea(robots, step="1/100") as world:
        for _ in range(400):
            modem(world, "auv").write("here")
        world.advance(4.5)
        fixes = []
        while (fix := modem(world, "ship").read_fix()) is not None:
            fixes.append((fix.range, np.degrees(fix.bearing), np.degrees(fix.elevation)))
    assert len(fixes) == 400
    np.testing.assert_allclose(np.std(fixes, axis=0), [0.2, 1.0, 0.5], rtol=0.14)
    off = np.mean(fixes, axis=0) - [hypot(50, 10), 0.0, -np.degrees(atan2(10, 50))]
    assert (np.abs(off) < [0.04, 0.2, 0.1]).all()


def test_each_hydrophone_receives_a_ping_at_its_own_time(drifter: str) -> None:
    """Δt = (|r_k − s| − |r₀ − s|)/c, of hydrophones on a robot that is turned."""
    places = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5], [-3, 1, 0.2]]
    array = {"kind": "hydrophone_array", "hydrophones": places, "position": [0.2, 0.1, 0]}
    pinger = {"kind": "pinger", "frequency": 2, "max_range": 500, "echoing": False}
    source = np.array([60.0, -30.0, -40.0])
    robots = {
        "a": robot(drifter, [5, 5, -10], pose={"yaw_deg": 30, "pitch_deg": 20}, **array),
        "p": robot(drifter, source, **pinger),
    }
    with sea(robots) as world:
        world.advance(0.3)
        received = modem(world, "a").read()
        points = world.robots["a"].pose.transform(np.add(places, [0.2, 0.1, 0]))
        lengths = np.linalg.norm(points - source, axis=1)
        np.testing.assert_allclose(received.times, lengths / C, atol=EXACT)
        np.testing.assert_allclose(received.differences, (lengths - lengths[0]) / C, atol=EXACT)
        assert received.source == "p/modem"


def test_clocks_that_are_off_make_one_way_ranges_wrong_by_as_much(drifter: str) -> None:
    """Received − sent = t + offset + drift · time, by the clocks of both."""
    robots = {
        "a": robot(drifter, [0, 0, -20], echoing=False, clock_offset=0.002),
        "b": robot(drifter, [75, 0, -20], clock_offset=-0.001, clock_drift_ppm=10),
    }
    with sea(robots) as world:
        world.advance(10.0)
        modem(world, "a").write("x")
        world.advance(0.2)
        expected = 0.05 - 0.003 + 10e-6 * 10.05
        assert modem(world, "b").read().travel_time == pytest.approx(expected, abs=1e-10)


# ------------------------------------------------------------------------------------------------ levels and errors


def test_levels_are_those_of_the_sonar_equation(drifter: str) -> None:
    """SL − 20 log r − α r, and SNR against the noise in the band (Urick 1983, ch. 2)."""
    loud = {"max_range": 2000, "source_level_db": 170, "frequency_khz": 25, "echoing": False}
    robots = {
        "a": robot(drifter, [0, 0, -20], **loud),
        "b": robot(drifter, [800, 0, -20], noise_db=55, bandwidth_khz=4),
    }
    with sea(robots) as world:
        modem(world, "a").write("x")
        world.advance(1.0)
        packet = modem(world, "b").read()
        alpha = float(world.water.column.absorption_db_per_km(25e3, 20.0))
        level = 170 - 20 * np.log10(800) - alpha * 0.8
        assert packet.level_db == pytest.approx(level, abs=1e-9)
        assert packet.snr_db == pytest.approx(level - 55 - 10 * np.log10(4000), abs=1e-9)
        assert transmission_loss(800, 20, alpha) == pytest.approx(170 - level)


def test_bit_errors_are_those_of_the_textbook() -> None:
    """BPSK: Q(√(2 Eb/N0)): 7.83e-4 at 7 dB; BFSK without phase: ½ exp(−Eb/2N0): 4.1e-2 at 7 dB (Proakis)."""
    seven = 10**0.7
    assert bit_error(seven, "bpsk") == pytest.approx(7.727e-4, rel=1e-3)
    assert bit_error(seven, "bfsk") == pytest.approx(0.5 * np.exp(-seven / 2), rel=1e-12)
    assert packet_error(0.0, 5000.0, 5000.0, 1, "bpsk") == pytest.approx(0.0786496, rel=1e-5)  # ½ erfc 1


@pytest.mark.parametrize("modulation", ["bpsk", "bfsk"])
def test_packets_are_lost_as_often_as_the_closed_form_says(drifter: str, modulation: str) -> None:
    """1 − (1 − p)ⁿ of 500 packets of 40 bits at a chosen SNR; within four standard deviations of a binomial."""
    rate, bits = 20_000.0, 40
    wanted = {"bpsk": 3.7, "bfsk": 8.0}[modulation]  # dB of Eb/N0: a loss of some tens of percent
    snr = wanted + 10 * np.log10(rate / 5000.0)
    level = 50 + 10 * np.log10(5000.0) + snr
    loud = {"max_range": 500, "echoing": False, "spreading_db": 0, "frequency_khz": 0.001, "bit_rate": rate}
    robots = {
        "a": robot(drifter, [0, 0, -20], source_level_db=float(level), **loud),
        "b": robot(drifter, [30, 0, -20], bit_rate=rate, modulation=modulation),
    }
    with sea(robots) as world:
        for _ in range(500):
            modem(world, "a").write("12345")
        world.advance(3.0)
        received = read_all(modem(world, "b"))
        assert received[0].snr_db == pytest.approx(snr, abs=1e-4)
        chance = packet_error(snr, 5000.0, rate, bits, modulation)  # type: ignore[arg-type]
    assert 0.1 < chance < 0.9
    assert 500 - len(received) == pytest.approx(500 * chance, abs=4 * sqrt(500 * chance * (1 - chance)))


def test_a_rough_surface_takes_the_echo_as_eckart_says(drifter: str) -> None:
    """8.69 · 2 (k σ sin θ)² dB on the level; in the range, e^(−2 (k σ sin θ)²) of it. k σ is kept near 0.3."""
    water = {"surface": {"kind": "waves", "spectrum": "regular", "height": 0.2, "period": 6.0, "heading_deg": 0}}
    sigma = 0.1 / sqrt(2)
    settings = {"max_range": 1000, "source_level_db": 180, "frequency_khz": 1.0, "surface_roughening": True}
    robots = {"a": robot(drifter, [0, 0, -40], **settings), "b": robot(drifter, [60, 0, -40])}
    with sea(robots, water=water, gravity=9.81) as world:
        modem(world, "a").write("x")
        world.advance(0.5)
        packets = {packet.path: packet for packet in read_all(modem(world, "b"))}
        length = packets["surface"].travel_time * C
        alpha = float(world.water.column.absorption_db_per_km(1e3, 40.0))
        sine = sqrt(length**2 - 60**2) / length
        loss = transmission_loss(length, 20, alpha) + 20 * np.log10(2) + roughness_loss(1.0, C, sigma, sine)
        assert packets["surface"].level_db == pytest.approx(180 - loss, abs=1e-6)
        assert roughness_loss(1.0, C, sigma, sine) > 0.5


# ------------------------------------------------------------------------------------------------ delivery


def test_packets_that_overlap_are_both_lost(drifter: str) -> None:
    """At 1000 bit/s ten bytes last 80 ms: sent 50 ms apart they collide, 100 ms apart they do not."""
    slow = {"echoing": False, "bit_rate": 1000}
    robots = {
        "a": robot(drifter, [0, 0, -20], **slow),
        "b": robot(drifter, [60, 0, -20], **slow),
        "c": robot(drifter, [30, 0, -20], **slow),
    }
    for apart, received in ((0.05, 0), (0.1, 2)):
        with sea(robots) as world:
            modem(world, "a").write("0123456789")
            world.advance(apart)
            modem(world, "b").write("9876543210")
            world.advance(1.0)
            packets = read_all(modem(world, "c"))
            assert len(packets) == received
            for packet in packets:
                assert packet.travel_time == pytest.approx(30 / C, abs=EXACT)  # of its beginning


def test_of_two_overlapping_packets_a_much_stronger_one_is_received(drifter: str) -> None:
    """With levels, an overlapping packet is noise: a packet 40 dB above it is received, the other is not."""
    slow = {"echoing": False, "bit_rate": 1000, "max_range": 2000}
    robots = {
        "a": robot(drifter, [0, 0, -20], source_level_db=190, **slow),
        "b": robot(drifter, [60, 0, -20], source_level_db=150, **slow),
        "c": robot(drifter, [30, 0, -20], **slow),
    }
    with sea(robots) as world:
        modem(world, "a").write("0123456789")
        modem(world, "b").write("9876543210")
        world.advance(1.0)
        packets = read_all(modem(world, "c"))
        assert [packet.data for packet in packets] == ["0123456789"]
        assert packets[0].snr_db == pytest.approx(40.0, abs=0.1)


def test_a_half_duplex_modem_receives_nothing_while_it_transmits(drifter: str) -> None:
    for half_duplex, received in ((True, 0), (False, 1)):
        slow = {"echoing": False, "bit_rate": 1000, "half_duplex": half_duplex}
        robots = {"a": robot(drifter, [0, 0, -20], **slow), "b": robot(drifter, [60, 0, -20], **slow)}
        with sea(robots) as world:
            modem(world, "a").write("0123456789")
            modem(world, "b").write("9876543210")
            world.advance(1.0)
            assert len(read_all(modem(world, "a"))) == received
            assert len(read_all(modem(world, "b"))) == received


def test_packets_wait_for_their_turn(drifter: str) -> None:
    """A step transmits one packet, in order; with a bit rate each waits for the end of the last: 8 ms, two steps."""
    for rate, steps in ((None, 1), (1000, 2)):
        robots = {"a": robot(drifter, [0, 0, -20], echoing=False, bit_rate=rate), "b": robot(drifter, [30, 0, -20])}
        with sea(robots) as world:
            for letter in "abcde":
                modem(world, "a").write(letter)
            assert modem(world, "a").waiting == 5
            world.advance(0.2)
            packets = read_all(modem(world, "b"))
            assert [packet.data for packet in packets] == list("abcde")
            np.testing.assert_allclose([packet.sent for packet in packets], 0.005 * steps * np.arange(5), atol=1e-15)


def test_a_packet_for_one_is_read_by_one(drifter: str) -> None:
    robots = {name: robot(drifter, [20 * k, k * k, -20], echoing=False) for k, name in enumerate("abc")}
    with sea(robots) as world:
        modem(world, "a").write("for c", to="c/modem")
        world.advance(0.2)
        assert modem(world, "b").read() is None
        assert modem(world, "c").read().to == "c/modem"


def test_packets_are_read_in_order_of_arrival_for_any_address(drifter: str) -> None:
    """Two packets in the same step: the one to all arrives 1 m of travel later than the one to this modem."""
    robots = {
        "a": robot(drifter, [-30, 0, -20], echoing=False),
        "b": robot(drifter, [31, 0, -20], echoing=False),
        "c": robot(drifter, [0, 0, -20]),
    }
    for order in (("a", "b"), ("b", "a")):
        with sea(robots) as world:
            modem(world, order[0]).write("first" if order[0] == "a" else "second", to=None)
            modem(world, order[1]).write("first" if order[1] == "a" else "second", to="c/modem")
            world.advance(0.1)
            assert [packet.data for packet in read_all(modem(world, "c"))] == ["first", "second"]


def test_echoes_are_separate_packets_unless_multipath_is_off(drifter: str) -> None:
    for multipath, paths in ((True, ["direct", "surface"]), (False, ["direct"])):
        robots = {"a": robot(drifter, [0, 0, -20]), "b": robot(drifter, [20, 0, -10], multipath=multipath)}
        with sea(robots) as world:
            modem(world, "a").write("x")
            world.advance(0.2)
            assert [packet.path for packet in read_all(modem(world, "b"))] == paths


def test_above_the_water_nothing_is_transmitted_or_received_unless_allowed(drifter: str) -> None:
    for above, received in (("a", False), ("b", False), ("", True)):
        for allowed in (False, True):
            settings = {"echoing": False, "work_in_air": allowed}
            robots = {
                name: robot(drifter, [x, 0, 2.0 if name == above else -2.0], **settings)
                for name, x in (("a", 0), ("b", 30))
            }
            with sea(robots) as world:
                modem(world, "a").write("x")
                world.advance(0.2)
                assert (modem(world, "b").read() is not None) == (received or allowed)


# ------------------------------------------------------------------------------------------------ repeatability


def busy(drifter: str) -> dict[str, Any]:
    """Modems that move, lose packets and collide, over hills and under waves."""
    loud = {"max_range": 400, "source_level_db": 165, "bit_rate": 4000, "bottom_echo_tolerance": 10, "noise_db": 68}
    loud |= {"timing_noise": 1e-4}
    random = np.random.default_rng(4)
    robots = {
        f"r{k}": robot(drifter, [*random.uniform(-60, 60, 2), random.uniform(-30, -5)], anchored=False, **loud)
        for k in range(6)
    }
    robots["usbl"] = robot(drifter, [0, 0, -6], kind="usbl", range_noise=0.1, max_range=400, one_way=True)
    hills = {"kind": "heightfield", "size": [200, 200], "resolution": 4, "level": -40, "function": {"kind": "hills"}}
    water = {"surface": {"kind": "waves", "height": 1.0, "period": 5.0, "heading_deg": 40, "components": 16}}
    return {"seed": 8, "gravity": 0.5, "robots": robots, "terrain": hills, "water": water}


def talk(world: World, seconds: float, piece: float) -> list[Any]:
    received: list[Any] = []
    for k in range(round(seconds / 0.1)):
        modem(world, f"r{k % 6}").write(f"packet {k}")
        if k % 4 == 0:
            modem(world, "usbl").ping(f"r{(k + 3) % 6}/modem")
        for _ in range(round(0.1 / piece)):
            world.advance(piece)
        if k % 5 == 4:
            received += [packet for name in world.robots for packet in read_all(modem(world, name))]
    while (fix := modem(world, "usbl").read_fix()) is not None:
        received.append(fix)
    return received


def test_the_same_seed_receives_the_same_in_pieces_and_after_a_restore_with_sound_in_flight(drifter: str) -> None:
    results = []
    for piece in (0.1, 0.1, 0.005):
        with skerry.load(busy(drifter)) as world:
            for k in range(6):
                push(world, f"r{k}", [3.0 * (k - 2), 2.0 - k, 0.0])
            first = talk(world, 2.0, piece)
            modem(world, "r1").write("under way")
            modem(world, "usbl").ping("r2/modem")
            world.advance(0.02)
            middle = world.snapshot()
            after = [talk(world, 1.0, piece), bytes(world.snapshot())]
            world.restore(middle)
            assert [talk(world, 1.0, piece), bytes(world.snapshot())] == after
            results.append([first, bytes(middle), after])
        with skerry.load(busy(drifter)) as other:
            other.restore(bytes(middle))
            assert [talk(other, 1.0, piece), bytes(other.snapshot())] == after
    assert results[0] == results[1] == results[2]
    assert len(results[0][0]) > 20


def test_other_seeds_lose_other_packets(drifter: str) -> None:
    counts = []
    for seed in (1, 2):
        with skerry.load({**busy(drifter), "seed": seed}) as world:
            counts.append([packet[:2] for packet in talk(world, 2.0, 0.1) if isinstance(packet, AcousticPacket)])
    assert counts[0] != counts[1]


# ------------------------------------------------------------------------------------------------ bad input


def test_invalid_packets_are_refused_with_an_explanation_and_the_world_continues(drifter: str) -> None:
    robots = {"a": robot(drifter, [0, 0, -20]), "b": robot(drifter, [20, 0, -20])}
    with sea(robots) as world:
        part = modem(world, "a")
        with pytest.raises(SkerryError, match="the packet has 10000000 bytes, but `max_packet_bytes` is 65536"):
            part.write(b"x" * 10_000_000)
        with pytest.raises(SkerryError, match="must be text or bytes, not int"):
            part.write(5)
        with pytest.raises(SkerryError, match="cannot be encoded as UTF-8"):
            part.write("\ud800")
        with pytest.raises(SkerryError, match="the receiver must be a name"):
            part.write("x", to=7)
        with pytest.raises(SkerryError, match="ping needs the name of one part"):
            part.ping(None)
        part.write(b"\xff\xfe\x00")
        part.write("")
        world.advance(0.1)
        packet = modem(world, "b").read()
        assert packet.data == b"\xff\xfe\x00"
        with pytest.raises(SkerryError, match="are not text"):
            _ = packet.text
        assert [p.text for p in read_all(modem(world, "b")) if p.path == "direct"] == [""]
        with pytest.raises(SkerryError, match="there is no acoustic part 'a/moden'; did you mean 'a/modem'"):
            world.acoustics.paths("a/moden")
        for _ in range(10_000):
            part.write("x")
        with pytest.raises(SkerryError, match="the queue is full"):
            part.write("x")
        world.advance(0.1)
        assert modem(world, "b").read() is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sound_speed": 0}, "sound_speed"),
        ({"sound_speed": -1500.0}, "sound_speed"),
        ({"max_range": 0}, "greater than 0"),
        ({"bottom_resolution": 9}, "bottom_resolution"),
        ({"remaining_range_ratio_after_echo": 1.5}, "remaining_range_ratio_after_echo"),
        ({"bit_rate": 0}, "bit_rate"),
        ({"link": "nose"}, "there is no such link"),
        ({"kind": "transponder"}, "unknown kind 'transponder' of acoustics"),
    ],
)
def test_bad_settings_are_refused_with_an_explanation(drifter: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError, match=words):
        skerry.load({"robots": {"a": robot(drifter, [0, 0, -20], **settings)}})


def test_a_missing_receiver_is_an_error_with_a_guess(drifter: str) -> None:
    pinger = {"kind": "pinger", "frequency": 1}
    with sea({"a": robot(drifter, [0, 0, -20]), "b": robot(drifter, [20, 0, -20], **pinger)}) as world:
        part = modem(world, "a")
        part.write("anybody?")
        for send in (part.ping, lambda name: part.write("x", to=name)):
            with pytest.raises(SkerryError, match="a/modem: there is no acoustic part 'nobody'"):
                send("nobody")
            with pytest.raises(SkerryError, match="there is no acoustic part 'b/moden'; did you mean 'b/modem'"):
                send("b/moden")
            with pytest.raises(SkerryError, match="it cannot send to itself"):
                send("a/modem")
            with pytest.raises(SkerryError, match="b/modem only transmits"):
                send("b/modem")
        assert part.waiting == 1
        world.advance(0.5)
        assert part.waiting == 0


def test_an_unread_inbox_keeps_the_latest_packets(drifter: str) -> None:
    robots = {"a": robot(drifter, [0, 0, -20], echoing=False), "b": robot(drifter, [20, 0, -20], inbox_size=3)}
    with sea(robots) as world:
        for k in range(10):
            modem(world, "a").write(str(k))
        world.advance(0.2)
        assert [packet.data for packet in read_all(modem(world, "b"))] == ["7", "8", "9"]
        assert modem(world, "b").dropped == 7


def test_a_teleported_receiver_misses_sound_that_has_passed_its_new_position(drifter: str) -> None:
    robots = {
        "a": robot(drifter, [0, 0, -20], max_range=2000, echoing=False),
        "b": robot(drifter, [900, 0, -20], anchored=False),
    }
    with sea(robots) as world:
        modem(world, "a").write("x")
        world.advance(0.4)
        pose = world.robots["b"].pose
        world.teleport("b", type(pose)(np.array([30.0, 0.0, -20.0]), pose.orientation))
        world.advance(1.0)
        assert modem(world, "b").read() is None


def test_signal_lines_are_those_of_parts_that_draw_them(drifter: str) -> None:
    robots = {
        "a": robot(drifter, [0, 0, -20]),
        "b": robot(drifter, [20, 0, -20], draw_signal_lines=False),
    }
    with sea(robots) as world:
        modem(world, "a").write("x")
        modem(world, "b").write("x")
        world.advance(0.1)
        lines = world.acoustics.signal_lines()
        assert {(line.source, line.receiver, line.path) for line in lines} == {
            ("a/modem", "b/modem", "direct"),
            ("a/modem", "b/modem", "surface"),
        }
        assert lines[0].points == ((0.0, 0.0, -20.0), (20.0, 0.0, -20.0))
