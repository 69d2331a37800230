"""Rays: agreement of both tracers, masks, frames, threads, and the choice of the tracer."""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

import skerry
from skerry.core import meshes
from skerry.core.errors import DependencyError, SkerryError, UnknownName
from skerry.core.frames import Pose
from skerry.core.meshes import Mesh
from skerry.rays import Bundle, Hits, RayBody, RayCaster, RayCasterBatch, RayScene, loading, robot_bit
from skerry.rays.bvh import COUNT, FIRST, build_bvh
from skerry.rays.packets import (
    DIRECTION,
    FACE,
    FAR,
    GEOMETRY,
    INSTANCE,
    MASK,
    MAX_WIDTH,
    MISS,
    NEAR,
    NORMAL,
    ORIGIN,
    ROWS,
    U,
    V,
    allocate_packet,
)
from skerry.rays.ray_caster import SINGLE_THREAD_RAYS
from skerry.rays.scene import OBJECT_BIT, contexts_of
from skerry.rays.tiles import new_tile_counter, next_tile
from skerry.rays.tracer import Tracer
from skerry.terrain.materials import find_material

SAND, ROCK, HULL = (find_material(name) for name in ("sand", "rock", "hull"))
NO_MOTION = np.zeros((0, 13))


def ground(cells: int, size: float, seed: int = 1) -> Mesh:
    """Return a rough heightfield around the origin with two triangles per cell."""
    x = np.linspace(-size / 2, size / 2, cells + 1)
    heights = np.random.default_rng(seed).normal(-20.0, 0.4, (cells + 1, cells + 1))
    vertices = np.stack([*np.meshgrid(x, x, indexing="ij"), heights], axis=-1).reshape(-1, 3)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    here, right, both, up = corner, corner + cells + 1, corner + cells + 2, corner + 1
    faces = np.stack([here, right, both, here, both, up], axis=1).reshape(-1, 3)
    return Mesh(vertices, faces.astype(np.int32))


def motion_of(*positions: tuple[float, float, float], turned: bool = False) -> NDArray[np.float64]:
    """Return motions of bodies at positions, level or each with a random attitude."""
    motion = np.zeros((len(positions), 13))
    motion[:, :3] = positions
    motion[:, 6] = 1.0
    if turned:
        quaternions = np.random.default_rng(3).normal(size=(len(positions), 4))
        motion[:, 3:7] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    return motion


def crowd() -> list[RayBody]:
    """Rough ground, an object that never moves, and four robots."""
    robots = [
        RayBody(f"r{i}/hull", f"r{i}", meshes.box((2.0, 1.0, 0.5 + i)), (HULL,), i, robot_bit(i)) for i in range(4)
    ]
    rock = meshes.transform(meshes.sphere(3.0, 24), (5.0, -6.0, -18.0))
    terrain, stone = RayBody("terrain", "", ground(40, 100.0), (SAND,)), RayBody("objects/rock", "rock", rock, (ROCK,))
    return [terrain, stone, *robots]


CROWD_MOTION = motion_of((3, 2, -14), (-6, 1, -17), (0, 8, -12), (1, -5, -15), turned=True)


def directions(count: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, 3))


def single(mesh: Mesh, tracer: Tracer) -> RayCaster:
    scene = RayScene([RayBody("thing", "", mesh, (SAND,))], tracer)
    return RayCaster(scene, scene.frame(NO_MOTION), NO_MOTION, None)


def pose_at(x: float, y: float, z: float) -> Pose:
    return Pose(np.array([x, y, z]), np.array([0.0, 0.0, 0.0, 1.0]))


# ------------------------------------------------------------------------------------------------ hits


