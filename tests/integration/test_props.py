"""Props: objects of several shapes as data, selected by name, with overrides by the scenario."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import FileError, SkerryError
from skerry.core.meshes import box
from skerry.formats.mesh_files import write_stl
from skerry.scenario.geometry import CODES, MarkerGeometry, marker_cells
from skerry.scenario.loading import load_scenario
from skerry.scenario.objects import ObjectConfig
from skerry.scenario.props import SHIPPED, read_prop, shipped_props
from skerry.terrain.materials import find_material

BALL = {"kind": "sphere", "radius": 0.5}


def faults(source: Any) -> str:
    with pytest.raises(FileError) as caught:
        load_scenario(source)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------ what is shipped


@pytest.mark.parametrize("name", shipped_props())
def test_a_shipped_prop_describes_itself_and_its_materials_are_known(name: str) -> None:
    prop = read_prop(name)
    assert prop.description
    assert prop.category
    for material in prop.materials().values():
        find_material(material)


def test_all_shipped_props_stand_in_one_world_and_are_seen_by_rays() -> None:
    objects = {name: {"prop": name, "pose": {"position": [15 * i, 0, 0]}} for i, name in enumerate(shipped_props())}
    with skerry.load({"terrain": {"kind": "flat", "depth": 9}, "objects": objects}) as world:
        world.advance(0.5)
        bodies = {body.owner: body for body in world.ray_scene.scene.bodies}
        assert set(objects) <= set(bodies)
        assert all(bodies[name].category == read_prop(name).category for name in objects)
        assert np.isfinite(world._engine.states).all()


def test_what_is_computed_of_the_props_is_what_their_script_writes(tmp_path: Path) -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "props.py"))
    made["main"].__globals__["TARGET"] = tmp_path
    made["main"]()
    for name in ("meshes/cone.stl", "meshes/rock.stl", "algae_line.yaml"):
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


# ------------------------------------------------------------------------------------------------ laying over


def test_a_scenario_lays_its_own_settings_over_a_prop() -> None:
    own = {"prop": "aruco_post", "pose": {"position": [1, 2, -3]}, "shapes": {"marker": {"geometry": {"id": 7}}}}
    post = load_scenario({"objects": {"tag": own}}).scenario.objects["tag"]
    prop = read_prop("aruco_post")
    marker = post.shapes["marker"].geometry
    assert isinstance(marker, MarkerGeometry)
    assert (marker.id, marker.size) == (7, 0.3)
    assert post.shapes["post"] == prop.shapes["post"]
    assert post.pose.position == (1, 2, -3)
    assert post.category == "aruco"


def test_null_takes_something_from_a_prop() -> None:
    thing = {"prop": "gate", "shapes": {"bar": None}}
    assert set(load_scenario({"objects": {"gate": thing}}).scenario.objects["gate"].shapes) == (
        set(read_prop("gate").shapes) - {"bar"}
    )


def test_null_takes_something_from_a_prop_also_from_a_layer_above(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("objects: {b: {prop: buoy_port}, c: {prop: float, mass: null}}\n")
    (tmp_path / "over.yaml").write_text("extends: base.yaml\nobjects: {b: {mooring: null, colour: null}, c: null}\n")
    for loaded in (
        load_scenario(tmp_path / "over.yaml"),
        load_scenario(tmp_path / "base.yaml", {"objects": {"b": {"mooring": None, "colour": None}, "c": None}}),
    ):
        assert list(loaded.scenario.objects) == ["b"]
        assert loaded.scenario.objects["b"].mooring is None
        assert loaded.scenario.objects["b"].colour == ObjectConfig.model_fields["colour"].default


def test_a_scenario_with_props_dumps_to_one_that_needs_them_no_more(tmp_path: Path) -> None:
    scenario = load_scenario({"objects": {"a": {"prop": "buoy_starboard"}, "b": {"prop": "rock"}}}).scenario
    path = tmp_path / "dump.yaml"
    path.write_text(scenario.dump(), encoding="utf-8")
    assert "prop:" not in path.read_text(encoding="utf-8")
    assert load_scenario(path).scenario == scenario


def test_a_prop_of_ones_own_is_found_beside_the_scenario_with_its_mesh(tmp_path: Path) -> None:
    (tmp_path / "things").mkdir()
    write_stl(tmp_path / "things" / "crate.stl", box((1, 1, 1)))
    crate = "geometry: {kind: mesh, file: crate.stl}\ncolour: [1, 0, 0]\n"
    (tmp_path / "things" / "crate.yaml").write_text(crate, encoding="utf-8")
    (tmp_path / "base.yaml").write_text("objects: {crate: {prop: things/crate.yaml}}\n", encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "over.yaml").write_text("extends: ../base.yaml\nseed: 2\n", encoding="utf-8")
    for file in ("base.yaml", "deep/over.yaml"):
        thing = load_scenario(tmp_path / file).scenario.objects["crate"]
        assert thing.colour == (1, 0, 0)
        assert thing.geometry is not None
        assert thing.geometry.file == tmp_path / "things" / "crate.stl"  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------ faults


def test_a_wrong_name_is_guessed_and_does_not_hide_other_faults(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("objects:\n  a: {prop: bouy_port}\n  b: {prop: 7}\n  c: {prop: gate, colr: [1, 0, 0]}\n")
    text = faults(file)
    assert "line 2: objects.a.prop: there is no such prop (found 'bouy_port'); did you mean 'buoy_port'?" in text
    assert "line 3: objects.b.prop: there is no such prop (found 7); known: algae_line" in text
    assert "line 4: objects.c.colr: is not a known key; did you mean 'colour'?" in text


def test_a_fault_of_a_prop_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("geometry:\n  {kind: sphere, radius: -1}\n", encoding="utf-8")
    (tmp_path / "torn.yaml").write_text("geometry: {kind: ", encoding="utf-8")
    (tmp_path / "list.yaml").write_text("- 1\n", encoding="utf-8")
    scenario = "".join(f"  {name}: {{prop: ./{name}.yaml}}\n" for name in ("bad", "torn", "list"))
    (tmp_path / "s.yaml").write_text(f"objects:\n{scenario}", encoding="utf-8")
    text = faults(tmp_path / "s.yaml")
    assert "bad.yaml: line 2: geometry.radius: must be greater than 0" in text
    assert "torn.yaml" in text
    assert "list.yaml: must be a mapping of settings" in text


@pytest.mark.parametrize(
    ("thing", "problem"),
    [
        ({}, "an object needs either a `geometry`, or `shapes`, or a `prop`"),
        ({"geometry": BALL, "shapes": {"a": {"geometry": BALL}}}, "an object needs either a `geometry`, or `shapes`"),
        ({"shapes": {"a": {"geometry": BALL}}, "motion": "dynamic"}, "needs a `mass`, or a mass of its shapes"),
        ({"shapes": {"a": {"geometry": BALL, "mass": 1}}, "motion": "dynamic", "mass": 2}, "but not both"),
        ({"shapes": {"a": {"geometry": BALL, "mass": 1}}}, "this one is static: remove shapes.a.mass"),
        ({"geometry": BALL, "mooring": {}}, "this one is static: remove mooring"),
        ({"shapes": {"a": {"geometry": BALL, "mass": 1, "volume": 0}}, "motion": "dynamic"}, "must have a volume"),
        ({"shapes": {"a": {"geometry": BALL, "material": "wod"}}}, "objects.x.shapes.a.material: there is no material"),
        ({"geometry": {"kind": "aruco", "id": 50, "size": 1}}, "geometry.id: must be less than 50"),
    ],
)
def test_invalid_settings_are_refused_with_a_message(thing: dict[str, Any], problem: str) -> None:
    assert problem in faults({"objects": {"x": thing}})


def test_a_moored_thing_needs_ground_or_an_anchor() -> None:
    with pytest.raises(SkerryError, match=r"objects.b: there is no ground below .* or `mooring: null`"):
        skerry.load({"objects": {"b": {"prop": "buoy_port"}}})
    for mooring in (None, {"anchor": [0, 0, -20]}):
        with skerry.load({"objects": {"b": {"prop": "buoy_port", "mooring": mooring}}}) as world:
            assert ("mooring" in world.objects["b"].forces) == (mooring is not None)


# ------------------------------------------------------------------------------------------------ shapes


def test_shapes_weigh_together_as_one_body() -> None:
    """Two balls of mass m and radius r at ±a on x: I_xx = 4/5 m r², I_yy = I_zz = 4/5 m r² + 2 m a²."""
    m, r, a = 3.0, 0.2, 0.7
    ball = {"geometry": {"kind": "sphere", "radius": r}, "mass": m}
    shapes = {"front": ball | {"position": [a, 0, 0.1]}, "back": ball | {"position": [-a, 0, 0.1]}}
    thing = ObjectConfig.model_validate({"shapes": shapes, "motion": "dynamic"})
    inertial = thing.robot("x").links["body"].inertial
    assert inertial is not None
    own = 0.8 * m * r**2
    assert inertial.mass == pytest.approx(2 * m)
    np.testing.assert_allclose(inertial.position, (0, 0, 0.1), atol=1e-12)
    np.testing.assert_allclose(inertial.inertia, np.diag([own, own + 2 * m * a**2, own + 2 * m * a**2]), atol=1e-12)


@pytest.mark.parametrize("pitch", [0.0, 90.0, -90.0])
def test_a_shape_lies_as_it_is_turned(pitch: float) -> None:
    """A cylinder along z, pitched by 90°, lies along x, even where roll and yaw are not distinguishable."""
    shape = {"geometry": {"kind": "cylinder", "radius": 0.1, "length": 2}, "pitch_deg": pitch, "yaw_deg": 30}
    with skerry.load({"objects": {"rod": {"shapes": {"rod": shape}, "pose": {"position": [0, 0, 5]}}}}) as world:
        (body,) = (body for body in world.ray_scene.scene.bodies if body.owner == "rod")
        size = np.ptp(body.mesh.vertices @ _turned(30.0), axis=0)
    np.testing.assert_allclose(size, (0.2, 0.2, 2.0) if pitch == 0.0 else (2.0, 0.2, 0.2), atol=0.01)


def _turned(degrees: float) -> Any:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.parametrize("count", [1, 8, 54, 216, 1000])
def test_the_cells_of_a_ball_fill_it_evenly(count: int) -> None:
    """Their mean is the middle; the share of them below a layer's edge is t² (3 − 2 t), to a point a layer."""
    thing = ObjectConfig.model_validate({"geometry": {"kind": "sphere", "radius": 2.0}})
    assert thing.geometry is not None
    points, cell = thing.geometry.cells(count)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert (np.linalg.norm(points, axis=1) < 2.0).all()
    layers = round(4.0 / cell[2])
    for edge in np.arange(1, layers) / layers:
        below = (points[:, 2] < 4.0 * edge - 2.0).mean()
        assert below == pytest.approx(edge**2 * (3 - 2 * edge), abs=0.5 * layers / len(points))


