"""Depth of bodies in the ground at the start; contacts would throw them out at many metres per second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.physics.model import Model
from skerry.physics.mujoco import mujoco
from skerry.terrain import Terrain

SPHERE, CAPSULE, CYLINDER, MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}")) for name in ("SPHERE", "CAPSULE", "CYLINDER", "MESH")
)
RIM = 12  # points on each rim of a cylinder


def depths_in_ground(model: Model, terrain: Terrain) -> dict[str, float]:
    """Return the depth of the lowest point of each robot and object below the ground at the start, m.

    A negative depth is a height above the ground. Bodies without collision shapes, or beside the ground, are left out.
    """
    compiled, data = model.compiled, model.start_data
    owners = {root: owner for owner, root in model.roots.items()}
    depths: dict[str, float] = {}
    for geom in range(compiled.ngeom):
        owner = owners.get(int(compiled.body_rootid[compiled.geom_bodyid[geom]]))
        if owner is None or not (compiled.geom_contype[geom] or compiled.geom_conaffinity[geom]):
            continue
        center, turn = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
        points = center + _outline(compiled, geom) @ turn.T
        if int(compiled.geom_type[geom]) in (SPHERE, CAPSULE):
            normals = terrain.normal(points[:, :2])
            points = points - compiled.geom_size[geom, 0] * normals
        below = terrain.height(points[:, :2]) - points[:, 2]
        if np.isfinite(below).any():
            depths[owner] = max(depths.get(owner, -np.inf), float(np.nanmax(below)))
    return depths


def _outline(compiled: Any, geom: int) -> NDArray[np.float64]:
    """Return the corners of a geom in its frame, (n, 3); for spheres and capsules the centres of their balls."""
    kind, size = int(compiled.geom_type[geom]), compiled.geom_size[geom]
    if kind == SPHERE:
        return np.zeros((1, 3))
    if kind == CAPSULE:
        return np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
    if kind == CYLINDER:
        angles = np.arange(RIM) * (2 * np.pi / RIM)
        rim = np.stack([size[0] * np.cos(angles), size[0] * np.sin(angles), np.full(RIM, size[1])], axis=1)
        return np.concatenate([rim, rim * [1, 1, -1]])
    if kind == MESH:
        mesh = int(compiled.geom_dataid[geom])
        first, count = int(compiled.mesh_vertadr[mesh]), int(compiled.mesh_vertnum[mesh])
        return np.asarray(compiled.mesh_vert[first : first + count], np.float64)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray(signs * size)