def test_hits_name_body_and_material(tracer: Tracer) -> None:
    mesh = meshes.box((2.0, 2.0, 2.0))
    sides = (np.abs(mesh.vertices[mesh.faces][:, :, 0]).min(axis=1) == 1.0) & (
        np.ptp(mesh.vertices[mesh.faces][:, :, 0], axis=1) == 0
    )
    striped = Mesh(mesh.vertices, mesh.faces, np.where(sides, 1, 0).astype(np.int32))
    scene = RayScene(
        [RayBody("a", "", meshes.box((100, 100, 1)), (SAND,)), RayBody("b", "", striped, (SAND, ROCK))], tracer
    )
    view = RayCaster(scene, scene.frame(NO_MOTION), NO_MOTION, None)
    hits = view.cast(Bundle([[-1, 0, 0], [0.0, -1, -10]]), pose_at(5.0, 0.0, 0.8), 100.0)
    assert hits.body.tolist() == [1, 0]
    assert [view.materials[i] for i in hits.material] == [ROCK, SAND]
    np.testing.assert_allclose(hits.distance, [4.0, 0.3 * np.hypot(1, 0.1)], rtol=1e-6)
    np.testing.assert_allclose(hits.normal.T, [[1, 0, 0], [0, 0, 1]], atol=1e-6)


def test_a_miss_is_infinite_and_names_nothing(tracer: Tracer) -> None:
    hits = single(meshes.box((1, 1, 1)), tracer).cast(Bundle([[1, 0, 0], [0, 0, 1]]), pose_at(2, 0, 0), 100.0)
    assert np.isposinf(hits.distance).all()
    assert (hits.body == -1).all() and (hits.material == -1).all() and (hits.normal == 0).all()


def test_a_scene_without_triangles_is_all_misses(tracer: Tracer) -> None:
    empty = Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    assert np.isposinf(single(empty, tracer).cast(Bundle(directions(30)), Pose.identity(), 10.0).distance).all()
    scene = RayScene([], tracer)
    view = RayCaster(scene, scene.frame(NO_MOTION), NO_MOTION, None)
    assert np.isposinf(view.cast(Bundle(directions(30)), Pose.identity(), 10.0).distance).all()
    assert view.cast_sphere((0, 0, 0), (0, 0, 1), 1.0, 10.0).body == -1


def test_a_triangle_that_is_not_finite_is_ignored(tracer: Tracer) -> None:
    mesh = meshes.box((2, 2, 2))
    broken = Mesh(
        np.concatenate([mesh.vertices, [[np.nan, 0, 0], [np.inf, 0, 0]]]),
        np.concatenate([[[0, 1, 8], [9, 2, 3]], mesh.faces]).astype(np.int32),
    )
    bundle = Bundle(directions(500))
    hits = single(broken, tracer).cast(bundle, pose_at(0, 0, 0), 10.0)
    assert np.isfinite(hits.distance).all()


def test_near_and_far_limit_the_hits(tracer: Tracer) -> None:
    view = single(meshes.box((2, 2, 2)), tracer)
    bundle = Bundle([[0, 0, -1]])
    above = pose_at(0.3, 0.2, 5.0)

    def reach(far: float, near: float = 0.0) -> float:
        return float(view.cast(bundle, above, far, near).distance[0])

    assert reach(100.0) == pytest.approx(4.0)
    assert reach(4.001) == pytest.approx(4.0)
    assert reach(3.999) == np.inf
    assert reach(100.0, near=3.999) == pytest.approx(4.0)
    assert reach(100.0, near=4.001) == pytest.approx(6.0)
    assert reach(100.0, near=6.001) == np.inf
    assert reach(np.inf) == pytest.approx(4.0)


def test_a_bad_bundle_is_refused() -> None:
    for bad in ([], [[0, 0, 0]], [[np.nan, 0, 1]], [1, 0, 0], [[1, 0]]):
        with pytest.raises(SkerryError, match="directions must"):
            Bundle(bad)


# ------------------------------------------------------------------------------------------------ masks


