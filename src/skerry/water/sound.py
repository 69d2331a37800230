"""Sound in sea water: speed and absorption.

Temperatures are in °C (ITS-90), salinities are practical salinities, depths are in m, and pressures in dbar above that
of the air. All functions take numbers or arrays, which are broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from skerry.water.seawater import Values, depth_to_pressure, polynomial

# ------------------------------------------------------------------------------------------------ speed


def mackenzie(salinity: ArrayLike, temperature: ArrayLike, depth: ArrayLike) -> Values:
    """Return the speed, m/s, by the nine-term equation of Mackenzie 1981, J. Acoust. Soc. Am. 70, 807–812.

    Valid for 2 to 30 °C, S from 25 to 40, 0 to 8000 m; standard error 0.07 m/s.
    """
    t, d = np.asarray(temperature, np.float64), np.asarray(depth, np.float64)
    salt = np.asarray(salinity, np.float64) - 35.0
    warm = polynomial((1448.96, 4.591, -5.304e-2, 2.374e-4), t)
    deep = 1.630e-2 * d + 1.675e-7 * d**2 - 7.139e-13 * t * d**3
    return np.asarray(warm + 1.340 * salt + deep - 1.025e-2 * t * salt)


# Wong & Zhu 1995, table I: rows are powers of the pressure in bar, columns powers of t
_WATER = (
    (1402.388, 5.03830, -5.81090e-2, 3.3432e-4, -1.47797e-6, 3.1419e-9),
    (0.153563, 6.8999e-4, -8.1829e-6, 1.3632e-7, -6.1260e-10),
    (3.1260e-5, -1.7111e-6, 2.5986e-8, -2.5353e-10, 1.0415e-12),
    (-9.7729e-9, 3.8513e-10, -2.3654e-12),
)
_SALT = (
    (1.389, -1.262e-2, 7.166e-5, 2.008e-6, -3.21e-8),
    (9.4742e-5, -1.2583e-5, -6.4928e-8, 1.0515e-8, -2.0142e-10),
    (-3.9064e-7, 9.1061e-9, -1.6009e-10, 7.994e-12),
    (1.100e-10, 6.651e-12, -3.391e-13),
)
_SALT_32 = ((-1.922e-2, -4.42e-5), (7.3637e-5, 1.7950e-7))
_SALT_2 = ((1.727e-3,), (-7.9836e-6,))


def _powers(rows: tuple[tuple[float, ...], ...], t: Any, p: Any) -> Any:
    value: Any = 0.0
    for row in reversed(rows):
        value = value * p + polynomial(row, t)
    return value


def unesco(salinity: ArrayLike, temperature: ArrayLike, pressure: ArrayLike) -> Values:
    """Return the speed, m/s, by the UNESCO equation of Chen & Millero 1977 in the ITS-90 form of Wong & Zhu 1995.

    J. Acoust. Soc. Am. 97, 1732–1736, eq. 1 to 5, with the pressure in bar. Valid for 0 to 40 °C, S from 0 to 40, 0 to
    10 000 dbar; standard error 0.19 m/s.
    """
    s, t = np.asarray(salinity, np.float64), np.asarray(temperature, np.float64)
    p = np.asarray(pressure, np.float64) / 10.0
    speed = _powers(_WATER, t, p) + _powers(_SALT, t, p) * s
    return np.asarray(speed + _powers(_SALT_32, t, p) * s * np.sqrt(s) + _powers(_SALT_2, t, p) * s**2)


KG_PER_CM2: Final = 0.1019716  # kg/cm² per dbar; Wong & Zhu 1995


def del_grosso(salinity: ArrayLike, temperature: ArrayLike, pressure: ArrayLike) -> Values:
    """Return the speed, m/s, by Del Grosso 1974 in the ITS-90 form of Wong & Zhu 1995.

    J. Acoust. Soc. Am. 97, 1732–1736, eq. 6, with the pressure in kg/cm². Valid for 0 to 30 °C, S from 30 to 40, 0 to
    9800 dbar; standard error 0.05 m/s. It is the most accurate of the three in the deep sea.
    """
    s, t = np.asarray(salinity, np.float64), np.asarray(temperature, np.float64)
    p = np.asarray(pressure, np.float64) * KG_PER_CM2
    apart = (
        polynomial((1402.392, 0.5012285e1, -0.551184e-1, 0.221649e-3), t)
        + polynomial((0.0, 0.1329530e1, 0.1288598e-3), s)
        + polynomial((0.0, 0.1560592, 0.2449993e-4, -0.8833959e-8), p)
    )
    salt = -0.1275936e-1 * t * s + 0.9688441e-4 * t**2 * s - 0.3406824e-3 * t * s * p + 0.4857614e-5 * t * s**2 * p
    pressed = 0.6353509e-2 * t * p + 0.2656174e-7 * t**2 * p**2 - 0.1593895e-5 * t * p**2
    pressed = pressed + 0.5222483e-9 * t * p**3 - 0.4383615e-6 * t**3 * p - 0.1616745e-8 * s**2 * p**2
    return np.asarray(apart + salt + pressed)


SpeedFormula = Callable[[ArrayLike, ArrayLike, ArrayLike], Values]

SPEED_AT_DEPTH: dict[str, SpeedFormula] = {
    "mackenzie": mackenzie,
    "unesco": lambda s, t, depth: unesco(s, t, depth_to_pressure(depth)),
    "del_grosso": lambda s, t, depth: del_grosso(s, t, depth_to_pressure(depth)),
}
"""Functions for the speed from salinity, temperature and depth, by the name of the formula."""

SPEED_SALINITIES: dict[str, tuple[float, float]] = {
    "mackenzie": (25.0, 40.0),
    "unesco": (0.0, 45.0),  # published up to 40; smooth beyond
    "del_grosso": (30.0, 40.0),
}
"""Range of salinities of each formula."""


# ------------------------------------------------------------------------------------------------ absorption


def francois_garrison(
    frequency_hz: ArrayLike, salinity: ArrayLike, temperature: ArrayLike, depth: ArrayLike, ph: float = 8.0
) -> Values:
    """Return the absorption, dB/km, by boric acid, magnesium sulphate and pure water.

    Francois & Garrison 1982, J. Acoust. Soc. Am. 72, 896–907 and 1879–1890, with their own short form of the sound
    speed. Valid for 0.4 kHz to 1 MHz, −1.8 to 30 °C, S from 30 to 35, 0 to 5000 m; about 5 %.
    """
    f = np.asarray(frequency_hz, np.float64) / 1e3
    s, t, d = (np.asarray(value, np.float64) for value in (salinity, temperature, depth))
    c = 1412.0 + 3.21 * t + 1.19 * s + 0.0167 * d
    kelvin = 273.0 + t
    boric = 8.86 / c * 10.0 ** (0.78 * ph - 5.0)
    boric_at = 2.8 * np.sqrt(s / 35.0) * 10.0 ** (4.0 - 1245.0 / kelvin)
    sulphate = 21.44 * s / c * (1.0 + 0.025 * t) * polynomial((1.0, -1.37e-4, 6.2e-9), d)
    sulphate_at = 8.17 * 10.0 ** (8.0 - 1990.0 / kelvin) / (1.0 + 0.0018 * (s - 35.0))
    water = np.where(
        t <= 20.0,
        polynomial((4.937e-4, -2.59e-5, 9.11e-7, -1.50e-8), t),
        polynomial((3.964e-4, -1.146e-5, 1.45e-7, -6.5e-10), t),
    ) * polynomial((1.0, -3.83e-5, 4.9e-10), d)
    return np.asarray(_relaxation(boric, boric_at, f) + _relaxation(sulphate, sulphate_at, f) + water * f**2)


def ainslie_mccolm(
    frequency_hz: ArrayLike, salinity: ArrayLike, temperature: ArrayLike, depth: ArrayLike, ph: float = 8.0
) -> Values:
    """Return the absorption, dB/km, by Ainslie & McColm 1998, J. Acoust. Soc. Am. 103, 1671–1672, eq. 1 to 3.

    Within 10 % of Francois & Garrison from 100 Hz to 1 MHz for −6 to 35 °C (S = 35, pH 8, surface), pH 7.7 to 8.3, S
    from 5 to 50, 0 to 7000 m.
    """
    f = np.asarray(frequency_hz, np.float64) / 1e3
    s, t = np.asarray(salinity, np.float64), np.asarray(temperature, np.float64)
    d = np.asarray(depth, np.float64) / 1e3
    boric = 0.106 * np.exp((ph - 8.0) / 0.56)
    boric_at = 0.78 * np.sqrt(s / 35.0) * np.exp(t / 26.0)
    sulphate = 0.52 * (1.0 + t / 43.0) * (s / 35.0) * np.exp(-d / 6.0)
    sulphate_at = 42.0 * np.exp(t / 17.0)
    water = 0.00049 * np.exp(-(t / 27.0 + d / 17.0))
    return np.asarray(_relaxation(boric, boric_at, f) + _relaxation(sulphate, sulphate_at, f) + water * f**2)


def thorp(frequency_hz: ArrayLike) -> Values:
    """Return the absorption, dB/km, by Thorp 1967, J. Acoust. Soc. Am. 42, 270.

    Metric form of Jensen, Kuperman, Porter & Schmidt 2011, eq. 1.47. Valid for water of 4 °C, S = 35 and pH 8 at about
    1000 m, and 100 Hz to 50 kHz.
    """
    square = (np.asarray(frequency_hz, np.float64) / 1e3) ** 2
    return np.asarray(3.3e-3 + 0.11 * square / (1.0 + square) + 44.0 * square / (4100.0 + square) + 3.0e-4 * square)


def _relaxation(strength: Any, at: Any, f: Any) -> Any:
    """Return strength · at f²/(f² + at²): the absorption by a dissolved salt with the relaxation frequency `at`."""
    below = at / np.where(f > 0.0, f, 1.0)
    return np.where(f > 0.0, strength * at / (1.0 + below**2), 0.0)


AbsorptionFormula = Callable[[ArrayLike, ArrayLike, ArrayLike, ArrayLike, float], Values]

ABSORPTION: dict[str, AbsorptionFormula] = {
    "francois_garrison": francois_garrison,
    "ainslie_mccolm": ainslie_mccolm,
    "thorp": lambda frequency_hz, salinity, temperature, depth, ph: thorp(frequency_hz) + 0.0 * np.asarray(depth),
}
"""Functions for the absorption, by the name of the formula."""
