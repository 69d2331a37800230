"""Execution of a sweep: run what is missing, store each outcome, write table and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skerry.core.errors import SkerryError, did_you_mean
from skerry.sweep.cluster import run_on_ray
from skerry.sweep.local import run_locally
from skerry.sweep.log import ResultsLog
from skerry.sweep.plan import Plan
from skerry.sweep.report import table, write_report
from skerry.sweep.work import Outcome, Run

ENGINES: Final = ("local", "ray")
RESULTS: Final = "results.jsonl"


@dataclass(frozen=True)
class Report:
    """Result of a sweep."""

    columns: dict[str, list[Any]]
    files: list[Path]
    done_before: int  # runs with earlier results
    failures: list[Outcome]


def run_sweep(
    plan: Plan,
    folder: Path,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, failed: None,
) -> Report:
    """Execute all runs of a plan that have no result in the folder yet.

    Args:
        plan: Plan of the sweep.
        folder: Folder of results and report.
        engine: "local" or "ray".
        address: Address of a Ray cluster.
        workers: Number of processes; one per core by default.
        retry_failed: Whether to repeat runs that failed earlier.
        on_progress: Called with the numbers of finished and failed runs.
    """
    if engine not in ENGINES:
        raise SkerryError(f"unknown engine {engine!r}; {did_you_mean(engine, ENGINES)}")
    if address is not None and engine != "ray":
        raise SkerryError("--address needs --engine ray")
    with ResultsLog(folder / RESULTS) as log:
        known = {key: outcome for key, outcome in log.outcomes.items() if not (retry_failed and outcome.error)}
        todo = [run for key, run in plan.runs.items() if key not in known]
        before = done = len(plan.runs) - len(todo)
        failed = sum(bool(known[key].error) for key in plan.runs if key in known)
        on_progress(done, failed)
        for outcome in _outcomes(plan, todo, engine, address, workers) if todo else ():
            log.add(plan.runs[outcome.key], outcome)
            done, failed = done + 1, failed + bool(outcome.error)
            on_progress(done, failed)
        outcomes = log.outcomes
    files = write_report(plan, outcomes, folder)
    failures = [outcomes[key] for key in plan.runs if outcomes[key].error]
    return Report(table(plan, outcomes), files, before, failures)


def _outcomes(
    plan: Plan, todo: Sequence[Run], engine: str, address: str | None, workers: int | None
) -> Iterator[Outcome]:
    if engine == "ray":
        return run_on_ray(plan.job, todo, address, workers)
    return run_locally(plan.job, todo, workers)
