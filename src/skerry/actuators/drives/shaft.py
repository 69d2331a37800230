"""Base of propellers and thrusters: a rotating shaft, with the thrust and torque of its disc."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.parts.actuator import Actuator
from skerry.parts.law import POSITION, ROTATION, SURFACE, WRENCH, Law, add_force_at
from skerry.parts.state_channel import Read, StateChannel, read_now

# State: command, actual value (after lag and rate limit), angle of the shaft (rad), thrust (N), torque (N m)
SETPOINT, ACTUAL, ANGLE, THRUST, TORQUE, COUNT = range(6)
# Constants: position of the disc (m), axis, sense of rotation, diameter (m); the constants of the kind begin at OWN
X, Y, Z, AX, AY, AZ, SENSE, DIAMETER, OWN = range(9)


@kernel
def submerged_fraction(block: Any, c: Any) -> float:
    """Return the fraction of the disc under water; it grows linearly over one diameter of depth."""
    R = block[ROTATION : ROTATION + 9]
    height = block[POSITION + 2] + R[6] * c[X] + R[7] * c[Y] + R[8] * c[Z]
    return min(max((block[SURFACE] - height) / c[DIAMETER] + 0.5, 0.0), 1.0)


@kernel
def apply_thrust(block: Any, state: Any, c: Any, thrust: float, torque: float) -> None:
    """Apply the thrust along the shaft and the reaction torque about it to the body."""
    state[THRUST] = thrust
    state[TORQUE] = torque
    add_force_at(block, c[X], c[Y], c[Z], thrust * c[AX], thrust * c[AY], thrust * c[AZ])
    reaction = -c[SENSE] * torque
    block[WRENCH + 3] += reaction * c[AX]
    block[WRENCH + 4] += reaction * c[AY]
    block[WRENCH + 5] += reaction * c[AZ]


class ShaftActuator(Actuator):
    """Actuator with a rotating shaft."""

    _shaft: Law
    torque_is_known = True

    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the disc on the body that carries it, m, (3,)."""
        return self._shaft.constants[X : Z + 1].copy()

    @property
    def axis(self) -> NDArray[np.float64]:
        """Direction of the thrust in the axes of the body that carries it, unit vector (3,)."""
        return self._shaft.constants[AX : AZ + 1].copy()

    @property
    @abstractmethod
    def thrust_limits(self) -> tuple[float, float]:
        """Largest thrusts at rest: backwards (negative) and forwards, N."""

    @abstractmethod
    def command_for(self, thrust: float) -> float:
        """Return the command that gives a thrust (N) at rest in its medium, clamped to the limits."""

    @abstractmethod
    def rpm_from(self, read: Read) -> Any | None:
        """Return the speed of the shaft, 1/min, negative backwards; None if it is unknown.

        Args:
            read: Reads a state channel, for one sample or for many.
        """

    @property
    def rpm(self) -> float | None:
        """Present speed of the shaft, 1/min, negative backwards; None if it is unknown."""
        rpm = self.rpm_from(read_now)
        return None if rpm is None else float(rpm)

    @property
    def thrust(self) -> float:
        """Thrust along the shaft in the last step, N."""
        return float(self._shaft.memory[THRUST])

    @property
    def torque_channel(self) -> StateChannel:
        """State channel of the torque on the shaft in the last step, N m."""
        return StateChannel(self._shaft.memory[TORQUE : TORQUE + 1])

    @property
    def torque(self) -> float:
        """Torque on the shaft in the last step, N m."""
        return read_now(self.torque_channel)

    def shaft_power_from(self, read: Read, rpm: Any) -> Any:
        """Return torque times speed of the shaft in the last step, W; never negative, so no power is recovered."""
        return np.maximum(read(self.torque_channel) * rpm * (np.pi / 30.0), 0.0)

    @property
    def angle(self) -> float:
        """Angle of the shaft about its axis, rad, for drawing; 0 if its speed is unknown."""
        return float(self._shaft.memory[ANGLE])
