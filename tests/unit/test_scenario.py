"""Scenarios: reading, checks, extension, overrides, and writing."""

import shutil
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from skerry.core.errors import FileError, SkerryError, UnknownName
from skerry.core.geo import GeoReference
from skerry.core.meshes import box
from skerry.formats.mesh_files import write_stl
from skerry.formats.yaml_documents import parse_document
from skerry.scenario import Scenario, find_scenario, load_scenario
from skerry.scenario.loading import LoadedScenario, shipped_scenarios
from skerry.scenario.merging import merge
from skerry.scenario.schema import RobotConfig
from skerry.scenario.vehicle import SHIPPED, shipped_vehicles

BALL = {"kind": "sphere", "radius": 0.5}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def faults_in(source: Any, **settings: Any) -> list[str]:
    with pytest.raises(FileError) as caught:
        load_scenario(source, **settings)
    return [str(fault) for fault in caught.value.faults]


def with_robot(**robot: Any) -> dict[str, Any]:
    return {"robots": {"a": {"vehicle": "torpedo", **robot}}}


def with_overrides(**overrides: Any) -> dict[str, Any]:
    return with_robot(overrides=overrides)


def sensors_of(loaded: LoadedScenario) -> dict[str, Any]:
    return loaded.vehicles["a"].config.sensors


# ------------------------------------------------------------------------------------------------ reading

EVERYTHING = """\
name: everything
description: "All that a scenario may say: #1"
seed: 7
step: 7/1000
integrator: euler
duration: 12.5
gravity: 9.82
reference: {latitude_deg: 58.8, longitude_deg: 17.6, altitude: 25.5}
water:
  density: 1000
  surface: {kind: flat, level: 0.25}
  currents:
    tide: {kind: uniform, speed: 0.4, heading_deg: 45}
    river: {kind: uniform, velocity: [0.1, 0, 0]}
terrain:
  kind: heightfield
  size: [40, 30]
  level: -20
  resolution: 1
  function:
    kind: sum
    terms:
      - {kind: slope, slope_deg: 2}
      - {kind: hills, amplitude: 1.5, seed: 3}
robots:
  first:
    vehicle: torpedo
    pose: {position: [1, 2, -3], heading_deg: 30, pitch_deg: 5}
    overrides:
      sensors:
        odometry: {frequency: 100/3}
        second: {kind: odometry, link: nose_link, frequency: 20, position: [0.1, 0, 0]}
      forces:
        ballast: null
  second:
    vehicle: torpedo
    anchored: true
objects:
  float:
    geometry: {kind: sphere, radius: 0.2}
    motion: dynamic
    pose: {position: [5, 0, 0]}
    mass: 10
    volume: 0.03
    center_of_mass: [0, 0, -0.05]
    center_of_volume: [0, 0, 0.01]
    linear_damping: [1, 1, 1, 0.1, 0.1, 0.1]
    quadratic_damping: [20, 20, 20, 1, 1, 1]
    added_mass: [15, 15, 15, 0, 0, 0]
    friction: 0.8
    material: rubber
    colour: [1, 0.5, 0]
  quay:
    geometry: {kind: box, size: [10, 2, 6]}
  buoy:
    geometry: {kind: cylinder, radius: 0.3, length: 1}
    motion: kinematic
"""


@pytest.fixture
def everything(tmp_path: Path) -> Path:
    return write(tmp_path / "everything.yaml", EVERYTHING)


def test_all_that_a_scenario_may_say_is_read(everything: Path) -> None:
    scenario = load_scenario(everything).scenario
    assert scenario.name == "everything"
    assert scenario.seed == 7
    assert scenario.step == Fraction(7, 1000)
    assert scenario.integrator == "euler"
    assert scenario.duration == 12.5
    assert scenario.reference == GeoReference(latitude_deg=58.8, longitude_deg=17.6, altitude=25.5)
    assert scenario.water.density == 1000
    assert list(scenario.water.currents) == ["tide", "river"]
    assert scenario.terrain.function.terms[1].amplitude == 1.5
    assert scenario.robots["second"].anchored
    float_ = scenario.objects["float"]
    assert float_.motion == "dynamic"
    assert (float_.mass, float_.volume, float_.center_of_mass) == (10, 0.03, (0, 0, -0.05))
    assert scenario.objects["quay"].motion == "static"


def test_what_a_scenario_leaves_out_has_its_default() -> None:
    scenario = load_scenario({}).scenario
    assert scenario.step == Fraction(1, 200)
    assert scenario.seed == 0
    assert scenario.duration is None
    assert scenario.terrain is None
    assert scenario.reference is None
    assert scenario.water.density == 1025
    assert scenario == Scenario()