def test_a_robot_does_not_see_itself_by_default(tracer: Tracer) -> None:
    bodies = [RayBody(f"r{i}/hull", f"r{i}", meshes.box((1, 1, 1)), (HULL,), i, robot_bit(i)) for i in range(2)]
    scene = RayScene(
        [*bodies, RayBody("objects/wall", "wall", meshes.box((1, 90, 90)), (ROCK,), 2, OBJECT_BIT)], tracer
    )
    frame = scene.frame(motion_of((0, 0, 0), (5, 0, 0), (20, 0, 0)))
    bundle, inside = Bundle([[1, 0, 0], [-1, 0, 0]]), pose_at(0, 0, 0)
    assert RayCaster(scene, frame, NO_MOTION, robot_bit(0)).cast(bundle, inside, 100.0).body.tolist() == [1, -1]
    assert RayCaster(scene, frame, NO_MOTION, robot_bit(0)).cast(
        bundle, inside, 100.0, see_self=True
    ).body.tolist() == [
        0,
        0,
    ]
    assert RayCaster(scene, frame, NO_MOTION, robot_bit(1)).cast(bundle, inside, 100.0).body.tolist() == [0, 0]
    assert RayCaster(scene, frame, NO_MOTION, None).cast(bundle, inside, 100.0).body.tolist() == [0, 0]
    view = RayCaster(scene, frame, NO_MOTION, robot_bit(0))
    assert view.cast_sphere((0, 0, 0), (1, 0, 0), 0.1, 100.0).body == 1
    assert view.cast_sphere((0, 0, 0), (1, 0, 0), 0.1, 100.0, see_self=True).body == 0


def test_the_thirty_first_robot_shares_a_bit() -> None:
    assert len({robot_bit(i) for i in range(30)}) == 30
    assert robot_bit(30) == robot_bit(0)


# ------------------------------------------------------------------------------------------------ both tracers


@pytest.fixture
def both() -> tuple[Tracer, Tracer]:
    try:
        return loading.load_embree(), loading._own()
    except DependencyError as error:
        pytest.skip(str(error))


def test_both_tracers_agree(both: tuple[Tracer, Tracer]) -> None:
    """Rough ground and moving bodies. Where a ray hits an edge, either face may be reported."""
    bundle = Bundle(directions(20_000))
    scenes = [RayScene(crowd(), tracer) for tracer in both]
    frames = [scene.frame(CROWD_MOTION) for scene in scenes]
    for step in range(3):
        motion = CROWD_MOTION + step * np.array([0.7, -0.4, 0.2, *[0.0] * 10])
        found = []
        for scene, frame in zip(scenes, frames, strict=True):
            scene.move(frame, motion)
            hits = bundle.cast(scene, frame, pose_at(0.5, 1.0, -10.0), 60.0)
            found.append((hits.distance.copy(), hits.normal.copy(), hits.body.copy(), hits.material.copy()))
        (d0, n0, b0, m0), (d1, n1, b1, m1) = found
        hit = np.isfinite(d0)
        assert 0.3 < hit.mean() < 0.9
        assert set(b0[hit].tolist()) == set(range(6))
        assert (hit == np.isfinite(d1)).all()
        np.testing.assert_allclose(d1[hit], d0[hit], rtol=0, atol=1e-4)
        same = (b0 == b1) & (np.abs(n0 - n1).max(axis=0) < 1e-3)
        assert (~same).sum() <= 2  # of 20 000 rays, those through an edge
        assert (m0 == m1)[same].all()


