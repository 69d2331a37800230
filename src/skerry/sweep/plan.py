"""Plan of a sweep: the list of its runs, checked before the first run starts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

from skerry import __version__
from skerry.core.document import KeyPath
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.scenario import load_scenario
from skerry.scenario.key_paths import resolve_key_path, set_value
from skerry.scenario.loading import LoadedScenario, find_scenario
from skerry.sweep.config import SweepConfig, read_sweep
from skerry.sweep.functions import digest_of, find_function, is_function
from skerry.sweep.work import Job, Run, Worker


@dataclass(frozen=True)
class Row:
    """Row of the result table: a combination of values, a repetition and its run."""

    number: int
    repetition: int
    run: Run


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep. Rows with equal values and seed share one run."""

    config: SweepConfig
    job: Job
    rows: tuple[Row, ...]

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Runs by key, in order of execution."""
        return {row.run.key: row.run for row in self.rows}


def make_plan(path: Path) -> Plan:
    """Read a sweep file and check it: build the world of the first run and evaluate its metrics at the start."""
    config = read_sweep(path)
    folder = path.parent.resolve()
    loaded = load_scenario(find_scenario(config.scenario, folder))
    key_paths = {name: _key_paths(name, axis.paths, loaded) for name, axis in config.vary.items()}
    job = _job(config, loaded, folder)
    plan = Plan(config, job, tuple(_rows(config, loaded, key_paths, job)))
    Worker(job).check(plan.rows[0].run)
    return plan


def _key_paths(name: str, paths: tuple[str, ...] | None, loaded: LoadedScenario) -> list[KeyPath]:
    try:
        key_paths = [resolve_key_path(loaded, path) for path in ((name,) if paths is None else paths)]
        if ("seed",) in key_paths:
            raise SkerryError("`seed` cannot be varied; use the settings `seed` and `repetitions`")
    except SkerryError as error:
        raise SkerryError(f"vary.{name}: {error}") from None
    return key_paths


def _job(config: SweepConfig, loaded: LoadedScenario, folder: Path) -> Job:
    duration = config.duration or loaded.scenario.duration
    if duration is None:
        raise SkerryError("the scenario has no `duration`; add `duration` (s) to the sweep file")
    functions = [text for text in (config.prepare, *config.metrics.values()) if text and is_function(text)]
    if config.prepare is not None and not is_function(config.prepare):
        raise SkerryError(f"prepare: {config.prepare!r} is not a function; write it as module:function")
    job = Job(
        scenario=loaded.scenario.model_dump(mode="json"),
        duration=duration,
        sample_rate=str(config.sample_rate),
        metrics=dict(config.metrics),
        prepare=config.prepare,
        time_limit=config.time_limit,
        folder=str(folder),
    )
    dependencies = [
        __version__,
        job.scenario,
        [vehicle.config.model_dump(mode="json") for vehicle in loaded.vehicles.values()],
        [
            blake2b(file.read_bytes()).hexdigest()
            for vehicle in loaded.vehicles.values()
            for file in (vehicle.config.urdf, *vehicle.config.attachments)
        ],
        [job.duration, job.sample_rate, job.metrics, job.prepare],
        [digest_of(find_function(text, job.folder)) for text in functions],
    ]
    return job.with_digest(_hash(dependencies))


def _rows(config: SweepConfig, loaded: LoadedScenario, key_paths: dict[str, list[KeyPath]], job: Job) -> list[Row]:
    axes = {name: axis.values() for name, axis in config.vary.items()}
    noises = {name: Noise(config.seed, f"sweep/{name}") for name, values in axes.items() if values is None}
    _check_values(
        loaded, job.scenario, key_paths, {name: values for name, values in axes.items() if values is not None}
    )
    rows: list[Row] = []
    # The first axis varies slowest and repetitions fastest, so that consecutive runs can share a world.
    for point in product(*([None] if values is None else values for values in axes.values())):
        for repetition in range(config.repetitions):
            values = {
                name: config.vary[name].draw(noises[name], repetition) if name in noises else value
                for name, value in zip(axes, point, strict=True)
            }
            seed = config.seed + repetition
            overrides: dict[str, Any] = {}
            for name, value in values.items():
                for path in key_paths[name]:
                    set_value(overrides, loaded, path, value)
            key = _hash([job.digest, overrides, values, seed])
            rows.append(Row(len(rows), repetition, Run(key, seed, values, overrides)))
    return rows


def _check_values(
    loaded: LoadedScenario, scenario: dict[str, Any], key_paths: dict[str, list[KeyPath]], axes: dict[str, list[Any]]
) -> None:
    """Check each listed value against the scenario's schema."""
    for name, values in axes.items():
        for value in values:
            overrides: dict[str, Any] = {}
            for path in key_paths[name]:
                set_value(overrides, loaded, path, value)
            try:
                Run("", 0, {}, overrides).scenario(scenario)
            except SkerryError as error:
                raise SkerryError(f"vary.{name}: {error}") from None


def _hash(parts: Any) -> str:
    return blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()
