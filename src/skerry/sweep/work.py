"""One run of a sweep, as a worker does it: in the world that it has, if that can begin anew, or in a new one."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from traceback import extract_tb
from types import FrameType
from typing import Any

from pydantic import ValidationError

from skerry.core.clock import Rate
from skerry.core.config import faults_of
from skerry.core.document import Document
from skerry.core.errors import FileError, SkerryError
from skerry.scenario import Scenario
from skerry.scenario.loading import keeps_null
from skerry.scenario.merging import merge
from skerry.sweep.expressions import Expression, read_expression
from skerry.sweep.functions import find_function, is_function
from skerry.sweep.run_data import RunData
from skerry.world import World, build_world


@dataclass(frozen=True)
class Job:
    """What all runs of a sweep have in common; plain data, to be sent to workers."""

    scenario: dict[str, Any]
    duration: float
    sample_rate: str
    metrics: dict[str, str]
    prepare: str | None
    time_limit: float | None
    folder: str
    digest: str = ""

    def with_digest(self, digest: str) -> Job:
        """With a hash of all that its results depend on."""
        return replace(self, digest=digest)


@dataclass(frozen=True)
class Run:
    """One run: its seed, and the values that differ from the scenario."""

    key: str
    seed: int
    values: dict[str, Any]
    overrides: dict[str, Any]

    def scenario(self, base: Mapping[str, Any]) -> Scenario:
        """The scenario of this run, checked as far as it can be without its vehicles."""
        data = {**merge(base, self.overrides, keeps_null), "seed": self.seed}
        try:
            return Scenario.model_validate(data)
        except ValidationError as error:
            document = Document("scenario", data)
            raise FileError("scenario", faults_of(error, Scenario, document)) from None


@dataclass(frozen=True)
class Outcome:
    """What came of a run: numbers by metric, and what went wrong, if anything did."""

    key: str
    metrics: dict[str, float] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0  # of wall time


class TimeIsUp(BaseException):
    """A run took longer than it may; no `except Exception` on the way stops it."""


class Worker:
    """Does runs of one job, one after the other, and keeps its world from run to run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._world: World | None = None
        self._expressions: dict[str, Expression] = {}
        for name, text in job.metrics.items():
            if not is_function(text):
                try:
                    self._expressions[name] = read_expression(text)
                except SkerryError as error:
                    raise SkerryError(f"metrics.{name}: {error}") from None
        self._functions = {
            name: find_function(text, job.folder) for name, text in job.metrics.items() if name not in self._expressions
        }
        self._prepare = None if job.prepare is None else find_function(job.prepare, job.folder)
        self._names = frozenset[str]().union(*(expression.names for expression in self._expressions.values()))

    def warm_up(self, run: Run) -> None:
        """Build the world of a run, and take the expressions of its first instant, so that what cannot work is told."""
        world = self._world_of(run)
        try:
            for name, expression in self._expressions.items():
                try:
                    data = self._data_of(world, run, expression.names)
                    for _ in range(2):
                        data.sample()
                    expression.value(data.__getitem__, data.time)
                except SkerryError as error:
                    raise SkerryError(f"metrics.{name}: {error}") from None
        finally:
            self.close()

    def do(self, run: Run) -> Outcome:
        """Do a run; whatever goes wrong is told in the outcome."""
        start = time.perf_counter()
        try:
            with _limited(self._job.time_limit):
                metrics, error = self._metrics(self._simulate(run))
            outcome = Outcome(run.key, metrics, error)
        except TimeIsUp:
            self.close()  # it may stand in the middle of anything
            outcome = Outcome(run.key, {}, f"took longer than the time limit of {self._job.time_limit:g} s")
        except Exception as error:  # whatever it is, the other runs go on
            self.close()
            text = str(error) if isinstance(error, SkerryError) else f"{type(error).__name__}: {error}"
            outcome = Outcome(run.key, {}, text)
        return replace(outcome, seconds=time.perf_counter() - start)

    def close(self) -> None:
        """Let go of the world; the next run builds one."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _world_of(self, run: Run) -> World:
        """The world at the start of a run."""
        if self._world is not None:
            scenario = run.scenario(self._job.scenario)
            if self._world.is_compatible(scenario):
                self._world.reset(scenario)
                return self._world
            self.close()
        self._world = build_world(self._job.scenario, run.seed, run.overrides)
        return self._world

    def _simulate(self, run: Run) -> RunData:
        world = self._world_of(run)
        if self._prepare is not None:
            self._prepare(world, run.values)
        data = self._data_of(world, run, self._names)
        data.sample()
        data.advance_to(round(self._job.duration / float(world.scenario.step)))
        return data

    def _data_of(self, world: World, run: Run, names: Iterable[str]) -> RunData:
        rate = Rate.of(Fraction(self._job.sample_rate), world.scenario.step, faster_ok=True)
        return RunData(world, run.values, names, rate)

    def _metrics(self, data: RunData) -> tuple[dict[str, float], str]:
        """Every metric that can be had, and what the others say."""
        found, problems = {}, []
        for name in self._job.metrics:
            try:
                if name in self._expressions:
                    found[name] = self._expressions[name].value(data.__getitem__, data.time)
                else:
                    found[name] = float(self._functions[name](data))
            except Exception as error:  # a user's function may fail in any way
                problems.append(f"metrics.{name}: {type(error).__name__}: {error}{self._place_of(error, name)}")
        return found, "; ".join(problems)

    def _place_of(self, error: Exception, metric: str) -> str:
        """Where in the file of a user's function an error came up; an expression has no such place."""
        frames = extract_tb(error.__traceback__)[1:]  # the first is ours, the next the function's
        if metric in self._expressions or not frames:
            return ""
        place = [frame for frame in frames if frame.filename == frames[0].filename][-1]
        return f" ({Path(place.filename).name}, line {place.lineno})"


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise `TimeIsUp` in the main thread of a worker when its time is over, and each second until it is heard."""
    if seconds is None:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
