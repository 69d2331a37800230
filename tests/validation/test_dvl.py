"""A Doppler velocity log against closed forms: ranges, velocity, lock, noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from skerry.core.frames import Pose, rotate, rpy_to_quaternion
from skerry.sensors.dvl import Dvl, DvlReading

Load = Callable[..., Any]
JANUS = np.radians(22.5)


def swim(
    load: Load,
    dvl: Mapping[str, Any] | None = None,
    depth: float = 5.0,
    bottom: float = 25.0,
    turned: Mapping[str, float] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Any:
    settings = {
        "kind": "dvl",
        "link": "dvl_link",
        "frequency": 50,
        "velocity_noise": 0,
        "range_noise": 0,
        **(dvl or {}),
    }
    mount = {key: settings[key] for key in ("link", "position", "yaw_deg", "roll_deg", "pitch_deg") if key in settings}
    truth = {"kind": "odometry", "frequency": 50, **mount}
    return load(
        {
            "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
            "terrain": {"kind": "flat", "depth": bottom},
            "robots": {
                "sam": {
                    "vehicle": "sam",
                    "pose": {"position": [3, 4, -depth], **(turned or {})},
                    "overrides": {"sensors": {"dvl": settings, "true": truth}},
                }
            },
            **(more or {}),
        }
    )


def ping(world: Any) -> DvlReading:
    reading = world.robots["sam"].sensors["dvl"].reading
    assert isinstance(reading, DvlReading)
    return reading


def spin(world: Any) -> None:
    """Give SAM a velocity and a rotation about all axes."""
    world._engine.part("qvel")[0, :6] = [0.7, -0.4, 0.2, 0.3, -0.5, 0.9]
    world.advance(0.1)


def test_the_beams_have_the_order_of_smarc() -> None:
    """The first beam is aft-starboard, then clockwise from above: aft-port, fore-port, fore-starboard."""
    beams = Dvl(link="x", frequency=1).directions()
    s, c = np.sin(JANUS) / np.sqrt(2), np.cos(JANUS)
    assert beams == pytest.approx(np.array([[-s, -s, -c], [-s, s, -c], [s, s, -c], [s, -s, -c]]), abs=1e-12)


@pytest.mark.parametrize("turned", [{}, {"roll_deg": 12, "pitch_deg": -8, "heading_deg": 33}])
def test_ranges_and_altitude_over_a_flat_bottom_are_those_of_the_plane(load: Load, turned: dict[str, float]) -> None:
    """Ranges are h over the cosine between beam and vertical; the altitude is h at any attitude."""
    world = swim(load, turned=turned)
    reading = ping(world)
    pose = world.robots["sam"].link_pose("dvl_link")
    height = pose.position[2] + 25.0
    beams = rotate(pose.orientation, Dvl(link="x", frequency=1).directions())
    assert reading.ranges == pytest.approx(height / -beams[:, 2], rel=2e-6)
    assert reading.altitude == pytest.approx(height, rel=2e-6)
    assert reading.bottom_lock and reading.hits == 4


@pytest.mark.parametrize("yaw_deg", [0.0, 90.0])
def test_no_beam_is_lost_on_a_vehicle_that_heads_along_an_axis(load: Load, yaw_deg: float) -> None:
    """Every beam, and the ray straight down, hits level ground within range."""
    robot = {"vehicle": "sam", "pose": {"position": [1.3, 2.7, -3], "yaw_deg": yaw_deg}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    world = load({"reference": reference, "terrain": {"kind": "flat", "depth": 20}, "robots": {"sam": robot}})
    for _ in range(40):
        world.advance(0.1)
        reading = world.robots["sam"].sensors["dvl"].reading
        assert reading.hits == 4
        assert np.isfinite(reading.altitude)


@pytest.mark.parametrize("mount", [{}, {"position": [0.4, 0.3, -0.2], "yaw_deg": 45.0}])
def test_velocity_is_that_of_the_offset_sensor_while_turning(load: Load, mount: dict[str, Any]) -> None:
    world = swim(load, mount)
    spin(world)
    true = world.robots["sam"].sensors["true"].reading
    assert np.linalg.norm(true.twist.angular) > 0.3
    assert ping(world).velocity == pytest.approx(true.twist.linear, abs=1e-6)  # directions are single precision
    assert np.abs(true.twist.linear).min() > 0.01


def test_beam_speeds_are_the_projections_of_the_velocity(load: Load) -> None:
    world = swim(load)
    spin(world)
    true = world.robots["sam"].sensors["true"].reading
    expected = Dvl(link="x", frequency=1).directions() @ true.twist.linear
    assert ping(world).beam_velocities == pytest.approx(expected, abs=1e-9)


def test_without_enough_beams_on_the_bottom_there_is_no_lock_and_no_stale_range(load: Load) -> None:
    """At a roll of 60°, two of four beams point at or above the horizontal and have no echo."""
    world = swim(load, turned={"roll_deg": 70})
    reading = ping(world)
    assert not reading.bottom_lock
    assert np.isnan(reading.ranges).sum() == 4 - reading.hits and reading.hits < 3
    assert np.isnan(reading.velocity).all() and reading.track == "none"
    assert np.isnan(reading.beam_velocities[np.isnan(reading.ranges)]).all()


def test_the_lock_is_lost_out_of_range_and_regained(load: Load) -> None:
    deep = ping(swim(load, bottom=80.0))
    assert not deep.bottom_lock and np.isnan(deep.ranges).all() and np.isnan(deep.altitude)
    assert ping(swim(load, {"max_range": 100.0}, bottom=80.0)).bottom_lock


def test_three_of_four_beams_give_the_velocity_too(load: Load) -> None:
    """A plate nearer than the minimum range hides the bottom from one beam; the other beams give the velocity."""
    world = swim(
        load,
        {"min_range": 0.5},
        more={
            "objects": {
                "plate": {
                    "geometry": {"kind": "box", "size": [0.05, 0.05, 0.01]},
                    "pose": {"position": [3.573 + 0.27 * 0.35, 4 + 0.27 * 0.35, -5.063 - 0.924 * 0.35]},
                    "motion": "kinematic",
                }
            }
        },
        turned={"yaw_deg": 0},
    )
    world._engine.part("qvel")[0, :3] = [0.3, 0.1, -0.1]
    world.advance(0.02)
    reading = ping(world)
    assert reading.hits == 3 and np.isnan(reading.ranges).tolist() == [False, False, True, False]
    assert reading.velocity == pytest.approx(world.robots["sam"].sensors["true"].reading.twist.linear, abs=1e-6)


def test_the_water_track_is_relative_to_the_current(load: Load) -> None:
    current = {"water": {"currents": {"flow": {"kind": "uniform", "velocity": [0.3, 0.2, 0.0]}}}}
    world = swim(load, {"track": "auto"}, bottom=500.0, more=current)
    spin(world)
    reading = ping(world)
    true = world.robots["sam"].sensors["true"].reading
    relative = rotate(np.array([*-true.pose.orientation[:3], true.pose.orientation[3]]), np.array([0.3, 0.2, 0.0]))
    assert reading.track == "water" and not reading.bottom_lock
    assert reading.velocity == pytest.approx(true.twist.linear - relative, abs=1e-6)


def test_over_a_moving_vehicle_a_dvl_measures_the_relative_speed(load: Load) -> None:
    world = load(
        {
            "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
            "terrain": {"kind": "flat", "depth": 200},
            "objects": {
                "raft": {
                    "geometry": {"kind": "box", "size": [40, 40, 0.2]},
                    "pose": {"position": [0, 0, -20]},
                    "motion": "dynamic",
                    "mass": 328000.0,
                }
            },
            "robots": {
                "sam": {
                    "vehicle": "sam",
                    "anchored": True,
                    "pose": {"position": [0, 0, -5], "yaw_deg": 0},
                    "overrides": {"sensors": {"dvl": {"velocity_noise": 0, "frequency": 50}}},
                }
            },
        }
    )
    world._engine.part("qvel")[0, -6:-3] = [0.5, -0.2, 0.0]
    world.advance(0.1)
    moving = world.objects["raft"].twist.linear
    assert ping(world).velocity[:2] == pytest.approx(-moving[:2], abs=1e-5)
    assert moving[0] > 0.4


def test_a_dvl_has_no_reading_in_air(load: Load) -> None:
    world = swim(load, depth=-2.0)
    assert world.robots["sam"].sensors["dvl"].reading is None


def test_noise_has_the_configured_deviation_and_the_reported_covariance(load: Load) -> None:
    """σ² (DᵀD)⁻¹: for four beams at the Janus angle j, σ/√(2 sin² j) across and σ/(2 cos j) downwards."""
    sigma = 0.01
    world = load(
        {
            "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
            "terrain": {"kind": "flat", "depth": 25},
            "robots": {
                "sam": {
                    "vehicle": "sam",
                    "anchored": True,
                    "pose": {"position": [0, 0, -5], "yaw_deg": 0},
                    "overrides": {"sensors": {"dvl": {"velocity_noise": sigma, "range_noise": 0.02, "frequency": 200}}},
                }
            },
        }
    )
    found = []
    for _ in range(1500):
        world.advance(0.005)
        found.append(ping(world))
    velocity = np.array([reading.velocity for reading in found])
    expected = np.array([sigma / np.sqrt(2 * np.sin(JANUS) ** 2)] * 2 + [sigma / (2 * np.cos(JANUS))])
    assert np.sqrt(np.diag(found[0].covariance)) == pytest.approx(expected, rel=1e-6)
    assert velocity.std(axis=0) == pytest.approx(expected, rel=0.08)  # 4 standard errors
    assert np.abs(velocity.mean(axis=0)) == pytest.approx(0, abs=4 * expected.max() / np.sqrt(1500))
    ranges = np.array([reading.ranges for reading in found])
    assert ranges.std(axis=0) == pytest.approx(0.02, rel=0.08)


def test_the_same_seed_gives_the_same_pings(load: Load) -> None:
    def run() -> list[bytes]:
        world = load("sam_in_the_bay", seed=5)
        found = []
        for _ in range(5):
            world.advance(0.1)
            reading = ping(world)
            found.append(reading.velocity.tobytes() + reading.ranges.tobytes())
        return found

    assert run() == run()


def test_a_dvl_measures_in_its_own_frame(load: Load) -> None:
    """Mounted upside down, the beams point up and have no echo, although the bottom is near."""
    reading = ping(swim(load, {"roll_deg": 180.0}))
    assert reading.hits == 0 and not reading.bottom_lock
    assert reading.altitude == pytest.approx(-5.063 + 25.0, abs=1e-3)
    assert Pose(np.zeros(3), rpy_to_quaternion([np.pi, 0, 0])).rotation[2, 2] == pytest.approx(-1)
