"""Positions and velocities of a robot's joints, all or some; now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, Readings, SensorConfig, SensorView

POSITION, VELOCITY = range(2)  # channels of the noise


@dataclass(frozen=True)
class JointStatesReading:
    """In the order of the names: rad and rad/s of joints that turn, m and m/s of those that slide."""

    time: float
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


class JointStatesSensor(BatchSensor[JointStatesReading]):
    """Measures joints."""

    def __init__(self, config: JointStates) -> None:
        self._config = config

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[JointStatesReading]:
        config, times = self._config, sensor_view.times
        names = config.joints or sensor_view.joints
        shape = (len(times), 0)
        positions = np.column_stack([np.empty(shape), *(sensor_view.joint_position(name) for name in names)])
        velocities = np.column_stack([np.empty(shape), *(sensor_view.joint_velocity(name) for name in names)])
        for values, sigma, channel in (
            (positions, config.position_noise, POSITION),
            (velocities, config.velocity_noise, VELOCITY),
        ):
            if sigma > 0.0:
                values += sigma * noise.normals(sensor_view.ticks, len(names), channel)

        def make(k: int) -> JointStatesReading:
            return JointStatesReading(times[k], names, tuple(positions[k].tolist()), tuple(velocities[k].tolist()))

        return Readings(len(times), make)


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
