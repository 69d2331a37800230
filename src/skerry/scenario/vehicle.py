"""A vehicle as data: its structure in a URDF, its functional parts in vehicle.yaml."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from skerry.control.manual.keyboard import KeyConfig
from skerry.core.config import (
    Config,
    ExistingFile,
    NonNegative,
    Positive,
    config_of,
    expand_user,
    faults_of,
    is_file,
    resolve_paths_from,
)
from skerry.core.document import Document, KeyPath
from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.formats.attachments import attach
from skerry.formats.urdf import UrdfRobot
from skerry.formats.urdf_files import read_urdf
from skerry.formats.yaml_documents import read_document
from skerry.parts.acoustics import ACOUSTICS
from skerry.parts.actuator import ACTUATORS
from skerry.parts.component import ComponentConfig
from skerry.parts.controller import CONTROLLERS, ControllerConfig
from skerry.parts.law import LAWS
from skerry.parts.sensor import SENSORS, SensorConfig
from skerry.ropes.config import RopeConfig
from skerry.scenario.merging import overlay, parts_without_kind
from skerry.scenario.trials import TrialsConfig

SHIPPED = Path(__file__).parent.parent / "vehicles"
GROUPS = ("forces", "actuators", "sensors", "controllers", "acoustics")


class VehicleConfig(Config):
    """What vehicle.yaml may say."""

    description: str = ""
    urdf: ExistingFile = Path("robot.urdf")
    attachments: tuple[ExistingFile, ...] = Field(
        (), description="URDF files with links that it may carry; the topmost link of each is one of the vehicle's"
    )
    self_collision: bool = Field(False, description="whether the vehicle's own links touch each other")
    friction: NonNegative | None = Field(None, description="sliding coefficient of its links; 1 by default")
    tyres: tuple[str, ...] = Field((), description="links that touch softly, as wheels with tyres do")
    trim_density: Positive | None = Field(
        None, description="kg/m³ of the water that it floats freely in; the world's by default"
    )
    forces: dict[str, config_of(LAWS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    actuators: dict[str, config_of(ACTUATORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    sensors: dict[str, config_of(SENSORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    controllers: dict[str, config_of(CONTROLLERS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    acoustics: dict[str, config_of(ACOUSTICS)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    ropes: dict[str, RopeConfig] = Field({}, description="ropes that it carries, by name")
    keys: dict[str, KeyConfig] = Field({}, description="what each key of a keyboard does")
    trials: TrialsConfig | None = Field(None, description="how it is handled in sea trials")

    def parts(self) -> list[tuple[str, str, ComponentConfig]]:
        """Every functional part: its group, name and settings."""
        return [(group, name, config) for group in GROUPS for name, config in getattr(self, group).items()]


@dataclass(frozen=True)
class Vehicle:
    """A vehicle, checked: settings with the scenario's overrides in them, and the structure."""

    config: VehicleConfig
    robot: UrdfRobot


def shipped_vehicles() -> list[str]:
    """The names of the vehicles that come with Skerry."""
    return sorted(folder.parent.name for folder in SHIPPED.glob("*/vehicle.yaml"))


def find_vehicle(name: str, folder: Path | None) -> Path | None:
    """The folder of a vehicle: a shipped one's by name, or a path, relative to the file that names it.

    `husky` is the shipped one first, `./husky` never.
    """
    path = expand_user(name)
    candidates = [SHIPPED / name] if name == path.name else []
    candidates.append(path if path.is_absolute() or folder is None else folder / path)
    return next((candidate for candidate in candidates if is_file(candidate / "vehicle.yaml")), None)


