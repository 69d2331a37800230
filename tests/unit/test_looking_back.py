"""What sensors look at on the way is measured afterwards, and gives the same bytes as stopping for each of them."""

import pickle

import pytest

import skerry
from skerry.core.errors import PhysicsDiverged
from skerry.physics.engine import MOST_LOOKS


def all_readings(monkeypatch, stop, seconds=1.7):
    """Everything that SAM's light sensors measure, in the order in which it is measured."""
    found = []
    with skerry.load("sam_in_the_bay", seed=2) as world:
        sensors = {k: s for k, s in world.robots["sam"].sensors.items() if not k.startswith("camera")}
        for name, sensor in sensors.items():
            if stop:
                sensor.sensor.sees_bodies_only = sensor.sensor.heavy = False
            sensor.deliver = lambda tick, reading, name=name: found.append((name, tick, pickle.dumps(reading)))
            _ = sensor.reading
        world._sort_sensors()
        stops = []
        advance = world._engine.advance
        monkeypatch.setattr(world._engine, "advance", lambda *a, **k: stops.append(a[0]) or advance(*a, **k))
        world.advance(seconds)
        return found, stops


def test_looking_back_gives_the_same_bytes_as_stopping(monkeypatch):
    stopped, many = all_readings(monkeypatch, stop=True)
    back, few = all_readings(monkeypatch, stop=False)
    assert sorted(back) == sorted(stopped)
    assert len(back) > 200
    assert len(few) < len(many) / 3


def test_readings_of_one_sensor_come_in_the_order_of_time(monkeypatch):
    back, _ = all_readings(monkeypatch, stop=False)
    times = [pickle.loads(reading).time for name, _, reading in back if name == "imu"]
    assert times == sorted(times) and len(set(times)) == len(times)


def test_there_is_room_for_all_that_is_due():
    """A sensor at every step, for longer than the engine keeps."""
    overrides = {
        "robots": {"sam": {"overrides": {"sensors": {"imu": {"frequency": 200}, "sbg_imu": {"frequency": 1}}}}}
    }
    with skerry.load("sam_empty", overrides=overrides) as world:
        imu, slow = world.robots["sam"].sensors["imu"], world.robots["sam"].sensors["sbg_imu"]
        _ = imu.reading, slow.reading
        times = {"imu": [], "slow": []}
        for name, sensor in (("imu", imu), ("slow", slow)):
            sensor.deliver = lambda tick, reading, name=name: times[name].append(reading.time)
        steps = 3 * MOST_LOOKS + 17
        world.advance_steps(steps)
        assert times["imu"] == pytest.approx([k / 200 for k in range(1, steps + 1)])
        assert times["slow"] == pytest.approx([1.0, 2.0, 3.0])


def test_what_was_due_before_a_divergence_is_measured():
    with skerry.load("sam_empty") as world:
        imu = world.robots["sam"].sensors["imu"]
        _ = imu.reading
        world.advance(0.1)
        world._engine.part("qvel")[0, 5] = 9.9e5  # a spin that cannot go well
        with pytest.raises(PhysicsDiverged):
            world.advance(2.0)
        assert imu._measured == imu.rate.count(world.tick)
