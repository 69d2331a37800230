"""Resampling of a raster to a grid in world metres: averaging of finer pixels, bilinear interpolation, hole filling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.core.geo import Projection
from skerry.core.kernels import kernel
from skerry.terrain.raster import Floats, Raster, raise_file_error

if TYPE_CHECKING:
    from pyproj import Transformer

LATTICE: Final = 200.0
"""Spacing s of the points that PROJ transforms, m; between them coordinates are interpolated linearly. The error is
s²/8R ≈ 1 mm times the tangent of the latitude, with R the Earth's radius."""
MAX_PIXELS: Final = 4096 * 4096
"""Most pixels that are kept after averaging: 128 MiB, and as much again while averaging."""


class Resampler:
    """Heights of a raster at positions in the world."""

    def __init__(self, raster: Raster, projection: Projection) -> None:
        from pyproj import Transformer

        assert raster.crs is not None
        self.raster = raster
        self._origin = projection.origin
        self._to_raster: Transformer = Transformer.from_crs(f"EPSG:{projection.epsg}", raster.crs, always_xy=True)

    def pixel(self, x: float, y: float) -> float:
        """Return the side of a pixel near a position in the world, m."""
        columns, rows = self._pixels(np.array([x, x + 1.0, x]), np.array([y, y, y + 1.0]))
        area = (columns[1] - columns[0]) * (rows[2] - rows[0]) - (columns[2] - columns[0]) * (rows[1] - rows[0])
        return float(1.0 / math.sqrt(abs(area))) if area else math.inf

    def extent(self) -> tuple[float, float, float, float]:
        """Return the bounding rectangle of the raster in the world: west, south, east, north, m."""
        rows, columns = self.raster.shape
        along = np.linspace(-0.5, 0.5, 41)
        column = (columns - 1) / 2 + columns * np.concatenate([along, along, np.full(41, -0.5), np.full(41, 0.5)])
        row = (rows - 1) / 2 + rows * np.concatenate([np.full(41, -0.5), np.full(41, 0.5), along, along])
        x, y = self.raster.matrix @ (column, row, np.ones(len(row)))
        east, north = self._to_raster.transform(x, y, direction="INVERSE")
        if not (np.isfinite(east).all() and np.isfinite(north).all()):
            raise_file_error(self.raster.path, "lies outside the scenario's UTM zone; check its `crs`")
        west, south = float(np.min(east)) - self._origin[0], float(np.min(north)) - self._origin[1]
        return west, south, float(np.max(east)) - self._origin[0], float(np.max(north)) - self._origin[1]

    def heights(self, x: Floats, y: Floats) -> Floats:
        """Return the heights (m, n) at evenly spaced columns x (n,) and rows y (m,) of the world; NaN without data."""
        lx, ly = (np.linspace(a[0], a[-1], max(2, math.ceil((a[-1] - a[0]) / LATTICE) + 1)) for a in (x, y))
        columns, rows = self._pixels(*np.meshgrid(lx, ly))
        spacing = max((x[-1] - x[0]) / (len(x) - 1), (y[-1] - y[0]) / (len(y) - 1))
        stride = max(1, int(spacing / self.pixel(float(x.mean()), float(y.mean())) + 1e-6))
        window = [
            range(max(0, math.floor(positions.min()) - stride), min(count, math.ceil(positions.max()) + stride + 1))
            for positions, count in zip((rows, columns), self.raster.shape, strict=True)
        ]
        if not window[0] or not window[1]:
            raise_file_error(self.raster.path, "does not cover the requested area")
        found = self._averaged(window[0], window[1], stride)
        heights = np.empty((len(y), len(x)))
        u, v = (np.linspace(0.0, len(lattice) - 1.0, len(axis)) for lattice, axis in ((lx, x), (ly, y)))
        # Convert pixel positions to positions in the averaged grid, whose centres are half a stride from the edges.
        columns, rows = ((p - w.start + 0.5) / stride - 0.5 for p, w in ((columns, window[1]), (rows, window[0])))
        _interpolate(found, columns, rows, u, v, heights)
        return heights

    def _pixels(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        east, north = self._to_raster.transform(x + self._origin[0], y + self._origin[1])
        if not (np.isfinite(east).all() and np.isfinite(north).all()):
            raise_file_error(self.raster.path, "has coordinates that do not cover the requested area; check its `crs`")
        return self.raster.to_pixels(np.asarray(east), np.asarray(north))

    def _averaged(self, rows: range, columns: range, stride: int) -> Floats:
        """Return the means of stride × stride pixels, without the pixels that have no data."""
        shape = (-(-len(rows) // stride), -(-len(columns) // stride))
        if shape[0] * shape[1] > MAX_PIXELS:
            raise SkerryError(
                f"{self.raster.path}: {shape[0]} × {shape[1]} pixels exceed the limit of {MAX_PIXELS}; "
                "give a smaller `size` or a coarser `resolution`"
            )
        sums, counts = np.zeros(shape), np.zeros(shape, np.int32)
        for row, column, values in self.raster.blocks(rows, columns):
            _add(values, row - rows.start, column - columns.start, stride, sums, counts)
        with np.errstate(invalid="ignore"):
            return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@kernel
def _add(values: Any, row: int, column: int, stride: int, sums: Any, counts: Any) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if np.isfinite(values[i, j]):
                sums[(row + i) // stride, (column + j) // stride] += values[i, j]
                counts[(row + i) // stride, (column + j) // stride] += 1


@kernel
def _interpolate(pixels: Any, columns: Any, rows: Any, u: Any, v: Any, heights: Any) -> None:
    """Interpolate bilinearly between the pixels around each node that have data.

    Nodes without data around them, or outside the raster, become NaN.

    Args:
        pixels: Values of the raster.
        columns: Columns of the lattice points in the raster.
        rows: Rows of the lattice points in the raster.
        u: Positions of the grid's columns in the lattice.
        v: Positions of the grid's rows in the lattice.
        heights: Output, (len(v), len(u)).
    """
    count_rows, count_columns = pixels.shape
    for m in range(len(v)):
        j = min(int(v[m]), columns.shape[0] - 2)
        t = v[m] - j
        for n in range(len(u)):
            i = min(int(u[n]), columns.shape[1] - 2)
            s = u[n] - i
            c = (1 - t) * ((1 - s) * columns[j, i] + s * columns[j, i + 1])
            c += t * ((1 - s) * columns[j + 1, i] + s * columns[j + 1, i + 1])
            r = (1 - t) * ((1 - s) * rows[j, i] + s * rows[j, i + 1])
            r += t * ((1 - s) * rows[j + 1, i] + s * rows[j + 1, i + 1])
            heights[m, n] = np.nan
            if not (-0.5 - 1e-9 <= c <= count_columns - 0.5 + 1e-9 and -0.5 - 1e-9 <= r <= count_rows - 0.5 + 1e-9):
                continue
            c, r = min(max(c, 0.0), count_columns - 1.0), min(max(r, 0.0), count_rows - 1.0)
            a, b = min(int(c), count_columns - 2), min(int(r), count_rows - 2)
            p, q = c - a, r - b
            total, weight = 0.0, 0.0
            for k in range(2):
                for side in range(2):
                    share = (q if k else 1 - q) * (p if side else 1 - p)
                    if share > 0.0 and np.isfinite(pixels[b + k, a + side]):
                        total += share * pixels[b + k, a + side]
                        weight += share
            if weight > 0.0:
                heights[m, n] = total / weight


@kernel
def fill_from_nearest(heights: Any) -> None:
    """Replace each NaN by the height of the nearest valid node, approximately.

    The nearest node is propagated between neighbours in four sweeps (Danielsson 1980, Euclidean distance mapping,
    Computer Graphics and Image Processing 14). Its distance is exact to a fraction of the node spacing.
    """
    m, n = heights.shape
    near = np.full((m, n, 2), -1, np.int32)
    for i in range(m):
        for j in range(n):
            if np.isfinite(heights[i, j]):
                near[i, j, 0], near[i, j, 1] = i, j
    for sweep in range(4):
        down, along = sweep < 2, sweep % 2 == 0
        for a in range(m):
            i = a if down else m - 1 - a
            for b in range(n):
                j = b if along else n - 1 - b
                for k in range(2):
                    y = i - (1 if down else -1) if k == 0 else i
                    x = j if k == 0 else j - (1 if along else -1)
                    if not (0 <= y < m and 0 <= x < n) or near[y, x, 0] < 0:
                        continue
                    there = (near[y, x, 0] - i) ** 2 + (near[y, x, 1] - j) ** 2
                    here = (near[i, j, 0] - i) ** 2 + (near[i, j, 1] - j) ** 2
                    if near[i, j, 0] < 0 or there < here:
                        near[i, j, 0], near[i, j, 1] = near[y, x, 0], near[y, x, 1]
    for i in range(m):
        for j in range(n):
            if not np.isfinite(heights[i, j]) and near[i, j, 0] >= 0:
                heights[i, j] = heights[near[i, j, 0], near[i, j, 1]]
