"""What several contracts are checked with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skerry.scenario.loading import load_scenario


@pytest.fixture(scope="session")
def small_pictures() -> Callable[[Any], dict[str, Any]]:
    """Overrides of a scenario for cameras of 64 × 48 pixels: a dozen at full size would take most of the time."""

    def overrides(source: Any) -> dict[str, Any]:
        robots = {}
        for robot, vehicle in load_scenario(source).vehicles.items():
            cameras = [name for name, config in vehicle.config.sensors.items() if config.kind == "camera"]
            robots[robot] = {"overrides": {"sensors": {name: {"width": 64, "height": 48} for name in cameras}}}
        return {"robots": robots}

    return overrides
