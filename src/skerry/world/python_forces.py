"""Forces as Python functions: slower than native laws, with the same inputs and results. For experiments."""

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
    """State of the link that a force function gets; the same values that a native law gets."""

    time: float
    position: NDArray[np.float64]  # (3,), origin of the link in the world, m
    rotation: NDArray[np.float64]  # (3, 3), link to world
    velocity: NDArray[np.float64]  # (6,), linear and angular, in the axes of the link
    relative_velocity: NDArray[np.float64]  # (6,), linear and angular velocity relative to the water
    surface: float  # height of the water surface at the link, m
    density: float  # density of the water, kg/m³
    submerged: float  # share of the body under water


ForceFunction = Callable[[LinkState], ArrayLike]
"""Function of the state of a link; returns force and torque (6 numbers) in the axes of the link, about its origin."""


class PythonForce:
    """Python function that is called like a native law, in the same pass."""

    def __init__(self, name: str, function: ForceFunction) -> None:
        self.name = name
        self.function = function
        self.error: BaseException | None = None
        self._callback = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(self._call)
        self.address: int = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def law(self, at: laws.Attachment) -> laws.Law:
        """Return the law that calls the function."""
        self._offset = at.offset
        self._to_link = laws.turned_shift(at.offset)
        return laws.Law(np.zeros(0), force=self)

    def raise_error(self) -> None:
        """Raise the error of the function, if it failed, in the thread of the caller."""
        if self.error is not None:
            error, self.error = self.error, None
            error.add_note(f"raised in the Python force on {self.name!r}")
            raise error

    def _link_state(self, block: NDArray[np.float64]) -> LinkState:
        """Return the state of the link, from the block of the body that carries it."""
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
        except BaseException as error:  # must not pass through native code; raise_error raises it after the step
            self.error = error


def _wrench(value: Any) -> NDArray[np.float64]:
    wrench = np.asarray(value, np.float64)
    if wrench.shape != (6,):
        raise ValueError(
            f"a force function must return 6 numbers (force and torque), but returned an array of shape {wrench.shape}"
        )
    return wrench
