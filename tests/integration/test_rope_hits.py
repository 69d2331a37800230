"""Ray hits on ropes: equal to a search through all pieces, for both tracers, any threads, and past samples."""

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
    """Return a scene with one rope; its state is the number of points, whether the ball is gone, and the points."""
    strand = Strand(0, 2, ROOM, RADIUS, BALL_RADIUS, (1, 1.0))
    return RayScene(bodies, tracer, [RayRope("ropes/line", (strand,), ROPE, BUOY)])


def state_of(points: NDArray[np.float64], ended: bool = False) -> NDArray[np.float64]:
    state = np.zeros(2 + 3 * ROOM)
    state[:2] = len(points), ended
    state[2 : 2 + points.size] = points.ravel()
    return state


def walk(count: int, seed: int = 1) -> NDArray[np.float64]:
    """Return a chain that bends at every point, a few metres away from the origin."""
    steps = np.random.default_rng(seed).normal([0.0, 0.1, 0.0], 0.1, (count, 3))
    return np.array([4.0, -3.0, 0.5]) + np.cumsum(steps, axis=0)


def gaps(points: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances of positions (n, 3) to the surface of the ball and of each segment, (n, pieces)."""
    starts, ends = np.concatenate([points[:1], points[:-1]]), np.concatenate([points[:1], points[1:]])
    lines, ways = ends - starts, places[:, None] - starts
    lengths = np.maximum((lines**2).sum(axis=1), 1e-300)
    shares = np.clip((ways * lines).sum(axis=2) / lengths, 0.0, 1.0)
    radii = np.full(len(points), RADIUS)
    radii[0] = BALL_RADIUS
    return np.asarray(np.linalg.norm(ways - shares[..., None] * lines, axis=2) - radii)


def test_rays_hit_a_rope_where_sphere_tracing_ends(tracer: Tracer) -> None:
    """A ray that steps by its distance to the rope never passes the surface (Hart 1996, Sphere tracing)."""
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
    np.testing.assert_allclose(off, 1e-3, rtol=0, atol=1e-5)  # normals point away from the surface
    assert set(hits.body[hit].tolist()) == {0} and scene.names == ("ropes/line",)


def test_the_nearest_of_rope_and_body_is_hit(tracer: Tracer) -> None:
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


def test_near_and_far_limits_apply(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    frame = scene.frame(NO_MOTION, state_of(np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])))
    ahead = [[1, 0, 0]]
    assert scene_hits(scene, frame, ahead, far=1.981).distance[0] == pytest.approx(1.98)
    assert scene_hits(scene, frame, ahead, far=1.979).distance[0] == np.inf
    assert scene_hits(scene, frame, ahead, near=1.979).distance[0] == pytest.approx(1.98)
    assert scene_hits(scene, frame, ahead, near=1.981).distance[0] == np.inf  # starts inside the rope


def test_the_state_decides_whether_a_rope_and_its_ball_exist(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    line = np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])
    rays = [[2, 0, 0], [2, -1, 0]]
    frame = scene.frame(NO_MOTION, state_of(line))
    assert [scene.materials[i].name for i in scene_hits(scene, frame, rays).material] == ["rope", "buoy"]
    scene.move(frame, NO_MOTION, state_of(line, ended=True))
    assert [scene.materials[i].name for i in scene_hits(scene, frame, rays).material] == ["rope", "rope"]
    scene.move(frame, NO_MOTION, state_of(line[:0]))
    assert np.isposinf(scene_hits(scene, frame, rays).distance).all()
    with pytest.raises(SkerryError, match="need states of the shape"):
        scene.move(frame, NO_MOTION)


def test_a_sensor_at_the_attachment_does_not_hit_the_rope_and_a_sensor_beside_it_does(tracer: Tracer) -> None:
    scene = scene_of(tracer)
    for away, seen in ((0.0, False), (0.9 * ATTACHMENT_RADIUS, False), (1.1 * ATTACHMENT_RADIUS, True)):
        line = np.array([[-1.0, 0.0, -1.0], [0.0, 0.0, -0.5], [away, 0.0, 0.0]])
        frame = scene.frame(NO_MOTION, state_of(line))
        rays = [[0.5 * away, 0, -0.25], [-1, 0, -1]]
        assert (scene_hits(scene, frame, rays).body >= 0).tolist() == [seen, seen]
    line = np.array([[0.0, 0.0, -0.2], [0.0, 0.0, -3.0]])  # the end with the ball is not an attachment
    assert scene_hits(scene, scene.frame(NO_MOTION, state_of(line)), [[0, 0, -1]]).body.tolist() == [0]


def test_sphere_casts_ignore_ropes(tracer: Tracer) -> None:
    scene = scene_of(tracer, RayBody("wall", "", meshes.transform(meshes.box((0.2, 9, 9)), (3.0, 0.0, 0.0)), (ROCK,)))
    frame = scene.frame(NO_MOTION, state_of(np.array([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0]])))
    contact = RayCaster(scene, frame, NO_MOTION, None).cast_sphere((0, 0, 0), (1, 0, 0), 0.1, 10.0)
    assert contact.body == 0 and contact.distance == pytest.approx(2.8)


def test_many_rays_give_the_same_bytes_for_any_order_and_number_of_threads(tracer: Tracer) -> None:
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
    """Return all readings among moving ropes, with the given number of calls of `advance`."""
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
def test_past_samples_see_ropes_at_their_past_positions() -> None:
    """Batched samples, stops for every sample, and a restored world give the same bytes."""
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
        assert len({mask.tobytes() for mask in seen}) > 3  # the rope moves
        assert label in pictures[0].labels[seen[0]]
    assert {found.name for picture in pictures for found in picture.detections} <= {"diver"}


def view_of(world: World, rays: Any, position: tuple[float, float, float]) -> Any:
    return world.ray_scene.view().cast(Bundle(rays), pose_at(*position), 50.0)


def test_rays_hit_a_rope_at_its_new_position_after_attach_release_and_winding() -> None:
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
        assert view_of(world, ahead, beside).body[0] == -1  # the rope does not exist yet
        world.ropes["line"].attach((0.0, 4.0, 5.0))
        hits = view_of(world, ahead, beside)
        assert world.ray_scene.scene.names[hits.body[0]] == "ropes/line"
        world.ropes["line"].release()
        world.advance(1.0)
        assert view_of(world, ahead, beside).body[0] == -1


def test_rays_hit_both_sides_of_a_rope_on_a_hook_and_the_hook_while_it_exists() -> None:
    """Rays from the side hit each segment in all phases of a hook, with the name of its own rope."""
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
    """Return all hits other than the rope on rays from the side to its segments outside of the hook."""
    points, found = world.ropes[name].points, set()
    for middle in 0.5 * (points[1:] + points[:-1]):
        if np.linalg.norm(middle - world.ropes["crane"].end) > 0.1:
            hits = view_of(world, [[0, 1, 0]], tuple(middle - [0, 2, 0]))
            found.add(world.ray_scene.scene.names[hits.body[0]] if hits.body[0] >= 0 else "nothing")
    return found - {f"ropes/{name}"}
