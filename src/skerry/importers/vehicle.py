"""Import of vehicles: makes a vehicle's folder that runs from a file of another program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from skerry.core.errors import Fault, FileError, SkerryError
from skerry.core.text import count_noun
from skerry.formats.urdf_files import read_urdf
from skerry.importers.actuation import remove_zero_limits, suggest_actuators
from skerry.importers.gazebo import urdf_sensors
from skerry.importers.hydrodynamics import suggest_hydrodynamics
from skerry.importers.mass_estimate import add_missing_masses
from skerry.importers.package_search import find_packages
from skerry.importers.sdf import SdfReader
from skerry.importers.solids import measure_buoyancy, measure_solids
from skerry.importers.stonefish import StonefishReader
from skerry.importers.urdf_repair import repair_urdf
from skerry.importers.vehicle_draft import PartDraft, VehicleDraft
from skerry.importers.vehicle_folder import write_draft
from skerry.importers.vehicle_json import read_vehicle_json, write_exported_vehicle
from skerry.world.check import check_file

CAMERA_NAMES = ("camera", "cam_")


@dataclass(frozen=True)
class ImportedVehicle:
    """Folder, summary and notes of an imported vehicle."""

    folder: Path
    summary: str
    notes: tuple[str, ...]


def import_vehicle(
    path: Path,
    name: str | None = None,
    out: Path | None = None,
    packages: Sequence[Path] = (),
    neutral: bool = False,
) -> ImportedVehicle:
    """Make a vehicle's folder from a URDF, an SDF, a Stonefish scenario or an exported JSON, and check that it runs.

    Args:
        path: File to import.
        name: Name of the vehicle; default: the robot's name in the file.
        out: Folder to create; default: the name of the vehicle in the working directory.
        packages: Folders to search for ROS packages and Gazebo models.
        neutral: Whether to make the vehicle neutrally buoyant, whatever its shapes displace.

    Raises:
        SkerryError: The file is invalid, or the folder exists.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        exported = read_vehicle_json(path)
        folder = out or Path(name or exported.name)
        write_exported_vehicle(exported, folder)
        return ImportedVehicle(folder, _check_folder(folder), ())
    reader = READERS.get(suffix)
    if reader is None:
        hint = "`skerry import-terrain` imports terrain" if suffix in TERRAIN_SUFFIXES else ""
        raise FileError(
            str(path), [Fault("", f"is not a vehicle file; expected one of {', '.join(SUFFIXES)}", hint=hint)]
        )
    draft = reader(path, packages)
    complete_draft(draft, neutral)
    draft.notes = list(dict.fromkeys(draft.notes))  # eight thrusters with the same plugin give one note
    folder = out or Path(name or draft.robot.name)
    write_draft(draft, folder, path.name)
    return ImportedVehicle(folder, _check_folder(folder), tuple(draft.notes))


def complete_draft(draft: VehicleDraft, neutral: bool = False) -> None:
    """Add parts that the file lacks: masses, limits, hydrodynamic forces, actuators, odometry."""
    solids = measure_solids(draft.robot)
    floats = None if draft.floats is None else measure_buoyancy(draft.robot, draft.floats)
    draft.robot = remove_zero_limits(add_missing_masses(draft.robot, solids, draft.notes), draft.notes)
    draft.parts = suggest_hydrodynamics(draft.robot, solids, draft.notes, neutral, floats) + draft.parts
    given = {part.name for part in draft.parts}
    draft.parts += [part for part in suggest_actuators(draft.robot, draft.notes) if part.name not in given]
    draft.parts += _suggested_cameras(draft)
    if "odometry" not in given:
        settings = {"kind": "odometry", "link": draft.robot.root, "frequency": 10}
        draft.parts.append(PartDraft("sensors", "odometry", settings, "True motion of the vehicle."))


def _suggested_cameras(draft: VehicleDraft) -> list[PartDraft]:
    """Return suggestions, not in use, for links that are named like a camera and carry no sensor."""
    used = {part.settings.get("link") for part in draft.parts if part.group == "sensors"}
    suggested = []
    for link in draft.robot.links:
        name = link.lower()
        if any(part in name for part in CAMERA_NAMES) and "optical" not in name and link not in used:
            settings = {"kind": "camera", "link": link, "frequency": 10, "width": 640, "height": 480}
            reason = f"{link} is named like a camera. Not in use: remove the # and set the lens of your camera."
            suggested.append(PartDraft("sensors", link.removesuffix("_link"), settings, reason, in_use=False))
    return suggested


def read_urdf_draft(path: Path, packages: Sequence[Path]) -> VehicleDraft:
    """Return the draft of a URDF with the sensors of its <gazebo> elements."""
    notes: list[str] = []
    robot = read_urdf(path, find_packages(packages), lambda root: repair_urdf(root, notes))
    draft = VehicleDraft(robot, notes=notes)
    root = ElementTree.parse(path).getroot()
    draft.parts += urdf_sensors(root, robot, draft.notes)
    if transmissions := root.findall("transmission"):
        draft.notes.append(f"{count_noun(len(transmissions), '<transmission>')} left out: joints get servos of Skerry")
    return draft


def _check_folder(folder: Path) -> str:
    try:
        return check_file(str(folder))
    except SkerryError as error:
        raise SkerryError(f"{folder} was written, but a world cannot be built with it: {error}") from None


READERS: dict[str, Callable[[Path, Sequence[Path]], VehicleDraft]] = {
    ".urdf": read_urdf_draft,
    ".xacro": read_urdf_draft,  # accepted only if it is a plain URDF; the error names the command that converts it
    ".xml": read_urdf_draft,
    ".sdf": SdfReader.read_file,
    ".world": SdfReader.read_file,
    ".scn": StonefishReader.read_file,
}
SUFFIXES = (*READERS, ".json")
TERRAIN_SUFFIXES = (".tif", ".tiff", ".asc", ".npy", ".npz", ".stl", ".obj", ".dae")
