"""Native functions that several tasks use; they are inlined into the tasks' functions."""

from __future__ import annotations

import math
from typing import Any

from skerry.core.kernels import kernel
from skerry.gym.task import QW, QX, QY, QZ


@kernel
def wrap_angle(angle: float) -> float:
    """Return an angle wrapped to −π … π, rad."""
    return math.atan2(math.sin(angle), math.cos(angle))


@kernel
def to_body_axes(now: Any, a: float, b: float, c: float) -> Any:
    """Rotate a vector from world axes to body axes: forward, left, up."""
    x, y, z, w = now[QX], now[QY], now[QZ], now[QW]
    return (
        (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y + z * w) * b + 2.0 * (x * z - y * w) * c,
        2.0 * (x * y - z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z + x * w) * c,
        2.0 * (x * z + y * w) * a + 2.0 * (y * z - x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c,
    )


@kernel
def tilt_cosine(now: Any) -> float:
    """Return the cosine of the angle between the body's z axis and the vertical."""
    return 1.0 - 2.0 * (now[QX] * now[QX] + now[QY] * now[QY])


@kernel
def action_change(action: Any, count: int) -> float:
    """Return the sum of squared differences between an action and the previous one."""
    total = 0.0
    for k in range(count):
        total += (action[k] - action[count + k]) ** 2
    return total
