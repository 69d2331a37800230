"""The water column: temperature, salinity, density, sound speed and absorption as functions of depth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, model_validator

from skerry.core.config import Config, Positive
from skerry.core.kernels import floats
from skerry.water import seawater, sound
from skerry.water.flow import DENSITY, HEIGHT, FlowPart, flow

Values = NDArray[np.float64]

MAX_DEPTH: Final = 12_000.0  # m; deeper than any sea, and the limit of the relation of depth and pressure
DENSITY_TOLERANCE: Final = 1e-4  # kg/m³, largest error of the linear interpolation of the density
CONDUCTIVITY_TOLERANCE: Final = 1e-4  # mS/cm, largest error of the linear interpolation of the conductivity


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, int | float) and not isinstance(value, bool) else value


Depths = Annotated[tuple[Annotated[float, Field(ge=0, le=MAX_DEPTH)], ...], Field(min_length=1)]
Temperatures = Annotated[
    tuple[Annotated[float, Field(ge=-3, le=45)], ...], Field(min_length=1), BeforeValidator(_one_or_more)
]
Salinities = Annotated[
    tuple[Annotated[float, Field(ge=0, le=45)], ...], Field(min_length=1), BeforeValidator(_one_or_more)
]


def _check_increasing(depths: tuple[float, ...]) -> None:
    for above, below in pairwise(depths):
        if below <= above:
            raise ValueError(f"`depths` must increase, but {below:g} follows {above:g}")


class ProfileConfig(Config):
    """Temperature and salinity by depth: linear between the given depths, constant beyond them."""

    depths: Depths = Field((0.0,), description="depths, m, increasing; not needed if nothing changes with depth")
    temperature: Temperatures = Field((15.0,), description="temperature at each depth, °C, or one value for all")
    salinity: Salinities = Field((35.0,), description="practical salinity at each depth, g/kg, or one value for all")

    @model_validator(mode="after")
    def _fit(self) -> ProfileConfig:
        _check_increasing(self.depths)
        for name, values in (("temperature", self.temperature), ("salinity", self.salinity)):
            if len(values) not in {1, len(self.depths)}:
                raise ValueError(f"`{name}` has {len(values)} values for {len(self.depths)} depths")
        return self


class SoundSpeedConfig(Config):
    """Speed of sound: given, or computed from temperature, salinity and depth."""

    formula: Literal["unesco", "del_grosso", "mackenzie", "constant", "profile"] = "unesco"
    value: Positive | None = Field(None, description="speed for `constant`, m/s")
    depths: Depths | None = Field(None, description="depths for `profile`, m, increasing")
    values: tuple[Positive, ...] | None = Field(None, description="speed at each depth for `profile`, m/s")

    @model_validator(mode="after")
    def _fit(self) -> SoundSpeedConfig:
        belong = {"constant": {"value"}, "profile": {"depths", "values"}}.get(self.formula, set())
        for name in ("value", "depths", "values"):
            given = getattr(self, name) is not None
            if given and name not in belong:
                raise ValueError(f"`{name}` is not used by the formula {self.formula!r}; remove it")
            if name in belong and not given:
                raise ValueError(f"the formula {self.formula!r} needs `{name}`")
        if self.depths is not None and self.values is not None:
            _check_increasing(self.depths)
            if len(self.values) != len(self.depths):
                raise ValueError(f"`values` has {len(self.values)} values for {len(self.depths)} depths")
        return self


class AbsorptionConfig(Config):
    """Absorption of sound in the water."""

    formula: Literal["francois_garrison", "ainslie_mccolm", "thorp"] = "francois_garrison"
    ph: float = Field(
        8.0, ge=6, le=9, description="acidity; it changes the absorption by boric acid, below about 10 kHz"
    )


def check_sound_speed(speed: SoundSpeedConfig, profile: ProfileConfig) -> None:
    """Raise `ValueError` if the formula is not valid for a salinity of the profile."""
    if speed.formula not in sound.SPEED_SALINITIES:
        return
    low, high = sound.SPEED_SALINITIES[speed.formula]
    for salinity in profile.salinity:
        if not low <= salinity <= high:
            raise ValueError(
                f"the sound speed formula {speed.formula!r} is valid for salinities from {low:g} to {high:g}, but the "
                f"profile has {salinity:g}; use 'unesco'"
            )


@flow
def stratified(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Write the density by depth below the current surface. Table: number of nodes, their depths, their densities."""
    nodes = int(floats(table, 1)[0])
    depths = floats(table + 8, nodes)
    densities = floats(table + 8 + 8 * nodes, nodes)
    height = floats(out + 8 * HEIGHT * count, count)
    z = floats(points + 16 * count, count)
    density = floats(out + 8 * DENSITY * count, count)
    for i in range(count):
        depth = height[i] - z[i]
        if depth >= depths[nodes - 1]:
            density[i] = densities[nodes - 1]
        elif depth > depths[0]:
            low, high = 0, nodes - 1
            while high - low > 1:
                middle = (low + high) // 2
                if depths[middle] <= depth:
                    low = middle
                else:
                    high = middle
            share = (depth - depths[low]) / (depths[high] - depths[low])
            density[i] = densities[low] + share * (densities[high] - densities[low])
        else:  # at the surface, above it, or NaN
            density[i] = densities[0]


