"""Hydrodynamic parameters estimated from the shape of a body; each method states its expected error."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive

Floats = NDArray[np.float64]


class Ellipsoid(Config):
    """Ellipsoid that approximates a body; the displaced volume may differ from that of the ellipsoid."""

    METHOD: ClassVar[str] = (
        "added mass of an ellipsoid by Lamb's integrals: exact for one, within about 15 % across and 50 % along for a "
        "torpedo-shaped hull, and without fins"
    )

    length: Positive = Field(description="length along x, m")
    width: Positive = Field(description="width along y, m")
    height: Positive = Field(description="height along z, m")
    volume: Positive | Literal["neutral"] | None = Field(
        None,
        description="displaced volume, m³; by default the ellipsoid's; `neutral`: the volume at which the robot floats",
    )

    def added_mass(self, density: float, neutral: float) -> Floats:
        """Return the added-mass matrix, (6, 6) (Lamb 1932, Hydrodynamics, §114–115; Korotkin 2009, §3.1).

        With α_i = abc ∫ dλ/((a_i² + λ) Δ) over λ > 0, the mass along axis i is m α_i/(2 − α_i), and about it, from the
        other two axes j and k, (m/5) (a_j² − a_k²)² (α_k − α_j)/(2 (a_j² − a_k²) + (a_j² + a_k²)(α_j − α_k)).
        """
        a = 0.5 * np.array([self.length, self.width, self.height])
        volume = neutral if self.volume == "neutral" else (self.volume or 4 / 3 * np.pi * float(np.prod(a)))
        alpha = _lamb_integrals(a)
        mass = density * volume
        along = mass * alpha / (2 - alpha)
        about = np.zeros(3)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            difference, total = a[j] ** 2 - a[k] ** 2, a[j] ** 2 + a[k] ** 2
            if abs(difference) > 1e-9 * total:
                lag = alpha[k] - alpha[j]
                about[i] = mass / 5 * difference**2 * lag / (2 * difference - total * lag)
        return np.diag(np.concatenate([along, about]))


def _lamb_integrals(a: Floats) -> Floats:
    """Return α_i = ⅔ abc R_D(a_j², a_k², a_i²), (3,)."""
    x, y, z = (float(value) ** 2 for value in a)
    scale = 2 / 3 * float(np.prod(a))
    return scale * np.array([carlson_rd(y, z, x), carlson_rd(z, x, y), carlson_rd(x, y, z)])


def carlson_rd(x: float, y: float, z: float) -> float:
    """Return Carlson's R_D(x, y, z) = 3/2 ∫ dt/(√((t + x)(t + y)) (t + z)^(3/2)) over t > 0, by duplication.

    Carlson 1995, Numerical computation of real or complex elliptic integrals, Numerical Algorithms 10, 13–26.
    """
    x0, y0, z0, mean = x, y, z, (x + y + 3 * z) / 5
    first = mean
    power, total = 1.0, 0.0
    while power * max(abs(first - x0), abs(first - y0), abs(first - z0)) > 1e-3 * abs(mean):
        root = math.sqrt(x * y) + math.sqrt(x * z) + math.sqrt(y * z)
        total += power / (math.sqrt(z) * (z + root))
        x, y, z, mean = (x + root) / 4, (y + root) / 4, (z + root) / 4, (mean + root) / 4
        power /= 4
    dx, dy = power * (first - x0) / mean, power * (first - y0) / mean
    dz = -(dx + dy) / 3
    e2, e3 = dx * dy - 6 * dz**2, (3 * dx * dy - 8 * dz**2) * dz
    e4, e5 = 3 * (dx * dy - dz**2) * dz**2, dx * dy * dz**3
    series = 1 - 3 * e2 / 14 + e3 / 6 + 9 * e2**2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26
    return power * series / mean**1.5 + 3 * total


class SlenderHull(Config):
    """Long round hull along x, modelled by strip theory: each slice acts as a piece of an infinite cylinder."""

    METHOD: ClassVar[str] = (
        "strip theory for a slender hull: added mass within about 10 % across and turning, none along; drag within "
        "about 30 %, since it depends on roughness, ends and fittings"
    )

    length: Positive = Field(description="length, m")
    diameter: Positive = Field(description="diameter, m")
    axial_drag_coefficient: NonNegative = Field(
        0.2, description="drag coefficient on the frontal area (Hoerner 1965, ch. 6)"
    )
    cross_drag_coefficient: NonNegative = Field(
        1.1, description="drag coefficient of a cylinder across the flow (Hoerner 1965, ch. 3)"
    )

    def added_mass(self, density: float, neutral: float) -> Floats:
        """Return the added-mass matrix, (6, 6), from ρ π r² per metre across the hull (Newman 1977, §4.13).

        In sum that is ρ π r² L across the hull, and ρ π r² L³/12 for turning.
        """
        line = density * np.pi * (0.5 * self.diameter) ** 2
        across, turning = line * self.length, line * self.length**3 / 12
        return np.diag([0.0, across, across, 0.0, turning, turning])

    def quadratic_damping(self, density: float) -> Floats:
        """Return the quadratic damping, (6,), from ½ ρ C d per metre across the hull (Fossen 2021, §8.1).

        In sum that is ½ ρ C d L across the hull, and, from ∫ |x|³ dx, ½ ρ C d L⁴/32 for turning.
        """
        line = 0.5 * density * self.cross_drag_coefficient * self.diameter
        axial = 0.5 * density * self.axial_drag_coefficient * np.pi * (0.5 * self.diameter) ** 2
        across, turning = line * self.length, line * self.length**4 / 32
        return np.array([axial, across, across, 0.0, turning, turning])


# Slenderness and drag of a cylinder across the flow, relative to an endless one (DNV-RP-C205, table 6-2).
SLENDERNESS = (2.0, 5.0, 10.0, 20.0, 40.0, 50.0, 100.0)
REDUCTION = (0.58, 0.62, 0.68, 0.74, 0.82, 0.87, 0.98)


class BluffBody(Config):
    """Body with separated flow in all directions: a ball, a box, or an upright cylinder (axis along z)."""

    METHOD: ClassVar[str] = (
        "drag of a bluff body by published coefficients: within about 20 % for balls at Reynolds numbers from 1e3 to "
        "2e5, 30 % for boxes and cylinders, 50 % for other shapes; drag of rotation by strips, within a factor of 2"
    )

    shape: Literal["ball", "box", "cylinder"] = Field(description="shape; any other body is best taken as a box")
    size: tuple[Positive, Positive, Positive] = Field(description="lengths along x, y and z, m")

    def quadratic_damping(self, density: float) -> Floats:
        """Return the quadratic damping, (6,): ½ ρ C A along each axis, and ½ ρ C w l⁴/32 of strips about it.

        C is 0.47 for a ball, 1.05 for a box, 0.9 for the end of a cylinder, and 1.1 times a factor for its slenderness
        across it (Hoerner 1965, ch. 3; DNV-RP-C205, table 6-2). A ball has no drag of rotation, nor has a cylinder
        about its axis.
        """
        x, y, z = self.size
        half = 0.5 * density
        if self.shape == "ball":
            areas = 0.25 * np.pi * np.array([y * z, x * z, x * y])
            return np.concatenate([half * 0.47 * areas, np.zeros(3)])
        if self.shape == "box":
            sides = np.array([y * z, x * z, x * y])
            strips = np.array([x * (y**4 + z**4), y * (x**4 + z**4), z * (x**4 + y**4)]) / 32
            return np.concatenate([half * 1.05 * sides, half * 1.05 * strips])
        across = 1.1 * float(np.interp(z / (0.5 * (x + y)), SLENDERNESS, REDUCTION))
        along = half * np.array([across * y * z, across * x * z, 0.9 * 0.25 * np.pi * x * y])
        turning = half * (across * np.array([y, x]) * z**4 + 0.9 * np.array([x * y**4, y * x**4])) / 32
        return np.concatenate([along, turning, [0.0]])
