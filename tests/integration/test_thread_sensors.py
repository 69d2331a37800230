"""Sensors measured in worker threads give the same readings as without threads."""

import time
from threading import Event, Lock

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.parts.interface import Interface
from skerry.runner import Runner
from skerry.world.sampling import mounted_sensor as sensing
from skerry.world.sampling.sensor_jobs import MAX_JOBS


def readings(in_thread, monkeypatch, slow=0.0):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay", seed=3) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread" if in_thread else "batch"
        if slow:
            measure = dvl.sensor.measure

            def late(sample, noise):
                time.sleep(slow)
                return measure(sample, noise)

            dvl.sensor.measure = late
        dvl.deliver = lambda ticks, readings: None
        found = []
        for _ in range(6):
            world.advance(0.13)
            reading = dvl.reading
            found.append((reading.time, reading.velocity.tobytes(), reading.ranges.tobytes(), reading.altitude))
        return found


def test_readings_do_not_depend_on_threads_or_duration(monkeypatch):
    plain = readings(False, monkeypatch)
    assert readings(True, monkeypatch) == plain
    assert readings(True, monkeypatch, slow=0.03) == plain


class TimeRecorder(Interface):
    """Interface that records the times of all readings of SAM's DVL."""

    subscriptions = frozenset({("sam", "dvl")})

    def start(self, world, inbox):
        self.times = []

    def publish(self, readings):
        self.times += [round(new.reading.time, 3) for new in readings]

    def close(self):
        self.closed = True


def test_pending_readings_at_the_end_are_still_published(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    taker = TimeRecorder()
    with skerry.load("sam_in_the_bay") as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread"
        measure = dvl.sensor.measure

        def late(sample, noise):
            time.sleep(0.05)
            return measure(sample, noise)

        dvl.sensor.measure = late
        with Runner(world, None, {"taker": taker}) as runner:
            runner.run(1.0)
    assert taker.times == [round(0.1 * k, 3) for k in range(1, 11)]


def test_the_world_advances_while_a_thread_measures(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay") as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread"
        measure, seen = dvl.sensor.measure, []
        dvl.deliver = lambda ticks, readings: None

        def late(view, noise):
            deadline = time.monotonic() + 20
            while world.time < 0.15 and time.monotonic() < deadline:
                time.sleep(0.001)
            seen.append((view.times[0], view.motion("base_link")[0, :3].copy()))
            return measure(view, noise)

        world.advance(0.095)
        assert dvl.reading is not None
        before = world.robots["sam"].pose.position
        dvl.sensor.measure = late
        world.advance(0.085)
        reading = dvl.reading
        assert reading.time == pytest.approx(0.1)
        assert seen[0][0] == pytest.approx(0.1) and world.time == pytest.approx(0.18)
        now = world.robots["sam"].pose.position
        travelled = np.linalg.norm(seen[0][1] - before) / np.linalg.norm(now - before)
        assert 0 < travelled < 0.2  # it measured the sample of its due tick: 5 ms of the 85


def test_the_world_does_not_wait_for_pending_samples_and_readings_stay_in_order(monkeypatch):
    """Three pings are due, and none is measured before the world has finished advancing."""
    monkeypatch.setattr(sensing, "processors", lambda: 4)
    with skerry.load("sam_in_the_bay") as world:
        dvl, arrived, delivered, measuring = world.robots["sam"].sensors["dvl"], Event(), [], Lock()
        dvl.sensor.execution = "thread"
        measure = dvl.sensor.measure

        def late(sample, noise):
            assert arrived.wait(20)
            assert measuring.acquire(blocking=False)  # one sample at a time
            time.sleep(0.01)
            measuring.release()
            return measure(sample, noise)

        dvl.sensor.measure = late
        dvl.deliver = lambda ticks, readings: delivered.extend(zip(ticks, (r.time for r in readings), strict=True))
        world.advance(0.33)
        assert delivered == []
        arrived.set()
        dvl.finish()
        assert delivered == [(20, pytest.approx(0.1)), (40, pytest.approx(0.2)), (60, pytest.approx(0.3))]


def test_the_number_of_pending_readings_is_limited(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay") as world:
        dvl, begun, delivered = world.robots["sam"].sensors["dvl"], [], []
        dvl.sensor.execution = "thread"
        dvl.warm_up()  # otherwise the first sample is measured twice
        measure = dvl.sensor.measure

        def count(sample, noise):
            begun.append(len(begun) + 1 - len(delivered))
            return measure(sample, noise)

        dvl.sensor.measure = count
        dvl.deliver = lambda ticks, readings: delivered.extend(ticks)
        world.advance(2.0)
        assert max(begun) <= MAX_JOBS
        dvl.finish()
        assert delivered == list(range(20, 401, 20))


def test_a_snapshot_waits_for_pending_readings(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay") as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread"
        dvl.deliver = lambda ticks, readings: None
        world.advance(0.2)
        middle = world.snapshot()
        first = dvl.reading
        world.advance(0.3)
        world.restore(middle)
        assert dvl.reading.velocity.tobytes() == first.velocity.tobytes()


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay") as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread"

        def broken(sample, noise):
            raise SkerryError("the transducer is gone")

        dvl.sensor.measure = broken
        with pytest.raises(SkerryError, match="the transducer is gone"):
            _ = dvl.reading


def test_ray_frames_are_released(monkeypatch):
    monkeypatch.setattr(sensing, "processors", lambda: 2)
    with skerry.load("sam_in_the_bay") as world:
        dvl = world.robots["sam"].sensors["dvl"]
        dvl.sensor.execution = "thread"
        for _ in range(20):
            world.advance(0.1)
            _ = dvl.reading
        assert len(world.ray_scene.scene._frames) <= 2


def test_a_copied_sample_shares_the_ray_frame():
    with skerry.load("sam_in_the_bay") as world:
        ray_scene, sample = world.ray_scene, world._live
        frame = ray_scene.view().frame
        held = sample.copy()
        assert held.view(0).frame is frame
        assert ray_scene.view().frame is frame
        world.advance(0.1)
        assert ray_scene.view().frame is not frame
        held.release()
        world.advance(0.1)
        later = sample.copy()
        assert later.view(0).frame is ray_scene.view().frame
        assert len(ray_scene.scene._frames) == 2


def test_a_warm_up_in_a_thread_changes_no_reading(monkeypatch):
    """Warm up with a copied sample while the world advances; later readings must be the same."""
    plain = readings(False, monkeypatch)
    with skerry.load("sam_in_the_bay", seed=3) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        assert dvl.has_slow_start
        dvl.is_warm()
        dvl.deliver = lambda ticks, readings: None
        found = []
        for _ in range(6):
            world.advance(0.13)
            reading = dvl.reading
            found.append((reading.time, reading.velocity.tobytes(), reading.ranges.tobytes(), reading.altitude))
        assert dvl.is_warm()
    assert found == plain
