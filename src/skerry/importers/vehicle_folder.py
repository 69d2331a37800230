"""Writes a vehicle's folder: robot.urdf, its meshes, and a vehicle.yaml that says why each number is what it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any

from skerry.core.errors import SkerryError
from skerry.formats.urdf import UrdfRobot
from skerry.importers.draft import Draft, Part
from skerry.importers.urdf_text import urdf_of

PLAIN = re.compile(r"[A-Za-z_][\w./-]*")
TAKEN_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
WIDTH = 116


def new_folder(folder: Path) -> Path:
    """Make a folder that was not there, or was empty; nothing is ever written over."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SkerryError(f"{folder} is there already; choose another place by --out, or move it away")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SkerryError(f"{folder} cannot be made: {error.strerror}") from None
    return folder


def write_draft(draft: Draft, folder: Path, source: str) -> None:
    """Write a drafted vehicle into a new folder; `source` is the file that it came from."""
    new_folder(folder)
    try:
        meshes = copy_meshes(draft.robot, folder)
        text = urdf_of(draft.robot, meshes, f"Imported from {source}.")
        (folder / "robot.urdf").write_text(text, encoding="utf-8")
        (folder / "vehicle.yaml").write_text(vehicle_text(draft, source), encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"{folder} cannot be written: {error.strerror}; it is not complete") from None


def copy_meshes(robot: UrdfRobot, folder: Path) -> dict[Path, str]:
    """Copy the meshes of a robot into `meshes/`; their new names, those of the same name told apart by a number."""
    names: dict[Path, str] = {}
    for mesh in _meshes(robot):
        name, number = mesh.name, 1
        while f"meshes/{name}" in names.values():
            number += 1
            name = f"{mesh.stem}_{number}{mesh.suffix}"
        (folder / "meshes").mkdir(exist_ok=True)
        shutil.copyfile(mesh, folder / "meshes" / name)
        names[mesh] = f"meshes/{name}"
    return names


def _meshes(robot: UrdfRobot) -> Iterable[Path]:
    shapes = [shape for link in robot.links.values() for shape in (*link.visuals, *link.collisions)]
    return dict.fromkeys(shape.mesh for shape in shapes if shape.mesh is not None)


# ------------------------------------------------------------------------------------------------ vehicle.yaml


def vehicle_text(draft: Draft, source: str) -> str:
    """The text of vehicle.yaml."""
    lines = [f"# {draft.robot.name}, imported from {source}. [guess] is a number that nothing in that file says."]
    for note in draft.notes:
        lines += [f"# {line}" for line in wrap(note, WIDTH, initial_indent="- ", subsequent_indent="  ")]
    lines += ["", f"description: {_flow(f'{draft.robot.name}, imported from {source}')}", "urdf: robot.urdf"]
    for group in ("forces", "actuators", "sensors"):
        parts = [part for part in draft.parts if part.group == group]
        if parts:
            # A group whose parts are all comments would be a key without a value.
            lines += ["", f"{group}:" if any(part.in_use for part in parts) else f"# {group}:"]
            for part in parts:
                lines += _part_lines(part)
    return "\n".join(lines) + "\n"


def _part_lines(part: Part) -> list[str]:
    mark = "  " if part.in_use else "  # "
    lines = [f"  # {line}" for line in wrap(part.reason, WIDTH)]
    lines.append(f"{mark}{part.name}:")
    for key, value in part.settings.items():
        if key == "points":
            lines.append(f"{mark}  {key}:")
            lines += [f"{mark}    - {_flow(point)}" for point in value]
        else:
            lines.append(f"{mark}  {key}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if PLAIN.fullmatch(value) and value.lower() not in TAKEN_WORDS:
            return value
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
