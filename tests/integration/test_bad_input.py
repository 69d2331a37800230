"""Bad input gives one clear message with its location, no traceback, and no partly built world."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import EngineError, FileError, SkerryError, UnknownName
from skerry.core.meshes import Mesh
from skerry.formats.mesh_files import write_stl
from skerry.scenario.vehicle import SHIPPED

BALL = {"kind": "sphere", "radius": 0.5}


def robot(**settings: Any) -> dict[str, Any]:
    return {"robots": {"a": {"vehicle": "torpedo", "pose": {"position": [0, 0, -5]}, **settings}}}


def overrides(**settings: Any) -> dict[str, Any]:
    return robot(overrides=settings)


def ball(**settings: Any) -> dict[str, Any]:
    return {"objects": {"ball": {"geometry": BALL, "motion": "dynamic", "mass": 1.0, **settings}}}


def refusal(source: Any, **settings: Any) -> SkerryError:
    """Return the error of a source that cannot be loaded; a valid world must load directly afterwards."""
    with pytest.raises(SkerryError) as caught:
        skerry.load(source, **settings)
    assert caught.value.__cause__ is None
    with skerry.load("torpedo_in_still_water") as world:
        world.advance(0.01)
        assert np.isfinite(world._engine.states).all()
    return caught.value


# ------------------------------------------------------------------------------------------------ values

# what is given, and what the message must say: the place, what was found, and what helps
MESSAGES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a wrong type": ({"seed": "five"}, ("seed: must be a whole number", "found 'five'")),
    "a truth value for a number": ({"gravity": True}, ("gravity: must be a number", "found True")),
    "text for a number": (ball(mass="1"), ("objects.ball.mass: must be a number", "found '1'")),
    "a number for a mapping": ({"water": 5}, ("water: must be a mapping", "found 5")),
    "a mapping for a list": (robot(pose={"position": {"x": 1}}), ("robots.a.pose.position: must be a list",)),
    "a list that is too short": (
        robot(pose={"position": [1]}),
        ("robots.a.pose.position: needs 3 values", "found [1]"),
    ),
    "an unknown key": ({"stpe": 1}, ("stpe: is not a known key", "did you mean 'step'?")),
    "an unknown kind of terrain": ({"terrain": {"kind": "flt"}}, ("terrain.kind: unknown kind 'flt'", "mean 'flat'?")),
    "an unknown kind of current": (
        {"water": {"currents": {"a": {"kind": "unifrm"}}}},
        ("water.currents.a.kind: unknown kind 'unifrm'", "did you mean 'uniform'?"),
    ),
    "an unknown kind of sensor": (
        overrides(sensors={"x": {"kind": "odometr"}}),
        ("robots.a.overrides.sensors.x.kind: unknown kind 'odometr'", "did you mean 'odometry'?"),
    ),
    "an unknown kind of law": (
        overrides(forces={"x": {"kind": "dampng"}}),
        ("robots.a.overrides.forces.x.kind: unknown kind 'dampng'", "did you mean 'damping'?"),
    ),
    "an unknown kind of geometry": (
        {"objects": {"x": {"geometry": {"kind": "cube"}}}},
        ("objects.x.geometry.kind: there is no such kind", "found 'cube'", "box"),
    ),
    "an unknown interface": (
        {"interfaces": {"x": {"kind": "nothing_of_this_name"}}},
        ("interfaces.x.kind: unknown kind",),
    ),
    "an unknown transport": (
        {"interfaces": {"ros": {"kind": "ros", "transports": {"x": {"kind": "zenho"}}}}},
        ("interfaces.ros.transports.x.kind: unknown kind 'zenho'", "did you mean 'zenoh'?"),
    ),
    "an unknown vehicle": (
        robot(vehicle="torpdo"),
        ("robots.a.vehicle: there is no such vehicle", "'torpdo'", "torpedo"),
    ),
    "an unknown link of a sensor": (
        overrides(sensors={"odometry": {"link": "base"}}),
        (
            "robots.a.overrides.sensors.odometry.link: there is no such link",
            "found 'base'",
            "did you mean 'base_link'?",
        ),
    ),
    "an unknown link of a law": (
        overrides(forces={"damping": {"link": "base"}}),
        ("robots.a.overrides.forces.damping.link: there is no such link", "found 'base'", "did you mean 'base_link'?"),
    ),
    "NaN": ({"gravity": float("nan")}, ("gravity: must be a finite number", "found nan")),
    "infinity": ({"water": {"density": float("inf")}}, ("water.density: must be a finite number", "found inf")),
    "NaN in a list": (robot(pose={"position": [0, 0, float("nan")]}), ("robots.a.pose.position[2]: must be a finite",)),
    "NaN as a step": ({"step": float("nan")}, ("step: must be a number or a fraction such as 1/200", "found nan")),
    "NaN in an override": (
        overrides(forces={"ballast": {"volume": float("nan")}}),
        ("robots.a.overrides.forces.ballast.volume: must be a finite number", "found nan"),
    ),
    "a negative mass": (ball(mass=-1.0), ("objects.ball.mass: must be greater than 0", "found -1.0")),
    "a mass of nothing": (ball(mass=0), ("objects.ball.mass: must be greater than 0", "found 0")),
    "a negative volume": (ball(volume=-1.0), ("objects.ball.volume: must be greater than or equal to 0", "found -1.0")),
    "a negative volume of a law": (
        overrides(forces={"buoyancy": {"volume": -1}}),
        ("robots.a.overrides.forces.buoyancy.volume: must be greater than 0", "found -1"),
    ),
    "negative damping": (
        overrides(forces={"damping": {"linear": [1, 1, -1, 1, 1, 1]}}),
        ("robots.a.overrides.forces.damping.linear: must not be negative",),
    ),
    "negative added mass": (
        ball(added_mass=[-1, 0, 0, 0, 0, 0]),
        ("objects.ball.added_mass: must not have a negative",),
    ),
    "a sensor faster than the step": (
        overrides(sensors={"odometry": {"frequency": 1000}}),
        ("robots.a.overrides.sensors.odometry.frequency: is faster than the step of 1/200 s", "found '1000'", "200 Hz"),
    ),
    "a step of nothing": ({"step": 0}, ("step: must be greater than 0", "found 0")),
    "a step too long": ({"step": 1}, ("step: must be less than or equal to 1/10", "found 1")),
    "a negative seed": ({"seed": -1}, ("seed: must be greater than or equal to 0", "found -1")),
    "a place beyond the poles": (
        {"reference": {"latitude_deg": 91, "longitude_deg": 0}},
        ("reference.latitude_deg: must be less than or equal to 84", "found 91"),
    ),
    "two headings": (
        robot(pose={"yaw_deg": 0, "heading_deg": 0}),
        ("robots.a.pose: give `yaw_deg` or `heading_deg`, not both",),
    ),
    "a name with a slash": ({"objects": {"a/b": {"geometry": BALL}}}, ("objects.a/b: a name must not", "found 'a/b'")),
    "a command to nobody": (
        robot(commands={"thruster": {"rpm": 5}}),
        ("robots.a.commands.thruster: there is no such act",),
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_bad_value_is_one_message_with_place_value_and_hint(case: str) -> None:
    source, words = MESSAGES[case]
    error = refusal(source)
    message = str(error)
    assert message.startswith(f"scenario: {words[0]}"), message
    for word in words:
        assert word in message
    assert "\n" not in message
    assert isinstance(error, FileError)
    assert len(error.faults) == 1


def test_a_message_is_short_even_if_the_value_is_long() -> None:
    assert len(str(refusal({"seed": "x" * 10_000}))) < 200


# ------------------------------------------------------------------------------------------------ files


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "gone.yaml", ("{folder}/gone.yaml: there is no such file",)),
        (lambda folder: folder, ("there is no such file",)),
        (lambda folder: write(folder / "s.yaml", ""), ("{folder}/s.yaml: must be a mapping of settings",)),
        (lambda folder: write(folder / "s.yaml", "a: [1"), ("{folder}/s.yaml: line 1: is not valid YAML",)),
        (
            lambda folder: write(folder / "s.yaml", "seed: 1\nseed: 2"),
            ("s.yaml: line 2: seed: given twice, first on line 1",),
        ),
        (
            lambda folder: write(folder / "s.yaml", "[" * 10_000),
            ("s.yaml: line 1: is nested more than 100 levels deep",),
        ),
        (
            lambda folder: write(folder / "s.yaml", "name: x\nextends: gone.yaml"),
            ("s.yaml: line 2: extends: ", "gone.yaml: there is no such file"),
        ),
        (
            lambda folder: write(folder / "s.yaml", "terrain:\n  kind: mesh\n  mesh: gone.stl"),
            ("s.yaml: line 3: terrain.mesh: there is no file {folder}/gone.stl",),
        ),
        (
            lambda folder: write(folder / "s.yaml", "objects:\n  a:\n    geometry: {kind: mesh, file: gone.stl}"),
            ("s.yaml: line 3: objects.a.geometry.file: there is no file {folder}/gone.stl",),
        ),
    ],
)
def test_a_bad_file_is_one_message_with_its_place(
    tmp_path: Path, make: Callable[[Path], Path], words: tuple[str, ...]
) -> None:
    message = str(refusal(make(tmp_path)))
    for word in words:
        assert word.format(folder=tmp_path) in message
    assert "\n" not in message


def test_an_unknown_scenario_is_guessed() -> None:
    error = refusal("torpedo_in_stil_water")
    assert isinstance(error, UnknownName)
    assert "did you mean 'torpedo_in_still_water'?" in str(error)


# ------------------------------------------------------------------------------------------------ structure


@pytest.fixture
def boat(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED / "torpedo", tmp_path / "boat"))


BASE_INERTIA = '<inertia ixx="0.0781" iyy="1.8668" izz="1.8668" ixy="0" ixz="0" iyz="0"/>'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '<geometry><cylinder radius="0.06" length="0.02"/></geometry>',
            '<geometry><mesh filename="meshes/gone.stl"/></geometry>',
            (
                'link "propeller_link" / visual / geometry / mesh / filename: there is no such mesh file',
                "meshes/gone.stl",
            ),
        ),
        (
            BASE_INERTIA,
            BASE_INERTIA.replace('"0.0781"', '"0"'),
            ('link "base_link" / inertial / inertia: ', "found [0.0, 1.8668, 1.8668]"),
        ),
        (
            BASE_INERTIA,
            BASE_INERTIA.replace('"0.0781"', '"-0.0781"'),
            ('link "base_link" / inertial / inertia: ', "found [-0.0781, 1.8668, 1.8668]"),
        ),
        (
            BASE_INERTIA,
            BASE_INERTIA.replace('"0.0781"', '"nan"'),
            ('link "base_link" / inertial / inertia / ixx: must be a finite number', "found 'nan'"),
        ),
        (
            '<mass value="21.63"/>',
            '<mass value="-1"/>',
            ('link "base_link" / inertial / mass / value: must be', "found '-1'"),
        ),
        (
            '<child link="nose_link"/>',
            '<child link="nos_link"/>',
            ("there is no such link", "found 'nos_link'", "did you mean 'nose_link'?"),
        ),
        ("</robot>", "", ("is not well-formed XML",)),
    ],
)
def test_a_bad_urdf_is_one_message_with_its_place(boat: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    urdf = boat / "robot.urdf"
    text = urdf.read_text()
    assert text.count(old) == 1
    urdf.write_text(text.replace(old, new))
    message = str(refusal(robot(vehicle=str(boat))))
    assert message.startswith(f"scenario: {urdf}: line ")
    for word in words:
        assert word in message
    assert "\n" not in message


def test_a_missing_urdf_is_reported_with_its_path(boat: Path) -> None:
    (boat / "robot.urdf").unlink()
    message = str(refusal(robot(vehicle=str(boat))))
    assert f"{boat}/vehicle.yaml: line " in message
    assert f"urdf: there is no file {boat}/robot.urdf" in message


def test_a_moving_link_without_mass_is_reported_by_name(boat: Path) -> None:
    urdf = boat / "robot.urdf"
    text = urdf.read_text()
    start = text.index("<inertial>", text.index('<link name="battery_link">'))
    urdf.write_text(text[:start] + text[text.index("</inertial>", start) + len("</inertial>") :])
    error = refusal(robot(vehicle=str(boat)))
    assert isinstance(error, EngineError)
    assert "'battery_link' moves but has no mass" in str(error)


# ------------------------------------------------------------------------------------------------ the engine


def test_what_mujoco_refuses_is_an_engine_error_that_names_the_part(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    write_stl(tmp_path / "plate.stl", Mesh(corners, np.array([[0, 1, 2], [1, 3, 2]], np.int32)))
    error = refusal({"objects": {"plate": {"geometry": {"kind": "mesh", "file": str(tmp_path / "plate.stl")}}}})
    assert isinstance(error, EngineError)
    assert "plate" in str(error)
    assert "coplanar" in str(error)
    assert "\n" not in str(error)


def test_a_body_too_small_for_the_engine_is_an_engine_error_that_names_it() -> None:
    error = refusal(
        {"objects": {"dust": {"geometry": {"kind": "sphere", "radius": 1e-6}, "motion": "dynamic", "mass": 1e-18}}}
    )
    assert isinstance(error, EngineError)
    assert "dust" in str(error)


def test_a_step_too_long_for_an_explicit_integrator_is_refused_with_a_way_out() -> None:
    source = {**overrides(forces={"damping": {"linear": [1e5] * 6}}), "integrator": "rk4"}
    message = str(refusal(source))
    assert message.startswith("the step 1/200 s is too long for RK4")
    assert "'a/" in message
    assert "implicitfast" in message


def test_a_failed_load_leaves_no_trace_in_a_good_one() -> None:
    def run() -> bytes:
        with skerry.load("torpedo_in_still_water", seed=4) as world:
            world.advance(1.0)
            return bytes(world.snapshot())

    before = run()
    bad = (
        {"gravity": "x"},
        overrides(forces={"damping": {"link": "base"}}),
        {"objects": {"dust": {"geometry": {"kind": "sphere", "radius": 1e-6}, "motion": "dynamic", "mass": 1e-18}}},
        "gone",
    )
    for source in bad:
        with pytest.raises(SkerryError):
            skerry.load(source)
        with pytest.raises(SkerryError):
            skerry.load_batch(source, [1, 2])
    assert run() == before
