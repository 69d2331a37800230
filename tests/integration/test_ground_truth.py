"""Ground truth: quantities derived from a robot's pose and motion."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from pyproj import Transformer

import skerry
from skerry.core.frames import Pose, Twist, heading_to_yaw, rpy_to_quaternion
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.ground_truth import GroundTruth
from skerry.sensors.odometry import Odometry

NOISE = Noise(1, "robot/truth")


def sample(z=-5.0, heading=0.0, velocity=(0.0, 0.0, 0.0), turning=(0.0, 0.0, 0.0), surface=0.0, ground=None):
    yaw = float(heading_to_yaw(heading))
    pose = Pose(np.array([1.0, 2.0, z]), rpy_to_quaternion(np.array([0.2, -0.3, yaw])))
    twist = Twist(np.array(velocity), np.array(turning))
    terrain = None if ground is None else SimpleNamespace(height=lambda points: np.float64(ground))
    return SimpleNamespace(
        time=0.5,
        tick=100,
        projection=None,
        terrain=terrain,
        motion=lambda link, offset: _carried(pose, twist, offset),
        depth=lambda point: surface - float(point[2]),
    )


def _carried(pose, twist, offset):
    there = pose @ offset
    velocity = twist.linear + np.cross(twist.angular, there.position - pose.position)
    return np.concatenate([there.position, there.orientation, velocity, twist.angular])


def measure(view, **settings):
    return GroundTruth(link="l", frequency=10, **settings).build().measure(One(view), NOISE)[0]


def test_pose_and_twist_are_those_of_odometry():
    view = sample(velocity=(1, 2, 3), turning=(0.1, 0.2, 0.3))
    mount = {"position": (1.0, 0.5, 0.2), "pitch_deg": 20.0}
    odometry = Odometry(link="l", frequency=10, **mount).build().measure(One(view), NOISE)[0]
    found = measure(view, **mount)
    assert found.pose.position.tolist() == odometry.pose.position.tolist()
    assert found.pose.orientation.tolist() == odometry.pose.orientation.tolist()
    assert found.twist.linear.tolist() == odometry.twist.linear.tolist()
    assert found.twist.angular.tolist() == odometry.twist.angular.tolist()
    assert found.speed == pytest.approx(np.linalg.norm(odometry.twist.linear), rel=1e-12)


@pytest.mark.parametrize(
    ("velocity", "course"), [((0, 1, 0), 0), ((1, 0, 5), 90), ((0, -2, 0), 180), ((-1, 0, 0), 270), ((-1, 1, 0), 315)]
)
def test_the_course_is_that_of_the_velocity_over_ground(velocity, course):
    reading = measure(sample(heading=33, velocity=velocity))
    assert reading.course_deg == pytest.approx(course)
    assert reading.heading_deg == pytest.approx(33)
    assert reading.speed == pytest.approx(np.linalg.norm(velocity))


def test_without_speed_over_ground_the_course_is_the_heading():
    assert measure(sample(heading=250)).course_deg == pytest.approx(250)
    assert measure(sample(heading=250, velocity=(0, 0, -1))).course_deg == pytest.approx(250)


@pytest.mark.parametrize(
    ("z", "surface", "ground", "depth", "altitude"),
    [
        (-5.0, 0.0, -20.0, 5.0, 15.0),  # in the water
        (-5.0, 1.5, -20.0, 6.5, 15.0),  # under a crest
        (3.0, 0.0, -20.0, -3.0, 3.0),  # in the air: above the water
        (3.0, 0.5, None, -2.5, 2.5),  # and where there is no ground
        (12.0, 0.0, 8.0, -12.0, 4.0),  # above land
        (-5.0, 0.0, None, 5.0, inf),  # no ground below
        (-5.0, 0.0, np.nan, 5.0, inf),  # beyond its edge
    ],
)
def test_depth_and_altitude(z, surface, ground, depth, altitude):
    reading = measure(sample(z=z, surface=surface, ground=ground))
    assert (reading.depth, reading.altitude) == pytest.approx((depth, altitude))


def test_latitude_and_longitude_are_those_of_the_grid_or_none():
    part = {"truth": {"kind": "ground_truth", "link": "base_link", "frequency": 10}}
    robots = {"auv": {"vehicle": "torpedo", "pose": {"position": [120, -40, -3]}, "overrides": {"sensors": part}}}
    with skerry.load({"robots": robots, "terrain": {"kind": "flat", "depth": 30}}) as world:
        reading = world.robots["auv"].sensors["truth"].reading
        assert (reading.latitude_deg, reading.longitude_deg) == (None, None)
        assert (reading.depth, reading.altitude) == pytest.approx((3.0, 27.0))
    reference = {"utm_zone": 33, "utm_band": "V", "easting": 652000.0, "northing": 6523000.0}
    with skerry.load({"robots": robots, "reference": reference}) as world:
        reading = world.robots["auv"].sensors["truth"].reading
        utm = Transformer.from_crs("EPSG:32633", "EPSG:4326")
        expected = utm.transform(652120.0, 6522960.0)
        assert (reading.latitude_deg, reading.longitude_deg) == pytest.approx(expected, abs=1e-9)
