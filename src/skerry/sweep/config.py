"""Settings of a sweep file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from skerry.core.config import Config, Positive, Rational
from skerry.core.errors import Fault, FileError
from skerry.core.noise import Noise
from skerry.formats.yaml_documents import read_document


class AxisConfig(Config):
    """Axis of a sweep: one varied value."""

    paths: tuple[str, ...] | None = Field(
        None, description="scenario paths to set; the axis name by default; empty if only functions use the value"
    )

    def values(self) -> list[Any] | None:
        """Return the values of the axis, or None if a value is drawn for each repetition."""
        return None

    def draw(self, noise: Noise, repetition: int) -> Any:
        """Draw the value of a repetition."""
        raise NotImplementedError


class ListConfig(AxisConfig):
    """Axis with a list of values."""

    kind: Literal["list"] = "list"
    of: tuple[Any, ...] = Field(min_length=1, description="values")

    def values(self) -> list[Any]:
        return list(self.of)


class GridConfig(AxisConfig):
    """Axis with evenly spaced values, including both ends."""

    kind: Literal["grid"]
    start: int | float
    stop: int | float
    count: int = Field(ge=1, le=1_000_000)

    def values(self) -> list[Any]:
        spaced = np.linspace(self.start, self.stop, self.count).tolist()
        whole = isinstance(self.start, int) and isinstance(self.stop, int) and all(v.is_integer() for v in spaced)
        return [int(value) for value in spaced] if whole else spaced


class UniformConfig(AxisConfig):
    """Axis with uniformly distributed values."""

    kind: Literal["uniform"]
    low: float
    high: float

    @model_validator(mode="after")
    def _in_order(self) -> UniformConfig:
        if not self.low < self.high:
            raise ValueError("`low` must be less than `high`")
        return self

    def draw(self, noise: Noise, repetition: int) -> float:
        return self.low + (self.high - self.low) * noise.uniform(repetition)


class LogUniformConfig(AxisConfig):
    """Axis with log-uniformly distributed values."""

    kind: Literal["log_uniform"]
    low: Positive
    high: Positive

    @model_validator(mode="after")
    def _in_order(self) -> LogUniformConfig:
        if not self.low < self.high:
            raise ValueError("`low` must be less than `high`")
        return self

    def draw(self, noise: Noise, repetition: int) -> float:
        return float(self.low * (self.high / self.low) ** noise.uniform(repetition))


class NormalConfig(AxisConfig):
    """Axis with normally distributed values."""

    kind: Literal["normal"]
    mean: float
    sigma: Positive

    def draw(self, noise: Noise, repetition: int) -> float:
        return self.mean + self.sigma * noise.normal(repetition)


class ChoiceConfig(AxisConfig):
    """Axis with values drawn uniformly from a list."""

    kind: Literal["choice"]
    of: tuple[Any, ...] = Field(min_length=1, description="values")

    def draw(self, noise: Noise, repetition: int) -> Any:
        return self.of[int(noise.uniform(repetition) * len(self.of))]


def _as_axis(value: object) -> object:
    return {"kind": "list", "of": value} if isinstance(value, list) else value


Axis = Annotated[
    ListConfig | GridConfig | UniformConfig | LogUniformConfig | NormalConfig | ChoiceConfig,
    Field(discriminator="kind"),
    BeforeValidator(_as_axis),
]


class SweepConfig(Config):
    """Settings of a sweep: a scenario, the varied values and the metrics of each run."""

    scenario: str = Field(description="name of a shipped scenario, or a path relative to the sweep file")
    duration: Positive | None = Field(None, description="simulated time of each run, s; the scenario's own by default")
    seed: int = Field(0, ge=0, lt=2**62, description="seed of the first repetition and of all drawn values")
    repetitions: int = Field(1, ge=1, le=10_000_000, description="runs per combination, each with its own seed")
    vary: dict[str, Axis] = Field({}, description="axes by scenario path, or by a name of your choice")
    metrics: dict[str, str] = Field(min_length=1, description="metrics by name: an expression or `module:function`")
    sample_rate: Rational = Field(Fraction(1), gt=0, description="sample rate of the motion, Hz of simulated time")
    prepare: str | None = Field(
        None, description="`module:function` that is called with the world and the values before each run"
    )
    time_limit: Positive | None = Field(None, description="wall-clock limit of a run, s")


def read_sweep(path: Path) -> SweepConfig:
    """Read and check a sweep file.

    Raises:
        FileError: If the file is invalid; it lists all errors.
    """
    document = read_document(path)
    if not isinstance(document.data, dict):
        raise FileError(document.source, [Fault("", "must be a mapping of settings", document.data)])
    return SweepConfig.load(document, path.parent)
