"""The JSON of every shipped vehicle is imported as the same model, whose motion is equal to the bit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skerry
from skerry.core.errors import FileError, UnknownName
from skerry.importers.vehicle import import_vehicle
from skerry.importers.vehicle_json import export_text, export_vehicle
from skerry.scenario.loading import load_scenario
from skerry.scenario.vehicle import shipped_vehicles
from skerry.world import World

EVERY = pytest.mark.parametrize("name", shipped_vehicles())


def scenario(vehicle: str) -> dict[str, object]:
    return {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 25},
        "water": {"currents": {"tide": {"kind": "uniform", "speed": 0.3, "heading_deg": 40}}},
        "robots": {"it": {"vehicle": vehicle, "pose": {"position": [0, 0, -3], "roll_deg": 5}}},
    }


def dive(world: World) -> bytes:
    """Return the state after three seconds with all actuators at work."""
    for actuator in world.robots["it"].actuators.values():
        actuator.command(**{actuator.keyword: 0.4 * actuator.limits[1]})
    world.advance(3.0)
    return bytes(world._engine.states.tobytes())


@EVERY
def test_a_vehicle_survives_export_and_import_to_the_bit(name: str, tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text(export_text(name), encoding="utf-8")
    folder = import_vehicle(tmp_path / "it.json", out=tmp_path / "it").folder
    first, second = (load_scenario(scenario(vehicle)).vehicles["it"] for vehicle in (name, str(folder)))
    assert second.config.model_copy(update={"urdf": first.config.urdf}) == first.config
    assert second.robot.links.keys() == first.robot.links.keys()
    assert second.robot.joints == first.robot.joints
    with skerry.load(scenario(name)) as world, skerry.load(scenario(str(folder))) as again:
        assert again._engine.model.structure_hash == world._engine.model.structure_hash
        assert dive(again) == dive(world)


def test_a_mesh_is_contained_in_the_json(tmp_path: Path) -> None:
    from skerry.core.meshes import box
    from skerry.formats.mesh_files import write_stl

    home = tmp_path / "crate"
    (home / "shapes").mkdir(parents=True)
    write_stl(home / "shapes" / "hull.stl", box((0.5, 0.4, 0.3)))
    (home / "robot.urdf").write_text(
        '<robot name="crate"><link name="base_link"><inertial><mass value="50"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><mesh filename="shapes/hull.stl"/></geometry></collision></link></robot>'
    )
    (home / "vehicle.yaml").write_text(
        "forces: {buoyancy: {kind: force_points, link: base_link, mesh: shapes/hull.stl, points: [[0, 0, 0]]}}"
    )
    (tmp_path / "crate.json").write_text(export_text(str(home)))
    import_vehicle(tmp_path / "crate.json", out=tmp_path / "again")
    assert (tmp_path / "again" / "meshes" / "hull.stl").read_bytes() == (home / "shapes" / "hull.stl").read_bytes()


def test_the_json_contains_geometry_masses_joints_and_components() -> None:
    data = export_vehicle("torpedo")
    assert data["mass"] == pytest.approx(24.93)
    assert data["robot"]["joints"]["battery_hinge"]["upper"] == 1.6
    assert data["robot"]["joints"]["propeller_shaft"]["upper"] is None
    assert data["robot"]["links"]["base_link"]["collisions"][0]["kind"] == "capsule"
    assert data["vehicle"]["forces"]["ballast"]["kind"] == "ballast"


def test_an_unknown_vehicle_is_guessed() -> None:
    with pytest.raises(UnknownName, match="did you mean 'torpedo'"):
        export_vehicle("torpdeo")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "else"}, "must be 'skerry vehicle'"),
        ({"version": 99}, "version"),
        ({"robot": {}}, "not a complete vehicle"),
        ({"files": {"../../evil": ""}}, "is outside"),
    ],
)
def test_invalid_json_is_refused_with_a_reason(change: dict[str, object], words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(export_vehicle("torpedo") | change))
    with pytest.raises(FileError, match=words):
        import_vehicle(tmp_path / "bad.json", out=tmp_path / "bad")
    assert not (tmp_path / "bad").exists()
