"""Ranges, normals and sphere casts against closed forms, for both tracers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from skerry.core import meshes
from skerry.core.frames import Pose, quaternion_to_matrix
from skerry.core.meshes import Mesh
from skerry.rays import Bundle, RayBody, RayCaster, RayScene
from skerry.rays.scene import OBJECT_BIT
from skerry.rays.tracer import Tracer
from skerry.terrain.materials import find_material

Floats = NDArray[np.float64]
SAND = find_material("sand")
TURN = np.array([0.3, -0.2, 0.5, 0.7]) / np.linalg.norm([0.3, -0.2, 0.5, 0.7])


def view_of(
    mesh: Mesh, tracer: Tracer, position: tuple[float, ...] = (0, 0, 0), turn: Floats | None = None
) -> RayCaster:
    """Return a ray caster with a single body at a position."""
    scene = RayScene([RayBody("thing", "thing", mesh, (SAND,), 0, OBJECT_BIT)], tracer)
    motion = np.zeros((1, 13))
    motion[0, :3], motion[0, 3:7] = position, [0, 0, 0, 1] if turn is None else turn
    return RayCaster(scene, scene.frame(motion), motion, None)


def pose_at(position: Floats) -> Pose:
    return Pose(position, np.array([0.0, 0.0, 0.0, 1.0]))


def directions(count: int, seed: int = 0) -> Floats:
    given = np.random.default_rng(seed).normal(size=(count, 3))
    unit: Floats = given / np.linalg.norm(given, axis=1, keepdims=True)
    return unit


def heightfield(cells: int, size: float, roughness: float) -> Mesh:
    """Return ground around z = 0 with vertices on a grid; `roughness` is the standard deviation of the heights."""
    x = np.linspace(-size / 2, size / 2, cells + 1)
    heights = np.random.default_rng(5).normal(0.0, roughness, (cells + 1, cells + 1))
    vertices = np.stack([*np.meshgrid(x, x, indexing="ij"), heights], axis=-1).reshape(-1, 3)
    here = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    faces = np.stack([here, here + cells + 1, here + cells + 2, here, here + cells + 2, here + 1], axis=1)
    return Mesh(vertices, faces.reshape(-1, 3).astype(np.int32))


# ------------------------------------------------------------------------------------------------ rays


def test_range_to_a_plane_is_height_over_cosine(tracer: Tracer) -> None:
    """r = h / cos θ, to the rounding of 32 bits: 1e-6 of the range, divided by cos θ for grazing rays."""
    view = view_of(meshes.box((2000.0, 2000.0, 2.0)), tracer, (0, 0, -1))
    down = directions(3000)
    down[:, 2] = -np.abs(down[:, 2]) - 0.05
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    hits = view.cast(Bundle(down), pose_at(np.array([3.0, -2.0, 17.0])), 1000.0)
    expected = 17.0 / -down[:, 2]
    assert (np.abs(hits.distance - expected) <= 1e-6 * expected / -down[:, 2]).all()
    np.testing.assert_allclose(hits.normal.T, np.tile([0, 0, 1], (3000, 1)), atol=1e-6)


def test_range_to_a_sphere_is_that_of_the_quadratic(tracer: Tracer) -> None:
    """The mesh is inside the sphere by at most the sagitta R (1 − cos² (π/n)); ranges grow by up to that over cos θ."""
    radius, segments = 2.0, 400
    centre = np.array([10.0, 3.0, -4.0])
    view = view_of(meshes.sphere(radius, segments), tracer, tuple(centre), TURN)
    aims = centre + 0.8 * radius * directions(3000) * np.random.default_rng(1).uniform(size=(3000, 1))
    towards = aims / np.linalg.norm(aims, axis=1, keepdims=True)
    along = towards @ centre
    half = np.sqrt(radius**2 - (centre @ centre - along**2))
    hits = view.cast(Bundle(towards), pose_at(np.zeros(3)), 100.0)
    sagitta = radius * (1 - np.cos(np.pi / segments) ** 2)
    deeper = hits.distance - (along - half)
    assert (deeper > -1e-5).all()
    assert (deeper < sagitta / (half / radius) * 1.05 + 1e-5).all()
    true_normals = (towards * (along - half)[:, None] - centre) / radius
    steepest = 2 * np.pi / segments  # bound on the angle between a facet and the sphere
    assert (np.linalg.norm(hits.normal.T - true_normals, axis=1) < steepest).all()


def test_range_to_a_turned_box_is_that_of_its_slabs(tracer: Tracer) -> None:
    """Kay & Kajiya 1986: a box is three slabs; the tolerance is the rounding of 32 bits at 20 m."""
    size, centre = np.array([4.0, 2.0, 1.0]), np.array([-3.0, 8.0, 2.0])
    view = view_of(meshes.box(tuple(size)), tracer, tuple(centre), TURN)
    rotation = quaternion_to_matrix(TURN)
    start = np.array([1.0, -9.0, 3.0])
    towards = centre - start + rotation @ (size / 2) * directions(4000)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    local_start, local = rotation.T @ (start - centre), towards @ rotation
    low, high = (-size / 2 - local_start) / local, (size / 2 - local_start) / local
    enters, leaves = np.minimum(low, high), np.maximum(low, high).min(axis=1)
    axis = enters.argmax(axis=1)
    hit = enters.max(axis=1) < leaves
    clear = np.abs(enters.max(axis=1) - leaves) > 1e-4  # rays that graze an edge depend on rounding
    hits = view.cast(Bundle(towards), pose_at(start), 100.0)
    assert 0.3 < hit.mean() < 0.98
    assert (np.isfinite(hits.distance) == hit)[clear].all()
    sure = hit & clear
    np.testing.assert_allclose(hits.distance[sure], enters.max(axis=1)[sure], atol=2e-5)
    normals = -np.sign(local[np.arange(4000), axis])[:, None] * rotation.T[axis]
    second = np.sort(enters, axis=1)[:, 1]
    off_edge = sure & (enters.max(axis=1) - second > 1e-4)
    np.testing.assert_allclose(hits.normal.T[off_edge], normals[off_edge], atol=1e-5)


def misses(aims: Floats, mesh: Mesh, tracer: Tracer, turn: Floats | None) -> float:
    """Return the share of rays, from three origins to points of a mesh, that pass through the mesh."""
    view = view_of(mesh, tracer, (0, 0, 0), turn)
    rotation = np.eye(3) if turn is None else quaternion_to_matrix(turn)
    aims = aims[(np.abs(aims[:, :2]) < 14.5).all(axis=1)] @ rotation.T
    missed = 0
    for eye in ((0.0, 0.0, 40.0), (7.0, -3.0, 25.0), (0.5, 0.5, 1000.0)):
        start = rotation @ np.array(eye)
        hits = view.cast(Bundle(aims - start), pose_at(start), 2000.0)
        far = np.linalg.norm(aims - start, axis=1)
        missed += int((~(hits.distance < far * (1 + 1e-4))).sum())
    return missed / (3 * len(aims))


@pytest.mark.parametrize("turn", [None, TURN])
def test_no_ray_passes_between_two_triangles(tracer: Tracer, turn: Floats | None) -> None:
    mesh = heightfield(30, 30.0, 0.05)
    corners = mesh.vertices[mesh.faces]
    shares = np.linspace(0, 1, 12)[1:-1, None, None, None]
    on_edges = (corners * (1 - shares) + np.roll(corners, -1, axis=1) * shares).reshape(-1, 3)
    assert misses(on_edges, mesh, tracer, turn) == 0


@pytest.mark.parametrize("turn", [None, TURN])
def test_no_ray_passes_where_many_triangles_meet(tracer: Tracer, turn: Floats | None) -> None:
    """Embree lets about one in a thousand rays pass that aim exactly at a corner, Skerry's own tracer none."""
    mesh = heightfield(30, 30.0, 0.05)
    assert misses(mesh.vertices, mesh, tracer, turn) <= (0.01 if tracer.name == "Embree" else 0)


