"""Sweeps: wall time of 1000 runs of 60 s of SAM on all cores, and the ratio of Ray to local processes."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

from skerry.benchmarks._goal import Goal
from skerry.formats.yaml_documents import dump_document
from skerry.sweep import Plan, make_plan, run_sweep
from skerry.sweep.cluster import TASKS_PER_CPU, run_on_ray
from skerry.sweep.local import run_locally
from skerry.sweep.work import Outcome

RUNS = 1000
SECONDS = 60
PROCESSORS = len(os.sched_getaffinity(0))
SLICES = 9
RUNS_IN_SLICE = 12 * PROCESSORS
PAUSE = 0.5  # s; longer than a run, so that pending runs of one engine end before the other is timed

GOALS = {"sweep.1000x60.s": Goal(60), "sweep.ray_ratio": Goal(1.25)}


def measure() -> dict[str, float]:
    """Return all figures of this part; the Ray ratio only where Ray is installed."""
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(Path(folder), RUNS)
        start = time.perf_counter()
        run_sweep(plan, Path(folder) / "results")
        values = {"sweep.1000x60.s": time.perf_counter() - start}
        if find_spec("ray") is not None:
            values["sweep.ray_ratio"] = _ray_ratio(
                _plan(Path(folder), SLICES * (TASKS_PER_CPU * PROCESSORS + RUNS_IN_SLICE))
            )
    return values


def _ray_ratio(plan: Plan) -> float:
    """Return the wall time of Ray over that of local processes.

    Both engines exist in parallel and execute slices of runs in turn, so that other load affects both equally. Start-up
    is not counted, because clusters are long-lived; the first slice covers it.
    """
    runs = list(plan.runs.values())
    engines = [run_on_ray(plan.job, runs, workers=PROCESSORS), run_locally(plan.job, runs, workers=PROCESSORS)]
    slices = [[_slice(engine) for engine in engines] for _ in range(SLICES)]
    for engine in engines:
        engine.close()
    return statistics.median(ray / local for ray, local in slices[1:])


def _slice(outcomes: Generator[Outcome]) -> float:
    """Return the wall time of a slice of runs, s; runs that were pending before are executed first."""
    for _ in range(TASKS_PER_CPU * PROCESSORS):
        next(outcomes)
    start = time.perf_counter()
    for _ in range(RUNS_IN_SLICE):
        next(outcomes)
    taken = time.perf_counter() - start
    time.sleep(PAUSE)
    return taken


def _plan(folder: Path, runs: int) -> Plan:
    file = folder / "sweep.yaml"
    metrics = {"distance": "length(sam.position)", "deepest": "max(sam.depth)"}
    file.write_text(
        dump_document(
            {
                "scenario": "sam_empty",
                "duration": SECONDS,
                "repetitions": runs,
                "vary": {
                    "rpm": {
                        "kind": "uniform",
                        "low": 200,
                        "high": 1200,
                        "paths": [f"robots.sam.commands.thruster{number}.rpm" for number in (1, 2)],
                    },
                    "robots.sam.commands.thrust_vector_yaw.angle": {"kind": "uniform", "low": -0.1, "high": 0.1},
                },
                "metrics": metrics,
            }
        )
    )
    return make_plan(file)