def test_a_shipped_scenario_is_found_by_its_name() -> None:
    assert "torpedo_in_still_water" in shipped_scenarios()
    assert load_scenario("torpedo_in_still_water").scenario.name == "torpedo_in_still_water"


@pytest.mark.parametrize("name", ["torpedo_in_stil_water", "", "x" * 5000, "~nobody_of_this_name"])
def test_an_unknown_scenario_is_guessed_or_listed(name: str) -> None:
    with pytest.raises(UnknownName, match="torpedo_in_still_water"):
        load_scenario(name)


def test_a_scenario_file_that_is_not_there_is_reported_with_its_path(tmp_path: Path) -> None:
    for name in ("gone.yaml", "folder/gone", "x" * 5000 + ".yaml"):
        with pytest.raises(FileError, match="there is no such file"):
            load_scenario(tmp_path / name)


def test_a_file_wins_over_a_shipped_scenario_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "torpedo_in_still_water", "name: mine")
    assert find_scenario("torpedo_in_still_water") == Path("torpedo_in_still_water")


@pytest.mark.parametrize("text", ["", "[1, 2]", "word", "5"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match="must be a mapping of settings"):
        load_scenario(write(tmp_path / "s.yaml", text))


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.yaml", "robots:\n  a: {vehicle: torpedo}\n  a: {vehicle: torpedo}\n")
    assert faults_in(path) == ["line 3: robots.a: given twice, first on line 2"]


def test_a_mapping_made_in_python_may_hold_arrays_fractions_paths_and_settings() -> None:
    loaded = load_scenario(
        {
            "seed": np.int64(5),
            "step": Fraction(1, 100),
            "robots": {"a": RobotConfig(vehicle="torpedo", pose={"position": np.array([1.0, 2.0, -3.0])})},
            "terrain": {"kind": "heightfield", "size": (2, 2), "array": np.zeros((3, 3))},
            "objects": {"ball": {"geometry": BALL, "pose": {"position": (0, 0, np.float64(1))}}},
        }
    )
    assert loaded.scenario.seed == 5
    assert loaded.scenario.step == Fraction(1, 100)
    assert loaded.scenario.robots["a"].pose.position == (1, 2, -3)
    assert set(loaded.vehicles) == {"a"}
    assert load_scenario(loaded.scenario).scenario == loaded.scenario


# ------------------------------------------------------------------------------------------------ writing


def test_a_scenario_dumps_and_loads_back_equal(everything: Path, tmp_path: Path) -> None:
    first = load_scenario(everything)
    again = load_scenario(write(tmp_path / "elsewhere" / "again.yaml", first.scenario.dump()))
    assert again.scenario == first.scenario
    assert again.vehicles["first"].config == first.vehicles["first"].config
    assert again.scenario.dump() == first.scenario.dump()


def test_a_dump_is_plain_yaml_for_everybody(everything: Path) -> None:
    text = load_scenario(everything).scenario.dump()
    assert yaml.safe_load(text) == parse_document(text, "dump").data
    assert yaml.safe_load(text)["step"] == "7/1000"


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "1e5", "description": "089"},
        {"name": "on", "description": "~"},
        {"description": "two\nlines: # and \x85 an odd break \u2028 or two"},
        {"step": 0.1, "duration": 1e-7, "gravity": 0},
        {"reference": {"utm_zone": 33, "utm_band": "V", "easting": 650000.0, "northing": 6500000.0}},
        {"terrain": {"kind": "flat", "z": -3.5, "material": "mud", "friction": 0.1}},
        {"terrain": {"kind": "heightfield", "size": [3, 3], "array": [[0, 1], [2, 3.5]]}},
        {
            "terrain": {
                "kind": "heightfield",
                "size": [3, 3],
                "array": [[0, 1], [2, 3.5]],
                "material_map": [[0, 1]],
                "materials": ["mud", "rock"],
            }
        },
        {"water": {"currents": {"1e3": {"kind": "uniform", "velocity": [0, 1e-7, -1e20]}}}},
        {"objects": {"0x10": {"geometry": BALL}, "yes": {"geometry": BALL, "motion": "kinematic"}}},
        {"objects": {"a": {"geometry": BALL, "motion": "dynamic", "mass": 1, "added_mass": np.eye(6).tolist()}}},
        with_robot(pose={"yaw_deg": 0}),
        with_overrides(sensors={"odometry": None}),
        with_overrides(sensors={"odometry": {"frequency": "1/3", "position": [1, 2, 3]}}, self_collision=True),
    ],
)
def test_odd_values_survive_a_dump(settings: dict[str, Any], tmp_path: Path) -> None:
    scenario = load_scenario(settings).scenario
    assert load_scenario(write(tmp_path / "s.yaml", scenario.dump())).scenario == scenario
    assert load_scenario(scenario).scenario == scenario


