"""Current that varies randomly about its mean: a first-order Gauss–Markov process as a sum of harmonics.

The autocorrelation is σ² exp(−|τ|/T), so the spectrum is Lorentzian, σ² (2T/π) / (1 + ω²T²) for ω > 0 (Fossen 2021,
§10.3). N bands of equal energy have their centres at ω_i = tan(π/2 · (i + ½)/N)/T. Harmonics of these frequencies with
equal amplitudes σ √(2/N) and random phases (Shinozuka & Deodatis 1991, Appl. Mech. Rev. 44, 191–204) form a Gaussian
process without state, which can be evaluated at any time. An exact Gauss–Markov process is not differentiable; the
acceleration here is that of the N harmonics.
"""

from __future__ import annotations

from typing import Any, Literal, Self

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
    """Native function. Constants: mean (3), amplitude (3), number of harmonics, frequencies (rad/s), phases (turns)."""
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
    """Current (ENU, m/s) that varies in time about its `mean`, equally in its whole volume."""

    kind: Literal["gauss_markov"] = "gauss_markov"
    mean: Vector3 = (0.0, 0.0, 0.0)
    sigma: tuple[NonNegative, NonNegative, NonNegative] = Field(description="standard deviation of each axis, m/s")
    correlation_time: Positive = Field(description="time after which the correlation is 1/e, s")
    harmonics: int = Field(32, ge=4, le=2000)
    seed: int | None = Field(
        None, ge=0, description="seed of the phases; derived from the scenario's seed and the name by default"
    )

    def with_seed(self, seed: int) -> GaussMarkovCurrent:
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"sigma": [0.2, 0.1, 0.05], "correlation_time": 60} | settings)

    def build(self, gravity: float) -> FlowPart:
        n = self.harmonics
        frequency = np.tan(0.5 * np.pi * (np.arange(n) + 0.5) / n) / self.correlation_time
        phase = Noise(self.seed or 0, "gauss_markov").uniform(0, (3, n))
        amplitude = np.array(self.sigma) * np.sqrt(2.0 / n)
        return FlowPart(wander, self.table_of(self.mean, amplitude, n, frequency, phase), has_acceleration=True)
