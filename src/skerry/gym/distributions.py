"""What a value is drawn from: each gives the value below which it lies with some probability."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from typing import Any

from skerry.core.errors import SkerryError
from skerry.core.noise import quantile


class Distribution:
    """Of one value."""

    @abstractmethod
    def at(self, probability: float) -> Any:
        """The value that belongs to a probability between 0 and 1, neither of which ever comes."""


@dataclass(frozen=True)
class Uniform(Distribution):
    """Every number between two is as likely as the others."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_order(self, self.low, self.high)

    def at(self, probability: float) -> float:
        return self.low + (self.high - self.low) * probability


@dataclass(frozen=True)
class LogUniform(Distribution):
    """The logarithm is uniform: for what may be some times smaller or larger, as a drag."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_order(self, self.low, self.high)
        if self.low <= 0:
            raise SkerryError(f"{self}: `low` must be above 0")

    def at(self, probability: float) -> float:
        return exp(log(self.low) + (log(self.high) - log(self.low)) * probability)


@dataclass(frozen=True)
class Normal(Distribution):
    """A bell."""

    mean: float
    sigma: float

    def __post_init__(self) -> None:
        if not (isfinite(self.mean) and isfinite(self.sigma) and self.sigma >= 0):
            raise SkerryError(f"{self}: needs finite numbers, and a `sigma` of 0 or more")

    def at(self, probability: float) -> float:
        return self.mean + self.sigma * float(quantile(probability))


@dataclass(frozen=True)
class Choice(Distribution):
    """One of several values, of any type."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.values) == 0:
            raise SkerryError("a Choice needs at least one value")

    def at(self, probability: float) -> Any:
        return self.values[int(probability * len(self.values))]


def _check_order(distribution: Distribution, low: float, high: float) -> None:
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise SkerryError(f"{distribution}: `low` must not be above `high`, and both must be finite")
