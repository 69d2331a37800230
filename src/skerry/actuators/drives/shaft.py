"""What propellers and thrusters share: a shaft that turns, and a disc that pushes along it and twists about it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.parts.actuator import Actuator
from skerry.parts.law import POSITION, ROTATION, SURFACE, WRENCH, Law, add_force_at
from skerry.parts.state_channel import Read, StateChannel, read_now

WANTED, TURNING, ANGLE, THRUST, TORQUE, COUNT = range(6)  # the state: command, what it has become, rad, N, N m
X, Y, Z, AX, AY, AZ, SENSE, DIAMETER, OWN = range(9)  # the first constants; those of the kind begin at OWN


@kernel
def share_under_water(block: Any, c: Any) -> float:
    """The share of the disc that is under water, growing straight while it dips by its diameter."""
    R = block[ROTATION : ROTATION + 9]
    height = block[POSITION + 2] + R[6] * c[X] + R[7] * c[Y] + R[8] * c[Z]
    return min(max((block[SURFACE] - height) / c[DIAMETER] + 0.5, 0.0), 1.0)


@kernel
def push_along(block: Any, state: Any, c: Any, thrust: float, torque: float) -> None:
    """Let the body feel a thrust along the shaft, and against its turning a torque about it."""
    state[THRUST] = thrust
    state[TORQUE] = torque
    add_force_at(block, c[X], c[Y], c[Z], thrust * c[AX], thrust * c[AY], thrust * c[AZ])
    reaction = -c[SENSE] * torque
    block[WRENCH + 3] += reaction * c[AX]
    block[WRENCH + 4] += reaction * c[AY]
    block[WRENCH + 5] += reaction * c[AZ]


class ShaftActuator(Actuator):
    """An actuator that turns a shaft."""

    _shaft: Law
    torque_is_known = True

    @property
    def position(self) -> NDArray[np.float64]:
        """Of the disc on the body that carries it, m."""
        return self._shaft.constants[X : Z + 1].copy()

    @property
    def axis(self) -> NDArray[np.float64]:
        """Of the thrust, in the axes of the body that carries it."""
        return self._shaft.constants[AX : AZ + 1].copy()

    @property
    @abstractmethod
    def thrust_limits(self) -> tuple[float, float]:
        """The largest thrusts at rest, N, backwards (negative) and forwards."""

    @abstractmethod
    def command_for(self, thrust: float) -> float:
        """The command that gives this thrust, N, at rest in its medium; of one beyond the largest, the limit."""

    @abstractmethod
    def rpm_by(self, read: Read) -> Any | None:
        """Of the shaft, negative backwards, by its gauges; None if nothing is known of it."""

    @property
    def rpm(self) -> float | None:
        """Of the shaft now, negative backwards; None if nothing is known of it."""
        rpm = self.rpm_by(read_now)
        return None if rpm is None else float(rpm)

    @property
    def thrust(self) -> float:
        """N along the shaft, in the last step."""
        return float(self._shaft.memory[THRUST])

    @property
    def torque_channel(self) -> StateChannel:
        """Shows N m on the shaft, in the last step."""
        return StateChannel(self._shaft.memory[TORQUE : TORQUE + 1])

    @property
    def torque(self) -> float:
        """N m on the shaft, in the last step."""
        return read_now(self.torque_channel)

    def shaft_power_from(self, read: Read, rpm: Any) -> Any:
        """Torque times speed of the shaft, W, in the last step; what drives it from outside gives nothing back."""
        return np.maximum(read(self.torque_channel) * rpm * (np.pi / 30.0), 0.0)

    @property
    def angle(self) -> float:
        """Of the shaft about its axis, rad; for drawing. 0 if nothing is known of its speed."""
        return float(self._shaft.memory[ANGLE])
