"""Travel time of sound between two points, where the speed of sound changes with depth.

Along the straight line T₀ = ∫ ds/c, which by Fermat's principle is right to first order in the changes of c. The ray
bends with κ = c′ cos θ / c, which makes it quicker by (1/2c̄) ∫ (K − K̄)² ds with K = ∫ κ ds, to second order
(Jensen, Kuperman, Porter & Schmidt 2011, Computational Ocean Acoustics, ch. 3, for the ray equations). The remaining
error is of fourth order in the angle u by which the ray turns: 3u⁴/640 of the time, or 10⁻⁵ for 12°.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.water.column import MAX_DEPTH, Column

STEPS: Final = 64
"""Number of segments into which a line is divided for the integrals."""


def speed_table(column: Column) -> NDArray[np.float64]:
    """Return the speed of sound at every metre of depth, m/s."""
    return column.sound_speed(np.arange(0.0, MAX_DEPTH + 1.0))


@kernel
def speed_at(table: Any, depth: float) -> Any:
    """Return the speed of sound at a depth, m/s, and its change with depth, 1/s."""
    below = min(max(depth, 0.0), len(table) - 1.001)
    k = int(below)
    slope = table[k + 1] - table[k]
    return table[k] + (below - k) * slope, slope


@kernel
def travel_time(table: Any, across: float, depth: float, other_depth: float) -> float:
    """Return the travel time between two points, s.

    Args:
        table: Speed of sound at every metre of depth, m/s.
        across: Horizontal distance of the points, m.
        depth: Depth of the first point, m.
        other_depth: Depth of the second point, m.
    """
    length = np.sqrt(across * across + (other_depth - depth) * (other_depth - depth))
    if not length > 0.0:
        return 0.0
    piece, flat = length / STEPS, across / length
    total, turned, sum1, sum2 = 0.0, 0.0, 0.0, 0.0
    for i in range(STEPS):
        c, slope = speed_at(table, depth + (i + 0.5) / STEPS * (other_depth - depth))
        total += piece / c
        bend = flat * slope / c * piece
        middle = turned + 0.5 * bend
        sum1 += middle
        sum2 += middle * middle + bend * bend / 12.0
        turned += bend
    mean = sum1 / STEPS
    return total - 0.5 * total * max(sum2 / STEPS - mean * mean, 0.0)