def test_a_scenario_made_in_python_dumps_and_loads_back_equal(tmp_path: Path) -> None:
    scenario = Scenario(
        step=Fraction(1, 300),
        robots={
            "a": RobotConfig(
                vehicle="torpedo",
                overrides={"sensors": {"odometry": {"frequency": Fraction(1, 3), "position": (1, np.float64(2), 3)}}},
            )
        },
    )
    assert load_scenario(write(tmp_path / "s.yaml", scenario.dump())).scenario == scenario


def test_files_keep_their_place_when_a_dump_is_read_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    write_stl(folder / "hull.stl", box((1, 1, 1)))
    path = write(
        folder / "s.yaml",
        "terrain: {kind: mesh, mesh: hull.stl}\nobjects: {a: {geometry: {kind: mesh, file: ./hull.stl}}}\n",
    )
    scenario = load_scenario(path).scenario
    assert load_scenario(write(tmp_path / "there" / "s.yaml", scenario.dump())).scenario == scenario


# ------------------------------------------------------------------------------------------------ vehicles


@pytest.fixture
def boat(tmp_path: Path) -> Path:
    """Write a user's vehicle to a folder next to the scenarios."""
    return Path(shutil.copytree(SHIPPED / "torpedo", tmp_path / "fleet" / "boat"))


@pytest.mark.parametrize("name", ["boat", "./boat", "../fleet/boat", "{absolute}"])
def test_a_vehicle_is_found_beside_the_file_that_names_it(boat: Path, tmp_path: Path, name: str) -> None:
    text = f"robots: {{a: {{vehicle: {name.format(absolute=boat)}}}}}"
    loaded = load_scenario(write(tmp_path / "fleet" / "s.yaml", text))
    assert loaded.vehicles["a"].config.urdf == boat / "robot.urdf"
    assert loaded.scenario.robots["a"].vehicle == str(boat)
    again = load_scenario(write(tmp_path / "elsewhere" / "s.yaml", loaded.scenario.dump()))
    assert again.scenario == loaded.scenario


def test_a_shipped_vehicle_keeps_its_name() -> None:
    assert "torpedo" in shipped_vehicles()
    assert load_scenario(with_robot()).scenario.robots["a"].vehicle == "torpedo"


@pytest.mark.parametrize("name", ["torpdo", "x" * 5000, "~nobody_of_this_name/boat", "", "/dev/null"])
def test_an_unknown_vehicle_is_a_fault_at_its_place(name: str) -> None:
    (fault,) = faults_in(with_robot(vehicle=name))
    assert fault.startswith("robots.a.vehicle: there is no such vehicle (found ")
    assert "torpedo" in fault
    assert "vehicle.yaml" in fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1]", "{file}: must be a mapping of settings (found [1])"),
        ("forces: {\n", "{file}: line 1: is not valid YAML: "),
        ("forces: {}\nforces: {}\n", "{file}: line 2: forces: given twice, first on line 1"),
        ("urdf: gone.urdf\n", "{file}: line 1: urdf: there is no file {folder}/gone.urdf"),
        ("forcs: {}\n", "{file}: line 1: forcs: is not a known key; did you mean 'forces'?"),
        (
            "sensors:\n  odometry: {kind: odometry, link: bas_link, frequency: 10}\n",
            "{file}: line 2: sensors.odometry.link: there is no such link (found 'bas_link'); did you mean 'base_",
        ),
        (
            "sensors:\n  o:\n    kind: odometry\n    link: base_link\n    frequency: 1000\n",
            "{file}: line 5: sensors.o.frequency: is faster than the step of 1/200 s (found '1000'); "
            "use at most 200 Hz, or a shorter step",
        ),
    ],
)
def test_faults_of_a_vehicle_name_its_file(boat: Path, text: str, fault: str) -> None:
    file = write(boat / "vehicle.yaml", text)
    (found,) = faults_in(with_robot(vehicle=str(boat)))
    assert found.startswith(fault.format(file=file, folder=boat))


def test_faults_of_a_shared_vehicle_are_reported_once(boat: Path) -> None:
    write(boat / "vehicle.yaml", "forcs: {}\n")
    robots = {name: {"vehicle": str(boat)} for name in "abc"}
    assert len(faults_in({"robots": robots})) == 1


