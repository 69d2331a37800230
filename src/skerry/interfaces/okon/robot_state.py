"""Motion of a robot at one tick in the units and axes of Okoń's packets."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from skerry.core.frames import FLU_TO_UNITY, Array, Pose, inverse, rotate
from skerry.interfaces.okon.packets import xyz
from skerry.interfaces.okon.unity import Triple, to_angular, to_euler, to_vector

BAROMETER: Final = 9800.0
"""Factor from depth to gauge pressure, N/m³; the original multiplies by it, and clients divide by it."""


class RobotState:
    """Copy of a robot's motion at a tick and one step before; derived values are computed at their first use."""

    def __init__(self, tick: int, step: float, now: Array, before: Array) -> None:
        """Copy the motions.

        Args:
            tick: Tick of the world.
            step: Length of a step, s.
            now: Position, quaternion, velocity and angular velocity, (13,), in the world's axes.
            before: The same one step before.
        """
        self.tick = tick
        self._step = step
        self._now, self._before = now.copy(), before.copy()

    @cached_property
    def position(self) -> Triple:
        """Position of the body's origin, m, in Unity's axes."""
        return to_vector(self._now[:3])

    @cached_property
    def angles(self) -> Triple:
        """Unity's Euler angles, °."""
        return to_euler(self._now[3:7])

    @cached_property
    def direction(self) -> Triple:
        """Unit vector along the nose, in Unity's axes of the world."""
        return to_vector(rotate(self._now[3:7], [1.0, 0.0, 0.0]))

    @property
    def pose(self) -> Pose:
        """Pose in Skerry's axes."""
        return Pose.of(self._now[:7])

    @cached_property
    def body_rates(self) -> Triple:
        """Angular velocity about the body's right, up and forward axes in Unity's left-handed sense, rad/s."""
        x, y, z = FLU_TO_UNITY.angular(rotate(inverse(self._now[3:7]), self._now[10:])).tolist()
        return x, y, z

    @cached_property
    def angular_velocity(self) -> Triple:
        """Angular velocity in Unity's axes of the world, rad/s."""
        return to_angular(self._now[10:])

    @cached_property
    def acceleration(self) -> Triple:
        """Acceleration without gravity in Unity's axes of the world, m/s²: change of velocity over the last step."""
        return to_vector((self._now[7:10] - self._before[7:10]) / self._step)

    @cached_property
    def angular_acceleration(self) -> Triple:
        """Angular acceleration in Unity's axes of the world, rad/s²: change over the last step."""
        return to_angular((self._now[10:] - self._before[10:]) / self._step)

    @property
    def pressure(self) -> float:
        """Gauge pressure, Pa; negative above the water."""
        return -self.position[1] * BAROMETER

    def sensors(self, names: tuple[str, str, str, str]) -> dict[str, Any]:
        """Return the body of GET_SENS.

        Args:
            names: Keys of rotation, angular velocity, acceleration and angular acceleration, which depend on the
                dialect.
        """
        values = (self.angles, self.angular_velocity, self.acceleration, self.angular_acceleration)
        groups: dict[str, Any] = {name: xyz(value) for name, value in zip(names, values, strict=True)}
        return groups | {"baro": {"pressure": self.pressure}}

    def orientation(self) -> dict[str, Any]:
        """Return the body of GET_ORIEN."""
        return {"rot": xyz(self.angles), "pos": xyz(self.position)}
