"""From a file of another program to a vehicle's folder that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from skerry.core.errors import Fault, FileError, SkerryError
from skerry.core.text import count_noun
from skerry.formats.urdf_files import read_urdf
from skerry.importers.actuation import suggest_actuators, with_sound_limits
from skerry.importers.draft import Draft, Part
from skerry.importers.gazebo import urdf_sensors
from skerry.importers.guessed_mass import with_guessed_mass
from skerry.importers.hydrodynamics import suggest_hydrodynamics
from skerry.importers.packages import find_packages
from skerry.importers.sdf import SdfReader
from skerry.importers.solids import floats_of, solids_of
from skerry.importers.stonefish import StonefishReader
from skerry.importers.urdf_slips import mend
from skerry.importers.vehicle_folder import write_draft
from skerry.importers.vehicle_json import read_vehicle_json, write_vehicle_of
from skerry.world.check import check_file

CAMERA_WORDS = ("camera", "cam_")


@dataclass(frozen=True)
class ImportedVehicle:
    """Where a vehicle was written, what it is, and what people should look at."""

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
    """Make a vehicle's folder of a URDF, an SDF, a Stonefish scenario or an exported JSON.

    The folder is `out`, or named after the vehicle in the working folder. A world is built with it to see that it runs.
    One that is `neutral` is made to float freely, however large its shapes are.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        exported = read_vehicle_json(path)
        folder = out or Path(name or exported.name)
        write_vehicle_of(exported, folder)
        return ImportedVehicle(folder, _checked(folder), ())
    reader = READERS.get(suffix)
    if reader is None:
        hint = "`skerry import-terrain` takes ground" if suffix in TERRAIN_SUFFIXES else ""
        raise FileError(str(path), [Fault("", f"is none of {', '.join(SUFFIXES)}", hint=hint)])
    draft = reader(path, packages)
    complete(draft, neutral)
    draft.notes = list(dict.fromkeys(draft.notes))  # a plugin for each of eight thrusters is told once
    folder = out or Path(name or draft.robot.name)
    write_draft(draft, folder, path.name)
    return ImportedVehicle(folder, _checked(folder), tuple(draft.notes))


def complete(draft: Draft, neutral: bool = False) -> None:
    """Add all that the file does not say: masses, limits, the water's laws, actuators, a sensor to be found by."""
    solids = solids_of(draft.robot)
    floats = None if draft.floats is None else floats_of(draft.robot, draft.floats)
    draft.robot = with_sound_limits(with_guessed_mass(draft.robot, solids, draft.notes), draft.notes)
    draft.parts = suggest_hydrodynamics(draft.robot, solids, draft.notes, neutral, floats) + draft.parts
    given = {part.name for part in draft.parts}
    draft.parts += [part for part in suggest_actuators(draft.robot, draft.notes) if part.name not in given]
    draft.parts += _suggested_cameras(draft)
    if "odometry" not in given:
        settings = {"kind": "odometry", "link": draft.robot.root, "frequency": 10}
        draft.parts.append(Part("sensors", "odometry", settings, "Its true motion, so that others can find it."))


def _suggested_cameras(draft: Draft) -> list[Part]:
    """Links that are named like a camera but carry none; in a ROS camera's frame if they are named so."""
    used = {part.settings.get("link") for part in draft.parts if part.group == "sensors"}
    suggested = []
    for link in draft.robot.links:
        words = link.lower()
        if any(word in words for word in CAMERA_WORDS) and "optical" not in words and link not in used:
            settings = {"kind": "camera", "link": link, "frequency": 10, "width": 640, "height": 480}
            reason = f"{link} is named like a camera's place. Not in use: take away the # and give the lens of yours."
            suggested.append(Part("sensors", link.removesuffix("_link"), settings, reason, in_use=False))
    return suggested


def draft_of_urdf(path: Path, packages: Sequence[Path]) -> Draft:
    """A URDF, with the sensors of its Gazebo extensions."""
    notes: list[str] = []
    robot = read_urdf(path, find_packages(packages), lambda root: mend(root, notes))
    draft = Draft(robot, notes=notes)
    root = ElementTree.parse(path).getroot()
    draft.parts += urdf_sensors(root, robot, draft.notes)
    if transmissions := root.findall("transmission"):
        draft.notes.append(
            f"{count_noun(len(transmissions), '<transmission>')} left out: joints have servos of their own"
        )
    return draft


def _checked(folder: Path) -> str:
    try:
        return check_file(str(folder))
    except SkerryError as error:
        raise SkerryError(f"{folder} was written, but does not build a world yet: {error}") from None


Reader = Callable[[Path, Sequence[Path]], Draft]
READERS: dict[str, Reader] = {
    ".urdf": draft_of_urdf,
    ".xacro": draft_of_urdf,  # which refuses it, and says what to do, unless it is a plain URDF
    ".xml": draft_of_urdf,
    ".sdf": SdfReader.draft,
    ".world": SdfReader.draft,
    ".scn": StonefishReader.draft,
}
SUFFIXES = (*READERS, ".json")
TERRAIN_SUFFIXES = (".tif", ".tiff", ".asc", ".npy", ".npz", ".stl", ".obj", ".dae")
