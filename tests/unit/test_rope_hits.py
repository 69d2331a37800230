"""Ropes for rays: as exact as a search through all their pieces, the same for both tracers, threads, and the past."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import skerry
from skerry.core import meshes
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.rays import Bundle, RayBody, RayCaster, RayRope, RayScene, Strand, robot_bit
from skerry.rays.rope_hits import ATTACHMENT_RADIUS
from skerry.rays.tracer import Tracer
from skerry.ropes import layout as at
from skerry.terrain.materials import find_material
from skerry.world import World

ROPE, BUOY, ROCK = (find_material(name) for name in ("rope", "buoy", "rock"))
NO_MOTION = np.zeros((0, 13))
RADIUS, BALL_RADIUS, ROOM = 0.02, 0.15, 60


def pose_at(x: float, y: float, z: float) -> Pose:
    return Pose(np.array([x, y, z]), np.array([0.0, 0.0, 0.0, 1.0]))


def scene_of(tracer: Tracer, *bodies: RayBody) -> RayScene:
    """One rope; the state is the number of its points, whether its ball is gone, and the points."""
    strand = Strand(0, 2, ROOM, RADIUS, BALL_RADIUS, (1, 1.0))
    return RayScene(bodies, tracer, [RayRope("ropes/line", (strand,), ROPE, BUOY)])


def state_of(points: NDArray[np.float64], ended: bool = False) -> NDArray[np.float64]:
    state = np.zeros(2 + 3 * ROOM)
    state[:2] = len(points), ended
    state[2 : 2 + points.size] = points.ravel()
    return state


def walk(count: int, seed: int = 1) -> NDArray[np.float64]:
    """A chain that turns at every point, a few metres away from the origin."""
    steps = np.random.default_rng(seed).normal([0.0, 0.1, 0.0], 0.1, (count, 3))
    return np.array([4.0, -3.0, 0.5]) + np.cumsum(steps, axis=0)


def gaps(points: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far places (n, 3) are from the surface of the ball and of each segment, (n, pieces)."""
    starts, ends = np.concatenate([points[:1], points[:-1]]), np.concatenate([points[:1], points[1:]])
    lines, ways = ends - starts, places[:, None] - starts
    lengths = np.maximum((lines**2).sum(axis=1), 1e-300)
    shares = np.clip((ways * lines).sum(axis=2) / lengths, 0.0, 1.0)
    radii = np.full(len(points), RADIUS)
    radii[0] = BALL_RADIUS
    return np.asarray(np.linalg.norm(ways - shares[..., None] * lines, axis=2) - radii)


def test_rays_meet_a_rope_where_steps_to_its_surface_lead(tracer: Tracer) -> None:
    """A ray that goes on by as much as it is away from all of it never passes a surface (Hart 1996, Sphere tracing)."""
    points = walk(40)
    scene = scene_of(tracer)
    view = RayCaster(scene, scene.frame(NO_MOTION, state_of(points)), NO_MOTION, None)
    random = np.random.default_rng(2)
    bundle = Bundle(points[random.integers(len(points), size=400)] + random.normal(0.0, 0.03, (400, 3)))
    hits, rays = view.cast(bundle, pose_at(0, 0, 0), 100.0), bundle.directions.T.astype(np.float64)
    way = np.zeros(len(rays))
    for _ in range(400):
        way = np.minimum(way + gaps(points, way[:, None] * rays).min(axis=1), 50.0)
    last = gaps(points, way[:, None] * rays)
    met, hit = last.min(axis=1) < 1e-6, np.isfinite(hits.distance)
    assert 0.3 < met.mean() < 0.95
    assert (met == hit).all()
    steep = hit & (np.abs((hits.normal.T * rays).sum(axis=1)) > 0.1)
    np.testing.assert_allclose(hits.distance[steep], way[steep], rtol=0, atol=1e-5)
    balls = np.array([view.materials[i].name == "buoy" for i in hits.material[hit]])
    assert (balls == (last[hit].argmin(axis=1) == 0)).all() and 0 < balls.sum() < hit.sum()
    off = gaps(points, hits.distance[steep, None] * rays[steep] + 1e-3 * hits.normal.T[steep])
    off = np.take_along_axis(off, last[steep].argmin(axis=1)[:, None], axis=1)
    np.testing.assert_allclose(off, 1e-3, rtol=0, atol=1e-5)  # normals lead straight off it
    assert set(hits.body[hit].tolist()) == {0} and scene.names == ("ropes/line",)