def read_vehicle(
    scenario: Document, robot: str, folder: Path | None, step: Fraction | None, faults: list[Fault]
) -> Vehicle | None:
    """Read a robot's vehicle with its overrides; faults go into the list, each with its place in the file at fault."""
    place: KeyPath = ("robots", robot)
    name = scenario.part((*place, "vehicle")).data
    home = find_vehicle(name, folder)
    if home is None:
        hint = _guess(name, shipped_vehicles(), "A path names a folder that has a vehicle.yaml")
        faults.append(scenario.fault((*place, "vehicle"), "there is no such vehicle", name, hint))
        return None
    try:
        own = read_document(home / "vehicle.yaml")
        if not isinstance(own.data, dict):
            raise FileError(own.source, [Fault("", "must be a mapping of settings", own.data)])
    except FileError as error:
        faults += _faults_elsewhere(error)
        return None
    document = _with_overrides(own, scenario, place, faults)
    config = _check(document, home, faults)
    if config is None:
        return None
    try:
        structure = attach(read_urdf(config.urdf), config.attachments)
    except FileError as error:
        faults += _faults_elsewhere(error)
        return None
    broken = _left_out(document.data, config)  # that others name these is no fault of theirs
    found = _part_faults(config, structure, document, step)
    faults += [fault for fault in found if str(fault.found).partition(".")[0] not in broken]
    if not scenario.data.get("reference"):
        problem = "needs the scenario's `reference`, the place on earth of the world's origin"
        faults += [
            document.fault(("sensors", name), problem) for name, part in config.sensors.items() if part.needs_reference
        ]
    faults += _command_faults({*config.actuators, *broken}, scenario, place)
    return Vehicle(config, structure)


def _with_overrides(own: Document, scenario: Document, place: KeyPath, faults: list[Fault]) -> Document:
    robot = scenario.part(place).data
    if not isinstance(robot.get("overrides"), dict):
        return Document(scenario.source, own.data, own.origins)
    overrides = scenario.part((*place, "overrides"))
    document = overlay(own, overrides, scenario.source)
    lost = parts_without_kind(own.data, overrides.data, GROUPS)
    for group, part, known in lost:
        hint = _guess(str(part), known, "A new part needs a `kind`")
        faults.append(document.fault((group, part), "the vehicle has no such part", hint=hint))
    sound = _without(document.data, [(group, part) for group, part, _ in lost])
    sound = _without_lost_names(sound, overrides.data)
    return Document(document.source, sound, document.origins)


def _check(document: Document, home: Path, faults: list[Fault]) -> VehicleConfig | None:
    """The settings; where parts are at fault, those of the others, so that their faults can be found too."""
    with resolve_paths_from(home):
        try:
            return VehicleConfig.model_validate(document.data)
        except ValidationError as error:
            faults += faults_of(error, VehicleConfig, document)
            places = [detail["loc"][:2] for detail in error.errors(include_url=False)]
        try:
            return VehicleConfig.model_validate(_without(document.data, places))
        except ValidationError:
            return None


def _left_out(data: dict[str, Any], config: VehicleConfig) -> set[str]:
    """The names of parts that are in a file but not in its settings, as they are at fault."""
    groups = {group: data[group] for group in GROUPS if isinstance(data.get(group), dict)}
    return {str(name) for group, parts in groups.items() for name in parts if name not in getattr(config, group)}


def _without(data: dict[str, Any], places: list[KeyPath]) -> dict[str, Any]:
    """The settings without those parts, or without the whole settings, at which there are faults."""
    kept = {}
    for key, value in data.items():
        if key in GROUPS and isinstance(value, dict):
            kept[key] = {name: part for name, part in value.items() if (key, name) not in places}
        elif all(place[:1] != (key,) for place in places):
            kept[key] = value
    return kept


