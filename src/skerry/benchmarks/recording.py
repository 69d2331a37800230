"""Recording: what it costs a run as fast as it goes, and how large the file is; SAM in the bay, without cameras."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from skerry.benchmarks.goal import Goal
from skerry.interfaces.recorder import Recorder
from skerry.parts.interface import Inbox, Interface, NewReading
from skerry.runner import Runner
from skerry.sensors.camera import CameraSensor
from skerry.world import World, build_world

SECONDS = 90.0  # so long that what is recorded is written meanwhile, twice or more
REPEATS = 24
PAUSE = 0.1  # s of wall time, in which what is left of a recording is written, so that the next run has no part in it

GOALS = {"recording.slowdown_percent": Goal(10), "recording.mb_per_10min": Goal(60)}


class Onlooker(Interface):
    """Wants the readings of all sensors but cameras, as the recorder does, and does nothing with them."""

    def start(self, world: World, inbox: Inbox) -> None:
        self.wanted = frozenset(
            (robot.name, name)
            for robot in world.robots.values()
            for name, sensor in robot.sensors.items()
            if not isinstance(sensor.sensor, CameraSensor)
        )

    def publish(self, readings: Sequence[NewReading]) -> None:
        return

    def close(self) -> None:
        return


def measure() -> dict[str, float]:
    """All figures of this part; the sensors are measured with and without the recorder."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        with _running(Onlooker()) as without, _running(Recorder(path=path).build()) as recorded:
            # by turns, so that whatever else the machine does is the same for both
            seconds = [(_seconds(without), _seconds(recorded)) for _ in range(REPEATS + 1)]
        size = path.stat().st_size
    best = [min(found) for found in zip(*seconds[1:], strict=True)]
    return {
        "recording.slowdown_percent": (best[1] / best[0] - 1) * 100,
        "recording.mb_per_10min": size / 1e6 * 600 / (SECONDS * len(seconds)),
    }


@contextmanager
def _running(interface: Interface) -> Iterator[Runner]:
    with build_world("sam_in_the_bay") as world, Runner(world, None, {"it": interface}) as runner:
        yield runner


def _seconds(runner: Runner) -> float:
    """On the wall, of a run as fast as it goes."""
    sleep(PAUSE)
    start = perf_counter()
    runner.run(SECONDS)
    return perf_counter() - start