def test_what_is_nearer_than_a_rope_hides_it_and_a_rope_hides_what_is_behind_it(tracer: Tracer) -> None:
    wall = RayBody("wall", "", meshes.transform(meshes.box((0.2, 9, 9)), (3.0, 0.0, 0.0)), (ROCK,))
    scene = scene_of(tracer, wall)
    for x, body in ((2.0, 1), (4.0, 0)):
        line = np.array([[x, -1.0, 0.0], [x, 0.3, 0.0], [x, 1.0, 0.0]])
        frame = scene.frame(NO_MOTION, state_of(line))
        hits = scene_hits(scene, frame, [[1, 0, 0], [1, 0, 0.05]])
        assert hits.body.tolist() == [body, 0]
        assert hits.distance[0] == pytest.approx(min(x - RADIUS, 2.9), abs=1e-6)
    assert scene.names == ("wall", "ropes/line")


def scene_hits(scene: RayScene, frame: Any, rays: Any, near: float = 0.0, far: float = 100.0) -> Any:
    return RayCaster(scene, frame, NO_MOTION, robot_bit(0)).cast(Bundle(rays), pose_at(0, 0, 0), far, near)


def test_near_and_far_are_honoured(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    frame = scene.frame(NO_MOTION, state_of(np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])))
    ahead = [[1, 0, 0]]
    assert scene_hits(scene, frame, ahead, far=1.981).distance[0] == pytest.approx(1.98)
    assert scene_hits(scene, frame, ahead, far=1.979).distance[0] == np.inf
    assert scene_hits(scene, frame, ahead, near=1.979).distance[0] == pytest.approx(1.98)
    assert scene_hits(scene, frame, ahead, near=1.981).distance[0] == np.inf  # what begins in it looks out of it


def test_a_rope_and_its_ball_come_and_go_with_the_state(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    line = np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])
    rays = [[2, 0, 0], [2, -1, 0]]
    frame = scene.frame(NO_MOTION, state_of(line))
    assert [scene.materials[i].name for i in scene_hits(scene, frame, rays).material] == ["rope", "buoy"]
    scene.move(frame, NO_MOTION, state_of(line, ended=True))
    assert [scene.materials[i].name for i in scene_hits(scene, frame, rays).material] == ["rope", "rope"]
    scene.move(frame, NO_MOTION, state_of(line[:0]))
    assert np.isposinf(scene_hits(scene, frame, rays).distance).all()
    with pytest.raises(SkerryError, match="need a state of"):
        scene.move(frame, NO_MOTION)


def test_who_sits_where_a_rope_is_tied_looks_past_it_and_whoever_sits_beside_it_does_not(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    for away, seen in ((0.0, False), (0.9 * ATTACHMENT_RADIUS, False), (1.1 * ATTACHMENT_RADIUS, True)):
        line = np.array([[-1.0, 0.0, -1.0], [0.0, 0.0, -0.5], [away, 0.0, 0.0]])
        frame = scene.frame(NO_MOTION, state_of(line))
        rays = [[0.5 * away, 0, -0.25], [-1, 0, -1]]
        assert (scene_hits(scene, frame, rays).body >= 0).tolist() == [seen, seen]
    line = np.array([[0.0, 0.0, -0.2], [0.0, 0.0, -3.0]])  # a ball is not where it is held
    assert scene_hits(scene, scene.frame(NO_MOTION, state_of(line)), [[0, 0, -1]]).body.tolist() == [0]


def test_spheres_pass_ropes(tracer: Tracer) -> None:
    scene = scene_of(tracer, RayBody("wall", "", meshes.transform(meshes.box((0.2, 9, 9)), (3.0, 0.0, 0.0)), (ROCK,)))
    frame = scene.frame(NO_MOTION, state_of(np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])))
    contact = RayCaster(scene, frame, NO_MOTION, None).cast_sphere((0, 0, 0), (1, 0, 0), 0.1, 10.0)
    assert contact.body == 0 and contact.distance == pytest.approx(2.8)


