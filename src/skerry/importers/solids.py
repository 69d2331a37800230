"""What a rigid body of a robot displaces, measured from its shapes: volume, its spread, and its shadows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.meshes import Mesh, contains, is_closed, transform, volume
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape, UrdfRobot
from skerry.importers.draft import Float
from skerry.physics.tree import Body, carriers

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST_CELLS = 20_000
"""Of the box around a body: a volume is then known to a per cent or two, a shadow to a few."""
MOST_SOLID_ANGLES = 50_000_000
"""Cells times faces of a mesh; some two seconds of work."""
LEAST_CELLS = 8
"""Along each axis."""


@dataclass(frozen=True, eq=False)
class Solid:
    """The space that a rigid body takes up, in the frame of the link that carries it."""

    volume: float  # m³
    samples: Floats  # (n, 3), m; each stands for an equal part of the volume
    size: Floats  # (3,), m: of the box around it
    shadows: Floats  # (3,), m²: areas as seen along x, y and z
    sweeps: Floats  # (3,), m⁵: ∫ |r|³ dA about each axis through the centre, over the shadows that turning sweeps
    source: str  # which shapes were measured, and how

    @property
    def centre(self) -> Floats:
        """Of the volume, m."""
        return np.asarray(self.samples.mean(axis=0))

    @property
    def covariance(self) -> Floats:
        """The mean of x xᵀ about the centre, m²; along an axis of an ellipsoid it is a²/5."""
        return np.asarray(np.cov(self.samples.T, bias=True), np.float64)


@dataclass(frozen=True, eq=False)
class _Placed:
    """A shape in the body's frame."""

    shape: Shape
    pose: Pose
    mesh: Mesh | None
    low: Floats
    high: Floats
    closed: bool

    @property
    def exact_volume(self) -> float | None:
        """None of an open mesh, which has none."""
        shape = self.shape
        if shape.kind == "box":
            return float(np.prod(shape.size))
        if shape.kind == "mesh":
            return volume(self.mesh) if self.mesh is not None and self.closed else None
        ball, rod = 4 / 3 * np.pi * shape.radius**3, np.pi * shape.radius**2 * shape.length
        return float({"sphere": ball, "cylinder": rod, "capsule": ball + rod}[shape.kind])

    def holds(self, points: Floats) -> Flags:
        """Which of the points (n, 3) are inside."""
        inside = np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))
        near = np.flatnonzero(inside)
        if self.mesh is not None:
            # The solid angle also settles what is inside of a mesh with holes (Jacobson et al. 2013, ACM Trans. Graph.
            # 32(4), generalised winding numbers).
            inside[near] = contains(self.mesh, points[near])
            return inside
        x, y, z = np.abs(self.pose.inverse().transform(points[near])).T
        shape = self.shape
        if shape.kind == "box":
            inside[near] = (x <= shape.size[0] / 2) & (y <= shape.size[1] / 2) & (z <= shape.size[2] / 2)
        elif shape.kind == "cylinder":
            inside[near] = (np.hypot(x, y) <= shape.radius) & (z <= shape.length / 2)
        else:  # a sphere is a capsule without length
            beyond = np.maximum(z - shape.length / 2, 0.0) if shape.kind == "capsule" else z
            inside[near] = x**2 + y**2 + beyond**2 <= shape.radius**2
        return inside


def solids_of(robot: UrdfRobot) -> dict[str, Solid]:
    """The solid of each rigid body that has one, by the link that carries it; links that are fixed are one body."""
    placed: dict[str, list[_Placed]] = {}
    sources: dict[str, set[str]] = {}
    places = carriers(Body(robot.name, robot, Pose.identity()))
    for carrier in dict.fromkeys(owner for owner, _ in places.values()):
        members = [(robot.links[link], pose) for link, (owner, pose) in places.items() if owner == carrier]
        touched = any(link.collisions for link, _ in members)
        for link, pose in members:
            # Where a body has shapes to touch, those are its hull; what it shows beyond them is often detail.
            for shape in link.collisions if touched else link.visuals:
                placed.setdefault(carrier, []).append(_place(shape, pose))
                sources.setdefault(carrier, set()).add("collision" if touched else "visual")
    solids = {carrier: _measure(shapes, sources[carrier].pop()) for carrier, shapes in placed.items()}
    return {carrier: solid for carrier, solid in solids.items() if solid is not None}


def floats_of(robot: UrdfRobot, floats: Mapping[str, Float]) -> dict[str, Solid]:
    """What each rigid body displaces where the file says so: its volume and centre, spread as the shapes are."""
    places = carriers(Body(robot.name, robot, Pose.identity()))
    members: dict[str, list[tuple[Float, Pose]]] = {}
    for link, item in floats.items():
        carrier, pose = places[link]
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


def _place(shape: Shape, link: Pose) -> _Placed:
    pose = link @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
    if shape.kind == "mesh":
        assert shape.mesh is not None
        mesh = transform(read_mesh(shape.mesh), pose.position, pose.rotation, shape.scale)
        return _Placed(shape, pose, mesh, mesh.vertices.min(axis=0), mesh.vertices.max(axis=0), is_closed(mesh))
    turned = np.abs(pose.rotation)
    if shape.kind == "box":
        half = turned @ (0.5 * np.array(shape.size))
    else:
        half = turned @ (0.0, 0.0, 0.5 * shape.length if shape.kind != "sphere" else 0.0) + shape.radius
    return _Placed(shape, pose, None, pose.position - half, pose.position + half, True)


def _measure(shapes: Sequence[_Placed], source: str) -> Solid | None:
    """By cells of the box around all shapes; volumes of shapes are exact, and only what they share is by cells."""
    low, high = np.min([s.low for s in shapes], axis=0), np.max([s.high for s in shapes], axis=0)
    size = high - low
    if not (size > 0.0).all():
        return None
    faces = sum(len(shape.mesh.faces) for shape in shapes if shape.mesh is not None)
    cells = min(MOST_CELLS, max(MOST_SOLID_ANGLES // faces, LEAST_CELLS**3)) if faces else MOST_CELLS
    edge = (float(np.prod(size)) / cells) ** (1 / 3)
    counts = np.maximum(np.ceil(size / edge).astype(int), LEAST_CELLS)
    axes = [low[k] + size[k] * (np.arange(counts[k]) + 0.5) / counts[k] for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    held = [shape.holds(points) for shape in shapes]
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
    shadows, sweeps = _shadows(grid, axes, cell, samples.mean(axis=0))
    words = f"{len(shapes)} {source} shape{'s' if len(shapes) > 1 else ''}"
    if shared < 1.0:
        words += f", {100 * (1 - shared):.0f} % of which they have in common"
    if open_meshes:
        words += f", {open_meshes} of them with holes: its volume is that of {int(inside.sum())} cells"
    return Solid(total * shared, samples, size, shadows, sweeps, words)


def _shadows(grid: Flags, axes: Sequence[Floats], cell: Floats, centre: Floats) -> tuple[Floats, Floats]:
    areas, sweeps = np.zeros(3), np.zeros(3)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        shadow = grid.any(axis=k)
        if i > j:
            shadow = shadow.T  # rows are the axis i, whichever comes first
        area = float(cell[i] * cell[j])
        areas[k] = area * shadow.sum()
        # Turning about j moves the shadow along k by ω times the distance along i, and the other way round.
        sweeps[j] += area * float((np.abs(axes[i] - centre[i]) ** 3) @ shadow.sum(axis=1))
        sweeps[i] += area * float((np.abs(axes[j] - centre[j]) ** 3) @ shadow.sum(axis=0))
    return areas, sweeps
