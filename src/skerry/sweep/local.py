"""Runs on this machine: one process per core. A process that dies is replaced, and its run is repeated.

`concurrent.futures.ProcessPoolExecutor` fails as a whole when one of its processes is killed, and does not report the
run of that process.
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from skerry.core.errors import SkerryError
from skerry.sweep.work import Job, Outcome, Run, Worker

MAX_TRIES: Final = 3
"""Number of dead workers after which a run fails, or, before any run has started, the whole sweep fails."""
_STARTS: Final = "starts"


@dataclass(eq=False)
class _Member:
    """Worker process with the parent's end of its pipe and its current run."""

    process: BaseProcess
    pipe: Connection
    ready: bool = False
    run: Run | None = None


def run_locally(job: Job, runs: Sequence[Run], workers: int | None = None) -> Generator[Outcome]:
    """Execute runs in processes of this machine.

    Args:
        job: Data that all runs share.
        runs: Runs to execute.
        workers: Number of processes; one per core by default.

    Yields:
        The outcome of each run, in order of completion.
    """
    waiting = deque(runs)
    tries: Counter[str] = Counter()
    count = min(workers or len(os.sched_getaffinity(0)), len(runs))
    members = [_start(job) for _ in range(count)]
    try:
        while waiting or any(member.run for member in members):
            by_pipe = {member.pipe: member for member in members}
            for pipe in wait(list(by_pipe)):
                member = by_pipe[pipe]  # type: ignore[index]
                try:
                    message = member.pipe.recv()
                except (EOFError, OSError):
                    members.remove(member)
                    if (outcome := _handle_dead_worker(member, tries, waiting)) is not None:
                        yield outcome
                    if len(members) < len(waiting) + sum(each.run is not None for each in members):
                        members.append(_start(job))
                    continue
                member.ready, member.run = True, None
                if isinstance(message, Outcome):
                    yield message
            for member in members:
                if member.ready and member.run is None and waiting:
                    member.run = waiting.popleft()
                    _send(member, member.run)
    finally:
        for member in members:
            member.process.terminate()
        for member in members:
            member.process.join()
            member.pipe.close()


def _start(job: Job) -> _Member:
    # Start a new interpreter: a fork would copy thread locks in an arbitrary state.
    context = get_context("spawn")
    parent_end, child_end = context.Pipe()
    process = context.Process(target=_work, args=(job, child_end), name="skerry sweep worker", daemon=True)
    process.start()
    child_end.close()
    return _Member(process, parent_end)


def _send(member: _Member, run: Run) -> None:
    with suppress(OSError):  # a dead worker is detected at its pipe
        member.pipe.send(run)


def _handle_dead_worker(member: _Member, tries: Counter[str], waiting: deque[Run]) -> Outcome | None:
    """Put the run of a dead worker back into the queue, or return its failure after `MAX_TRIES` tries."""
    member.process.join()
    member.pipe.close()
    how = _cause(member.process.exitcode)
    if not member.ready:
        tries[_STARTS] += 1
        if tries[_STARTS] >= MAX_TRIES:
            raise SkerryError(f"a worker {how} before its first run, {MAX_TRIES} times; finished results are kept")
    if member.run is None:
        return None
    tries[member.run.key] += 1
    if tries[member.run.key] < MAX_TRIES:
        waiting.appendleft(member.run)
        return None
    return Outcome(member.run.key, error=f"the worker of this run {how}, {MAX_TRIES} times")


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _work(job: Job, pipe: Connection) -> None:
    """Execute runs in a worker process until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent terminates the workers
    worker = Worker(job)
    try:
        pipe.send(None)
        while True:
            pipe.send(worker.execute(pipe.recv()))
    except (EOFError, OSError):
        worker.close()