@pytest.mark.parametrize("count", [8, 27, 216, 1000])
def test_the_cells_of_a_cylinder_have_its_second_moments(count: int) -> None:
    """r²/4 about a diameter, exactly, so that it floats as upright as it should; L²/12 (1 − 1/n²) along n layers."""
    cylinder = ObjectConfig.model_validate({"geometry": {"kind": "cylinder", "radius": 0.5, "length": 1.0}}).geometry
    assert cylinder is not None
    points, cell = cylinder.cells(count)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert (np.linalg.norm(points[:, :2], axis=1) < 0.5).all()
    assert len(points) <= count
    along = (1 - cell[2] ** 2) / 12
    np.testing.assert_allclose(points.T @ points / len(points), np.diag([0.0625, 0.0625, along]), atol=1e-12)


# ------------------------------------------------------------------------------------------------ markers


def test_the_codes_of_markers_differ_as_their_dictionary_promises() -> None:
    """Any two of DICT_4X4_50, however turned, and any one and itself turned, differ in 4 bits or more.

    Garrido-Jurado et al. 2014 choose them so; OpenCV corrects (4 − 1)/2 = 1 bit.
    """
    cells = np.array([~marker_cells(number)[1:-1, 1:-1] for number in range(50)])
    assert len(set(CODES)) == 50
    for turn in range(4):
        turned = np.rot90(cells, turn, axes=(1, 2))
        distance = (cells[:, None] != turned[None]).sum(axis=(2, 3))
        if turn == 0:
            distance = distance + 99 * np.eye(50, dtype=int)
        assert distance.min() >= 4


def test_the_first_marker_has_the_bits_that_everybody_knows() -> None:
    """Marker 0: 1011 0101 0011 0010, white being 1; within a black frame."""
    rows = ["".join("01"[int(not black)] for black in row) for row in marker_cells(0)]
    assert rows == ["000000", "010110", "001010", "000110", "000100", "000000"]
