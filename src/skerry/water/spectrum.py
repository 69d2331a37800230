"""Wave spectra, and their representation as a sum of plane waves.

A spectrum is divided into bands of equal energy. Each band becomes one wave with the root-mean-square frequency of the
band. So the sum has exactly the significant height of the spectrum, and its mean zero-crossing period up to the highest
frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skerry.core.noise import Noise

Floats = NDArray[np.float64]

MAX_FREQUENCY_RATIO = 6.0  # highest frequency over the peak frequency; less than 0.1 % of the energy is above it


@dataclass(frozen=True)
class Components:
    """Plane waves a cos(k·x − ω t + phase); they define the surface completely."""

    amplitude: Floats  # m
    wavenumber: Floats  # (n, 2), rad/m, in the direction of travel
    frequency: Floats  # rad/s
    phase: Floats  # rad

    @property
    def count(self) -> int:
        """Number of waves."""
        return len(self.amplitude)


def jonswap(frequency: Floats, height: float, peak: float, gamma: float) -> Floats:
    """Return S(f), m²/Hz, for a significant height and a peak frequency (Hasselmann et al. 1973; DNV-RP-C205, §3.5.5).

    (5/16) H² f_p⁴ f⁻⁵ exp(−1.25 (f_p/f)⁴) γ^r (1 − 0.287 ln γ); γ = 1 gives the Pierson–Moskowitz spectrum.
    """
    f = np.maximum(frequency, 1e-9)
    sigma = np.where(f <= peak, 0.07, 0.09)
    r = np.exp(-((f - peak) ** 2) / (2 * sigma**2 * peak**2))
    base = 5 / 16 * height**2 * peak**4 * f**-5 * np.exp(-1.25 * (peak / f) ** 4)
    return np.asarray(base * gamma**r * (1 - 0.287 * np.log(gamma)))


def wavenumber(frequency: Floats, depth: float, gravity: float) -> Floats:
    """Return k of the dispersion relation ω² = g k tanh(k d), by Newton's method; an infinite depth gives ω²/g."""
    omega = np.asarray(frequency, np.float64)
    deep = omega**2 / gravity
    if not np.isfinite(depth):
        return deep
    k = deep / np.sqrt(np.tanh(np.maximum(deep * depth, 1e-12)))  # Eckart 1952, within 5 %
    for _ in range(20):
        tanh = np.tanh(k * depth)
        k = k - (gravity * k * tanh - omega**2) / (gravity * tanh + gravity * k * depth * (1 - tanh**2))
    return np.asarray(k)


def regular(height: float, period: float, direction: float, phase: float, depth: float, gravity: float) -> Components:
    """Return one wave.

    Args:
        height: Height from trough to crest, m.
        period: Period, s.
        direction: Yaw of the direction of travel, rad.
        phase: Phase at the origin at the start, rad.
        depth: Depth of the water, m; may be infinite.
        gravity: m/s².
    """
    omega = np.array([2 * np.pi / period])
    k = wavenumber(omega, depth, gravity)[:, None] * [[np.cos(direction), np.sin(direction)]]
    return Components(np.array([0.5 * height]), k, omega, np.array([phase]))


def synthesise(
    kind: Literal["jonswap", "pierson_moskowitz"],
    *,
    height: float,
    period: float,
    gamma: float,
    direction: float,
    spreading: float,
    count: int,
    seed: int,
    depth: float,
    gravity: float,
) -> Components:
    """Return the components of a spectrum with directional spreading.

    The directions are drawn from cos^(2s) of half the angle to the mean direction (Longuet-Higgins, Cartwright & Smith
    1963). `spreading` is s; with an infinite s all waves travel in the same direction.
    """
    peak = 1.0 / period
    edges = np.linspace(0.2 * peak, MAX_FREQUENCY_RATIO * peak, 40_001)
    middle = 0.5 * (edges[1:] + edges[:-1])
    density = jonswap(middle, 1.0, peak, gamma if kind == "jonswap" else 1.0)  # shape only; the height is applied below
    energy = np.concatenate([[0.0], np.cumsum(density * np.diff(edges))])
    squares = np.concatenate([[0.0], np.cumsum(density * middle**2 * np.diff(edges))])
    cuts = np.linspace(0.0, energy[-1], count + 1)
    per_band = np.diff(np.interp(cuts, energy, squares)) / np.diff(cuts)
    omega = 2 * np.pi * np.sqrt(per_band)
    noise = Noise(seed, "waves")
    phase = 2 * np.pi * np.array([noise.uniform(i, channel=0) for i in range(count)])
    draw = np.array([noise.uniform(i, channel=1) for i in range(count)])
    angle = direction + _spread(draw, spreading)
    k = wavenumber(omega, depth, gravity)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    amplitude = np.full(count, np.sqrt(2 * height**2 / 16 / count))
    return Components(amplitude, k, omega, phase)


def _spread(uniform: Floats, s: float) -> Floats:
    """Return angles with the density cos^(2s)(θ/2) from uniform random numbers."""
    if not np.isfinite(s):
        return np.zeros_like(uniform)
    theta = np.linspace(-np.pi, np.pi, 20_001)
    density = np.cos(theta / 2) ** (2 * s)
    total = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    return np.interp(uniform, total / total[-1], theta)
