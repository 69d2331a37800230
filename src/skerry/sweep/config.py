"""What a sweep file may say."""

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
    """One thing that varies."""

    paths: tuple[str, ...] | None = Field(
        None, description="the places in the scenario; its own name by default; none if it is for functions alone"
    )

    def values(self) -> list[Any] | None:
        """What it runs through, or None if it is drawn anew for each repetition."""
        return None

    def draw(self, noise: Noise, repetition: int) -> Any:
        """What a repetition has, where it is drawn."""
        raise NotImplementedError


class ListConfig(AxisConfig):
    """Runs through given values."""

    kind: Literal["list"] = "list"
    of: tuple[Any, ...] = Field(min_length=1, description="the values")

    def values(self) -> list[Any]:
        return list(self.of)


class GridConfig(AxisConfig):
    """Runs through evenly spaced values, both ends included."""

    kind: Literal["grid"]
    start: int | float
    stop: int | float
    count: int = Field(ge=1, le=1_000_000)

    def values(self) -> list[Any]:
        spaced = np.linspace(self.start, self.stop, self.count).tolist()
        whole = isinstance(self.start, int) and isinstance(self.stop, int) and all(v.is_integer() for v in spaced)
        return [int(value) for value in spaced] if whole else spaced


class UniformConfig(AxisConfig):
    """Drawn evenly from a range."""

    kind: Literal["uniform"]
    low: float
    high: float

    @model_validator(mode="after")
    def _in_order(self) -> UniformConfig:
        if not self.low < self.high:
            raise ValueError("`low` must be below `high`")
        return self

    def draw(self, noise: Noise, repetition: int) -> float:
        return self.low + (self.high - self.low) * noise.uniform(repetition)


class LogUniformConfig(AxisConfig):
    """Drawn so that its logarithm is spread evenly over a range."""

    kind: Literal["log_uniform"]
    low: Positive
    high: Positive

    @model_validator(mode="after")
    def _in_order(self) -> LogUniformConfig:
        if not self.low < self.high:
            raise ValueError("`low` must be below `high`")
        return self

    def draw(self, noise: Noise, repetition: int) -> float:
        return float(self.low * (self.high / self.low) ** noise.uniform(repetition))


class NormalConfig(AxisConfig):
    """Drawn from a normal distribution."""

    kind: Literal["normal"]
    mean: float
    sigma: Positive

    def draw(self, noise: Noise, repetition: int) -> float:
        return self.mean + self.sigma * noise.normal(repetition)


class ChoiceConfig(AxisConfig):
    """Drawn from a list, each value as often as another."""

    kind: Literal["choice"]
    of: tuple[Any, ...] = Field(min_length=1, description="the values")

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
    """A sweep: a scenario, what varies in it, and what is measured of each run."""

    scenario: str = Field(description="a shipped scenario's name, or a path, relative to the sweep file")
    duration: Positive | None = Field(None, description="s to simulate in each run; the scenario's own by default")
    seed: int = Field(0, ge=0, lt=2**62, description="of the first repetition, and of all that is drawn")
    repetitions: int = Field(1, ge=1, le=10_000_000, description="runs for each combination, each with its own seed")
    vary: dict[str, Axis] = Field({}, description="what varies, by its place in the scenario or by a name of its own")
    metrics: dict[str, str] = Field(
        min_length=1, description="what is measured, by name: an expression, or `module:function`"
    )
    sample_rate: Rational = Field(Fraction(1), gt=0, description="samples of the motion per simulated second, Hz")
    prepare: str | None = Field(
        None, description="`module:function` that is called with the world and the values before a run sets off"
    )
    time_limit: Positive | None = Field(None, description="s of wall time that a run may take")


def read_sweep(path: Path) -> SweepConfig:
    """Read and check a sweep file."""
    document = read_document(path)
    if not isinstance(document.data, dict):
        raise FileError(document.source, [Fault("", "must be a mapping of settings", document.data)])
    return SweepConfig.load(document, path.parent)
