"""Joint states: positions and velocities of all or some joints of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, Readings, SensorConfig, SensorView

POSITION, VELOCITY = range(2)  # noise channels


@dataclass(frozen=True)
class JointStatesReading:
    """Joint states in the order of `names`: rad and rad/s for hinge joints, m and m/s for sliding joints."""

    time: float
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


class JointStatesSensor(BatchSensor[JointStatesReading]):
    """Sensor of joint positions and velocities."""

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
    """Joint states of a robot, exact unless noise is given."""

    kind: Literal["joint_states"] = "joint_states"
    joints: tuple[str, ...] = Field((), description="names of the joints, in this order; empty for all movable joints")
    position_noise: NonNegative = Field(0.0, description="standard deviation of the position, rad or m")
    velocity_noise: NonNegative = Field(0.0, description="standard deviation of the velocity, rad/s or m/s")

    @property
    def needs_joints(self) -> tuple[str, ...]:
        return self.joints

    def build(self) -> JointStatesSensor:
        return JointStatesSensor(self)
