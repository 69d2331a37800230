"""Height function: random hills with smaller hills on them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.terrain.function import Floats, SeededFunctionConfig, smooth_noise


class HillsFunction(SeededFunctionConfig):
    """Octaves of smooth noise; each has half the wavelength and `gain` times the height of the previous one."""

    kind: Literal["hills"] = "hills"
    amplitude: NonNegative = Field(2.0, description="three standard deviations of the height, m; most hills are lower")
    wavelength: Positive = Field(50.0, description="mean distance of the largest hills along a line, m")
    octaves: Annotated[int, Field(ge=1, le=16)] = 5
    gain: Annotated[float, Field(gt=0, le=1)] = 0.5

    def heights(self, x: Floats, y: Floats) -> Floats:
        seed = self.known_seed()
        gains = [self.gain**octave for octave in range(self.octaves)]
        scale = self.amplitude / (3.0 * math.sqrt(sum(gain * gain for gain in gains)))
        # The crests of a sum of cubic B-splines are π spacings apart: 2π √(∫B'² / ∫B''²) with ∫B'² = 2/3 and
        # ∫B''² = 8/3 (Rice: "Mathematical analysis of random noise", Bell System Technical Journal 24, 1945).
        spacing = self.wavelength / math.pi
        total = np.zeros((len(y), len(x)))
        for octave, gain in enumerate(gains):
            finer = 2**octave / spacing
            total += scale * gain * smooth_noise(x * finer, y * finer, seed, octave)
        return total
