"""Writer of a vehicle's folder: robot.urdf, meshes, and vehicle.yaml with the source of each number."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any

from skerry.core.errors import SkerryError
from skerry.formats.urdf import UrdfRobot
from skerry.importers.urdf_text import robot_to_urdf
from skerry.importers.vehicle_draft import PartDraft, VehicleDraft

PLAIN_TEXT = re.compile(r"[A-Za-z_][\w./-]*")
YAML_KEYWORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
WIDTH = 116


def create_folder(folder: Path) -> Path:
    """Create a folder and return it; a folder that exists and contains files is an error, so no file is overwritten."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SkerryError(f"the folder {folder} already exists; choose another one with --out, or remove it")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SkerryError(f"the folder {folder} cannot be created: {error.strerror}") from None
    return folder


def write_draft(draft: VehicleDraft, folder: Path, source: str) -> None:
    """Write a draft into a new folder.

    Args:
        draft: Vehicle to write.
        folder: Folder to create.
        source: Name of the imported file, for comments.
    """
    create_folder(folder)
    try:
        meshes = copy_meshes(draft.robot, folder)
        text = robot_to_urdf(draft.robot, meshes, f"Imported from {source}.")
        (folder / "robot.urdf").write_text(text, encoding="utf-8")
        (folder / "vehicle.yaml").write_text(vehicle_text(draft, source), encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"the folder {folder} cannot be written: {error.strerror}; it is incomplete") from None


def copy_meshes(robot: UrdfRobot, folder: Path) -> dict[Path, str]:
    """Copy the meshes of a robot into `meshes/` and return their new names; equal names get a number."""
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


def vehicle_text(draft: VehicleDraft, source: str) -> str:
    """Return the text of vehicle.yaml."""
    lines = [f"# {draft.robot.name}, imported from {source}. [guess] marks a number that is not in that file."]
    for note in draft.notes:
        lines += [f"# {line}" for line in wrap(note, WIDTH, initial_indent="- ", subsequent_indent="  ")]
    lines += ["", f"description: {_flow(f'{draft.robot.name}, imported from {source}')}", "urdf: robot.urdf"]
    for group in ("forces", "actuators", "sensors"):
        parts = [part for part in draft.parts if part.group == group]
        if parts:
            # A group that contains only comments would be a key without a value, so it is a comment too.
            lines += ["", f"{group}:" if any(part.in_use for part in parts) else f"# {group}:"]
            for part in parts:
                lines += _part_lines(part)
    return "\n".join(lines) + "\n"


def _part_lines(part: PartDraft) -> list[str]:
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
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if PLAIN_TEXT.fullmatch(value) and value.lower() not in YAML_KEYWORDS:
            return value
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
