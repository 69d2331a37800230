"""Controllers in the native loop give the same bits as in Python, and yield control in the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import PhysicsDiverged, UnknownName
from skerry.core.frames import Pose
from skerry.parts.ownership import commanding_as
from skerry.physics import engine
from skerry.world.mounted_controller import MountedController

OVER_THE_SEA = {
    "water": {"surface": {"kind": "waves", "height": 0.3, "period": 4, "heading_deg": 30}},
    "robots": {
        "drone": {"vehicle": "quadrotor", "pose": {"position": [0, 0, 6]}},
        "boat": {"vehicle": "obstacle_boat", "pose": {"position": [20, 0, 0]}},
        "evolo": {"vehicle": "evolo", "pose": {"position": [-30, 0, 0.4]}},
    },
}
CURVE = ([0.0, 1.0, 2.0, 3.0], [[0, 0, 6], [1, 0, 6.5], [1, 1, 6], [0, 0, 6]])


def sea(**overrides: Any) -> Any:
    return skerry.load("sam_empty", seed=3, overrides={**OVER_THE_SEA, **overrides})


def stay(world: Any) -> None:
    pass


def go(world: Any) -> None:
    world.robots["drone"].controllers["tracking"].go_to([2.0, -1.0, 7.0], yaw_deg=40.0)


def follow(world: Any) -> None:
    world.robots["drone"].controllers["tracking"].follow("boat", [0.0, 0.0, 5.0])


def fly(world: Any) -> None:
    world.robots["drone"].controllers["tracking"].fly(*CURVE, repeat=True)


def turn_dials(world: Any) -> None:
    drone = world.robots["drone"]
    drone.control = "manual"
    for key in ("i", "u"):
        drone.keyboard.press(key)


def carry(world: Any) -> None:
    rope = world.robots["drone"].ropes["lift"]
    world.teleport("load", Pose(rope.end, Pose.identity().orientation))
    rope.attach("load")


def foil(world: Any) -> None:
    world.robots["evolo"].controllers["flight"].command(speed_kn=10.0, roll_deg=5.0)


LOAD = {
    "load": {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "motion": "dynamic",
        "mass": 2.0,
        "pose": {"position": [0, 9, 3]},
    }
}


MANOEUVRES = [stay, go, follow, fly, turn_dials, carry, foil]


@pytest.mark.parametrize("command", MANOEUVRES, ids=lambda command: command.__name__)
def test_the_native_loop_gives_the_same_bits_as_python(command, monkeypatch) -> None:
    def run(inside: bool, steps: int) -> tuple[str, int]:
        with monkeypatch.context() as patch, sea(objects=LOAD) as world:
            if not inside:
                patch.setattr(MountedController, "native", lambda _: None)
            calls = []
            advance = world._engine.advance
            patch.setattr(world._engine, "advance", lambda *a, **k: calls.append(a[0]) or advance(*a, **k))
            world.advance(0.1)
            command(world)
            for _ in range(400 // steps):
                world.advance_steps(steps)
            return world.fingerprint(), len(calls)

    outside, many = run(inside=False, steps=400)
    inside, few = run(inside=True, steps=400)
    piecewise, _ = run(inside=True, steps=5)
    assert inside == outside == piecewise
    assert few < many / 10


def test_a_run_continues_from_a_snapshot_to_the_bit() -> None:
    with sea() as world, sea() as other:
        follow(world)
        world.advance(0.73)
        other.restore(world.snapshot())
        for each in (world, other):
            each.advance(0.5)
        assert world.fingerprint() == other.fingerprint()


def test_a_change_of_owner_takes_effect_immediately() -> None:
    with sea() as world:
        boat = world.robots["boat"]
        screws = [boat.actuators[name] for name in ("port", "starboard")]
        world.advance(1.0)
        assert boat.control == "controller" and screws[0].setpoint > 0.0
        boat.control = "manual"
        with commanding_as("manual"):
            for screw in screws:
                assert screw.command(rpm=-123.0)
        world.advance(1.0)
        assert [screw.setpoint for screw in screws] == [-123.0, -123.0]
        boat.control = "controller/wander"
        world.advance(0.2)
        assert all(screw.setpoint > 0.0 for screw in screws)


def test_a_stopped_message_stream_does_not_reset_the_actuators_of_a_controller() -> None:
    with sea() as world:
        boat = world.robots["boat"]
        world.advance(0.2)
        boat.control = "external"
        for screw in boat.actuators.values():
            assert screw.receive(rpm=50.0)
        boat.control = "controller/wander"
        lowest = []
        for _ in range(20):
            world.advance(0.1)
            lowest.append(min(screw.setpoint for screw in boat.actuators.values()))
        assert min(lowest[2:]) > 100.0


def test_a_released_controller_does_not_command_its_actuators() -> None:
    with sea() as world:
        evolo = world.robots["evolo"]
        foil(world)
        world.advance(0.5)
        evolo.controllers["flight"].release()
        evolo.actuators["propeller"].set_initial(rpm=77.0)
        world.advance(0.5)
        assert evolo.actuators["propeller"].setpoint == 77.0
        evolo.controllers["flight"].engage()
        world.advance(0.5)
        assert evolo.actuators["propeller"].setpoint > 77.0


def test_the_error_for_an_unknown_target_suggests_a_name() -> None:
    with sea() as world:
        world.advance(0.1)
        world.robots["drone"].controllers["tracking"].follow("baot")
        with pytest.raises(UnknownName, match="boat"):
            world.advance(0.1)


def test_after_a_divergence_a_controller_has_the_state_of_the_last_valid_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of a controller is restored with the world: single steps to the same tick give the same state."""
    monkeypatch.setattr(engine, "MAX_POSITION", np.inf)  # so that the robot can be placed near the numerical bound
    with sea() as world, sea() as other:
        for each in (world, other):
            foil(each)
            each.advance(0.5)
            each.teleport(
                "drone", Pose(np.array([0.0, 0.0, 999_990.0]), Pose.identity().orientation), (0.0, 0.0, 500.0)
            )
        with pytest.raises(PhysicsDiverged):
            world.advance(1.0)
        assert world.tick > other.tick  # it reaches the bound after some steps
        other.advance_steps(world.tick - other.tick)
        assert world.fingerprint() == other.fingerprint()


def test_a_failed_python_force_undoes_the_step_of_a_controller() -> None:
    def fail(link: Any) -> Any:
        if link.time > 0.52:
            raise ValueError("a slip")
        return np.zeros(6)

    with skerry.load("sam_empty", overrides=OVER_THE_SEA, forces={"boat/base_link": fail}) as world:
        controller = world.robots["evolo"].controllers["flight"]
        foil(world)
        world.advance(0.5)
        with pytest.raises(ValueError, match="a slip"):
            world.advance(1.0)
        remembered = controller.state()
        with pytest.raises(ValueError, match="a slip"):
            world.advance(1.0)
        assert controller.state() == remembered
