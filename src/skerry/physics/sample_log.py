"""Log of sampled states: native code writes its rows between two steps of a single-world engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError

Floats = NDArray[np.float64]

# Memory that a log aims for, bytes; the limits below take precedence.
TARGET_BYTES: Final = 4_000_000
# Smallest and largest number of samples in a log.
MIN_SAMPLES, MAX_SAMPLES = 256, 1024


class SampleLog:
    """Rows of sampled states: motions, userdata, qpos and qvel of a single-world engine.

    One extra row stores the live state while the live arrays show an earlier sample.

    Args:
        motions: live motions of all bodies, (2, bodies, 13).
        userdata: live userdata.
        positions: live qpos.
        velocities: live qvel.
        max_samples: largest number of samples; 0 for a batch of worlds, which takes no samples.
    """

    def __init__(
        self, motions: Floats, userdata: Floats, positions: Floats, velocities: Floats, max_samples: int = MAX_SAMPLES
    ) -> None:
        live = (motions, userdata, positions, velocities)
        ends = np.cumsum([0, *(part.size for part in live)]).tolist()
        self.capacity: int = min(max(TARGET_BYTES // (ends[-1] * motions.itemsize), MIN_SAMPLES), max_samples)
        """Number of samples that the log can hold."""
        self._rows = np.zeros((self.capacity + 1, ends[-1]))
        self._address: int = self._rows.ctypes.data
        logs = [self._rows[:, first:end] for first, end in pairwise(ends)]
        self.motions: Floats = logs[0].reshape(-1, *motions.shape)
        self.userdata, self.positions, self.velocities = logs[1:]
        self._pairs = list(zip(live, (self.motions, *logs[1:]), strict=True))
        # address and bytes of each live state array, and its columns of the log
        self._states = [(part.ctypes.data, part.nbytes, log) for part, log in self._pairs[1:]]
        self.steps = np.zeros(self.capacity, np.int64)
        """Steps after which the engine writes a row."""

    def address(self, row: int) -> int:
        """Return the memory address of a row."""
        return self._address + row * self._rows.strides[0]

    def column_of(self, state: Floats) -> Floats:
        """Return the logged values, one per row, of a view (1,) of the live qpos, qvel or userdata.

        Raises:
            EngineError: the view does not belong to this engine's state.
        """
        address: int = state.__array_interface__["data"][0]  # faster than `state.ctypes.data`
        for first, size, log in self._states:
            if 0 <= address - first < size:
                return log[:, (address - first) // state.itemsize]
        raise EngineError("this array is not a view of the engine's state; get a new view after a rebuild")

    def save_live(self) -> None:
        """Copy the live arrays into the extra row."""
        self.store_live(self.capacity)

    def store_live(self, row: int) -> None:
        """Copy the live arrays into a row."""
        for live, log in self._pairs:
            log[row] = live

    def copy_row(self, source: int, target: int) -> None:
        """Copy a row to another one."""
        if source != target:
            self._rows[target] = self._rows[source]

    def rows_to_bytes(self, count: int) -> bytes:
        """Return the first rows."""
        return self._rows[:count].tobytes()

    def rows_from_bytes(self, count: int, data: bytes) -> None:
        """Set the first rows to what `rows_to_bytes` returned."""
        self._rows[:count] = np.frombuffer(data).reshape(count, self._rows.shape[1])

    def load_row(self, row: int) -> None:
        """Copy a row into the live arrays, for reading only; call `restore_live` before the next step."""
        for live, log in self._pairs:
            live[...] = log[row]

    def restore_live(self) -> None:
        """Copy the extra row back into the live arrays."""
        self.load_row(self.capacity)
