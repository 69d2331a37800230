"""Charts are valid SVG with round ticks for any data."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from skerry.formats.chart import Chart, draw_charts, ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (-1.2, 1.1, [-1, -0.5, 0, 0.5, 1]), (1000, 1030, [1000, 1010, 1020, 1030])],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    "values", [[], [1.0], [3.0, 3.0], [1.0, np.nan, np.inf, 2.0], [-1e-12, 1e12], [1e-300, 2e-300]], ids=repr
)
def test_a_chart_is_sound_svg_whatever_it_shows(values: list[float]) -> None:
    chart = Chart("a < b & c", "x", "y")
    chart.line(values, values, "line")
    chart.points(values, values)
    root = ElementTree.fromstring(draw_charts([chart, chart, chart], 2))
    assert root.attrib["width"] == "840" and root.attrib["height"] == "600"
    assert "nan" not in ElementTree.tostring(root, encoding="unicode")


def test_axes_may_be_equal() -> None:
    chart = Chart("", "x", "y", equal=True)
    chart.points([0, 100], [0, 1])
    circles = [mark for mark in chart.draw().splitlines() if mark.startswith("<circle")]
    places = [[float(mark.split(f'{axis}="')[1].split('"')[0]) for axis in ("cx", "cy")] for mark in circles]
    (x0, y0), (x1, y1) = places
    assert (x1 - x0) / 100 == pytest.approx((y0 - y1) / 1, rel=0.1)


def test_a_long_line_is_thinned_but_reaches_its_end() -> None:
    chart = Chart("", "x", "y")
    chart.line(np.arange(100_000), np.arange(100_000))
    (line,) = (mark for mark in chart.draw().splitlines() if mark.startswith("<polyline"))
    assert line.count(",") <= 602
    assert len(line) < 10_000
