"""Camera lens: direction of each pixel, and projection of points into the image.

The model is a pinhole with the distortion of Brown and Conrady, in the form of OpenCV and ROS (`plumb_bob`). With
x = X/Z, y = Y/Z and r² = x² + y², x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²), y' = y (…) +
p1 (r² + 2 y²) + 2 p2 x y, and u = fx x' + cx, v = fy y' + cy. Camera axes: x right, y down, z forward. The centre of
the first pixel is (0, 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError

Floats = NDArray[np.float64]
ITERATIONS: Final = 100
TOLERANCE: Final = 1e-3  # error of the inverted distortion that is accepted, pixels


@dataclass(frozen=True)
class Lens:
    """Pinhole lens with distortion."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)  # k1, k2, p1, p2, k3

    @property
    def matrix(self) -> Floats:
        """Camera matrix K, (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def pixel_angle(self) -> float:
        """Angle covered by a pixel at the image centre, rad."""
        return 1.0 / min(self.fx, self.fy)

    def project(self, points: ArrayLike) -> Floats:
        """Return the pixels (…, 2) of points (…, 3) in camera axes; NaN for points behind the camera."""
        p = np.asarray(points, np.float64)
        z = np.where(p[..., 2] > 1e-9, p[..., 2], np.nan)
        x, y = self._distort(p[..., 0] / z, p[..., 1] / z)
        return np.stack((self.fx * x + self.cx, self.fy * y + self.cy), axis=-1)

    def directions(self) -> Floats:
        """Return the unit direction of each pixel in camera axes, (height, width, 3)."""
        u, v = np.meshgrid(np.arange(self.width), np.arange(self.height))
        seen_x: Floats = np.asarray((u - self.cx) / self.fx, np.float64)
        seen_y: Floats = np.asarray((v - self.cy) / self.fy, np.float64)
        x, y = self._undistort(seen_x, seen_y) if any(self.distortion) else (seen_x, seen_y)
        rays = np.stack((x, y, np.ones_like(x)), axis=-1)
        return rays / np.linalg.norm(rays, axis=-1, keepdims=True)

    def _distort(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        k1, k2, p1, p2, k3 = self.distortion
        r2 = x * x + y * y
        radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
        return (
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        )

    def _undistort(self, seen_x: Floats, seen_y: Floats) -> tuple[Floats, Floats]:
        """Invert the distortion by Newton's method.

        Raises:
            SkerryError: If the distortion is not invertible in the whole image.
        """
        x, y = seen_x.copy(), seen_y.copy()
        k1, k2, p1, p2, k3 = self.distortion
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for _ in range(ITERATIONS):
                ex, ey = self._distort(x, y)
                ex, ey = ex - seen_x, ey - seen_y
                r2 = x * x + y * y
                radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
                slope = 2.0 * (k1 + r2 * (2.0 * k2 + 3.0 * r2 * k3))
                a = radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x
                b = slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y
                d = radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x
                determinant = a * d - b * b
                step_x, step_y = (d * ex - b * ey) / determinant, (a * ey - b * ex) / determinant
                x, y = x - step_x, y - step_y
                if not (np.abs(step_x) + np.abs(step_y) > 1e-12).any():
                    break
            back_x, back_y = self._distort(x, y)
            off = np.hypot((back_x - seen_x) * self.fx, (back_y - seen_y) * self.fy)
            bad = ~(off < TOLERANCE) | ~(determinant > 0.0)
        if bad.any():
            raise SkerryError(
                f"the distortion {list(self.distortion)} folds the image over itself: {int(bad.sum())} of {bad.size} "
                "pixels have no direction; use coefficients that were calibrated for this field of view"
            )
        return x, y
