"""Ballast: a tank whose mass changes, with its weight, inertia and momentum.

The mass m of the tank adds a 6×6 rigid-body inertia and a weight at the tank's position. Incoming water has the
velocity of the sea, so filling costs momentum ṁ ν_r. Outgoing water leaves with the velocity of the vehicle and exerts
no force (Tsiolkovsky's equation with zero exhaust speed).
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from skerry.core.config import Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.core.kernels import floats, stack_floats
from skerry.parts.law import (
    BIAS,
    GRAVITY,
    RELATIVE,
    ROTATION,
    VELOCITY,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    add_force_at,
    add_inertia,
    block_of,
    constants_of,
    law,
    spatial_inertia,
    state_of,
)

SETPOINT, MASS, RATE = range(3)  # state: commanded mass, kg; mass, kg; rate of change, kg/s


@law
def fill_tank(model: int, data: int, table: int) -> None:
    """Move the mass towards the setpoint at the rate of the pump. Constant 39: pump rate, kg/s; 40: step, s."""
    state = state_of(data, table, 3)
    constants = constants_of(table)
    most = constants[39] * constants[40]
    change = min(max(state[SETPOINT] - state[MASS], -most), most)
    state[MASS] += change
    state[RATE] = change / constants[40]


@law
def apply_ballast(model: int, data: int, table: int) -> None:
    """Apply weight, inertia and momentum of the tank. Constants 0 to 35: 6×6 inertia per kg; 36 to 38: position."""
    block = block_of(data, table)
    state = state_of(data, table, 3)
    constants = constants_of(table)
    unit = constants[:36]
    x, y, z = constants[36], constants[37], constants[38]
    mass = state[MASS]
    add_inertia(block, unit, mass, block[VELOCITY : VELOCITY + 6], block[BIAS : BIAS + 6])
    weight = mass * block[GRAVITY]
    R = block[ROTATION : ROTATION + 9]
    add_force_at(block, x, y, z, -weight * R[6], -weight * R[7], -weight * R[8])
    if state[RATE] > 0.0:
        impulse = floats(stack_floats(6), 6)
        for i in range(6):
            impulse[i] = 0.0
            for j in range(6):
                impulse[i] += unit[6 * i + j] * block[RELATIVE + j]
        for i in range(6):
            block[WRENCH + i] -= state[RATE] * impulse[i]


class BallastLaw(Law):
    """Law of a ballast tank."""

    capacity: float  # kg

    @property
    def mass(self) -> Any:
        """Mass of the water in the tank, kg; in a batch an array with one value per world."""
        return self.memory[..., MASS].copy()[()]

    def set_target(self, mass: float) -> None:
        """Set the mass to pump to, kg; it is limited to 0 … `capacity`."""
        if not np.isfinite(mass):
            raise SkerryError(f"a ballast mass must be a finite number of kg, not {mass}")
        self.memory[..., SETPOINT] = min(max(mass, 0.0), self.capacity)


class Ballast(LawConfig):
    """Settings of a tank at `position` that a pump fills with water or another fluid."""

    kind: Literal["ballast"] = "ballast"
    volume: Positive = Field(description="volume of the tank, m³")
    density: Positive | None = Field(
        None, description="density of the fluid in the tank, kg/m³; that of the water by default"
    )
    fill: float = Field(0.5, ge=0, le=1, description="filled share of the volume at the start")
    rate: Positive = Field(description="flow rate of the pump, m³/s")
    gyration: Vector3 = Field((0.0, 0.0, 0.0), description="radii of gyration of the tank about its own centre, m")

    @field_validator("gyration")
    @classmethod
    def _check_not_negative(cls, value: Vector3) -> Vector3:
        if min(value) < 0:
            raise ValueError("must not be negative")
        return value

    def trim_ballast(self, density: float) -> float:
        """Return the mass in the tank at the start, kg; `density` is that of the water, kg/m³."""
        return self.fill * self.volume * (self.density or density)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"volume": 0.001, "rate": 0.0001} | settings)

    def build(self, at: Attachment) -> Law:
        offset = self.pose_on_body(at)
        turn = offset.rotation
        own = turn @ np.diag(np.square(self.gyration)) @ turn.T
        density = self.density or at.water_density
        start = self.fill * self.volume * density
        unit = spatial_inertia(1.0, offset.position, own)
        constants = np.concatenate([unit.ravel(), offset.position, [self.rate * density, at.step]])
        law = BallastLaw(
            constants,
            force=apply_ballast,
            update=fill_tank,
            initial_state=np.array([start, start, 0.0]),
            added_mass=start * unit,
        )
        law.capacity = self.volume * density
        return law
