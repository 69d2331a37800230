"""The quadrotor with its load and its target: hover rpm, and targets that overlap it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}
G = 9.81


def drone(**settings: Any) -> dict[str, Any]:
    return {"vehicle": "quadrotor", "pose": {"position": [0, 0, 5]}, **settings}


def hover_rpm(mass: float) -> float:
    return mass * G / 4 / 0.005


def test_the_hover_rpm_carries_the_drone_with_its_rope_and_hook() -> None:
    with skerry.load({"reference": REFERENCE, "robots": {"drone": drone()}}) as world:
        line = world.robots["drone"].ropes["lift"]
        hanging = 0.1 + line.length * line.config.linear_mass
        assert world.robots["drone"].actuators["front"].setpoint == pytest.approx(hover_rpm(4.34 + hanging), rel=1e-3)


@pytest.mark.parametrize(("height", "counts"), [(3.0, True), (4.9, False), (-0.2, False)])
def test_the_hover_rpm_counts_a_load_that_hangs_in_the_air_on_a_taut_rope(height: float, counts: bool) -> None:
    """A load that lies in the sea, or next to the drone on a slack rope, does not count."""
    crate = {
        "geometry": {"kind": "box", "size": [0.1, 0.1, 0.1]}, "motion": "dynamic", "mass": 2, "volume": 0.004,
        "pose": {"position": [0.5, 0, height]},
    }  # fmt: skip
    tow = {"start": "drone", "end": "crate", "length": max(5 - height, 2.0) + 0.1, "mass_per_metre": 0.01}
    scenario = {
        "reference": REFERENCE,
        "robots": {"drone": drone()},
        "objects": {"crate": crate},
        "ropes": {"tow": tow},
    }
    with skerry.load(scenario) as world:
        line = world.robots["drone"].ropes["lift"]
        mass = 4.34 + 0.1 + line.length * line.config.linear_mass + 0.01 * tow["length"] + 2.0 * counts
        assert world.robots["drone"].actuators["front"].setpoint == pytest.approx(hover_rpm(mass), rel=1e-3)


def follow(collides: bool, **settings: Any) -> dict[str, Any]:
    ball = {"geometry": {"kind": "sphere", "radius": 0.2}, "collides": collides}
    target = {"shapes": {"ball": ball}, "motion": "kinematic", "pose": {"position": [2, 0, 6]}}
    robot = drone(overrides={"controllers": {"tracking": {"target": "mark", **settings}}})
    return {"reference": REFERENCE, "robots": {"drone": robot}, "objects": {"mark": target}}


@pytest.mark.parametrize(
    ("collides", "settings", "told"),
    [(True, {}, True), (True, {"offset": [0, 0, 2]}, False), (False, {}, False)],
)
def test_a_solid_target_that_overlaps_its_drone_is_told_of(
    caplog: pytest.LogCaptureFixture, collides: bool, settings: dict[str, Any], told: bool
) -> None:
    with skerry.load(follow(collides, **settings)):
        pass
    words = "drone.controllers.tracking follows 'mark', which is solid"
    assert any(words in record.getMessage() for record in caplog.records) == told


def test_a_drone_follows_the_drone_target_of_its_scenario() -> None:
    with skerry.load("demo") as world:
        target, robot = world.objects["drone_target"], world.robots["quadrotor"]
        place = target.position + np.array([3.0, -2.0, 1.0])
        target.move(skerry.Pose(place, np.array([0.0, 0, 0, 1])))
        world.advance(6.0)
        assert robot.pose.position == pytest.approx(place, abs=0.2)


@pytest.mark.parametrize("active", ["lidar", "lidar_32", "lidar_128", None])
def test_one_setting_chooses_the_lidar_of_evolo(active: str | None) -> None:
    overrides = {"alternatives": {"lidar": {"active": active}}}
    robots = {"evolo": {"vehicle": "evolo", "pose": {"position": [0, 0, 0.4]}, "overrides": overrides}}
    with skerry.load({"reference": REFERENCE, "robots": robots}) as world:
        sensors = world.robots["evolo"].sensors
        names = ("lidar", "lidar_32", "lidar_128")
        assert [name for name in names if sensors[name].on] == ([] if active is None else [active])


def test_switching_a_lidar_of_evolo_on_switches_the_others_off() -> None:
    robots = {"evolo": {"vehicle": "evolo", "pose": {"position": [0, 0, 0.4]}}}
    with skerry.load({"reference": REFERENCE, "robots": robots}) as world:
        sensors = world.robots["evolo"].sensors
        before = world.snapshot()
        world.advance(0.2)
        assert sensors["lidar"].reading is not None
        assert sensors["lidar_32"].reading is None
        sensors["lidar_32"].on = True
        world.advance(0.2)
        assert sensors["lidar"].reading is None
        assert sensors["lidar_32"].reading is not None
        world.restore(before)
        assert (sensors["lidar"].on, sensors["lidar_32"].on) == (True, False)
        sensors["lidar"].on = False
        assert not any(sensors[name].on for name in ("lidar", "lidar_32", "lidar_128"))


def test_an_unknown_active_sensor_is_refused_with_a_guess() -> None:
    overrides = {"alternatives": {"lidar": {"active": "lidar_23"}}}
    robots = {"evolo": {"vehicle": "evolo", "pose": {"position": [0, 0, 0.4]}, "overrides": overrides}}
    with pytest.raises(skerry.SkerryError, match="is not one of `sensors`; did you mean 'lidar_32'"):
        skerry.load({"reference": REFERENCE, "robots": robots})
