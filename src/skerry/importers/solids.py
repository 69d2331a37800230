"""Volume, distribution and projected areas of the rigid bodies of a robot, measured from their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.meshes import Mesh, contains, is_closed, transform, volume
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape, UrdfRobot
from skerry.importers.vehicle_draft import BuoyantShape
from skerry.physics.tree import Body, carriers

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_CELLS = 20_000
"""Number of cells of the box around a body; the error is then 1 to 2 % of a volume and a few % of an area."""
MAX_SOLID_ANGLES = 50_000_000
"""Largest product of cells and faces of a mesh; it takes about two seconds."""
MIN_CELLS = 8
"""Smallest number of cells along an axis."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Space that a rigid body occupies, in the frame of the link that carries it."""

    volume: float
    """Volume, m³."""
    samples: Floats
    """Points (n, 3), m; each represents an equal part of the volume."""
    size: Floats
    """Size (3,) of the bounding box, m."""
    projected_areas: Floats
    """Areas (3,) seen along x, y and z, m²."""
    turning_integrals: Floats
    """Integrals (3,) of |r|³ dA about each axis through the centre, over the projected areas that rotate, m⁵."""
    source: str
    """Shapes that were measured, as text."""

    @property
    def centre(self) -> Floats:
        """Centre (3,) of the volume, m."""
        return np.asarray(self.samples.mean(axis=0))

    @property
    def covariance(self) -> Floats:
        """Mean (3, 3) of x xᵀ about the centre, m²; along an axis of an ellipsoid it is a²/5."""
        return np.asarray(np.cov(self.samples.T, bias=True), np.float64)


@dataclass(frozen=True, eq=False)
class _PlacedShape:
    """Shape in the body's frame."""

    shape: Shape
    pose: Pose
    mesh: Mesh | None
    low: Floats
    high: Floats
    closed: bool

    @property
    def exact_volume(self) -> float | None:
        """Volume, m³; None for an open mesh."""
        shape = self.shape
        if shape.kind == "box":
            return float(np.prod(shape.size))
        if shape.kind == "mesh":
            return volume(self.mesh) if self.mesh is not None and self.closed else None
        ball, rod = 4 / 3 * np.pi * shape.radius**3, np.pi * shape.radius**2 * shape.length
        return float({"sphere": ball, "cylinder": rod, "capsule": ball + rod}[shape.kind])

    def contains_points(self, points: Floats) -> Flags:
        """Return a mask (n,) of the points (n, 3) inside the shape."""
        inside = np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))
        near = np.flatnonzero(inside)
        if self.mesh is not None:
            # The solid angle also defines the inside of a mesh with holes (Jacobson et al. 2013, ACM Trans. Graph.
            # 32(4), generalised winding numbers).
            inside[near] = contains(self.mesh, points[near])
            return inside
        x, y, z = np.abs(self.pose.inverse().transform(points[near])).T
        shape = self.shape
        if shape.kind == "box":
            inside[near] = (x <= shape.size[0] / 2) & (y <= shape.size[1] / 2) & (z <= shape.size[2] / 2)
        elif shape.kind == "cylinder":
            inside[near] = (np.hypot(x, y) <= shape.radius) & (z <= shape.length / 2)
        else:  # a sphere is a capsule of length 0
            beyond = np.maximum(z - shape.length / 2, 0.0) if shape.kind == "capsule" else z
            inside[near] = x**2 + y**2 + beyond**2 <= shape.radius**2
        return inside


def measure_solids(robot: UrdfRobot) -> dict[str, Solid]:
    """Return the solids of all rigid bodies that have a volume, by the link that carries each body.

    Links that are fixed to each other are one body.
    """
    placed: dict[str, list[_PlacedShape]] = {}
    sources: dict[str, set[str]] = {}
    owners = carriers(Body(robot.name, robot, Pose.identity()))
    for carrier in dict.fromkeys(owner for owner, _ in owners.values()):
        members = [(robot.links[link], pose) for link, (owner, pose) in owners.items() if owner == carrier]
        has_collisions = any(link.collisions for link, _ in members)
        for link, pose in members:
            # Collision shapes, if there are any, are the hull; visual shapes beyond them are often details.
            for shape in link.collisions if has_collisions else link.visuals:
                placed.setdefault(carrier, []).append(_place(shape, pose))
                sources.setdefault(carrier, set()).add("collision" if has_collisions else "visual")
    solids = {carrier: _measure(shapes, sources[carrier].pop()) for carrier, shapes in placed.items()}
    return {carrier: solid for carrier, solid in solids.items() if solid is not None}