def test_faults_of_a_urdf_name_its_file_and_line(boat: Path) -> None:
    urdf = boat / "robot.urdf"
    urdf.write_text(urdf.read_text().replace('<mass value="2.6"/>', '<mass value="-2.6"/>'))
    line = urdf.read_text().split("-2.6")[0].count("\n") + 1
    (fault,) = faults_in(with_robot(vehicle=str(boat)))
    place = f'{urdf}: line {line}: link "battery_link" / inertial / mass / value'
    assert fault.startswith(f"{place}: must be a number above 0 (found '-2.6')")


# ------------------------------------------------------------------------------------------------ overrides


def test_overrides_change_single_values_of_a_part() -> None:
    before, after = (
        load_scenario(with_overrides(**overrides)).vehicles["a"].config
        for overrides in ({}, {"forces": {"damping": {"linear": [9, 9, 9, 9, 9, 9]}}, "self_collision": True})
    )
    assert after.forces["damping"].linear == (9,) * 6
    assert after.forces["damping"].quadratic == before.forces["damping"].quadratic
    assert after.self_collision
    assert list(after.forces) == list(before.forces)


def test_overrides_add_replace_and_remove_parts() -> None:
    config = load_scenario(
        with_overrides(
            sensors={
                "odometry": None,
                "nose": {"kind": "odometry", "link": "nose_link", "frequency": 5},
            },
            forces={"damping": {"kind": "immersion_damping", "link": "base_link", "underwater_linear": 1}},
        )
    ).vehicles["a"]
    assert list(config.config.sensors) == ["nose"]
    assert config.config.forces["damping"].kind == "immersion_damping"
    assert config.config.forces["damping"].underwater_linear == 1


def test_robots_of_one_vehicle_have_their_own_overrides() -> None:
    robots = {
        "a": {"vehicle": "torpedo", "overrides": {"sensors": {"odometry": {"frequency": 20}}}},
        "b": {"vehicle": "torpedo"},
    }
    vehicles = load_scenario({"robots": robots}).vehicles
    assert vehicles["a"].config.sensors["odometry"].frequency == 20
    assert vehicles["b"].config.sensors["odometry"].frequency == 10


def test_a_file_that_overrides_name_lies_beside_the_scenario(tmp_path: Path) -> None:
    write_stl(tmp_path / "hull.stl", box((0.3, 0.3, 0.3)))
    text = "robots: {a: {vehicle: torpedo, overrides: {forces: {buoyancy: {volume: null, mesh: hull.stl}}}}}"
    loaded = load_scenario(write(tmp_path / "s.yaml", text))
    assert loaded.vehicles["a"].config.forces["buoyancy"].mesh == tmp_path / "hull.stl"
    assert load_scenario(loaded.scenario).scenario == loaded.scenario


@pytest.mark.parametrize(
    ("overrides", "fault"),
    [
        (
            {"sensors": {"odometri": {"frequency": 5}}},
            ".sensors.odometri: the vehicle has no such part; did you mean 'odo",
        ),
        ({"sensors": {"odometri": None}}, ".sensors.odometri: the vehicle has no such part; did you mean 'odometry'?"),
        (
            {"actuators": {"x": {"rate": 5}}},
            ".actuators.x: the vehicle has no such part; none are defined. A new part needs",
        ),
        ({"sensor": {}}, ".sensor: is not a known key; did you mean 'sensors'?"),
        ({"sensors": 5}, ".sensors: must be a mapping (found 5)"),
        ({"sensors": {"odometry": 5}}, ".sensors.odometry: must be a mapping with a `kind` (found 5)"),
        (
            {"sensors": {"odometry": {"freqency": 5}}},
            ".sensors.odometry.freqency: is not a known key; did you mean 'freq",
        ),
        (
            {"sensors": {"odometry": {"frequency": 201}}},
            ".sensors.odometry.frequency: is faster than the step of 1/200",
        ),
        (
            {"sensors": {"odometry": {"link": "nose"}}},
            ".sensors.odometry.link: there is no such link (found 'nose'); did",
        ),
        ({"sensors": {"new": {"kind": "odometry", "frequency": 5}}}, ".sensors.new.link: is missing"),
        ({"sensors": {"new": {"kind": "odometri"}}}, ".sensors.new.kind: unknown kind 'odometri' of sensors; did you"),
        ({"forces": {"damping": {"kind": "ballast", "link": "base_link"}}}, ".forces.damping.volume: is missing"),
        ({"forces": {"damping": {"linear": [1, 2]}}}, ".forces.damping.linear: needs 6 values (found [1, 2])"),
        ({"forces": {"ballast": {"volume": -1}}}, ".forces.ballast.volume: must be greater than 0 (found -1)"),
        ({"urdf": "gone.urdf"}, ".urdf: there is no file "),
    ],
)
def test_a_fault_of_an_override_is_reported_at_its_path_in_the_scenario(overrides: dict[str, Any], fault: str) -> None:
    assert faults_in(with_overrides(**overrides))[0].startswith(f"robots.a.overrides{fault}")


