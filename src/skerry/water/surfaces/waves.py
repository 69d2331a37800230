"""Waves: a sum of plane waves by linear theory, in deep water or over a level bottom.

η = Σ a cos θ, θ = k·x − ω t + φ; u = Σ a ω (cosh k(z+d)/sinh kd) cos θ along k, w = Σ a ω (sinh k(z+d)/sinh kd) sin θ,
and their rates of change (Dean & Dalrymple 1991, ch. 3–4). Near the surface Wheeler's stretching (1970): z is measured
from the surface that is really there, z' = (z − η)/(1 + η/s), so that crests are not too fast. It reaches down to s, a
quarter of the peak's length or the bottom: Wheeler's own s = d would in deep water shift all depths alike, and by that
push bodies up steadily that lie far below the waves.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal

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
    SLOPE,
    FlowPart,
    SurfaceConfig,
    flow,
)
from skerry.water.spectrum import Components, regular, synthesise, wavenumber
from skerry.water.trigonometry import TURN, cosine, decay, sine, wrap

CHUNK = 128  # components whose phases are found at once
# level, depth (0 for deep), count, depth of the stretching; then rows of amplitude, kx and ky (turns/m), k, kx/k, ky/k,
# ω, phase (turns) and 1/(1 − e^(−2kd)), of length `count`
SETTINGS = 4
ROWS = 9


@kernel
def _phases(rows: Any, n: int, first: int, t: float, phase: Any) -> int:
    """The phases of a chunk of components at a time, wrapped before anything small is added; how many there are."""
    m = min(CHUNK, n - first)
    for j in range(m):
        phase[j] = wrap(rows[7 * n + first + j] - rows[6 * n + first + j] * (t * TURN))
    return m


@kernel
def _raise_surface(table: int, t: float, count: int, points: int, out: int) -> None:
    """The height."""
    settings = floats(table, SETTINGS)
    n = int(settings[2])
    rows = floats(table + 8 * SETTINGS, ROWS * n)
    phase = floats(stack_floats(128), 128)
    x, y = floats(points, count), floats(points + 8 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    for i in range(count):
        height[i] = settings[0]
    for first in range(0, n, CHUNK):
        m = _phases(rows, n, first, t, phase)
        a, kx, ky = rows[first : first + m], rows[n + first : n + first + m], rows[2 * n + first : 2 * n + first + m]
        for i in range(count):
            px, py, total = x[i], y[i], 0.0
            for j in range(m):
                total += a[j] * cosine(wrap(kx[j] * px + ky[j] * py + phase[j]))
            height[i] += total


@kernel
def _slope_surface(table: int, t: float, count: int, points: int, out: int) -> None:
    """The slope."""
    settings = floats(table, SETTINGS)
    n = int(settings[2])
    rows = floats(table + 8 * SETTINGS, ROWS * n)
    phase = floats(stack_floats(128), 128)
    x, y = floats(points, count), floats(points + 8 * count, count)
    slope = floats(out + 8 * SLOPE * count, 2 * count)
    for first in range(0, n, CHUNK):
        m = _phases(rows, n, first, t, phase)
        a, kx, ky = rows[first : first + m], rows[n + first : n + first + m], rows[2 * n + first : 2 * n + first + m]
        for i in range(count):
            px, py, sx, sy = x[i], y[i], 0.0, 0.0
            for j in range(m):
                s = a[j] * sine(wrap(kx[j] * px + ky[j] * py + phase[j]))
                sx += s * kx[j]
                sy += s * ky[j]
            slope[i] -= sx / TURN
            slope[count + i] -= sy / TURN


@kernel
def _stretched(level: float, depth: float, layer: float, z: float, height: float) -> float:
    """The z below still water at which linear theory is asked."""
    below = z - level
    if below > -layer:
        # a trough that laid the layer bare would turn the stretching round
        thick = max(layer + height - level, 1e-3 * layer)
        below = max(min(z - height, 0.0) * layer / thick, -layer)
    return max(below, -depth) if depth > 0.0 else below


@kernel
def _move_water(table: int, t: float, count: int, points: int, out: int) -> None:
    """Velocity and its rate of change."""
    settings = floats(table, SETTINGS)
    level, depth, n, stretched = settings[0], settings[1], int(settings[2]), settings[3]
    rows = floats(table + 8 * SETTINGS, ROWS * n)
    phase = floats(stack_floats(128), 128)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    velocity, rate = floats(out + 8 * FLOW * count, 3 * count), floats(out + 8 * FLOW_RATE * count, 3 * count)
    for first in range(0, n, CHUNK):
        m = _phases(rows, n, first, t, phase)
        a, kx, ky = rows[first : first + m], rows[n + first : n + first + m], rows[2 * n + first : 2 * n + first + m]
        k, cx = rows[3 * n + first : 3 * n + first + m], rows[4 * n + first : 4 * n + first + m]
        cy, omega = rows[5 * n + first : 5 * n + first + m], rows[6 * n + first : 6 * n + first + m]
        growth = rows[8 * n + first : 8 * n + first + m]
        for i in range(count):
            px, py = x[i], y[i]
            u = v = w = du = dv = dw = 0.0
            below = _stretched(level, depth, stretched, z[i], height[i])
            if depth > 0.0:
                for j in range(m):
                    q = wrap(kx[j] * px + ky[j] * py + phase[j])
                    e = a[j] * omega[j] * growth[j] * decay(k[j] * below)
                    back = decay(-2.0 * k[j] * (below + depth))
                    c, s = e * cosine(q), e * sine(q)
                    along, ahead = (1.0 + back) * c, (1.0 + back) * omega[j] * s
                    u += along * cx[j]
                    v += along * cy[j]
                    w += (1.0 - back) * s
                    du += ahead * cx[j]
                    dv += ahead * cy[j]
                    dw -= (1.0 - back) * omega[j] * c
            else:
                for j in range(m):
                    q = wrap(kx[j] * px + ky[j] * py + phase[j])
                    e = a[j] * omega[j] * decay(k[j] * below)
                    c, s = e * cosine(q), e * sine(q)
                    u += c * cx[j]
                    v += c * cy[j]
                    w += s
                    du += omega[j] * s * cx[j]
                    dv += omega[j] * s * cy[j]
                    dw -= omega[j] * c
            velocity[i] += u
            velocity[count + i] += v
            velocity[2 * count + i] += w
            rate[i] += du
            rate[count + i] += dv
            rate[2 * count + i] += dw


@kernel
def _press(table: int, t: float, count: int, points: int, out: int) -> None:
    """The head of pressure: level − z + Σ a (cosh k(z+d)/cosh kd) cos θ, by Wheeler's z as the velocity."""
    settings = floats(table, SETTINGS)
    level, depth, n = settings[0], settings[1], int(settings[2])
    rows = floats(table + 8 * SETTINGS, ROWS * n)
    phase = floats(stack_floats(128), 128)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    head = floats(out + 8 * HEAD * count, count)
    for i in range(count):
        head[i] = level - z[i]
    for first in range(0, n, CHUNK):
        m = _phases(rows, n, first, t, phase)
        a, kx, ky = rows[first : first + m], rows[n + first : n + first + m], rows[2 * n + first : 2 * n + first + m]
        k = rows[3 * n + first : 3 * n + first + m]
        for i in range(count):
            below = _stretched(level, depth, settings[3], z[i], height[i])
            total = 0.0
            for j in range(m):
                share = decay(k[j] * below)
                if depth > 0.0:
                    share *= (1.0 + decay(-2.0 * k[j] * (below + depth))) / (1.0 + decay(-2.0 * k[j] * depth))
                total += a[j] * share * cosine(wrap(kx[j] * x[i] + ky[j] * y[i] + phase[j]))
            head[i] += total


