"""Form of observations: one array, or a dictionary with one array for each entry of the task's observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from skerry.gym.step_buffers import MAX_OBSERVATION
from skerry.gym.task import Task


class ObservationFormat:
    """Format of the observations of an environment.

    Attributes:
        space: Observation space of one robot: `Box`, or `Dict` with a `Box` for each entry.
    """

    def __init__(self, task: Task, dict_observations: bool) -> None:
        self.space: Any = _box(task.observation_size)
        self._entries: dict[str, slice] | None = None
        if dict_observations:
            self.space = spaces.Dict({name: _box(len(parts)) for name, parts in task.observations.items()})
            self._entries, start = {}, 0
            for name, parts in task.observations.items():
                self._entries[name] = slice(start, start + len(parts))
                start += len(parts)

    def format(self, observations: NDArray[np.float32]) -> Any:
        """Return observations (…, elements) in this format; the arrays of a dictionary are views."""
        if self._entries is None:
            return observations
        return {name: observations[..., part] for name, part in self._entries.items()}


def _box(size: int) -> spaces.Box:
    return spaces.Box(-MAX_OBSERVATION, MAX_OBSERVATION, (size,), np.float32)
