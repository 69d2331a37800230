"""A current that wanders about its mean: a Gauss–Markov process of first order, as a sum of harmonics.

Its autocorrelation is σ² exp(−|τ|/T), so its spectrum is Lorentz's, σ² (2T/π) / (1 + ω²T²) for ω > 0 (Fossen 2021,
§10.3). N pieces of equal energy have their middles at ω_i = tan(π/2 · (i + ½)/N)/T; harmonics of these frequencies,
equal amplitudes σ √(2/N) and random phases (Shinozuka & Deodatis 1991, Appl. Mech. Rev. 44, 191–204) make a Gaussian
process that needs no state: any instant can be asked for. A true one has no rate of change; this one has that of its
N harmonics.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.kernels import floats, stack_floats
from skerry.core.noise import Noise
from skerry.water.flow import (
    FLOW,
    FLOW_RATE,
    HEIGHT,
    NEED_FLOW,
    NEED_FLOW_RATE,
    CurrentConfig,
    FlowPart,
    flow,
    height_in_fluid,
    is_in_volume,
    own_constants,
)
from skerry.water.trigonometry import TURN, cosine, sine, wrap


@flow
def wander(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Constants: mean (3), amplitude (3), how many, frequencies (rad/s), then the phases (turns) of each axis."""
    if not need & (NEED_FLOW | NEED_FLOW_RATE):
        return
    settings = own_constants(table, 7)
    n = int(settings[6])
    frequency = floats(table + 8 * 8, n)
    turned = floats(time, 1)[0] * TURN
    now = floats(stack_floats(6), 6)
    for k in range(3):
        phase = floats(table + 8 * (8 + (1 + k) * n), n)
        total = rate = 0.0
        for j in range(n):
            q = wrap(phase[j] + frequency[j] * turned)
            total += cosine(q)
            rate -= frequency[j] * sine(q)
        now[k] = settings[k] + settings[3 + k] * total
        now[3 + k] = settings[3 + k] * rate
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    velocity, change = floats(out + 8 * FLOW * count, 3 * count), floats(out + 8 * FLOW_RATE * count, 3 * count)
    for i in range(count):
        if is_in_volume(table, x[i], y[i], height_in_fluid(need, z[i], height[i])):
            for k in range(3):
                velocity[k * count + i] += now[k]
                change[k * count + i] += now[3 + k]


class GaussMarkovCurrent(CurrentConfig):
    """A current (ENU, m/s) that varies in time about its `mean`, alike in all of its volume."""

    kind: Literal["gauss_markov"] = "gauss_markov"
    mean: Vector3 = (0.0, 0.0, 0.0)
    sigma: tuple[NonNegative, NonNegative, NonNegative] = Field(description="standard deviation of each axis, m/s")
    correlation_time: Positive = Field(description="after which the correlation has fallen to 1/e, s")
    harmonics: int = Field(32, ge=4, le=2000)
    seed: int | None = Field(None, ge=0, description="of the phases; from the scenario's and the name by default")

    def with_seed(self, seed: int) -> GaussMarkovCurrent:
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    def build(self, gravity: float) -> FlowPart:
        n = self.harmonics
        frequency = np.tan(0.5 * np.pi * (np.arange(n) + 0.5) / n) / self.correlation_time
        phase = Noise(self.seed or 0, "gauss_markov").uniform(0, (3, n))
        amplitude = np.array(self.sigma) * np.sqrt(2.0 / n)
        return FlowPart(wander, self.limited(self.mean, amplitude, n, frequency, phase), has_acceleration=True)
