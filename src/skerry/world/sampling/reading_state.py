"""Readings in snapshots: unpickling that accepts data only."""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import is_dataclass
from fractions import Fraction
from typing import Any


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