def raw_packet(tracer: Tracer, rays: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return a packet of rays (n, 6). Its other rays are inactive and marked by 7."""
    w, packet = tracer.width, allocate_packet()
    rows, valid = packet[: ROWS * w].reshape(ROWS, w), packet[ROWS * MAX_WIDTH :].view(np.int32)
    rows[:] = 7.0
    valid[:w] = 0
    valid[: len(rays)] = -1
    rows[ORIGIN : ORIGIN + 3, : len(rays)] = rays[:, :3].T
    rows[DIRECTION : DIRECTION + 3, : len(rays)] = rays[:, 3:].T
    rows[NEAR], rows[FAR, : len(rays)] = 0.0, np.inf
    rows.view(np.uint32)[MASK] = 0xFFFFFFFF
    rows.view(np.uint32)[GEOMETRY, : len(rays)] = MISS
    return packet, valid


def send(tracer: Tracer, scene: RayScene, packet: NDArray[np.float32], valid: NDArray[np.int32], which: int) -> None:
    words = scene.frame(CROWD_MOTION).context
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(int(words[which]))
    function(valid.ctypes.data, int(words[2]), packet.ctypes.data, int(words[3]))


def test_both_tracers_write_the_same_packet(both: tuple[Tracer, Tracer]) -> None:
    """Indices, normals with length and sign, u and v are the same; inactive rays are not changed."""
    aims = [[0.1, 0.2, -1], [0, 2, -3], [0, 0, 1]]
    rays = np.concatenate([np.tile([0.5, 1.0, -10.0], (3, 1)), aims], axis=1)
    found = []
    for tracer in both:
        packet, valid = raw_packet(tracer, rays)
        send(tracer, RayScene(crowd(), tracer), packet, valid, 0)
        rows = packet[: ROWS * tracer.width].reshape(ROWS, tracer.width)
        assert (rows[[*range(3), *range(FAR, MASK), *range(NORMAL, GEOMETRY)], 3:] == 7.0).all()
        found.append(rows[:, :3].copy())
    one, other = found
    bits = [rows.view(np.uint32)[[FACE, GEOMETRY, INSTANCE]][:, :2] for rows in found]
    assert (bits[0] == bits[1]).all()
    np.testing.assert_allclose(one[FAR], other[FAR], rtol=1e-6)
    np.testing.assert_allclose(one[NORMAL : V + 1, :2], other[NORMAL : V + 1, :2], rtol=1e-4, atol=1e-4)
    assert (one.view(np.uint32)[GEOMETRY, 2], other.view(np.uint32)[GEOMETRY, 2]) == (MISS, MISS)
    assert U + 1 == V


def test_an_occlusion_test_reports_whether_a_ray_hits_anything(tracer: Tracer) -> None:
    rays = np.array([[0.5, 1, -10, 0, 0, -1.0], [0.5, 1, -10, 0, 0, 1.0]])
    packet, valid = raw_packet(tracer, rays)
    send(tracer, RayScene(crowd(), tracer), packet, valid, 1)
    rows = packet[: ROWS * tracer.width].reshape(ROWS, tracer.width)
    assert rows[FAR, :2].tolist() == [-np.inf, np.inf]
    assert (rows[FAR, 2:] == 7.0).all()


# ------------------------------------------------------------------------------------------------ BVH


def leaves_of(mesh: Mesh) -> list[int]:
    """Return the faces in the leaves of a mesh's BVH, after a check that every box contains its children."""
    tree = build_bvh(mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32))
    links, corners = tree.nodes.view(np.int32), tree.triangles[:, :9].reshape(-1, 3, 3)
    faces: list[int] = []
    waiting = [(0, 1)]
    while waiting:
        node, depth = waiting.pop()
        assert depth <= 64
        low, high = tree.nodes[node, :3], tree.nodes[node, 3:6]
        first, count = int(links[node, FIRST]), int(links[node, COUNT])
        if count < 0:
            for child in (first, first + 1):
                assert (tree.nodes[child, :3] >= low).all() and (tree.nodes[child, 3:6] <= high).all()
                waiting.append((child, depth + 1))
        else:
            assert (corners[first : first + count] >= low).all() and (corners[first : first + count] <= high).all()
            faces.extend(tree.triangles.view(np.int32)[first : first + count, 9].tolist())
    return faces


def heap() -> Mesh:
    """Return a thousand identical triangles."""
    return Mesh(np.eye(3), np.tile(np.arange(3, dtype=np.int32), (1000, 1)))


def needle() -> Mesh:
    """Return triangles that are each a thousand times larger than the last, for which no even split is good."""
    sizes = 1000.0 ** np.arange(-6, 6)
    return Mesh((sizes[:, None, None] * np.eye(3)).reshape(-1, 3), np.arange(36, dtype=np.int32).reshape(-1, 3))


