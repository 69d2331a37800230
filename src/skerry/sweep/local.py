"""Runs on this machine: one process for each core; one that dies is replaced, and its run is done again.

`concurrent.futures.ProcessPoolExecutor` would give up as a whole when one of its processes is killed, and could not say
which run it was on.
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

MOST_TRIES: Final = 3
"""A run whose worker dies so often is at fault itself; and so are workers of which so many die before they begin."""
_STARTS: Final = "starts"


@dataclass(eq=False)
class _Member:
    """A worker process, our end of the pipe to it, and what it is doing."""

    process: BaseProcess
    pipe: Connection
    ready: bool = False
    run: Run | None = None


def run_locally(job: Job, runs: Sequence[Run], workers: int | None = None) -> Generator[Outcome]:
    """Do runs in processes of this machine, and give what comes of each as it comes."""
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
                    if (outcome := _bury(member, tries, waiting)) is not None:
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
    # A fresh interpreter: a fork would copy the locks of our threads in whatever state they are.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(job, theirs), name="skerry sweep worker", daemon=True)
    process.start()
    theirs.close()
    return _Member(process, ours)


def _send(member: _Member, run: Run) -> None:
    with suppress(OSError):  # if it has died, its end of the pipe tells so next
        member.pipe.send(run)


def _bury(member: _Member, tries: Counter[str], waiting: deque[Run]) -> Outcome | None:
    """Put the run of a dead worker back, or give up on it."""
    member.process.join()
    member.pipe.close()
    how = _cause(member.process.exitcode)
    if not member.ready:
        tries[_STARTS] += 1
        if tries[_STARTS] >= MOST_TRIES:
            raise SkerryError(f"a worker {how} before its first run, the third to do so; the finished results are kept")
    if member.run is None:
        return None
    tries[member.run.key] += 1
    if tries[member.run.key] < MOST_TRIES:
        waiting.appendleft(member.run)
        return None
    return Outcome(member.run.key, error=f"its worker {how}, {MOST_TRIES} times in a row")


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _work(job: Job, pipe: Connection) -> None:
    """What a worker process does: run after run, until nobody is there to ask for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; our parent says what becomes of us
    worker = Worker(job)
    try:
        pipe.send(None)
        while True:
            pipe.send(worker.do(pipe.recv()))
    except (EOFError, OSError):
        worker.close()
