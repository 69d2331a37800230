"""Force fields and their volumes, compared point by point with the same rules in numpy; error messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from skerry.core import meshes
from skerry.core.errors import SkerryError
from skerry.water.fields import (
    BLOCK_INDEX,
    NO_FIELD_OWNER,
    OWNER,
    THRUST_INDEX,
    FieldConfig,
    PropellerField,
    add_fields,
    field_table,
)
from skerry.water.volumes import Volume, covers, is_inside

Array = NDArray[np.float64]
VOLUME: TypeAdapter[Any] = TypeAdapter(Volume)
RANDOM = np.random.default_rng(8)
POINTS = RANDOM.uniform(-4, 4, (3000, 3))
BIG = {"kind": "sphere", "center": [0, 0, 0], "radius": 100.0}
DISC = 0.2  # diameter of the propeller, m
SINGLE = 1e-6  # of a field's strength: some roundings of single precision, 6e-8 each


def write_obj(mesh: meshes.Mesh, path: Path) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces.tolist()]
    path.write_text("\n".join(lines))
    return str(path)


def inside(volume: Any, points: Array = POINTS) -> NDArray[np.bool_]:
    table = VOLUME.validate_python(volume).table()
    return np.array([is_inside(table.ctypes.data, *point) for point in points])


def forces(*fields: dict[str, Any], points: Array = POINTS, owner: int = 0, level: float = 0.0) -> Array:
    """Return the force at each point, (points, 3), with the surface at a level."""
    configs = [FieldConfig.model_validate(field) for field in fields]
    table, kept = field_table([(config.row(), config.volume.table()) for config in configs])
    return _ask(table, kept, points, owner, level, np.zeros(1))


def wash(
    field: dict[str, Any], points: Array, thrust: float = 3.0, owner: int = 0, turn: Array | None = None, **more: Any
) -> Array:
    """Return the force at each point of a propeller at (1, 2, 3) on a body at (10, 0, 0), with thrust along x.

    The field is a cone unless `field` names another model. `section` is the cross-section of each point, and `sharing`
    the number of points that share the field.
    """
    config = PropellerField.model_validate({"model": "cone", **field})
    row = config.row(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0]), DISC, more.get("medium", "water"))
    row[[OWNER, BLOCK_INDEX, THRUST_INDEX]] = 7, 2, 20
    userdata = np.zeros(30)
    userdata[2:5] = 10.0, 0.0, 0.0
    userdata[5:14] = (np.eye(3) if turn is None else turn).ravel()
    userdata[20] = thrust
    table, kept = field_table([(row, None)])
    sizes = more.get("sharing", 1.0), more.get("section", 0.0)
    return _ask(table, kept, points, owner, more.get("level", 1e6), userdata, *sizes)


def _ask(
    table: Array,
    kept: list[Array],
    points: Array,
    owner: int,
    level: float,
    userdata: Array,
    sharing: float = 1.0,
    section: float = 0.0,
) -> Array:
    points = np.atleast_2d(points).astype(float)
    where, depth = np.ascontiguousarray(points.T).ravel(), level - points[:, 2]
    force = np.zeros(where.size)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - middle, axis=1).max())
    body = (*middle, radius, len(points), sharing, section)
    add_fields(table.ctypes.data, owner, userdata.ctypes.data, *body, where, depth, force)
    assert len(kept) <= len(table)
    return force.reshape(3, -1).T / sharing


# ------------------------------------------------------------------------------------------------ volumes


def test_a_box_is_turned_by_its_yaw() -> None:
    """|R(−yaw) (p − c)| ≤ size/2 along each axis."""
    yaw, center, size = 35.0, np.array([0.5, -0.3, 0.2]), np.array([4.0, 2.0, 3.0])
    c, s = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
    own = (POINTS - center) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    expected = (np.abs(own) <= size / 2).all(axis=1)
    found = inside({"kind": "box", "center": center.tolist(), "size": size.tolist(), "yaw_deg": yaw})
    assert np.array_equal(found, expected)
    assert 50 < expected.sum() < 2000


def test_spheres_and_cylinders_hold_what_is_nearer_than_their_radius() -> None:
    center = np.array([0.5, -0.3, 0.2])
    away = POINTS - center
    ball = inside({"kind": "sphere", "center": center.tolist(), "radius": 2.5})
    assert np.array_equal(ball, np.linalg.norm(away, axis=1) <= 2.5)
    tin = inside({"kind": "cylinder", "center": center.tolist(), "radius": 2.5, "height": 3.0})
    assert np.array_equal(tin, (np.hypot(away[:, 0], away[:, 1]) <= 2.5) & (np.abs(away[:, 2]) <= 1.5))


def test_a_closed_mesh_holds_what_is_inside_it_placed_and_scaled(tmp_path: Path) -> None:
    """Compared with the solid angle of the faces."""
    ball = meshes.sphere(1.2)
    shell = meshes.Mesh(ball.vertices * [1.0, 0.5, 1.5], ball.faces)
    volume = {"kind": "mesh", "file": write_obj(shell, tmp_path / "shell.obj"), "position": [0.4, 0, -0.3], "scale": 2}
    placed = meshes.Mesh(shell.vertices * 2 + np.array([0.4, 0, -0.3]), shell.faces)
    found = inside(volume)
    assert np.array_equal(found, meshes.contains(placed, POINTS))
    assert found.sum() > 50


def test_a_mesh_that_is_inside_out_holds_the_same(tmp_path: Path) -> None:
    block = meshes.box((2.0, 3.0, 4.0))
    paths = [write_obj(mesh, tmp_path / f"{k}.obj") for k, mesh in enumerate((block, meshes.flip(block)))]
    found = [inside({"kind": "mesh", "file": path}) for path in paths]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], (np.abs(POINTS) <= np.array([1.0, 1.5, 2.0])).all(axis=1))


def test_an_open_mesh_is_no_volume(tmp_path: Path) -> None:
    block = meshes.box((2.0, 3.0, 4.0))
    path = write_obj(meshes.Mesh(block.vertices, block.faces[1:]), tmp_path / "open.obj")
    with pytest.raises(SkerryError, match=r"open\.obj.* is open"):
        VOLUME.validate_python({"kind": "mesh", "file": path}).table()


@pytest.mark.parametrize(
    "volume",
    [
        {"kind": "box", "center": [0.5, 0, 0], "size": [3, 5, 2], "yaw_deg": 20},
        {"kind": "sphere", "center": [0.5, 0, 0], "radius": 2},
        {"kind": "cylinder", "center": [0.5, 0, 0], "radius": 2, "height": 3},
    ],
)
def test_what_a_volume_says_of_a_ball_is_true_of_the_points_in_it(volume: dict[str, Any]) -> None:
    """The results "completely inside" and "outside" are never wrong, because whole bodies are classified by them."""
    table = VOLUME.validate_python(volume).table()
    said = set()
    for center in POINTS[:300]:
        radius = float(RANDOM.uniform(0.05, 2))
        answer = covers(table.ctypes.data, *center, radius)
        said.add(int(answer))
        ball = RANDOM.normal(size=(60, 3))
        ball = center + radius * RANDOM.uniform(0, 1, (60, 1)) * ball / np.linalg.norm(ball, axis=1, keepdims=True)
        held = [is_inside(table.ctypes.data, *point) for point in ball]
        assert answer == 1 or all(held) == (answer == 2)
        assert answer != 0 or not any(held)
    assert said == {0, 1, 2}


# ------------------------------------------------------------------------------------------------ static fields


def test_a_vector_field_is_the_same_everywhere_inside_and_nothing_outside() -> None:
    """F = magnitude · v/|v|."""
    volume = {"kind": "box", "center": [0.5, 0, 0], "size": [3, 5, 2], "yaw_deg": 20}
    found = forces({"kind": "vector", "volume": volume, "magnitude": 6.0, "vector": [2, -1, 2]})
    held = inside(volume)
    assert found[held] == pytest.approx(np.tile([4.0, -2.0, 4.0], (held.sum(), 1)), rel=1e-14)
    assert not found[~held].any()


@pytest.mark.parametrize(("kind", "sign"), [("attraction", -1.0), ("repulsion", 1.0)])
def test_a_central_field_pulls_or_pushes_with_one_strength_at_all_distances(kind: str, sign: float) -> None:
    """F = ∓ magnitude · (p − c)/|p − c|; the centre is the volume's middle unless given."""
    volume = {"kind": "sphere", "center": [0.5, 0, 1], "radius": 3}
    held = inside(volume)
    for extra, center in (({}, [0.5, 0, 1]), ({"center": [2.0, 1.0, -9.0]}, [2.0, 1.0, -9.0])):
        found = forces({"kind": kind, "volume": volume, "magnitude": 5.0, **extra})
        away = POINTS - np.array(center)
        expected = sign * 5.0 * away / np.linalg.norm(away, axis=1, keepdims=True)
        assert found[held] == pytest.approx(expected[held], rel=1e-12)
        assert not found[~held].any()