def measure_buoyancy(robot: UrdfRobot, floats: Mapping[str, BuoyantShape]) -> dict[str, Solid]:
    """Return the displaced solids of all rigid bodies whose displacement the file gives.

    Volume and centre are those of the file; the distribution is that of the shapes.
    """
    owners = carriers(Body(robot.name, robot, Pose.identity()))
    members: dict[str, list[tuple[BuoyantShape, Pose]]] = {}
    for link, item in floats.items():
        carrier, pose = owners[link]
        members.setdefault(carrier, []).append((item, pose))
    solids = {}
    for carrier, parts in members.items():
        spread = _measure([_place(item.shape, pose) for item, pose in parts], "buoyant")
        if spread is not None:
            volumes = [item.volume for item, _ in parts]
            centre = np.average(
                [pose.transform(np.array(item.centre)) for item, pose in parts], axis=0, weights=volumes
            )
            source = f"{len(parts)} buoyant part{'s' if len(parts) > 1 else ''} of the file, each with its own volume"
            samples = spread.samples + centre - spread.centre
            solids[carrier] = replace(spread, volume=sum(volumes), samples=samples, source=source)
    return solids


def _place(shape: Shape, link: Pose) -> _PlacedShape:
    pose = link @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
    if shape.kind == "mesh":
        assert shape.mesh is not None
        mesh = transform(read_mesh(shape.mesh), pose.position, pose.rotation, shape.scale)
        return _PlacedShape(shape, pose, mesh, mesh.vertices.min(axis=0), mesh.vertices.max(axis=0), is_closed(mesh))
    turned = np.abs(pose.rotation)
    if shape.kind == "box":
        half = turned @ (0.5 * np.array(shape.size))
    else:
        half = turned @ (0.0, 0.0, 0.5 * shape.length if shape.kind != "sphere" else 0.0) + shape.radius
    return _PlacedShape(shape, pose, None, pose.position - half, pose.position + half, True)


def _measure(shapes: Sequence[_PlacedShape], source: str) -> Solid | None:
    """Measure shapes by cells of the box around them.

    The volumes of single shapes are exact; only the share of their overlap is measured by cells.
    """
    low, high = np.min([s.low for s in shapes], axis=0), np.max([s.high for s in shapes], axis=0)
    size = high - low
    if not (size > 0.0).all():
        return None
    faces = sum(len(shape.mesh.faces) for shape in shapes if shape.mesh is not None)
    cells = min(MAX_CELLS, max(MAX_SOLID_ANGLES // faces, MIN_CELLS**3)) if faces else MAX_CELLS
    edge = (float(np.prod(size)) / cells) ** (1 / 3)
    counts = np.maximum(np.ceil(size / edge).astype(int), MIN_CELLS)
    axes = [low[k] + size[k] * (np.arange(counts[k]) + 0.5) / counts[k] for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    held = [shape.contains_points(points) for shape in shapes]
    inside = np.logical_or.reduce(held)
    if not inside.any():
        return None
    cell = size / counts
    total, open_meshes = 0.0, 0
    for shape, points_held in zip(shapes, held, strict=True):
        exact = shape.exact_volume
        open_meshes += exact is None
        total += float(points_held.sum() * np.prod(cell)) if exact is None else exact
    shared = float(inside.sum()) / float(sum(flags.sum() for flags in held))
    samples, grid = points[inside], inside.reshape(counts)
    projected_areas, turning_integrals = _project(grid, axes, cell, samples.mean(axis=0))
    text = f"{len(shapes)} {source} shape{'s' if len(shapes) > 1 else ''}"
    if shared < 1.0:
        text += f", which overlap by {100 * (1 - shared):.0f} %"
    if open_meshes:
        text += f", {open_meshes} of them with holes, measured by {int(inside.sum())} cells"
    return Solid(total * shared, samples, size, projected_areas, turning_integrals, text)


def _project(grid: Flags, axes: Sequence[Floats], cell: Floats, centre: Floats) -> tuple[Floats, Floats]:
    areas, turning_integrals = np.zeros(3), np.zeros(3)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        seen = grid.any(axis=k)
        if i > j:
            seen = seen.T  # makes axis i the rows
        area = float(cell[i] * cell[j])
        areas[k] = area * seen.sum()
        # A rotation ω about j moves this area along k at ω times the distance along i; about i, along j.
        turning_integrals[j] += area * float((np.abs(axes[i] - centre[i]) ** 3) @ seen.sum(axis=1))
        turning_integrals[i] += area * float((np.abs(axes[j] - centre[j]) ** 3) @ seen.sum(axis=0))
    return areas, turning_integrals
