"""From a wanted wrench to commands of thrusters: the pseudo-inverse of their layout, cut without turning the wrench."""

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
MIN_SINGULAR_VALUE = 0.01  # of the layout's largest singular value: what is weaker is no control


class AllocationConfig(Config):
    """The thrusters that give the forces and torques that loops ask for."""

    thrusters: tuple[str, ...] = Field(min_length=1, description="actuators of kind `thruster` or `propeller`")
    axes: tuple[Axis, ...] = Field(AXES, min_length=1, description="that they give; others are as they come")
    center: Vector3 = Field((0.0, 0.0, 0.0), description="about which torques are taken, m, on their body")


class Allocation:
    """Shares out a wrench: T = B⁺ τ (Fossen 2021, §11.2.2), all thrusts made smaller alike if one is too large."""

    def __init__(self, config: AllocationConfig, actuators: Mapping[str, Actuator]) -> None:
        self._config = config
        self._thrusters: list[ShaftActuator] = []
        columns = []
        for name in config.thrusters:
            thruster = actuators[name]
            if not isinstance(thruster, ShaftActuator):
                raise SkerryError(f"an allocation is to thrusters and propellers; {name!r} is none")
            self._thrusters.append(thruster)
            columns.append([*thruster.axis, *np.cross(thruster.position - np.array(config.center), thruster.axis)])
        layout = np.array(columns).T[[AXES.index(axis) for axis in config.axes]]
        sizes = np.linalg.svd(layout, compute_uv=False)
        if len(sizes) < len(config.axes) or sizes[-1] < MIN_SINGULAR_VALUE * sizes[0]:
            raise SkerryError(f"these thrusters cannot give {', '.join(config.axes)} apart; leave out some of `axes`")
        self._inverse: Floats = np.linalg.pinv(layout)
        self._limits = np.array([thruster.thrust_limits for thruster in self._thrusters])
        if not self._limits.all():
            raise SkerryError("an allocation needs thrusters that push both ways; `reverse_efficiency` must not be 0")

    def allocate(self, wrench: Mapping[str, float]) -> tuple[dict[str, float], bool]:
        """The command of each thruster for a wrench by axis, N and N m; and whether it had to be cut."""
        wanted = self._inverse @ np.array([wrench.get(axis, 0.0) for axis in self._config.axes])
        room = np.where(wanted > 0.0, self._limits[:, 1], self._limits[:, 0])
        most = max(float((wanted / room).max()), 1.0)
        names = self._config.thrusters
        shares = zip(names, self._thrusters, (wanted / most).tolist(), strict=True)
        return {name: thruster.command_for(thrust) for name, thruster, thrust in shares}, most > 1.0
