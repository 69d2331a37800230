"""A gauge: a number of the engine's state that tells something of a part, and can be read of the past too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class StateChannel:
    """What it shows is `offset` + `scale` · (a number of the state − `zero`) / `span`."""

    state: NDArray[np.float64]  # (1,), a view
    scale: float = 1.0
    offset: float = 0.0
    zero: float = 0.0
    span: float = 1.0

    def shows(self, state: Any) -> Any:
        """What it shows where the number, or each of an array of them, is this."""
        return self.offset + self.scale * (state - self.zero) / self.span


Read: TypeAlias = Callable[[StateChannel], Any]
"""Reads a gauge: a number, as it is now, or an array of them, as it was at several instants."""


def read_now(state_channel: StateChannel) -> float:
    """What it shows now."""
    return float(state_channel.shows(state_channel.state.item(0)))
