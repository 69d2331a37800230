"""The documentation is true: links lead somewhere, every kind and setting is described, and what it shows runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel

from skerry.control.hold import HoldSettings
from skerry.control.loops.allocation import AllocationConfig
from skerry.control.loops.limits import LimitsConfig
from skerry.control.loops.loops import DiveConfig, LoopConfig, LoopsConfig
from skerry.control.loops.navigation import NavigationConfig
from skerry.control.manual.keyboard import KeyConfig
from skerry.core.config import Family
from skerry.core.geo import GeoReference
from skerry.interfaces.okon.course import CourseConfig, StartZone
from skerry.interfaces.ros.bridge.waypoint_settings import WaypointConfig
from skerry.ropes.config import Buoy, Hook, RopeConfig
from skerry.scenario.events import EventConfig
from skerry.scenario.objects import MooringConfig, ObjectConfig, ShapeConfig
from skerry.scenario.pose import PoseConfig
from skerry.scenario.props import shipped_props
from skerry.scenario.schema import RobotConfig, Scenario
from skerry.scenario.trials import TrialsConfig
from skerry.scenario.vehicle import VehicleConfig
from skerry.sensors.camera import PreviewConfig
from skerry.sensors.raycast.ray_sensor import RayViewerConfig
from skerry.sweep.config import (
    ChoiceConfig,
    GridConfig,
    ListConfig,
    LogUniformConfig,
    NormalConfig,
    SweepConfig,
    UniformConfig,
)
from skerry.sweep.expressions import AT_EACH_TIME, OVER_TIME
from skerry.terrain.materials import Material
from skerry.terrain.regions import RegionConfig
from skerry.ui.settings import PageSettings
from skerry.water import WaterConfig
from skerry.world.sampling.trajectory import SERIES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DOCS = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
SCHEMA = (
    Scenario,
    RobotConfig,
    PoseConfig,
    ObjectConfig,
    ShapeConfig,
    MooringConfig,
    GeoReference,
    WaterConfig,
    VehicleConfig,
    KeyConfig,
    HoldSettings,
    LoopsConfig,
    LoopConfig,
    LimitsConfig,
    DiveConfig,
    AllocationConfig,
    NavigationConfig,
    EventConfig,
    Material,
    RegionConfig,
    RayViewerConfig,
    PreviewConfig,
    RopeConfig,
    Buoy,
    Hook,
    CourseConfig,
    StartZone,
    WaypointConfig,
    PageSettings,
    TrialsConfig,
    SweepConfig,
    ListConfig,
    GridConfig,
    UniformConfig,
    LogUniformConfig,
    NormalConfig,
    ChoiceConfig,
)


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ------------------------------------------------------------------------------------------------ links


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert target.resolve().is_relative_to(ROOT), f"{link} leads out of the repository"
        if anchor:
            assert anchor in anchors(target), f"{link}: there is no such heading in {page_name(target)}"


# ------------------------------------------------------------------------------------------------ kinds and settings


def families() -> list[Family]:
    """All families, found in the modules that make one."""
    package = ROOT / "src"
    found: dict[str, Family] = {}
    for path in sorted((package / "skerry").rglob("*.py")):
        if re.search(r"^[A-Z_]+ = \w*Family\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            module = import_module(".".join(path.relative_to(package).with_suffix("").parts))
            found |= {member.name: member for member in vars(module).values() if isinstance(member, Family)}
    return list(found.values())


FAMILIES = families()
KINDS = [(family, kind) for family in FAMILIES for kind in family.kinds()]


def own_settings(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields) - {"kind"}


def need_described(words: set[str]) -> None:
    missing = sorted(word for word in words if f"`{word}`" not in DOCS)
    assert not missing, f"no page in docs/ describes {', '.join(missing)}"


def test_families_are_found() -> None:
    assert {"forces", "sensors", "terrains"} <= {family.name for family in FAMILIES}


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=lambda value: getattr(value, "name", value))
def test_every_kind_and_its_settings_are_described(family: Family, kind: str) -> None:
    found = family.find(kind)
    if found.__module__.startswith("skerry."):
        need_described({kind, *own_settings(found)})


@pytest.mark.parametrize("model", SCHEMA, ids=lambda model: model.__name__)
def test_every_key_of_a_file_is_described(model: type[BaseModel]) -> None:
    need_described(own_settings(model))


# ------------------------------------------------------------------------------------------------ what is shown, runs


@dataclass(frozen=True)
class Block:
    """A code block; ```` ```yaml my.yaml ```` shows the file my.yaml."""

    language: str
    file: str
    text: str


def blocks(page: Path) -> list[Block]:
    pattern = r"^```(\w+)[ ]?(\S*)\n(.*?)^```$"
    found = re.findall(pattern, page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [Block(*parts) for parts in found]


def run_python(text: str) -> None:
    """Run a block as a program of its own: it knows nothing of the others."""
    exec(compile(text, "<block>", "exec"), {"__name__": "__main__"})


Skerry = Callable[..., subprocess.CompletedProcess[str]]


def succeed(skerry: Skerry, *arguments: str) -> None:
    result = skerry(*arguments)
    assert result.returncode == 0, f"{arguments}:\n{result.stdout}{result.stderr}"


def write_files(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


EXAMPLES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "acoustics",
            "actuators",
            "camera",
            "control",
            "husky",
            "import",
            "learning",
            "lidar",
            "okon",
            "page",
            "python",
            "rays",
            "recording",
            "ropes",
            "ros",
            "sea_trials",
            "sensors",
            "sonar",
            "sweeps",
            "terrain",
            "tutorials/drone_recovery",
            "tutorials/ros_stack",
        )
    ),
]


@pytest.mark.parametrize("page", EXAMPLES)
@pytest.mark.usefixtures("here")
def test_page_has_an_example_that_runs(page: str) -> None:
    examples = [block for block in blocks(ROOT / page) if block.language == "python"]
    assert examples
    for example in examples:
        run_python(example.text)


def test_readme_has_exactly_two_commands_to_set_up() -> None:
    commands = [
        line.split()[0]
        for block in blocks(ROOT / "README.md")
        if block.language == "sh"
        for line in block.text.splitlines()
    ]
    assert commands == ["scripts/run", "scripts/test"]


@pytest.mark.parametrize("name", ["first_world", "own_vehicle", "other_simulators_programs", "ten_thousand_dives"])
def test_tutorial_runs_from_top_to_bottom(name: str, skerry: Skerry, here: Path) -> None:
    page = ROOT / "docs" / "tutorials" / f"{name}.md"
    write_files(page, here)
    for block in blocks(page):
        if block.language == "python":
            run_python(block.text)
        for command in block.text.splitlines() if block.language == "sh" else ():
            if command.startswith("skerry "):
                succeed(skerry, *command.split()[1:])


def test_scenario_page_shows_a_scenario_that_is_sound(skerry: Skerry, here: Path) -> None:
    write_files(ROOT / "docs" / "scenario.md", here)
    succeed(skerry, "check", "buoy_and_auv.yaml")


def test_props_page_shows_a_scenario_and_a_prop_that_are_sound(skerry: Skerry, here: Path) -> None:
    write_files(ROOT / "docs" / "props.md", here)
    own = "extends: harbour.yaml\nobjects: {crate: {prop: ./crate.yaml}}\n"
    (here / "with_crate.yaml").write_text(own, encoding="utf-8")
    succeed(skerry, "check", "harbour.yaml", "with_crate.yaml")


def test_ropes_page_shows_a_scenario_that_is_sound(skerry: Skerry, here: Path) -> None:
    write_files(ROOT / "docs" / "ropes.md", here)
    succeed(skerry, "check", "otter_with_a_winch.yaml")


def test_sweeps_page_shows_sweeps_that_run(skerry: Skerry, here: Path) -> None:
    write_files(ROOT / "docs" / "sweeps.md", here)
    for name in ("speeds", "depths"):
        succeed(skerry, "sweep", f"{name}.yaml")
        assert (here / f"{name}_results" / "table.csv").exists()


def test_every_series_and_function_of_metrics_is_described() -> None:
    need_described({*OVER_TIME, *AT_EACH_TIME, *(f"sam.{name}" for name in SERIES)})


def test_every_prop_is_described() -> None:
    need_described(set(shipped_props()))


def test_scenario_page_shows_the_answer_to_a_bad_file(skerry: Skerry, here: Path) -> None:
    page = ROOT / "docs" / "scenario.md"
    write_files(page, here)
    (shown,) = (block.text for block in blocks(page) if block.language == "text")
    result = skerry("check", "bad.yaml")
    assert result.returncode == 1
    assert shown in result.stderr


def in_a_process(program: str, folder: Path) -> None:
    """For what changes Skerry itself."""
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


USE_NEW_PARTS = """
import importlib, pathlib, skerry

for folder in {path.parent for path in pathlib.Path("src").rglob("*.py")}:
    package = importlib.import_module(".".join(folder.parts[1:]))
    package.__path__.append(str(folder.resolve()))
with skerry.load("with_new_parts.yaml") as world:
    auv = world.robots["auv"]
    world.advance(2.0)
    assert abs(auv.sensors["gauge"].reading.depth + auv.pose.position[2]) < 0.1
    assert world.terrain.height([50.0, 0.0]) == -20.0
    assert "air" in auv.forces
"""


USE_NEW_SENSOR = """
import pathlib, sys, tomllib

sys.path.insert(0, ".")  # as an installed package
project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
info = pathlib.Path("turbidity_meter-1.0.dist-info")
info.mkdir()
(info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {project['name']}\\nVersion: {project['version']}\\n")
points = project["entry-points"]["skerry.sensors"]
lines = ["[skerry.sensors]", *(f"{name} = {target}" for name, target in points.items())]
(info / "entry_points.txt").write_text("\\n".join(lines))

import numpy as np
import skerry
from skerry.interfaces.recorder import Recorder
from skerry.runner import Runner
from skerry.ui.assets import Assets
from skerry.ui.scene import describe

with skerry.load("murky.yaml") as world:
    probe = world.robots["auv"].sensors["probe"]
    readings = world.advance(1.0, record=["auv/probe"])["auv/probe"]
    assert np.abs(readings.attenuation - world.water.optics.attenuation[1]).max() < 0.1
    assert readings.units == {"time": "s", "attenuation": "1/m"}
    assert probe.reading == readings[-1]
    (robot,) = describe(world, [], [], Assets())["robots"]
    (shown,) = [sensor["display"] for sensor in robot["sensors"] if sensor["name"] == "probe"]
    assert (shown[0]["kind"], shown[0]["units"]) == ("scalars", {"attenuation": "1/m"})
    with Runner(world, None, {"recorder": Recorder(path="murky.mcap").build()}) as runner:
        runner.run(1.0)

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

with open("murky.mcap", "rb") as file:
    decoded = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(["/auv/probe/probe"])
    found = [(schema.name, message) for schema, _, _, message in decoded]
assert {name for name, _ in found} == {"probe_msgs/msg/Turbidity"}
assert len(found) == 5
message = found[-1][1]
assert message.header.frame_id.startswith("auv/"), message.header
assert 0.1 < message.attenuation < 10.0
"""


def test_a_sensor_works_as_the_tutorial_shows(tmp_path: Path) -> None:
    write_files(ROOT / "docs" / "tutorials" / "own_sensor.md", tmp_path)
    in_a_process(USE_NEW_SENSOR, tmp_path)


def test_new_parts_work_as_the_page_on_adding_them_shows(tmp_path: Path) -> None:
    write_files(ROOT / "docs" / "adding_a_part.md", tmp_path)
    in_a_process(USE_NEW_PARTS, tmp_path)
