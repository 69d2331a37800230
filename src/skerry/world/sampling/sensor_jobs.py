"""Measurements of one sensor in worker threads: pending readings, and the warm-up before the first reading."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from skerry.rays.threads import pool, processors
from skerry.world.sampling.sample import Sample, SampleCopy

MAX_JOBS: Final = 8
"""Largest number of pending readings of one sensor; a picture takes some megabytes."""

NO_GENERATION: Final = -1
"""Generation of a sample that is not in the sample buffer."""


class SensorJobs:
    """Queue of readings that worker threads are measuring, in the order of their ticks.

    A sensor measures one sample at a time; each job waits for the job before it.

    Args:
        measure: Measures a copied sample; runs in a worker thread.
        deliver: Called in the world's thread with the tick and the readings of each finished job.
    """

    def __init__(self, measure: Callable[[SampleCopy], Any], deliver: Callable[[list[int], Any], None]) -> None:
        self._measure = measure
        self._deliver = deliver
        self._pending: deque[tuple[int, Future[Any]]] = deque()
        self._generation = NO_GENERATION

    def submit(self, sample: Sample, generation: int, must_wait: bool) -> None:
        """Start to measure a sample.

        Only jobs of the same generation of the sample buffer may be pending together. Otherwise the readings of a
        sensor that is too slow would arrive later and later.

        Args:
            sample: The sample; it is copied.
            generation: Generation of the sample buffer that holds it, or `NO_GENERATION`.
            must_wait: Whether earlier jobs must be finished first.
        """
        if generation != self._generation or generation == NO_GENERATION or must_wait:
            self.wait()
        self._generation = generation
        if len(self._pending) >= MAX_JOBS:
            self.wait(MAX_JOBS // 2)
        before = self._pending[-1][1] if self._pending else None
        threads = pool("sensors", max(processors() - 1, 1))
        self._pending.append((sample.tick, threads.submit(self._run, sample.copy(), before)))

    def _run(self, copy: SampleCopy, before: Future[Any] | None) -> Any:
        if before is not None:
            before.exception()
        return self._measure(copy)

    def wait(self, count: int = 0) -> None:
        """Wait for the first `count` jobs, or for all jobs if 0, and deliver their readings."""
        if self._pending:
            self._pending[count - 1][1].exception()  # all jobs before it have then finished too
        self.poll()

    def poll(self) -> None:
        """Deliver the readings of finished jobs without waiting."""
        while self._pending and self._pending[0][1].done():
            tick, job = self._pending.popleft()
            self._deliver([tick], job.result())

    def drop(self) -> None:
        """Wait for all jobs and discard their readings."""
        while self._pending:
            self._pending.popleft()[1].exception()


class WarmUp:
    """First measurement of a sensor in a thread, so that kernels are compiled while the world advances."""

    def __init__(self) -> None:
        self._job: Future[Any] | None = None

    def start(self, make_job: Callable[[], Callable[[], Any]]) -> bool:
        """Start the warm-up if it has not been started, and return whether it has finished.

        Args:
            make_job: Makes the job for the thread; called only if the warm-up has not been started.
        """
        if self._job is None:
            self._job = pool("warm-up", 1).submit(make_job())
        return self._job.done()

    def wait(self) -> None:
        """Wait until a started warm-up has finished. An error is raised again by the first real measurement."""
        if self._job is not None:
            self._job.exception()
