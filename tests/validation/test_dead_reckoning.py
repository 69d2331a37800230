"""Dead reckoning: errors and variances of the estimate, with sensors alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.control.dead_reckoning import AxisFilter
from skerry.world import World

STEP = 1 / 200


def load(vehicle: str = "sam", depth: float = 3.0, **overrides: Any) -> World:
    reckoning = {"engaged": True, "start_noise": 0.0}
    changed = {"controllers": {"dead_reckoning": reckoning}} | overrides
    robot = {
        "vehicle": vehicle,
        "pose": {"position": [1.3, 2.7, -depth], "yaw_deg": 20},
        "overrides": changed,
    }
    return skerry.load(
        {
            "seed": 3,
            "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
            "terrain": {"kind": "flat", "depth": 20},
            "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.2, 0.1, 0]}}},
            "robots": {"it": robot},
        }
    )


def error(world: World) -> Any:
    """Return the error of the estimate against the true state at its time, one step after the controller acted."""
    robot = world.robots["it"]
    return robot.controllers["dead_reckoning"].estimate.pose.position - robot.pose.position


@pytest.fixture
def world() -> Iterator[World]:
    with load() as made:
        yield made


def test_in_a_current_sam_tracks_its_position_by_the_dvl(world: World) -> None:
    """With 1 mm/s a beam at 22.5° the level speed is off by σ = 1/(√2 sin 22.5°) mm/s, 1.85 mm/s, ten times a second.

    So places go astray by σ √(t × 0.1 s): 0.6 cm in 100 s. Six times that, and the way of one step.
    """
    world.robots["it"].controllers["autopilot"].hold(depth=5, heading_deg=120, speed=1.0)
    world.advance(100.0 + STEP)
    assert np.linalg.norm(world.robots["it"].pose.position[:2]) > 60
    assert np.abs(error(world)[:2]).max() < 6 * 0.00185 * np.sqrt(100 * 0.1) + 0.01
    # 5 Pa of noise are 0.5 mm, and it dives by some mm in a step
    assert abs(error(world)[2]) < 0.01


def test_its_error_agrees_with_its_variance(world: World) -> None:
    """Within three standard deviations, in ten runs: the filter expects more acceleration than SAM has."""
    for seed in range(10):
        with skerry.load(world.scenario.model_copy(update={"seed": seed})) as run:
            run.robots["it"].controllers["autopilot"].hold(depth=4, heading_deg=90, speed=0.5)
            run.advance(20.0 + STEP)
            way = np.linalg.norm(run.robots["it"].twist.linear) * STEP  # since the estimate
            variance = run.robots["it"].controllers["dead_reckoning"].estimate.position_variance[:2]
            assert (np.abs(error(run)[:2]) < 3 * np.sqrt(variance) + way).all()


def test_attitude_and_velocity_are_those_of_the_vehicle(world: World) -> None:
    """The DVL sits 0.5 m ahead of the origin and the IMU elsewhere; offsets and rotations of the mounts are corrected.

    Tolerances: six times the noise of the DVL, and 10⁻⁴ rad, many times that of the IMU.
    """
    sam = world.robots["it"]
    sam.controllers["autopilot"].hold(heading_deg=200, rpm=800, depth=6)
    world.advance(20.0 + STEP)
    estimate = sam.controllers["dead_reckoning"].estimate
    assert abs(sam.twist.angular[2]) > 0.05  # it turns
    np.testing.assert_allclose(estimate.twist.linear, sam.twist.linear, atol=0.012)
    np.testing.assert_allclose(estimate.twist.angular, sam.twist.angular, atol=2e-3)
    turned = sam.pose.rotation.T @ estimate.pose.rotation
    assert np.abs(turned - np.eye(3)).max() < 1e-3  # the turn of one step at 0.1 rad/s is 5e-4


def test_without_a_dvl_its_variance_grows(world: World) -> None:
    sam = world.robots["it"]
    world.advance(5.0)
    before = sam.controllers["dead_reckoning"].estimate.position_variance[0]
    sam.sensors["dvl"].on = False
    world.advance(10.0)
    coasted = sam.controllers["dead_reckoning"].estimate
    assert coasted.position_variance[0] > 100 * before
    # white acceleration alone: q t³/3
    assert coasted.position_variance[0] == pytest.approx(0.01 * 10**3 / 3, rel=0.1)


def test_at_the_surface_the_gps_corrects_it() -> None:
    """A start that is metres off is forgotten: n fixes leave 0.5 m/√n, here of 10 s at 10 Hz 5 cm; four times that."""
    with load("otter", 0.0, controllers={"dead_reckoning": {"engaged": True, "start_noise": 30.0}}) as world:
        world.advance(0.2)
        assert world.robots["it"].controllers["dead_reckoning"].estimate.position_variance[0] < 1.0
        world.advance(60.0)
        assert np.abs(error(world)[:2]).max() < 1.0
    over = {
        "sensors": {"gps": {"noise": 0.5}},
        "controllers": {"dead_reckoning": {"engaged": True, "start_noise": 30.0}},
    }
    with load("sam", 0.0, **over) as world:
        world.robots["it"].actuators["vbs"].command(percent=0)
        world.advance(60.0 + STEP)
        assert world.robots["it"].sensors["gps"].reading is not None
        assert np.abs(error(world)[:2]).max() < 0.2


def test_a_restored_world_has_the_same_estimate(world: World) -> None:
    sam = world.robots["it"]
    sam.controllers["autopilot"].hold(rpm=500, heading_deg=0)
    world.advance(3.0)
    middle = world.snapshot()
    world.advance(3.0)
    after = sam.controllers["dead_reckoning"].estimate
    world.restore(middle)
    world.advance(3.0)
    again = sam.controllers["dead_reckoning"].estimate
    assert again.pose.position.tobytes() == after.pose.position.tobytes()
    assert again.position_variance.tobytes() == after.position_variance.tobytes()


def test_it_runs_without_missing_sensors(caplog: pytest.LogCaptureFixture) -> None:
    with load(sensors={"gps": None}, controllers={"dead_reckoning": {"engaged": True}}) as world:
        world.advance(1.0)
        assert world.robots["it"].controllers["dead_reckoning"].estimate is not None
        assert "runs without gps" in caplog.text


def test_it_is_idle_until_it_is_engaged() -> None:
    with skerry.load("sam_empty") as world:
        reckoning = world.robots["sam"].controllers["dead_reckoning"]
        world.advance(1.0)
        assert reckoning.idle
        assert reckoning.estimate is None
        assert not world.robots["sam"].sensors["dvl"].is_active
        reckoning.engage()
        world.advance(0.2)
        assert reckoning.estimate.depth == pytest.approx(-world.robots["sam"].pose.position[2], abs=0.05)
        reckoning.release()
        assert reckoning.estimate is None


def test_the_filter_is_that_of_the_book() -> None:
    """Step of the Kalman equations, x = F x, P = F P Fᵀ + Q, K = P Hᵀ/(H P Hᵀ + r), by matrices."""
    axis = AxisFilter(1.0, 2.0, 4.0, 0.5, 3.0)
    x, p = np.array([1.0, 2.0]), np.array([[4.0, 0.5], [0.5, 3.0]])
    h, q = 0.1, 0.3
    f = np.array([[1, h], [0, 1]])
    x, p = f @ x, f @ p @ f.T + q * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
    axis.predict(h, q)
    for row, see, z, r in (([1, 0], axis.correct_position, 1.7, 0.2), ([0, 1], axis.correct_speed, 1.1, 0.4)):
        seen = np.array(row)
        gain = p @ seen / (seen @ p @ seen + r)
        x, p = x + gain * (z - seen @ x), p - np.outer(gain, seen @ p)
        see(z, r)
    np.testing.assert_allclose([axis.position, axis.speed], x, rtol=1e-12)
    np.testing.assert_allclose([axis.position_variance, axis.covariance, axis.speed_variance], p[[0, 0, 1], [0, 1, 1]])
