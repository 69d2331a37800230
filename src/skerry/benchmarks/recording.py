"""Recording: slowdown of a run at maximum speed, and file size; `sam_in_the_bay` without cameras."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from skerry.benchmarks._goal import Goal
from skerry.interfaces.recorder import Recorder
from skerry.parts.interface import Inbox, Interface, SensorReading
from skerry.runner import Runner
from skerry.sensors.camera import CameraSensor
from skerry.world import World, build_world

SECONDS = 60.0  # long enough for at least one write of the recorder
REPEATS = 16
PAIRS = 3  # pairs of worlds, because memory placement varies between worlds
PAUSE = 0.1  # s of wall time, for the recorder to finish writing before the next run

GOALS = {"recording.slowdown_percent": Goal(10), "recording.mb_per_10min": Goal(60)}


class Subscriber(Interface):
    """Interface that subscribes to all sensors except cameras, like the recorder, and ignores the readings."""

    def start(self, world: World, inbox: Inbox) -> None:
        self.subscriptions = frozenset(
            (robot.name, name)
            for robot in world.robots.values()
            for name, sensor in robot.sensors.items()
            if not isinstance(sensor.sensor, CameraSensor)
        )

    def publish(self, readings: Sequence[SensorReading]) -> None:
        return

    def close(self) -> None:
        return


def measure() -> dict[str, float]:
    """Return all figures of this part; the sensors are evaluated with and without the recorder."""
    with TemporaryDirectory() as folder:
        found = [_pair(Path(folder) / f"{number}.mcap") for number in range(PAIRS)]
    without, recorded, size = map(sum, zip(*found, strict=True))
    return {
        "recording.slowdown_percent": (recorded / without - 1) * 100,
        "recording.mb_per_10min": size / PAIRS / 1e6 * 600 / (SECONDS * (REPEATS + 1)),
    }


def _pair(path: Path) -> tuple[float, float, int]:
    """Return the shortest run without and with a recorder, s, and the file size, bytes."""
    with _running(Subscriber()) as without, _running(Recorder(path=path).build()) as recorded:
        # alternately, so that other load affects both equally
        seconds = [(_seconds(without), _seconds(recorded)) for _ in range(REPEATS + 1)]
    best = [min(found) for found in zip(*seconds[1:], strict=True)]
    return best[0], best[1], path.stat().st_size


@contextmanager
def _running(interface: Interface) -> Iterator[Runner]:
    with build_world("sam_in_the_bay") as world, Runner(world, None, {"it": interface}) as runner:
        yield runner


def _seconds(runner: Runner) -> float:
    """Return the wall time of a run at maximum speed, s."""
    sleep(PAUSE)
    start = perf_counter()
    runner.run(SECONDS)
    return perf_counter() - start
