"""Fast repeated queries of the water at single points; same results as `Water.sample`, without array overhead."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call7, kernel
from skerry.water.flow import DENSITY, FLOW, HEAD, HEIGHT, NEED_FLOW, NEED_HEAD, ROWS
from skerry.water.water import Water

RESULT = 4  # offset of the result in the memory, after x, y, z and the time


@kernel
def _query(function: int, table: int, userdata: int, point: Any, time: float, need: int, memory: Any) -> None:
    for i in range(3):
        memory[i] = point[i]
    memory[3] = time
    at = memory.ctypes.data
    call7(function, table, userdata, at + 24, need, 1, at, at + 8 * RESULT)


class WaterProbe:
    """Queries of the water of one world, whose state is in `userdata`; not thread-safe."""

    def __init__(self, water: Water, userdata: NDArray[np.float64]) -> None:
        self._water = water
        self._userdata = userdata
        self._memory = np.zeros(RESULT + ROWS)
        # If there is no userdata, the sea does not read it, and any address is valid.
        self._sea = (water.address, water.table_address, (userdata if userdata.size else self._memory).ctypes.data)

    def height(self, point: NDArray[np.float64], time: float) -> float:
        """Return the z of the surface above or below a point, m."""
        _query(*self._sea, point, time, 0, self._memory)
        return self._memory.item(RESULT + HEIGHT)

    def pressure(self, point: NDArray[np.float64], time: float) -> tuple[float, float]:
        """Return the pressure of the water at a point without that of the air, Pa, and the density there, kg/m³."""
        _query(*self._sea, point, time, NEED_HEAD, self._memory)
        pressure = float(self._water.pressure_of_head(self._memory[RESULT + HEAD]))
        return pressure, self._memory.item(RESULT + DENSITY)

    def velocity(self, point: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        """Return the velocity of the water at a point, m/s."""
        _query(*self._sea, point, time, NEED_FLOW, self._memory)
        return self._memory[RESULT + FLOW : RESULT + FLOW + 3].copy()
