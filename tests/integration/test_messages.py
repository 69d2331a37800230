"""Error messages: names of the SMaRC simulator, complete lists, file and line, meshes in millimetres, keywords."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import skerry
from skerry.cli._settings import setting_rows
from skerry.cli.app import app
from skerry.cli.list import _families
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.smarc_names import SMARC_NAMES
from skerry.ropes.config import RopeConfig
from skerry.scenario.schema import Scenario

REFERENCE = {"latitude_deg": 0, "longitude_deg": 0}


def known_names() -> set[str]:
    """Return all kinds and settings of Skerry."""
    models = [family.find(kind) for family in _families() for kind in family.kinds()]
    kinds = {kind for family in _families() for kind in family.kinds()}
    rows = [row for model in (*models, Scenario, RopeConfig) for row in setting_rows(model)]
    return kinds | {word for row in rows for word in row[0].split(".")}


def test_every_suggestion_for_a_smarc_name_exists() -> None:
    known = known_names()
    for name, suggestions in SMARC_NAMES.items():
        assert set(suggestions) <= known, name


@pytest.mark.parametrize(
    ("kind", "key", "guess"),
    [
        ("sss", "beams", "sidescan"),
        ("DepthPressure", "noise", "pressure"),
        ("sidescan", "num_buckets_per_beam", "buckets"),
        ("sidescan", "MultGain", "gain"),
        ("dvl", "angle_from_vertical", "janus_angle_deg"),
        ("dvl", "Min Hits To Report", "minimum_hits"),
        ("pressure", "Include Atmo. Pressure", "include_atmosphere"),
    ],
)
def test_names_of_smarc_are_understood(kind: str, key: str, guess: str) -> None:
    sensor = {"kind": kind, "link": "base_link", "frequency": 1, key: 1}
    robot = {"vehicle": "sam", "overrides": {"sensors": {"extra": sensor}}}
    with pytest.raises(SkerryError, match=f"did you mean '{guess}'"):
        skerry.load({"robots": {"sam": robot}, "reference": REFERENCE})


def test_a_hint_lists_all_names_or_the_nearest() -> None:
    few = [f"part{number}" for number in range(30)]
    assert did_you_mean("xyz", few) == f"known: {', '.join(sorted(few))}"
    many = [f"part{number}" for number in range(99)] + ["xyloq"]
    hint = did_you_mean("xyzzy", many)
    assert hint.startswith("the nearest of 100 known names: ")
    assert "xyloq" in hint


def test_a_command_without_a_keyword_tells_it() -> None:
    with skerry.load("sam_in_the_bay") as world, pytest.raises(SkerryError, match=r"command\(rpm=5\)"):
        world.robots["sam"].actuators["thruster1"].command(5)


BALL = """\
reference: {latitude_deg: 0, longitude_deg: 0}
objects:
  ball:
    geometry: {kind: sphere, radius: 100}
    motion: dynamic
    mass: 1
"""
ROVER = """\
reference: {latitude_deg: 0, longitude_deg: 0}
robots:
  rover:
    vehicle: husky
    overrides:
      forces:
        frontLeftTyre: {motor: shoulder}
"""


@pytest.mark.parametrize(("text", "line"), [(BALL, 3), (ROVER, 7)])
def test_an_error_of_the_build_names_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SkerryError, match=rf"\({path}, line {line}\)"):
        skerry.load(path)


def test_an_error_of_the_build_names_the_file_of_the_vehicle() -> None:
    robot = {"vehicle": "husky", "overrides": {"actuators": {"rearLeftWheel": None}, "controllers": {"drive": None}}}
    with pytest.raises(SkerryError, match=r"rearLeftTyre.*husky/vehicle.yaml, line \d+\)"):
        skerry.load({"robots": {"rover": robot}, "reference": REFERENCE})


def box_mesh(path: Path, half: float) -> Path:
    """Write a closed cube as OBJ."""
    corners = np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)])
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {' '.join(map(str, face))}" for face in faces]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_mesh_in_millimetres_is_recognised_by_its_volume(tmp_path: Path) -> None:
    mesh = str(box_mesh(tmp_path / "box.obj", 200.0))
    thing: dict[str, Any] = {"motion": "dynamic", "mass": 50, "pose": {"position": [0, 0, -5]}}
    with pytest.raises(SkerryError, match=r"volume of 6.4e\+07 m³ .* 50 kg; a mesh in millimetres"):
        skerry.load({"objects": {"box": {**thing, "geometry": {"kind": "mesh", "file": mesh}}}})
    scaled = {"kind": "mesh", "file": mesh, "scale": [0.001, 0.001, 0.001]}
    with skerry.load({"objects": {"box": {**thing, "geometry": scaled}}}) as world:
        world.advance(1.0)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("dvl", [("janus_angle_deg", "22.5", "°"), ("max_range", "50", "m"), ("frequency", "required", "Hz")]),
        ("tyre", [("slip_speed", "3", "m/s")]),
        ("flat", [("level", "0", "m"), ("friction", "0.6", "")]),
    ],
)
def test_the_settings_of_a_kind_are_listed_with_units_and_defaults(kind: str, rows: list[tuple[str, ...]]) -> None:
    shown = CliRunner().invoke(app, ["list", kind], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    for name, *cells in rows:
        line = next(line for line in shown.output.splitlines() if line.split()[:1] == [name])
        assert all(cell in line for cell in cells), line


def test_every_kind_has_rows() -> None:
    for family in _families():
        for kind in family.kinds():
            assert all(name and kind_of for name, kind_of, *_ in setting_rows(family.find(kind)))
