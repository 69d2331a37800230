"""Force fields on bodies: the force in newtons is proportional to the fraction of the body inside, for any body."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.core import meshes

RHO, G = 1025.0, 9.81
LINK = {"mass": 8.0, "inertia": [0.3, 0.5, 0.4]}
FOUR = [[0.3, 0, 0], [0.1, 0, 0], [-0.1, 0, 0], [-0.3, 0, 0]]
NEUTRAL = 8.0 / RHO
FIELD = {"kind": "vector", "vector": [0, 1, 0], "magnitude": 6.0}


def _box(center, size, **more):
    return {"kind": "box", "center": center, "size": size, **more}


@pytest.fixture
def craft(load, vehicle):
    """Load a neutrally buoyant craft of one link with force points, in a world with fields."""

    def build(fields, points=FOUR, position=(0.0, 0.0, -5.0), laws=None, **scenario):
        law = {"kind": "force_points", "link": "hull", "points": points, "volume": NEUTRAL}
        path = vehicle({"hull": LINK}, {"points": law} | (laws or {}))
        robot = {"vehicle": path, "pose": {"position": list(position)}}
        return load({"robots": {"craft": robot}, "fields": fields, **scenario})

    return build


def _first_acceleration(world, name="craft"):
    """Linear in the world's axes, angular in the body's."""
    world.advance_steps(1)
    tree = dict.get(world.robots, name) or world.objects[name]
    return tree.pose.rotation @ tree.twist.linear / world.time, tree.twist.angular / world.time


# ------------------------------------------------------------------------------------------------ static fields


@pytest.mark.parametrize("count", [1, 4, 64, 65, 200])
def test_a_body_that_lies_wholly_inside_feels_the_whole_force_however_many_points_it_has(craft, count):
    """a = F/m, N shares of F/N; to rounding."""
    angle = np.arange(count) * 2 * np.pi / count
    ring = 0.1 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) if count > 1 else np.zeros((1, 3))
    world = craft({"push": {**FIELD, "volume": _box([0, 0, -5], [2, 2, 2])}}, ring.tolist())
    linear, angular = _first_acceleration(world)
    assert linear == pytest.approx([0.0, 6.0 / 8.0, 0.0], abs=1e-10)
    assert angular == pytest.approx(np.zeros(3), abs=1e-10)


@pytest.mark.parametrize("held", [0, 1, 2, 3, 4])
def test_a_body_that_is_partly_inside_feels_its_share_and_turns(craft, held):
    """F · n/N at the n points inside, and their moment about the centre of mass."""
    reach = [0.5, 0.2, 0.0, -0.2, -0.4][held]  # the box ends here, and begins far ahead
    volume = _box([5.0 + reach, 0, -5], [10, 2, 2])
    linear, angular = _first_acceleration(craft({"push": {**FIELD, "volume": volume}}))
    assert linear[1] == pytest.approx(6.0 * held / 4 / 8.0, abs=1e-10)
    moment = sum(1.5 * point[0] for point in FOUR[:held])
    assert angular[2] == pytest.approx(moment / LINK["inertia"][2], abs=1e-9)


def test_the_readable_forces_of_the_points_include_the_field(craft):
    """ρ g V/N upwards and F/N across, at the points inside only."""
    world = craft({"push": {**FIELD, "volume": _box([5, 0, -5], [10, 2, 2])}})
    world.advance_steps(1)
    lift = 8.0 * G / 4
    expected = [[0, 1.5, lift], [0, 1.5, lift], [0, 0, lift], [0, 0, lift]]
    assert world.robots["craft"].forces["points"].forces == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("kind", ["box", "turned box", "sphere", "cylinder", "mesh"])
def test_every_volume_holds_what_is_in_it_and_nothing_else(load, tmp_path, kind):
    """Three balls: one in the middle, one far outside, one outside the rotated box but inside the unrotated one."""
    volumes = {
        "box": _box([0, 0, -5], [6, 6, 2]),
        "turned box": _box([0, 0, -5], [6, 6, 2], yaw_deg=45),
        "sphere": {"kind": "sphere", "center": [0, 0, -5], "radius": 3.0},
        "cylinder": {"kind": "cylinder", "center": [0, 0, -5], "radius": 3.0, "height": 2.0},
    }
    if kind == "mesh":
        mesh = meshes.box((6.0, 6.0, 2.0))
        lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices.tolist()]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces.tolist()]
        (tmp_path / "block.obj").write_text("\n".join(lines))
        volumes["mesh"] = {"kind": "mesh", "file": str(tmp_path / "block.obj"), "position": [0, 0, -5]}
    places = {"middle": [0.3, 0.2, -5], "corner": [2.5, 2.5, -5], "out": [5, 0, -5]}
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    objects = {name: {**ball, "pose": {"position": place}} for name, place in places.items()}
    world = load({"objects": objects, "fields": {"push": {**FIELD, "volume": volumes[kind]}}})
    world.advance_steps(1)
    found = {name: world.objects[name].twist.linear[1] / world.time for name in places}
    corner = kind in {"box", "mesh"}
    assert found["middle"] == pytest.approx(1.5, rel=1e-9)
    assert found["corner"] == pytest.approx(1.5 if corner else 0.0, rel=1e-9, abs=1e-12)
    assert found["out"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("kind", "sign"), [("attraction", -1.0), ("repulsion", 1.0)])
def test_a_central_field_moves_a_body_from_or_to_its_centre(craft, kind, sign):
    """a = ± F/m along the line to the centre for a body that is one point, at any distance."""
    for place in ([3.0, 4.0, -5.0], [0.6, 0.8, -5.0]):
        volume = {"kind": "sphere", "center": [0, 0, -5], "radius": 9.0}
        world = craft({"centre": {"kind": kind, "magnitude": 4.0, "volume": volume}}, [[0, 0, 0]], place)
        linear, _ = _first_acceleration(world)
        assert linear == pytest.approx(sign * 0.5 * np.array([0.6, 0.8, 0.0]), abs=1e-10)


@pytest.mark.parametrize(
    ("flag", "z", "share"),
    [
        ("only_underwater", -5.0, 1.0),
        ("only_underwater", 5.0, 0.0),
        ("only_underwater", 0.0, 0.5),
        ("only_above_water", -5.0, 0.0),
        ("only_above_water", 5.0, 1.0),
        ("only_above_water", 0.0, 0.5),
    ],
)
def test_a_field_only_under_or_above_water_depends_on_the_surface_at_each_point(craft, flag, z, share):
    """Two points of four are under water: half the force."""
    points = [[0.1, 0, 0.2], [-0.1, 0, 0.2], [0.1, 0, -0.2], [-0.1, 0, -0.2]]
    field = {**FIELD, "volume": {"kind": "sphere", "center": [0, 0, 0], "radius": 50.0}, flag: True}
    linear, _ = _first_acceleration(craft({"push": field}, points, (0.0, 0.0, z)))
    assert linear[1] == pytest.approx(share * 6.0 / 8.0, abs=1e-10)


def test_in_waves_a_field_only_under_water_follows_the_surface(craft):
    """The same point is under water and above it as the wave passes."""
    field = {**FIELD, "volume": {"kind": "sphere", "center": [0, 0, 0], "radius": 50.0}, "only_underwater": True}
    for phase, expected in ((0.0, 6.0), (180.0, 0.0)):
        wave = {"kind": "waves", "spectrum": "regular", "height": 1.0, "period": 6.0, "heading_deg": 90.0}
        world = craft({"push": field}, [[0, 0, 0]], (0.0, 0.0, 0.0), water={"surface": {**wave, "phase_deg": phase}})
        world.advance_steps(1)
        assert world.robots["craft"].forces["points"].forces[0, 1] == pytest.approx(expected, abs=1e-9)


def test_overlapping_fields_add_up(craft):
    fields = {
        "north": {**FIELD, "volume": _box([0, 0, -5], [4, 4, 4])},
        "east": {"kind": "vector", "vector": [1, 0, 0], "magnitude": 2.0, "volume": _box([0, 0, -5], [3, 3, 3])},
        "away": {**FIELD, "volume": _box([20, 0, -5], [4, 4, 4])},
    }
    linear, _ = _first_acceleration(craft(fields))
    assert linear == pytest.approx([2.0 / 8.0, 6.0 / 8.0, 0.0], abs=1e-10)


def test_the_terminal_speed_in_a_field_is_its_force_over_the_drag(craft):
    """0 = F − d v: v = F/d, reached to e^{-t d/m}."""
    drag = {"damping": {"kind": "damping", "link": "hull", "linear": [12.0] * 6}}
    volume = {"kind": "sphere", "center": [0, 0, -5], "radius": 500.0}
    world = craft({"push": {**FIELD, "volume": volume}}, laws=drag)
    world.advance(20.0)
    assert world.robots["craft"].twist.linear == pytest.approx([0.0, 6.0 / 12.0, 0.0], abs=1e-9)


def test_a_field_is_a_force_and_no_flow(craft):
    """A field does not move the water."""
    world = craft({"push": {**FIELD, "volume": _box([0, 0, -5], [4, 4, 4])}})
    assert not world.sample_water([0.0, 0.0, -5.0]).velocity.any()


def test_objects_and_robots_feel_a_field_alike(load, vehicle):
    """a = F/m each: the whole force acts on every body inside, it is not shared among them."""
    law = {"kind": "force_points", "link": "hull", "points": FOUR, "volume": NEUTRAL}
    robot = {"vehicle": vehicle({"hull": LINK}, {"points": law}), "pose": {"position": [0, 0, -5]}}
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    ball["pose"] = {"position": [0, 2, -5]}
    field = {**FIELD, "volume": _box([0, 0, -5], [9, 9, 9])}
    world = load({"robots": {"craft": robot}, "objects": {"ball": ball}, "fields": {"push": field}})
    world.advance_steps(1)
    assert world.robots["craft"].twist.linear[1] / world.time == pytest.approx(6.0 / 8.0, rel=1e-9)
    assert world.objects["ball"].twist.linear[1] / world.time == pytest.approx(6.0 / 4.0, rel=1e-9)


# ------------------------------------------------------------------------------------------------ propellers


@pytest.fixture
def blowing(load, vehicle):
    """An anchored craft at the origin's depth with a propeller that pushes east, and a ball somewhere about it."""

    def build(place, field=None, rpm=500.0, target="object", z=-5.0, **scenario):
        law = {"kind": "force_points", "link": "hull", "points": FOUR, "volume": NEUTRAL}
        path = vehicle({"hull": LINK}, {"points": law})
        propeller = {"kind": "propeller", "link": "hull", "position": [-0.5, 0, 0], "rpm_to_force": 0.004}
        propeller |= {"maximum_rpm": 1000, "medium": "air" if z > 0 else "water"}
        if field is not None:
            propeller["field"] = {"model": "cone", **field}
        robot = {"vehicle": path, "pose": {"position": [0, 0, z]}, "anchored": True}
        robot["overrides"] = {"actuators": {"prop": propeller}}
        position = [-0.5 + place[0], place[1], z + place[2]]
        whole = {"robots": {"blower": robot}, "gravity": 0.0, **scenario}
        if target == "object":
            ball = {"geometry": {"kind": "sphere", "radius": 0.01}, "motion": "dynamic", "mass": 2.0}
            whole["objects"] = {"target": {**ball, "pose": {"position": position}}}
        else:
            point = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 0.001}
            other = vehicle({"hull": {**LINK, "mass": 2.0}}, {"points": point})
            whole["robots"]["target"] = {"vehicle": other, "pose": {"position": position}}
        world = load(whole)
        world.robots["blower"].actuators["prop"].command(rpm=rpm)
        return world

    return build


