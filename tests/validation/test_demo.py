"""Shipped scenarios: the ground of the bay, and robots that stay in place without commands."""

import numpy as np
import pytest

import skerry
from skerry.core.frames import rotate
from skerry.scenario import load_scenario
from skerry.terrain.kinds.heightfield import HeightfieldGround


@pytest.fixture(scope="module")
def bay() -> HeightfieldGround:
    scenario = load_scenario("archipelago_bay").scenario
    assert scenario.terrain is not None
    ground = scenario.terrain.with_seed(scenario.seed).build()
    assert isinstance(ground, HeightfieldGround)
    return ground


def test_the_bay_has_islands_skerries_a_channel_and_a_level_landing(bay: HeightfieldGround) -> None:
    islands = bay.height([[-165, 40], [-190, -180], [150, -70], [205, 95], [85, -190]])
    assert (islands > 2).all()
    assert -1 < bay.height([75.0, 25.0]) < 0  # awash
    assert bay.height([0.0, 30.0]) == pytest.approx(-14, abs=0.5)
    landing = bay.height([[5, 168], [12, 176], [20, 180]])
    np.testing.assert_allclose(landing, 1.2, atol=1e-6)
    assert bay.contact.heights.size == 701 * 701  # 0.98 million triangles


def test_the_bay_is_sand_at_the_shore_mud_in_the_deep_and_rock_where_it_is_steep(bay: HeightfieldGround) -> None:
    points = np.random.default_rng(1).uniform(-249, 249, (4000, 2))
    sample = bay.sample(points)
    name = np.array(bay.materials)[sample.material]
    slope = np.degrees(np.arccos(sample.normal[:, 2]))
    gentle = slope < 20
    # a cell counts by its mean slope and a triangle has its own, so that beside boulders the two differ
    assert (name[gentle & (sample.height > 3)] == "grass").mean() > 0.98
    assert (name[gentle & (np.abs(sample.height) < 1)] == "sand").mean() > 0.98
    assert (name[gentle & (sample.height < -12)] == "mud").mean() > 0.98
    assert (name[slope > 45] == "rock").mean() > 0.9


def test_another_seed_leaves_the_bay_as_it_is(bay: HeightfieldGround) -> None:
    scenario = load_scenario("archipelago_bay", seed=99).scenario
    assert scenario.terrain is not None
    other = scenario.terrain.with_seed(99).build()
    np.testing.assert_array_equal(other.height([[0, 0], [100, 50]]), bay.height([[0, 0], [100, 50]]))


def test_the_robots_of_the_demonstration_stay_in_place_without_commands() -> None:
    """A minute: the quadrotor hovers and the rover stands within centimetres; Evolo drifts below 0.1 m/s, the ROV
    hangs within half a metre; SAM swims its turn some metres below the surface. The boats go about in their areas and
    touch nothing; buoys stay upright on their moorings, which let them go √(1.02² − 1) = 0.2 of the depth, some 3 m."""
    with skerry.load("demo") as world:
        buoys = {name: thing for name, thing in world.objects.items() if world.scenario.objects[name].mooring}
        moored = {name: buoy.pose.position for name, buoy in buoys.items()}
        bumpers = {name: robot.sensors["collisions"] for name, robot in world.robots.items() if "boat" in name}
        felt: list[str] = []
        for name, bumper in bumpers.items():
            bumper.deliver = lambda _, readings, name=name: felt.extend(
                name for reading in readings if reading.touching
            )
        start = {name: robot.pose.position for name, robot in world.robots.items()}
        world.advance(2.0)
        stands = world.robots["husky"].pose.position
        world.advance(58.0)
        now = {name: robot.pose for name, robot in world.robots.items()}
        assert np.linalg.norm(now["quadrotor"].position - start["quadrotor"]) < 0.05
        assert np.linalg.norm(now["husky"].position - stands) < 0.02
        assert np.linalg.norm(now["evolo"].position - start["evolo"]) < 6.0
        assert np.linalg.norm(now["bluerov2"].position - start["bluerov2"]) < 0.5
        assert -4.0 < now["sam"].position[2] < -1.0
        assert 0.4 < world.robots["sam"].twist.linear[0] < 1.0
        for name in bumpers:
            area = world.scenario.robots[name].overrides["controllers"]["wander"]
            assert np.linalg.norm(now[name].position[:2] - area["center"]) < area["radius"]
            assert np.linalg.norm(now[name].position - start[name]) > 5.0
        assert felt == []
        assert len(buoys) == 8
        for name, buoy in buoys.items():
            far = 6.5 if name == "marker" else 3.5  # whose mooring is longer, 1.1 times the depth of 13 m
            assert np.linalg.norm(buoy.pose.position - moored[name]) < far, name
            assert rotate(buoy.pose.orientation, np.array([0.0, 0.0, 1.0]))[2] > 0.8, name
        for name in ("evolo", "husky", "bluerov2", "quadrotor", *bumpers):
            assert rotate(now[name].orientation, np.array([0.0, 0.0, 1.0]))[2] > 0.95, name
