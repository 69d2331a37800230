"""A PID loop: derivative on the measurement, and an integral that does not wind up."""

from __future__ import annotations

from math import pi

from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive


class PidConfig(Config):
    """Gains of a loop: its output per unit of its error."""

    proportional: NonNegative = 0.0
    integral: NonNegative = Field(0.0, description="per second")
    integral_within: Positive | None = Field(None, description="errors beyond it are not integrated; all by default")
    derivative: NonNegative = Field(0.0, description="seconds")
    smoothing: NonNegative = Field(0.0, description="time constant of the derivative's filter, s")
    limit: Positive = Field(description="largest output, either way")


def wrapped(angle: float) -> float:
    """The same angle from −π to below π, rad."""
    return (angle + pi) % (2.0 * pi) - pi


class Pid:
    """One loop. An angle's error and change are taken the short way round."""

    def __init__(self, config: PidConfig, is_angle: bool = False) -> None:
        self._config = config
        self._is_angle = is_angle
        self.reset()

    def reset(self) -> None:
        """Forget what was."""
        self.output = 0.0
        self._sum = 0.0  # the integral's share of the output
        self._rate = 0.0
        self._last: float | None = None

    def step(self, wanted: float, measured: float, seconds: float, integrate: bool = True) -> float:
        """The output, so many seconds after the last one; `integrate` is false where its output is cut elsewhere."""
        config = self._config
        error = self._difference(wanted, measured)
        if self._last is not None:
            rate = self._difference(measured, self._last) / seconds
            self._rate += (rate - self._rate) * seconds / (seconds + config.smoothing)
        self._last = measured
        rest = config.proportional * error - config.derivative * self._rate
        near = integrate and (config.integral_within is None or abs(error) <= config.integral_within)
        grown = self._sum + (config.integral * error * seconds if near else 0.0)
        # An integral that would drive an output further beyond its limit stays as it is (conditional integration:
        # Åström and Hägglund 2006, Advanced PID Control, §3.5).
        if abs(rest + grown) < config.limit or (rest + grown) * error < 0.0:
            self._sum = min(max(grown, -config.limit), config.limit)
        self.output = min(max(rest + self._sum, -config.limit), config.limit)
        return self.output

    def _difference(self, one: float, other: float) -> float:
        return wrapped(one - other) if self._is_angle else one - other

    def state(self) -> list[float | None]:
        """All that it remembers."""
        return [self.output, self._sum, self._rate, self._last]

    def set_state(self, state: list[float | None]) -> None:
        self.output, self._sum, self._rate = (number or 0.0 for number in state[:3])
        self._last = state[3]
