"""The ground as the page draws it: a grid of heights, or a mesh, with a colour for each vertex."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.scenario import Scenario
from skerry.terrain import Terrain
from skerry.terrain.kinds.heightfield import HeightfieldGround
from skerry.terrain.materials import find_material
from skerry.ui.assets import Assets

MAX_NODES: Final = 512  # along each side; a page draws no more in a frame
UNBOUNDED_SIZE: Final = 2000.0  # m about the origin that is drawn of ground without an edge


def describe_ground(ground: Terrain, scenario: Scenario, assets: Assets) -> dict[str, Any]:
    """The ground as plain data."""
    if isinstance(ground, HeightfieldGround):
        rows, columns = ground.heights.shape
        return _grid(ground, scenario, assets, min(rows, MAX_NODES), min(columns, MAX_NODES))
    if np.isinf(ground.extent).any():
        return _grid(ground, scenario, assets, 2, 2)
    mesh = ground.triangles()
    places = np.zeros(len(mesh.vertices), np.int32)
    if mesh.face_materials is not None:
        places[mesh.faces] = mesh.face_materials[:, None]
    colours = np.full((len(places), 4), 255, np.uint8)
    colours[:, :3] = _colours(ground, scenario)[places]
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
    """Of each of the ground's materials, sRGB."""
    instead = None if scenario.terrain is None else scenario.terrain.material
    materials = [find_material(name, scenario.materials, instead=instead) for name in ground.materials]
    return np.array([np.rint(np.multiply(255, material.colour)) for material in materials], np.uint8)
