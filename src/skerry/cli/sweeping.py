"""A sweep in the terminal: a bar, and where the results are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from skerry.sweep import make_plan, run_sweep

MOST_FAILURES = 5
"""Failed runs of a sweep that are told one by one; the table has them all."""


def sweep_in_terminal(
    file: str, out: str | None, engine: str, address: str | None, workers: int | None, retry_failed: bool
) -> bool:
    """Do a sweep, show how far it is and how long it takes yet, and say whether all runs went well."""
    console = Console(stderr=True)
    path = Path(file)
    folder = Path(f"{path.stem}_results" if out is None else out)
    plan = make_plan(path)
    total = len(plan.runs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done = 0
    with Progress(*columns, console=console, disable=not console.is_terminal, refresh_per_second=4) as progress:
        task = progress.add_task("runs", total=total)

        def watch(finished: int, failed: int) -> None:
            nonlocal done
            done = finished
            progress.update(task, completed=finished, description=f"runs, {failed} failed" if failed else "runs")

        try:
            report = run_sweep(plan, folder, engine, address, workers, retry_failed, watch)
        except (SystemExit, KeyboardInterrupt):
            console.print(
                f"{done} of {total} runs are done, and kept in {folder}; the same command goes on with the rest"
            )
            raise
    for error, count in Counter(failure.error for failure in report.failures).most_common(MOST_FAILURES):
        runs = "a run" if count == 1 else f"{count} runs"
        console.print(f"{runs} failed: {escape(error)}", soft_wrap=True)
    more = f", {len(report.failures)} of them failed" if report.failures else ""
    before = f", {report.done_before} of them before" if report.done_before else ""
    console.print(f"{total} runs{more}{before}: {', '.join(map(str, report.files))}", soft_wrap=True)
    return not report.failures
