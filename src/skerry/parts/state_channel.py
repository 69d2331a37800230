"""State channel: a number of the engine's state, readable now and from past samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class StateChannel:
    """Number of the engine's state with a linear conversion.

    The value is `offset` + `scale` · (state − `zero`) / `span`.
    """

    state: NDArray[np.float64]  # (1,), a view
    scale: float = 1.0
    offset: float = 0.0
    zero: float = 0.0
    span: float = 1.0

    def value_of(self, state: Any) -> Any:
        """Return the value for a number of the state, or for an array of such numbers."""
        return self.offset + self.scale * (state - self.zero) / self.span


Read: TypeAlias = Callable[[StateChannel], Any]
"""Function that reads a state channel: a number for the present, or an array for several past samples."""


def read_now(state_channel: StateChannel) -> float:
    """Return the present value of a state channel."""
    return float(state_channel.value_of(state_channel.state.item(0)))
