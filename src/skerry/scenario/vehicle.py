"""A vehicle as data: its structure in a URDF, its functional parts in vehicle.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from skerry.core.config import Config, ExistingFile, KindConfig, faults_of, files_from, of_kind
from skerry.core.documents import Document, Place, read_document
from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.core.urdf import Robot, read_urdf
from skerry.parts.actuator import ACTUATORS
from skerry.parts.controller import CONTROLLERS
from skerry.parts.law import LAWS
from skerry.parts.sensor import SENSORS
from skerry.scenario.merging import merge, parts_without_kind

SHIPPED = Path(__file__).parent.parent / "vehicles"
GROUPS = ("forces", "actuators", "sensors", "controllers")


class VehicleConfig(Config):
    """What vehicle.yaml may say."""

    description: str = ""
    urdf: ExistingFile = Path("robot.urdf")
    self_collision: bool = Field(False, description="whether the vehicle's own links touch each other")
    forces: dict[str, of_kind(LAWS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    actuators: dict[str, of_kind(ACTUATORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    sensors: dict[str, of_kind(SENSORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    controllers: dict[str, of_kind(CONTROLLERS)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    def parts(self) -> list[tuple[str, str, KindConfig]]:
        """Every functional part: its group, name and settings."""
        return [(group, name, config) for group in GROUPS for name, config in getattr(self, group).items()]


@dataclass(frozen=True)
class Vehicle:
    """A vehicle, checked: settings with the scenario's overrides in them, and the structure."""

    config: VehicleConfig
    robot: Robot


def shipped_vehicles() -> list[str]:
    """The names of the vehicles that come with Skerry."""
    return sorted(folder.parent.name for folder in SHIPPED.glob("*/vehicle.yaml"))


def find_vehicle(name: str, folder: Path | None) -> Path | None:
    """The folder of a vehicle: a shipped one's by name, or a path, relative to the file that names it."""
    path = Path(name).expanduser()
    candidates = [SHIPPED / name] if len(path.parts) == 1 else []
    candidates.append(path if path.is_absolute() or folder is None else folder / path)
    return next((candidate for candidate in candidates if (candidate / "vehicle.yaml").is_file()), None)


def read_vehicle(
    name: str,
    overrides: dict[str, Any],
    place: Place,
    document: Document,
    folder: Path | None,
    faults: list[Fault],
) -> Vehicle | None:
    """Read a vehicle with a scenario's overrides; faults go into the list, with their place in the scenario."""
    home = find_vehicle(name, folder)
    if home is None:
        hint = did_you_mean(name, shipped_vehicles()) + " A path names a folder that has a vehicle.yaml"
        at = (*place, "vehicle")
        faults.append(Fault(".".join(map(str, at)), "there is no such vehicle", name, document.line(at), hint))
        return None
    try:
        own = read_document(home / "vehicle.yaml")
    except FileError as error:
        faults.extend(error.faults)
        return None
    base = own.data if isinstance(own.data, dict) else {}
    start = (*place, "overrides")
    lost = parts_without_kind(base, overrides, GROUPS)
    for group, part, known in lost:
        at = (*start, group, part)
        problem = f"the vehicle has no such part; {did_you_mean(part, known)}"
        faults.append(Fault(".".join(map(str, at)), problem, None, document.line(at), "give a `kind` to add a new one"))
    merged = merge(base, overrides)
    try:
        with files_from(home):
            config = VehicleConfig.model_validate(merged)
    except ValidationError as error:
        for fault, at in _located(error, merged, overrides, start, document, own):
            if not any(at[: len(start) + 2] == (*start, group, part) for group, part, _ in lost):
                faults.append(fault)
        return None
    try:
        return Vehicle(config, read_urdf(config.urdf))
    except FileError as error:
        faults.extend(Fault(f"{error.source}: {f.place}", f.problem, f.found, f.line, f.hint) for f in error.faults)
        return None


def _located(
    error: ValidationError, merged: object, overrides: object, start: Place, document: Document, own: Document
) -> list[tuple[Fault, Place]]:
    """The faults of a merged vehicle, each in the file that wrote it: the scenario's overrides, or vehicle.yaml."""
    located = []
    single = Document(own.source, merged, own.lines)
    for fault, detail in zip(faults_of(error, VehicleConfig, single), error.errors(include_url=False), strict=True):
        place = tuple(detail["loc"])
        if _reaches(overrides, place):
            at = (*start, *place)
            shown = ".".join(map(str, (*start, fault.place)))
            located.append((Fault(shown, fault.problem, fault.found, document.line(at), fault.hint), at))
        else:
            located.append(
                (
                    Fault(f"{own.source}: {fault.place}", fault.problem, fault.found, fault.line, fault.hint),
                    place,
                )
            )
    return located


def _reaches(data: object, place: Place) -> bool:
    """Whether the overrides wrote anything at this place; a missing value is its parent's fault."""
    for part in place:
        if not isinstance(data, dict):
            return True
        if part not in data:
            return False
        data = data[part]
    return True
