"""Time to first fix and to reacquire of a GPS."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.formats.yaml_documents import parse_document

UP, DOWN = (Pose(np.array([0.0, 0.0, z]), np.array([0.0, 0.0, 0.0, 1.0])) for z in (2.0, -5.0))


def load(frequency=10, start=2.0, **settings):
    """An antenna that is held where it is put."""
    part = {"kind": "gps", "link": "base_link", "frequency": frequency, "noise": 0, "vertical_noise": 0} | settings
    robot = {
        "vehicle": "torpedo",
        "pose": {"position": [0, 0, start]},
        "overrides": {"sensors": {"gps": part}, "forces": {"buoyancy": None, "ballast": None}},
    }
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    return skerry.load({"robots": {"auv": robot}, "reference": reference, "gravity": 0.0, "step": "1/100"})


def fixes(world, seconds):
    """Return the times, to 10 ms, at which a GPS that is read at every step has a fix."""
    gps, found = world.robots["auv"].sensors["gps"], []
    for _ in range(round(seconds * 100)):
        world.advance_steps(1)
        if gps.reading is not None:
            found.append(world.tick / 100)
    return found


def test_the_first_fix_comes_after_its_time():
    with load(time_to_first_fix=1.0) as world:
        assert world.robots["auv"].sensors["gps"].reading is None
        assert fixes(world, 2.0)[0] == 1.0


def test_the_time_counts_from_the_start_without_any_read():
    with load(time_to_first_fix=1.0) as world:
        world.advance(1.0)
        assert world.robots["auv"].sensors["gps"].reading is not None


def test_without_a_time_the_first_reading_has_a_fix():
    with load() as world:
        assert world.robots["auv"].sensors["gps"].reading is not None


def test_a_dive_restarts_the_time_which_is_shorter_after_the_first_fix():
    with load(time_to_first_fix=2.0, time_to_reacquire=0.5) as world:
        world.advance(1.5)
        world.teleport("auv", DOWN)
        world.advance(0.5)
        world.teleport("auv", UP)
        assert fixes(world, 3.0)[0] == pytest.approx(4.1)  # above water at 2.1 s, the first due tick after 2 s
        world.teleport("auv", DOWN)
        assert fixes(world, 1.0) == pytest.approx(np.arange(5.01, 5.1, 0.01))  # until the next due tick
        world.teleport("auv", UP)
        assert fixes(world, 2.0)[0] == pytest.approx(6.6)


def test_the_time_of_the_fix_does_not_depend_on_reads():
    """The first GPS is read at every step, the second only at the end; both notice a dive in between."""
    found = []
    for often in (True, False):
        with load(time_to_first_fix=1.0, time_to_reacquire=0.7, frequency=7) as world:
            gps = world.robots["auv"].sensors["gps"]
            for pose, steps in ((UP, 150), (DOWN, 40), (UP, 60), (DOWN, 30), (UP, 87)):
                world.teleport("auv", pose)
                for _ in range(steps if often else 1):
                    world.advance_steps(1 if often else steps)
                    if often:
                        _ = gps.reading
            found.append([gps.sensor.state(), gps.reading is None])
            world.advance(1.0)
            found[-1].append(gps.reading.time)
    assert found[0] == found[1]


def test_a_dip_between_two_due_ticks_is_not_noticed():
    with load(time_to_first_fix=1.0, time_to_reacquire=5.0, frequency=2) as world:
        world.advance(1.6)
        world.teleport("auv", DOWN)
        world.advance(0.2)
        world.teleport("auv", UP)
        world.advance(0.2)
        assert world.robots["auv"].sensors["gps"].reading is not None


def test_the_wait_survives_snapshot_and_restore():
    with load(time_to_first_fix=1.0) as world, load(time_to_first_fix=1.0) as other:
        world.advance(0.6)
        other.restore(bytes(world.snapshot()))
        assert fixes(world, 1.0) == fixes(other, 1.0)
        assert world.robots["auv"].sensors["gps"].reading.time == pytest.approx(1.6)


@pytest.mark.parametrize("start", [-5.0, 2.0])
def test_a_start_below_the_water_waits_for_the_surface(start):
    with load(start=start, time_to_first_fix=0.5) as world:
        world.advance(1.0)
        world.teleport("auv", UP)
        assert fixes(world, 2.0)[0] == pytest.approx(1.6 if start < 0 else 1.01)


@pytest.mark.parametrize("at", ["mark", "auv", [40.0, 30.0, -2.0]])
def test_the_reference_point_is_at_an_object_a_robot_or_a_point(at):
    """A receiver at (0, 0, 2): its position in UTM differs from that of the reference point as in the world."""
    mark = {"geometry": {"kind": "box", "size": [1, 1, 1]}, "pose": {"position": [10, -20, -5]}}
    place = {"utm_zone": 33, "utm_band": "V", "easting": 650_000, "northing": 6_520_000}
    gps = {"kind": "gps", "link": "base_link", "frequency": 10, "noise": 0, "vertical_noise": 0}
    auv = {
        "vehicle": "torpedo",
        "anchored": True,
        "pose": {"position": [0, 0, 2]},
        "overrides": {"sensors": {"gps": gps}},
    }
    scenario = {"reference": {**place, "altitude": 3, "at": at}, "objects": {"mark": mark}, "robots": {"auv": auv}}
    x, y, z = {"mark": (10, -20, -5), "auv": (0, 0, 2)}[at] if isinstance(at, str) else at
    with skerry.load(scenario) as world:
        fix = world.robots["auv"].sensors["gps"].reading
        expected = [650_000 - x, 6_520_000 - y, 3 + 2 - z]
        np.testing.assert_allclose([fix.easting, fix.northing, fix.altitude], expected, atol=1e-6)
        again = skerry.Scenario.load(parse_document(world.scenario.dump(), "again"))
        assert again.reference == world.scenario.reference


def test_a_reference_point_at_an_unknown_object_is_refused_with_a_guess():
    mark = {"geometry": {"kind": "box", "size": [1, 1, 1]}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6, "at": "mrak"}
    with pytest.raises(SkerryError, match=r"reference\.at: there is no object or robot 'mrak'; did you mean 'mark'"):
        skerry.load({"reference": reference, "objects": {"mark": mark}})
