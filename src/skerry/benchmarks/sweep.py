"""Sweeps: 1000 runs of a minute of SAM on all cores, on the wall, and how much longer Ray takes on one machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from skerry.benchmarks.goal import Goal
from skerry.core.documents import dump_document
from skerry.sweep import Plan, make_plan, run_sweep
from skerry.sweep.cluster import run_on_ray
from skerry.sweep.local import run_locally
from skerry.sweep.work import Outcome

RUNS = 1000
RUNS_TO_COMPARE = 300
SECONDS = 60

GOALS = {"sweep.1000x60.s": Goal(60), "sweep.ray_ratio": Goal(1.25)}


def measure() -> dict[str, float]:
    """All figures of this part; that of Ray where it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(Path(folder), RUNS)
        start = time.perf_counter()
        run_sweep(plan, Path(folder) / "results")
        values = {"sweep.1000x60.s": time.perf_counter() - start}
        if find_spec("ray") is not None:
            few = _plan(Path(folder), RUNS_TO_COMPARE)
            runs = list(few.runs.values())
            local = _from_first_to_last(run_locally(few.job, runs))
            values["sweep.ray_ratio"] = _from_first_to_last(run_on_ray(few.job, runs)) / local
    return values


def _plan(folder: Path, runs: int) -> Plan:
    file = folder / "sweep.yaml"
    metrics = {"way": "length(sam.position)", "deepest": "max(sam.depth)"}
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


def _from_first_to_last(outcomes: Iterator[Outcome]) -> float:
    """Seconds on the wall after the first run, as clusters are started once and used for long."""
    next(outcomes)
    start = time.perf_counter()
    for _ in outcomes:
        pass
    return time.perf_counter() - start
