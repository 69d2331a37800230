"""Joint states and encoders."""

from __future__ import annotations

from math import pi, tau
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import skerry
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.encoder import Encoder
from skerry.sensors.joint_states import JointStates

NOISE = Noise(5, "robot/joints")


def sample(position=0.0, velocity=0.0, tick=0):
    return SimpleNamespace(
        time=tick / 100,
        tick=tick,
        joints=("first", "second"),
        joint_position=lambda name: position + (name == "second"),
        joint_velocity=lambda name: velocity + (name == "second"),
    )


def encoder(**settings):
    return Encoder(link="l", frequency=10, joint="first", **settings).build()


def test_an_encoder_counts_whole_ticks():
    sensor = encoder(ticks_per_turn=4)
    found = [sensor.measure(One(sample(angle)), NOISE)[0].ticks for angle in (0.0, 1.5, 1.6, 3.2, 4.8, 6.3, -0.1, -1.6)]
    assert found == [0, 0, 1, 2, 3, 4, -1, -2]


@given(st.floats(-50, 50), st.sampled_from([1, 12, 4096]))
def test_an_encoder_reads_less_than_a_tick_below_the_joint_position(angle, ticks):
    reading = encoder(ticks_per_turn=ticks).measure(One(sample(angle, 0.25)), NOISE)[0]
    assert -1e-12 <= angle - reading.position <= tau / ticks + 1e-12
    assert reading.velocity == 0.25


@given(st.floats(-50, 50))
def test_a_single_turn_encoder_restarts_after_a_turn(angle):
    reading = encoder(ticks_per_turn=100, multi_turn=False).measure(One(sample(angle)), NOISE)[0]
    assert 0 <= reading.ticks < 100
    turned = encoder(ticks_per_turn=100).measure(One(sample(angle)), NOISE)[0]
    assert (turned.ticks - reading.ticks) % 100 == 0


def test_an_encoder_with_a_gear_or_on_a_screw_uses_the_configured_travel():
    assert encoder(ticks_per_turn=10, travel_per_turn=tau / 50).measure(One(sample(pi + 1e-9)), NOISE)[0].ticks == 250
    reading = encoder(ticks_per_turn=100, travel_per_turn=0.002).measure(One(sample(0.01301)), NOISE)[0]
    assert (reading.ticks, reading.position) == (650, pytest.approx(0.013))


def test_encoder_noise_has_the_configured_deviation():
    """4000 draws: the standard deviation of their standard deviation is 1.1 %; a tick is far finer."""
    sensor = encoder(ticks_per_turn=10**7, position_noise=0.01, velocity_noise=0.3)
    readings = [sensor.measure(One(sample(1.0, 2.0, tick)), NOISE)[0] for tick in range(4000)]
    assert np.std([reading.position for reading in readings]) == pytest.approx(0.01, rel=0.05)
    assert np.std([reading.velocity for reading in readings]) == pytest.approx(0.3, rel=0.05)
    assert sensor.measure(One(sample(1.0, 2.0, 8)), NOISE)[0] == readings[8]


def test_joint_states_are_of_all_joints_or_of_the_named_joints_in_order():
    every = JointStates(link="l", frequency=10).build().measure(One(sample(0.5, 0.1)), NOISE)[0]
    assert (every.names, every.positions, every.velocities) == (("first", "second"), (0.5, 1.5), (0.1, 1.1))
    some = JointStates(link="l", frequency=10, joints=("second",)).build().measure(One(sample(0.5, 0.1)), NOISE)[0]
    assert (some.names, some.positions) == (("second",), (1.5,))


def test_joint_state_noise_has_the_configured_deviation_and_is_independent_per_joint():
    sensor = JointStates(link="l", frequency=10, position_noise=0.1, velocity_noise=0.2).build()
    readings = [sensor.measure(One(sample(tick=tick)), NOISE)[0] for tick in range(2000)]
    found = np.array([(*reading.positions, *reading.velocities) for reading in readings])
    assert found.std(axis=0) == pytest.approx([0.1, 0.1, 0.2, 0.2], rel=0.07)
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < 0.1
    assert sensor.measure(One(sample(tick=5)), NOISE)[0] == readings[5]


def sam_with(**sensors):
    parts = {name: {"link": "base_link", "frequency": 50} | settings for name, settings in sensors.items()}
    return skerry.load("sam_empty", overrides={"robots": {"sam": {"overrides": {"sensors": parts}}}})


def test_sams_joints_are_read_where_they_are():
    parts = {
        "joints": {"kind": "joint_states"},
        "yaw": {"kind": "encoder", "joint": "thruster_yaw_joint", "ticks_per_turn": 65536},
    }
    with sam_with(**parts) as world:
        sam = world.robots["sam"]
        sam.actuators["thrust_vector_yaw"].command(angle=0.1)
        world.advance(1.0)
        reading = sam.sensors["joints"].reading
        assert reading.names == ("thruster_yaw_joint", "thruster_joint", "vbs_joint", "battery_joint")
        assert reading.positions == tuple(sam.joint_position(name) for name in reading.names)
        assert reading.velocities == tuple(sam.joint_velocity(name) for name in reading.names)
        assert sam.sensors["yaw"].reading.position == pytest.approx(0.1, abs=2e-3)


def test_an_unknown_joint_is_an_error_with_a_guess():
    with pytest.raises(SkerryError, match=r"no such moving joint .* did you mean 'vbs_joint'"):
        sam_with(bad={"kind": "encoder", "joint": "vbs_jint"})


def test_the_joint_of_a_propeller_cannot_be_read():
    with pytest.raises(SkerryError, match="cannot be measured"):
        sam_with(bad={"kind": "joint_states", "joints": ["front_prop_joint"]})


@pytest.mark.parametrize("settings", [{"ticks_per_turn": 0}, {"travel_per_turn": 0.0}, {"position_noise": -1.0}])
def test_invalid_settings_are_refused(settings):
    with pytest.raises(ValidationError, match=next(iter(settings))):
        encoder(**settings)
