"""Runs on a Ray cluster: a task for each run, which Ray does again elsewhere if its worker or its node is lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Sequence
from typing import Any, Final

from skerry.core.errors import DependencyError, SkerryError
from skerry.sweep.local import MOST_TRIES
from skerry.sweep.work import Job, Outcome, Run, Worker

AHEAD: Final = 2
"""Tasks in flight for each processor, so that none waits for us."""
LOOK_AGAIN: Final = 1.0
"""s after which we ask the cluster for its processors again; each question is a message to its head."""


def run_on_ray(
    job: Job, runs: Sequence[Run], address: str | None = None, workers: int | None = None
) -> Generator[Outcome]:
    """Do runs on a Ray cluster, of this machine alone if there is no address; give what comes of each as it comes."""
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError:
        raise DependencyError("--engine ray needs Ray; run `pip install 'skerry[ray]'`") from None
    was_there = ray.is_initialized()
    if not was_there:
        try:
            own = {"num_cpus": workers, "include_dashboard": False} if address is None else {}
            ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
        except (ConnectionError, RayError, ValueError) as error:
            raise SkerryError(f"--address {address}: there is no Ray cluster to join: {error}") from None
    try:
        do = ray.remote(num_cpus=1, max_retries=MOST_TRIES - 1)(perform)
        shared = ray.put(job)
        waiting = iter(runs)
        flying: dict[Any, Run] = {}
        most, looked = 0, float("-inf")
        while True:
            if time.monotonic() - looked > LOOK_AGAIN:
                most = AHEAD * max(int(workers or ray.cluster_resources().get("CPU", 1)), 1)
                looked = time.monotonic()
            while len(flying) < most and (run := next(waiting, None)) is not None:
                flying[do.remote(shared, run)] = run
            if not flying:
                return
            done, _ = ray.wait(list(flying), num_returns=1)
            for reference in done:
                run = flying.pop(reference)
                try:
                    yield ray.get(reference)
                except RayError as error:
                    first = str(error).strip().splitlines()[0]
                    yield Outcome(run.key, error=f"Ray lost its worker {MOST_TRIES} times in a row: {first}")
    finally:
        if not was_there:
            ray.shutdown()


_workers: dict[str, Worker] = {}
"""The worker of this process, by the job that it is for: Ray uses a process for many tasks."""


def perform(job: Job, run: Run) -> Outcome:
    """Do a run in a process of Ray's."""
    if job.digest not in _workers:
        for worker in _workers.values():
            worker.close()
        _workers.clear()
        _workers[job.digest] = Worker(job)
    return _workers[job.digest].do(run)
