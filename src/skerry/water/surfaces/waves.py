"""Waves: a sum of plane waves by linear theory, in deep water or over a flat bottom.

η = Σ a cos θ, θ = k·x − ω t + φ; u = Σ a ω (cosh k(z+d)/sinh kd) cos θ along k, w = Σ a ω (sinh k(z+d)/sinh kd) sin θ,
and their time derivatives (Dean & Dalrymple 1991, ch. 3–4). Near the surface, Wheeler's stretching (1970) measures z
from the actual surface, z' = (z − η)/(1 + η/s), so that the water in crests is not too fast. It reaches down to s, a
quarter of the peak wavelength or the bottom. Wheeler's own s = d would shift all depths equally in deep water, and so
push bodies far below the waves steadily upwards.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.frames import heading_to_yaw
from skerry.core.kernels import floats, kernel, stack_floats
from skerry.water.flow import (
    FLOW,
    FLOW_RATE,
    HEAD,
    HEIGHT,
    HEIGHT_KNOWN,
    NEED_FLOW,
    NEED_FLOW_RATE,
    NEED_HEAD,
    NEED_SLOPE,
    ROUNDING,
    SLOPE,
    FlowPart,
    SurfaceConfig,
    flow,
)
from skerry.water.spectrum import Components, regular, synthesise, wavenumber
from skerry.water.trigonometry import TURN, cosine, decay, sine, wrap

MAX_COMPONENTS = 2000  # most components of a sea
# Length of the header of the table: level, depth (0 for deep water), number of components, depth of the stretching.
# Rows of one number per component follow.
SETTINGS = 4
# Rows: amplitude, kx and ky (turns/m), k, ω (turns/s), phase (turns); with g = 1/(1 − e^(−2kd)), the velocity
# amplitudes a ω g along x, y and z, and the acceleration amplitudes, which are those times ω
AMPLITUDE, KX, KY, K, OMEGA, PHASE, FLOW_X, FLOW_Y, FLOW_Z, RATE_X, RATE_Y, RATE_Z, ROWS = range(13)


@kernel
def _row(table: int, n: int, number: int) -> Any:
    """Return one row of the table: a number of each component."""
    return floats(table + 8 * (SETTINGS + n * number), n)


@kernel
def _set_phases(table: int, n: int, t: float, phase: Any) -> None:
    """Compute the phases at a time; they are wrapped before smaller terms are added, which keeps them accurate."""
    omega, start = _row(table, n, OMEGA), _row(table, n, PHASE)
    for j in range(n):
        phase[j] = wrap(start[j] - omega[j] * t)


@kernel
def _raise_surface(table: int, n: int, phase: Any, count: int, points: int, out: int) -> None:
    """Write the height of the surface."""
    a, kx, ky = _row(table, n, AMPLITUDE), _row(table, n, KX), _row(table, n, KY)
    x, y = floats(points, count), floats(points + 8 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    level = floats(table, SETTINGS)[0]
    for i in range(count):
        px, py, total = x[i], y[i], 0.0
        for j in range(n):
            total += a[j] * cosine(wrap(kx[j] * px + ky[j] * py + phase[j]))
        height[i] = level + total


@kernel
def _slope_surface(table: int, n: int, phase: Any, count: int, points: int, out: int) -> None:
    """Add the slope of the surface."""
    a, kx, ky = _row(table, n, AMPLITUDE), _row(table, n, KX), _row(table, n, KY)
    x, y = floats(points, count), floats(points + 8 * count, count)
    slope = floats(out + 8 * SLOPE * count, 2 * count)
    for i in range(count):
        px, py, sx, sy = x[i], y[i], 0.0, 0.0
        for j in range(n):
            s = a[j] * sine(wrap(kx[j] * px + ky[j] * py + phase[j]))
            sx += s * kx[j]
            sy += s * ky[j]
        slope[i] -= sx / TURN
        slope[count + i] -= sy / TURN


@kernel
def _stretched(level: float, depth: float, layer: float, z: float, height: float) -> float:
    """Return the stretched z, relative to still water, at which linear theory is evaluated."""
    below = z - level
    if below > -layer:
        # The bound is for a trough deeper than the layer, which would invert the stretching.
        thick = max(layer + height - level, 1e-3 * layer)
        below = max(min(z - height, 0.0) * layer / thick, -layer)
    return max(below, -depth) if depth > 0.0 else below


@kernel
def _move_water(table: int, n: int, phase: Any, need: int, count: int, points: int, out: int) -> None:
    """Add velocity and acceleration of the water, if they are requested.

    The loops are short, because one loop for everything would need more registers than processors have.
    """
    settings = floats(table, SETTINGS)
    level, depth, layer = settings[0], settings[1], settings[3]
    kx, ky, k = _row(table, n, KX), _row(table, n, KY), _row(table, n, K)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    velocity, rate = floats(out + 8 * FLOW * count, 3 * count), floats(out + 8 * FLOW_RATE * count, 3 * count)
    cosines, sines = floats(stack_floats(2000), MAX_COMPONENTS), floats(stack_floats(2000), MAX_COMPONENTS)
    along, rise = (
        floats(stack_floats(2000), MAX_COMPONENTS),
        floats(stack_floats(2000), MAX_COMPONENTS),
    )  # factors of the amplitudes at this depth
    for i in range(count):
        px, py = x[i], y[i]
        below = _stretched(level, depth, layer, z[i], height[i])
        for j in range(n):
            along[j] = rise[j] = decay(k[j] * below)
        if depth > 0.0:
            for j in range(n):
                back = decay(-2.0 * k[j] * (below + depth))
                along[j] *= 1.0 + back
                rise[j] *= 1.0 - back
        for j in range(n):
            q = wrap(kx[j] * px + ky[j] * py + phase[j])
            cosines[j], sines[j] = cosine(q), sine(q)
        if need & NEED_FLOW:
            ax, ay, az = _row(table, n, FLOW_X), _row(table, n, FLOW_Y), _row(table, n, FLOW_Z)
            u = v = w = 0.0
            for j in range(n):
                c = along[j] * cosines[j]
                u += ax[j] * c
                v += ay[j] * c
                w += az[j] * (rise[j] * sines[j])
            velocity[i] += u
            velocity[count + i] += v
            velocity[2 * count + i] += w
        if need & NEED_FLOW_RATE:
            ax, ay, az = _row(table, n, RATE_X), _row(table, n, RATE_Y), _row(table, n, RATE_Z)
            u = v = w = 0.0
            for j in range(n):
                s = along[j] * sines[j]
                u += ax[j] * s
                v += ay[j] * s
                w -= az[j] * (rise[j] * cosines[j])
            rate[i] += u
            rate[count + i] += v
            rate[2 * count + i] += w


@kernel
def _press(table: int, n: int, phase: Any, count: int, points: int, out: int) -> None:
    """Write the pressure head: level − z + Σ a (cosh k(z+d)/cosh kd) cos θ, with the stretching of the velocity."""
    settings = floats(table, SETTINGS)
    level, depth, layer = settings[0], settings[1], settings[3]
    a, kx, ky, k = _row(table, n, AMPLITUDE), _row(table, n, KX), _row(table, n, KY), _row(table, n, K)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    head = floats(out + 8 * HEAD * count, count)
    for i in range(count):
        below = _stretched(level, depth, layer, z[i], height[i])
        total = 0.0
        for j in range(n):
            share = decay(k[j] * below)
            if depth > 0.0:
                share *= (1.0 + decay(-2.0 * k[j] * (below + depth))) / (1.0 + decay(-2.0 * k[j] * depth))
            total += a[j] * share * cosine(wrap(kx[j] * x[i] + ky[j] * y[i] + phase[j]))
        head[i] = level - z[i] + total


@flow
def wave(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    n = int(floats(table, SETTINGS)[2])
    phase = floats(stack_floats(2000), MAX_COMPONENTS)
    _set_phases(table, n, floats(time, 1)[0], phase)
    if not need & HEIGHT_KNOWN:
        _raise_surface(table, n, phase, count, points, out)
    if need & NEED_SLOPE:
        _slope_surface(table, n, phase, count, points, out)
    if need & NEED_HEAD:
        _press(table, n, phase, count, points, out)
    if need & (NEED_FLOW | NEED_FLOW_RATE):
        _move_water(table, n, phase, need, count, points, out)


class WaveSurface(SurfaceConfig):
    """Waves of a spectrum, or a regular wave."""

    kind: Literal["waves"] = "waves"
    spectrum: Literal["jonswap", "pierson_moskowitz", "regular"] = "jonswap"
    height: NonNegative = Field(description="significant height, m; for a regular wave, from trough to crest")
    period: Positive = Field(description="peak period, s; for a regular wave, its period")
    heading_deg: float = Field(description="heading that the waves travel towards")
    spreading: Positive | None = Field(
        10.0, description="s of the spreading cos^(2s) of half the angle: 10 wind sea, 75 swell, null for long crests"
    )
    gamma: float = Field(3.3, ge=1, le=10, description="peak enhancement factor of JONSWAP")
    components: int = Field(64, ge=1, le=MAX_COMPONENTS)
    seed: int | None = Field(None, ge=0, description="seed of phases and directions; that of the scenario by default")
    phase_deg: float = Field(0.0, description="phase of a regular wave at the origin at the start; 0 is a crest")
    depth: Positive | None = Field(None, description="depth of the water for the waves, m; deep by default")
    level: float = Field(0.0, description="level of the still water, m")

    @model_validator(mode="after")
    def _check_steepness(self) -> WaveSurface:
        # Miche 1944: no wave is higher than 0.142 L tanh kd, which is 1/7 of its length in deep water and 0.9 of the
        # depth in shallow water. Linear theory fails at much lower heights; this check only rejects mistakes.
        k = self._peak_wavenumber(9.81)
        highest = 0.142 * 2 * np.pi / k * np.tanh(k * (self.depth or inf))
        if self.height > highest:
            raise ValueError(
                f"{self.height:g} m is too high for a period of {self.period:g} s"
                + ("" if self.depth is None else f" in a depth of {self.depth:g} m")
                + f": such waves break above {highest:.2g} m"
            )
        return self

    def _peak_wavenumber(self, gravity: float) -> float:
        return float(wavenumber(np.array([2 * np.pi / self.period]), self.depth or inf, gravity)[0])

    def with_seed(self, seed: int) -> WaveSurface:
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    def waves(self, gravity: float) -> Components:
        """Return the wave components."""
        direction = float(heading_to_yaw(self.heading_deg))
        depth = self.depth or inf
        if self.spectrum == "regular":
            return regular(self.height, self.period, direction, np.radians(self.phase_deg), depth, gravity)
        return synthesise(
            self.spectrum,
            height=self.height,
            period=self.period,
            gamma=self.gamma,
            direction=direction,
            spreading=self.spreading or inf,
            count=self.components,
            seed=self.seed or 0,
            depth=depth,
            gravity=gravity,
        )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"height": 0.5, "period": 5, "heading_deg": 30, "components": 16} | settings)

    def build(self, gravity: float) -> FlowPart:
        if gravity <= 0:
            raise SkerryError("water.surface: waves need gravity; set a `gravity` above 0 or use a flat surface")
        found = self.waves(gravity)
        k = np.hypot(*found.wavenumber.T)
        growth = np.ones(found.count) if self.depth is None else 1.0 / -np.expm1(-2 * k * self.depth)
        kx, ky = found.wavenumber.T
        flow_rows = found.amplitude * found.frequency * growth * np.array([kx / k, ky / k, np.ones_like(k)])
        rows: list[NDArray[np.float64]] = [found.amplitude, kx * TURN, ky * TURN, k, found.frequency * TURN]
        rows += [found.phase * TURN, *flow_rows, *(found.frequency * flow_rows)]
        quarter = 0.5 * np.pi / self._peak_wavenumber(gravity)
        layer = min(quarter, self.depth or inf)
        settings = np.array([self.level, self.depth or 0.0, found.count, layer])
        highest = float(found.amplitude.sum()) + ROUNDING
        return FlowPart(
            wave,
            np.concatenate([settings, *rows]),
            has_acceleration=True,
            waves=found,
            heights=(self.level - highest, self.level + highest),
            deep=self.level - max(layer, highest),
        )
