"""Controllers that act inside the native loop do as they would from Python, to the bit, and give way as they would."""

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


@pytest.mark.parametrize("tell", [stay, go, follow, fly, turn_dials, carry, foil], ids=lambda tell: tell.__name__)
def test_inside_the_loop_they_do_as_from_python_to_the_bit(tell, monkeypatch) -> None:
    def run(inside: bool, steps: int) -> tuple[str, int]:
        with monkeypatch.context() as patch, sea(objects=LOAD) as world:
            if not inside:
                patch.setattr(MountedController, "acting", lambda _: None)
            calls = []
            advance = world._engine.advance
            patch.setattr(world._engine, "advance", lambda *a, **k: calls.append(a[0]) or advance(*a, **k))
            world.advance(0.1)
            tell(world)
            for _ in range(400 // steps):
                world.advance_steps(steps)
            return world.fingerprint(), len(calls)

    outside, many = run(inside=False, steps=400)
    inside, few = run(inside=True, steps=400)
    piecewise, _ = run(inside=True, steps=5)
    assert inside == outside == piecewise
    assert few < many / 10


def test_a_snapshot_on_the_way_goes_on_to_the_bit() -> None:
    with sea() as world, sea() as other:
        follow(world)
        world.advance(0.73)
        other.restore(world.snapshot())
        for each in (world, other):
            each.advance(0.5)
        assert world.fingerprint() == other.fingerprint()


def test_who_takes_control_is_obeyed_at_once_and_who_gives_it_back_too() -> None:
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


def test_messages_that_have_fallen_silent_do_not_reset_what_a_controller_was_given() -> None:
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


def test_one_that_is_released_leaves_its_actuators_alone() -> None:
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


def test_a_target_that_is_not_there_is_guessed_at() -> None:
    with sea() as world:
        world.advance(0.1)
        world.robots["drone"].controllers["tracking"].follow("baot")
        with pytest.raises(UnknownName, match="boat"):
            world.advance(0.1)


def test_a_divergence_leaves_it_as_of_the_last_sound_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a controller remembers goes back with the world: going there step by step gives the same state."""
    monkeypatch.setattr(engine, "MAX_POSITION", np.inf)  # so that it can be put near the end of sound physics
    with sea() as world, sea() as other:
        for each in (world, other):
            foil(each)
            each.advance(0.5)
            each.teleport(
                "drone", Pose(np.array([0.0, 0.0, 999_990.0]), Pose.identity().orientation), (0.0, 0.0, 500.0)
            )
        with pytest.raises(PhysicsDiverged):
            world.advance(1.0)
        assert world.tick > other.tick  # it leaves the world's bounds after some steps
        other.advance_steps(world.tick - other.tick)
        assert world.fingerprint() == other.fingerprint()


def test_a_python_force_that_fails_takes_the_step_of_a_controller_back() -> None:
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