class Column:
    """Properties of the water by depth below the surface, m; above the surface, those at the surface."""

    def __init__(
        self, profile: ProfileConfig, constant: float | None, speed: SoundSpeedConfig, absorption: AbsorptionConfig
    ) -> None:
        self._depths = np.array(profile.depths)
        self._temperature = np.broadcast_to(np.array(profile.temperature), self._depths.shape)
        self._salinity = np.broadcast_to(np.array(profile.salinity), self._depths.shape)
        self._speed = speed
        self._absorption = absorption
        if constant is None:
            self.nodes, self.densities = self._tabulate(seawater.density, DENSITY_TOLERANCE)
        else:
            self.nodes, self.densities = np.zeros(1), np.array([constant])
        layers = 0.5 * (self.densities[1:] + self.densities[:-1]) * np.diff(self.nodes)
        self._masses = np.concatenate([[0.0], np.cumsum(layers)])  # kg/m² above each node

    def temperature(self, depth: ArrayLike) -> Values:
        """Return the temperature, °C."""
        return _interpolate(depth, self._depths, self._temperature)

    def salinity(self, depth: ArrayLike) -> Values:
        """Return the practical salinity, about g/kg."""
        return _interpolate(depth, self._depths, self._salinity)

    def density(self, depth: ArrayLike) -> Values:
        """Return the density, kg/m³; the same values as native laws use."""
        return _interpolate(depth, self.nodes, self.densities)

    def mass_above(self, depth: ArrayLike) -> Values:
        """Return the mass of the water column above a depth, kg/m²: ∫ ρ dz; 0 above the water."""
        below = _clip_depth(depth)
        if len(self.nodes) == 1:
            return np.asarray(below * self.densities[0])
        k = np.clip(np.searchsorted(self.nodes, below, side="right") - 1, 0, len(self.nodes) - 1)
        rest = below - self.nodes[k]
        return np.asarray(self._masses[k] + 0.5 * rest * (self.densities[k] + self.density(below)))

    def conductivity(self, depth: ArrayLike) -> Values:
        """Return the conductivity, mS/cm."""
        return _interpolate(depth, *self._conductivities)

    def sound_speed(self, depth: ArrayLike) -> Values:
        """Return the speed of sound, m/s."""
        speed = self._speed
        if speed.value is not None:
            return np.full(np.shape(depth), speed.value)
        if speed.depths is not None and speed.values is not None:
            return _interpolate(depth, speed.depths, speed.values)
        formula = sound.SPEED_AT_DEPTH[speed.formula]
        return formula(self.salinity(depth), self.temperature(depth), _clip_depth(depth))

    def absorption_db_per_km(self, frequency_hz: ArrayLike, depth: ArrayLike) -> Values:
        """Return the absorption of sound, dB/km; frequencies and depths are broadcast."""
        formula = sound.ABSORPTION[self._absorption.formula]
        salinity, temperature = self.salinity(depth), self.temperature(depth)
        return formula(frequency_hz, salinity, temperature, _clip_depth(depth), self._absorption.ph)

    def part(self) -> FlowPart | None:
        """Return the native part that gives the density by depth; None if the density is constant."""
        if len(self.nodes) == 1:
            return None
        return FlowPart(stratified, np.concatenate([[float(len(self.nodes))], self.nodes, self.densities]))

    @cached_property
    def _conductivities(self) -> tuple[Values, Values]:
        return self._tabulate(seawater.conductivity, CONDUCTIVITY_TOLERANCE)

    def _tabulate(self, formula: Callable[..., Values], tolerance: float) -> tuple[Values, Values]:
        """Return depths and values of a formula, dense enough for linear interpolation within the tolerance."""

        def value(depth: Values) -> Values:
            return formula(self.salinity(depth), self.temperature(depth), seawater.depth_to_pressure(depth))

        nodes = np.union1d(self._depths, np.linspace(0.0, MAX_DEPTH, 25))
        while True:
            values = value(nodes)
            middles = 0.5 * (nodes[1:] + nodes[:-1])
            off = np.abs(value(middles) - 0.5 * (values[1:] + values[:-1])) > tolerance
            if not off.any():
                return nodes, values
            nodes = np.sort(np.concatenate([nodes, middles[off]]))


def _interpolate(depth: ArrayLike, depths: ArrayLike, values: ArrayLike) -> Values:
    return np.asarray(np.interp(np.asarray(depth, np.float64), np.asarray(depths), np.asarray(values)))


def _clip_depth(depth: ArrayLike) -> Values:
    return np.maximum(np.asarray(depth, np.float64), 0.0)
