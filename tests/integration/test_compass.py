"""Compass and magnetometer: heading, and the effects of the vehicle's iron."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import skerry
from skerry.core.frames import Pose, heading_to_yaw, rotate, rpy_to_quaternion, yaw_to_heading
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.compass import Compass
from skerry.sensors.magnetometer import Magnetometer

NOISE = Noise(5, "robot/compass")
ANGLE = st.floats(-180, 180)


def standing(pose, tick=0):
    """A robot that stands somewhere."""

    def motion(link, offset):
        frame = pose if offset is None else pose @ offset
        return np.concatenate([frame.position, frame.orientation, np.zeros(6)])

    return SimpleNamespace(time=tick / 100, tick=tick, motion=motion)


def facing(heading_deg, roll_deg=0.0, pitch_deg=0.0, tick=0):
    """A robot whose bow points to a heading."""
    rpy = np.radians([roll_deg, pitch_deg, np.degrees(float(heading_to_yaw(heading_deg)))])
    pose = Pose(np.zeros(3), rpy_to_quaternion(rpy))
    return standing(pose, tick)


def compass(**settings):
    return Compass(link="l", frequency=10, **({"noise_deg": 0.0} | settings)).build()


def magnetometer(**settings):
    return Magnetometer(link="l", frequency=10, **({"noise": 0.0} | settings)).build()


def apart(first, second):
    """Degrees between two headings."""
    return abs((first - second + 180.0) % 360.0 - 180.0)


# ------------------------------------------------------------------------------------------------ compass


@given(heading=st.floats(0, 359.9), roll=ANGLE, pitch=st.floats(-85, 85))
def test_a_compass_without_errors_reads_the_heading_at_any_roll_and_pitch(heading, roll, pitch):
    reading = compass().measure(One(facing(heading, roll, pitch)), NOISE)[0]
    assert 0.0 <= reading.heading_deg < 360.0
    assert apart(reading.heading_deg, heading) < 1e-9


@pytest.mark.parametrize(("heading", "yaw_deg"), [(0, 90), (90, 0), (180, -90), (270, 180)])
def test_north_is_along_y_and_headings_grow_clockwise(heading, yaw_deg):
    pose = Pose(np.zeros(3), rpy_to_quaternion(np.radians([0, 0, yaw_deg])))
    sample = standing(pose)
    assert apart(compass().measure(One(sample), NOISE)[0].heading_deg, heading) < 1e-9


def test_a_compass_that_is_mounted_askew_reads_its_own_axis():
    assert compass(yaw_deg=-30).measure(One(facing(100)), NOISE)[0].heading_deg == pytest.approx(130)
    assert compass(roll_deg=180).measure(One(facing(100)), NOISE)[0].heading_deg == pytest.approx(100)


def test_declination_to_the_east_makes_the_magnetic_heading_smaller():
    assert compass(declination_deg=7.5).measure(One(facing(100)), NOISE)[0].heading_deg == pytest.approx(92.5)
    assert compass(declination_deg=7.5).measure(One(facing(3)), NOISE)[0].heading_deg == pytest.approx(355.5)


@given(heading=st.floats(0, 359.9))
def test_deviation_follows_the_five_coefficients(heading):
    """A + B sin ζ + C cos ζ + D sin 2ζ + E cos 2ζ, of the magnetic heading ζ."""
    coefficients = (1.0, 2.0, -3.0, 0.5, 0.25)
    angle = np.radians(heading - 4.0)
    expected = (
        heading - 4.0 - np.dot(coefficients, [1, np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)])
    )
    reading = compass(declination_deg=4.0, deviation_deg=coefficients).measure(One(facing(heading)), NOISE)[0]
    assert apart(reading.heading_deg, expected) < 1e-9


def test_compass_noise_has_the_configured_deviation_and_depends_on_the_seed():
    """4000 draws: the standard deviation of their standard deviation is 1.1 %."""
    sensor = compass(noise_deg=2.0)
    found = [sensor.measure(One(facing(180, tick=tick)), NOISE)[0].heading_deg for tick in range(4000)]
    assert np.std(found) == pytest.approx(2.0, rel=0.05)
    assert np.mean(found) == pytest.approx(180.0, abs=0.15)
    again = [sensor.measure(One(facing(180, tick=tick)), NOISE)[0].heading_deg for tick in (7, 3)]
    assert again == [found[7], found[3]]
    assert sensor.measure(One(facing(180)), NOISE)[0].variance == 4.0
    assert sensor.measure(One(facing(180)), Noise(6, "robot/compass"))[0].heading_deg != found[0]


def test_a_compass_bias_is_constant_in_a_run_and_has_the_configured_deviation_over_runs():
    """1000 runs: the standard deviation of their standard deviation is 2.2 %."""
    sensor = compass(bias_deg=3.0)
    assert len({sensor.measure(One(facing(180, tick=tick)), NOISE)[0].heading_deg for tick in range(5)}) == 1
    biases = [sensor.measure(One(facing(180)), Noise(seed, "robot/compass"))[0].heading_deg for seed in range(1000)]
    assert np.std(biases) == pytest.approx(3.0, rel=0.09)


def test_sams_compass_reads_the_direction_of_its_bow():
    robots = {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -5], "heading_deg": 200}}}
    with skerry.load({"robots": robots, "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}) as world:
        assert apart(world.robots["sam"].sensors["compass"].reading.heading_deg, 200) < 3.0


# ------------------------------------------------------------------------------------------------ magnetometer


def test_the_field_of_stockholm_points_steeply_down_and_a_little_east_of_north():
    """WMM 2025 at 59.33° N 18.07° E on 2025.0: 15.15 µT north, 1.98 µT east, 49.51 µT down."""
    east, north, up = magnetometer(yaw_deg=0).measure(One(facing(90)), NOISE)[0].field  # x is east, y north, z up
    assert [north, east, -up] == pytest.approx([15.15e-6, 1.98e-6, 49.51e-6], abs=2e-8)


@given(heading=st.floats(0, 359.9), roll=ANGLE, pitch=ANGLE)
def test_turning_does_not_change_the_strength_of_the_field(heading, roll, pitch):
    field = magnetometer().measure(One(facing(heading, roll, pitch)), NOISE)[0].field
    assert np.linalg.norm(field) == pytest.approx(51.81e-6, rel=1e-12)


@pytest.mark.parametrize("heading", [0.0, 45.0, 123.0, 300.0])
def test_a_level_magnetometer_gives_the_magnetic_heading(heading):
    """The horizontal field in FLU axes is H (cos ζ, sin ζ) at the magnetic heading ζ = heading − declination."""
    field = magnetometer(declination_deg=12.0).measure(One(facing(heading)), NOISE)[0].field
    assert apart(np.degrees(np.arctan2(field[1], field[0])), heading - 12.0) < 1e-9


def test_iron_adds_to_the_field_in_the_axes_of_the_sensor():
    soft = ((1.1, 0.02, 0.0), (0.0, 0.9, 0.01), (0.03, 0.0, 1.0))
    hard = (1e-6, -2e-6, 3e-6)
    sample, mount = facing(70, 10, 20), {"roll_deg": 180.0, "yaw_deg": 30.0}
    plain = magnetometer(**mount).measure(One(sample), NOISE)[0].field
    bent = magnetometer(**mount, soft_iron=soft, hard_iron=hard).measure(One(sample), NOISE)[0].field
    assert bent == pytest.approx(np.array(soft) @ plain + hard, rel=1e-12)


def test_a_magnetometer_reads_in_its_own_axes():
    mount = rpy_to_quaternion(np.radians([180.0, 0.0, 30.0]))
    level = magnetometer().measure(One(facing(70)), NOISE)[0].field
    own = magnetometer(roll_deg=180.0, yaw_deg=30.0).measure(One(facing(70)), NOISE)[0].field
    assert rotate(mount, own) == pytest.approx(level, rel=1e-12)


def test_magnetometer_noise_has_the_configured_deviation_on_each_axis():
    """2000 draws: the standard deviation of their standard deviation is 1.6 %."""
    sensor = magnetometer(noise=2e-7)
    found = np.array([sensor.measure(One(facing(10, tick=tick)), NOISE)[0].field for tick in range(2000)])
    assert found.std(axis=0) == pytest.approx([2e-7] * 3, rel=0.07)
    assert sensor.measure(One(facing(10, tick=9)), NOISE)[0].field.tolist() == found[9].tolist()
    assert np.diag(sensor.measure(One(facing(10)), NOISE)[0].covariance) == pytest.approx([4e-14] * 3)


@pytest.mark.parametrize(
    ("kind", "settings", "key"),
    [
        (Compass, {"noise_deg": -1}, "noise_deg"),
        (Compass, {"deviation_deg": [1, 2]}, "deviation_deg"),
        (Magnetometer, {"strength": 0}, "strength"),
        (Magnetometer, {"inclination_deg": 91}, "inclination_deg"),
        (Magnetometer, {"soft_iron": [[1, 0, 0]]}, "soft_iron"),
    ],
)
def test_invalid_settings_are_refused(kind, settings, key):
    with pytest.raises(ValidationError, match=key):
        kind(link="l", frequency=10, **settings)


@given(yaw=st.floats(-np.pi, np.pi))
def test_a_compass_agrees_with_the_frames(yaw):
    pose = Pose(np.zeros(3), rpy_to_quaternion(np.array([0.0, 0.0, yaw])))
    sample = standing(pose)
    assert apart(compass().measure(One(sample), NOISE)[0].heading_deg, float(yaw_to_heading(yaw))) < 1e-9
