"""Received level and packet error rate: the sonar equation, and bit errors of two modulations.

Urick 1983, Principles of Underwater Sound, ch. 2 and 5, for levels; Proakis & Salehi 2008, Digital Communications,
eq. 4.2-6 and 4.5-46, for bit errors.
"""

from __future__ import annotations

from math import erfc, exp, expm1, log1p, log10, pi, sqrt
from typing import Literal

from skerry.core.noise import Noise

Modulation = Literal["bpsk", "bfsk"]


def transmission_loss(length: float, spreading_db: float, absorption_db_per_km: float) -> float:
    """Return the loss from 1 m distance to the end of a path by spreading and absorption, dB; `length` is in m."""
    return spreading_db * log10(max(length, 1.0)) + absorption_db_per_km * length / 1000.0


def roughness_loss(frequency_khz: float, sound_speed: float, height_rms: float, sine_of_grazing: float) -> float:
    """Return the loss of the coherent part of an echo at a rough surface, dB: 8.69 · 2 (k σ sin θ)².

    Eckart 1953, J. Acoust. Soc. Am. 25, 566–570, for normally distributed heights.

    Args:
        frequency_khz: Carrier frequency, kHz.
        sound_speed: Speed of sound, m/s.
        height_rms: Standard deviation σ of the surface height, m.
        sine_of_grazing: Sine of the angle between the echo and the surface.
    """
    k = 2.0 * pi * 1e3 * frequency_khz / sound_speed
    return 20.0 * log10(exp(1.0)) * 2.0 * (k * height_rms * sine_of_grazing) ** 2


def add_db(*levels: float) -> float:
    """Return the level of the sum of powers, dB."""
    return 10.0 * log10(sum(10.0 ** (level / 10.0) for level in levels))


def bit_error(energy_to_noise: float, modulation: Modulation) -> float:
    """Return the bit error probability for Eb/N0 as a ratio (not dB): coherent BPSK or non-coherent BFSK."""
    if modulation == "bpsk":
        return 0.5 * erfc(sqrt(energy_to_noise))
    return 0.5 * exp(-0.5 * energy_to_noise)


def packet_error(snr_db: float, bandwidth: float, bit_rate: float, bits: int, modulation: Modulation) -> float:
    """Return the probability that at least one bit is wrong: 1 − (1 − p)ⁿ, with Eb/N0 = SNR · B/R.

    Args:
        snr_db: Signal-to-noise ratio, dB.
        bandwidth: Bandwidth B, Hz.
        bit_rate: Bit rate R, bit/s.
        bits: Number n of bits.
        modulation: Modulation, which gives the bit error probability p.
    """
    wrong = bit_error(10.0 ** (snr_db / 10.0) * bandwidth / bit_rate, modulation)
    return -expm1(bits * log1p(-wrong))


def is_lost(noise: Noise, number: int, path: int, chance: float) -> bool:
    """Draw whether the copy of signal `number` on one path is lost; the draw depends on the seed alone."""
    return noise.uniform(number, channel=path) < chance
