"""Execution of one run in a worker; the worker reuses its world if the structure is the same."""

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
    """Data that all runs of a sweep share; it is sent to workers."""

    scenario: dict[str, Any]
    duration: float
    sample_rate: str
    metrics: dict[str, str]
    prepare: str | None
    time_limit: float | None
    folder: str
    digest: str = ""

    def with_digest(self, digest: str) -> Job:
        """Return a copy with a hash of everything that the results depend on."""
        return replace(self, digest=digest)


@dataclass(frozen=True)
class Run:
    """Run of a sweep: seed and values that differ from the scenario."""

    key: str
    seed: int
    values: dict[str, Any]
    overrides: dict[str, Any]

    def scenario(self, base: Mapping[str, Any]) -> Scenario:
        """Return the scenario of this run, checked without its vehicles."""
        data = {**merge(base, self.overrides, keeps_null), "seed": self.seed}
        try:
            return Scenario.model_validate(data)
        except ValidationError as error:
            document = Document("scenario", data)
            raise FileError("scenario", faults_of(error, Scenario, document)) from None


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run: metrics by name, and the error, if any."""

    key: str
    metrics: dict[str, float] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0  # wall time, s


class TimeLimitExceeded(BaseException):
    """Raised when a run exceeds its time limit; `except Exception` does not catch it."""


class Worker:
    """Executor of the runs of one job; it keeps its world from run to run."""

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

    def check(self, run: Run) -> None:
        """Build the world of a run and evaluate the expressions at its start, to detect errors early."""
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

    def execute(self, run: Run) -> Outcome:
        """Execute a run; an error becomes part of the outcome."""
        start = time.perf_counter()
        try:
            with _limited(self._job.time_limit):
                metrics, error = self._metrics(self._simulate(run))
            outcome = Outcome(run.key, metrics, error)
        except TimeLimitExceeded:
            self.close()  # the world may be in an inconsistent state
            outcome = Outcome(run.key, {}, f"exceeded the time limit of {self._job.time_limit:g} s")
        except Exception as error:  # the other runs continue
            self.close()
            text = str(error) if isinstance(error, SkerryError) else f"{type(error).__name__}: {error}"
            outcome = Outcome(run.key, {}, text)
        return replace(outcome, seconds=time.perf_counter() - start)

    def close(self) -> None:
        """Close the world; the next run builds a new one."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _world_of(self, run: Run) -> World:
        """Return the world at the start of a run, reset or newly built."""
        if self._world is not None:
            scenario = run.scenario(self._job.scenario)
            if self._world.is_compatible(scenario):
                self._world.reset(scenario=scenario)
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
        """Return the metrics that could be evaluated, and the errors of the others."""
        found, problems = {}, []
        for name in self._job.metrics:
            try:
                if name in self._expressions:
                    found[name] = self._expressions[name].value(data.__getitem__, data.time)
                else:
                    found[name] = float(self._functions[name](data))
            except Exception as error:  # user code may raise any exception
                problems.append(f"metrics.{name}: {type(error).__name__}: {error}{self._location_of(error, name)}")
        return found, "; ".join(problems)

    def _location_of(self, error: Exception, metric: str) -> str:
        """Return file and line of an error in a user's function; empty for an expression."""
        frames = extract_tb(error.__traceback__)[1:]  # the first frame is ours, the next is the user's function
        if metric in self._expressions or not frames:
            return ""
        frame = [frame for frame in frames if frame.filename == frames[0].filename][-1]
        return f" ({Path(frame.filename).name}, line {frame.lineno})"


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimitExceeded` in the main thread after the given time, then each second until it takes effect."""
    if seconds is None:
        yield
        return

    def on_alarm(number: int, frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
