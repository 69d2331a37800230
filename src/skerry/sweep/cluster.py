"""Runs on a Ray cluster: one task per run. Ray repeats a task elsewhere if its worker or node is lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Sequence
from typing import Any, Final

from skerry.core.errors import DependencyError, SkerryError
from skerry.sweep.local import MAX_TRIES
from skerry.sweep.work import Job, Outcome, Run, Worker

TASKS_PER_CPU: Final = 2
"""Submitted tasks per processor, so that no processor is idle."""
RESOURCE_INTERVAL: Final = 1.0
"""Seconds between queries of the cluster's processors; each query is a message to its head node."""


def run_on_ray(
    job: Job, runs: Sequence[Run], address: str | None = None, workers: int | None = None
) -> Generator[Outcome]:
    """Execute runs on a Ray cluster.

    Args:
        job: Data that all runs share.
        runs: Runs to execute.
        address: Address of the cluster; None starts a cluster on this machine.
        workers: Largest number of processors to use; all by default.

    Yields:
        The outcome of each run, in order of completion.
    """
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
            raise SkerryError(f"--address {address}: cannot connect to a Ray cluster: {error}") from None
    try:
        task = ray.remote(num_cpus=1, max_retries=MAX_TRIES - 1)(perform)
        shared = ray.put(job)
        waiting = iter(runs)
        pending: dict[Any, Run] = {}
        limit, queried = 0, float("-inf")
        while True:
            if time.monotonic() - queried > RESOURCE_INTERVAL:
                limit = TASKS_PER_CPU * max(int(workers or ray.cluster_resources().get("CPU", 1)), 1)
                queried = time.monotonic()
            while len(pending) < limit and (run := next(waiting, None)) is not None:
                pending[task.remote(shared, run)] = run
            if not pending:
                return
            done, _ = ray.wait(list(pending), num_returns=1)
            for reference in done:
                run = pending.pop(reference)
                try:
                    yield ray.get(reference)
                except RayError as error:
                    first = str(error).strip().splitlines()[0]
                    yield Outcome(run.key, error=f"Ray lost the worker of this run {MAX_TRIES} times: {first}")
    finally:
        if not was_there:
            ray.shutdown()


_workers: dict[str, Worker] = {}
"""Worker of this process, by job digest; Ray uses one process for many tasks."""


def perform(job: Job, run: Run) -> Outcome:
    """Execute a run in a process of Ray."""
    if job.digest not in _workers:
        for worker in _workers.values():
            worker.close()
        _workers.clear()
        _workers[job.digest] = Worker(job)
    return _workers[job.digest].execute(run)
