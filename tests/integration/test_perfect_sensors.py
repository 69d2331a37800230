"""`noise: none` makes a sensor, a robot or a whole scenario exact."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy
from skerry.scenario.loading import load_scenario

PLACE = {"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}, "terrain": {"kind": "flat", "depth": 20.0}}
NOISY = {
    "imu": {"gyro_noise": 0.1, "gyro_bias": 0.1, "gyro_walk": 0.1, "accelerometer_bias": 0.5, "attitude_noise": 0.1},
    "depth300": {"noise": 500.0},
    "dvl": {"velocity_noise": 0.2},
}


def scenario(noise: str | None = None, robot: str | None = None, **sensors: Any) -> dict[str, Any]:
    """Return a scenario with a noisy SAM and a second one."""
    parts = {name: NOISY.get(name, {}) | sensors.get(name, {}) for name in {*NOISY, *sensors}}
    sam: dict[str, Any] = {"vehicle": "sam", "pose": {"position": [0, 0, -5]}, "overrides": {"sensors": parts}}
    other = sam | {"pose": {"position": [0, 30, -5]}}
    return PLACE | {"noise": noise, "robots": {"sam": sam | {"noise": robot}, "other": other}}


def is_exact(world: skerry.World, robot: str, sensor: str) -> bool:
    """Return whether a reading is the truth."""
    reading, pose = world.robots[robot].sensors[sensor].reading, world.robots[robot].pose
    if sensor == "depth300":
        mount = world.robots[robot].link_pose("pressure_link").position
        return bool(abs(reading.depth + mount[2]) < 1e-6)
    attitudes = quaternion_to_rpy(reading.orientation), quaternion_to_rpy(pose.orientation)
    errors = [*(attitudes[0] - attitudes[1]), *reading.angular_velocity, *reading.orientation_covariance.ravel()]
    return max(map(abs, errors)) < 1e-6


@pytest.mark.parametrize(
    ("settings", "exact"),
    [
        (scenario(), set()),
        (scenario(imu={"noise": "none"}), {("sam", "imu"), ("other", "imu")}),
        (scenario(depth300={"noise": "none"}), {("sam", "depth300"), ("other", "depth300")}),
        (scenario(robot="none"), {("sam", "imu"), ("sam", "depth300")}),
        (scenario(noise="none"), {(robot, part) for robot in ("sam", "other") for part in ("imu", "depth300")}),
    ],
)
def test_noise_none_acts_on_a_sensor_a_robot_or_the_whole_scenario(settings, exact) -> None:
    with skerry.load(settings) as world:
        parts = [(robot, part) for robot in world.robots for part in ("imu", "depth300")]
        assert {part for part in parts if is_exact(world, *part)} == exact


def test_without_noise_the_seed_does_not_change_any_reading_of_a_vehicle() -> None:
    """All sensors of SAM, also sonars and cameras, while it moves."""
    found = []
    for seed in (1, 2):
        with skerry.load(scenario(noise="none"), seed=seed) as world:
            sam = world.robots["sam"]
            sam.actuators["thruster1"].command(rpm=500)
            world.advance(1.0)
            found.append({name: pickle.dumps(part.reading) for name, part in sam.sensors.items()})
    assert found[0] == found[1]


def test_a_robot_that_is_added_has_the_noise_of_the_scenario() -> None:
    settings = scenario(noise="none")
    with skerry.load(settings) as world:
        world.spawn("third", settings["robots"]["other"] | {"pose": {"position": [0, 60, -5]}})
        assert is_exact(world, "third", "imu")
        assert load_scenario(world.scenario).scenario == world.scenario


def test_acoustic_ranges_are_exact_and_clocks_are_right() -> None:
    modem = {"kind": "usbl", "link": "base_link", "range_noise": 5.0, "bearing_noise_deg": 20.0, "timing_noise": 0.01}
    part = {"acoustics": {"usbl": modem | {"clock_offset": 3.0, "clock_drift_ppm": 100.0, "echoing": False}}}
    sam = {"vehicle": "sam", "anchored": True, "overrides": part}
    robots = {name: sam | {"pose": {"position": [x, 0, -5]}} for name, x in (("sam", 0), ("other", 60))}
    ranges = {}
    for noise in (None, "none"):
        with skerry.load(PLACE | {"noise": noise, "robots": robots}) as world:
            usbl: Any = world.robots["sam"].acoustics["usbl"]
            usbl.ping("other/usbl")
            world.advance(2.0)
            fix = usbl.read_fix()
            ranges[noise] = (fix.range, fix.bearing, fix.time)
    assert ranges["none"] == (pytest.approx(60.0, abs=1e-3), pytest.approx(0.0, abs=1e-6), pytest.approx(0.23, abs=0.2))
    assert abs(ranges[None][0] - 60.0) > 0.1
    assert ranges[None][2] > 3.0


def test_the_command_line_turns_noise_off(skerry: Callable[..., Any], tmp_path: Path) -> None:
    from skerry.formats.yaml_documents import dump_document  # the fixture has the name of the package

    file = tmp_path / "noisy.yaml"
    file.write_text(dump_document(scenario()))
    for noise in ("none", "non"):
        done = skerry("run", str(file), "--headless", "--speed", "max", "--duration", "0.1", "--noise", noise)
        assert (done.returncode == 0) == (noise == "none")
    assert "noise" in done.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            scenario(imu={"noise": 3.0}),
            "`noise` can only be `none`.*not 3.0; single errors are set by attitude_noise, ",
        ),
        (scenario(noise="off"), "noise: .*'none'"),
        (scenario(robot="off"), "robots.sam.noise: .*'none'"),
    ],
)
def test_another_value_is_refused_with_a_message(settings, message) -> None:
    with pytest.raises(SkerryError, match=message):
        skerry.load(settings)
