"""Particles that show the force fields: the fields move them, and they act on nothing.

Each particle is a body of 0.1 kg with one force point, without weight or drag. It starts at rest at a random position
in a random field and lives up to `lifetime`. Then it starts again, so that `count` particles live at all times, and its
old trail fades. The random numbers depend on the seed of the world and the number of starts, so every run shows the
same particles.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.core.noise import Noise
from skerry.parts.component import Component
from skerry.scenario.schema import VisualizerConfig
from skerry.water import Water
from skerry.water.fields import (
    ABOVE,
    AX,
    BLOCK_INDEX,
    COSINE,
    LENGTH,
    NO_FIELD_OWNER,
    SHOWN,
    TIP,
    UNDER,
    FieldConfig,
    X,
    add_fields,
)
from skerry.water.volumes import is_inside

Floats = NDArray[np.float64]

MASS = 0.1  # mass of a particle, kg
SECTION = 0.008  # cross-section of a particle in a jet, m²: that of a ball of 0.1 m
TRIES = 16  # positions drawn in a round for a start strictly inside a field
ROUNDS = 64  # rounds after which such a start is delayed to the next call
RED, GREEN, BLUE = range(3)  # colours of fields above water only, anywhere, and under water only


@kernel
def _forces(fields: int, userdata: int, where: Any, depth: Any, force: Any) -> None:
    """Compute the force of all fields on each particle. Particles have no owner, so all propellers act on them."""
    n = depth.size
    one_where, one_depth, one_force = np.empty(3), np.empty(1), np.empty(3)
    for i in range(n):
        for k in range(3):
            one_where[k], one_force[k] = where[k, i], 0.0
        one_depth[0] = depth[i]
        x, y, z = one_where[0], one_where[1], one_where[2]
        add_fields(fields, NO_FIELD_OWNER - 1, userdata, x, y, z, 0.0, 1, 1.0, SECTION, one_where, one_depth, one_force)
        for k in range(3):
            force[k, i] = one_force[k]


@kernel
def _are_inside(volume: int, places: Any, found: Any) -> None:
    """Write whether positions (n, 3) are inside a volume."""
    for i in range(len(places)):
        found[i] = is_inside(volume, places[i, 0], places[i, 1], places[i, 2])


class FieldParticles(Component):
    """Pool of particles: `positions`, `alive`, `remaining`, `colours`, `trails`, and `fading_trails` of ended ones."""

    def __init__(
        self,
        config: VisualizerConfig,
        table: Floats,
        rows: Sequence[Floats],
        fields: Sequence[FieldConfig | None],
        water: Water,
        noise: Noise,
    ) -> None:
        count = config.count
        self.config = config
        self.positions = np.zeros((count, 3))
        self.velocities = np.zeros((count, 3))
        self.remaining = np.zeros(count)  # remaining life, s
        self.lifetimes = np.zeros(count)
        self.colours = np.zeros(count, np.int64)
        self.trails = np.zeros((count, config.trail, 3))
        self.fading = np.zeros(count)  # time for which the trail of an ended particle is still shown, s
        self.fading_lifetimes = np.zeros(count)
        self.fading_colours = np.zeros(count, np.int64)
        self.fading_trails = np.zeros((count, config.trail, 3))
        self._starts = np.zeros(1, np.int64)
        self._ends = np.zeros(1, np.int64)
        self._table = table
        self._sources = [(row, field) for row, field in zip(rows, fields, strict=True) if row[SHOWN]]
        self._volumes = [None if field is None else field.volume.table() for _, field in self._sources]
        self._bounds = [None if field is None else field.volume.bounds() for _, field in self._sources]
        self._water = water
        self._noise = noise

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Mask of living particles: all of them, unless no position inside a field was found for a start."""
        return self.remaining > 0

    def advance(self, seconds: float, time: float, userdata: Floats) -> None:
        """Move the particles by `seconds`, and replace those that have ended."""
        if not self._sources:
            return
        self.remaining -= seconds
        self.fading -= seconds
        self._replace(np.flatnonzero(self.remaining <= 0.0), time, userdata)
        alive = np.flatnonzero(self.alive)
        if len(alive) == 0:
            return
        where = self.positions[alive]
        force = np.zeros((3, len(alive)))
        depth = self._depth(where, time, userdata)
        _forces(self._table.ctypes.data, userdata.ctypes.data, np.ascontiguousarray(where.T), depth, force)
        self.velocities[alive] += force.T * (seconds / MASS)
        self.positions[alive] += self.velocities[alive] * seconds
        self.trails[alive, 1:] = self.trails[alive, :-1]
        self.trails[alive, 0] = self.positions[alive]
        if self.config.recycle_when_out:
            self._replace(alive[~force.any(axis=0)], time, userdata)

    def _depth(self, where: Floats, time: float, userdata: Floats) -> Floats:
        depth: Floats = self._water.sample(where, time, userdata, 0).height - where[:, 2]
        return depth

    def _replace(self, ended: NDArray[np.intp], time: float, userdata: Floats) -> None:
        """Start particles again. Their trails fade for as long as they have lived at most."""
        moved = ended[np.any(self.trails[ended, 0] != self.trails[ended, -1], axis=1)]
        slots = (self._ends[0] + np.arange(len(moved))) % len(self.fading)
        self._ends[0] += len(moved)
        self.fading[slots] = self.fading_lifetimes[slots] = self.lifetimes[moved]
        self.fading_colours[slots], self.fading_trails[slots] = self.colours[moved], self.trails[moved]
        starts = self._starts[0] + np.arange(len(ended))
        self._starts[0] += len(ended)
        draws = self._noise.uniforms(starts, 2)
        numbers = (draws[:, 0] * len(self._sources)).astype(np.int64)
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            found = self._find_positions(number, starts[chosen], time, userdata)
            at, row, failed = ended[chosen], self._sources[number][0], np.isnan(found[:, 0])
            self.positions[at], self.velocities[at] = np.where(failed[:, None], self.positions[at], found), 0.0
            self.trails[at] = self.positions[at][:, None]
            self.lifetimes[at] = self.config.lifetime * draws[chosen, 1]
            self.remaining[at] = np.where(failed, 0.0, self.lifetimes[at])
            self.colours[at] = BLUE if row[UNDER] else (RED if row[ABOVE] else GREEN)

    def _find_positions(self, number: int, starts: NDArray[np.int64], time: float, userdata: Floats) -> Floats:
        """Return random positions in a field, (n, 3).

        With `spawn_strictly_inside` these are positions where the field acts, or NaN if none was found.
        """
        if not self.config.spawn_strictly_inside:
            return self._spread(number, self._noise.uniforms(starts, 3, 1), userdata)
        found = np.full((len(starts), 3), np.nan)
        pending: NDArray[np.intp] = np.arange(len(starts))
        for channel in range(1, ROUNDS + 1):
            draws = self._noise.uniforms(starts[pending], 3 * TRIES, channel).reshape(-1, 3)
            places = self._spread(number, draws, userdata)
            acts = self._acts_at(number, places, time, userdata).reshape(-1, TRIES)
            first, hit = acts.argmax(axis=1), acts.any(axis=1)
            found[pending[hit]] = places.reshape(-1, TRIES, 3)[np.flatnonzero(hit), first[hit]]
            pending = pending[~hit]
            if len(pending) == 0:
                break
        return found

    def _spread(self, number: int, draws: Floats, userdata: Floats) -> Floats:
        """Return positions (n, 3) in the bounding box of a field, or in a propeller's cone, from uniform numbers."""
        bounds = self._bounds[number]
        if bounds is None:
            return self._in_cone(self._sources[number][0], draws, userdata)
        low, high = bounds
        return np.asarray(low + (high - low) * draws)

    def _acts_at(self, number: int, places: Floats, time: float, userdata: Floats) -> NDArray[np.bool_]:
        """Return whether a field acts at positions (n, 3): inside its volume, and on its side of the surface."""
        row, volume = self._sources[number][0], self._volumes[number]
        acts = np.ones(len(places), np.bool_)
        if volume is not None:
            _are_inside(volume.ctypes.data, places, acts)
        if row[UNDER] or row[ABOVE]:
            inside = np.flatnonzero(acts)
            acts[inside] = (self._depth(places[inside], time, userdata) > 0.0) == bool(row[UNDER])
        return acts

    def _in_cone(self, row: Floats, draws: Floats, userdata: Floats) -> Floats:
        """Return random positions in the cone behind a propeller, (n, 3), from uniform numbers (n, 3)."""
        block = userdata[int(row[BLOCK_INDEX]) : int(row[BLOCK_INDEX]) + 12]
        rotation = block[3:].reshape(3, 3)
        axis = rotation @ row[AX : AX + 3]
        tip = block[:3] + rotation @ row[X : X + 3] + row[TIP] * axis
        across = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        along, angle, cosine = draws[:, :1], 2 * np.pi * draws[:, 1:2], 1 - (1 - row[COSINE]) * draws[:, 2:]
        sideways = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
        return np.asarray(tip + row[LENGTH] * along * (-cosine * axis + np.sqrt(1 - cosine**2) * sideways))

    def state(self) -> bytes:
        file = io.BytesIO()
        for array in self._arrays():
            np.save(file, array, allow_pickle=False)
        return file.getvalue()

    def set_state(self, state: bytes) -> None:
        file = io.BytesIO(state)
        for array in self._arrays():
            array[:] = np.load(file, allow_pickle=False)

    def _arrays(self) -> list[NDArray[Any]]:
        return [
            self.positions,
            self.velocities,
            self.remaining,
            self.lifetimes,
            self.colours,
            self.trails,
            self.fading,
            self.fading_lifetimes,
            self.fading_colours,
            self.fading_trails,
            self._starts,
            self._ends,
        ]
