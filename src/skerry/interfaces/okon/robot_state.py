"""What a robot does at an instant, as Okoń's packets tell it; copied from the world, so that nobody waits for it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from skerry.core.frames import FLU_TO_UNITY, Array, Pose, inverse, rotate
from skerry.interfaces.okon.packets import xyz
from skerry.interfaces.okon.unity import Triple, to_angular, to_euler, to_vector

BAROMETER: Final = 9800.0
"""N/m³: by what the original multiplies the depth for the gauge pressure, and by what clients divide it."""


class Instant:
    """A robot's motion now and a step before, copied; what is told of it is worked out when somebody asks."""

    def __init__(self, tick: int, step: float, now: Array, before: Array) -> None:
        """`now` and `before` hold position, quaternion, velocity and angular velocity, (13,), in the world's axes."""
        self.tick = tick
        self._step = step
        self._now, self._before = now.copy(), before.copy()

    @cached_property
    def position(self) -> Triple:
        """Of the body's origin, m, in Unity's axes."""
        return to_vector(self._now[:3])

    @cached_property
    def angles(self) -> Triple:
        """Euler angles, degrees."""
        return to_euler(self._now[3:7])

    @cached_property
    def direction(self) -> Triple:
        """Where the nose points, of length 1."""
        return to_vector(rotate(self._now[3:7], [1.0, 0.0, 0.0]))

    @property
    def pose(self) -> Pose:
        """In our own axes."""
        return Pose.of(self._now[:7])

    @cached_property
    def body_rates(self) -> Triple:
        """Angular velocity, rad/s, in the body's axes after Unity: about right, up and forward."""
        x, y, z = FLU_TO_UNITY.angular(rotate(inverse(self._now[3:7]), self._now[10:])).tolist()
        return x, y, z

    @cached_property
    def angular_velocity(self) -> Triple:
        """rad/s, in the world's axes."""
        return to_angular(self._now[10:])

    @cached_property
    def acceleration(self) -> Triple:
        """m/s², without gravity, in the world's axes: the velocity's change over the last step."""
        return to_vector((self._now[7:10] - self._before[7:10]) / self._step)

    @cached_property
    def angular_acceleration(self) -> Triple:
        """rad/s², as above."""
        return to_angular((self._now[10:] - self._before[10:]) / self._step)

    @property
    def pressure(self) -> float:
        """Gauge pressure, Pa; negative above the water."""
        return -self.position[1] * BAROMETER

    def sensors(self, names: tuple[str, str, str, str]) -> dict[str, Any]:
        """The body of GET_SENS; the dialects name the groups differently."""
        values = (self.angles, self.angular_velocity, self.acceleration, self.angular_acceleration)
        groups: dict[str, Any] = {name: xyz(value) for name, value in zip(names, values, strict=True)}
        return groups | {"baro": {"pressure": self.pressure}}

    def orientation(self) -> dict[str, Any]:
        """The body of GET_ORIEN."""
        return {"rot": xyz(self.angles), "pos": xyz(self.position)}
