"""Metric expressions: their values, and that they execute no code."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skerry.core.errors import SkerryError, UnknownName
from skerry.sweep.expressions import read_expression

TIME = np.array([0.0, 1.0, 2.0, 3.0])
SERIES = {
    "time": TIME,
    "sam.depth": np.array([0.0, 2.0, 4.0, 3.0]),
    "sam.position": np.array([[0, 0, 0], [3, 4, 0], [3, 4, -12], [3, 4, -12]], float),
    "sam.heading_deg": np.array([350.0, 355.0, 5.0, 15.0]),
    "values.rpm": 500.0,
}


def value(text: str) -> float:
    return read_expression(text).value(SERIES.__getitem__, TIME)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("final(sam.depth)", 3.0),
        ("first(sam.depth) - 1", -1.0),
        ("max(sam.depth) * 2 ** 3", 32.0),
        ("mean(sam.depth)", 2.25),
        ("min(-sam.depth)", -4.0),
        ("integral(sam.depth)", 0.5 * (0 + 2) + 0.5 * (2 + 4) + 0.5 * (4 + 3)),
        ("rms(sam.depth)", math.sqrt((4 + 16 + 9) / 4)),
        ("length(sam.position)", 5.0 + 12.0),
        ("final(norm(sam.position))", 13.0),
        ("final(sam.position)[2]", -12.0),
        ("final(sam.position[1])", 4.0),
        ("when(sam.depth > 1 and sam.depth < 5)", 1.0),
        ("share(1 < sam.depth <= 3)", 0.5),
        ("final(unwrap_deg(sam.heading_deg))", 375.0),
        ("max(abs(sam.depth - 3)) / values.rpm", 3 / 500),
        ("sin(pi / 2) % 2", 1.0),
        ("mean(where(not sam.depth > 3, 1, 0))", 0.75),
    ],
)
def test_an_expression_is_arithmetic_over_series(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15)


def test_a_condition_that_never_holds_has_no_time() -> None:
    assert math.isnan(value("when(sam.depth > 99)"))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "sam.__class__()",
        "(lambda: 1)()",
        "[1, 2]",
        "'text'",
        "sam.depth[0:2]",
        "final(sam.depth, key=1)",
        "open",
        "1 if 2 else 3",
        "f'{1}'",
        "x := 5",
    ],
)
def test_only_arithmetic_is_accepted(text: str) -> None:
    with pytest.raises((SkerryError, KeyError)):
        value(text)


def test_an_unknown_function_gives_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'integral'"):
        read_expression("integrall(sam.depth)")


def test_a_series_is_not_a_metric_and_the_error_lists_reductions() -> None:
    with pytest.raises(SkerryError, match=r"gives 4 values; reduce them to one number with first\(\), final\(\)"):
        value("sam.depth")


def test_an_expression_lists_the_series_that_it_uses() -> None:
    assert read_expression("final(sam.depth) / values.rpm + pi").names == {"sam.depth", "values.rpm"}
