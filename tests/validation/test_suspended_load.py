"""Drone with a load on a rope, and the recovery of SAM by its rope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry


def swing(drone: Any, load: Any) -> float:
    """Return the angle between the line from the drone to the load and the vertical, °."""
    x, y, z = load.position - drone.position
    return float(np.degrees(np.arctan2(np.hypot(x, y), -z)))


def test_a_drone_carries_five_kilograms_on_three_metres_of_rope_over_ten_metres_with_little_swing() -> None:
    """Less than 20° at arrival. The controller also estimates the mass of the load and holds it at the right height."""
    scenario = {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "objects": {
            "load": {
                "geometry": {"kind": "sphere", "radius": 0.1},
                "motion": "dynamic",
                "mass": 5.0,
                "pose": {"position": [0, 0, 16.958]},
            }
        },
        "robots": {
            "drone": {
                "vehicle": "quadrotor",
                "pose": {"position": [0, 0, 20]},
                "overrides": {"ropes": {"lift": {"hook": None}}, "actuators": {"winch": {"target_length": 3.0}}},
            }
        },
    }
    with skerry.load(scenario) as world:
        drone, load = world.robots["drone"], world.objects["load"]
        tracking = drone.controllers["tracking"]
        drone.ropes["lift"].attach("load")
        tracking.go_to([0, 0, 17])
        world.advance(8)
        assert tracking.carried == pytest.approx(5.06, rel=0.03)
        tracking.go_to([10, 0, 17])
        widest, arrived = 0.0, None
        for _ in range(300):
            world.advance(0.05)
            widest = max(widest, swing(drone, load))
            if arrived is None and np.linalg.norm(load.position - [10, 0, 17]) < 0.5:
                arrived = swing(drone, load)
        assert arrived is not None
        assert arrived < 10
        assert widest < 20
        assert load.position == pytest.approx([10, 0, 17], abs=0.1)
        assert swing(drone, load) < 1


@pytest.mark.parametrize("seed", [1, 2])
def test_the_drone_recovers_sam_by_its_rope_and_sets_it_down_elsewhere(seed: int) -> None:
    """All tasks in waves, and the same bits after a restore in the middle."""
    with skerry.load("drone_recovers_sam", seed=seed) as world:
        sam, drone = world.robots["sam"], world.robots["drone"]
        tracking, lift = drone.controllers["tracking"], drone.ropes["lift"]
        middle, highest = None, -1.0
        for _ in range(180):
            world.advance(0.5)
            highest = max(highest, sam.position[2])
            if middle is None and lift.phase == "pulley":
                middle = world.snapshot()
            if tracking.task == "done":
                break
        assert tracking.task == "done"
        assert [phase for _, phase in lift.events] == ["pulley", "carrying"]
        assert highest > 0.4
        assert not lift.loaded
        assert np.hypot(*(sam.position[:2] - [12, 0])) < 1.5
        if seed == 1:
            end = bytes(world.snapshot())
            steps = world.tick
            assert middle is not None
            world.restore(middle)
            world.advance_steps(steps - world.tick)
            assert bytes(world.snapshot()) == end


def test_a_drone_with_swoop_to_rope_swoops_to_the_end_of_the_rope_instead_of_its_target() -> None:
    """Down to 0.16 m above it and up again, every eight seconds, for any other target."""
    scenario = {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "ropes": {"line": {"start": [5, 0, 0], "length": 2, "buoy": {"mass": 0.1}}},
        "robots": {
            "drone": {
                "vehicle": "quadrotor",
                "pose": {"position": [0, 0, 3]},
                "overrides": {
                    "ropes": {"lift": {"hook": None}},
                    "controllers": {"tracking": {"swoop_to_rope": "line", "point": [-20, 0, 10]}},
                },
            }
        },
    }
    with skerry.load(scenario) as world:
        drone, line = world.robots["drone"], world.ropes["line"]
        world.advance(8.0)
        nearest = np.inf
        for _ in range(160):
            world.advance(0.05)
            nearest = min(nearest, float(np.linalg.norm(drone.position - line.end)))
        assert nearest < 0.4
        assert np.hypot(*(drone.position - line.end)[:2]) < 0.3
