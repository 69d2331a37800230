"""A sensor in the world: when it is due, its noise, and its latest reading."""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import is_dataclass
from fractions import Fraction
from typing import Any

from skerry.core.clock import Rate
from skerry.core.noise import Noise
from skerry.parts.component import Component
from skerry.parts.sensor import Sensor, Truth


class MountedSensor(Component):
    """A sensor with its rate and its noise stream.

    Nothing is measured that nobody wants: from the first time that its reading is asked for, it is measured whenever it
    is due. A sensor that watches sees every due instant all the same.
    """

    def __init__(self, sensor: Sensor[Any], rate: Rate, noise: Noise, truth: Truth) -> None:
        self.sensor = sensor
        self.rate = rate
        self.wanted = False
        self._noise = noise
        self._truth = truth
        self._reading: Any = None
        self._measured = -1  # the number of the due instant that the reading is of
        self._watched = -1  # and of the last one that the sensor has seen

    @property
    def reading(self) -> Any:
        """The latest due reading, measured now if nobody had asked before; None if there is none."""
        self.wanted = True
        self.measure_if_due()
        return self._reading

    @property
    def has_new_data(self) -> bool:
        """Whether the latest due instant gave a reading."""
        return self._measured == self.rate.count(self._truth.tick) and self._reading is not None

    def measure_if_due(self) -> bool:
        """Measure if an instant has become due since the last reading; say whether it did."""
        self.watch_if_due()
        due = self.rate.count(self._truth.tick)
        if due == self._measured:
            return False
        self._reading = self.sensor.measure(self._truth, self._noise)
        self._measured = due
        return True

    def watch_if_due(self) -> None:
        """Let a sensor that watches see an instant that has become due."""
        if self.sensor.watches:
            due = self.rate.count(self._truth.tick)
            if due != self._watched:
                self.sensor.watch(self._truth)
                self._watched = due

    def state(self) -> bytes:
        kept = (self.wanted, self._measured, self._watched, self._reading, self.sensor.state())
        return pickle.dumps(kept, protocol=5)

    def set_state(self, state: bytes) -> None:
        self.wanted, self._measured, self._watched, self._reading, inner = _ReadingsOnly(io.BytesIO(state)).load()
        self.sensor.set_state(inner)


# what numpy names when it pickles an array or a number
_NUMPY = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class _ReadingsOnly(pickle.Unpickler):
    """Reads back readings, which are dataclasses, and nothing else: a snapshot is data, and runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules.get(module), name, None)
        if (module, name) in _NUMPY or (isinstance(found, type) and (is_dataclass(found) or found is Fraction)):
            return found
        raise pickle.UnpicklingError(f"a snapshot must not name {module}.{name}")