@pytest.mark.parametrize("make", [lambda: ground(25, 10.0), lambda: meshes.sphere(1.0), heap, needle])
def test_every_triangle_is_in_one_leaf_and_inside_its_boxes(make: Callable[[], Mesh]) -> None:
    mesh = make()
    assert sorted(leaves_of(mesh)) == list(range(len(mesh.faces)))


# ------------------------------------------------------------------------------------------------ frames


def columns(tracer: Tracer) -> RayScene:
    """Return a scene of three walls across x that always move together."""
    walls = [RayBody(f"w{i}", "", meshes.box((1.0, 2.0, 2.0)), (ROCK,), i, OBJECT_BIT) for i in range(3)]
    return RayScene(walls, tracer)


def walls_at(x: float) -> NDArray[np.float64]:
    return motion_of((x, -3, 0), (x, 0, 0), (x, 3, 0))


def reach_of(scene: RayScene, frame: skerry.rays.Frame) -> list[float]:
    """Return the distances along x from x = 0 to the three walls."""
    bundle = Bundle([[1, 0, 0]])
    return [float(bundle.cast(scene, frame, pose_at(0, y, 0), 1000.0).distance[0]) for y in (-3.1, 0.1, 3.1)]


def test_held_frames_keep_their_poses(tracer: Tracer) -> None:
    scene = columns(tracer)
    early, late = scene.frame(walls_at(10.0)), scene.frame(walls_at(20.0))
    assert early is not late
    assert reach_of(scene, early) == pytest.approx([9.5] * 3)
    assert reach_of(scene, late) == pytest.approx([19.5] * 3)
    assert reach_of(scene, early) == pytest.approx([9.5] * 3)
    view = RayCaster(scene, early, NO_MOTION, None)
    assert view.cast_sphere((0, 0, 0), (1, 0, 0), 0.5, 100.0).distance == pytest.approx(9.0)


def test_a_frame_without_users_is_reused(tracer: Tracer) -> None:
    scene = columns(tracer)
    frame = scene.frame(walls_at(10.0))
    scene.hold(frame)
    scene.release(frame)
    other = scene.frame(walls_at(20.0))
    assert other is not frame
    scene.release(frame)
    assert scene.frame(walls_at(30.0)) is frame
    assert reach_of(scene, frame) == pytest.approx([29.5] * 3)


def test_a_second_thread_never_sees_half_moved_bodies(tracer: Tracer) -> None:
    scene = columns(tracer)

    def check(seed: int) -> bool:
        for x in np.random.default_rng(seed).uniform(5.0, 50.0, 60):
            frame = scene.frame(walls_at(x))
            seen = reach_of(scene, frame)
            scene.release(frame)
            if seen != pytest.approx([x - 0.5] * 3, abs=1e-4):
                return False
        return True

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(check, range(3)))


def test_a_ray_caster_follows_the_world_and_a_held_frame_does_not() -> None:
    world = skerry.load("sam_empty")
    scene = world.ray_scene.scene
    first = world.ray_scene.view()
    held = scene.hold(first.frame)
    world.advance(0.1)
    second = world.ray_scene.view()
    assert second.frame is not held
    scene.release(held)
    assert world.ray_scene.view().frame is second.frame


# ------------------------------------------------------------------------------------------------ batches


def test_a_batch_of_casts_equals_single_casts(tracer: Tracer) -> None:
    """To the byte. The hits of samples that are not valid are not changed."""
    scene, bundle = RayScene(crowd(), tracer), Bundle(directions(300))
    motions = np.stack([CROWD_MOTION + k * np.array([0.7, -0.4, 0.2, *[0.0] * 10]) for k in range(4)])
    poses = [pose_at(0.5, 1.0 + k, -10.0) for k in range(4)]
    frames = scene.frames(motions)
    assert len({id(frame) for frame in frames}) == 4
    single_casts = [copied(bundle.cast(scene, frame, pose, 60.0)) for frame, pose in zip(frames, poses, strict=True)]
    assert len(set(single_casts)) == 4
    places = np.array([[*pose.position, *pose.orientation] for pose in poses])
    there = np.array([True, True, False, True])
    nothing = bundle.hits_buffer(4).distance[2] = np.pi
    views = RayCasterBatch(scene, contexts_of(frames), motions, np.arange(4), None)
    hits = views.cast(bundle, places, there, 60.0)
    assert [copied(hits[k]) == single_casts[k] for k in range(4)] == there.tolist()
    assert (hits.distance[2] == np.float32(nothing)).all()


