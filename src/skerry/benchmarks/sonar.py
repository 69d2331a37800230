"""Sonars: complete readings with noise on one core, over a million triangles with five vehicles."""

from __future__ import annotations

from typing import Any

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._seabed import load_seabed
from skerry.benchmarks._timing import best_cpu
from skerry.parts.sensor import SingleSensorView

REPEATS = 60
SONARS: dict[str, dict[str, Any]] = {
    "fls": {"kind": "fls", "beams": 256, "rays_per_beam": 128, "bins": 512, "tilt_deg": 25, "max_range": 60},
    "sss": {"kind": "sidescan", "rays_per_beam": 256, "beam_breadth_deg": 45, "tilt_deg": 45, "buckets": 1000},
    "mbes": {"kind": "mbes", "rays_per_beam": 256, "beam_breadth_deg": 45},
}

GOALS = {"sonar.fls.ms": Goal(8), "sonar.sss.ms": Goal(0.3)}


def measure() -> dict[str, float]:
    """Return milliseconds of this thread, which casts all rays itself."""
    sensors = {name: {**sonar, "link": "base_link", "frequency": 10} for name, sonar in SONARS.items()}
    with load_seabed(sensors) as world:
        world.advance(0.1)
        mounted = world.robots["sam0"].sensors
        return {f"sonar.{name}.ms": _milliseconds(mounted[name]) for name in SONARS}


def _milliseconds(mounted: Any) -> float:
    mounted.sensor.threads = 1
    repeats = REPEATS if len(mounted.sensor.bundle) > 10_000 else 20 * REPEATS
    return best_cpu(lambda: mounted.sensor.measure(SingleSensorView(mounted.view), mounted._noise), repeats) * 1e3
