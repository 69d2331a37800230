"""Conversion of linear light to image bytes: exposure, sensor noise and sRGB."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel

GREY: Final = 0.18  # linear value to which auto-exposure brings the geometric mean of an image, as light meters do
STOPS: Final = (-6.0, 10.0)  # range of auto-exposure
LUMINANCE: Final = np.array([0.2126, 0.7152, 0.0722], np.float32)  # ITU-R BT.709
STEPS: Final = 8192  # steps of linear light in the sRGB table
SPLITMIX_INCREMENT: Final = 0x9E3779B97F4A7C15


@cache
def _table() -> NDArray[np.uint8]:
    """Return the sRGB bytes of linear values from 0 to 1 (IEC 61966-2-1)."""
    value = np.arange(STEPS + 1) / STEPS
    curve = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return np.round(255.0 * curve).astype(np.uint8)


@kernel
def _normal(seed: int, number: int) -> float:
    """Return a nearly normal number of variance 1: the sum of four uniform 16-bit parts of a splitmix64 output."""
    z = np.uint64(seed) + np.uint64(number) * np.uint64(SPLITMIX_INCREMENT)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    low = np.uint64(0xFFFF)
    total = (z & low) + ((z >> np.uint64(16)) & low) + ((z >> np.uint64(32)) & low) + (z >> np.uint64(48))
    return (np.float64(total) / 65535.0 - 2.0) * 1.7320508075688772


@kernel
def _encode_srgb(light: Any, gain: float, shot: float, read: float, seed: int, table: Any, out: Any) -> None:
    scale, steps = np.float32(gain), np.float32(STEPS)
    zero, one, half = np.float32(0.0), np.float32(1.0), np.float32(0.5)
    if shot > 0.0 or read > 0.0:
        for i in range(light.size):
            value = max(light[i] * scale, zero)
            noisy = value + np.sqrt(read * read + shot * shot * value) * _normal(seed, i)
            out[i] = table[int(min(max(noisy, 0.0), 1.0) * STEPS + 0.5)]
    else:
        for i in range(light.size):
            out[i] = table[int(min(max(light[i] * scale, zero), one) * steps + half)]


def encode_srgb(
    light: NDArray[np.float32], gain: float, shot: float = 0.0, read: float = 0.0, seed: int = 0
) -> NDArray[np.uint8]:
    """Encode linear light as sRGB bytes.

    Args:
        light: Linear light, of any shape.
        gain: Factor on the light.
        shot: Standard deviation of the noise of a white pixel, relative to white.
        read: Standard deviation of the noise of a black pixel, relative to white.
        seed: Seed of the noise.
    """
    out = np.empty(light.shape, np.uint8)
    _encode_srgb(light.reshape(-1), gain, shot, read, seed, _table(), out.reshape(-1))
    return out


def metered_gain(light: NDArray[np.float32]) -> float:
    """Return the auto-exposure gain of an image, measured on one pixel in sixty-four."""
    sampled = light[3::8, 3::8] if min(light.shape[:2]) >= 8 else light
    mean = float(np.exp(np.mean(np.log(np.maximum(sampled @ LUMINANCE, np.float32(1e-6))))))
    return float(np.clip(GREY / mean, 2.0 ** STOPS[0], 2.0 ** STOPS[1]))