def _without_lost_names(data: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """The settings without what keys command of actuators and controllers that the overrides take away.

    Sea trials need all that they name, and go with the first of it.
    """
    groups = [overrides.get(group) for group in ("actuators", "controllers")]
    gone = {name for group in groups if isinstance(group, dict) for name, part in group.items() if part is None}
    trials = data.get("trials")
    if isinstance(trials, dict):
        named = {str(name).partition(".")[0] for part in trials.values() if isinstance(part, dict) for name in part}
        emptied = [group for group in ("actuators", "controllers") if group in overrides and overrides[group] is None]
        if named & gone or (emptied and named - {name for group in GROUPS for name in data.get(group) or ()}):
            data = {key: value for key, value in data.items() if key != "trials"}
    keys = data.get("keys")
    if not gone or not isinstance(keys, dict):
        return data
    kept = {}
    for key, does in keys.items():
        commands = does.get("commands") if isinstance(does, dict) else None
        if not isinstance(commands, dict):
            kept[key] = does
        elif left := {name: value for name, value in commands.items() if str(name).partition(".")[0] not in gone}:
            kept[key] = {**does, "commands": left}
    return {**data, "keys": kept}


def _part_faults(config: VehicleConfig, structure: UrdfRobot, document: Document, step: Fraction | None) -> list[Fault]:
    """Faults that only show when structure, parts and step are seen together."""
    faults = []
    for number, tyre in enumerate(config.tyres):
        if tyre not in structure.links:
            hint = did_you_mean(tyre, structure.links)
            faults.append(document.fault(("tyres", number), "there is no such link", tyre, hint))
    for group, name, part in config.parts():
        link = getattr(part, "link", None)
        if link is not None and link not in structure.links:
            hint = did_you_mean(link, structure.links)
            faults.append(document.fault((group, name, "link"), "there is no such link", link, hint))
        for joint in part.needs_joints if isinstance(part, SensorConfig) else ():
            moving = [name for name, found in structure.joints.items() if found.kind != "fixed"]
            if joint not in moving:
                hint = did_you_mean(joint, moving)
                faults.append(document.fault((group, name), "there is no such moving joint", joint, hint))
        if isinstance(part, ControllerConfig):
            faults += _missing_parts(part.needs_actuators, config.actuators, "actuator", (group, name), document)
            faults += _missing_parts(part.needs_sensors, config.sensors, "sensor", (group, name), document)
        frequency = getattr(part, "frequency", None)
        if frequency is not None and step is not None and frequency * step > 1:
            problem = f"is faster than the step of {step} s allows"
            hint = f"at most {1 / step} Hz, or a shorter step"
            faults.append(document.fault((group, name, "frequency"), problem, str(frequency), hint))
    faults += _rope_faults(config, structure, document)
    manual_setpoints = [f"{name}.{dial}" for name, part in config.controllers.items() for dial in part.manual_setpoints]
    for key, does in config.keys.items():
        place: KeyPath = ("keys", key, "commands")
        faults += _missing_parts(
            does.commands, [*config.actuators, *manual_setpoints], "actuator or dial", place, document
        )
    if config.trials is not None:
        known = [*config.actuators, *manual_setpoints]
        faults += _missing_parts(config.trials.commanded, known, "actuator or dial", ("trials",), document)
        faults += _missing_parts(config.trials.hold, config.controllers, "controller", ("trials", "hold"), document)
    return faults


def _rope_faults(config: VehicleConfig, structure: UrdfRobot, document: Document) -> list[Fault]:
    """Faults of ropes whose links or winches are not there."""
    faults = []
    for name, rope in config.ropes.items():
        for setting in ("start", "end"):
            link = getattr(rope, setting)
            if isinstance(link, str) and link not in structure.links:
                hint = did_you_mean(link, structure.links)
                faults.append(document.fault(("ropes", name, setting), "there is no such link", link, hint))
        winches = [part for part, settings in config.actuators.items() if settings.kind == "winch"]
        if rope.winch is not None and rope.winch not in winches:
            hint = did_you_mean(rope.winch, winches)
            faults.append(document.fault(("ropes", name, "winch"), "there is no such winch", rope.winch, hint))
    return faults


def _missing_parts(
    names: Iterable[str], known: Collection[str], what: str, place: KeyPath, document: Document
) -> list[Fault]:
    """A fault for each name that is not known."""
    return [
        document.fault(place, f"there is no such {what}", name, did_you_mean(name, known))
        for name in names
        if name not in known
    ]


def _command_faults(actuators: Collection[str], scenario: Document, place: KeyPath) -> list[Fault]:
    commands = scenario.part(place).data.get("commands")
    return [
        scenario.fault((*place, "commands", name), "there is no such actuator", None, did_you_mean(name, actuators))
        for name in (commands if isinstance(commands, dict) else ())
        if name not in actuators
    ]


def _guess(name: str, known: list[str], otherwise: str) -> str:
    guess = did_you_mean(name, known)
    return f"{guess}{'' if guess.endswith('?') else '.'} {otherwise}"


def _faults_elsewhere(error: FileError) -> list[Fault]:
    """The faults of another file, as those of the file that names it."""
    faults = []
    for fault in error.faults:
        line = "" if fault.line is None else f"line {fault.line}: "
        place = f"{error.source}: {line}{fault.location}".removesuffix(": ")
        faults.append(Fault(place, fault.problem, fault.found, None, fault.hint))
    return faults
