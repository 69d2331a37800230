"""Allocation of a wrench to thrusters: pseudo-inverse of their layout, scaled down without changing its direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.actuators.drives.shaft import ShaftActuator
from skerry.core.config import Config, Vector3
from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator

Floats = NDArray[np.float64]
Axis = Literal["surge", "sway", "heave", "roll", "pitch", "yaw"]
AXES: Final[tuple[Axis, ...]] = ("surge", "sway", "heave", "roll", "pitch", "yaw")
MIN_SINGULAR_VALUE = 0.01  # smallest usable singular value of the layout, relative to the largest


class AllocationConfig(Config):
    """Settings of the thrusters that produce the forces and torques of the loops."""

    thrusters: tuple[str, ...] = Field(min_length=1, description="names of actuators of kind `thruster` or `propeller`")
    axes: tuple[Axis, ...] = Field(
        AXES, min_length=1, description="controlled axes; forces along the other axes are not controlled"
    )
    center: Vector3 = Field(
        (0.0, 0.0, 0.0), description="reference point of the torques on the body of the thrusters, m"
    )


class Allocation:
    """Allocation of a wrench: T = B⁺ τ (Fossen 2021, §11.2.2). If a thrust is too large, all are scaled down.

    Raises:
        SkerryError: If an actuator has no thrust, the axes cannot be controlled, or a thruster cannot push both ways.
    """

    def __init__(self, config: AllocationConfig, actuators: Mapping[str, Actuator]) -> None:
        self._config = config
        self._thrusters: list[ShaftActuator] = []
        columns = []
        for name in config.thrusters:
            thruster = actuators[name]
            if not isinstance(thruster, ShaftActuator):
                raise SkerryError(
                    f"an allocation needs thrusters or propellers; {name!r} is a {type(thruster).__name__}"
                )
            self._thrusters.append(thruster)
            columns.append([*thruster.axis, *np.cross(thruster.position - np.array(config.center), thruster.axis)])
        layout = np.array(columns).T[[AXES.index(axis) for axis in config.axes]]
        sizes = np.linalg.svd(layout, compute_uv=False)
        if len(sizes) < len(config.axes) or sizes[-1] < MIN_SINGULAR_VALUE * sizes[0]:
            raise SkerryError(
                f"these thrusters cannot produce {', '.join(config.axes)} independently; remove some of `axes`"
            )
        self._inverse: Floats = np.linalg.pinv(layout)
        self._limits = np.array([thruster.thrust_limits for thruster in self._thrusters])
        if not self._limits.all():
            raise SkerryError(
                "an allocation needs thrusters that push in both directions; set `reverse_efficiency` above 0"
            )

    def allocate(self, wrench: Mapping[str, float]) -> tuple[dict[str, float], bool]:
        """Return the command of each thruster, and whether the wrench had to be scaled down.

        Args:
            wrench: Forces (N) and torques (N m), by axis; a missing axis is 0.
        """
        thrusts = self._inverse @ np.array([wrench.get(axis, 0.0) for axis in self._config.axes])
        limits = np.where(thrusts > 0.0, self._limits[:, 1], self._limits[:, 0])
        excess = max(float((thrusts / limits).max()), 1.0)
        names = self._config.thrusters
        shares = zip(names, self._thrusters, (thrusts / excess).tolist(), strict=True)
        return {name: thruster.command_for(thrust) for name, thruster, thrust in shares}, excess > 1.0