def test_a_floor_omits_hits_below_it_and_changes_no_other_hit(tracer: Tracer) -> None:
    scene, bundle = RayScene(crowd(), tracer), Bundle(directions(3000))
    pose = pose_at(0.5, 1.0, -10.0)
    place, there = np.array([[*pose.position, *pose.orientation]]), np.array([True])
    views = RayCaster(scene, scene.frame(CROWD_MOTION), CROWD_MOTION, None).as_batch
    free = views.cast(bundle, place, there, 60.0).distance[0].copy()
    heights = pose.position[2] + free * bundle.world_directions(pose)[:, 2]
    floor = float(np.median(heights[np.isfinite(free)]))
    found = views.cast(bundle, place, there, 60.0, floors=np.array([floor])).distance[0].copy()
    above = np.isfinite(free) & (heights > floor + 1e-3)
    below = np.isfinite(free) & (heights < floor - 1e-3)
    assert above.sum() > 100 and below.sum() > 100
    assert found[above].tolist() == free[above].tolist()
    assert np.isposinf(found[below]).all()
    assert np.isposinf(found[~np.isfinite(free)]).all()


def copied(hits: Hits) -> bytes:
    return b"".join(part.tobytes() for part in (hits.distance, hits.normal, hits.material, hits.body))


def test_the_down_ray_of_a_bundle_points_straight_down(tracer: Tracer) -> None:
    """10 m above a plane, at any attitude; 32 bits leave an error of 1e-5 of 10 m."""
    floor = RayBody("floor", "", meshes.box((100, 100, 1)), (ROCK,))
    scene = RayScene([floor], tracer)
    view = RayCaster(scene, scene.frame(NO_MOTION), NO_MOTION, None)
    bundle = Bundle([[1, 0, -2], [0, 1, -2]], with_down_ray=True)
    assert len(bundle) == 3
    for attitude in np.random.default_rng(1).normal(size=(20, 4)):
        pose = Pose([0, 0, 10.5], attitude / np.linalg.norm(attitude))
        assert view.cast(bundle, pose, 1000.0).distance[2] == pytest.approx(10.0, abs=1e-4)
        assert bundle.world_directions(pose)[2].tolist() == [0.0, 0.0, -1.0]


def test_frames_of_past_samples_are_released() -> None:
    with skerry.load("sam_in_the_bay") as world:
        sensors = world.robots["sam"].sensors
        _ = sensors["dvl"].reading, sensors["sidescan"].reading
        for name in ("dvl", "sidescan"):
            sensors[name].deliver = lambda ticks, readings: None
        for _ in range(3):
            world.advance(0.5)
            frames = world.ray_scene.scene._frames
            assert sum(frame.users for frame in frames) == 1  # of the live state
        assert len(frames) == 11  # the largest number of samples with rays in a batch, and the live state


