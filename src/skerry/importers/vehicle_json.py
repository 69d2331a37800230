"""Export of a vehicle as one JSON file (geometry, masses, joints, components, files), and its exact import."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import inf, isinf
from pathlib import Path, PurePosixPath
from typing import Any

from skerry.core.errors import Fault, FileError, SkerryError, UnknownName, did_you_mean
from skerry.formats.urdf import Inertial, Mimic, Shape, UrdfJoint, UrdfLink, UrdfRobot
from skerry.formats.yaml_documents import dump_document
from skerry.importers.urdf_text import robot_to_urdf
from skerry.importers.vehicle_folder import create_folder
from skerry.scenario.loading import load_scenario
from skerry.scenario.vehicle import find_vehicle, shipped_vehicles

FORMAT = "skerry vehicle"
VERSION = 1
"""Version of the format; it increases when an older reader would misread a file."""
NO_LIMITS = {"lower": -inf, "upper": inf, "effort": inf, "velocity": inf}
"""Values of a joint's limits that are null in JSON, which has no infinity."""


@dataclass(frozen=True)
class ExportedVehicle:
    """Vehicle of a JSON file; `files` are the bytes of meshes and other files by name."""

    name: str
    robot: UrdfRobot
    settings: dict[str, Any]
    files: dict[str, bytes]


# ------------------------------------------------------------------------------------------------ writing


def export_vehicle(vehicle: str) -> dict[str, Any]:
    """Return the JSON object of a vehicle, given by the name of a shipped vehicle or the path of a folder."""
    path = Path(vehicle).expanduser()
    home = find_vehicle(str(path.resolve()) if path.is_dir() else vehicle, None)
    if home is None:
        hint = did_you_mean(vehicle, shipped_vehicles())
        raise UnknownName(f"there is no vehicle {vehicle!r}; {hint} A path must name a folder with a vehicle.yaml")
    reference = {"latitude_deg": 0.0, "longitude_deg": 0.0}  # some sensors need a position on Earth
    scenario = {"reference": reference, "robots": {"vehicle": {"vehicle": str(home)}}}
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
        "written_by": f"Skerry {version('skerry')}",
        "name": home.name,
        "conventions": {
            "units": "m, kg, s, rad; names that end in _deg are degrees",
            "axes": "x forward, y left, z up; rpy turns about the parent's fixed x, y, z in this order",
            "limits": "null where there is none",
        },
        "mass": sum(masses),
        "robot": _to_json(robot, files),
        "vehicle": _to_json(settings, files),
        "files": {name: base64.b64encode(path.read_bytes()).decode("ascii") for path, name in files.items()},
    }


def _to_json(value: Any, files: dict[Path, str]) -> Any:
    """Convert a value to JSON; paths are replaced by names, which are added to `files`."""
    if isinstance(value, dict):
        return {key: _to_json(inner, files) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(inner, files) for inner in value]
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
    """Return the JSON text of a vehicle; see `export_vehicle`."""
    return json.dumps(export_vehicle(vehicle), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# ------------------------------------------------------------------------------------------------ reading


def read_vehicle_json(path: Path) -> ExportedVehicle:
    """Read an exported vehicle; raise a `FileError` if the file is invalid."""
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
        hint = "import it with the version of Skerry that wrote it, or export it again"
        raise FileError(str(path), [Fault("version", f"must be {VERSION}", data.get("version"), hint=hint)])
    try:
        files = {_check_name(name): base64.b64decode(text, validate=True) for name, text in data["files"].items()}
        return ExportedVehicle(str(data["name"]), _robot(data["robot"]), dict(data["vehicle"]), files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"is not a complete vehicle: {type(error).__name__}: {error}"
        raise FileError(str(path), [Fault("", problem)]) from None


def _check_name(name: str) -> str:
    """Return a file name after checking that it stays in the vehicle's folder."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\\" in name:
        raise ValueError(f"the file name {name!r} is outside the vehicle's folder")
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
    return Shape(**values | {"mesh": None if data["mesh"] is None else Path(_check_name(data["mesh"]))})


def _joint(data: dict[str, Any]) -> UrdfJoint:
    values = {key: _tuples(value) for key, value in data.items()}
    values |= {key: value for key, value in NO_LIMITS.items() if data[key] is None}
    return UrdfJoint(**values | {"mimic": None if data["mimic"] is None else Mimic(**data["mimic"])})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write_exported_vehicle(exported: ExportedVehicle, folder: Path) -> None:
    """Write an exported vehicle into a new folder."""
    create_folder(folder)
    shapes = [
        shape for link in exported.robot.links.values() for shape in (*link.visuals, *link.collisions) if shape.mesh
    ]
    missing = sorted({str(shape.mesh) for shape in shapes if str(shape.mesh) not in exported.files})
    if missing:
        raise SkerryError(f"{exported.name}: the JSON lacks the files {', '.join(missing)}, which its links need")
    for name, data in exported.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    meshes = {shape.mesh: str(shape.mesh) for shape in shapes if shape.mesh is not None}
    (folder / "robot.urdf").write_text(robot_to_urdf(exported.robot, meshes), encoding="utf-8")
    text = dump_document({**exported.settings, "urdf": "robot.urdf"})
    (folder / "vehicle.yaml").write_text(f"# Imported from a JSON file of `skerry export`.\n{text}", encoding="utf-8")
