"""One sea: the same function answers laws natively and everybody else from Python."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Config, Positive, of_kind
from skerry.core.errors import SkerryError
from skerry.core.kernels import call7, floats, load_word
from skerry.water.flow import (
    CURRENTS,
    DENSITY,
    FLOW,
    NEED_ALL,
    NEED_FLOW,
    NEED_FLOW_RATE,
    NEED_SLOPE,
    ROWS,
    SLOPE,
    SURFACES,
    FlowPart,
    flow,
)
from skerry.water.spectrum import Components
from skerry.water.surfaces.flat import Flat


@flow
def sea(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """The whole sea: density, surface, then the currents, added up. Table: density, number of parts, (function, table)
    each.
    """
    first = SLOPE if need & NEED_SLOPE else FLOW
    last = DENSITY if need & (NEED_FLOW | NEED_FLOW_RATE) else FLOW
    rest = floats(out + 8 * first * count, (last - first) * count)
    for i in range(rest.size):
        rest[i] = 0.0
    density = floats(out + 8 * DENSITY * count, count)
    for i in range(count):
        density[i] = floats(table, 1)[0]
    for k in range(load_word(table + 8)):
        part = table + 16 + 16 * k
        call7(load_word(part), load_word(part + 8), userdata, time, need, count, points, out)


@dataclass(frozen=True)
class WaterSample:
    """The sea at some points and one instant; leading shape is that of the points."""

    height: NDArray[np.float64]  # of the surface above or below the point, m
    slope: NDArray[np.float64]  # (…, 2) of the surface
    velocity: NDArray[np.float64]  # (…, 3) of the water, m/s
    acceleration: NDArray[np.float64]  # (…, 3), m/s²
    density: NDArray[np.float64]  # kg/m³


class WaterConfig(Config):
    """Settings of the sea."""

    density: Positive = Field(1025.0, description="kg/m³; sea water at about 15 °C and 35 g/kg")
    surface: of_kind(SURFACES) = Flat()  # type: ignore[valid-type]
    currents: dict[str, of_kind(CURRENTS)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    def with_seed(self, seed: int) -> WaterConfig:
        """The same settings with this seed wherever a seed was left out."""
        currents = {name: current.with_seed(seed) for name, current in self.currents.items()}
        return self.model_copy(update={"surface": self.surface.with_seed(seed), "currents": currents})

    def build(self, gravity: float) -> Water:
        """The sea."""
        return Water(self, gravity)


class Water:
    """The sea as a whole. `address` and `table_address` are what native laws call it by."""

    def __init__(self, config: WaterConfig, gravity: float) -> None:
        self.config = config
        parts: list[FlowPart] = [
            config.surface.build(gravity),
            *(current.build(gravity) for current in config.currents.values()),
        ]
        self._parts = parts
        self._table = np.zeros(2 + 2 * len(parts))
        self._table[0] = config.density
        table_words = self._table.view(np.int64)
        table_words[1] = len(parts)
        for k, part in enumerate(parts):
            table_words[2 + 2 * k : 4 + 2 * k] = part.function.address, part.table.ctypes.data
        self.address: int = sea.address
        self.table_address: int = self._table.ctypes.data
        self._call: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(sea.address)

    @property
    def waves(self) -> Components | None:
        """The components of the surface, if it has waves: all that is needed to draw it."""
        return self._parts[0].waves

    @property
    def accelerates(self) -> bool:
        """Whether the flow anywhere has a rate of change."""
        return any(part.accelerates for part in self._parts)

    @property
    def density(self) -> float:
        """The density of the water, kg/m³."""
        return self.config.density

    def sample(
        self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None, need: int = NEED_ALL
    ) -> WaterSample:
        """The sea at points (…, 3) in the world; `state` is the engine's userdata, for parts that have a state."""
        given = np.asarray(points, np.float64)
        if given.shape[-1:] != (3,):
            raise SkerryError(f"points must have 3 coordinates each, but have the shape {given.shape}")
        shape = given.shape[:-1]
        rows = np.ascontiguousarray(given.reshape(-1, 3).T)
        count = rows.shape[1]
        out = np.empty((ROWS, count))
        instant = np.array([time], np.float64)
        userdata = np.zeros(1) if state is None else state
        if count:
            self._call(
                self.table_address,
                userdata.ctypes.data,
                instant.ctypes.data,
                need,
                count,
                rows.ctypes.data,
                out.ctypes.data,
            )
        return WaterSample(
            out[0].reshape(shape),
            out[SLOPE:FLOW].T.reshape(*shape, 2),
            out[FLOW : FLOW + 3].T.reshape(*shape, 3),
            out[FLOW + 3 : FLOW + 6].T.reshape(*shape, 3),
            out[DENSITY].reshape(shape),
        )