def _push(world):
    """The force on the target, once the propeller turns, from the change of its speed in one step."""
    world.advance_steps(2)
    target = dict.get(world.robots, "target") or world.objects["target"]
    before = target.twist.linear
    world.advance_steps(1)
    return 2.0 * (target.twist.linear - before) * 200.0


CAP = {"force_magnitude_cap": 50.0}
CONE = {"model": "cone", **CAP}
JET = {"model": "jet"}


@pytest.mark.parametrize("target", ["object", "robot"])
def test_the_wash_pushes_others_away_by_thrust_over_distance(blowing, target):
    """T = 0.004 · 500 = 2 N; F = T/r · r/|r| behind the propeller; the ball's own size is 1 % of r."""
    for place in ([-1.0, 0, 0], [-2.0, 0.5, 0.0], [-4.0, 0, -1.0]):
        r = np.array(place)
        assert _push(blowing(place, CAP, target=target)) == pytest.approx(2.0 * r / (r @ r), rel=2e-3, abs=2e-3)


def test_the_suction_ahead_pulls_towards_the_propeller(blowing):
    """F = −T/r along the shaft."""
    found = _push(blowing([3.0, 0.6, 0], CAP))
    assert found == pytest.approx([-2.0 / np.hypot(3.0, 0.6), 0.0, 0.0], rel=2e-3, abs=1e-6)