def test_the_number_of_frames_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings are the same if frames must be moved again for each sensor."""
    found = []
    for most in (64, 3):
        monkeypatch.setattr("skerry.world.sampling.sample_buffer.MAX_FRAMES", most)
        monkeypatch.setattr("skerry.sensors.raycast.ray_sensor.RaySensor.max_batch", 3)
        with skerry.load("sam_in_the_bay", overrides={"terrain": {"size": [60, 60]}}) as world:
            sensors, told = world.robots["sam"].sensors, []
            for name in ("dvl", "sidescan", "mbes"):
                sensors[name].deliver = lambda _, readings, told=told: told.extend(map(pickle.dumps, readings))
            world.advance(1.0)
            found.append(told)
            assert len(world.ray_scene.scene._frames) == {64: 20, 3: 3}[most]
    assert found[0] == found[1] and len(found[0]) == 40


# ------------------------------------------------------------------------------------------------ repeatability


def answer(bundle: Bundle, tracer: Tracer, threads: int) -> bytes:
    scene = RayScene(crowd(), tracer)
    hits = bundle.cast(scene, scene.frame(CROWD_MOTION), pose_at(0.5, 1.0, -10.0), 60.0, threads=threads)
    return b"".join(part.tobytes() for part in (hits.distance, hits.normal, hits.material, hits.body))


def test_a_scene_built_again_gives_the_same_bytes(tracer: Tracer) -> None:
    bundle = Bundle(directions(5000))
    assert answer(bundle, tracer, 1) == answer(bundle, tracer, 1)


@pytest.mark.parametrize("shared", [True, False])
def test_no_tile_is_taken_twice_and_none_is_left_out(shared: bool) -> None:
    tiles = new_tile_counter(shared)
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda _: next_tile(tiles, 16), range(2000)))
    assert sorted(taken) == list(range(0, 32_000, 16))


def test_threads_and_the_shape_of_a_bundle_do_not_change_a_byte(
    tracer: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skerry.rays.ray_caster.processors", lambda: 2)
    grid = directions(3 * SINGLE_THREAD_RAYS).reshape(3 * SINGLE_THREAD_RAYS // 64, 64, 3)
    flat = Bundle(grid.reshape(-1, 3))
    single_casts = answer(flat, tracer, 1)
    assert answer(flat, tracer, 2) == single_casts
    assert answer(Bundle(grid), tracer, 1) == single_casts
    assert answer(Bundle(grid), tracer, 2) == single_casts


# ------------------------------------------------------------------------------------------------ sphere casts


def test_a_sphere_that_touches_at_the_start_has_distance_0_unless_it_moves_away(tracer: Tracer) -> None:
    view = single(meshes.box((2, 2, 2)), tracer)
    inside = view.cast_sphere((0.2, 0.1, 1.3), (0, 0, -1), 0.5, 10.0)
    assert (inside.distance, inside.body, inside.material) == (0.0, 0, 0)
    np.testing.assert_allclose(inside.normal, [0, 0, 1])
    assert view.cast_sphere((0.2, 0.1, 1.3), (0.1, 0, 1), 0.5, 10.0).distance == np.inf


def test_a_sphere_can_move_away_from_its_contact(tracer: Tracer) -> None:
    view = single(ground(30, 60.0), tracer)
    for direction in directions(50) * [1, 1, 0.3] - [0, 0, 2]:
        there = direction / np.linalg.norm(direction)
        contact = view.cast_sphere((0, 0, -10), there, 0.2, 100.0)
        centre = np.array([0, 0, -10]) + contact.distance * there
        assert view.cast_sphere(centre, contact.normal, 0.2, 100.0).distance > 0.1


def test_a_sphere_without_a_contact_reports_a_miss(tracer: Tracer) -> None:
    view = single(meshes.box((2, 2, 2)), tracer)
    for start, far in (((0, 0, 5), 3.4), ((2.0, 0, 5), 100.0)):
        miss = view.cast_sphere(start, (0, 0, -1), 0.5, far)
        assert (miss.distance, miss.body, miss.material, miss.normal.tolist()) == (np.inf, -1, -1, [0, 0, 0])
    assert view.cast_sphere((0, 0, 5), (0, 0, -1), 0.5, 3.5).distance == 3.5


@pytest.mark.parametrize(
    ("start", "direction", "radius", "far"),
    [
        ((0, 0, np.nan), (0, 0, 1), 1.0, 1.0),
        ((0, 0), (0, 0, 1), 1.0, 1.0),
        ((0, 0, 0), (0, 0, 0), 1.0, 1.0),
        ((0, 0, 0), (0, 0, 1), 0.0, 1.0),
        ((0, 0, 0), (0, 0, 1), np.inf, 1.0),
        ((0, 0, 0), (0, 0, 1), 1.0, -1.0),
        ((0, 0, 0), (0, 0, 1), 1.0, np.nan),
    ],
)
def test_a_bad_sphere_cast_is_refused(
    tracer: Tracer, start: object, direction: object, radius: float, far: float
) -> None:
    with pytest.raises(SkerryError, match="sphere cast"):
        single(meshes.box((2, 2, 2)), tracer).cast_sphere(start, direction, radius, far)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ choosing a tracer


def test_without_embree_the_own_tracer_is_used_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def absent() -> Tracer:
        raise DependencyError("the package embreex cannot be imported (No module named 'embreex')")

    monkeypatch.delenv("SKERRY_TRACER", raising=False)
    monkeypatch.setattr(loading, "load_embree", absent)
    loading._fastest.cache_clear()
    try:
        with caplog.at_level(logging.INFO, "skerry"):
            tracer = loading.load_tracer()
            assert loading.load_tracer() is tracer
    finally:
        loading._fastest.cache_clear()
    assert tracer.name == "Skerry"
    (record,) = caplog.records
    assert record.getMessage() == (
        "Embree is not available (the package embreex cannot be imported (No module named 'embreex')); "
        "using Skerry's own ray tracer, at about half the speed"
    )


def run(program: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def test_a_machine_without_the_wheel_can_trace() -> None:
    output = run(
        "import sys; sys.modules['embreex'] = None\n"
        "from skerry.core.meshes import box\n"
        "from skerry.core.frames import Pose\n"
        "from skerry.rays import Bundle, RayBody, RayScene, load_tracer\n"
        "from skerry.terrain.materials import find_material\n"
        "import numpy as np\n"
        "scene = RayScene([RayBody('box', '', box((2, 2, 2)), (find_material('sand'),))], load_tracer())\n"
        "hits = Bundle([[1, 0, 0]]).cast(scene, scene.frame(np.zeros((0, 13))), Pose.identity(), 10.0)\n"
        "print(load_tracer().name, hits.distance[0])\n",
        SKERRY_TRACER="",
    )
    assert "Skerry 1.0" in output
    assert output.count("using Skerry's own ray tracer") == 1


def test_the_own_tracer_is_not_imported_if_embree_is_available(both: tuple[Tracer, Tracer]) -> None:
    program = "import sys, skerry.world; skerry.rays.load_tracer(); print('skerry.rays.own_tracer' in sys.modules)"
    assert run(program, SKERRY_TRACER="").strip() == "False"


def test_an_unknown_tracer_is_an_error_with_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKERRY_TRACER", "embre")
    with pytest.raises(UnknownName, match="unknown tracer 'embre'; did you mean 'embree'"):
        loading.load_tracer()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_can_trace_in_threads() -> None:
    output = run(
        "import os, warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np\n"
        "from skerry.core.frames import Pose\n"
        "from skerry.core.meshes import box\n"
        "from skerry.rays import Bundle, RayBody, RayScene, load_tracer, ray_caster\n"
        "from skerry.terrain.materials import find_material\n"
        "ray_caster.processors = lambda: 2\n"
        "scene = RayScene([RayBody('box', '', box((2, 2, 2)), (find_material('sand'),))], load_tracer())\n"
        "bundle = Bundle(np.tile([1.0, 0, 0], (20000, 1)))\n"
        "frame = scene.frame(np.zeros((0, 13)))\n"
        "cast = lambda: np.isfinite(bundle.cast(scene, frame, Pose.identity(), 10.0).distance).sum()\n"
        "cast()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    import signal; signal.alarm(60)\n"
        "    print('child', cast(), flush=True); os._exit(0)\n"
        "print('ended', os.waitpid(child, 0)[1])\n"
    )
    assert "child 20000" in output and "ended 0" in output
