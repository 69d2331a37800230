"""World for benchmarks of rays and sensors: a seabed of a million triangles and five moving SAMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skerry.world import World, build_world

ABOVE_GROUND = 20.0  # m


def load_seabed(sensors: Mapping[str, Any] | None = None, **more: Any) -> World:
    """Build the world: SAM 20 m above the seabed, with four others around it.

    Args:
        sensors: Sensors that replace those of the first SAM.
        **more: Further settings of the scenario.
    """
    scenario: dict[str, Any] = {
        "seed": 1,
        "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
        "terrain": {
            "kind": "heightfield",
            "size": [708, 708],
            "resolution": 1.0,
            "level": -60,
            "function": {"kind": "hills", "amplitude": 12, "wavelength": 200, "octaves": 7},
        },
        "robots": {
            f"sam{k}": {
                "vehicle": "sam",
                "pose": {"position": [2.0 * k, 3.0 * (k % 2), 0.0], "yaw_deg": 0},
                "commands": {"thruster1": {"rpm": 300}, "thruster2": {"rpm": 300}},
            }
            for k in range(5)
        },
        **more,
    }
    if sensors is not None:
        scenario["robots"]["sam0"]["overrides"] = {"sensors": dict(sensors)}
    with build_world({"terrain": scenario["terrain"], "seed": scenario["seed"]}) as bare:
        assert bare.terrain is not None
        height = float(bare.terrain.height([0.0, 0.0])) + ABOVE_GROUND
    for k, robot in enumerate(scenario["robots"].values()):
        robot["pose"]["position"][2] = height - 0.5 * k
    return build_world(scenario)
