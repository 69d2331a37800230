"""Trajectory of a robot or an object, with named series such as depth, surge or heading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import inverse, quaternion_to_rpy, rotate, yaw_to_heading

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """Samples of a motion: position, quaternion, velocity and angular velocity in the world."""

    time: Series  # (n,), s
    motion: Series  # (n, 13)

    def series(self, name: str) -> Series:
        """Return one of `SERIES` by name."""
        if name not in SERIES:
            raise UnknownName(f"a robot or object has no {name!r}; {did_you_mean(name, SERIES)}")
        return SERIES[name](self)

    @property
    def position(self) -> Series:
        """Positions, (n, 3), m, ENU."""
        return self.motion[:, :3]

    @property
    def velocity(self) -> Series:
        """Velocities, (n, 3), m/s, ENU."""
        return self.motion[:, 7:10]

    @property
    def attitude(self) -> Series:
        """Roll, pitch and yaw, (n, 3), rad."""
        return quaternion_to_rpy(self.motion[:, 3:7])

    @property
    def body_velocity(self) -> Series:
        """Velocities in the axes of the body (forward, left, up), (n, 3), m/s."""
        return rotate(inverse(self.motion[:, 3:7]), self.velocity)

    @property
    def body_rates(self) -> Series:
        """Angular velocities in the axes of the body (forward, left, up), (n, 3), rad/s."""
        return rotate(inverse(self.motion[:, 3:7]), self.motion[:, 10:13])


SERIES: Final[dict[str, Callable[[Trajectory], Series]]] = {
    "x": lambda track: track.position[:, 0],
    "y": lambda track: track.position[:, 1],
    "z": lambda track: track.position[:, 2],
    "depth": lambda track: -track.position[:, 2],
    "position": lambda track: track.position,
    "velocity": lambda track: track.velocity,
    "speed": lambda track: np.linalg.norm(track.velocity, axis=1),
    "surge": lambda track: track.body_velocity[:, 0],
    "sway": lambda track: track.body_velocity[:, 1],
    "heave": lambda track: track.body_velocity[:, 2],
    "heading_deg": lambda track: yaw_to_heading(track.attitude[:, 2]),
    "roll_deg": lambda track: np.degrees(track.attitude[:, 0]),
    "pitch_deg": lambda track: np.degrees(track.attitude[:, 1]),
    "yaw_deg": lambda track: np.degrees(track.attitude[:, 2]),
    "roll_rate_deg": lambda track: np.degrees(track.body_rates[:, 0]),
    "pitch_rate_deg": lambda track: np.degrees(track.body_rates[:, 1]),
    "yaw_rate_deg": lambda track: np.degrees(track.body_rates[:, 2]),
}
"""Named series: (n,) arrays, except `position` and `velocity`, which are (n, 3)."""