# ------------------------------------------------------------------------------------------------ sphere casts


def test_a_sphere_hits_a_plane_one_radius_early(tracer: Tracer) -> None:
    """(h − r) / cos θ."""
    view = view_of(meshes.box((200.0, 200.0, 2.0)), tracer, (0, 0, -1))
    for direction in directions(100) * [1, 1, 0.5] - [0, 0, 1.2]:
        direction /= np.linalg.norm(direction)
        contact = view.cast_sphere((0.1, 0.2, 5.0), direction, 0.4, 1000.0)
        assert contact.distance == pytest.approx((5.0 - 0.4) / -direction[2], rel=1e-9)
        np.testing.assert_allclose(contact.normal, [0, 0, 1], atol=1e-9)


def test_a_sphere_hits_a_sphere_as_a_point_hits_the_sum_of_both(tracer: Tracer) -> None:
    """|start + t d − centre| = R + r, to the mesh's sagitta."""
    radius, own, segments = 2.0, 0.7, 200
    centre = np.array([9.0, 1.0, -3.0])
    view = view_of(meshes.sphere(radius, segments), tracer, tuple(centre), TURN)
    sagitta = radius * (1 - np.cos(np.pi / segments) ** 2)
    for offset in directions(100):
        towards = centre + 0.6 * (radius + own) * offset
        towards /= np.linalg.norm(towards)
        along = towards @ centre
        half = np.sqrt((radius + own) ** 2 - (centre @ centre - along**2))
        contact = view.cast_sphere((0, 0, 0), towards, own, 100.0)
        assert -1e-5 < contact.distance - (along - half) < sagitta / (half / (radius + own)) * 1.05 + 1e-5
        between = (towards * contact.distance - centre) / (radius + own)
        np.testing.assert_allclose(contact.normal, between, atol=np.pi / segments)