def test_the_middle_of_a_mesh_is_that_of_its_bounds(tmp_path: Path) -> None:
    file = write_obj(meshes.box((2.0, 3.0, 4.0)), tmp_path / "block.obj")
    volume = {"kind": "mesh", "file": file, "position": [1.0, 0.0, 0.0]}
    found = forces({"kind": "repulsion", "volume": volume}, points=np.array([[1.5, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    np.testing.assert_allclose(found, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), rtol=0, atol=1e-12)


def test_at_its_very_centre_a_central_field_does_nothing() -> None:
    assert not forces({"kind": "attraction", "volume": BIG, "magnitude": 5.0}, points=np.zeros((1, 3))).any()


@pytest.mark.parametrize("kind", ["vector", "attraction"])
def test_a_field_may_act_only_under_water_or_only_above(kind: str) -> None:
    """The surface above each point decides; all points are below, all above, or some of each."""
    field = {"kind": kind, "volume": BIG, "magnitude": 5.0} | ({"vector": [0, 0, 1]} if kind == "vector" else {})
    for level in (0.5, 50.0, -50.0):
        whole = forces(field, level=level)
        under = POINTS[:, 2] < level
        for flag, held in (("only_underwater", under), ("only_above_water", ~under)):
            found = forces({**field, flag: True}, level=level)
            np.testing.assert_allclose(found[held], whole[held], rtol=0, atol=5.0 * SINGLE)
            assert not found[~held].any()


def test_where_fields_overlap_they_add_up() -> None:
    first = {"kind": "vector", "volume": BIG, "magnitude": 2.0, "vector": [1, 0, 0]}
    second = {"kind": "attraction", "volume": {"kind": "sphere", "center": [1, 1, 1], "radius": 3}, "magnitude": 3.0}
    third = {"kind": "vector", "volume": {"kind": "box", "center": [0, 0, 0], "size": [2, 9, 9]}, "vector": [0, 1, 0]}
    together = forces(first, second, third)
    np.testing.assert_allclose(together, forces(first) + forces(second) + forces(third), rtol=0, atol=3.0 * SINGLE)


@pytest.mark.parametrize("count", [1, 31, 32, 63, 64, 65, 127, 128, 129, 300])
def test_many_central_fields_are_their_sum(count: int) -> None:
    """Σ ± F (p − c)/|p − c|, whether the points lie in all of them or on their edges."""
    centers = RANDOM.uniform(-5, 5, (count, 3))
    points = POINTS[:50]
    for radius in (100.0, 4.0):
        fields = [
            {
                "kind": "attraction" if k % 3 else "repulsion",
                "magnitude": 1.0 + k % 5,
                "volume": {"kind": "sphere", "center": center.tolist(), "radius": radius},
            }
            for k, center in enumerate(centers)
        ]
        away = points[:, None] - centers
        distance = np.linalg.norm(away, axis=2, keepdims=True)
        strength = np.array([(-1 if k % 3 else 1) * (1.0 + k % 5) for k in range(count)])
        each = np.where(distance <= radius, strength[:, None] * away / distance, 0.0)
        np.testing.assert_allclose(
            forces(*fields, points=points), each.sum(axis=1), rtol=0, atol=SINGLE * np.abs(strength).sum()
        )


@pytest.mark.parametrize("count", [1, 40])
def test_a_central_field_is_as_strong_near_its_centre_as_far_from_it(count: int) -> None:
    """|F| = Σ strengths from 10 µm to 1e19 m, along the line to the centre, on bodies of one point; of one field as of
    many, which are summed up in single precision.
    """
    directions = RANDOM.normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    field = {"kind": "repulsion", "magnitude": 1.0, "volume": {**BIG, "radius": 1e20}}
    places = np.geomspace(1e-5, 1e19, 400)[:, None] * directions
    found = np.concatenate([forces(*[field] * count, points=place) for place in places])
    np.testing.assert_allclose(found, count * directions, rtol=0, atol=count * SINGLE)


def test_on_a_body_a_central_field_is_right_to_a_ten_millionth_of_its_size() -> None:
    """Points of a body of 1 m at 0.1 mm from the centre of 40 fields: errors of 1e-7 m and 1e-3 rad."""
    directions = RANDOM.normal(size=(100, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    field = {"kind": "repulsion", "magnitude": 1.0, "volume": BIG}
    ends = np.array([[0.7, 0.0, 0.0], [-0.3, 0.0, 0.0]])
    found = forces(*[field] * 40, points=np.concatenate([1e-4 * directions, ends]))[:100]
    np.testing.assert_allclose(found, 40 * directions, rtol=0, atol=40 * 1e-3)


@pytest.mark.parametrize("count", [1, 40])
def test_a_central_field_fades_within_a_nanometre_of_its_centre(count: int) -> None:
    """F r / √(r² + 1 nm²), which is 0 at the centre; to single precision."""
    near = np.array([[0.0, 0.0, 0.0], [1e-10, 0.0, 0.0], [0.0, -5e-10, 0.0]])
    field = {"kind": "repulsion", "magnitude": 1.0, "volume": BIG}
    expected = count * near / np.hypot(np.linalg.norm(near, axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(forces(*[field] * count, points=near), expected, rtol=0, atol=count * SINGLE)


# ------------------------------------------------------------------------------------------------ propellers

TIP = np.array([11.0, 2.0, 3.0])  # of a propeller at its place, with no offset of the cone


def test_the_wash_pushes_away_from_the_tip_by_thrust_over_distance() -> None:
    """F = min(T/r, cap) · r/|r| behind, inside the cone."""
    behind = TIP + np.array([[-1.0, 0, 0], [-2.0, 0.5, 0], [-3.0, 0, -1.0], [-4.0, 0.3, 0.2]])
    found = wash({"force_magnitude_cap": 100.0}, behind)
    away = behind - TIP
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    assert found == pytest.approx(3.0 / distance**2 * away, rel=1e-12)


def test_the_suction_ahead_pulls_along_the_shaft_towards_the_propeller() -> None:
    """F = −min(T/r, cap) · axis ahead: towards the disc, along the shaft."""
    ahead = TIP + np.array([[1.0, 0, 0], [2.0, 0.5, 0], [4.0, 0, 0.5]])
    found = wash({"force_magnitude_cap": 100.0}, ahead)
    distance = np.linalg.norm(ahead - TIP, axis=1)
    assert found == pytest.approx(np.column_stack([-3.0 / distance, 0 * distance, 0 * distance]), rel=1e-12)


def test_a_propellers_field_is_capped() -> None:
    near = TIP + np.array([[-0.01, 0, 0], [-1.4, 0, 0], [-1.6, 0, 0]])
    found = np.linalg.norm(wash({"force_magnitude_cap": 2.0}, near), axis=1)
    assert found == pytest.approx([2.0, 2.0, 3.0 / 1.6], rel=1e-12)


def test_a_propellers_field_is_a_cone_both_ways() -> None:
    """|angle to the shaft| ≤ half_angle and r ≤ length; nothing elsewhere, nor at the tip itself."""
    points = TIP + RANDOM.uniform(-4, 4, (4000, 3))
    found = wash({"half_angle_deg": 25.0, "length": 3.0}, points)
    away = points - TIP
    distance = np.linalg.norm(away, axis=1)
    held = (np.abs(away[:, 0]) >= np.cos(np.radians(25.0)) * distance) & (distance <= 3.0)
    assert np.array_equal(found.any(axis=1), held)
    assert held.sum() > 20
    assert not wash({}, TIP).any()


def test_the_tip_may_be_moved_along_the_shaft() -> None:
    """`cone_tip` metres ahead of the propeller, along its thrust: behind that, all is wash."""
    point = TIP + np.array([0.5, 0.0, 0.0])
    assert wash({"force_magnitude_cap": 100.0}, point)[0, 0] == pytest.approx(-6.0)
    assert wash({"force_magnitude_cap": 100.0, "cone_tip": 1.0}, point)[0, 0] == pytest.approx(-6.0)
    moved = wash({"force_magnitude_cap": 100.0, "cone_tip": 1.0}, point - np.array([1.5, 0.0, 0.0]))
    assert moved[0, 0] == pytest.approx(-1.5)
    assert wash({"force_magnitude_cap": 100.0, "cone_tip": -1.0}, point)[0, 0] == pytest.approx(-2.0)


def test_a_propellers_field_turns_with_its_body() -> None:
    """With a body turned left by 90° the propeller at (1, 2, 3) is at (−2, 1, 3) from it, and its wash goes south."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    tip = np.array([8.0, 1.0, 3.0])
    found = wash({"force_magnitude_cap": 100.0}, tip + np.array([[0, -2.0, 0], [-2.0, 0, 0]]), turn=turn)
    np.testing.assert_allclose(found, np.array([[0.0, -1.5, 0.0], [0.0, 0.0, 0.0]]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("thrust", [0.0, -5.0])
def test_a_propeller_that_stands_or_runs_backwards_has_no_field(thrust: float) -> None:
    points = TIP + np.array([[1.0, 0, 0], [-1.0, 0, 0]])
    assert not wash({}, points, thrust=thrust).any()


def test_a_propeller_does_not_blow_on_its_own_vehicle() -> None:
    behind = TIP - np.array([1.0, 0, 0])
    assert wash({}, behind, owner=3).any()
    assert wash({}, behind, owner=NO_FIELD_OWNER).any()
    assert not wash({}, behind, owner=7).any()


def test_a_propellers_field_may_act_only_under_water_or_only_above() -> None:
    points = TIP + np.array([[-2.0, 0, 0.3], [-2.0, 0, -0.3]])
    under, above = (wash({flag: True}, points, level=3.0) for flag in ("only_underwater", "only_above_water"))
    assert list(under.any(axis=1)) == [False, True]
    assert list(above.any(axis=1)) == [True, False]


# ------------------------------------------------------------------------------------------------ jets

JET_AREA = np.pi * DISC**2 / 8  # of the contracted jet
JET_DIAMETER = DISC / np.sqrt(2)


def jet(points: Any, thrust: float = 3.0, **more: Any) -> Array:
    """Return the force at points, given relative to the propeller."""
    return wash({"model": "jet", "length": 50.0}, TIP + np.atleast_2d(points), thrust, **more)


@pytest.mark.parametrize("x", [0.05, 0.3, 0.5, 2.0, 8.0])
def test_a_wall_across_a_jet_stops_all_of_its_momentum(x: float) -> None:
    """∫ ρ u² dA = T at each distance: the sum over 81 plates of a square grid that is 10 σ wide, of area s = h² each.

    The plates are normal distributions of the width h/√(2π), so the sum is right to 4 exp(−2π² σ²/h²), here 4e-4 with
    h = 1.25 σ; at 5 σ there is nothing left.
    """
    sigma = max(x / np.sqrt(4 * 15.4), JET_DIAMETER / np.sqrt(8))
    steps = 1.25 * sigma * np.arange(-4, 5)
    y, z = np.meshgrid(steps, steps)
    points = np.column_stack([np.full(y.size, -x), y.ravel(), z.ravel()])
    found = jet(points, sharing=len(points), section=(1.25 * sigma) ** 2)
    assert -found[:, 0].sum() == pytest.approx(3.0, rel=5e-4)
    assert not found[:, 1:].any()


@pytest.mark.parametrize("x", [0.1, 0.3, 0.38, 0.5, 1.0, 5.0])
def test_the_speed_on_the_axis_of_a_jet_is_that_of_blaauw_and_van_de_kaa(x: float) -> None:
    """F/s = ρ u² with u = V₀ up to 2.8 D₀ and 2.8 V₀ D₀/x beyond (Blaauw & van de Kaa 1978), ρ V₀² = T/A₀. Their 2.8
    is rounded: conservation of momentum gives √(15.4/2) = 2.775, so speeds agree to 1 %, u² to 2 %.
    """
    section = 1e-9
    found = -jet([-x, 0, 0], section=section)[0, 0] / section
    speed = min(1.0, 2.8 * JET_DIAMETER / x)
    assert found == pytest.approx(3.0 / JET_AREA * speed**2, rel=0.02)


def test_the_profile_of_a_jet_is_a_normal_distribution_that_widens_with_distance() -> None:
    """u/u_c = exp(−15.4 r²/x²) (Blaauw & van de Kaa 1978), and the force is proportional to u²; exact for s → 0."""
    x, r = 3.0, np.array([0.0, 0.2, 0.5, 0.9])
    found = -jet(np.column_stack([np.full(4, -x), r, 0 * r]), section=1e-12)[:, 0]
    assert found / found[0] == pytest.approx(np.exp(-2 * 15.4 * r**2 / x**2), rel=1e-9)


def test_no_point_or_body_in_a_jet_feels_more_than_the_thrust() -> None:
    """Bodies of 1 to 300 points and any size, at random places: |Σ F| ≤ T; the largest sections come near to T."""
    largest = 0.0
    for count in (1, 3, 40, 128, 129, 300):
        for section in (1e-4, 0.01, 1.0, 100.0):
            for _ in range(10):
                points = RANDOM.normal(size=3) * [1.0, 0.1, 0.1] + RANDOM.normal(size=(count, 3)) * 0.3
                found = np.linalg.norm(jet(points, sharing=count, section=section).sum(axis=0))
                assert found <= 3.0 * (1 + 1e-12)
                largest = max(largest, found)
    assert largest > 2.9


def test_the_inflow_ahead_is_that_of_an_actuator_disc_and_weak() -> None:
    """F = T (u/V₀)² s/(s + A₀) with u/V₀ = ½ (1 − d/√(d² + R²)) towards the disc (Medici et al. 2011); rounding.

    One diameter ahead it is less than 1/300 of the wash at one diameter behind.
    """
    places, section = np.array([[0.05, 0, 0], [0.2, 0.1, 0.0], [1.0, 0, 0.5]]), 1e-3
    d = np.linalg.norm(places, axis=1, keepdims=True)
    speed = 0.5 * (1 - d / np.hypot(d, DISC / 2))
    expected = -3.0 * speed**2 * section / (section + JET_AREA) * places / d
    assert jet(places, section=section) == pytest.approx(expected, rel=1e-9)
    ahead, behind = (np.linalg.norm(jet([x, 0, 0], section=section)) for x in (DISC, -DISC))
    assert 0 < ahead < behind / 300


def test_a_reversed_propeller_reverses_its_jet() -> None:
    """Wash ahead and inflow behind: the mirror image."""
    points = np.array([[-1.0, 0.1, 0.0], [0.3, 0.0, 0.1], [-0.2, 0, 0]])
    mirror = np.array([-1.0, 1.0, 1.0])
    assert jet(points * mirror, thrust=-3.0, section=0.01) == pytest.approx(
        jet(points, section=0.01) * mirror, rel=1e-12
    )
    assert not jet(points, thrust=0.0, section=0.01).any()


def test_a_jet_may_be_capped_and_stays_in_its_medium() -> None:
    near = TIP + np.array([[-0.1, 0, 0]])
    assert -wash({"model": "jet", "force_magnitude_cap": 0.5}, near, section=1.0)[0, 0] == pytest.approx(0.5)
    points = np.array([[-0.5, 0, 0.02], [-0.5, 0, -0.02]])
    for medium, expected in (("water", [False, True]), ("air", [True, False])):
        assert list(jet(points, section=0.01, medium=medium, level=3.0).any(axis=1)) == expected


def test_a_jet_fades_before_its_end() -> None:
    """Continuous: 1 up to 0.8 L, ½ at 0.9 L, 0 from L on, of the jet that does not end."""
    points = TIP + np.array([[-x, 0, 0] for x in (3.9, 4.5, 5.0, 5.5)])
    short, endless = (wash({"model": "jet", "length": length}, points, section=0.01)[:, 0] for length in (5.0, 1e6))
    assert short / endless == pytest.approx([1.0, 0.5, 0.0, 0.0], abs=1e-4)


# ------------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "vector"}, "`vector` is required for kind `vector`"),
        ({"kind": "attraction", "vector": [1, 0, 0]}, "`vector` is required for kind `vector`"),
        ({"kind": "vector", "vector": [0, 0, 0]}, "must not be zero"),
        ({"kind": "vector", "vector": [1, 0, 0], "center": [0, 0, 0]}, "`center` is only for"),
        ({"kind": "repulsion", "magnitude": -1}, "greater than or equal to 0"),
        ({"kind": "repulsion", "magnitude": float("inf")}, "finite"),
        ({"kind": "repulsion", "only_underwater": True, "only_above_water": True}, "exclude each other"),
        ({"kind": "repulse"}, "repulsion"),
        ({"kind": "repulsion", "strength": 3}, "strength"),
        ({"kind": "repulsion", "volume": {"kind": "sphere", "center": [0, 0, 0], "radius": 0}}, "greater than 0"),
        ({"kind": "repulsion", "volume": {"kind": "box", "center": [0, 0, 0], "size": [1, -1, 1]}}, "greater than 0"),
        ({"kind": "repulsion", "volume": {"kind": "cone"}}, "box"),
        ({"kind": "repulsion", "volume": {"kind": "mesh", "file": "nowhere.obj"}}, "nowhere.obj"),
    ],
)
def test_fields_that_are_impossible_are_refused_with_a_message(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        FieldConfig.model_validate({"volume": BIG, **settings})


def test_a_field_needs_a_volume() -> None:
    with pytest.raises(ValidationError, match="volume"):
        FieldConfig.model_validate({"kind": "repulsion"})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "cone", "half_angle_deg": 0}, "greater than 0"),
        ({"model": "cone", "half_angle_deg": 90}, "less than 90"),
        ({"half_angle_deg": 30}, "`half_angle_deg` is for `model: cone`"),
        ({"cone_tip": 0.2}, "`cone_tip` is for `model: cone`"),
        ({"length": 0}, "greater than 0"),
        ({"force_magnitude_cap": 0}, "greater than 0"),
        ({"only_underwater": True, "only_above_water": True}, "exclude each other"),
        ({"cone_tipp": 1}, "cone_tipp"),
    ],
)
def test_propeller_fields_that_are_impossible_are_refused_with_a_message(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        PropellerField.model_validate(settings)
