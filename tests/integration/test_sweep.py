"""Sweeps: planned runs, no lost or repeated results, and error messages."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

import skerry
from skerry.core.errors import SkerryError
from skerry.scenario import load_scenario
from skerry.scenario.key_paths import parse_key_path, resolve_key_path, set_value, value_at
from skerry.sweep import make_plan, run_sweep
from skerry.sweep.local import run_locally
from skerry.sweep.log import ResultsLog
from skerry.sweep.report import write_report
from skerry.sweep.work import Outcome, Run, Worker

RPM = "robots.sam.commands.thruster1.rpm"
DEPTH = {"depth": "final(sam.depth)"}


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., Path]:
    """Write a sweep file."""

    def write(**settings: Any) -> Path:
        path = tmp_path / "sweep.yaml"
        path.write_text(
            yaml.safe_dump({"scenario": "sam_empty", "duration": 1, "metrics": DEPTH, **settings}, sort_keys=False)
        )
        return path

    return write


def read_table(folder: Path) -> list[dict[str, str]]:
    with (folder / "table.csv").open() as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------------------------ paths


def test_a_path_consists_of_keys_and_indices() -> None:
    assert parse_key_path("robots.sam.pose.position[2]") == ("robots", "sam", "pose", "position", 2)
    assert parse_key_path("robots.sam.pose.position.2") == ("robots", "sam", "pose", "position", 2)
    for bad in ("", "a..b", "a[x]", "[1]", "a.b[1", "a b]"):
        with pytest.raises(SkerryError, match="is not a valid path"):
            parse_key_path(bad)


@pytest.mark.parametrize(
    ("path", "guess"),
    [
        ("watr.density", "did you mean 'water'"),
        ("robots.sma.pose", "did you mean 'sam'"),
        ("robots.sam.commands.thruster.rpm", "did you mean 'thruster"),
        ("robots.sam.overrides.forces.dampin.linear", "did you mean 'damping'"),
        ("robots.sam.overrides.forces.damping.linera[0]", "did you mean 'linear'"),
        ("robots.sam.overrides.forces.damping.linear[6]", r"has 6 values, from \[0\] to \[5\]"),
        ("water.density.x", "is a single value"),
        ("terrain.depth", "the scenario has no terrain"),
        ("seed", "`seed` cannot be varied"),
    ],
)
def test_an_unknown_path_gives_a_suggestion(sweep: Callable[..., Path], path: str, guess: str) -> None:
    with pytest.raises(SkerryError, match=guess):
        make_plan(sweep(vary={path: [1, 2]}))


def test_one_entry_of_a_list_is_replaced_and_the_others_stay() -> None:
    loaded = load_scenario("sam_empty")
    tree: dict[str, Any] = {}
    for path, value in (("robots.sam.pose.position[2]", -9), ("robots.sam.pose.position[0]", 5), (RPM, 100)):
        set_value(tree, loaded, parse_key_path(path), value)
    pose = {"position": [5, 0.0, -9]}
    assert tree == {"robots": {"sam": {"pose": pose, "commands": {"thruster1": {"rpm": 100}}}}}
    assert value_at(loaded, parse_key_path("robots.sam.pose.position[2]")) == -2.0


def test_numbers_are_list_indices_or_names() -> None:
    loaded = load_scenario({"objects": {"7": {"geometry": {"kind": "sphere", "radius": 1}}}})
    assert resolve_key_path(loaded, "objects.7.pose.position.2") == ("objects", "7", "pose", "position", 2)


# ------------------------------------------------------------------------------------------------ plans


def test_a_plan_has_every_combination_and_repetition(sweep: Callable[..., Path]) -> None:
    vary = {RPM: {"kind": "grid", "start": 0, "stop": 1000, "count": 3}, "water.density": [1000, 1025]}
    plan = make_plan(sweep(vary=vary, repetitions=2, seed=5))
    assert len(plan.rows) == len(plan.runs) == 12
    assert [tuple(row.run.values.values()) for row in plan.rows[::2]] == [
        (rpm, density) for rpm in (0, 500, 1000) for density in (1000, 1025)
    ]
    assert [row.run.seed for row in plan.rows[:4]] == [5, 6, 5, 6]


def test_drawn_values_depend_only_on_seed_and_repetition(sweep: Callable[..., Path]) -> None:
    drawn = {
        "water.density": {"kind": "uniform", "low": 1000, "high": 1030},
        "gravity": {"kind": "normal", "mean": 9.81, "sigma": 0.01},
        "robots.sam.overrides.forces.damping.linear[0]": {"kind": "log_uniform", "low": 0.1, "high": 10},
        "robots.sam.pose.heading_deg": {"kind": "choice", "of": [0, 90, 180]},
    }
    one = make_plan(sweep(vary=drawn, repetitions=20, seed=5))
    two = make_plan(sweep(vary={RPM: [100, 200], **drawn}, repetitions=20, seed=5))
    values = [list(row.run.values.values()) for row in one.rows]
    assert values == [list(row.run.values.values())[1:] for row in two.rows[:20]]
    assert values == [list(row.run.values.values())[1:] for row in two.rows[20:]]
    assert len({value[0] for value in values}) == 20
    assert all(1000 <= density <= 1030 and 0.1 <= drag <= 10 for density, _, drag, _ in values)
    assert {heading for *_, heading in values} == {0, 90, 180}
    other = make_plan(sweep(vary=drawn, repetitions=20, seed=6))
    assert other.rows[0].run.values != one.rows[0].run.values


def test_one_axis_may_set_several_paths(sweep: Callable[..., Path]) -> None:
    paths = [RPM, RPM.replace("1", "2")]
    plan = make_plan(sweep(vary={"rpm": {"kind": "list", "of": [400], "paths": paths}}))
    commands = plan.rows[0].run.overrides["robots"]["sam"]["commands"]
    assert commands == {"thruster1": {"rpm": 400}, "thruster2": {"rpm": 400}}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"metrics": {"depth": "final(sam.dept)"}}, "metrics.depth: .*did you mean 'depth'"),
        ({"metrics": {"depth": "final(smo.depth)"}}, "there is no robot or object 'smo'"),
        ({"metrics": {"depth": "sam.depth"}}, "gives 2 values"),
        ({"metrics": {"t": "final(sam.sensors.ctd.temprature)"}}, "did you mean 'temperature'"),
        ({"metrics": {"t": "final(sam.sensors.cdt.temperature)"}}, "did you mean 'ctd'"),
        ({"metrics": {"v": "final(values.rpm)"}}, "there is no axis 'rpm'"),
        ({"metrics": {"f": "no_such_module:f"}}, "cannot be imported"),
        ({"metrics": {"f": "math:atann"}}, "did you mean 'atan'"),
        ({"metrics": {}}, "metrics"),
        ({"duration": None}, "`duration`"),
        ({"scenario": "sam_emty"}, "did you mean 'sam_empty'"),
        ({"vary": {"water.density": [1000, -5]}}, "vary.water.density: .*greater than 0"),
        ({"vary": {RPM: {"kind": "gird", "start": 0, "stop": 1, "count": 2}}}, "did you mean 'grid'"),
        ({"vary": {RPM: {"kind": "uniform", "low": 2, "high": 1}}}, "`low` must be less than `high`"),
        ({"vary": {"robots.sam.commands.thruster1.rps": [1]}}, "commanded by `rpm=`"),
        ({"repetition": 5}, "did you mean 'repetitions'"),
        ({"prepare": "sam"}, "module:function"),
    ],
)
def test_an_invalid_sweep_is_refused_before_the_first_run(
    sweep: Callable[..., Path], settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SkerryError, match=problem):
        make_plan(sweep(**settings))


# ------------------------------------------------------------------------------------------------ runs


def test_a_run_of_a_sweep_is_bit_equal_to_a_single_run(sweep: Callable[..., Path]) -> None:
    """A worker gives the same result in a reset world and in a newly built world."""
    vary = {"water.density": [1000, 1025], RPM: [0, 800]}
    plan = make_plan(sweep(vary=vary, repetitions=2, metrics={"x": "final(sam.y)", "a": "final(sam.sensors.imu.time)"}))
    worker = Worker(plan.job)
    for row in [*plan.rows, plan.rows[1]]:
        outcome = worker.execute(row.run)
        assert not outcome.error
        with skerry.load("sam_empty", row.run.seed, row.run.overrides) as world:
            world.advance(1.0)
            assert outcome.metrics["x"] == world.robots["sam"].pose.position[1]
    worker.close()


def test_functions_prepare_and_measure(
    sweep: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_functions.py").write_text(
        "def dive(world, values):\n"
        "    world.robots['sam'].controllers['autopilot'].hold(depth=values['depth'])\n"
        "def deepest(run):\n"
        "    return run['sam.depth'].max()\n"
        "def wrong(run):\n"
        "    return 1 / 0\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    metrics = {"deepest": "my_functions:deepest", "same": "max(sam.depth)", "wrong": "my_functions:wrong"}
    axis = {"kind": "list", "of": [2.0, 4.0], "paths": []}
    plan = make_plan(sweep(duration=10, prepare="my_functions:dive", metrics=metrics, vary={"depth": axis}))
    worker = Worker(plan.job)
    shallow, deep = (worker.execute(row.run) for row in plan.rows)
    worker.close()
    assert deep.metrics["deepest"] == deep.metrics["same"] > shallow.metrics["deepest"]
    assert deep.error == "metrics.wrong: ZeroDivisionError: division by zero (my_functions.py, line 6)"


def test_a_run_that_exceeds_its_time_limit_is_stopped(sweep: Callable[..., Path]) -> None:
    plan = make_plan(sweep(duration=1e6, time_limit=0.3))
    outcome = Worker(plan.job).execute(plan.rows[0].run)
    assert outcome.error == "exceeded the time limit of 0.3 s"
    assert not outcome.metrics


def test_a_run_that_diverges_is_reported_and_the_worker_continues(sweep: Callable[..., Path]) -> None:
    mass = "robots.sam.overrides.forces.tail.matrix[1]"
    plan = make_plan(sweep(vary={RPM: [1500], mass: [-1e9, 25.0]}))
    worker = Worker(plan.job)
    bad, good = (worker.execute(row.run) for row in plan.rows)
    worker.close()
    assert bad.error
    assert not good.error


# ------------------------------------------------------------------------------------------------ results


def test_a_results_file_is_continued_and_an_incomplete_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "results.jsonl"
    run = Run("a", 1, {"x": 2}, {})
    with ResultsLog(path) as log:
        log.add(run, Outcome("a", {"m": float("nan")}))
        with pytest.raises(SkerryError, match="another sweep is writing to this folder"):
            ResultsLog(path)
    with path.open("a") as file:
        file.write('{"key": "b", "metr')
    with ResultsLog(path) as log:
        assert list(log.outcomes) == ["a"]
        log.add(Run("c", 1, {}, {}), Outcome("c", {"m": 3.0}))
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["a", "c"]
    path.write_text("something else\n")
    with pytest.raises(SkerryError, match="line 1 is not a sweep result"):
        ResultsLog(path)


def test_a_sweep_writes_a_table_and_charts_and_repeats_no_run(sweep: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = make_plan(sweep(vary={RPM: [0, 500, 1000]}, repetitions=2, metrics={"y": "final(sam.y)"}))
    told: list[tuple[int, int]] = []
    report = run_sweep(plan, out, workers=2, on_progress=lambda done, failed: told.append((done, failed)))
    assert told == [(done, 0) for done in range(7)]
    assert not report.failures
    rows = read_table(out)
    assert [row["run"] for row in rows] == [str(number) for number in range(6)]
    assert [row[RPM] for row in rows] == ["0", "0", "500", "500", "1000", "1000"]
    assert float(rows[5]["y"]) > float(rows[2]["y"]) > float(rows[0]["y"])
    assert (out / "summary.svg").read_text().startswith("<svg")
    before = (out / "results.jsonl").read_bytes()
    table = (out / "table.csv").read_bytes()
    assert run_sweep(plan, out).done_before == 6
    assert (out / "results.jsonl").read_bytes() == before
    # one value more: only its runs are done, and the others stay in the table
    more = make_plan(sweep(vary={RPM: [0, 500, 1000, 1500]}, repetitions=2, metrics={"y": "final(sam.y)"}))
    assert run_sweep(more, out, workers=1).done_before == 6
    assert (out / "table.csv").read_bytes().startswith(table)


def test_the_table_is_also_written_as_parquet_with_pyarrow(sweep: Callable[..., Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    vary = {RPM: [0, 500], "robots.sam.pose": [{"heading_deg": 0}, {"heading_deg": 90}]}
    plan = make_plan(sweep(vary=vary))
    outcomes = {key: Outcome(key, {"depth": 2.0}) for key in list(plan.runs)[:3]}
    write_report(plan, outcomes, tmp_path)
    found = parquet.read_table(tmp_path / "table.parquet").to_pydict()
    assert found[RPM] == [0, 0, 500]
    assert found["robots.sam.pose"][1] == '{"heading_deg": 90}'
    assert found["depth"] == [2.0, 2.0, 2.0]


def test_a_killed_worker_is_replaced_and_its_run_is_repeated(sweep: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(
        "import os, pathlib, signal\n"
        "def once(run):\n"
        "    mark = pathlib.Path(__file__).parent / f'died_{run.world.scenario.seed}'\n"
        "    if run.world.scenario.seed == 1 and not mark.exists():\n"
        "        mark.touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return run.world.scenario.seed\n"
        "def always(run):\n"
        "    if run.world.scenario.seed == 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return 1.0\n"
    )
    plan = make_plan(sweep(repetitions=5, metrics={"once": "deadly:once", "always": "deadly:always"}))
    outcomes = {outcome.key: outcome for outcome in run_locally(plan.job, list(plan.runs.values()), workers=2)}
    found = [outcomes[row.run.key] for row in plan.rows]
    assert [outcome.metrics.get("once") for outcome in found] == [0.0, 1.0, None, 3.0, 4.0]
    assert found[2].error == "the worker of this run was killed by SIGKILL, 3 times"


@pytest.mark.parametrize("deaths", [2, 3])
def test_workers_killed_during_start_are_replaced_twice(
    sweep: Callable[..., Path], tmp_path: Path, deaths: int
) -> None:
    (tmp_path / f"stillborn_{deaths}.py").write_text(
        "import multiprocessing, os, pathlib, signal\n"
        "marks = sorted(pathlib.Path(__file__).parent.glob('death_*'))\n"
        f"if multiprocessing.parent_process() is not None and len(marks) < {deaths}:\n"
        "    (pathlib.Path(__file__).parent / f'death_{len(marks)}').touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def metric(run):\n"
        "    return 1.0\n"
    )
    plan = make_plan(sweep(metrics={"m": f"stillborn_{deaths}:metric"}))
    if deaths == 2:
        (outcome,) = run_locally(plan.job, list(plan.runs.values()), workers=1)
        assert outcome.metrics == {"m": 1.0}
    else:
        with pytest.raises(SkerryError, match=r"killed by SIGKILL before its first run.*results are kept"):
            list(run_locally(plan.job, list(plan.runs.values()), workers=1))


def test_failed_runs_are_kept_and_repeated_only_on_request(sweep: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "moody.py").write_text("def metric(run):\n    raise ValueError('not today')\n")
    plan = make_plan(sweep(metrics={**DEPTH, "m": "moody:metric"}))
    report = run_sweep(plan, out, workers=1)
    assert [failure.error for failure in report.failures] == ["metrics.m: ValueError: not today (moody.py, line 2)"]
    assert read_table(out)[0]["depth"]  # what could be had is there
    assert run_sweep(plan, out, workers=1).done_before == 1
    assert run_sweep(plan, out, workers=1, retry_failed=True).done_before == 0


COMMAND = [sys.executable, "-m", "skerry", "sweep"]


def test_a_killed_sweep_continues_where_it_stopped(sweep: Callable[..., Path], tmp_path: Path) -> None:
    file, out = sweep(repetitions=40, duration=20), tmp_path / "out"
    command = [*COMMAND, str(file), "--out", str(out), "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    log = out / "results.jsonl"
    while not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = log.read_text().splitlines()
    assert 3 <= len(kept) < 40
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{len(kept)} finished in an earlier call" in done.stderr
    lines = log.read_text().splitlines()
    assert lines[: len(kept)] == kept
    keys = [json.loads(line)["key"] for line in lines]
    assert len(keys) == len(set(keys)) == 40
    assert len(read_table(out)) == 40


def test_workers_end_when_only_the_main_process_is_killed(sweep: Callable[..., Path], tmp_path: Path) -> None:
    file, out = sweep(repetitions=1000, duration=20), tmp_path / "out"
    command = [*COMMAND, str(file), "--out", str(out), "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    log = out / "results.jsonl"
    while not (log.exists() and log.read_bytes().count(b"\n") >= 1):
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    while _processes_of_session(process.pid):
        time.sleep(0.05)
    assert process.stderr is not None
    process.stderr.close()


def _processes_of_session(session: int) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(folder.name)
    return found


def test_a_full_disk_keeps_finished_results(sweep: Callable[..., Path], tmp_path: Path) -> None:
    """A file size limit has the same effect as a full disk: writing fails."""
    file, out = sweep(repetitions=30), tmp_path / "out"
    command = [*COMMAND, str(file), "--out", str(out), "--workers", "1"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    failed = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert failed.returncode == 1
    assert "earlier results are kept" in failed.stderr
    assert "Traceback" not in failed.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "finished in an earlier call" in done.stderr
    assert len(read_table(out)) == 30


def test_a_table_that_cannot_be_written_loses_no_result(sweep: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "table.csv").mkdir(parents=True)
    plan = make_plan(sweep())
    with pytest.raises(SkerryError, match=r"table\.csv: cannot be written.*all results are kept in results\.jsonl"):
        run_sweep(plan, out, workers=1)
    (out / "table.csv").rmdir()
    assert run_sweep(plan, out, workers=1).done_before == 1


def test_an_unknown_engine_gives_a_suggestion(sweep: Callable[..., Path], tmp_path: Path) -> None:
    plan = make_plan(sweep())
    with pytest.raises(SkerryError, match="did you mean 'local'"):
        run_sweep(plan, tmp_path / "out", engine="locl")
    with pytest.raises(SkerryError, match="--engine ray"):
        run_sweep(plan, tmp_path / "out", address="auto")
