"""Recording: what it costs a run as fast as it goes, and how large the file is; SAM in the bay, without cameras."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from skerry.benchmarks.goal import Goal
from skerry.benchmarks.timing import best_wall
from skerry.interfaces.recorder import Recorder
from skerry.parts.interface import Inbox, Interface, NewReading
from skerry.runner import Runner
from skerry.sensors.camera import CameraSensor
from skerry.world import World, build_world

SECONDS = 60.0  # so long that what is recorded is written meanwhile
REPEATS = 5

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
    without = _seconds(Onlooker())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        recorded = _seconds(Recorder(path=path).build())
        size = path.stat().st_size
    simulated = SECONDS * (REPEATS + 1)
    return {
        "recording.slowdown_percent": (recorded / without - 1) * 100,
        "recording.mb_per_10min": size / 1e6 * 600 / simulated,
    }


def _seconds(interface: Interface) -> float:
    """On the wall, of a run as fast as it goes."""
    with build_world("sam_in_the_bay") as world, Runner(world, None, {"it": interface}) as runner:
        return best_wall(lambda: runner.run(SECONDS), REPEATS)
