"""Properties of sea water: density, conductivity and salinity, and the relation of pressure and depth.

Temperatures are in °C on the scale of 1990 (ITS-90), salinities are practical salinities (PSS-78, about g/kg), and
pressures are in dbar above that of the air. All functions take numbers or arrays, which are broadcast.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

TO_IPTS_68: Final = 1.00024  # t68/t90; Saunders 1990, WOCE Newsletter 10
STANDARD_CONDUCTIVITY: Final = 42.914  # mS/cm at S = 35, t68 = 15 °C; Culkin & Smith 1980, IEEE J. Oceanic Eng. 5


def polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Return c₀ + c₁ x + c₂ x² + …, by Horner's rule."""
    value: Any = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


# ------------------------------------------------------------------------------------------------ density

# Fofonoff & Millard 1983, Unesco technical papers in marine science 44, pp. 17 to 19; t is on the scale of 1968
_DENSITY = (999.842594, 6.793952e-2, -9.095290e-3, 1.001685e-4, -1.120083e-6, 6.536332e-9)
_DENSITY_S = (8.24493e-1, -4.0899e-3, 7.6438e-5, -8.2467e-7, 5.3875e-9)
_DENSITY_S32 = (-5.72466e-3, 1.0227e-4, -1.6546e-6)
_DENSITY_S2 = 4.8314e-4
_MODULUS = (19652.21, 148.4206, -2.327105, 1.360477e-2, -5.155288e-5)
_MODULUS_S = (54.6746, -0.603459, 1.09987e-2, -6.1670e-5)
_MODULUS_S32 = (7.944e-2, 1.6483e-2, -5.3009e-4)
_MODULUS_P = (3.239908, 1.43713e-3, 1.16092e-4, -5.77905e-7)
_MODULUS_PS = (2.2838e-3, -1.0981e-5, -1.6078e-6)
_MODULUS_PS32 = 1.91075e-4
_MODULUS_P2 = (8.50935e-5, -6.12293e-6, 5.2787e-8)
_MODULUS_P2S = (-9.9348e-7, 2.0816e-8, 9.1697e-10)


def density(salinity: ArrayLike, temperature: ArrayLike, pressure: ArrayLike = 0.0) -> Values:
    """Return the in-situ density, kg/m³, by the equation of state EOS-80 (Fofonoff & Millard 1983, eq. 7 to 21).

    Valid for S from 0 to 42, −2 to 40 °C, 0 to 10 000 dbar; standard error 0.0036 kg/m³ at the surface.
    """
    s, t = np.asarray(salinity, np.float64), np.asarray(temperature, np.float64) * TO_IPTS_68
    p = np.asarray(pressure, np.float64) / 10.0  # bar
    s32 = s * np.sqrt(s)
    surface = polynomial(_DENSITY, t) + s * polynomial(_DENSITY_S, t)
    surface = surface + s32 * polynomial(_DENSITY_S32, t) + _DENSITY_S2 * s**2
    modulus = polynomial(_MODULUS, t) + s * polynomial(_MODULUS_S, t) + s32 * polynomial(_MODULUS_S32, t)
    first = polynomial(_MODULUS_P, t) + s * polynomial(_MODULUS_PS, t) + _MODULUS_PS32 * s32
    second = polynomial(_MODULUS_P2, t) + s * polynomial(_MODULUS_P2S, t)
    return np.asarray(surface / (1.0 - p / (modulus + p * (first + p * second))))


# ------------------------------------------------------------------------------------------------ conductivity

# Fofonoff & Millard 1983, pp. 6 to 8 (PSS-78)
_SALINITY = (0.0080, -0.1692, 25.3851, 14.0941, -7.0261, 2.7081)  # in √Rt
_SALINITY_T = (0.0005, -0.0056, -0.0066, -0.0375, 0.0636, -0.0144)
_RATIO_T = (6.766097e-1, 2.00564e-2, 1.104259e-4, -6.9698e-7, 1.0031e-9)
_RATIO_P = (0.0, 2.070e-5, -6.370e-10, 3.989e-15)
_RATIO_B = (1.0, 3.426e-2, 4.464e-4)
_RATIO_A = (4.215e-1, -3.107e-3)
_STEPS = 4  # steps of Newton's method from √(S/35): exact to rounding for S from 0.05 to 45, to 1e-4 below


def _warmth(t: Any) -> Any:
    return (t - 15.0) / (1.0 + 0.0162 * (t - 15.0))


