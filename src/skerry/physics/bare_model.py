"""Step a compiled model by MuJoCo alone, without Skerry's laws, to measure what the laws cost."""

from __future__ import annotations

import copy
from collections.abc import Callable

from skerry.physics.model import Model
from skerry.physics.mujoco import mujoco


def bare_stepper(model: Model, steps: int) -> Callable[[], None]:
    """Return a function that resets a copy of the model without its laws and makes `steps` steps."""
    compiled = copy.copy(model.compiled)
    compiled.numeric_data[:] = 0.0
    data = mujoco.MjData(compiled)

    def run() -> None:
        mujoco.mj_resetData(compiled, data)
        mujoco.mj_step(compiled, data, nstep=steps)

    return run
