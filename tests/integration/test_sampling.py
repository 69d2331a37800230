"""Buffered samples give the same bytes as stopping the world for each sensor."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import skerry
from skerry.core.clock import Rate
from skerry.core.errors import PhysicsDiverged
from skerry.sensors.lidar import LidarScanner
from skerry.world.sampling.motion_log import MotionLog


def all_readings(monkeypatch, stop, seconds=1.7):
    """Return all readings of SAM's sensors without cameras, in the order of measurement."""
    found = []
    with skerry.load("sam_in_the_bay", seed=2) as world:
        sensors = {k: s for k, s in world.robots["sam"].sensors.items() if not k.startswith("camera")}
        for name, sensor in sensors.items():
            if stop:
                sensor.sensor.execution = "now"
            sensor.deliver = lambda ticks, readings, name=name: found.extend(
                (name, tick, pickle.dumps(reading)) for tick, reading in zip(ticks, readings, strict=True)
            )
            _ = sensor.reading
        world._group_sensors()
        stops = []
        advance = world._engine.advance
        monkeypatch.setattr(world._engine, "advance", lambda *a, **k: stops.append(a[0]) or advance(*a, **k))
        world.advance(seconds)
        return found, stops


def test_buffered_samples_give_the_same_bytes_as_stopping(monkeypatch):
    stopped, many = all_readings(monkeypatch, stop=True)
    back, few = all_readings(monkeypatch, stop=False)
    assert sorted(back) == sorted(stopped)
    assert len(back) > 200
    assert len(few) < len(many) / 3


MOUNT = {"link": "base_link", "frequency": 10}
RAY_SENSORS = {
    "sidescan_by_the_surface": {**MOUNT, "kind": "sidescan", "multipath_db": 6, "interferometric": True},
    "mbes_with_errors": {**MOUNT, "kind": "mbes", "range_noise": 0.1, "tvg": False},
    "altimeter": {**MOUNT, "kind": "altimeter", "frequency": 40},
    "msis": {**MOUNT, "kind": "msis", "frequency": 20},
    "fls": {**MOUNT, "kind": "fls", "beams": 16, "rays_per_beam": 16, "bins": 40},
    "dvl_in_waves": {**MOUNT, "kind": "dvl", "position": [0, 0, 0.1], "frequency": 50},
    "dvl_through_water": {**MOUNT, "kind": "dvl", "track": "auto", "max_range": 6},
    "depth": {**MOUNT, "kind": "locked_direction_depth", "max_range": 5},
    "scanner": {**MOUNT, "kind": "lidar", "pattern": "planar", "position": [0, 0, 2], "pitch_deg": 25, "dropout": 0.2},
    "lidar": {**MOUNT, "kind": "lidar", "pattern": "vlp_16", "columns": 36, "position": [0, 0, 2]},
}


