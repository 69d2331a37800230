"""Distributions of random values, given by their quantile functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from typing import Any

from skerry.core.errors import SkerryError
from skerry.core.noise import quantile


class Distribution:
    """Distribution of one value."""

    @abstractmethod
    def at(self, probability: float) -> Any:
        """Return the quantile for a probability strictly between 0 and 1."""


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform distribution between `low` and `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_order(self, self.low, self.high)

    def at(self, probability: float) -> float:
        return self.low + (self.high - self.low) * probability


@dataclass(frozen=True)
class LogUniform(Distribution):
    """Log-uniform distribution, for values that vary by a factor, such as drag."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_order(self, self.low, self.high)
        if self.low <= 0:
            raise SkerryError(f"{self}: `low` must be greater than 0")

    def at(self, probability: float) -> float:
        return exp(log(self.low) + (log(self.high) - log(self.low)) * probability)


@dataclass(frozen=True)
class Normal(Distribution):
    """Normal distribution."""

    mean: float
    sigma: float

    def __post_init__(self) -> None:
        if not (isfinite(self.mean) and isfinite(self.sigma) and self.sigma >= 0):
            raise SkerryError(f"{self}: `mean` and `sigma` must be finite, and `sigma` at least 0")

    def at(self, probability: float) -> float:
        return self.mean + self.sigma * float(quantile(probability))


@dataclass(frozen=True)
class Choice(Distribution):
    """Uniform choice among values of any type."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.values) == 0:
            raise SkerryError("Choice needs at least one value")

    def at(self, probability: float) -> Any:
        return self.values[int(probability * len(self.values))]


def _check_order(distribution: Distribution, low: float, high: float) -> None:
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise SkerryError(f"{distribution}: `low` must not exceed `high`, and both must be finite")
