"""Observers see past samples as if the world had stopped for them, and do not change the world."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

import skerry
from skerry.core.clock import Rate
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.parts.observer import Observer
from skerry.physics.engine import EngineError
from skerry.runner import Runner

STEPS = 1100  # more than the engine stores if every step is sampled


class StateRecorder(Observer):
    """Observer that records poses and states."""

    def __init__(self, world, frequency):
        self.world, self.rate = world, Rate.of(Fraction(frequency), world.scenario.step)
        self.found = []

    def on_sample(self, tick):
        world = self.world
        assert world.tick == tick
        robots = [
            (
                robot.position.tolist(),
                robot.twist.linear.tolist(),
                [actuator.feedback for actuator in robot.actuators.values()],
                [robot.joint_position(joint) for joint in robot.joints],
            )
            for robot in world.robots.values()
        ]
        ropes = [
            (rope.points.tolist(), rope.tension.tolist(), rope.length, rope.phase) for rope in world.ropes.values()
        ]
        self.found.append((tick, world.time, robots, ropes))


@pytest.mark.parametrize(("scenario", "frequency"), [("sam_in_the_bay", 200), ("drone_recovers_sam", 23)])
def test_past_samples_equal_those_of_a_world_that_stops(scenario, frequency):
    found, ends = [], []
    for stops in (True, False):
        with skerry.load(scenario, seed=3) as world:
            seeing = StateRecorder(world, frequency)
            first = next(iter(world.robots.values()))
            actuator = next(iter(first.actuators.values()))
            actuator.command(**{actuator.keyword: actuator.limits[1]})
            while stops and world.tick < STEPS:
                world.advance_steps(1)
                if seeing.rate.is_due(world.tick):
                    seeing.on_sample(world.tick)
            if not stops:
                world.advance_steps(STEPS, [seeing])
            found.append(seeing.found)
            ends.append((world.tick, world.time, world.fingerprint()))
    assert len(found[0]) > 20
    assert found[0] == found[1]
    assert ends[0] == ends[1]


class ChannelRecorder(Observer):
    """Observer that records the state channels and the power of all actuators."""

    needs_replay = False

    def __init__(self, world):
        self.world, self.rate = world, Rate.of(Fraction(50), world.scenario.step)
        self.found = []

    def all(self, read):
        actuators = [actuator for robot in self.world.robots.values() for actuator in robot.actuators.values()]
        return [[read(actuator.state_channel), actuator.power_from(read)] for actuator in actuators]

    def on_samples(self, past):
        all_read = self.all(past.read)
        for row, tick in enumerate(past.ticks):
            numbers = [[None if found is None else found[row].item() for found in pair] for pair in all_read]
            self.found.append((tick, past.times[row], numbers))

    def on_sample(self, tick):
        numbers = [
            [actuator.feedback, actuator.power]
            for robot in self.world.robots.values()
            for actuator in robot.actuators.values()
        ]
        self.found.append((tick, self.world.time, numbers))


@pytest.mark.parametrize("vehicle", ["sam", "bluerov2", "lolo", "quadrotor", "evolo", "otter", "husky", "remus100"])
def test_state_channels_have_the_same_values_in_past_samples(vehicle):
    found = []
    for stops in (True, False):
        with skerry.load(vehicle_alone(vehicle), seed=1) as world:
            for actuator in world.robots["it"].actuators.values():
                actuator.command(**{actuator.keyword: actuator.limits[0] + 0.8 * np.ptp(actuator.limits)})
            reading = ChannelRecorder(world)
            while stops and world.tick < 340:
                world.advance_steps(reading.rate.next_due(world.tick) - world.tick)
                reading.on_sample(world.tick)
            if not stops:
                world.advance_steps(340, [reading])
            found.append(reading.found)
    assert len(found[0]) == 85
    assert found[0] == found[1]
    assert len({str(numbers) for _, _, numbers in found[0]}) > 10  # the values change


def test_memory_outside_the_engine_has_no_past():
    with skerry.load("sam_empty") as world, pytest.raises(EngineError, match="not a view of the engine's state"):
        world._engine.sample_log.column_of(np.zeros(1))


def vehicle_alone(vehicle):
    pose = {"position": [0, 0, 3 if vehicle == "quadrotor" else -2]}
    return {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {"it": {"vehicle": vehicle, "pose": pose}},
    }


def test_the_world_is_unchanged_after_an_observer_fails():
    class Failing(StateRecorder):
        def on_sample(self, tick):
            raise RuntimeError("cannot read")

    with skerry.load("sam_empty") as world, skerry.load("sam_empty") as other:
        with pytest.raises(RuntimeError, match="cannot read"):
            world.advance_steps(50, [Failing(world, 50)])
        other.advance_steps(50)
        assert world.fingerprint() == other.fingerprint()
        world.advance_steps(50)
        other.advance_steps(50)
        assert world.fingerprint() == other.fingerprint()


@pytest.mark.parametrize("scenario", ["sam_in_the_bay", "drone_recovers_sam"])
def test_a_node_publishes_the_same_for_past_samples_as_for_a_stopped_world(scenario):
    """Compare feedback of actuators, ropes and frames, with the stamps at which they were due."""
    said = []
    for pieces in (40, 1):
        ros = Ros().build()
        assert isinstance(ros, RosInterface)
        with skerry.load(scenario) as world, Runner(world, None, {"ros": ros}) as runner:
            runner.run(0.0)
            box = SubscriberQueue()
            timed = [timer for timer in ros.schedule.timed if timer.uses_samples]
            ros.bus.set_subscriptions(box, [timer.topic.name for timer in timed])
            for _ in range(pieces):
                runner.run(0.8 / pieces)
            found = defaultdict(list)
            for outgoing in box.drain(0):
                found[outgoing.topic.name].append(outgoing.cdr)
            said.append(dict(found))
            if pieces == 1:
                assert ros.next_due(world.tick) is None
    assert np.all([len(found) == 8 for found in said[1].values()])
    assert len(said[1]) > 3
    assert said[0] == said[1]
