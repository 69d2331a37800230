"""Allocation to thrusters: the commanded wrench is produced, and is scaled down without changing its direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.control.loops.allocation import AXES, Allocation, AllocationConfig
from skerry.core.errors import SkerryError

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}


@pytest.fixture(scope="module", params=["bluerov2", "bluerov2_heavy", "otter"])
def robot(request: pytest.FixtureRequest) -> Any:
    depth = 0.0 if request.param == "otter" else -5.0
    source = {"vehicle": request.param, "pose": {"position": [0, 0, depth]}}
    with skerry.load({"reference": REFERENCE, "robots": {"it": source}}) as world:
        yield world.robots["it"]


def settings(robot: Any) -> AllocationConfig:
    return robot.controllers["autopilot"].config.allocation


def thrust_of(actuator: Any, command: float) -> float:
    """Return the thrust of a command, by bisection of `command_for`, which is checked against the simulation below."""
    low, high = actuator.thrust_limits
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if actuator.command_for(middle) < command else (low, middle)
    return 0.5 * (low + high)


def wrench_of(robot: Any, commands: dict[str, float]) -> dict[str, float]:
    """Return the sum of the forces and torques of the thrusters, by axis."""
    total = np.zeros(6)
    for name, command in commands.items():
        part = robot.actuators[name]
        total += thrust_of(part, command) * np.concatenate([part.axis, np.cross(part.position, part.axis)])
    return dict(zip(AXES, total.tolist(), strict=True))


def test_the_commanded_wrench_is_produced(robot) -> None:
    """To 1 % of the largest: the curves are tables of 801 throttles, with a zone about 0 that gives nothing."""
    config = settings(robot)
    random = np.random.default_rng(1)
    for _ in range(20):
        wanted = {axis: random.uniform(-1, 1) * (10.0 if axis in AXES[:3] else 1.0) for axis in config.axes}
        commands, is_cut = Allocation(config, robot.actuators).allocate(wanted)
        assert not is_cut
        found = wrench_of(robot, commands)
        for axis, value in wanted.items():
            assert found[axis] == pytest.approx(value, abs=0.1)


def test_a_wrench_beyond_the_limits_is_scaled_down_without_changing_its_direction(robot) -> None:
    """Wrench of ten times the limit: all thrusts are within the limits, one is at its limit, the direction is kept."""
    config = settings(robot)
    wanted = {
        axis: value for axis, value in zip(AXES, (800, -500, 300, 20, -20, 40), strict=True) if axis in config.axes
    }
    commands, is_cut = Allocation(config, robot.actuators).allocate(wanted)
    assert is_cut
    full = []
    for name, command in commands.items():
        part = robot.actuators[name]
        low, high = part.thrust_limits
        thrust = thrust_of(part, command)
        assert low - 1e-6 <= thrust <= high + 1e-6
        full.append(thrust / (high if thrust > 0 else low))
    assert max(full) == pytest.approx(1.0, abs=1e-3)
    found = np.array([wrench_of(robot, commands)[axis] for axis in wanted])
    asked = np.array(list(wanted.values()))
    cosine = found @ asked / np.linalg.norm(found) / np.linalg.norm(asked)
    assert cosine == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("share", [-0.9, -0.3, 0.3, 0.9])
@pytest.mark.parametrize("name", ["bluerov2", "bluerov2_heavy", "otter", "lolo"])
def test_the_command_for_a_thrust_gives_that_thrust(name, share) -> None:
    """Thrust on an anchored vehicle under water after the lag; 0.5 %, because curves are tables of 801 throttles."""
    source = {"vehicle": name, "pose": {"position": [0, 0, -5]}, "anchored": True}
    with skerry.load({"reference": REFERENCE, "robots": {"it": source}}) as world:
        thrusters = [part for part in world.robots["it"].actuators.values() if hasattr(part, "thrust")]
        wanted = [abs(share) * part.thrust_limits[share > 0] for part in thrusters]
        for part, thrust in zip(thrusters, wanted, strict=True):
            assert part.command_for(0.0) == pytest.approx(part.reset_value)
            part.command(**{part.keyword: part.command_for(thrust)})
        world.advance(10.0)
        assert [part.thrust for part in thrusters] == pytest.approx(wanted, rel=0.005)


def test_axes_that_are_not_independent_are_refused_with_an_explanation(robot) -> None:
    config = AllocationConfig(thrusters=settings(robot).thrusters[:2], axes=("surge", "sway", "yaw"))
    with pytest.raises(SkerryError, match="cannot produce surge, sway, yaw independently"):
        Allocation(config, robot.actuators)


def test_a_loop_without_its_axis_is_refused_at_load() -> None:
    over = {"controllers": {"autopilot": {"allocation": {"axes": ["surge", "yaw"]}}}}
    robot = {"vehicle": "bluerov2", "overrides": over}
    with pytest.raises(SkerryError, match=r"the loop `.*` needs the axis .*; add it to `axes` of the allocation"):
        skerry.load({"reference": REFERENCE, "robots": {"it": robot}})


def test_only_thrusters_can_be_allocated() -> None:
    with skerry.load({"reference": REFERENCE, "robots": {"it": {"vehicle": "remus100"}}}) as world:
        config = AllocationConfig(thrusters=("propeller", "rudder"), axes=("surge", "yaw"))
        with pytest.raises(SkerryError, match="'rudder' is a "):
            Allocation(config, world.robots["it"].actuators)
