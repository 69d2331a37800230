"""A PID loop: derivative on the measurement, and an integral that does not wind up."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.kernels import strict_kernel


class PidConfig(Config):
    """Gains of a loop: its output per unit of its error."""

    proportional: NonNegative = 0.0
    integral: NonNegative = Field(0.0, description="per second")
    integral_within: Positive | None = Field(None, description="errors beyond it are not integrated; all by default")
    derivative: NonNegative = Field(0.0, description="seconds")
    smoothing: NonNegative = Field(0.0, description="time constant of the derivative's filter, s")
    limit: Positive = Field(description="largest output, either way")


@strict_kernel
def wrapped(angle: float) -> float:
    """The same angle from −π to below π, rad."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


# What a loop remembers: its output, the integral's share of it, the rate, and what was measured last, NaN at first.
OUTPUT, SUM, RATE, LAST, MEMORY_SIZE = range(5)
# Its gains, as its settings have them; beyond which error none is integrated; the limit; whether it is of an angle.
PROPORTIONAL, INTEGRAL, WITHIN, DERIVATIVE, SMOOTHING, LIMIT, IS_ANGLE, GAINS = range(8)


@strict_kernel
def _difference(one: float, other: float, g: Any) -> float:
    return wrapped(one - other) if g[IS_ANGLE] != 0.0 else one - other


@strict_kernel
def step(n: Any, g: Any, wanted: float, measured: float, seconds: float, integrate: bool) -> float:
    """The output of a loop, so many seconds after the last one."""
    error = _difference(wanted, measured, g)
    if not np.isnan(n[LAST]):
        rate = _difference(measured, n[LAST], g) / seconds
        n[RATE] += (rate - n[RATE]) * seconds / (seconds + g[SMOOTHING])
    n[LAST] = measured
    rest = g[PROPORTIONAL] * error - g[DERIVATIVE] * n[RATE]
    grown = n[SUM]
    if integrate and abs(error) <= g[WITHIN]:
        grown += g[INTEGRAL] * error * seconds
    # An integral that would drive an output further beyond its limit stays as it is (conditional integration:
    # Åström and Hägglund 2006, Advanced PID Control, §3.5).
    if abs(rest + grown) < g[LIMIT] or (rest + grown) * error < 0.0:
        n[SUM] = min(max(grown, -g[LIMIT]), g[LIMIT])
    n[OUTPUT] = min(max(rest + n[SUM], -g[LIMIT]), g[LIMIT])
    return n[OUTPUT]


class Pid:
    """One loop. An angle's error and change are taken the short way round."""

    def __init__(self, config: PidConfig, is_angle: bool = False) -> None:
        self.gains = gains_of(config, is_angle)
        self.memory = np.zeros(MEMORY_SIZE)
        self.reset()

    @property
    def output(self) -> float:
        """What it gave last."""
        return float(self.memory[OUTPUT])

    def reset(self) -> None:
        """Forget what was."""
        self.memory[:] = 0.0
        self.memory[LAST] = np.nan

    def step(self, wanted: float, measured: float, seconds: float, integrate: bool = True) -> float:
        """The output, so many seconds after the last one; `integrate` is false where its output is cut elsewhere."""
        return float(step(self.memory, self.gains, float(wanted), float(measured), seconds, integrate))

    def state(self) -> list[float | None]:
        """All that it remembers."""
        return [None if isnan(number) else number for number in self.memory.tolist()]

    def set_state(self, state: list[float | None]) -> None:
        self.memory[:] = [nan if number is None else number for number in state]


def gains_of(config: PidConfig, is_angle: bool = False) -> NDArray[np.float64]:
    """The gains of a loop, for native code."""
    within = inf if config.integral_within is None else config.integral_within
    gains = [config.proportional, config.integral, within, config.derivative, config.smoothing, config.limit]
    return np.array([*gains, float(is_angle)])