@pytest.mark.parametrize(
    ("group", "part", "setting"), [("controllers", "autopilot", "tolerence"), ("actuators", "thruster1", "maximum_rmp")]
)
def test_that_keys_trials_and_commands_name_a_part_at_fault_is_no_fault(group: str, part: str, setting: str) -> None:
    robot = {"vehicle": "sam", "overrides": {group: {part: {setting: 3}}}, "commands": {"thruster1": {"rpm": 100}}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    (fault,) = faults_in({"robots": {"sam": robot}, "reference": reference})
    assert fault.startswith(f"robots.sam.overrides.{group}.{part}.{setting}: is not a known key; did you mean")


def test_a_part_that_overrides_break_shows_at_the_overrides() -> None:
    (fault,) = faults_in(with_overrides(forces={"buoyancy": {"volume": None}}))
    assert fault.startswith("robots.a.overrides.forces.buoyancy: give either `volume` or `mesh`")


# ------------------------------------------------------------------------------------------------ extending

BASE = """\
name: base
step: 1/100
water: {density: 1000, currents: {tide: {kind: uniform, velocity: [1, 0, 0]}}}
terrain: {kind: flat, depth: 10}
robots:
  a:
    vehicle: torpedo
    pose: {position: [1, 2, -3]}
    overrides: {sensors: {odometry: {frequency: 20}}}
objects:
  ball: {geometry: {kind: sphere, radius: 0.5}}
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write(tmp_path / "base.yaml", BASE)


def extend(base: Path, text: str, name: str = "child.yaml") -> Path:
    return write(base.parent / name, f"extends: {base.name}\n{text}")


def test_a_scenario_extends_another(base: Path) -> None:
    loaded = load_scenario(extend(base, "name: child\nwater: {density: 1010}\nrobots: {b: {vehicle: torpedo}}\n"))
    scenario = loaded.scenario
    assert (scenario.name, scenario.step, scenario.water.density) == ("child", Fraction(1, 100), 1010)
    assert list(scenario.water.currents) == ["tide"]
    assert list(scenario.robots) == ["a", "b"]
    assert scenario.robots["a"].pose.position == (1, 2, -3)


def test_extending_goes_over_several_files(base: Path) -> None:
    child = extend(base, "name: child\nrobots: {a: {pose: {roll_deg: 5}}}\n")
    scenario = load_scenario(extend(child, "name: grandchild\n", "grandchild.yaml")).scenario
    assert scenario.name == "grandchild"
    assert scenario.robots["a"].pose.roll_deg == 5
    assert scenario.robots["a"].pose.position == (1, 2, -3)


def test_a_shipped_scenario_is_extended_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "s.yaml", "extends: torpedo_in_still_water\nseed: 99\n")
    scenario = load_scenario(path).scenario
    assert scenario.seed == 99
    assert list(scenario.robots) == ["torpedo"]
    assert load_scenario({"extends": "torpedo_in_still_water", "seed": 99}).scenario == scenario


def test_null_removes_what_the_base_has(base: Path) -> None:
    text = "terrain: null\nwater: {currents: {tide: null}}\nobjects: {ball: null}\nrobots: {a: {overrides: null}}\n"
    loaded = load_scenario(extend(base, text))
    assert loaded.scenario.terrain is None
    assert loaded.scenario.water.currents == {}
    assert loaded.scenario.water.density == 1000
    assert loaded.scenario.objects == {}
    assert sensors_of(loaded)["odometry"].frequency == 10


def test_null_in_overrides_removes_the_part_of_the_vehicle_also_where_the_base_changes_it(base: Path) -> None:
    child = extend(base, "robots: {a: {overrides: {sensors: {odometry: null}, forces: {ballast: null}}}}")
    for loaded in (
        load_scenario(child),
        load_scenario(base, {"robots": {"a": {"overrides": {"sensors": {"odometry": None}}}}}),
    ):
        assert sensors_of(loaded) == {}
    again = load_scenario(load_scenario(child).scenario)
    assert sensors_of(again) == {}
    assert "ballast" not in again.vehicles["a"].config.forces


def test_another_kind_brings_its_own_settings(base: Path) -> None:
    text = """\
        terrain: {kind: heightfield, size: [1, 1], array: [[0, 0], [0, 0]]}
        objects: {ball: {geometry: {kind: box, size: [1, 1, 1]}}}
        """
    text = textwrap.dedent(text)
    scenario = load_scenario(extend(base, text)).scenario
    assert scenario.terrain.kind == "heightfield"
    assert scenario.objects["ball"].geometry.kind == "box"


def test_lists_replace_and_mappings_merge() -> None:
    base = {"a": [1, 2, 3], "b": {"c": 1, "d": {"e": 2}}, "f": 5}
    over = {"a": [9], "b": {"d": {"g": 3}}, "f": {"h": 1}}
    assert merge(base, over) == {"a": [9], "b": {"c": 1, "d": {"e": 2, "g": 3}}, "f": {"h": 1}}
    assert base == {"a": [1, 2, 3], "b": {"c": 1, "d": {"e": 2}}, "f": 5}
    assert merge(base, {"b": None, "f": None}) == {"a": [1, 2, 3]}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_extending_in_a_circle_is_refused(tmp_path: Path, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(length):
        write(tmp_path / f"s{i}.yaml", f"name: x\nextends: s{(i + 1) % length}.yaml\n")
    monkeypatch.chdir(tmp_path)
    for path in ("s0.yaml", tmp_path / "s0.yaml"):
        with pytest.raises(FileError, match="extends: forms a cycle: ") as caught:
            load_scenario(path)
        assert str(caught.value).count(" → ") == length
        assert caught.value.faults[0].line == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("extends: torpedo_in_stil_water", "extends: there is no scenario 'torpedo_in_stil_water'; did you mean"),
        ("extends: gone.yaml", "gone.yaml: there is no such file"),
        ("extends: 5", "extends: must be the name or path of a scenario, found 5"),
        ("extends: [base.yaml]", "extends: must be the name or path of a scenario"),
        ("extends: null", "extends: must be the name or path of a scenario"),
    ],
)
def test_a_base_that_cannot_be_found_is_a_fault_at_its_line(base: Path, text: str, words: str) -> None:
    path = write(base.parent / "child.yaml", f"name: child\n{text}\n")
    (fault,) = faults_in(path)
    assert fault.startswith("line 2: extends: ")
    assert words in fault


@pytest.mark.parametrize("text", ["", "[1]", "word"])
def test_a_base_that_is_no_mapping_is_refused(base: Path, text: str) -> None:
    base.write_text(text)
    with pytest.raises(FileError, match=r"base.yaml: must be a mapping of settings"):
        load_scenario(extend(base, "name: child"))


def test_a_fault_in_a_base_names_the_base_and_its_line(base: Path) -> None:
    base.write_text(BASE.replace("depth: 10", "depth: x").replace("[1, 2, -3]", "[1, 2]"))
    child = extend(base, "name: child\nrobots: {a: {pose: {roll: 5}}}\n")
    assert faults_in(child) == [
        "line 3: robots.a.pose.roll: is not a known key; did you mean 'roll_deg'?",
        f"{base}: line 4: terrain.depth: must be a number (found 'x')",
        f"{base}: line 8: robots.a.pose.position: needs 3 values (found [1, 2])",
    ]


def test_what_a_child_replaces_is_no_fault_of_the_base(base: Path) -> None:
    child = extend(base, "terrain:\n  kind: heightfield\n  array: [[0, 0], [0, 0]]\n")
    assert faults_in(child) == ["line 2: terrain.size: is missing"]


def test_files_and_vehicles_beside_the_base_are_found_from_the_child(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "torpedo", tmp_path / "library" / "boat")
    write_stl(tmp_path / "library" / "rock.stl", box((1, 1, 1)))
    long_text = "A sentence. " * 100
    write(
        tmp_path / "library" / "base.yaml",
        f"description: {long_text}\n"
        "robots: {a: {vehicle: boat}}\n"
        "objects: {rock: {geometry: {kind: mesh, file: rock.stl}}}\n",
    )
    child = write(tmp_path / "mine" / "child.yaml", "extends: ../library/base.yaml\nname: child\n")
    scenario = load_scenario(child).scenario
    assert scenario.robots["a"].vehicle == str(tmp_path / "library" / "boat")
    assert scenario.objects["rock"].geometry.file == tmp_path / "library" / "rock.stl"
    assert scenario.description == long_text.strip()


def test_text_that_is_also_the_name_of_a_file_stays_text(tmp_path: Path) -> None:
    write(tmp_path / "library" / "notes.txt", "")
    write(tmp_path / "library" / "base.yaml", "name: notes.txt\ndescription: .\n")
    scenario = load_scenario(write(tmp_path / "child.yaml", "extends: library/base.yaml\n")).scenario
    assert (scenario.name, scenario.description) == ("notes.txt", ".")


# ------------------------------------------------------------------------------------------------ given by a program


def test_a_program_may_lay_values_over_a_scenario(everything: Path) -> None:
    scenario = load_scenario(everything, {"water": {"density": 999}, "terrain": None}, seed=42).scenario
    assert (scenario.water.density, scenario.terrain, scenario.seed) == (999, None, 42)
    assert scenario.robots.keys() == {"first", "second"}


def test_a_fault_of_a_programs_value_says_so_and_has_no_line(everything: Path) -> None:
    assert faults_in(everything, overrides={"water": {"density": -1, "densty": 2}}, seed=-5) == [
        "argument: seed: must be greater than or equal to 0 (found -5)",
        "overrides: water.density: must be greater than 0 (found -1)",
        "overrides: water.densty: is not a known key; did you mean 'density'?",
    ]


def test_a_scenario_is_not_changed_by_what_is_laid_over_it() -> None:
    source = with_overrides(sensors={"odometry": {"frequency": 5}})
    load_scenario(source, {"robots": {"a": {"overrides": {"sensors": {"odometry": None}}}}}, seed=3)
    assert source == with_overrides(sensors={"odometry": {"frequency": 5}})


# ------------------------------------------------------------------------------------------------ all at once

BROKEN = """\
name: 5
step: 1/0
integrater: rk4
gravity: .nan
duration: -3
reference: {latitude_deg: 95, longitude_deg: 10}
water:
  density: -1025
  surface: {kind: flatt}
  currents:
    tide: {kind: uniform, velocty: [1, 0, 0]}
terrain:
  kind: flat
  depth: deep
robots:
  a:
    vehicle: torpdo
    pose:
      position: [0, 0]
  b:
    vehicle: torpedo
    anchored: yes
    overrides:
      sensors:
        odometri: {frequency: 5}
        extra:
          kind: odometry
          link: nose_lnk
          frequency: 5
      forces:
        ballast:
          volume: 0
  c/d: {vehicle: torpedo}
objects:
  float:
    geometry: {kind: spere, radius: 1}
  crate:
    geometry: {kind: box, size: [1, 1, 1]}
    motion: dynamic
  sinker:
    geometry: {kind: sphere, radius: 1}
    motion: dynamc
    mass: -3
    volume: -1
interfaces: []
"""

FAULTS = """\
line 1: name: must be text (found 5)
line 2: step: must be a number or a fraction such as 1/200 (found '1/0')
line 3: integrater: is not a known key; did you mean 'integrator'?
line 4: gravity: must be a finite number (found nan)
line 5: duration: must be greater than 0 (found -3)
line 6: reference.latitude_deg: must be less than or equal to 84 (found 95)
line 8: water.density: must be greater than 0 (found -1025)
line 9: water.surface.kind: unknown kind 'flatt' of surfaces; did you mean 'flat'?
line 11: water.currents.tide.velocty: is not a known key; did you mean 'velocity'?
line 14: terrain.depth: must be a number (found 'deep')
line 17: robots.a.vehicle: there is no such vehicle (found 'torpdo'); did you mean 'torpedo'? \
A path must name a folder with a vehicle.yaml
line 19: robots.a.pose.position: needs 3 values (found [0, 0])
line 22: robots.b.anchored: must be true or false (found 'yes')
line 25: robots.b.overrides.sensors.odometri: the vehicle has no such part; did you mean 'odometry'? \
A new part needs a `kind`
line 28: robots.b.overrides.sensors.extra.link: there is no such link (found 'nose_lnk'); did you mean 'nose_link'?
line 32: robots.b.overrides.forces.ballast.volume: must be greater than 0 (found 0)
line 33: robots.c/d: a name must not be empty, contain '/', or begin or end with a space (found 'c/d')
line 36: objects.float.geometry.kind: there is no such kind (found 'spere'); did you mean 'sphere'?
line 37: objects.crate: a dynamic object needs a `mass`
line 42: objects.sinker.motion: must be 'static', 'kinematic' or 'dynamic' (found 'dynamc'); did you mean 'dynamic'?
line 43: objects.sinker.mass: must be greater than 0 (found -3)
line 44: objects.sinker.volume: must be greater than or equal to 0 (found -1)
line 45: interfaces: must be a mapping (found [])
"""


def test_all_faults_of_a_file_are_reported_together_with_path_value_and_guess(tmp_path: Path) -> None:
    path = write(tmp_path / "broken.yaml", BROKEN)
    with pytest.raises(SkerryError) as caught:
        load_scenario(path)
    assert isinstance(caught.value, FileError)
    assert caught.value.source == str(path)
    assert [str(fault) for fault in caught.value.faults] == FAULTS.splitlines()
    assert str(caught.value).startswith(f"{path}: 23 faults\n  - line 1: name: must be text (found 5)\n")


def test_a_sensor_too_fast_is_reported_beside_other_faults(tmp_path: Path) -> None:
    text = (
        "step: 1/10\nseed: x\nrobots:\n  a: {vehicle: torpedo, overrides: {sensors: {odometry: {frequency: 10.5}}}}\n"
    )
    assert faults_in(write(tmp_path / "s.yaml", text)) == [
        "line 2: seed: must be a whole number (found 'x')",
        "line 4: robots.a.overrides.sensors.odometry.frequency: is faster than the step of 1/10 s "
        "(found '21/2'); use at most 10 Hz, or a shorter step",
    ]


def test_a_robot_and_an_object_must_not_share_a_name() -> None:
    source = {**with_robot(), "objects": {"a": {"geometry": BALL}}}
    assert faults_in(source) == ["a robot and an object must not have the same name (found a)"]


@pytest.mark.parametrize("motion", ["static", "kinematic"])
def test_only_a_dynamic_object_has_a_mass_and_forces(motion: str) -> None:
    thing = {"geometry": BALL, "motion": motion, "mass": 1, "added_mass": [1, 1, 1, 1, 1, 1]}
    (fault,) = faults_in({"objects": {"ball": thing}})
    assert fault == f"objects.ball: forces act only on dynamic objects; this one is {motion}: remove mass, added_mass"


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"linear_damping": [-1, 0, 0, 0, 0, 0]}, "linear_damping: must not be negative"),
        ({"quadratic_damping": [0, 0, 0, 0, 0, -1]}, "quadratic_damping: must not be negative"),
        ({"added_mass": [1, 1, -1, 1, 1, 1]}, "added_mass: must not have a negative eigenvalue"),
        ({"added_mass": [[0, 1, 0, 0, 0, 0], *[[0] * 6] * 5]}, "added_mass: must be symmetric"),
        ({"colour": [255, 0, 0]}, "colour[0]: must be less than or equal to 1 (found 255)"),
        ({"friction": -1}, "friction: must be greater than or equal to 0 (found -1)"),
    ],
)
def test_constants_that_no_object_can_have_are_refused(settings: dict[str, Any], fault: str) -> None:
    thing = {"geometry": BALL, "motion": "dynamic", "mass": 1, **settings}
    (found,) = faults_in({"objects": {"ball": thing}})
    assert found.startswith(f"objects.ball.{fault}")


def test_an_open_mesh_is_refused_for_a_dynamic_object_only(tmp_path: Path) -> None:
    solid = box((1, 1, 1))
    open_box = type(solid)(solid.vertices, solid.faces[:-1])
    write_stl(tmp_path / "open.stl", open_box)
    geometry = {"kind": "mesh", "file": str(tmp_path / "open.stl")}
    load_scenario({"objects": {"rock": {"geometry": geometry}}})
    (fault,) = faults_in({"objects": {"rock": {"geometry": geometry, "motion": "dynamic", "mass": 1}}})
    assert fault.startswith("objects.rock: the mesh ")
    assert "is open" in fault


def test_a_mesh_that_cannot_be_read_is_a_fault_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"no mesh at all")
    for name, words in (("bad.stl", "bad.stl: "), ("gone.stl", "there is no file ")):
        source = {"objects": {"rock": {"geometry": {"kind": "mesh", "file": str(tmp_path / name)}}}}
        (fault,) = faults_in(source)
        assert fault.startswith("objects.rock.geometry")
        assert words in fault


def test_a_part_that_is_taken_away_takes_the_sea_trials_with_it() -> None:
    otter = {"vehicle": "otter", "overrides": {"actuators": {"propeller_port": None}, "controllers": None}}
    reference = {"latitude_deg": 0, "longitude_deg": 0}
    assert load_scenario({"robots": {"o": otter}, "reference": reference}).vehicles["o"].config.trials is None
    otter["overrides"] = {}
    assert load_scenario({"robots": {"o": otter}, "reference": reference}).vehicles["o"].config.trials is not None
    sam = {"vehicle": "sam", "overrides": {"controllers": None}}
    assert load_scenario({"robots": {"s": sam}, "reference": reference}).vehicles["s"].config.trials is None
