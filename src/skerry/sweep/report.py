"""Report of a sweep: one table, and a chart of every metric over every axis."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skerry.core.errors import SkerryError
from skerry.formats.chart import COLOURS, Chart, draw_charts
from skerry.sweep.plan import Plan
from skerry.sweep.work import Outcome

MAX_MEANS = 200
"""Largest number of distinct values for which a line of means is drawn."""


def table(plan: Plan, outcomes: Mapping[str, Outcome]) -> dict[str, list[Any]]:
    """Return the columns of the result table, one row per finished run, independent of the order of execution."""
    rows = [(row, outcomes[row.run.key]) for row in plan.rows if row.run.key in outcomes]
    columns: dict[str, list[Any]] = {
        "run": [row.number for row, _ in rows],
        "repetition": [row.repetition for row, _ in rows],
        "seed": [row.run.seed for row, _ in rows],
    }
    for name in plan.config.vary:
        columns[name] = [_cell(row.run.values[name]) for row, _ in rows]
    for name in plan.config.metrics:
        columns[name] = [outcome.metrics.get(name) for _, outcome in rows]
    columns["error"] = [outcome.error for _, outcome in rows]
    return columns


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else json.dumps(value)


def write_report(plan: Plan, outcomes: Mapping[str, Outcome], folder: Path) -> list[Path]:
    """Write table.csv, summary.svg and, if pyarrow is installed, table.parquet.

    Returns:
        Paths of the files.
    """
    columns = table(plan, outcomes)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    files = {"table.csv": text.getvalue().encode(), "summary.svg": summary(plan, columns).encode()}
    if (parquet := _parquet(columns)) is not None:
        files["table.parquet"] = parquet
    for name, data in files.items():
        try:
            (folder / name).write_bytes(data)
        except OSError as error:
            raise SkerryError(
                f"{folder / name}: cannot be written: {error.strerror}; all results are kept in results.jsonl; "
                "free disk space and run the same command again"
            ) from None
    return [folder / name for name in files]


def _parquet(columns: Mapping[str, list[Any]]) -> bytes | None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return None
    # A Parquet column has one type: a column with numbers and text is written as text.
    whole = {name: [str(v) for v in c] if any(isinstance(v, str) for v in c) else c for name, c in columns.items()}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(whole), out)
    return out.getvalue()


def summary(plan: Plan, columns: Mapping[str, list[Any]]) -> str:
    """Draw a chart of each metric over each axis, or over the repetitions if there is no axis."""
    axes = list(plan.config.vary) or ["repetition"]
    charts = [_chart(metric, axis, columns) for metric in plan.config.metrics for axis in axes]
    return draw_charts(charts, len(axes))


def _chart(metric: str, axis: str, columns: Mapping[str, list[Any]]) -> Chart:
    y = np.array([np.nan if value is None else value for value in columns[metric]], np.float64)
    raw = columns[axis]
    label = axis
    if all(isinstance(value, int | float) for value in raw):
        x = np.array(raw, np.float64)
    else:
        labels = list(dict.fromkeys(map(str, raw)))
        x = np.array([labels.index(str(value)) for value in raw], np.float64)
        label = f"{axis} (number in the list)"
    chart = Chart(metric, label, metric)
    chart.points(x, y, colour=COLOURS[0])
    values = np.unique(x)
    if 1 < len(values) <= min(MAX_MEANS, len(x)):
        finite = [value for value in values if np.isfinite(y[x == value]).any()]
        chart.line(finite, [np.nanmean(y[x == value]) for value in finite], colour=COLOURS[1])
    return chart