@flow
def wave(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    t = floats(time, 1)[0]
    if not need & HEIGHT_KNOWN:
        _raise_surface(table, t, count, points, out)
    if need & NEED_SLOPE:
        _slope_surface(table, t, count, points, out)
    if need & NEED_HEAD:
        _press(table, t, count, points, out)
    if need & (NEED_FLOW | NEED_FLOW_RATE):
        _move_water(table, t, count, points, out)


class Waves(SurfaceConfig):
    """Waves of a spectrum, or one regular wave."""

    kind: Literal["waves"] = "waves"
    spectrum: Literal["jonswap", "pierson_moskowitz", "regular"] = "jonswap"
    height: NonNegative = Field(description="significant height, m; of a regular wave, from trough to crest")
    period: Positive = Field(description="of the peak, s; of a regular wave, its own")
    heading_deg: float = Field(description="that the waves travel towards")
    spreading: Positive | None = Field(
        10.0, description="s of cos^(2s) of half the angle: 10 a wind sea, 75 a swell; null for long-crested waves"
    )
    gamma: float = Field(3.3, ge=1, le=10, description="peakedness of JONSWAP")
    components: int = Field(64, ge=1, le=2000)
    seed: int | None = Field(None, ge=0, description="of phases and directions; the scenario's by default")
    phase_deg: float = Field(0.0, description="of a regular wave at the origin at the start; 0 is a crest")
    depth: Positive | None = Field(None, description="of the water as the waves feel it, m; deep by default")
    level: float = Field(0.0, description="of the still water, m")

    @model_validator(mode="after")
    def _possible(self) -> Waves:
        # Miche 1944: no wave is higher than 0.142 L tanh kd, which is 1/7 of its length in deep water and 0.9 of the
        # depth in shallow. A sea whose significant height is near that breaks all over, and linear theory ends far
        # below; this only refuses what cannot be meant.
        k = self._peak_wavenumber(9.81)
        highest = 0.142 * 2 * np.pi / k * np.tanh(k * (self.depth or inf))
        if self.height > highest:
            raise ValueError(
                f"{self.height:g} m is too high for a period of {self.period:g} s"
                + ("" if self.depth is None else f" in a depth of {self.depth:g} m")
                + f": such waves break at {highest:.2g} m"
            )
        return self

    def _peak_wavenumber(self, gravity: float) -> float:
        return float(wavenumber(np.array([2 * np.pi / self.period]), self.depth or inf, gravity)[0])

    def with_seed(self, seed: int) -> Waves:
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    def waves(self, gravity: float) -> Components:
        """The components, which are all that is needed to draw the sea."""
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

    def build(self, gravity: float) -> FlowPart:
        if gravity <= 0:
            raise SkerryError("water.surface: there are no waves without gravity; give a `gravity` or a flat surface")
        found = self.waves(gravity)
        k = np.hypot(*found.wavenumber.T)
        growth = np.ones(found.count) if self.depth is None else 1.0 / -np.expm1(-2 * k * self.depth)
        kx, ky = found.wavenumber.T
        rows: list[NDArray[np.float64]] = [found.amplitude, kx * TURN, ky * TURN, k, kx / k, ky / k]
        rows += [found.frequency, found.phase * TURN, growth]
        quarter = 0.5 * np.pi / self._peak_wavenumber(gravity)
        settings = np.array([self.level, self.depth or 0.0, found.count, min(quarter, self.depth or inf)])
        return FlowPart(wave, np.concatenate([settings, *rows]), accelerates=True, waves=found)
