"""The sea: 64 wave components at 500 points, and 100 force fields over 100 force points."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.water import WaterConfig
from skerry.water.flow import NEED_FLOW, NEED_FLOW_RATE, ROWS
from skerry.world import build_world

POINTS = 500
REPEATS = 200
STEPS = 2_000
FIELDS = 100
WAVES = {"kind": "waves", "height": 1.5, "period": 7, "heading_deg": 30, "components": 64, "seed": 1}

GOALS = {
    "sea.64x500.us": Goal(40),
    "sea.64x500.full_us": Goal(130),
    "sea.fields100.ratio": Goal(2),
}


def measure() -> dict[str, float]:
    """Return all figures of this part."""
    return {**_waves(), "sea.fields100.ratio": _fields()}


def _waves() -> dict[str, float]:
    """Return µs for the height alone and for height, velocity and acceleration, called as native code does."""
    water = WaterConfig.model_validate({"surface": WAVES}).build(9.81)
    spread = np.random.default_rng(0).uniform([-500, -500, -5], [500, 500, 0], (POINTS, 3))
    points, out = np.ascontiguousarray(spread.T), np.empty((ROWS, POINTS))
    time, userdata = np.array([77.3]), np.zeros(1)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(water.address)

    def query(need: int) -> float:
        arguments = (water.table_address, userdata.ctypes.data, time.ctypes.data, need, POINTS)
        return best_cpu(lambda: call(*arguments, points.ctypes.data, out.ctypes.data), REPEATS) * 1e6

    return {"sea.64x500.us": query(0), "sea.64x500.full_us": query(NEED_FLOW | NEED_FLOW_RATE)}


def _fields() -> float:
    """Return the cost of a step with 100 fields that contain all 100 force points, over a step without fields."""
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (100, 3)).tolist()
    vehicle = {"robots": {"torpedo": {"overrides": {"forces": {"buoyancy": {"points": points}}}}}}
    name = "torpedo_in_still_water"
    many = {f"field{k}": _field(k) for k in range(FIELDS)}
    with (
        build_world(name, overrides=vehicle) as without,
        build_world(name, overrides={**vehicle, "fields": many}) as world,
    ):
        best = [float("inf"), float("inf")]
        for _ in range(5):
            for k, one in enumerate((without, world)):
                best[k] = min(best[k], best_cpu(lambda one=one: one.advance_steps(STEPS), 1))  # type: ignore[misc]
    return best[1] / best[0]


def _field(number: int) -> dict[str, Any]:
    """Return the settings of a field; kinds and shapes alternate."""
    shapes: list[dict[str, Any]] = [
        {"kind": "box", "center": [0, 0, -3], "size": [20, 20, 20]},
        {"kind": "sphere", "center": [0, 0, -3], "radius": 10},
        {"kind": "cylinder", "center": [0, 0, -3], "radius": 10, "height": 20},
    ]
    kind = ("vector", "attraction", "repulsion")[number % 3]
    field: dict[str, Any] = {"kind": kind, "magnitude": 1e-6, "volume": shapes[number // 3 % 3]}
    return {**field, "vector": [1, 0, 0]} if kind == "vector" else field
