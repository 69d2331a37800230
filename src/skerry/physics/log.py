"""The log of an engine: how a world that is alone was at some instants on the way, for whoever looks back at them."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError

Floats = NDArray[np.float64]

BYTES: Final = 4_000_000  # for instants, of which there is room for at least and at most
LEAST, MOST = 256, 1024


class Log:
    """A row for each instant, which the engine writes, and one more for the present while it shows another.

    It is made for the live arrays of a world: motions (2, bodies, 13), userdata, positions and velocities.
    """

    def __init__(
        self, motions: Floats, userdata: Floats, positions: Floats, velocities: Floats, most: int = MOST
    ) -> None:
        live = (motions, userdata, positions, velocities)
        ends = np.cumsum([0, *(part.size for part in live)]).tolist()
        self.room: int = min(max(BYTES // (ends[-1] * motions.itemsize), LEAST), most)
        """How many instants there is room for."""
        self._all = np.zeros((self.room + 1, ends[-1]))
        self._address: int = self._all.ctypes.data
        logs = [self._all[:, first:end] for first, end in pairwise(ends)]
        self.motions: Floats = logs[0].reshape(-1, *motions.shape)
        self.userdata, self.positions, self.velocities = logs[1:]
        self._pairs = list(zip(live, (self.motions, *logs[1:]), strict=True))
        # of the state: where it is, how many bytes it has, and its log
        self._states = [(part.ctypes.data, part.nbytes, log) for part, log in self._pairs[1:]]
        self.steps = np.zeros(self.room, np.int64)
        """After which the engine is to write a row."""

    def address(self, row: int) -> int:
        """Of a row."""
        return self._address + row * self._all.strides[0]

    def of(self, state: Floats) -> Floats:
        """By row, one number (1,) of the live positions, velocities or userdata."""
        address: int = state.__array_interface__["data"][0]  # quicker than `ctypes`
        for first, size, log in self._states:
            if 0 <= address - first < size:
                return log[:, (address - first) // state.itemsize]
        raise EngineError("this is no number of the engine's state, or of one that is gone")

    def keep_present(self) -> None:
        """Keep how the world is now, while the live arrays show how it was."""
        for live, log in self._pairs:
            log[self.room] = live

    def show(self, row: int) -> None:
        """Let the live arrays be as they were at an instant; only to be seen, not to go on."""
        for live, log in self._pairs:
            live[...] = log[row]

    def show_present(self) -> None:
        """Let them be as they are."""
        self.show(self.room)
