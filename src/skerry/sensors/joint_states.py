"""Positions and velocities of a robot's joints, all or some; now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import Rows, RowSensor, SensorConfig, Truths

POSITION, VELOCITY = range(2)  # channels of the noise


@dataclass(frozen=True)
class JointStatesReading:
    """In the order of the names: rad and rad/s of joints that turn, m and m/s of those that slide."""

    time: float
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


class JointStatesSensor(RowSensor[JointStatesReading]):
    """Measures joints."""

    def __init__(self, config: JointStates) -> None:
        self._config = config

    def measure_many(self, truths: Truths, noise: Noise) -> Rows[JointStatesReading]:
        config, times = self._config, truths.times
        names = config.joints or truths.joints
        shape = (len(times), 0)
        positions = np.column_stack([np.empty(shape), *(truths.joint_position(name) for name in names)])
        velocities = np.column_stack([np.empty(shape), *(truths.joint_velocity(name) for name in names)])
        for values, sigma, channel in (
            (positions, config.position_noise, POSITION),
            (velocities, config.velocity_noise, VELOCITY),
        ):
            if sigma > 0.0:
                values += sigma * noise.normals(truths.ticks, len(names), channel)

        def make(k: int) -> JointStatesReading:
            return JointStatesReading(times[k], names, tuple(positions[k].tolist()), tuple(velocities[k].tolist()))

        return Rows(len(times), make)


class JointStates(SensorConfig):
    """The joints of a robot; perfect unless noise is given."""

    kind: Literal["joint_states"] = "joint_states"
    joints: tuple[str, ...] = Field((), description="which, in this order; all that move if none are named")
    position_noise: NonNegative = Field(0.0, description="standard deviation, rad or m")
    velocity_noise: NonNegative = Field(0.0, description="standard deviation, rad/s or m/s")

    @property
    def needs_joints(self) -> tuple[str, ...]:
        return self.joints

    def build(self) -> JointStatesSensor:
        return JointStatesSensor(self)