def test_ray_sensors_measure_the_same_bytes_in_batches_and_one_by_one():
    """Test all kinds, and a DVL at the surface in waves; in one batch, in several, and with stops."""
    changes = {
        "robots": {"sam": {"pose": {"position": [0, 0, -0.1]}, "overrides": {"sensors": RAY_SENSORS}}},
        "terrain": {"size": [60, 60], "level": -8},
    }
    runs = []
    for pieces in (1, 9, 180):
        found = {}
        with skerry.load("sam_in_the_bay", overrides=changes) as world:
            sensors = world.robots["sam"].sensors
            for name in RAY_SENSORS:
                sensors[name].deliver = lambda ticks, readings, name=name, found=found: found.update(
                    {(name, tick): pickle.dumps(reading) for tick, reading in zip(ticks, readings, strict=True)}
                )
            for _ in range(pieces):
                world.advance_steps(360 // pieces)
            for name in RAY_SENSORS:
                sensors[name].finish()
        runs.append(found)
    assert runs[0] == runs[1] == runs[2]
    assert {name for name, _ in runs[0]} == set(RAY_SENSORS)
    washed = [pickle.loads(reading) for (name, _), reading in runs[0].items() if name == "dvl_in_waves"]
    assert 5 < sum(reading is None for reading in washed) < len(washed) - 5
    through = [pickle.loads(reading) for (name, _), reading in runs[0].items() if name == "dvl_through_water"]
    assert {reading.track for reading in through if reading is not None} == {"water"}


def test_a_ray_sensor_measures_no_more_samples_in_a_call_than_max_batch():
    with skerry.load("sam_in_the_bay", overrides={"terrain": {"size": [60, 60]}}) as world:
        dvl, told = world.robots["sam"].sensors["dvl"], []
        dvl.deliver = lambda ticks, readings: told.append((len(ticks), len(readings)))
        world.advance(5.0)
        assert told == [(32, 32), (18, 18)]


def test_readings_of_one_sensor_are_in_the_order_of_time(monkeypatch):
    back, _ = all_readings(monkeypatch, stop=False)
    times = [pickle.loads(reading).time for name, _, reading in back if name == "imu"]
    assert times == sorted(times) and len(set(times)) == len(times)


def test_the_buffer_has_room_for_all_due_samples():
    """Measure at every step, for more steps than the engine stores."""
    overrides = {
        "robots": {"sam": {"overrides": {"sensors": {"imu": {"frequency": 200}, "sbg_imu": {"frequency": 1}}}}}
    }
    with skerry.load("sam_empty", overrides=overrides) as world:
        imu, slow = world.robots["sam"].sensors["imu"], world.robots["sam"].sensors["sbg_imu"]
        _ = imu.reading, slow.reading
        times = {"imu": [], "slow": []}
        for name, sensor in (("imu", imu), ("slow", slow)):
            sensor.deliver = lambda _, readings, name=name: times[name].extend(reading.time for reading in readings)
        steps = 3 * world._engine.sample_log.capacity + 17
        world.advance_steps(steps)
        assert times["imu"] == pytest.approx([k / 200 for k in range(1, steps + 1)])
        assert times["slow"] == pytest.approx([1.0 + k for k in range(steps // 200)])


def test_samples_before_a_divergence_are_measured():
    with skerry.load("sam_empty") as world:
        imu = world.robots["sam"].sensors["imu"]
        imu.deliver = lambda ticks, readings: None
        world.advance(0.1)
        world._engine.part("qvel")[0, 5] = 9.9e5  # a spin that diverges
        with pytest.raises(PhysicsDiverged):
            world.advance(2.0)
        assert imu._measured == imu.rate.count(world.tick)


@pytest.mark.parametrize("rate", [Fraction(7), Fraction(200)])
@pytest.mark.parametrize("sensors", [False, True])
def test_a_motion_log_equals_that_of_a_world_that_stops(rate, sensors):
    """Test also with more samples than the engine stores, and with buffered sensors."""
    found = []
    for stops in (True, False):
        with skerry.load("sam_empty", seed=1) as world:
            world.robots["sam"].actuators["thruster1"].command(rpm=500)
            if sensors:
                _ = world.robots["sam"].sensors["imu"].reading
            samples = MotionLog(world, Rate.of(rate, world.scenario.step))
            steps = world._engine.sample_log.capacity + 50
            while world.tick < steps:
                end = min(samples.rate.next_due(world.tick), steps) if stops else steps
                world.advance_steps(end - world.tick, () if stops else [samples])
                if stops or not samples.rate.is_due(world.tick):
                    samples.on_sample(world.tick)
            found.append((samples.time, samples.motion(world.robots["sam"].root)))
    (times, motions), (times_on_the_way, motions_on_the_way) = found
    assert len(times) > 10
    assert times_on_the_way.tolist() == times.tolist()
    assert motions_on_the_way.tolist() == motions.tolist()


BUMPERS = {
    "bumper": {"kind": "contact", "link": "base_link", "frequency": 50, "whole_robot": True},
    "wheel": {"kind": "contact", "link": "frontLeftWheel", "frequency": 30},
}


@pytest.mark.parametrize("drop", [0.0, 0.2])
def test_a_buffered_bumper_gives_the_readings_of_one_that_stops_the_world(drop):
    """Compare forces too, to the bit, for a rover that drives or has fallen a little."""

    def felt(stop):
        found = []
        overrides = {"robots": {"husky": {"overrides": {"sensors": BUMPERS}}}}
        with skerry.load("husky_yard", overrides=overrides) as world:
            husky = world.robots["husky"]
            husky.controllers["drive"].command(speed=0.5, turn_rate_deg=20)
            pose = husky.pose
            world.teleport("husky", type(pose)(pose.position + np.array([0.0, 0.0, drop]), pose.orientation))
            for name in BUMPERS:
                sensor = husky.sensors[name]
                sensor.sensor.execution = "now" if stop else "batch"
                sensor.deliver = lambda ticks, readings, name=name: found.extend(
                    (name, tick, pickle.dumps(reading)) for tick, reading in zip(ticks, readings, strict=True)
                )
            world._group_sensors()
            world.advance(1.0)
        return found

    stopped, back = felt(stop=True), felt(stop=False)
    assert sorted(back) == sorted(stopped) and len(back) == 80
    touching = [pickle.loads(reading).touching for name, _, reading in back if name == "bumper"]
    assert any(touching) and (drop == 0.0 or not all(touching))


@pytest.mark.parametrize("waves", [True, False])
def test_a_lidar_reading_does_not_depend_on_the_end_of_rays_below_the_waves(monkeypatch, waves):
    """Compare bytes: a ray that enters the water has no echo."""
    lidars = {
        "flat": {**MOUNT, "kind": "lidar", "pattern": "vlp_16", "columns": 400, "position": [0, 0, 2]},
        "steep": {
            **MOUNT,
            "kind": "lidar",
            "pattern": "vlp_16",
            "columns": 200,
            "position": [0, 0, 2],
            "pitch_deg": 60,
        },
    }
    overrides = {"robots": {"sam": {"pose": {"position": [0, 0, 0]}, "overrides": {"sensors": lidars}}}}
    if not waves:
        overrides["water"] = {"surface": {"kind": "flat"}}
    seen = []
    for floor in (True, False):
        if not floor:
            monkeypatch.setattr(LidarScanner, "_lowest_troughs", staticmethod(lambda *_: np.full(100, -np.inf)))
        with skerry.load("sam_in_the_bay", seed=1, overrides=overrides) as world:
            found = []
            for name in lidars:
                world.robots["sam"].sensors[name].deliver = lambda _, readings, found=found: found.extend(readings)
            world.advance(1.0)
            for name in lidars:
                world.robots["sam"].sensors[name].finish()
            assert sum(len(reading.points) for reading in found) > 500
            seen.append(sorted(map(pickle.dumps, found)))
    assert seen[0] == seen[1] and len(seen[0]) == 20


def test_reading_a_battery_does_not_change_its_count():
    """Use a stateful sensor, which needs stops and ignores the samples that others buffer."""
    overrides = {"robots": {"sam": {"overrides": {"sensors": {"battery": {"capacity_wh": 1000, "base_load": 20}}}}}}
    told = []
    for asks in (False, True):
        with skerry.load("sam_in_the_bay", overrides=overrides) as world:
            sensors, found = world.robots["sam"].sensors, []
            sensors["battery"].deliver = lambda ticks, readings, found=found: found.extend(
                zip(ticks, readings, strict=True)
            )
            _ = sensors["imu"].reading
            if asks:
                world._move_particles = lambda sensors=sensors: sensors["battery"].reading
            world.advance(1.0)
            told.append(found)
    assert told[0] == told[1] and len(told[0]) == 10
    assert told[0][-1][1].percent < told[0][0][1].percent < 95.0
