"""The sea at one point, asked again and again: what `Water.sample` answers, without its cost for arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.water.flow import DENSITY, FLOW, HEAD, HEIGHT, NEED_FLOW, NEED_HEAD, ROWS
from skerry.water.water import Water


class Probe:
    """Asks the water of a world with the state in `userdata`; for one thread at a time."""

    def __init__(self, water: Water, userdata: NDArray[np.float64]) -> None:
        self._water = water
        self._memory = np.zeros(4 + ROWS)  # x, y, z, time; the answer
        self._userdata = userdata
        at = self._memory.ctypes.data
        self._call = water.call
        self._head = (water.table_address, userdata.ctypes.data if userdata.size else at, at + 24)
        self._tail = (1, at, at + 32)

    def height(self, point: NDArray[np.float64], time: float) -> float:
        """The z of the surface above or below a point."""
        self._ask(point, time, 0)
        return float(self._memory[4 + HEIGHT])

    def pressure(self, point: NDArray[np.float64], time: float) -> tuple[float, float]:
        """Of the water alone at a point, Pa; and the water's density there, kg/m³."""
        self._ask(point, time, NEED_HEAD)
        return float(self._water.pressure_of_head(self._memory[4 + HEAD])), float(self._memory[4 + DENSITY])

    def velocity(self, point: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        """Of the water at a point, m/s."""
        self._ask(point, time, NEED_FLOW)
        return self._memory[4 + FLOW : 4 + FLOW + 3].copy()

    def _ask(self, point: NDArray[np.float64], time: float, need: int) -> None:
        self._memory[0], self._memory[1], self._memory[2] = point
        self._memory[3] = time
        self._call(*self._head, need, *self._tail)
