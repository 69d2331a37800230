"""The runner keeps a pace, ends on time, and can be stopped."""

import threading

import skerry
from skerry.runner import Runner


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
        thread.join(timeout=30)
        assert not thread.is_alive()


def test_the_watcher_hears_the_real_time_factor() -> None:
    heard: list[float] = []
    with skerry.load("torpedo_in_still_water") as world:
        Runner(world, None).run(1.0, heard.append)
    assert heard
    assert all(factor > 0 for factor in heard)
