"""The sea at one point, asked again and again: what `Water.sample` answers, without its cost for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call7, kernel
from skerry.water.flow import DENSITY, FLOW, HEAD, HEIGHT, NEED_FLOW, NEED_HEAD, ROWS
from skerry.water.water import Water

RESULT = 4  # where the answer begins, after x, y, z and the time


@kernel
def _query(function: int, table: int, userdata: int, point: Any, time: float, need: int, memory: Any) -> None:
    for i in range(3):
        memory[i] = point[i]
    memory[3] = time
    at = memory.ctypes.data
    call7(function, table, userdata, at + 24, need, 1, at, at + 8 * RESULT)


class WaterProbe:
    """Asks the water of a world with the state in `userdata`; for one thread at a time."""

    def __init__(self, water: Water, userdata: NDArray[np.float64]) -> None:
        self._water = water
        self._userdata = userdata
        self._memory = np.zeros(RESULT + ROWS)
        # a sea that reads nothing of it may be given any address
        self._sea = (water.address, water.table_address, (userdata if userdata.size else self._memory).ctypes.data)

    def height(self, point: NDArray[np.float64], time: float) -> float:
        """The z of the surface above or below a point."""
        _query(*self._sea, point, time, 0, self._memory)
        return self._memory.item(RESULT + HEIGHT)

    def pressure(self, point: NDArray[np.float64], time: float) -> tuple[float, float]:
        """Of the water alone at a point, Pa; and the water's density there, kg/m³."""
        _query(*self._sea, point, time, NEED_HEAD, self._memory)
        pressure = float(self._water.pressure_of_head(self._memory[RESULT + HEAD]))
        return pressure, self._memory.item(RESULT + DENSITY)

    def velocity(self, point: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        """Of the water at a point, m/s."""
        _query(*self._sea, point, time, NEED_FLOW, self._memory)
        return self._memory[RESULT + FLOW : RESULT + FLOW + 3].copy()