@pytest.mark.parametrize(
    ("start", "direction", "distance", "normal"),
    [
        ((4, 0.3, 0.2), (-1, 0, 0), 4 - 1 - 0.5, (1, 0, 0)),  # face
        ((4, 4, 0.2), (-1, -1, 0), 3 * np.sqrt(2) - 0.5, (np.sqrt(0.5), np.sqrt(0.5), 0)),  # edge
        ((4, 4, 4), (-1, -1, -1), 3 * np.sqrt(3) - 0.5, np.full(3, np.sqrt(1 / 3))),  # corner
        ((4, 1.3, 0.2), (-1, 0, 0), 3 - 0.4, (0.8, 0.6, 0)),  # beside a face, against its edge: 3-4-5 triangle
        ((4, 1.3, 1.0), (-1, 0, 0), 3 - 0.4, (0.8, 0.6, 0)),  # at the end of that edge
    ],
)
def test_a_sphere_hits_face_edge_and_corner_of_a_box(
    tracer: Tracer, start: Floats, direction: Floats, distance: float, normal: Floats
) -> None:
    view = view_of(meshes.box((2, 2, 2)), tracer)
    contact = view.cast_sphere(start, direction, 0.5, 100.0)
    assert contact.distance == pytest.approx(distance, rel=1e-12)
    np.testing.assert_allclose(contact.normal, normal, atol=1e-12)


def distance_to(point: Floats, corners: Floats) -> float:
    """Return the distance from a point to the nearest of triangles (n, 3, 3), from the definition."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    height = ((point - a) * normal).sum(1)
    foot = point - height[:, None] * normal
    inside = np.ones(len(corners), np.bool_)
    nearest = np.full(len(corners), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(end - start, foot - start) * normal).sum(1) >= 0
        share = ((point - start) * (end - start)).sum(1) / ((end - start) ** 2).sum(1)
        on_edge = start + np.clip(share, 0, 1)[:, None] * (end - start)
        nearest = np.minimum(nearest, np.linalg.norm(point - on_edge, axis=1))
    return float(np.where(inside, np.abs(height), nearest).min())


def test_a_sphere_stops_one_radius_from_rough_ground(tracer: Tracer) -> None:
    """The distance to the ground is r at the contact, and above r everywhere before it."""
    mesh = heightfield(20, 20.0, 0.3)
    view = view_of(mesh, tracer)
    corners = mesh.vertices.astype(np.float32).astype(np.float64)[mesh.faces]
    start = np.array([0.3, -0.7, 3.0])
    for direction in directions(25, 2) * [1, 1, 0.3] - [0, 0, 0.4]:
        direction /= np.linalg.norm(direction)
        contact = view.cast_sphere(start, direction, 0.6, 12.0)
        reach = min(contact.distance, 12.0)
        if contact.body >= 0:
            assert distance_to(start + reach * direction, corners) == pytest.approx(0.6, abs=1e-9)
        for share in np.linspace(0, 1, 20, endpoint=False):
            assert distance_to(start + share * reach * direction, corners) > 0.6