def test_many_rays_give_the_same_bytes_in_every_order_and_number_of_threads(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    frame = scene.frame(NO_MOTION, state_of(walk(40)))
    aims = np.stack([np.full((96, 128), 4.0), *np.meshgrid(np.linspace(-4, 4, 128), np.linspace(-2, 2, 96))], axis=-1)
    found = []
    for rays, threads in ((aims, 1), (aims, 0), (aims.reshape(-1, 3), 1)):
        hits = Bundle(rays).cast(scene, frame, pose_at(0, 0, 0), 50.0, threads=threads)
        found.append([part.tobytes() for part in (hits.distance, hits.normal, hits.material, hits.body)])
        assert (hits.body == 0).sum() > 20
    assert found[0] == found[1] == found[2]


# ------------------------------------------------------------------------------------------------ in worlds

MOUNT = {"link": "base_link", "frequency": 20}
SENSORS = {
    "camera": {**MOUNT, "kind": "camera", "width": 64, "height": 48, "detections": True},
    "fls": {**MOUNT, "kind": "fls", "beams": 32, "rays_per_beam": 24, "bins": 60, "max_range": 12},
    "mbes": {**MOUNT, "kind": "mbes"},
    "dvl": {**MOUNT, "kind": "dvl"},
    "lidar": {**MOUNT, "kind": "lidar", "pattern": "vlp_16", "columns": 180, "position": [0, 0, 6]},
}
AMONG_ROPES = {
    "terrain": {"kind": "flat", "z": -8},
    "water": {"surface": {"kind": "waves", "height": 0.3, "period": 3, "heading_deg": 0}},
    "robots": {
        "diver": {
            "vehicle": "torpedo",
            "pose": {"position": [0, 0, -3]},
            "overrides": {
                "sensors": SENSORS,
                "ropes": {"tail": {"start": "base_link", "length": 2, "diameter": 0.03, "direction": [0, 0, -1]}},
            },
        }
    },
    "ropes": {
        "line": {"start": [4, -2, -2], "end": [4, 2, -3], "length": 5, "diameter": 0.05},
        "float": {"start": [3, 1, -4], "length": 2, "density": 1300, "buoy": {"mass": 0.3, "radius": 0.2}},
        "high": {"start": [5, -5, 4], "end": [5, 5, 4], "length": 10.4, "diameter": 0.05, "density": 1300},
    },
}


def readings_of(pieces: int, stop: bool = False, restore: bool = False) -> dict[tuple[str, int], Any]:
    """All that is read among ropes that move, in so many calls."""
    found: dict[tuple[str, int], Any] = {}
    with skerry.load(AMONG_ROPES, seed=1) as world:
        sensors = world.robots["diver"].sensors
        for name in SENSORS:
            if stop:
                sensors[name].sensor.execution = "now"
            sensors[name].deliver = lambda ticks, readings, name=name: found.update(
                {(name, tick): reading for tick, reading in zip(ticks, readings, strict=True)}
            )
        world._group_sensors()
        if restore:
            start = world.snapshot()
            world.advance(0.7)
            world.restore(start)
            found.clear()
        for _ in range(pieces):
            world.advance_steps(180 // pieces)
        for name in SENSORS:
            sensors[name].finish()
    return found


@pytest.mark.usefixtures("tracer")
def test_ropes_are_seen_where_they_were() -> None:
    """When sensors look back, when the world stops for each, and after it was set back: the same bytes."""
    found = readings_of(1)
    expected = {key: pickle.dumps(reading) for key, reading in found.items()}
    for way in ({"pieces": 9}, {"pieces": 180}, {"pieces": 1, "stop": True}, {"pieces": 1, "restore": True}):
        again = readings_of(**way)  # type: ignore[arg-type]
        assert {key: pickle.dumps(reading) for key, reading in again.items()} == expected, way
    pictures = [reading for (name, _), reading in sorted(found.items()) if name == "camera"]
    names = pictures[0].body_names
    assert names[-4:] == ("ropes/diver/tail", "ropes/line", "ropes/float", "ropes/high")
    for name, label in (("line", 4), ("float", 3)):
        seen = [picture.bodies == names.index(f"ropes/{name}") for picture in pictures]
        assert all(mask.any() for mask in seen)
        assert len({mask.tobytes() for mask in seen}) > 3  # it moves
        assert label in pictures[0].labels[seen[0]]
    assert {found.name for picture in pictures for found in picture.detections} <= {"diver"}


def view_of(world: World, rays: Any, position: tuple[float, float, float]) -> Any:
    return world.ray_scene.view().cast(Bundle(rays), pose_at(*position), 50.0)


def test_a_rope_is_seen_where_it_is_after_it_was_tied_let_go_or_wound_in() -> None:
    winch = {"kind": "winch", "link": "base_link", "rope_length": 10, "target_length": 2, "speed": 5}
    lift = {"start": "base_link", "winch": "winch", "direction": [0, 0, -1], "density": 1140, "hook": {"radius": 0.1}}
    crane = {
        "vehicle": "torpedo",
        "anchored": True,
        "pose": {"position": [0, 0, 8]},
        "overrides": {"actuators": {"winch": winch}, "ropes": {"lift": lift}},
    }
    line = {"start": [0, 3, 5], "end": [0, 4, 5], "length": 1, "setup_on_start": False}
    with skerry.load({"robots": {"crane": crane}, "ropes": {"line": line}}) as world:
        ahead, here = [[1, 0, 0]], (-3.0, 0.0, 6.0)
        hits = view_of(world, ahead, here)
        view = world.ray_scene.view()
        assert view.materials[hits.material[0]].name == "metal"
        assert hits.distance[0] == pytest.approx(2.9, abs=1e-6)
        world.robots["crane"].actuators["winch"].command(length=4.0)
        world.advance(3.0)
        hits = view_of(world, ahead, here)
        assert view.materials[hits.material[0]].name == "rope"
        assert hits.distance[0] == pytest.approx(3.0 - 0.005, abs=2e-3)
        beside = (-3.0, 3.5, 5.0)
        assert view_of(world, ahead, beside).body[0] == -1  # it is not there yet
        world.ropes["line"].attach((0.0, 4.0, 5.0))
        hits = view_of(world, ahead, beside)
        assert world.ray_scene.scene.names[hits.body[0]] == "ropes/line"
        world.ropes["line"].release()
        world.advance(1.0)
        assert view_of(world, ahead, beside).body[0] == -1


def test_a_rope_on_a_hook_is_seen_on_both_sides_and_the_hook_until_it_is_gone() -> None:
    """Along the whole life of a hook: each segment is met from beside, under its own rope's name."""
    hook = {"start": [0, 0, 10], "length": 1, "direction": [0, 0, -1], "stiffness": 1e6, "hook": {"mass": 0.2}}
    line = {"start": [1.5, 0, 8.995], "length": 3, "direction": [-1, 0, 0], "buoy": {"mass": 0.1}}
    with skerry.load({"ropes": {"crane": hook, "line": line}}) as world:
        crane, names = world.ropes["crane"], world.ray_scene.scene.names
        assert crane.phase == "hanging"
        assert _beside(world, "crane") == _beside(world, "line") == set()
        world.advance(0.05)
        assert crane.phase == "pulley" and len(world.ropes["line"].points) > 20
        assert _beside(world, "crane") == _beside(world, "line") == set()
        hits = view_of(world, [[0, 1, 0]], tuple(crane.end - [0, 2, 0]))
        assert (names[hits.body[0]], hits.distance[0]) == ("ropes/crane", pytest.approx(1.95, abs=1e-5))
        crane._memory[at.PHASE] = at.CARRYING
        assert view_of(world, [[0, 1, 0]], tuple(crane.end - [0, 2, 0])).distance[0] > 1.99


def _beside(world: World, name: str) -> set[str]:
    """What else than a rope, or nothing, is met where its segments outside of the hook are seen from beside."""
    points, found = world.ropes[name].points, set()
    for middle in 0.5 * (points[1:] + points[:-1]):
        if np.linalg.norm(middle - world.ropes["crane"].end) > 0.1:
            hits = view_of(world, [[0, 1, 0]], tuple(middle - [0, 2, 0]))
            found.add(world.ray_scene.scene.names[hits.body[0]] if hits.body[0] >= 0 else "nothing")
    return found - {f"ropes/{name}"}
