"""PID loop with the derivative on the measurement and an integral that does not wind up."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.kernels import strict_kernel


class PidConfig(Config):
    """Gains of a PID loop: output per unit of error."""

    proportional: NonNegative = 0.0
    integral: NonNegative = Field(0.0, description="integral gain, per second")
    integral_within: Positive | None = Field(
        None, description="larger errors are not integrated; by default all errors are"
    )
    derivative: NonNegative = Field(0.0, description="derivative gain, seconds")
    smoothing: NonNegative = Field(0.0, description="time constant of the filter of the derivative, s")
    limit: Positive = Field(description="largest output in both directions")


@strict_kernel
def wrapped(angle: float) -> float:
    """Return the equivalent angle in [−π, π), rad."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


# State of a loop: output, integral part of it, filtered rate, last measurement (NaN before the first one)
OUTPUT, SUM, RATE, LAST, MEMORY_SIZE = range(5)
# Gains of a loop in the order of its settings; IS_ANGLE is 1 for an angle, GAINS is the number of gains
PROPORTIONAL, INTEGRAL, WITHIN, DERIVATIVE, SMOOTHING, LIMIT, IS_ANGLE, GAINS = range(8)


@strict_kernel
def _difference(one: float, other: float, g: Any) -> float:
    return wrapped(one - other) if g[IS_ANGLE] != 0.0 else one - other


@strict_kernel
def step(n: Any, g: Any, wanted: float, measured: float, seconds: float, integrate: bool) -> float:
    """Return the output of a loop, `seconds` after the last step.

    Args:
        n: State of the loop, (MEMORY_SIZE,).
        g: Gains of the loop, (GAINS,).
        wanted: Setpoint.
        measured: Measurement.
        seconds: Time since the last step, s.
        integrate: Whether to integrate the error in this step.
    """
    error = _difference(wanted, measured, g)
    if not np.isnan(n[LAST]):
        rate = _difference(measured, n[LAST], g) / seconds
        n[RATE] += (rate - n[RATE]) * seconds / (seconds + g[SMOOTHING])
    n[LAST] = measured
    rest = g[PROPORTIONAL] * error - g[DERIVATIVE] * n[RATE]
    grown = n[SUM]
    if integrate and abs(error) <= g[WITHIN]:
        grown += g[INTEGRAL] * error * seconds
    # An integral that would drive the output further beyond its limit is not changed (conditional integration:
    # Åström and Hägglund 2006, Advanced PID Control, §3.5).
    if abs(rest + grown) < g[LIMIT] or (rest + grown) * error < 0.0:
        n[SUM] = min(max(grown, -g[LIMIT]), g[LIMIT])
    n[OUTPUT] = min(max(rest + n[SUM], -g[LIMIT]), g[LIMIT])
    return n[OUTPUT]


class Pid:
    """PID loop. For an angle, error and rate are taken along the shorter arc."""

    def __init__(self, config: PidConfig, is_angle: bool = False) -> None:
        self.gains = gains_of(config, is_angle)
        self.memory = np.zeros(MEMORY_SIZE)
        self.reset()

    @property
    def output(self) -> float:
        """Last output."""
        return float(self.memory[OUTPUT])

    def reset(self) -> None:
        """Reset output, integral and rate."""
        self.memory[:] = 0.0
        self.memory[LAST] = np.nan

    def step(self, wanted: float, measured: float, seconds: float, integrate: bool = True) -> float:
        """Return the output, `seconds` after the last step.

        `integrate` is false while the output is limited elsewhere, so that the integral does not wind up.
        """
        return float(step(self.memory, self.gains, float(wanted), float(measured), seconds, integrate))

    def state(self) -> list[float | None]:
        """Return the state of the loop; NaN is returned as None."""
        return [None if isnan(number) else number for number in self.memory.tolist()]

    def set_state(self, state: list[float | None]) -> None:
        self.memory[:] = [nan if number is None else number for number in state]


def gains_of(config: PidConfig, is_angle: bool = False) -> NDArray[np.float64]:
    """Return the gains of a loop for native code, (GAINS,)."""
    within = inf if config.integral_within is None else config.integral_within
    gains = [config.proportional, config.integral, within, config.derivative, config.smoothing, config.limit]
    return np.array([*gains, float(is_angle)])
