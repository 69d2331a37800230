"""`skerry sweep`: run a scenario many times with different values."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

MAX_ERRORS: Final = 5
"""Number of different errors of failed runs that are printed; the results table lists all failures."""


def sweep(
    file: Annotated[str, typer.Argument(help="Sweep file, .yaml: scenario, values to vary, metrics.")],
    out: Annotated[
        str | None,
        typer.Option(help="Folder of the results. Default: the name of the file with `_results`."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(help="`local`: processes on this machine. `ray`: a Ray cluster, started here without --address."),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, such as `10.0.0.1:6379` or `auto`.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of runs at the same time. Default: one per core.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat the runs that failed in an earlier call.")
    ] = False,
) -> None:
    """Run a scenario many times with different values, and measure each run.

    Results are written as soon as a run ends. After an interruption the same command continues with the missing runs.
    The exit code is 1 if a run failed.

    **Examples**

    `skerry sweep speeds.yaml`

    `skerry sweep speeds.yaml --engine ray --address auto --out speeds`
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from skerry.sweep import make_plan, run_sweep

    console = Console(stderr=True)
    path = Path(file)
    folder = Path(f"{path.stem}_results" if out is None else out)
    plan = make_plan(path)
    total = len(plan.runs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done = 0
    with Progress(*columns, console=console, disable=not console.is_terminal, refresh_per_second=4) as progress:
        task = progress.add_task("runs", total=total)

        def update(finished: int, failed: int) -> None:
            nonlocal done
            done = finished
            progress.update(task, completed=finished, description=f"runs, {failed} failed" if failed else "runs")

        try:
            report = run_sweep(plan, folder, engine, address, workers, retry_failed, update)
        except (SystemExit, KeyboardInterrupt):
            console.print(
                f"interrupted: {done} of {total} runs are finished and saved in {folder}; "
                "repeat the command to continue with the rest"
            )
            raise
    for error, count in Counter(failure.error for failure in report.failures).most_common(MAX_ERRORS):
        runs = "1 run" if count == 1 else f"{count} runs"
        console.print(f"{runs} failed: {escape(error)}", soft_wrap=True)
    failed = f", {len(report.failures)} failed" if report.failures else ""
    earlier = f", {report.done_before} finished in an earlier call" if report.done_before else ""
    console.print(f"{total} runs{failed}{earlier}: {', '.join(map(str, report.files))}", soft_wrap=True)
    if report.failures:
        raise typer.Exit(1)
