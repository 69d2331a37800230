"""Cubic spline through points at given times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError
from skerry.core.kernels import strict_kernel

Floats = NDArray[np.float64]


@strict_kernel
def follow(t: Any, x: Any, M: Any, repeat: bool, time: float, rows: Any) -> None:
    """Write position, velocity, acceleration, jerk and snap of a spline at a time into `rows`, (5, 3).

    Args:
        t: Times of the points, s, (n,).
        x: Points, m, (n, 3).
        M: Second derivatives at the points, m/s², (n, 3).
        repeat: Whether the spline repeats.
        time: Time, s.
        rows: Receives the result.
    """
    last = len(t) - 1
    if repeat:
        time = t[0] + (time - t[0]) % (t[last] - t[0])
    rows[:] = 0.0
    if time < t[0] or time >= t[last]:
        rows[0] = x[0 if time < t[0] else last]
        return
    i = np.searchsorted(t, time, side="right") - 1
    h, s = t[i + 1] - t[i], time - t[i]
    for k in range(3):
        jerk = (M[i + 1, k] - M[i, k]) / h
        velocity = (x[i + 1, k] - x[i, k]) / h - h * (2.0 * M[i, k] + M[i + 1, k]) / 6.0
        rows[0, k] = x[i, k] + s * (velocity + s * (M[i, k] / 2.0 + s * jerk / 6.0))
        rows[1, k] = velocity + s * (M[i, k] + s * jerk / 2.0)
        rows[2, k], rows[3, k] = M[i, k] + s * jerk, jerk


class Spline:
    """Cubic spline with two continuous derivatives through points at given times: natural, or periodic.

    Raises:
        SkerryError: If times and positions do not form a trajectory.
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike, repeat: bool) -> None:
        t, x = np.array(times, np.float64), np.array(positions, np.float64)
        if t.ndim != 1 or len(t) < 2 or x.shape != (len(t), 3) or not (np.isfinite(t).all() and np.isfinite(x).all()):
            raise SkerryError("a trajectory needs at least two times, and a position of 3 finite numbers for each")
        if (np.diff(t) <= 0).any():
            raise SkerryError("the times of a trajectory must be in ascending order")
        if repeat and (len(t) < 4 or not np.array_equal(x[0], x[-1])):
            raise SkerryError(
                "a repeating trajectory needs at least four points, and its last point must equal its first"
            )
        self.times, self.positions, self.repeat = t, x, repeat
        self.curvature = self._second_derivatives()  # second derivatives at the points, m/s²

    def _second_derivatives(self) -> Floats:
        h = np.diff(self.times)
        slope = np.diff(self.positions, axis=0) / h[:, None]
        n = len(h) if self.repeat else len(h) + 1
        matrix, right = np.eye(n), np.zeros((n, 3))
        for i in range(n) if self.repeat else range(1, n - 1):
            before, after = h[i - 1], h[i]
            matrix[i, (i - 1) % n], matrix[i, i], matrix[i, (i + 1) % n] = before, 2 * (before + after), after
            right[i] = 6 * (slope[i] - slope[i - 1])
        found = np.linalg.solve(matrix, right)
        return np.asarray(np.vstack([found, found[:1]]) if self.repeat else found, np.float64)

    def at(self, time: float) -> Floats:
        """Return position, velocity, acceleration, jerk and snap at a time, (5, 3); constant beyond its ends."""
        rows = np.empty((5, 3))
        follow(self.times, self.positions, self.curvature, self.repeat, float(time), rows)
        return rows
