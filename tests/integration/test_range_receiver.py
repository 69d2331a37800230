"""Range receivers: distances to senders."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.range_receiver import RangeReceiver

NOISE = Noise(5, "robot/receiver")
PLACES = {"buoy": [3.0, 4.0, 0.0], "far": [30.0, 40.0, 0.0], "here": [0.0, 0.0, 0.0]}


def sample(tick=0, yaw=0.0):
    pose = Pose(np.zeros(3), rpy_to_quaternion(np.array([0.0, 0.0, yaw])))
    return SimpleNamespace(
        time=tick / 100, tick=tick, pose=lambda link: pose, position_of=lambda name: np.array(PLACES[name])
    )


def receiver(*senders, **settings):
    return RangeReceiver(link="l", frequency=10, senders=senders, **({"noise_sigma": 0.0} | settings)).build()


def test_a_receiver_without_noise_reads_the_distance_and_infinity_beyond_its_range():
    reading = receiver("buoy", "far", "here").measure(One(sample()), NOISE)[0]
    assert reading.senders == ("buoy", "far", "here")
    assert reading.ranges == (5.0, inf, 0.0)
    assert reading.range == 0.0
    assert receiver("far", range=50.1).measure(One(sample()), NOISE)[0].ranges == (50.0,)
    assert receiver("far", range=50.0).measure(One(sample()), NOISE)[0].ranges == (inf,)


def test_distances_are_measured_from_the_mount():
    """1 m ahead of a robot that faces north is (0, 1): √(3² + 3²) to the buoy."""
    reading = receiver("buoy", position=(1.0, 0.0, 0.0)).measure(One(sample(yaw=np.pi / 2)), NOISE)[0]
    assert reading.range == pytest.approx(np.sqrt(18.0))


def test_a_receiver_without_senders_has_no_ranges():
    reading = receiver(noise_sigma=0.1).measure(One(sample()), NOISE)[0]
    assert (reading.ranges, reading.range) == ((), inf)


@pytest.mark.parametrize(
    ("settings", "mean", "sigma"),
    [
        ({"noise_mean": 0.3, "noise_sigma": 0.1}, 0.3, 0.1),
        ({"noise_sigma": 0.0, "noise_proportional": 0.02}, 0.0, 0.1),
        ({"noise_sigma": 0.3, "noise_proportional": 0.08}, 0.0, 0.5),
    ],
)
def test_noise_is_in_metres_and_its_proportional_part_grows_with_the_range(settings, mean, sigma):
    """r + n at 5 m: mean μ, standard deviation √(σ² + (p r)²); 4000 draws know the latter to 1.1 %."""
    sensor = receiver("buoy", **settings)
    found = [sensor.measure(One(sample(tick)), NOISE)[0].range for tick in range(4000)]
    assert np.mean(found) == pytest.approx(5.0 + mean, abs=0.1 * sigma)
    assert np.std(found) == pytest.approx(sigma, rel=0.05)
    assert sensor.measure(One(sample(17)), NOISE)[0].range == found[17]


def test_senders_have_independent_noise_and_no_range_is_negative():
    sensor = receiver("buoy", "far", range=100.0, noise_sigma=0.1)
    found = np.array([sensor.measure(One(sample(tick)), NOISE)[0].ranges for tick in range(2000)])
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1
    wild = receiver("buoy", noise_sigma=25.0)
    assert min(wild.measure(One(sample(tick)), NOISE)[0].range for tick in range(100)) == 0.0


def world_of(senders):
    part = {"kind": "range_receiver", "link": "base_link", "frequency": 20, "senders": senders, "noise_sigma": 0}
    robots = {
        "auv": {"vehicle": "torpedo", "pose": {"position": [0, 0, -4]}, "overrides": {"sensors": {"ranges": part}}},
        "other": {"vehicle": "torpedo", "pose": {"position": [0, 6, -4]}},
    }
    buoy = {"geometry": {"kind": "sphere", "radius": 0.3}, "pose": {"position": [3, 0, 0]}}
    return skerry.load({"robots": robots, "objects": {"buoy": buoy}})


def test_senders_are_robots_their_links_and_objects():
    with world_of(["other", "other/nose_link", "buoy"]) as world:
        other = world.robots["other"]
        nose = np.linalg.norm(other.link_pose("nose_link").position - [0, 0, -4])
        assert world.robots["auv"].sensors["ranges"].reading.ranges == pytest.approx((6.0, nose, 5.0))
        assert nose != 6.0
        world.advance(0.5)
        apart = np.linalg.norm(other.pose.position - world.robots["auv"].pose.position)
        assert world.robots["auv"].sensors["ranges"].reading.ranges[0] == apart


@pytest.mark.parametrize(
    ("sender", "guess"), [("bouy", "'buoy'"), ("other/nose", "'other/nose_link'"), ("othr", "'other'")]
)
def test_an_unknown_sender_is_an_error_with_a_guess(sender, guess):
    with pytest.raises(SkerryError, match=f"auv.sensors.ranges: there is no .* did you mean {guess}"):
        world_of([sender])


def test_a_sender_named_twice_is_refused():
    with pytest.raises(SkerryError, match="contains a name twice"):
        world_of(["buoy", "buoy"])


@pytest.mark.parametrize("sender", ["auv", "auv/base_link"])
def test_a_receiver_of_its_own_robot_is_refused(sender):
    with pytest.raises(SkerryError, match=r"auv\.sensors\.ranges: .* is the sensor's own"):
        world_of(["buoy", sender])
