"""A smooth curve through points at their times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError

Floats = NDArray[np.float64]


class Spline:
    """A cubic spline with two steady derivatives through points at their times: natural, or closed and repeated."""

    def __init__(self, times: ArrayLike, positions: ArrayLike, repeat: bool) -> None:
        t, x = np.array(times, np.float64), np.array(positions, np.float64)
        if t.ndim != 1 or len(t) < 2 or x.shape != (len(t), 3) or not (np.isfinite(t).all() and np.isfinite(x).all()):
            raise SkerryError("a trajectory needs at least two times, and a position of 3 numbers for each")
        if (np.diff(t) <= 0).any():
            raise SkerryError("a trajectory's times must grow")
        if repeat and (len(t) < 4 or not np.array_equal(x[0], x[-1])):
            raise SkerryError("a trajectory that repeats needs at least four points, and must end where it begins")
        self.times, self.positions, self.repeat = t, x, repeat
        self._curvature = self._second_derivatives()

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
        """Position, velocity, acceleration, jerk and snap (5, 3); beyond its ends it stands still."""
        t = self.times
        if self.repeat:
            time = t[0] + (time - t[0]) % (t[-1] - t[0])
        rows = np.zeros((5, 3))
        if time < t[0] or time >= t[-1]:
            rows[0] = self.positions[0 if time < t[0] else -1]
            return rows
        i = int(np.searchsorted(t, time, side="right")) - 1
        h, s = t[i + 1] - t[i], time - t[i]
        x, M = self.positions, self._curvature
        jerk = (M[i + 1] - M[i]) / h
        velocity = (x[i + 1] - x[i]) / h - h * (2 * M[i] + M[i + 1]) / 6
        rows[0] = x[i] + s * (velocity + s * (M[i] / 2 + s * jerk / 6))
        rows[1] = velocity + s * (M[i] + s * jerk / 2)
        rows[2], rows[3] = M[i] + s * jerk, jerk
        return rows