def _salinity_of(root: Any, t: Any) -> Any:
    """Return the salinity from √Rt, with the correction of Hill, Dauphinee & Woods.

    1986, IEEE J. Oceanic Eng. 11, 109–112. The correction gives fresh water a salinity of 0. It is meant for S < 2;
    above that it is about 1e-5, so it is always applied.
    """
    x, y = 20.0 * root, 10.0 * root  # square roots of 400 Rt and 100 Rt
    f = _warmth(t)
    correction = 0.0080 / (1.0 + 1.5 * x**2 + x**4) + 0.0005 * f / (1.0 + y + y**2 + y**3)
    return polynomial(_SALINITY, root) + f * polynomial(_SALINITY_T, root) - correction


def salinity(conductivity: ArrayLike, temperature: ArrayLike, pressure: ArrayLike = 0.0) -> Values:
    """Return the practical salinity of a conductivity, mS/cm, by PSS-78 and Hill 1986 below 2.

    Fofonoff & Millard 1983, eq. 1 to 4. Valid for −2 to 35 °C, 0 to 10 000 dbar, S from 0 to 42. A negative result,
    such as from a noisy probe in fresh water, becomes 0.
    """
    t, p = np.asarray(temperature, np.float64) * TO_IPTS_68, np.asarray(pressure, np.float64)
    ratio = np.maximum(np.asarray(conductivity, np.float64), 0.0) / STANDARD_CONDUCTIVITY
    pressed = 1.0 + polynomial(_RATIO_P, p) / (polynomial(_RATIO_B, t) + polynomial(_RATIO_A, t) * ratio)
    root = np.sqrt(ratio / (polynomial(_RATIO_T, t) * pressed))
    return np.asarray(np.maximum(_salinity_of(root, t), 0.0))


def conductivity(salinity: ArrayLike, temperature: ArrayLike, pressure: ArrayLike = 0.0) -> Values:
    """Return the conductivity, mS/cm: the inverse of `salinity`, by Newton's method in √Rt and a quadratic in R."""
    s, t = np.asarray(salinity, np.float64), np.asarray(temperature, np.float64) * TO_IPTS_68
    p = np.asarray(pressure, np.float64)
    root = np.sqrt(s / 35.0)
    small = 1e-6
    for _ in range(_STEPS):
        found = _salinity_of(root, t)
        slope = (_salinity_of(root + small, t) - found) / small
        root = np.maximum(root - (found - s) / slope, 0.0)
    without = root**2 * polynomial(_RATIO_T, t)
    a, b, c = polynomial(_RATIO_A, t), polynomial(_RATIO_B, t), polynomial(_RATIO_P, p)
    half = 0.5 * (b - a * without)
    ratio = (np.sqrt(half**2 + a * without * (b + c)) - half) / a
    return np.asarray(STANDARD_CONDUCTIVITY * ratio)


# ------------------------------------------------------------------------------------------------ depth and pressure


def depth_to_pressure(depth: ArrayLike, latitude_deg: float = 45.0) -> Values:
    """Return the pressure, dbar, at a depth, m, of the standard ocean (0 °C, S = 35).

    Leroy & Parthiot 1998, J. Acoust. Soc. Am. 103, 1346–1352, eq. 1 to 3, which gives MPa. Valid for 0 to 12 000 m.
    Other seas differ by up to about 8 dbar in 1000 m (most in the brackish Baltic), which has no noticeable effect on
    the properties here.
    """
    z = np.asarray(depth, np.float64)
    standard = polynomial((0.0, 1.00818e-2, 2.465e-8, -1.25e-13, 2.8e-19), z)
    gravity = 9.7803 * (1.0 + 5.3e-3 * np.sin(np.radians(latitude_deg)) ** 2)
    return np.asarray(100.0 * standard * (gravity - 2e-5 * z) / (9.80612 - 2e-5 * z))


def pressure_to_depth(pressure: ArrayLike, latitude_deg: float = 45.0) -> Values:
    """Return the depth, m, at a pressure, dbar, of standard ocean: Fofonoff & Millard 1983, eq. 25; within 0.1 m."""
    p = np.asarray(pressure, np.float64)
    square = np.sin(np.radians(latitude_deg)) ** 2
    gravity = 9.780318 * (1.0 + (5.2788e-3 + 2.36e-5 * square) * square) + 1.092e-6 * p
    return np.asarray(polynomial((0.0, 9.72659, -2.2512e-5, 2.279e-10, -1.82e-15), p) / gravity)
