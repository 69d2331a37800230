"""What the rules of several tasks need: native functions that become part of them."""

from __future__ import annotations

import math
from typing import Any

from skerry.core.kernels import kernel
from skerry.gym.task import QW, QX, QY, QZ


@kernel
def wrapped(angle: float) -> float:
    """An angle as one from −π to π."""
    return math.atan2(math.sin(angle), math.cos(angle))


@kernel
def in_own_axes(now: Any, a: float, b: float, c: float) -> Any:
    """A vector of the world in the robot's axes: forwards, to the left, up."""
    x, y, z, w = now[QX], now[QY], now[QZ], now[QW]
    return (
        (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y + z * w) * b + 2.0 * (x * z - y * w) * c,
        2.0 * (x * y - z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z + x * w) * c,
        2.0 * (x * z + y * w) * a + 2.0 * (y * z - x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c,
    )


@kernel
def upright(now: Any) -> float:
    """The cosine of the angle between the robot's up and the world's."""
    return 1.0 - 2.0 * (now[QX] * now[QX] + now[QY] * now[QY])


@kernel
def restlessness(action: Any, count: int) -> float:
    """How far an action is from the one before: the sum of the squares."""
    total = 0.0
    for k in range(count):
        total += (action[k] - action[count + k]) ** 2
    return total
