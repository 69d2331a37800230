"""The same scenario gives the same bytes: repeated, in pieces, from a snapshot, in other processes and threads."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.formats.yaml_documents import dump_document
from skerry.scenario.loading import load_scenario, shipped_scenarios
from skerry.world import World

BUSY: dict[str, Any] = {
    "seed": 9,
    "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.3, 0.1, 0]}}},
    "terrain": {
        "kind": "heightfield",
        "size": [40, 40],
        "resolution": 1,
        "level": -6,
        "function": {"kind": "hills", "amplitude": 1},
    },
    "robots": {
        "a": {"vehicle": "torpedo", "pose": {"position": [0, 0, -0.1], "pitch_deg": 40}},
        "b": {"vehicle": "torpedo", "pose": {"position": [0.3, 0.2, -0.7], "yaw_deg": 70}},
    },
    "objects": {
        "float": {
            "geometry": {"kind": "sphere", "radius": 0.3},
            "motion": "dynamic",
            "mass": 40,
            "pose": {"position": [0, 0, 0.5]},
            "quadratic_damping": [50, 50, 50, 1, 1, 1],
            "added_mass": [50, 50, 50, 0, 0, 0],
        },
        "anvil": {
            "geometry": {"kind": "box", "size": [0.5, 0.4, 0.3]},
            "motion": "dynamic",
            "mass": 200,
            "pose": {"position": [1, 1, -4.0], "roll_deg": 30},
        },
        "quay": {"geometry": {"kind": "box", "size": [1, 6, 3]}, "pose": {"position": [1.6, 0, 0]}},
    },
}
"""Scenario with robots that touch each other at the surface and objects that fall on hills, in a current."""

SOURCES: dict[str, Any] = {"busy": BUSY, **{name: name for name in shipped_scenarios()}}

every_source = pytest.mark.parametrize("name", SOURCES)


def physics(world: World) -> bytes:
    return world._engine.states[0].tobytes()


def run(name: str, pieces: list[float], visit: Callable[[World], None] = lambda world: None) -> bytes:
    """Return the snapshot of the world after it was advanced in these pieces."""
    with skerry.load(SOURCES[name]) as world:
        for seconds in pieces:
            world.advance(seconds)
            visit(world)
        return bytes(world.snapshot())


@cache
def two_seconds(name: str) -> tuple[bytes, bytes]:
    """Return the snapshot after two seconds in one piece, and the physical state."""
    with skerry.load(SOURCES[name]) as world:
        world.advance(2.0)
        return bytes(world.snapshot()), physics(world)


def run_physics(
    name: str,
    pieces: list[float],
    visit: Callable[[World], None] = lambda world: None,
    overrides: dict[str, Any] | None = None,
) -> bytes:
    with skerry.load(SOURCES[name], overrides=overrides) as world:
        for seconds in pieces:
            world.advance(seconds)
            visit(world)
        return physics(world)


def test_the_busy_world_is_busy() -> None:
    """Check that the scenario has contacts and motion, so that the tests below are meaningful."""
    with skerry.load(BUSY) as world:
        world.advance(2.0)
        assert np.linalg.norm(world.robots["a"].twist.linear) > 0.05
        assert abs(world.objects["anvil"].pose.position[2] + 4.0) > 0.3


@every_source
def test_the_same_scenario_twice_gives_the_same_bytes(name: str) -> None:
    assert run(name, [2.0]) == two_seconds(name)[0]


@every_source
def test_time_in_odd_pieces_gives_the_same_bytes(name: str) -> None:
    _, whole = two_seconds(name)
    with skerry.load(SOURCES[name]) as world:
        start = world.snapshot()
        # 0.0333… s carries remainders of a step from piece to piece
        for pieces in ([0.25] * 8, [0.005] * 400, [0.0333] * 60 + [0.002], [1.2345, 0.0001, 0.7, 0.0654]):
            world.restore(start)
            for seconds in pieces:
                world.advance(seconds)
            assert physics(world) == whole, pieces[0]


@every_source
def test_restoring_a_snapshot_gives_the_same_bytes(name: str) -> None:
    with skerry.load(SOURCES[name]) as world:
        world.advance(1.0)
        middle = world.snapshot()
        world.advance(1.0)
        after = bytes(world.snapshot())
        for _ in range(2):
            world.restore(middle)
            world.advance(1.0)
            assert bytes(world.snapshot()) == after
    with skerry.load(SOURCES[name]) as other:
        other.advance(0.123)
        other.restore(bytes(middle))
        other.advance(1.0)
        assert bytes(other.snapshot()) == after
    assert two_seconds(name)[0] == after


@every_source
def test_reading_sensors_changes_nothing(name: str, small_pictures: Callable[[Any], dict[str, Any]]) -> None:
    def look(world: World) -> None:
        for robot in world.robots.values():
            _ = robot.pose, robot.twist, [robot.link_pose(link) for link in robot.links]
            for sensor in robot.sensors.values():
                _ = sensor.reading
        world.sample_water(np.zeros((4, 3)))
        if world.terrain is not None:
            world.terrain.sample([0.0, 0.0])
        world.snapshot()

    pieces = [0.1] * 20
    assert run_physics(name, pieces, look, small_pictures(SOURCES[name])) == run_physics(name, pieces)


@every_source
def test_readings_do_not_depend_on_other_readings(name: str, small_pictures: Callable[[Any], dict[str, Any]]) -> None:
    def readings(look_at_all: bool) -> list[str]:
        with skerry.load(SOURCES[name], overrides=small_pictures(SOURCES[name])) as world:
            chosen = [robot.sensors[next(iter(robot.sensors))] for robot in world.robots.values() if robot.sensors]
            found = [repr(sensor.reading) for sensor in chosen]
            for _ in range(10):
                world.advance(0.07)
                if look_at_all:
                    for robot in world.robots.values():
                        for sensor in robot.sensors.values():
                            _ = sensor.reading
                found += [repr(sensor.reading) for sensor in chosen]
            return found

    assert readings(False) == readings(True)


PROGRAM = """
import hashlib, sys
import skerry
from skerry.formats.yaml_documents import parse_document
sources = parse_document(sys.stdin.read(), "sources").data
for name, source in sources.items():
    with skerry.load(source) as world:
        world.advance(2.0)
        print(name, hashlib.sha256(bytes(world.snapshot())).hexdigest())
