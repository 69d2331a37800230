"""Charts as SVG text: lines and points on axes with ticks, one chart or several side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

COLOURS: Final = ("#0b6e99", "#d1495b", "#edae49", "#3d8361", "#6a4c93", "#8d6a4f", "#4f7cac", "#7f7f7f")
WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 30, 44  # px, margins around the axes
LETTER = 5.8  # px, approximate width of a letter
MAX_POINTS = 600
"""Most points that are drawn of a line; more are not visible at this size."""


@dataclass
class _ChartSeries:
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    name: str
    is_line: bool
    colour: str


@dataclass
class Chart:
    """Chart with one pair of axes."""

    title: str
    x_label: str
    y_label: str
    equal: bool = False  # same scale on both axes
    _series: list[_ChartSeries] = field(default_factory=list)

    def line(self, x: ArrayLike, y: ArrayLike, name: str = "", colour: str = "") -> None:
        """Add a line through points; points that are not finite are left out."""
        self._add(x, y, name, True, colour)

    def points(self, x: ArrayLike, y: ArrayLike, name: str = "", colour: str = "") -> None:
        """Add separate points; points that are not finite are left out."""
        self._add(x, y, name, False, colour)

    def _add(self, x: ArrayLike, y: ArrayLike, name: str, is_line: bool, colour: str) -> None:
        xs, ys = (np.atleast_1d(np.asarray(values, np.float64)) for values in (x, y))
        valid = np.isfinite(xs) & np.isfinite(ys)
        chosen = colour or COLOURS[len(self._series) % len(COLOURS)]
        self._series.append(_ChartSeries(xs[valid], ys[valid], name, is_line, chosen))

    def _range(self, which: str) -> tuple[float, float]:
        values = [getattr(series, which) for series in self._series if len(series.x)]
        if not values:
            return 0.0, 1.0
        low, high = float(min(v.min() for v in values)), float(max(v.max() for v in values))
        if high - low <= 1e-9 * max(abs(low), abs(high), 1e-9):
            wide = abs(low) * 0.1 or 1.0
            return low - wide, high + wide
        return low - 0.05 * (high - low), high + 0.05 * (high - low)

    def draw(self) -> str:
        """Return the SVG elements of the chart, without the enclosing <svg>."""
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        (x0, x1), (y0, y1) = self._range("x"), self._range("y")
        if self.equal:
            scale = max((x1 - x0) / width, (y1 - y0) / height)
            x_middle, y_middle = (x0 + x1) / 2, (y0 + y1) / 2
            x0, x1 = x_middle - scale * width / 2, x_middle + scale * width / 2
            y0, y1 = y_middle - scale * height / 2, y_middle + scale * height / 2

        def across(value: float) -> float:
            return LEFT + (value - x0) / (x1 - x0) * width

        def up(value: float) -> float:
            return TOP + height - (value - y0) / (y1 - y0) * height

        marks = [f'<text x="{LEFT}" y="18" class="title">{escape(self.title)}</text>']
        for value in ticks(x0, x1):
            at = across(value)
            marks.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{TOP + height}" class="grid"/>')
            marks.append(f'<text x="{at:.1f}" y="{TOP + height + 15}" text-anchor="middle">{_number(value)}</text>')
        for value in ticks(y0, y1):
            at = up(value)
            marks.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{LEFT + width}" y2="{at:.1f}" class="grid"/>')
            marks.append(f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{_number(value)}</text>')
        marks.append(f'<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}" class="frame"/>')
        middle = TOP + height / 2
        marks.append(
            f'<text x="{LEFT + width / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(self.x_label)}</text>'
        )
        marks.append(
            f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
            f"{escape(self.y_label)}</text>"
        )
        for series in self._series:
            points = [(across(x), up(y)) for x, y in zip(series.x, series.y, strict=True)]
            if series.is_line:
                points = [*points[:: -(-len(points) // MAX_POINTS) or 1], *points[-1:]]
                path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
                marks.append(f'<polyline points="{path}" stroke="{series.colour}" class="line"/>')
            else:
                marks += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{series.colour}"/>' for x, y in points]
        end = float(LEFT + width)
        for series in reversed([series for series in self._series if series.name]):
            end -= LETTER * len(series.name)
            marks.append(f'<text x="{end:.1f}" y="18">{escape(series.name)}</text>')
            marks.append(f'<rect x="{end - 13:.1f}" y="10" width="10" height="8" fill="{series.colour}"/>')
            end -= 22
        return "\n".join(marks)


def draw_charts(charts: Sequence[Chart], columns: int) -> str:
    """Return the text of an SVG file with charts in rows of `columns`."""
    rows = -(-len(charts) // columns)
    width, height = WIDTH * min(columns, len(charts)), HEIGHT * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        "<style>text{font:11px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}"
        ".frame{fill:none;stroke:#888}.line{fill:none;stroke-width:1.6}</style>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, chart in enumerate(charts):
        x, y = WIDTH * (number % columns), HEIGHT * (number // columns)
        parts.append(f'<g transform="translate({x} {y})">\n{chart.draw()}\n</g>')
    return "\n".join([*parts, "</svg>\n"])


def ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers between two limits."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-12))
    first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
