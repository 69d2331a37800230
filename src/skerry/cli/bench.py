"""`skerry bench`: measure the performance of this machine."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(help="Benchmarks to run, such as `physics`. Default: all of them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Measure step times, real-time factors and start-up on this machine, and compare them with the goals.

    Times are CPU times of the measuring thread, best of several repeats, unless the key says otherwise.
    """
    from skerry.benchmarks import measure, nested, show

    values = measure(parts or [])
    if as_json:
        typer.echo(json.dumps(nested(values), indent=2))
    else:
        show(values)