"""


def test_another_process_gives_the_same_bytes() -> None:
    here = {name: hashlib.sha256(two_seconds(name)[0]).hexdigest() for name in SOURCES}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=dump_document(SOURCES),
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert result.returncode == 0, result.stderr
    assert dict(line.split() for line in result.stdout.splitlines()) == here


@every_source
def test_two_threads_in_parallel_give_the_same_bytes(name: str) -> None:
    alone, _ = two_seconds(name)
    with ThreadPoolExecutor(4) as pool:
        together = [pool.submit(run, name, pieces) for pieces in ([2.0], [2.0], [1.0, 1.0], [2.0])]
        assert all(future.result() == alone for future in together)


# ------------------------------------------------------------------------------------------------ batches


def without_controllers(source: Any) -> dict[str, Any]:
    """Return overrides without controllers, because a batch does not run controllers."""
    vehicles = load_scenario(source).vehicles
    removed = {name: dict.fromkeys(vehicle.config.controllers) for name, vehicle in vehicles.items()}
    return {"robots": {name: {"overrides": {"controllers": parts}} for name, parts in removed.items() if parts}}


SEEDS = [3, 1, 4, 1, 5]


@cache
def each_alone(name: str) -> list[bytes]:
    """Return the physical state after two seconds for each seed, without controllers."""
    found = {}
    for seed in set(SEEDS):
        with skerry.load(SOURCES[name], seed=seed, overrides=without_controllers(SOURCES[name])) as world:
            world.advance(2.0)
            found[seed] = physics(world)
    return [found[seed] for seed in SEEDS]


@every_source
@pytest.mark.parametrize("threads", [1, 2])
def test_a_world_in_a_batch_is_the_world_alone(name: str, threads: int) -> None:
    passive = without_controllers(SOURCES[name])
    with skerry.load_batch(SOURCES[name], SEEDS, overrides=[passive] * 5, threads=threads) as batch:
        for seconds in (0.5, 0.0123, 1.4877):
            batch.advance(seconds)
        assert not batch.failures
        assert [batch.state(i) for i in range(5)] == each_alone(name)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_of_different_worlds_is_each_of_them_alone(threads: int) -> None:
    layers = [
        None,
        {"gravity": 3.7},
        {"robots": {"a": {"pose": {"position": [0, 0, -2], "pitch_deg": -20}}}},
        {"robots": {"a": {"overrides": {"forces": {"ballast": {"fill": 0.9}, "damping": {"linear": [9] * 6}}}}}},
        {"water": {"density": 998, "currents": {"tide": {"velocity": [-1, 0, 0]}}}},
        {"objects": {"quay": {"pose": {"position": [3, 0, 0]}}, "float": {"mass": 80}}},
    ]
    seeds = list(range(len(layers)))
    with skerry.load_batch(BUSY, seeds, layers, threads=threads) as batch:
        batch.advance(1.0)
        states = [batch.state(i) for i in seeds]
    for seed, layer, state in zip(seeds, layers, states, strict=True):
        with skerry.load(BUSY, seed=seed, overrides=layer) as world:
            world.advance(1.0)
            assert physics(world) == state, layer
    assert len(set(states)) == len(states)


def test_batches_in_threads_of_python_give_the_same_bytes() -> None:
    def states() -> list[bytes]:
        with skerry.load_batch(BUSY, [1, 2, 3], threads=2) as batch:
            batch.advance(1.0)
            return [batch.state(i) for i in range(3)]

    alone = states()
    with ThreadPoolExecutor(2) as pool:
        assert all(future.result() == alone for future in [pool.submit(states) for _ in range(3)])
