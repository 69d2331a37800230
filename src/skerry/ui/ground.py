"""Description of the terrain for the page: a grid of heights or a mesh, with a colour at each vertex."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.scenario import Scenario
from skerry.terrain import Terrain
from skerry.terrain.kinds.heightfield import HeightfieldGround
from skerry.terrain.materials import find_material
from skerry.ui.assets import Assets

MAX_NODES: Final = 512  # nodes along each side of a grid; the page cannot draw more in a frame
UNBOUNDED_SIZE: Final = 2000.0  # m from the origin to which terrain without an edge is drawn


def describe_ground(ground: Terrain, scenario: Scenario, assets: Assets) -> dict[str, Any]:
    """Return the terrain as data for JSON, and add its grids or its mesh to the assets."""
    if isinstance(ground, HeightfieldGround):
        rows, columns = ground.heights.shape
        return _grid(ground, scenario, assets, min(rows, MAX_NODES), min(columns, MAX_NODES))
    if np.isinf(ground.extent).any():
        return _grid(ground, scenario, assets, 2, 2)
    mesh = ground.triangles()
    materials = np.zeros(len(mesh.vertices), np.int32)
    if mesh.face_materials is not None:
        materials[mesh.faces] = mesh.face_materials[:, None]
    colours = np.full((len(materials), 4), 255, np.uint8)
    colours[:, :3] = _colours(ground, scenario)[materials]
    return {"kind": "mesh", "asset": assets.add_mesh(mesh, colours)}


def _grid(ground: Terrain, scenario: Scenario, assets: Assets, rows: int, columns: int) -> dict[str, Any]:
    west, south, east, north = np.clip(ground.extent, -UNBOUNDED_SIZE, UNBOUNDED_SIZE) if rows == 2 else ground.extent
    points = np.empty((rows, columns, 2))
    points[..., 0] = np.linspace(west, east, columns)
    points[..., 1] = np.linspace(south, north, rows)[:, None]
    found = ground.sample(points)
    return {
        "kind": "heightfield",
        "asset": assets.add_floats(found.height),
        "rows": rows,
        "columns": columns,
        "origin": [float(west), float(south)],
        "spacing": [float(east - west) / (columns - 1), float(north - south) / (rows - 1)],
        "colours": assets.add_bytes(_colours(ground, scenario)[found.material]),
    }


def _colours(ground: Terrain, scenario: Scenario) -> NDArray[np.uint8]:
    """Return the sRGB colour of each material of the terrain, (n, 3)."""
    instead = None if scenario.terrain is None else scenario.terrain.material
    materials = [find_material(name, scenario.materials, instead=instead) for name in ground.materials]
    return np.array([np.rint(np.multiply(255, material.colour)) for material in materials], np.uint8)
