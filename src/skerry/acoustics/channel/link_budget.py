"""How strong sound comes, and how likely a packet is read: the sonar equation, and bit errors of two modulations.

Urick 1983, Principles of Underwater Sound, ch. 2 and 5, for levels; Proakis & Salehi 2008, Digital Communications,
eq. 4.2-6 and 4.5-46, for bit errors.
"""

from __future__ import annotations

from math import erfc, exp, expm1, log1p, log10, pi, sqrt
from typing import Literal

from skerry.core.noise import Noise

Modulation = Literal["bpsk", "bfsk"]


def transmission_loss(length: float, spreading_db: float, absorption_db_per_km: float) -> float:
    """dB from 1 m away to the end of a path: spreading and absorption."""
    return spreading_db * log10(max(length, 1.0)) + absorption_db_per_km * length / 1000.0


def roughness_loss(frequency_khz: float, sound_speed: float, height_rms: float, sine_of_grazing: float) -> float:
    """dB that the even part of an echo loses at a rough surface: 8.69 · 2 (k σ sin θ)².

    Eckart 1953, J. Acoust. Soc. Am. 25, 566–570, for heights that are distributed normally.
    """
    k = 2.0 * pi * 1e3 * frequency_khz / sound_speed
    return 20.0 * log10(exp(1.0)) * 2.0 * (k * height_rms * sine_of_grazing) ** 2


def add_db(*levels: float) -> float:
    """The level of powers that add up."""
    return 10.0 * log10(sum(10.0 ** (level / 10.0) for level in levels))


def bit_error(energy_to_noise: float, modulation: Modulation) -> float:
    """The chance that a bit is wrong, by Eb/N0 as a plain ratio: coherent BPSK, or BFSK without a phase."""
    if modulation == "bpsk":
        return 0.5 * erfc(sqrt(energy_to_noise))
    return 0.5 * exp(-0.5 * energy_to_noise)


def packet_error(snr_db: float, bandwidth: float, bit_rate: float, bits: int, modulation: Modulation) -> float:
    """The chance that at least one of the bits is wrong: 1 − (1 − p)ⁿ; the band is in Hz, Eb/N0 = SNR · B/R."""
    wrong = bit_error(10.0 ** (snr_db / 10.0) * bandwidth / bit_rate, modulation)
    return -expm1(bits * log1p(-wrong))


def is_lost(noise: Noise, number: int, path: int, chance: float) -> bool:
    """Whether chance strikes this copy of this signal; the same for every run of a seed."""
    return noise.uniform(number, channel=path) < chance
