"""Data of one run: samples of all series that its metrics use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.world import World
from skerry.world.robot import BodyTree
from skerry.world.sampling.motion_log import MotionLog
from skerry.world.sampling.trajectory import SERIES, Trajectory

Floats = NDArray[np.float64]
PARTS = ("sensors", "actuators")


class RunData:
    """Data of one run for metrics: `run["sam.depth"]`, `run.time`, `run.values`, and `run.world` at the end.

    Series are those of `Trajectory` for each robot and object, readings such as `sam.sensors.ctd.temperature`, actuator
    feedback such as `sam.actuators.thruster1`, and `values.<axis>`. Readings and feedback must be in `names`, because
    they are sampled during the run.
    """

    def __init__(self, world: World, values: Mapping[str, Any], names: Iterable[str], rate: Rate) -> None:
        self.world = world
        self.values = dict(values)
        self._trees: dict[str, BodyTree] = {**world.robots, **world.objects}
        self._sampled_parts = {name: name.split(".") for name in names if self._is_part(name)}
        self._samples = MotionLog(world, rate)
        self._readings: dict[str, list[float]] = {name: [] for name in self._sampled_parts}

    def sample(self) -> None:
        """Store a sample of the current state."""
        self._samples.on_sample(self.world.tick)
        self._read_all()

    def advance_to(self, end: int) -> None:
        """Advance the world to a tick and store due samples; the world stops only for readings and feedback."""
        while (tick := self.world.tick) < end:
            stop = min(self._samples.rate.next_due(tick), end) if self._sampled_parts else end
            self.world.advance_steps(stop - tick, [self._samples])
            if not self._samples.rate.is_due(self.world.tick):
                self._samples.on_sample(self.world.tick)
            self._read_all()

    @property
    def time(self) -> Floats:
        """Times of the samples, s."""
        return self._samples.time

    def trajectory(self, name: str) -> Trajectory:
        """Return the trajectory of a robot or object."""
        if name not in self._trees:
            raise UnknownName(f"there is no robot or object {name!r}; {did_you_mean(name, self._trees)}")
        return Trajectory(self.time, self._samples.motion(self._trees[name].root))

    def __getitem__(self, name: str) -> Any:
        """Return a series by name."""
        if name == "time":
            return self.time
        if name in self._readings:
            return np.array(self._readings[name])
        owner, _, rest = name.partition(".")
        if owner == "values":
            return self._value(rest)
        if not rest:
            raise UnknownName(f"{name!r} is not a series; {did_you_mean(name, ['time', *self._known()])}")
        return self.trajectory(owner).series(rest)

    def _known(self) -> list[str]:
        return [f"{tree}.{series}" for tree in self._trees for series in SERIES]

    def _value(self, name: str) -> float:
        if name not in self.values:
            raise UnknownName(f"there is no axis {name!r}; {did_you_mean(name, self.values)}")
        if not isinstance(self.values[name], int | float):
            raise SkerryError(f"values.{name} is not a number: {self.values[name]!r}")
        return float(self.values[name])

    def _is_part(self, name: str) -> bool:
        owner, *rest = name.split(".")
        return owner in self.world.robots and bool(rest) and rest[0] in PARTS

    def _read_all(self) -> None:
        for name, path in self._sampled_parts.items():
            self._readings[name].append(self._read(name, path))

    def _read(self, name: str, path: list[str]) -> float:
        robot = self.world.robots[path[0]]
        if len(path) < 3 or (path[1] == "sensors" and len(path) < 4):
            raise UnknownName(f"{name!r} is not a series; write sam.sensors.ctd.temperature or sam.actuators.thruster1")
        if path[1] == "actuators":
            if len(path) > 3:
                raise UnknownName(f"{name!r} is not a series; an actuator has one series, its feedback")
            return float(robot.actuators[path[2]].feedback)
        found = robot.sensors[path[2]].reading
        if found is None:
            return float("nan")
        for key in path[3:]:
            if not hasattr(found, key):
                known = [word for word in dir(found) if not word.startswith("_")]
                raise UnknownName(f"{name}: the reading has no {key!r}; {did_you_mean(key, known)}")
            found = getattr(found, key)
        if np.ndim(found) != 0:
            raise SkerryError(f"{name} has the shape {np.shape(found)}; only single numbers can be sampled")
        return float(found)
