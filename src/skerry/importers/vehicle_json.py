"""A vehicle as one JSON file: geometry, masses, joints, components and the files they need; and back, to the bit."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import inf, isinf
from pathlib import Path, PurePosixPath
from typing import Any

from skerry import __version__
from skerry.core.errors import Fault, FileError, SkerryError, UnknownName, did_you_mean
from skerry.formats.urdf import Inertial, Mimic, Shape, UrdfJoint, UrdfLink, UrdfRobot
from skerry.formats.yaml_documents import dump_document
from skerry.importers.urdf_text import urdf_of
from skerry.importers.vehicle_folder import new_folder
from skerry.scenario.loading import load_scenario
from skerry.scenario.vehicle import find_vehicle, shipped_vehicles

FORMAT = "skerry vehicle"
VERSION = 1
"""Of the format; it grows when a reader of before would misread a file."""
ENDLESS = {"lower": -inf, "upper": inf, "effort": inf, "velocity": inf}
"""JSON has no infinity: of a joint's limits, null is none."""


@dataclass(frozen=True)
class ExportedVehicle:
    """A vehicle as its JSON holds it; meshes and other files are bytes by their names."""

    name: str
    robot: UrdfRobot
    settings: dict[str, Any]
    files: dict[str, bytes]


# ------------------------------------------------------------------------------------------------ writing


def export_vehicle(vehicle: str) -> dict[str, Any]:
    """The JSON of a vehicle: a shipped one's name, or a path of its folder."""
    path = Path(vehicle).expanduser()
    home = find_vehicle(str(path.resolve()) if path.is_dir() else vehicle, None)
    if home is None:
        hint = did_you_mean(vehicle, shipped_vehicles())
        raise UnknownName(f"there is no vehicle {vehicle!r}; {hint} A path names a folder that has a vehicle.yaml")
    somewhere = {"latitude_deg": 0.0, "longitude_deg": 0.0}  # for parts that want to know where on earth they are
    scenario = {"reference": somewhere, "robots": {"vehicle": {"vehicle": str(home)}}}
    loaded = load_scenario(scenario).vehicles["vehicle"]
    files: dict[Path, str] = {}
    settings = {
        name: value for name, value in loaded.config.model_dump().items() if name not in {"urdf", "attachments"}
    }
    robot = asdict(loaded.robot)
    masses = [link.inertial.mass for link in loaded.robot.links.values() if link.inertial is not None]
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"Skerry {__version__}",
        "name": home.name,
        "conventions": {
            "units": "m, kg, s, rad; names that end in _deg are degrees",
            "axes": "x forward, y left, z up; rpy turns about the parent's fixed x, y, z in this order",
            "limits": "null where there is none",
        },
        "mass": sum(masses),
        "robot": _plain(robot, files),
        "vehicle": _plain(settings, files),
        "files": {name: base64.b64encode(path.read_bytes()).decode("ascii") for path, name in files.items()},
    }


def _plain(value: Any, files: dict[Path, str]) -> Any:
    """What JSON knows; files get names of their own, by which they are found in `files`."""
    if isinstance(value, dict):
        return {key: _plain(inner, files) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, files) for inner in value]
    if isinstance(value, Path):
        return files.setdefault(value, _free_name(value, files.values()))
    return None if isinstance(value, float) and isinf(value) else value


def _free_name(path: Path, taken: Iterable[str]) -> str:
    names, number, name = set(taken), 1, path.name
    while f"meshes/{name}" in names:
        number += 1
        name = f"{path.stem}_{number}{path.suffix}"
    return f"meshes/{name}"


def export_text(vehicle: str) -> str:
    """The same as text."""
    return json.dumps(export_vehicle(vehicle), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# ------------------------------------------------------------------------------------------------ reading


def read_vehicle_json(path: Path) -> ExportedVehicle:
    """Read an exported vehicle; raise `FileError` in words if it is not sound."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(str(path), [Fault("", "there is no such file")]) from None
    except OSError as error:
        raise FileError(str(path), [Fault("", f"cannot be read: {error.strerror}")]) from None
    except ValueError as error:
        raise FileError(str(path), [Fault("", f"is not JSON: {error}")]) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        hint = "`skerry export VEHICLE` writes one"
        raise FileError(str(path), [Fault("format", f"must be {FORMAT!r}", hint=hint)])
    if data.get("version") != VERSION:
        hint = "read it with the Skerry that wrote it, or write it anew"
        raise FileError(str(path), [Fault("version", f"must be {VERSION}", data.get("version"), hint=hint)])
    try:
        files = {_inside(name): base64.b64decode(text, validate=True) for name, text in data["files"].items()}
        return ExportedVehicle(str(data["name"]), _robot(data["robot"]), dict(data["vehicle"]), files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"is not a whole vehicle: {type(error).__name__}: {error}"
        raise FileError(str(path), [Fault("", problem)]) from None


def _inside(name: str) -> str:
    """A name that stays in the folder, whoever wrote it."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\\" in name:
        raise ValueError(f"the file name {name!r} leads out of the vehicle's folder")
    return name


def _robot(data: dict[str, Any]) -> UrdfRobot:
    return UrdfRobot(
        data["name"],
        {name: _link(link) for name, link in data["links"].items()},
        {name: _joint(joint) for name, joint in data["joints"].items()},
        data["root"],
        {name: None if colour is None else tuple(colour) for name, colour in data["materials"].items()},
    )


def _link(data: dict[str, Any]) -> UrdfLink:
    inertial = data["inertial"]
    return UrdfLink(
        data["name"],
        None if inertial is None else Inertial(**{key: _tuples(value) for key, value in inertial.items()}),
        tuple(map(_shape, data["visuals"])),
        tuple(map(_shape, data["collisions"])),
    )


def _shape(data: dict[str, Any]) -> Shape:
    values = {key: _tuples(value) for key, value in data.items()}
    return Shape(**values | {"mesh": None if data["mesh"] is None else Path(_inside(data["mesh"]))})


def _joint(data: dict[str, Any]) -> UrdfJoint:
    values = {key: _tuples(value) for key, value in data.items()}
    values |= {key: endless for key, endless in ENDLESS.items() if data[key] is None}
    return UrdfJoint(**values | {"mimic": None if data["mimic"] is None else Mimic(**data["mimic"])})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write_vehicle_of(exported: ExportedVehicle, folder: Path) -> None:
    """Write the folder of an exported vehicle."""
    new_folder(folder)
    shapes = [
        shape for link in exported.robot.links.values() for shape in (*link.visuals, *link.collisions) if shape.mesh
    ]
    missing = sorted({str(shape.mesh) for shape in shapes if str(shape.mesh) not in exported.files})
    if missing:
        raise SkerryError(f"{exported.name}: the JSON has no file {', '.join(missing)}, which its links name")
    for name, data in exported.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    meshes = {shape.mesh: str(shape.mesh) for shape in shapes if shape.mesh is not None}
    (folder / "robot.urdf").write_text(urdf_of(exported.robot, meshes), encoding="utf-8")
    text = dump_document({**exported.settings, "urdf": "robot.urdf"})
    (folder / "vehicle.yaml").write_text(f"# Imported from JSON that Skerry wrote.\n{text}", encoding="utf-8")
