"""Benchmarks return exactly their keys; no test asserts a speed."""

import math

import pytest

from skerry.benchmarks import acoustics as acoustics_benchmark
from skerry.benchmarks import goals, parts
from skerry.benchmarks import gym as gym_benchmark
from skerry.benchmarks import husky as husky_benchmark
from skerry.benchmarks import okon as okon_benchmark
from skerry.benchmarks import physics as physics_benchmark
from skerry.benchmarks import sea as sea_benchmark
from skerry.benchmarks import sweep as sweep_benchmark
from skerry.benchmarks import world as world_benchmark
from skerry.benchmarks._goal import Goal


def test_the_physics_figures_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics_benchmark, "STEPS", 20)
    monkeypatch.setattr(physics_benchmark, "WORLDS", 2)
    monkeypatch.setattr(physics_benchmark, "FLEET", 2)
    monkeypatch.setattr(physics_benchmark, "REPEATS", 2)
    values = physics_benchmark.measure()
    core = {f"physics.core.{name}" for name in ("bare_step_us", "rtf", "batch_speedup", "hfield_overhead_percent")}
    assert set(values) == core | {
        "physics.core.step_us",
        "physics.sam.step_us",
        "physics.sam.bare_step_us",
        "physics.sam.rtf",
        "physics.fleet16.rtf",
        "physics.sam_waves.rtf",
        "physics.rover.rtf",
        "physics.threads2.speedup",
    }
    assert all(math.isfinite(value) for value in values.values())


def test_the_figures_of_the_sea_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sea_benchmark, "STEPS", 10)
    monkeypatch.setattr(sea_benchmark, "REPEATS", 2)
    values = sea_benchmark.measure()
    assert set(values) == {"sea.64x500.us", "sea.64x500.full_us", "sea.fields100.ratio"}
    assert all(value > 0 for value in values.values())


def test_the_figures_of_worlds_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_benchmark, "SECONDS", 0.2)
    monkeypatch.setattr(world_benchmark, "REPEATS", 1)
    values = world_benchmark.measure()
    assert set(values) == {"world.sam_nav.rtf", "world.sam_full.rtf", "world.demo.rtf", "world.attach_ms"}
    assert all(value > 0 for value in values.values())


def test_the_figures_of_acoustics_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acoustics_benchmark, "COUNT", 10)
    monkeypatch.setattr(acoustics_benchmark, "REPEATS", 1)
    monkeypatch.setattr(acoustics_benchmark, "GROUND", {"kind": "flat", "depth": 60})
    values = acoustics_benchmark.measure()
    assert set(values) == {"acoustics.100.core_percent"}
    assert all(math.isfinite(value) for value in values.values())


def test_the_figure_of_the_rovers_cameras_has_exactly_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(husky_benchmark, "SECONDS", 1.0)
    values = husky_benchmark.measure()
    assert set(values) == {"husky.camera_fps_each"}
    assert values["husky.camera_fps_each"] > 0


def test_the_figures_of_okons_clients_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 64, "height": 36}}}}}}
    monkeypatch.setattr(okon_benchmark, "SECONDS", 0.5)
    monkeypatch.setattr(okon_benchmark, "OVERRIDES", small)
    values = okon_benchmark.measure()
    assert set(values) == {"okon.pair_p99_ms", "okon.video_fps"}
    assert all(value > 0 for value in values.values())


def test_the_figures_of_learning_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym_benchmark, "WORLDS", 2)
    monkeypatch.setattr(gym_benchmark, "STEPS", 5)
    monkeypatch.setattr(gym_benchmark, "REPEATS", 2)
    values = gym_benchmark.measure()
    assert set(values) == {"gym.single.env_steps_per_s", "gym.vector.env_steps_per_s", "gym.vector.speedup"}
    assert all(value > 0 for value in values.values())


def test_the_figures_of_sweeps_have_exactly_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_benchmark, "RUNS", 2)
    monkeypatch.setattr(sweep_benchmark, "SECONDS", 1)
    monkeypatch.setattr(sweep_benchmark, "find_spec", lambda name: None)  # Ray is tested with its cluster
    values = sweep_benchmark.measure()
    assert set(values) == {"sweep.1000x60.s"}
    assert values["sweep.1000x60.s"] > 0


def test_every_part_has_goals_of_its_own() -> None:
    assert {key.split(".")[0] for key in goals()} == set(parts())


def test_a_goal_may_be_a_ratio_to_another_figure() -> None:
    goal = Goal(1.6, times="bare")
    assert goal.is_reached(3.0, {"bare": 2.0})
    assert not goal.is_reached(3.3, {"bare": 2.0})
    assert str(goal) == "≤ 1.6 × bare"
    assert Goal(700, at_least=True).is_reached(701, {})
