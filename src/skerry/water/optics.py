"""Light in sea water: absorption and scattering of Jerlov's classes for each colour channel of a camera.

A class is defined by the diffuse attenuation of daylight with depth, K_d: Jerlov 1976, Marine Optics, table XXVII, here
at 625, 525 and 450 nm for red, green and blue. The quantities for a camera follow from it:

- scattering b = b_w + b_p: of pure sea water, b_w = 0.00193 /m (550 nm/λ)^4.32 (Morel 1974), and of particles, b_p ∝
  λ^−1.7, with its value at 550 nm from the fits of Solonenko & Mobley 2015 (Applied Optics 54, 5392–5401) as rounded
  by Droske et al. 2023 (Path tracing in production: the path of water, SIGGRAPH courses);
- absorption a, from K_d² = a² + 0.256 a b (Kirk 1981, Aust. J. Mar. Freshwater Res. 32, 517–532);
- backscatter b_b = b_w/2 + 0.0183 b_p (Petzold's mean phase function; Mobley 1994, Light and Water, table 3.10).

K_d is as published; a, b and b_b are estimates, accurate to some tens of percent, because waters of one class differ by
as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

OpticalType = Literal["I", "IA", "IB", "II", "III", "1C", "3C", "5C", "7C", "9C"]
OPTICAL_TYPES: Final[tuple[OpticalType, ...]] = get_args(OpticalType)
WAVELENGTHS: Final = (625.0, 525.0, 450.0)  # nm; red, green, blue

# type: K_d of red, green and blue, 1/m; scattering by particles at 550 nm, 1/m
_TYPES: Final[dict[OpticalType, tuple[float, float, float, float]]] = {
    "I": (0.305, 0.043, 0.019, 0.0),
    "IA": (0.310, 0.048, 0.026, 0.002),
    "IB": (0.315, 0.054, 0.036, 0.052),
    "II": (0.335, 0.076, 0.068, 0.363),
    "III": (0.375, 0.116, 0.135, 0.996),
    "1C": (0.370, 0.130, 0.250, 0.370),
    "3C": (0.400, 0.200, 0.390, 1.069),
    "5C": (0.480, 0.310, 0.560, 1.380),
    "7C": (0.540, 0.490, 0.890, 2.392),
    "9C": (0.650, 0.780, 1.600, 3.178),
}


@dataclass(frozen=True)
class Optics:
    """Optical properties of water; each array is red, green, blue, in 1/m."""

    diffuse_attenuation: NDArray[np.float64]  # K_d of daylight: E(depth) = E₀ exp(−K_d depth)
    absorption: NDArray[np.float64]
    scattering: NDArray[np.float64]
    backscatter: NDArray[np.float64]  # backward part of the scattering

    @property
    def attenuation(self) -> NDArray[np.float64]:
        """Attenuation of a narrow beam: the sum of absorption and scattering."""
        return self.absorption + self.scattering


def optics_of(optical_type: OpticalType, turbidity: float = 1.0) -> Optics:
    """Return the optics of a Jerlov class; `turbidity` multiplies the scattering, and K_d follows by Kirk's formula."""
    return _optics_of(optical_type, float(turbidity))


@lru_cache(maxsize=64)
def _optics_of(optical_type: OpticalType, turbidity: float) -> Optics:
    *fading, particles_550 = _TYPES[optical_type]
    wavelengths = np.array(WAVELENGTHS)
    diffuse = np.array(fading)
    water = 0.00193 * (550.0 / wavelengths) ** 4.32
    particles = particles_550 * (550.0 / wavelengths) ** 1.7
    scattering = water + particles
    lost = 0.256 * scattering
    absorption = 0.5 * (np.sqrt(lost**2 + 4.0 * diffuse**2) - lost)
    if turbidity != 1.0:
        scattering = turbidity * scattering
        diffuse = np.sqrt(absorption**2 + 0.256 * absorption * scattering)
    return Optics(diffuse, absorption, scattering, turbidity * (0.5 * water + 0.0183 * particles))
