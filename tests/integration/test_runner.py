"""The runner keeps its speed, ends on time, can be paused and stopped, and serves interfaces."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.commands import (
    Actuate,
    GiveControl,
    Halt,
    HoldKeys,
    LoadWorld,
    Operate,
    Pause,
    Reset,
    Restore,
    SetSpeed,
    Step,
    Stop,
    TakeSnapshot,
    Teleport,
    TriggerSensor,
)
from skerry.core.errors import PhysicsDiverged, SkerryError
from skerry.core.frames import Pose
from skerry.parts.interface import Command, Inbox, Interface, SensorReading
from skerry.runner import MAX_COMMANDS, Runner
from skerry.world import World, build_world


class Listener(Interface):
    """Interface that records ticks and readings, and may request a period."""

    def __init__(self, period: int | None = None, subscriptions: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.period, self.subscriptions = period, subscriptions
        self.ticks: list[int] = []
        self.readings: list[SensorReading] = []
        self.closed = 0

    def start(self, world: World, inbox: Inbox) -> None:
        self.world, self.inbox = world, inbox

    def next_due(self, tick: int) -> int | None:
        return None if self.period is None else (tick // self.period + 1) * self.period

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self.ticks.append(self.world.tick)
        self.readings += readings

    def close(self) -> None:
        self.closed += 1


def test_a_run_ends_at_its_duration_whatever_the_speed() -> None:
    for speed in (None, 200.0):
        with skerry.load("torpedo_in_still_water") as world:
            Runner(world, speed).run(3.0)
            assert world.time == 3.0


def test_a_run_without_end_can_be_stopped_from_another_thread() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, 1.0)
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        runner.stop()
        thread.join(timeout=120)
        assert not thread.is_alive()


def test_close_first_ends_a_run_in_another_thread() -> None:
    listener = Listener(period=1)
    for _ in range(5):
        with skerry.load("torpedo_in_still_water") as world:
            with Runner(world, None, {"it": listener}) as runner:
                thread = threading.Thread(target=runner.run, args=(None,))
                thread.start()
                runner.inbox.put(Pause(False)).result(60)
            seen = len(listener.ticks)
            thread.join(timeout=60)
            assert not thread.is_alive()
            assert len(listener.ticks) == seen  # nothing more after it was closed


def test_watch_gets_the_real_time_factor() -> None:
    accepted: list[float] = []
    with skerry.load("torpedo_in_still_water") as world:
        Runner(world, 20.0).run(4.0, accepted.append)
    assert accepted
    assert all(factor > 0 for factor in accepted)


def test_an_interface_sees_the_world_at_its_due_ticks() -> None:
    listener = Listener(period=7)
    with skerry.load("torpedo_in_still_water") as world, Runner(world, None, {"it": listener}) as runner:
        runner.run(0.2)
        assert set(range(0, world.tick + 1, 7)) <= set(listener.ticks)
    assert listener.closed == 1


class ClockPublisher(Listener):
    """Interface that publishes at every second tick, independent of the state."""

    def next_publish_tick(self, tick: int) -> int | None:
        return (tick // 2 + 1) * 2


def test_a_message_without_state_is_on_time_at_full_speed_and_a_little_late_when_paced() -> None:
    """At speed 10 the delay is the lead, 0.02 s of wall time, and one step: 41 steps of 1/200 s."""
    with skerry.load("torpedo_in_still_water") as world:
        at_full_speed, paced = ClockPublisher(), ClockPublisher()
        with Runner(world, None, {"it": at_full_speed}) as runner:
            runner.run(0.1)
        with Runner(world, 10.0, {"it": paced}) as runner:
            runner.run(1.0)
    assert set(range(0, 21, 2)) <= set(at_full_speed.ticks)
    assert max(np.diff(paced.ticks)) == 41


def test_an_interface_gets_every_reading_of_its_subscriptions_and_no_other() -> None:
    listener = Listener(subscriptions=frozenset({("sam", "imu"), ("sam", "gps")}))
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"it": listener}) as runner:
        runner.run(1.0)
        imu = [new for new in listener.readings if new.sensor == "imu"]
        assert [new.tick for new in imu] == list(range(10, 201, 10))
        assert [new.reading.time for new in imu] == pytest.approx([new.tick * 0.005 for new in imu])
        gps = [new.reading for new in listener.readings if new.sensor == "gps"]
        assert gps == [None] * 10  # no fix under water; a missing reading is delivered too
        assert {new.sensor for new in listener.readings} == {"imu", "gps"}
        listener.subscriptions = frozenset()
        listener.readings.clear()
        runner.run(1.0)
        assert not listener.readings


def test_a_reading_from_a_thread_is_delivered_with_its_due_tick() -> None:
    listener = Listener(subscriptions=frozenset({("sam", "sidescan")}))
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"it": listener}) as runner:
        runner.run(0.5)
        runner.run(0.1)
        assert [new.tick for new in listener.readings][:10] == list(range(10, 101, 10))
        assert all(new.reading.time == pytest.approx(new.tick * 0.005) for new in listener.readings)


def test_commands_are_executed_between_steps_and_return_results() -> None:
    with skerry.load("sam_in_the_bay") as world:
        runner = Runner(world, None)
        accepted = runner.inbox.put(Actuate("sam", "thruster1", {"rpm": 700.0}))
        moved = runner.inbox.put(Teleport.to("sam", Pose([5, 6, -3], [0, 0, 0, 1])))
        wrong = runner.inbox.put(Actuate("sam", "thruster9", {"rpm": 700.0}))
        runner.inbox.put(TriggerSensor("sam", "leak"))
        runner.run(0.05)
        assert accepted.result() is True
        assert world.robots["sam"].actuators["thruster1"].setpoint == 700.0
        assert world.robots["sam"].actuators["thruster1"].owner == "external"
        moved.result()
        assert world.robots["sam"].pose.position[0] == pytest.approx(5, abs=0.2)
        assert not world.robots["sam"].sensors["leak"].reading.leaked  # until the next reading is due
        runner.run(0.15)
        assert world.robots["sam"].sensors["leak"].reading.leaked
        with pytest.raises(SkerryError, match="thruster9"):
            wrong.result()


def test_a_paused_world_stands_still_but_executes_commands_and_can_be_stepped() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        runner.inbox.put(Pause(True))
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        try:
            runner.inbox.put(Step(3)).result(30)
            first = runner.inbox.put(TakeSnapshot())
            for _ in range(2000):
                if world.tick == 3:
                    break
                time.sleep(0.005)
            assert world.tick == 3
            assert first.result(30)
            runner.inbox.put(Reset()).result(30)
            assert world.tick == 0
            runner.inbox.put(SetSpeed(None)).result(30)
            runner.inbox.put(Pause(False)).result(30)
        finally:
            runner.stop()
            thread.join(timeout=120)


def test_a_snapshot_taken_by_command_can_be_restored_by_command() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        taken = runner.inbox.put(TakeSnapshot())
        runner.run(0.5)
        runner.inbox.put(Restore(taken.result()))
        runner.inbox.put(Pause(True))
        runner.inbox.execute(runner)
        assert world.tick == 0


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_a_speed_that_makes_no_sense_is_refused(speed: float) -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        refused = runner.inbox.put(SetSpeed(speed))
        runner.run(0.1)
        with pytest.raises(SkerryError, match="above 0"):
            refused.result()


def test_too_many_commands_are_refused_rather_than_kept() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        futures: list[Any] = [runner.inbox.put(Reset()) for _ in range(MAX_COMMANDS + 1)]
        with pytest.raises(SkerryError, match="fewer"):
            futures[-1].result()
        runner.close()
        assert futures[0].cancelled()


@dataclass(frozen=True)
class PutAgain(Command):
    """Command that queues itself again whenever it is executed."""

    def apply(self, run: Runner) -> None:
        run.inbox.put(self)


def test_a_command_that_queues_itself_does_not_stop_the_world() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        runner.inbox.put(PutAgain())
        runner.run(1.0)
        assert world.time == 1.0


def test_a_run_can_be_ended_by_a_command() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        runner.inbox.put(Stop())
        runner.run(1000.0)
        assert world.time < 1000.0


@dataclass(frozen=True)
class Ruin(Command):
    """Command that makes the physics diverge."""

    def apply(self, run: Runner) -> None:
        run.world._engine.part("qvel")[0, :] = 1e9


def test_a_world_that_diverges_waits_for_a_reset_and_continues(caplog: pytest.LogCaptureFixture) -> None:
    with skerry.load("torpedo_in_still_water") as world, Runner(world, None, {"peer": Listener()}) as runner:
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        runner.inbox.put(Ruin()).result(60)
        end = time.monotonic() + 60
        while not runner.paused and time.monotonic() < end:
            time.sleep(0.01)
        assert runner.paused
        assert [record.levelname for record in caplog.records if "diverged" in record.message] == ["ERROR"]
        runner.inbox.put(Step(3)).result(60)  # it still cannot
        runner.inbox.put(Reset()).result(60)
        runner.inbox.put(Pause(False)).result(60)
        while not world.time > 1.0 and time.monotonic() < end:
            time.sleep(0.01)
        assert world.time > 1.0
        runner.stop()
        thread.join(timeout=60)


def test_a_run_with_a_duration_fails_when_its_world_diverges() -> None:
    with skerry.load("torpedo_in_still_water") as world, Runner(world, None, {"peer": Listener()}) as runner:
        runner.inbox.put(Ruin())
        with pytest.raises(PhysicsDiverged):
            runner.run(1.0)


def test_a_teleport_may_set_a_velocity() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None)
        name = next(iter(world.robots))
        pose = Pose([1.0, 2.0, -9.0], [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # headed north
        runner.inbox.put(Teleport.to(name, pose, (0.0, 1.5, 0.0)))
        runner.inbox.execute(runner)
        assert world.robots[name].twist.linear == pytest.approx([1.5, 0.0, 0.0], abs=1e-12)
        assert world.robots[name].pose.position == pytest.approx([1.0, 2.0, -9.0])


def test_another_world_may_follow_and_one_that_cannot_be_built_changes_nothing() -> None:
    built: list[World] = []

    def make(source: Any, seed: int | None) -> World:
        built.append(build_world(source, seed))
        return built[-1]

    with skerry.load("torpedo_in_still_water") as world:
        runner = Runner(world, None, make_world=make)
        refused = runner.inbox.put(LoadWorld("torpedo_in_stil_water"))
        runner.run(0.1)
        assert isinstance(refused.exception(), SkerryError)
        assert world.time == 0.1 and runner.successor is None
        runner.inbox.put(LoadWorld(None, 5))
        runner.run(10.0)
        assert world.time < 1.0
        assert runner.successor is built[0]
        assert built[0].scenario == world.scenario.model_copy(update={"seed": 5})
        with built[0], pytest.raises(SkerryError, match="cannot load another world"):
            LoadWorld("demo").apply(Runner(built[0]))


def test_interfaces_are_added_and_removed_while_a_world_runs() -> None:
    with skerry.load("sam_empty") as world, Runner(world, None, {"first": Listener()}) as runner:
        runner.run(0.1)
        late = Listener(subscriptions=frozenset([("sam", "imu")]))
        runner.add_interface("late", late)
        runner.run(0.2)
        assert min(late.ticks) > 20
        assert {(new.robot, new.sensor) for new in late.readings} == {("sam", "imu")}
        with pytest.raises(SkerryError, match="already"):
            runner.add_interface("late", Listener())
        runner.remove_interface("late")
        seen = len(late.ticks)
        runner.run(0.1)
        assert (late.closed, len(late.ticks)) == (1, seen)
        with pytest.raises(SkerryError, match="did you mean 'first'"):
            runner.remove_interface("fist")


def test_no_interface_sees_skipped_steps() -> None:
    listener = Listener(subscriptions=frozenset([("sam", "imu")]))
    with skerry.load("sam_empty") as world, Runner(world, None, {"it": listener}) as runner:
        runner.run(0.1)
        runner.skip(200)
        assert world.tick == 220
        runner.run(0.1)
        ticks = [new.tick for new in listener.readings]
        assert not [tick for tick in ticks if 20 < tick <= 220]
        assert [tick for tick in ticks if tick > 220]


def test_a_new_subscription_in_a_paused_world_gets_the_latest_due_reading() -> None:
    class SlowListener(Listener):
        def on_idle(self, readings: Sequence[SensorReading]) -> None:
            self.readings += readings
            if self.readings:
                runner.stop()
            self.subscriptions = frozenset([("sam", "depth20")])

    listener = SlowListener()
    with skerry.load("sam_empty") as world, Runner(world, None, {"it": listener}) as runner:
        world.advance_steps(33)
        runner.pause()
        before = world.fingerprint()
        runner.run(None)
        (new,) = listener.readings
        assert (new.tick, world.tick) == (32, 33)  # 25 Hz at steps of 5 ms
        assert new.reading.depth == pytest.approx(
            -float(world.robots["sam"].link_position("pressure_link")[2]), abs=0.5
        )
        assert world.fingerprint() == before


def test_keys_held_by_command_are_those_and_no_others() -> None:
    with skerry.load("sam_empty") as world:
        runner, sam = Runner(world, None), world.robots["sam"]
        HoldKeys("sam", ("up", "a")).apply(runner)
        assert set(sam.keyboard.down) == {"up", "a"}
        HoldKeys("sam", ("a", "d")).apply(runner)
        assert set(sam.keyboard.down) == {"a", "d"}
        assert sam.actuators["thruster1"].setpoint == 0
        with pytest.raises(SkerryError, match="no key 'x1'"):
            HoldKeys("sam", ("x1",)).apply(runner)
        GiveControl("sam", "external").apply(runner)
        assert sam.keyboard.down == ()
        with pytest.raises(SkerryError, match="external has control"):
            Operate("sam", "thruster1", {"rpm": 100}).apply(runner)
        Halt("sam").apply(runner)
        assert sam.control == "manual"
        Operate("sam", "thruster1", {"rpm": 100}).apply(runner)
        assert sam.actuators["thruster1"].setpoint == 100


def test_a_moved_robot_keeps_its_orientation_unless_one_is_given() -> None:
    with skerry.load("sam_empty") as world:
        runner, sam = Runner(world, None), world.robots["sam"]
        before = sam.pose.orientation
        Teleport("sam", (5.0, 6.0, -7.0)).apply(runner)
        assert sam.pose.position == pytest.approx([5, 6, -7])
        assert sam.pose.orientation == pytest.approx(before)
        Teleport("sam", (5.0, 6.0, -7.0), (0.0, 0.0, 1.0, 0.0)).apply(runner)
        assert np.abs(sam.pose.orientation) == pytest.approx([0, 0, 1, 0])
        with pytest.raises(SkerryError, match="did you mean 'sam'"):
            Teleport("sma", (0.0, 0.0, 0.0)).apply(runner)
