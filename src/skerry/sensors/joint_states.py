"""Joint states: positions and velocities of all or some joints of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

POSITION, VELOCITY = range(2)  # noise channels


@dataclass(frozen=True)
class JointStatesReading:
    """Joint states in the order of `names`: rad and rad/s for hinge joints, m and m/s for sliding joints."""

    time: float = unit("s")
    names: tuple[str, ...] = unit("")
    positions: tuple[float, ...] = unit("rad or m")
    velocities: tuple[float, ...] = unit("rad/s or m/s")


class JointStatesSensor(Sensor[JointStatesReading]):
    """Sensor of joint positions and velocities."""

    execution = "batch"

    def __init__(self, config: JointStates) -> None:
        self._config = config

    def measure(self, view: SensorView, noise: Noise) -> Readings[JointStatesReading]:
        config = self._config
        names = config.joints or view.joints
        shape = (len(view), 0)
        positions = np.column_stack([np.empty(shape), *(view.joint_position(name) for name in names)])
        velocities = np.column_stack([np.empty(shape), *(view.joint_velocity(name) for name in names)])
        for values, sigma, channel in (
            (positions, config.position_noise, POSITION),
            (velocities, config.velocity_noise, VELOCITY),
        ):
            if sigma > 0.0:
                values += sigma * noise.normals(view.ticks, len(names), channel)
        return Readings(
            JointStatesReading,
            {
                "time": view.times,
                "names": shared(names, len(view)),
                "positions": positions,
                "velocities": velocities,
            },
        )


class JointStates(SensorConfig):
    """Joint states of a robot, exact unless noise is given."""

    perfect = {"position_noise": 0.0, "velocity_noise": 0.0}

    kind: Literal["joint_states"] = "joint_states"
    joints: tuple[str, ...] = Field((), description="names of the joints, in this order; empty for all movable joints")
    position_noise: NonNegative = Field(0.0, description="standard deviation of the position, rad or m")
    velocity_noise: NonNegative = Field(0.0, description="standard deviation of the velocity, rad/s or m/s")

    @property
    def needs_joints(self) -> tuple[str, ...]:
        return self.joints

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"position_noise": 0.01} | settings)

    def build(self) -> JointStatesSensor:
        return JointStatesSensor(self)
