"""What is to be done for peers: put there by threads that must not be held up, done by one that may be."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition
from typing import Final

DEPTH: Final = 100  # of a name's messages and calls that may wait


class Errands:
    """Things to be done, by name; of each name the latest so many."""

    def __init__(self) -> None:
        self._arrived = Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}
        self._woken = False

    def put(self, name: str, errand: Callable[[], None], depth: int = DEPTH) -> None:
        """Add one; the name's oldest goes if there are too many."""
        with self._arrived:
            queue = self._queues.get(name)
            if queue is None:
                queue = self._queues[name] = deque(maxlen=depth)
            queue.append(errand)
            self._arrived.notify()

    def wake(self) -> None:
        """End a wait."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def take(self, timeout: float) -> list[tuple[str, Callable[[], None]]]:
        """All that wait, in order under each name; waits for one so many seconds."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._queues or self._woken, timeout)
            self._woken = False
            taken = [(name, errand) for name, queue in self._queues.items() for errand in queue]
            self._queues.clear()
        return taken
