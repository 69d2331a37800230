"""Particles that show the force fields: the fields move them, and they act on nothing.

Each particle is a body of 0.1 kg with one force point, without weight or drag. It starts at rest at a random position
in a random field and lives up to `lifetime`. Then its trail fades for the same time, and the particle starts again. The
random numbers depend on the seed of the world and the number of starts, so every run shows the same particles.
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
TRIES = 100  # positions drawn for a start strictly inside a field, before it is delayed to the next call
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
        add_fields(fields, NO_FIELD_OWNER - 1, userdata, x, y, z, 0.0, 1, one_where, one_depth, one_force)
        for k in range(3):
            force[k, i] = one_force[k]


@kernel
def _inside(volume: int, x: float, y: float, z: float) -> bool:
    return is_inside(volume, x, y, z)


class FieldParticles(Component):
    """Pool of particles. A page or a recording shows `positions`, `alive`, `remaining`, `colours` and `trails`."""

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
        self.remaining = np.zeros(count)  # remaining life, s; a negative value is the time that the trail has faded
        self.lifetimes = np.zeros(count)
        self.colours = np.zeros(count, np.int64)
        self.trails = np.zeros((count, config.trail, 3))
        self._starts = np.zeros(1, np.int64)
        self._table = table
        self._sources = [(row, field) for row, field in zip(rows, fields, strict=True) if row[SHOWN]]
        self._volumes = [None if field is None else field.volume.table() for _, field in self._sources]
        self._bounds = [None if field is None else field.volume.bounds() for _, field in self._sources]
        self._water = water
        self._noise = noise

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Mask of living particles; the trails of the others fade."""
        return self.remaining > 0

    def advance(self, seconds: float, time: float, userdata: Floats) -> None:
        """Move the particles by `seconds`, and start those whose trails have faded."""
        if not self._sources:
            return
        self.remaining -= seconds
        for i in np.flatnonzero(self.remaining <= -self.lifetimes):
            self._start(int(i), userdata)
        alive = np.flatnonzero(self.alive)
        if len(alive) == 0:
            return
        where = self.positions[alive]
        depth = self._water.sample(where, time, userdata, 0).height - where[:, 2]
        force = np.zeros((3, len(alive)))
        _forces(self._table.ctypes.data, userdata.ctypes.data, np.ascontiguousarray(where.T), depth, force)
        self.velocities[alive] += force.T * (seconds / MASS)
        self.positions[alive] += self.velocities[alive] * seconds
        if self.config.recycle_when_out:
            out = alive[~force.any(axis=0)]
            self.remaining[out] = np.minimum(self.remaining[out], 0.0)
        self.trails[alive, 1:] = self.trails[alive, :-1]
        self.trails[alive, 0] = self.positions[alive]

    def _start(self, i: int, userdata: Floats) -> None:
        starts = int(self._starts[0])
        self._starts[0] += 1
        draw = self._noise.uniform(starts, (2 + 3 * TRIES,))
        number = int(draw[0] * len(self._sources))
        row, field = self._sources[number]
        volume, bounds = self._volumes[number], self._bounds[number]
        position = self._in_cone(row, draw[2:5], userdata) if field is None else None
        if volume is not None and bounds is not None:
            low, high = bounds
            for k in range(TRIES):
                position = low + (high - low) * draw[2 + 3 * k : 5 + 3 * k]
                if not self.config.spawn_strictly_inside or _inside(volume.ctypes.data, *position):
                    break
            else:
                return
        assert position is not None
        self.positions[i], self.velocities[i] = position, 0.0
        self.trails[i] = position
        self.lifetimes[i] = self.remaining[i] = self.config.lifetime * draw[1]
        self.colours[i] = BLUE if row[UNDER] else (RED if row[ABOVE] else GREEN)

    def _in_cone(self, row: Floats, draw: Floats, userdata: Floats) -> Floats:
        """Return a random position in the cone behind a propeller, (3,)."""
        block = userdata[int(row[BLOCK_INDEX]) : int(row[BLOCK_INDEX]) + 12]
        rotation = block[3:].reshape(3, 3)
        axis = rotation @ row[AX : AX + 3]
        tip = block[:3] + rotation @ row[X : X + 3] + row[TIP] * axis
        across = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        angle = 2 * np.pi * draw[1]
        cosine = 1 - (1 - row[COSINE]) * draw[2]
        sine = np.sqrt(1 - cosine**2)
        sideways = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
        return np.asarray(tip + row[LENGTH] * draw[0] * (-cosine * axis + sine * sideways))

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
            self._starts,
        ]
