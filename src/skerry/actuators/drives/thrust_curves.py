"""Static thrust curves: force over throttle (−1 to 1), from measurements, from a polynomial or from a table."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative

Floats = NDArray[np.float64]

NODES: Final = 801  # number of throttle nodes: one per µs of a pulse from 1100 µs to 1900 µs
THROTTLES: Final = np.arange(-400, 401) / 400.0
KILOGRAM_FORCE: Final = 9.80665  # N (CGPM 1901)
MIDDLE_PULSE, HALF_PULSE = 1500.0, 400.0  # µs; speed controllers accept pulses from 1100 µs to 1900 µs

T200_VOLTAGES: Final = (10.0, 12.0, 16.0, 18.0)
T200_MAX_VOLTAGE: Final = 20.0  # rated voltage of the T200, V

logger = logging.getLogger("skerry")


@dataclass(frozen=True)
class ThrustCurve:
    """Curve of a thruster at each of `THROTTLES`: force (N), and where known rpm (sign of the thrust) and power (W)."""

    force: Floats
    rpm: Floats | None = None
    power: Floats | None = None


@cache
def t200_curve(voltage: float) -> ThrustCurve:
    """Return the curve of the T200; linear between the measured voltages and above the highest."""
    rows = np.loadtxt(Path(__file__).with_name("t200.csv"), delimiter=",", encoding="utf-8")
    pulses = (rows[:, 0] - MIDDLE_PULSE) / HALF_PULSE
    measured = rows[:, 1:].reshape(len(rows), len(T200_VOLTAGES), 3)
    if voltage > T200_VOLTAGES[-1]:
        logger.warning(
            "T200 at %g V: the curve is extrapolated; it was measured only up to %g V", voltage, T200_VOLTAGES[-1]
        )
    upper = min(int(np.searchsorted(T200_VOLTAGES, voltage, "left")), len(T200_VOLTAGES) - 1)
    upper = max(upper, 1)
    low, high = T200_VOLTAGES[upper - 1], T200_VOLTAGES[upper]
    part = (voltage - low) / (high - low)
    here = (1.0 - part) * measured[:, upper - 1] + part * measured[:, upper]
    force, rpm, power = (np.interp(THROTTLES, pulses, column) for column in here.T)
    return ThrustCurve(force * KILOGRAM_FORCE, np.maximum(rpm, 0.0) * np.sign(force), np.maximum(power, 0.0))


class T200(Config):
    """Curve of the Blue Robotics T200, as measured at rest."""

    kind: Literal["t200"] = "t200"
    voltage: float = Field(16.0, description="supply voltage, V: 10 to 18 measured, up to 20 extrapolated")

    @model_validator(mode="after")
    def _check_voltage(self) -> T200:
        if not T200_VOLTAGES[0] <= self.voltage <= T200_MAX_VOLTAGE:
            raise ValueError(
                f"`voltage` is {self.voltage:g}; it must be {T200_VOLTAGES[0]:g} to {T200_MAX_VOLTAGE:g}; the "
                f"T200 was measured from {T200_VOLTAGES[0]:g} V to {T200_VOLTAGES[-1]:g} V"
            )
        return self

    def curve(self) -> ThrustCurve:
        """Return force, rpm and power over throttle."""
        return t200_curve(self.voltage)


class Polynomial(Config):
    """Force as a polynomial of throttle or pulse width; a constant gain is the polynomial [0, gain]."""

    kind: Literal["polynomial"] = "polynomial"
    coefficients: tuple[float, ...] = Field(min_length=1, description="c₀, c₁, c₂ …: force = c₀ + c₁ x + c₂ x² …")
    of: Literal["throttle", "pulse_width"] = Field(
        "throttle", description="the variable x: the throttle, or the pulse width in µs"
    )
    odd: bool = Field(
        False, description="whether |x| is used and the force gets the sign of x, so that both directions are equal"
    )
    magnitude: bool = Field(
        False, description="whether the polynomial is the magnitude of the force (at least 0); throttle gives the sign"
    )
    unit: Literal["N", "kgf"] = Field("N", description="unit of the force")
    dead_zone: NonNegative = Field(0.0, lt=1, description="a throttle of smaller magnitude gives no force")

    @model_validator(mode="after")
    def _check_consistency(self) -> Polynomial:
        if self.odd and self.of == "pulse_width":
            raise ValueError("`odd` needs `of: throttle`, because a pulse width is never negative")
        if self.odd and self.magnitude:
            raise ValueError("give `odd` or `magnitude`, not both")
        return self

    def curve(self) -> ThrustCurve:
        """Return force over throttle."""
        x = MIDDLE_PULSE + HALF_PULSE * THROTTLES if self.of == "pulse_width" else THROTTLES
        force = np.polynomial.polynomial.polyval(np.abs(x) if self.odd else x, np.array(self.coefficients))
        if self.odd:
            force = force * np.sign(x)
        elif self.magnitude:
            force = np.maximum(force, 0.0) * np.sign(THROTTLES)
        if self.unit == "kgf":
            force = force * KILOGRAM_FORCE
        return ThrustCurve(np.where(np.abs(THROTTLES) < self.dead_zone, 0.0, force))


class ThrustTable(Config):
    """Force at given throttles, linear between them."""

    kind: Literal["table"] = "table"
    throttle: tuple[float, ...] = Field(min_length=2, description="throttles in ascending order, from −1 to 1")
    force: tuple[float, ...] = Field(description="force at each throttle")
    unit: Literal["N", "kgf"] = Field("N", description="unit of the force")
    rpm: tuple[float, ...] | None = Field(None, description="rpm at each throttle, negative backwards")
    power: tuple[NonNegative, ...] | None = Field(None, description="power at each throttle, W")

    @model_validator(mode="after")
    def _check_consistency(self) -> ThrustTable:
        if self.throttle[0] != -1.0 or self.throttle[-1] != 1.0 or (np.diff(self.throttle) <= 0).any():
            raise ValueError("`throttle` must be in ascending order from -1 to 1")
        for name in ("force", "rpm", "power"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.throttle):
                raise ValueError(f"`{name}` has {len(values)} values, but `throttle` has {len(self.throttle)}")
        return self

    def curve(self) -> ThrustCurve:
        """Return force over throttle, and rpm and power where given."""
        scale = KILOGRAM_FORCE if self.unit == "kgf" else 1.0
        rpm, power = (
            None if values is None else np.interp(THROTTLES, self.throttle, values) for values in (self.rpm, self.power)
        )
        return ThrustCurve(scale * np.interp(THROTTLES, self.throttle, self.force), rpm, power)


ThrustModel = Annotated[T200 | Polynomial | ThrustTable, Field(discriminator="kind")]
