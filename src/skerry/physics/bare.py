"""The engine without us: the same compiled model stepped by MuJoCo alone, to measure what our forces cost."""

from __future__ import annotations

import copy
from collections.abc import Callable

from skerry.physics.model import Model
from skerry.physics.mujoco import mujoco


def bare_steps(model: Model, steps: int) -> Callable[[], None]:
    """A function that steps a copy of the model, stripped of its program, from its start."""
    compiled = copy.copy(model.compiled)
    compiled.numeric_data[:] = 0.0
    data = mujoco.MjData(compiled)

    def run() -> None:
        mujoco.mj_resetData(compiled, data)
        mujoco.mj_step(compiled, data, nstep=steps)

    return run
