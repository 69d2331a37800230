"""Positions and velocities of a robot's joints, all or some; now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth

POSITION, VELOCITY = range(2)  # channels of the noise


@dataclass(frozen=True)
class JointStatesReading:
    """In the order of the names: rad and rad/s of joints that turn, m and m/s of those that slide."""

    time: float
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


class JointStatesSensor(Sensor[JointStatesReading]):
    """Measures joints."""

    sees_bodies_only = True

    def __init__(self, config: JointStates) -> None:
        self._config = config

    def measure(self, truth: Truth, noise: Noise) -> JointStatesReading:
        config = self._config
        names = config.joints or truth.joints
        positions = [truth.joint_position(name) for name in names]
        velocities = [truth.joint_velocity(name) for name in names]
        for values, sigma, channel in (
            (positions, config.position_noise, POSITION),
            (velocities, config.velocity_noise, VELOCITY),
        ):
            if sigma > 0.0:
                draws = noise.normal(truth.tick, (len(names),), channel).tolist()
                values[:] = [value + sigma * draw for value, draw in zip(values, draws, strict=True)]
        return JointStatesReading(truth.time, names, tuple(positions), tuple(velocities))


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
