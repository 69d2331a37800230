"""Robots and objects are added and removed while the world runs, without effect on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.acoustics.channel.channel import AcousticChannel
from skerry.commands import Delete, Spawn
from skerry.core.errors import SkerryError, UnknownName
from skerry.core.frames import Pose
from skerry.interfaces.recorder.command_json import command_from_text, command_to_text
from skerry.runner import Runner
from skerry.scenario import load_scenario
from skerry.scenario.loading import shipped_scenarios
from skerry.world.changes import apply_changes

BESIDE = {"vehicle": "sam", "pose": {"position": [0, 10, -5]}}
FLOAT = {
    "motion": "dynamic",
    "geometry": {"kind": "sphere", "radius": 0.3},
    "mass": 20.0,
    "pose": {"position": [4, 0, 0]},
}

DEEP = Pose(np.array([0.0, 0.0, -5.0]), np.array([0.0, 0.0, 0.0, 1.0]))


def world_of_sam() -> Any:
    return skerry.load("sam_empty", seed=3)


def test_a_far_away_robot_does_not_change_the_others_by_a_bit() -> None:
    """Vehicles 10 m apart do not interact, and MuJoCo solves them separately: the old one must not change."""
    with world_of_sam() as alone, world_of_sam() as shared:
        for world in (alone, shared):
            world.robots["sam"].actuators["thruster1"].command(rpm=600)
            world.robots["sam"].actuators["vbs"].command(percent=20)
            world.advance(2.0)
        shared.spawn("second", BESIDE)
        for world in (alone, shared):
            world.advance(2.0)
        for one, other in zip(alone.robots["sam"].pose.position, shared.robots["sam"].pose.position, strict=True):
            assert one == other
        assert alone.time == shared.time
        shared.delete("second")
        for world in (alone, shared):
            world.advance(2.0)
        assert np.array_equal(alone.robots["sam"].pose.position, shared.robots["sam"].pose.position)
        assert alone.snapshot().data != shared.snapshot().data  # one of them has readings
        assert list(shared.robots) == ["sam"]


def readings_of_sam(world: Any) -> dict[str, str]:
    """Return the readings of all sensors but the cameras, whose readings contain the names of all bodies."""
    sensors = world.robots["sam"].sensors
    return {name: repr(part.reading) for name, part in sensors.items() if not name.startswith("camera")}


def test_a_change_does_not_change_the_latest_due_readings() -> None:
    with world_of_sam() as alone, world_of_sam() as shared:
        for world in (alone, shared):
            world.robots["sam"].actuators["thruster1"].command(rpm=600)
            world.advance(1.935)  # most sensors were due earlier
        shared.spawn("second", {**BESIDE, "pose": {"position": [0, 500, -5]}})  # out of sight
        for seconds in (0.0, 0.005):
            for world in (alone, shared):
                world.advance(seconds)
            assert readings_of_sam(shared) == readings_of_sam(alone)
        shared.delete("second")
        assert readings_of_sam(shared) == readings_of_sam(alone)


def test_the_reading_of_a_new_robot_does_not_depend_on_when_it_was_requested() -> None:
    with world_of_sam() as first, world_of_sam() as second:
        for world in (first, second):
            world.advance(0.755)
            world.spawn("second", {**BESIDE, "pose": {"position": [0, 10, 1]}})  # falls into the water
        at_spawn = first.robots["second"].sensors["gps"].reading
        for world in (first, second):
            world.advance(0.03)
        assert repr(first.robots["second"].sensors["gps"].reading) == repr(at_spawn)
        assert repr(second.robots["second"].sensors["gps"].reading) == repr(at_spawn)


def test_the_battery_of_a_new_robot_counts_from_its_first_sample() -> None:
    with world_of_sam() as world:
        world.advance(100.0)
        settings = {"kind": "battery", "capacity_wh": 10.0, "base_load": 360.0, "start_percent": 100.0}
        world.spawn("second", {**BESIDE, "overrides": {"sensors": {"battery": settings}}})
        battery = world.robots["second"].sensors["battery"]
        assert battery.reading.percent == 100.0
        world.advance(1.0)
        assert battery.reading.percent == pytest.approx(99.0, abs=0.5)  # 1 % per s, and the actuators


def test_references_of_a_user_stay_valid() -> None:
    with world_of_sam() as world:
        sam = world.robots["sam"]
        propeller, dvl, pressure = sam.actuators["thruster1"], sam.sensors["dvl"], sam.sensors["depth300"]
        world.advance(0.5)
        world.spawn("second", BESIDE)
        propeller.command(rpm=700)
        world.advance(2.0)
        assert sam is not world.robots["second"]
        assert sam.twist.linear[0] > 0.1
        assert np.array_equal(sam.pose.position, world.robots["sam"].pose.position)
        assert world.robots["sam"].actuators["thruster1"].feedback == propeller.feedback
        assert pressure.reading == world.robots["sam"].sensors["depth300"].reading
        assert dvl.reading is world.robots["sam"].sensors["dvl"].reading


def test_a_change_keeps_the_objects_of_all_that_stays() -> None:
    with skerry.load("drone_recovers_sam", seed=3) as world:
        world.advance(0.2)
        groups = ("actuators", "sensors", "controllers", "acoustics", "ropes", "forces")

        def objects() -> dict[str, Any]:
            found: dict[str, Any] = {"world": world, **world.objects, **world.ropes}
            for name, robot in world.robots.items():
                found |= {name: robot, f"{name}/keyboard": robot.keyboard}
                for group in groups:
                    found |= {f"{name}/{group}/{part}": it for part, it in getattr(robot, group).items()}
            return found

        before = objects()
        world.spawn("ball", {**FLOAT, "pose": {"position": [60, 0, 0]}})
        after = objects()
        assert all(after[name] is part for name, part in before.items())
        userdata = world.robots["sam"].engine.part("userdata")
        forces = [law for robot in world.robots.values() for law in robot.forces.values() if law.memory.size]
        assert all(np.shares_memory(law.memory, userdata) for law in forces)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_scenario_without_changes_has_the_same_vehicles_and_objects(name: str) -> None:
    """Robots and objects are kept only if their settings, read again, are equal."""
    first = load_scenario(name)
    again = load_scenario(apply_changes(first.scenario, ()))
    assert again.vehicles == first.vehicles
    assert again.scenario.objects == first.scenario.objects


def test_controllers_in_the_native_loop_continue_by_the_bit_after_a_change() -> None:
    with skerry.load("demo", seed=3) as alone, skerry.load("demo", seed=3) as shared:
        for world in (alone, shared):
            world.advance(1.0)
        shared.spawn("ball", {**FLOAT, "pose": {"position": [60, 0, 0]}})
        for world in (alone, shared):
            world.advance(1.0)
        for name in ("quadrotor", "evolo", "boat_1", "boat_2", "boat_3"):
            assert np.array_equal(alone.robots[name].pose.position, shared.robots[name].pose.position), name


@pytest.mark.parametrize("failing", ["commands of the new robot", "copy of the state"])
def test_a_change_that_fails_leaves_the_world_as_it_was(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**BESIDE, "commands": {"thruster1": {"percent": 5.0}}} if "commands" in failing else BESIDE

    def refuse(self: AcousticChannel, former: AcousticChannel) -> None:
        raise SkerryError("refused")

    with world_of_sam() as alone, world_of_sam() as shared:
        sam = shared.robots["sam"]
        for world in (alone, shared):
            world.robots["sam"].actuators["thruster1"].command(rpm=600)
            world.robots["sam"].sensors["depth300"].deliver = lambda ticks, readings: None
            world.advance(1.0)
        with monkeypatch.context() as patch:
            if failing == "copy of the state":
                patch.setattr(AcousticChannel, "copy_from", refuse)
            with pytest.raises(SkerryError, match=r"thruster1|refused"):
                shared.spawn("second", settings)
        assert list(shared.robots) == ["sam"]
        assert shared.changes == ()
        for world in (alone, shared):
            world.advance(1.0)
        assert shared.snapshot().data == alone.snapshot().data
        sam.actuators["thruster1"].command(rpm=-600)
        shared.advance(0.5)
        assert shared.robots["sam"].actuators["thruster1"].setpoint == -600
        shared.spawn("second", BESIDE)
        assert sam.actuators["thruster1"].setpoint == -600


def test_a_changed_world_is_reset_to_the_start_of_its_scenario() -> None:
    with world_of_sam() as world:
        sam = world.robots["sam"]
        sam.actuators["thruster1"].command(rpm=600)
        world.advance(1.0)
        assert sam.sensors["depth300"].reading is not None
        next(iter(sam.acoustics.values())).write("hello")
        world.spawn("second", {**BESIDE, "commands": {"thruster1": {"rpm": 300}}})
        world.advance(0.5)
        world.reset()
        with skerry.load(world.scenario) as fresh:
            assert world.snapshot().data == fresh.snapshot().data
            for one in (world, fresh):
                one.advance(0.5)
            assert world.snapshot().data == fresh.snapshot().data


def test_a_robot_of_the_same_name_and_other_settings_is_another_robot() -> None:
    with world_of_sam() as world:
        world.spawn("second", BESIDE)
        first = world.robots["second"]
        world.advance(0.5)
        kept, before = world.snapshot(), world.fingerprint()
        world.delete("second")
        world.spawn("second", {"vehicle": "okon", "pose": {"position": [0, 10, -5]}})
        world.advance(0.5)
        world.restore(kept)
        assert world.robots["second"] is not first
        assert world.robots["second"].vehicle == first.vehicle
        assert world.fingerprint() == before


def test_a_subscribed_sensor_delivers_readings_after_a_change_until_it_is_unsubscribed() -> None:
    readings: list[Any] = []
    with world_of_sam() as world:
        pressure = world.robots["sam"].sensors["depth300"]
        pressure.deliver = lambda ticks, values: readings.extend(values)
        world.advance(0.4)
        count = len(readings)
        world.spawn("second", BESIDE)
        world.advance(0.4)
        assert len(readings) == 2 * count > 0
        pressure.deliver = None
        world.advance(0.4)
        assert len(readings) == 2 * count


def test_a_spawned_robot_can_be_driven() -> None:
    with world_of_sam() as world:
        world.advance(1.0)
        world.spawn("second", BESIDE)
        second = world.robots["second"]
        start = second.pose.position.copy()
        assert np.allclose(start, [0, 10, -5])
        second.actuators["thruster1"].command(rpm=800)
        second.actuators["thruster2"].command(rpm=800)
        world.advance(3.0)
        assert second.pose.position[0] > start[0] + 0.3
        assert second.sensors["depth300"].reading is not None


def test_an_object_is_added_floats_and_is_removed() -> None:
    with world_of_sam() as world:
        world.spawn("ball", FLOAT)
        world.advance(2.0)
        assert abs(world.objects["ball"].pose.position[2]) < 0.5
        world.delete("ball")
        assert "ball" not in world.objects
        world.advance(0.1)


def test_a_snapshot_restores_removed_robots() -> None:
    with world_of_sam() as world:
        sam = world.robots["sam"]
        first = world.snapshot()
        world.spawn("second", BESIDE)
        world.robots["second"].actuators["thruster1"].command(rpm=800)
        world.advance(1.0)
        with_both = world.snapshot()
        world.advance(1.0)
        later = world.fingerprint()
        world.restore(first)
        assert list(world.robots) == ["sam"]
        assert world.time == 0.0
        world.restore(with_both)
        assert list(world.robots) == ["sam", "second"]
        world.advance(1.0)
        assert world.fingerprint() == later
        assert np.array_equal(sam.pose.position, world.robots["sam"].pose.position)
        with world_of_sam() as other:
            other.restore(with_both)
            other.advance(1.0)
            assert other.fingerprint() == later


def test_a_name_that_is_taken_or_unknown_is_refused_and_nothing_changes() -> None:
    with world_of_sam() as world:
        before = world.fingerprint()
        with pytest.raises(SkerryError, match="already"):
            world.spawn("sam", BESIDE)
        with pytest.raises(UnknownName, match="'sam'"):
            world.delete("samm")
        with pytest.raises(SkerryError, match="samx"):
            world.spawn("third", {"vehicle": "samx"})
        assert world.fingerprint() == before
        world.advance(0.1)


def test_a_transceiver_that_is_added_later_receives_and_is_received() -> None:
    """Direct sound over 100 m at 1500 m/s takes 67 ms: sent at 1 s, it arrives well before 2 s."""
    with world_of_sam() as world:
        world.advance(1.0)
        world.spawn("second", {"vehicle": "sam", "pose": {"position": [100, 0, -5]}})
        one = next(iter(world.robots["sam"].acoustics.values()))
        other = next(iter(world.robots["second"].acoustics.values()))
        world.teleport("sam", DEEP)
        one.write("hello")
        world.advance(1.0)
        heard = other.read()
        assert heard is not None
        assert heard.data == "hello"
        other.write("and you")
        world.advance(0.02)  # the signal is still travelling
        world.spawn("third", {"vehicle": "sam", "pose": {"position": [0, 40, -5]}})
        world.advance(1.0)
        answer = one.read()
        assert answer is not None
        assert answer.data == "and you"
        while one.read() is not None:
            pass  # its echoes
        other.write("nobody hears the dead")
        world.advance(0.02)
        world.delete("second")
        world.advance(1.0)
        assert one.read() is None


def test_ropes_stay_tied_and_become_free_when_their_holder_is_removed() -> None:
    scenario = {
        "objects": {
            "load": {
                "geometry": {"kind": "sphere", "radius": 0.2},
                "mass": 40.0,
                "motion": "dynamic",
                "pose": {"position": [0, 0, 2]},
            },
        },
        "ropes": {"line": {"start": [0.0, 0.0, 4.0], "end": "load", "length": 2.0, "diameter": 0.01}},
    }
    with skerry.load(scenario) as world, skerry.load(scenario) as alone:
        for one in (world, alone):
            one.advance(1.0)
        rope = world.ropes["line"]
        world.spawn("ball", {**FLOAT, "pose": {"position": [8, 0, 0]}})
        for one in (world, alone):
            one.advance(1.0)
        assert np.array_equal(rope.points, alone.ropes["line"].points)
        assert rope.tension[0] == pytest.approx(40 * 9.81, rel=0.05)
        world.delete("load")
        assert not rope.loaded
        world.advance(1.0)
        assert rope.tension.max() < 5.0  # N; its own weight is 1.5 N


def test_a_run_notifies_its_interfaces_and_can_be_reset() -> None:
    with world_of_sam() as world, Runner(world, None) as runner:
        runner.run(0.1)
        runner.inbox.put(Spawn("second", BESIDE))
        runner.run(0.1)
        assert "second" in world.robots
        runner.inbox.put(Delete("sam"))
        runner.run(0.1)
        assert list(world.robots) == ["second"]
        runner.reset()
        assert list(world.robots) == ["sam"]


def test_adding_and_removing_can_be_recorded() -> None:
    for command in (Spawn("second", {"vehicle": "sam", "pose": {"position": (0, 10, -5)}}), Delete("second")):
        assert command_from_text(command_to_text(command)) == command


def test_the_pinger_of_a_new_object_keeps_to_its_schedule() -> None:
    """A pinger at 0.5 Hz transmits at 0, 2, 4 … s, also if it was added at 1 s."""
    with world_of_sam() as world:
        world.advance(1.0)
        pinger = {"kind": "pinger", "link": "base_link", "frequency": 0.5}
        world.spawn("second", {**BESIDE, "overrides": {"acoustics": {"beacon": pinger}}})
        assert world.robots["second"].acoustics["beacon"].next_send == 400  # ticks of 5 ms