def test_the_field_of_a_propeller_is_capped(blowing):
    """min(T/r, cap): 2 N at 0.5 m would be 4 N."""
    assert _push(blowing([-0.5, 0, 0], {"force_magnitude_cap": 1.5})) == pytest.approx([-1.5, 0.0, 0.0], abs=2e-3)


@pytest.mark.parametrize("place", [[-2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [-5.2, 0.0, 0.0], [5.2, 0.0, 0.0]])
def test_beside_the_cone_and_beyond_its_length_is_nothing(blowing, place):
    """26.6° and 90° off a cone of 20°, and past 5 m either way."""
    assert not _push(blowing(place, CAP)).any()


@pytest.mark.parametrize("rpm", [0.0, -500.0])
def test_a_propeller_that_does_not_push_forwards_has_no_field(blowing, rpm):
    assert not _push(blowing([-1.0, 0, 0], CAP, rpm=rpm)).any()
    assert not _push(blowing([1.0, 0, 0], CAP, rpm=rpm)).any()


def test_without_the_setting_a_propeller_has_no_field(blowing):
    assert not _push(blowing([-1.0, 0, 0], None)).any()


def test_a_propeller_never_blows_on_the_vehicle_that_carries_it(blowing):
    """Points ahead of the propeller lie in its suction cone, but get no force from their own vehicle's field."""
    found = []
    for field in (None, {"force_magnitude_cap": 50.0, "length": 20.0, "half_angle_deg": 80.0}):
        world = blowing([-1.0, 0, 0], field)
        world.advance_steps(5)
        found.append(world.robots["blower"].forces["points"].forces)
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize(
    ("flag", "z", "felt"),
    [
        ("only_underwater", -5.0, True),
        ("only_above_water", -5.0, False),
        ("only_underwater", 5.0, False),
        ("only_above_water", 5.0, True),
    ],
)
def test_a_propellers_field_may_be_of_one_medium(blowing, flag, z, felt):
    assert _push(blowing([-1.0, 0, 0], {**CAP, flag: True}, z=z)).any() == felt


def test_the_tip_of_the_cone_may_lie_ahead_of_the_propeller(blowing):
    """r is measured from the tip: with the tip 1 m ahead, a distance of 1 m becomes 2 m."""
    found = _push(blowing([-1.0, 0, 0], {**CAP, "cone_tip": 1.0}))
    assert found[0] == pytest.approx(-2.0 / 2.0, rel=2e-3)


def test_the_field_grows_with_the_thrust(blowing):
    """F = T/r; by the third step the stronger push has moved the ball by 1e-5 of r."""
    weak, strong = (_push(blowing([-2.0, 0, 0], CAP, rpm=rpm))[0] for rpm in (250.0, 1000.0))
    assert strong == pytest.approx(4 * weak, rel=1e-4)


@pytest.mark.parametrize("rpm", [500.0, -500.0])
def test_a_ball_in_a_jet_feels_the_momentum_that_it_stops(blowing, rpm):
    """F = T s/(2πσ²), σ² = x²/(4 · 15.4), s the section of a ball of 0.01 m at x = 1 m, T = ±2 N. The ball is 3 % of
    2σ wide, so the flux over its section varies by s/(2πσ²) = 0.3 %. The jet of a propeller that runs astern blows
    ahead.
    """
    behind = -np.sign(rpm)
    section = np.pi * 0.01**2
    spread = 2 * np.pi / (4 * 15.4)
    found = _push(blowing([behind, 0, 0], JET, rpm=rpm))
    assert found == pytest.approx([behind * 2.0 * section / spread, 0, 0], rel=3e-3, abs=1e-6)
    assert np.linalg.norm(_push(blowing([-behind, 0, 0], JET, rpm=rpm))) < 0.01 * np.linalg.norm(found)


@pytest.mark.parametrize("distance", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_body_just_behind_or_ahead_of_a_jet_feels_less_than_the_thrust(blowing, distance, side):
    """|F| < T = 2 N at any distance; with T/r it was 100 N at 2 cm."""
    found = np.linalg.norm(_push(blowing([side * distance, 0, 0], JET, target="robot")))
    assert 0.0 < found < 2.0


# ------------------------------------------------------------------------------------------------ robots with joints


@pytest.mark.parametrize("links", [1, 2, 4])
def test_a_field_acts_once_on_a_robot_with_joints(load, vehicle, links):
    """The momentum that it gains in 0.1 s is F t, shared over all points of all links; at rest and weightless."""
    names = [f"link{k}" for k in range(links)]
    parts = {name: {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]} for name in names}
    joints = {
        f"joint{k}": {"parent": names[k - 1], "child": names[k], "at": [0.5, 0, 0], "axis": [0, 1, 0]}
        for k in range(1, links)
    }
    laws = {
        name: {"kind": "force_points", "link": name, "points": [[0, 0, 0]] * (1 + k), "volume": 0.001}
        for k, name in enumerate(names)
    }
    robot = {"vehicle": vehicle(parts, laws, joints), "pose": {"position": [0, 0, -50]}}
    volume = {"kind": "sphere", "center": [0, 0, -50], "radius": 30}
    push = {"kind": "vector", "vector": [1, 0, 0], "magnitude": 20.0, "volume": volume}
    world = load({"robots": {"craft": robot}, "fields": {"push": push}, "gravity": 0.0})
    world.advance(0.1)
    gained = sum(2.0 * world._engine.motion(0, world.robots["craft"].links[name].body)[7] for name in names)
    assert gained == pytest.approx(2.0, rel=1e-9)
    felt = sum(world.robots["craft"].forces[name].field.sum(axis=0) for name in names)
    assert felt == pytest.approx([20.0, 0.0, 0.0], rel=1e-12)


def test_a_body_without_force_points_that_starts_in_a_field_is_reported(load, vehicle, caplog):
    """The field cannot act on it; a body with points, one outside and an anchored one are not reported."""
    bare, wet = vehicle({"hull": LINK}), vehicle({"hull": LINK}, {"points": {
        "kind": "force_points", "link": "hull", "points": FOUR, "volume": NEUTRAL}})  # fmt: skip
    robots = {
        "bare": {"vehicle": bare, "pose": {"position": [0, 0, -5]}},
        "away": {"vehicle": bare, "pose": {"position": [50, 0, -5]}},
        "held": {"vehicle": bare, "pose": {"position": [1, 0, -5]}, "anchored": True},
        "wet": {"vehicle": wet, "pose": {"position": [2, 0, -5]}},
    }
    load({"robots": robots, "fields": {"push": {**FIELD, "volume": _box([0, 0, -5], [9, 9, 9])}}})
    assert len(caplog.messages) == 1
    assert "bare starts in the force field 'push'" in caplog.text
    assert "`force_points`" in caplog.text


# ------------------------------------------------------------------------------------------------ worlds


def _moving(vehicle_path):
    """Two free craft, one behind the other, in a central field; the first's propeller blows on the second."""
    prop = {"kind": "propeller", "link": "hull", "position": [-0.5, 0, 0], "rpm_to_force": 0.004, "maximum_rpm": 1000}
    first = {"vehicle": vehicle_path, "pose": {"position": [0, 0, -5]}}
    first["overrides"] = {"actuators": {"prop": {**prop, "field": {"model": "cone", **CAP}, "lag": 0.3}}}
    second = {"vehicle": vehicle_path, "pose": {"position": [-2, 0, -5]}}
    volume = {"kind": "sphere", "center": [0, 0, -5], "radius": 1.5}
    field = {"kind": "attraction", "magnitude": 3.0, "volume": volume}
    return {"robots": {"first": first, "second": second}, "fields": {"centre": field}}


@pytest.fixture
def free_path(vehicle):
    laws = {
        "points": {"kind": "force_points", "link": "hull", "points": FOUR, "volume": NEUTRAL},
        "drag": {"kind": "damping", "link": "hull", "linear": [4.0] * 6},
    }
    return vehicle({"hull": LINK}, laws)


def test_fields_go_on_from_a_snapshot_bit_for_bit(load, free_path):
    """The thrust that drives a propeller field is part of the state."""
    world = load(_moving(free_path))
    world.advance(1.0)
    before = world.snapshot()
    world.advance(1.5)
    after = bytes(world.snapshot())
    assert world.robots["second"].twist.linear[0] != 0.0
    for again in (world, load(_moving(free_path))):
        again.restore(before)
        again.advance(1.5)
        assert bytes(again.snapshot()) == after


def test_fields_of_a_batch_are_those_of_worlds_alone(free_path):
    """Bit for bit, each with its own fields."""
    scenario = _moving(free_path)
    layers = [{"fields": {"centre": {"magnitude": value}}} for value in (1.0, 5.0)]
    with skerry.load_batch(scenario, [0, 0], overrides=layers) as batch:
        batch.advance(2.0)
        states = [batch.state(world) for world in range(2)]
    assert states[0] != states[1]
    for layer, state in zip(layers, states, strict=True):
        with skerry.load(scenario, overrides=layer) as alone:
            alone.advance(2.0)
            assert alone._engine.states[0].tobytes() == state


def test_a_hundred_fields_are_the_sum_of_a_hundred(craft):
    """Each of 0.06 N."""
    fields = {f"push {k}": {**FIELD, "magnitude": 0.06, "volume": _box([0, 0, -5], [2, 2, 2])} for k in range(100)}
    linear, _ = _first_acceleration(craft(fields))
    assert linear[1] == pytest.approx(6.0 / 8.0, rel=1e-9)


def test_a_bad_field_is_named_with_its_place(load):
    """All faults are reported together."""
    fields = {"one": {"kind": "vector", "volume": _box([0, 0, 0], [1, 1, 1])}, "two": {"kind": "swirl"}}
    with pytest.raises(skerry.SkerryError, match=r"(?s)fields\.one.*`vector`.*fields\.two"):
        load({"fields": fields})


def test_an_open_mesh_is_no_field(load, tmp_path):
    (tmp_path / "leaf.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    volume = {"kind": "mesh", "file": str(tmp_path / "leaf.obj")}
    with pytest.raises(skerry.SkerryError, match=r"leaf\.obj.*open"):
        load({"fields": {"push": {**FIELD, "volume": volume}}})


def test_two_sets_of_points_on_one_body_share_a_field(load, vehicle):
    """A body wholly inside feels F, however its points are grouped: each of all N points has F/N."""
    points = {"kind": "force_points", "link": "hull", "volume": 0.0005}
    forces = {
        "one": points | {"points": [[0.1, 0, 0], [-0.1, 0, 0]]},
        "other": points | {"points": [[0, 0.1, 0], [0, -0.1, 0], [0, 0, 0]]},
    }
    path = vehicle({"hull": {"mass": 10.0, "inertia": [1, 1, 1]}}, forces)
    push = {
        "kind": "vector",
        "vector": [1, 0, 0],
        "magnitude": 20.0,
        "volume": {"kind": "sphere", "center": [0, 0, -50], "radius": 30},
    }
    robot = {"vehicle": path, "pose": {"position": [0, 0, -50]}}
    world = load({"robots": {"craft": robot}, "fields": {"push": push}, "gravity": 0.0})
    world.advance(1.0)
    assert world.robots["craft"].twist.linear[0] == pytest.approx(2.0, rel=1e-9)
