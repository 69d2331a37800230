"""Latest reading of a sensor, and its serialisation in snapshots."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from fractions import Fraction
from typing import Any


class LatestReading:
    """Latest reading of a sensor. The last reading of a batch is built only when it is needed."""

    def __init__(self) -> None:
        self._reading: Any = None
        self._batch: Sequence[Any] | None = None

    def set(self, reading: Any) -> None:
        """Store one reading, or None."""
        self._reading, self._batch = reading, None

    def set_batch(self, readings: Sequence[Any]) -> None:
        """Store a batch, whose last reading is the latest."""
        self._batch = readings

    def get(self) -> Any:
        """Return the latest reading, or None."""
        if self._batch is not None:
            self.set(self._batch[len(self._batch) - 1])
        return self._reading


def load_state(state: bytes) -> Any:
    """Unpickle the state of a sensor. Only readings (dataclasses), numbers and numpy arrays are allowed.

    Raises:
        pickle.UnpicklingError: The bytes name another class or function. A snapshot is data and must not run code.
    """
    return _ReadingUnpickler(io.BytesIO(state)).load()


# Names that numpy uses when it pickles an array or a number.
_NUMPY = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class _ReadingUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules.get(module), name, None)
        if (module, name) in _NUMPY or (isinstance(found, type) and (is_dataclass(found) or found is Fraction)):
            return found
        raise pickle.UnpicklingError(f"a snapshot must not name {module}.{name}")
