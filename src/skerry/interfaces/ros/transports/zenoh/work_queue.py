"""Queue of jobs: threads that must not block add jobs, and another thread runs them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition
from typing import Final

DEPTH: Final = 100  # default number of jobs of one name that may wait


class WorkQueue:
    """Jobs by name, in order under each name."""

    def __init__(self) -> None:
        self._arrived = Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}
        self._woken = False

    def put(self, name: str, job: Callable[[], None], depth: int = DEPTH) -> None:
        """Add a job; the oldest job of the name is dropped if more than `depth` wait."""
        with self._arrived:
            queue = self._queues.get(name)
            if queue is None:
                queue = self._queues[name] = deque(maxlen=depth)
            queue.append(job)
            self._arrived.notify()

    def wake(self) -> None:
        """End the wait of `drain`."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def drain(self, timeout: float) -> list[tuple[str, Callable[[], None]]]:
        """Remove and return all jobs with their names; wait up to `timeout` seconds for the first one."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._queues or self._woken, timeout)
            self._woken = False
            drained = [(name, job) for name, queue in self._queues.items() for job in queue]
            self._queues.clear()
        return drained
