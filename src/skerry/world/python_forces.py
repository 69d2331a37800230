"""Forces in Python: slower than a native law, but the same numbers, for those who try something out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.parts import law as laws


@dataclass(frozen=True)
class LinkState:
    """What a force sees of its link: exactly what a native law sees, at the same instants."""

    time: float
    position: NDArray[np.float64]  # of the link's origin in the world
    rotation: NDArray[np.float64]  # (3, 3), link to world
    velocity: NDArray[np.float64]  # (6,): linear and angular, in the link's axes
    relative_velocity: NDArray[np.float64]  # (6,): the same, through the water
    surface: float  # height of the water surface here
    density: float  # of the water
    submerged: float  # share of the body under water


ForceFunction = Callable[[LinkState], ArrayLike]
"""Takes a link's state; gives force and torque (6 numbers) in the link's axes, about its origin."""


class PythonForce:
    """A Python function in the place of a native one: called in the same pass, whenever the integrator asks."""

    def __init__(self, name: str, function: ForceFunction) -> None:
        self.name = name
        self.function = function
        self.error: BaseException | None = None
        self._callback = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(self._call)
        self.address: int = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def law(self, at: laws.Attachment) -> laws.Law:
        """The law that calls it."""
        self._offset = at.offset
        self._to_link = laws.turned_shift(at.offset)
        return laws.Law(np.zeros(0), force=self)

    def raise_error(self) -> None:
        """Raise what the function raised, in the caller's thread."""
        if self.error is not None:
            error, self.error = self.error, None
            error.add_note(f"raised in the Python force on {self.name!r}")
            raise error

    def _link_state(self, block: NDArray[np.float64]) -> LinkState:
        """The link's state, from that of the body that carries it."""
        rotation = block[laws.ROTATION : laws.ROTATION + 9].reshape(3, 3)
        return LinkState(
            float(block[laws.TIME]),
            block[laws.POSITION : laws.POSITION + 3] + rotation @ self._offset.position,
            rotation @ self._offset.rotation,
            self._to_link @ block[laws.VELOCITY : laws.VELOCITY + 6],
            self._to_link @ block[laws.RELATIVE : laws.RELATIVE + 6],
            float(block[laws.SURFACE]),
            float(block[laws.DENSITY]),
            float(block[laws.SUBMERGED]),
        )

    def _call(self, model: int, data: int, table: int) -> None:
        if self.error is not None:
            return
        try:
            header = (ctypes.c_int64 * laws.HEADER).from_address(table)
            userdata = ctypes.c_int64.from_address(data + header[laws.USERDATA_OFFSET]).value
            address = userdata + 8 * header[laws.BLOCK_START]
            block = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), (laws.BLOCK,))
            wrench = _wrench(self.function(self._link_state(block)))
            block[laws.WRENCH : laws.WRENCH + 6] += self._to_link.T @ wrench
        except BaseException as error:  # must not pass through native code; raised after the step
            self.error = error


def _wrench(value: Any) -> NDArray[np.float64]:
    wrench = np.asarray(value, np.float64)
    if wrench.shape != (6,):
        raise ValueError(
            f"a force function must return 6 numbers (force and torque), not an array of shape {wrench.shape}"
        )
    return wrench
