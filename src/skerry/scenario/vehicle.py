"""Vehicle files: the structure in a URDF, the functional parts in vehicle.yaml."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

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
MEASURING = ("sensors", "acoustics")


class AlternativesConfig(Config):
    """Settings of sensors of which at most one is on. Switching one on switches the others off."""

    sensors: tuple[str, ...] = Field(min_length=2, description="names of the sensors")
    active: str | None = Field(None, description="sensor that is on at the start; none by default")

    @model_validator(mode="after")
    def _check_active(self) -> AlternativesConfig:
        if self.active is not None and self.active not in self.sensors:
            hint = did_you_mean(self.active, self.sensors)
            raise ValueError(f"`active: {self.active}` is not one of `sensors`; {hint}")
        return self


class VehicleConfig(Config):
    """Schema of vehicle.yaml."""

    description: str = ""
    urdf: ExistingFile = Path("robot.urdf")
    attachments: tuple[ExistingFile, ...] = Field(
        (), description="URDF files with additional links; the root link of each is a link of the vehicle"
    )
    self_collision: bool = Field(False, description="whether links of the vehicle collide with each other")
    friction: NonNegative | None = Field(None, description="sliding friction coefficient of its links; 1 by default")
    trim_density: Positive | None = Field(
        None, description="density of the water in which it is neutrally buoyant, kg/m³; that of the world by default"
    )
    forces: dict[str, config_of(LAWS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    actuators: dict[str, config_of(ACTUATORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    sensors: dict[str, config_of(SENSORS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    controllers: dict[str, config_of(CONTROLLERS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    acoustics: dict[str, config_of(ACOUSTICS)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    alternatives: dict[str, AlternativesConfig] = Field({}, description="groups of sensors with at most one on")
    ropes: dict[str, RopeConfig] = Field({}, description="ropes of the vehicle, by name")
    keys: dict[str, KeyConfig] = Field({}, description="keyboard keys and their commands")
    trials: TrialsConfig | None = Field(None, description="commands for sea trials")

    def parts(self) -> list[tuple[str, str, ComponentConfig]]:
        """Return all functional parts as (group, name, settings)."""
        return [(group, name, config) for group in GROUPS for name, config in getattr(self, group).items()]


@dataclass(frozen=True)
class Vehicle:
    """Checked vehicle: settings, with the scenario's overrides applied, and structure."""

    config: VehicleConfig
    robot: UrdfRobot
    document: Document = field(repr=False, compare=False)


def shipped_vehicles() -> list[str]:
    """Return the names of the shipped vehicles."""
    return sorted(folder.parent.name for folder in SHIPPED.glob("*/vehicle.yaml"))


def find_vehicle(name: str, folder: Path | None) -> Path | None:
    """Return the folder of a vehicle, or None.

    Args:
        name: Name of a shipped vehicle, or path of a folder. `./husky` is always a path.
        folder: Folder that a relative path refers to.
    """
    path = expand_user(name)
    candidates = [SHIPPED / name] if name == path.name else []
    candidates.append(path if path.is_absolute() or folder is None else folder / path)
    return next((candidate for candidate in candidates if is_file(candidate / "vehicle.yaml")), None)


def read_vehicle(
    scenario: Document, robot: str, folder: Path | None, step: Fraction | None, faults: list[Fault]
) -> Vehicle | None:
    """Read the vehicle of a robot and apply the robot's overrides.

    Args:
        scenario: Scenario document.
        robot: Name of the robot.
        folder: Folder of the scenario file.
        step: Length of a step, s; None if it is invalid.
        faults: List to which faults are added, each with its location in the vehicle's or the scenario's file.

    Returns:
        The vehicle, or None if it has faults that prevent further checks.
    """
    path: KeyPath = ("robots", robot)
    name = scenario.part((*path, "vehicle")).data
    home = find_vehicle(name, folder)
    if home is None:
        hint = _guess(name, shipped_vehicles(), "A path must name a folder with a vehicle.yaml")
        faults.append(scenario.fault((*path, "vehicle"), "there is no such vehicle", name, hint))
        return None
    try:
        own = read_document(home / "vehicle.yaml")
        if not isinstance(own.data, dict):
            raise FileError(own.source, [Fault("", "must be a mapping of settings", own.data)])
    except FileError as error:
        faults += _faults_elsewhere(error)
        return None
    document = _with_overrides(own, scenario, path, faults)
    if "none" in (scenario.data.get("noise"), scenario.part(path).data.get("noise")):
        document = _without_noise(document)
    config = _check(document, home, faults)
    if config is None:
        return None
    try:
        structure = attach(read_urdf(config.urdf), config.attachments)
    except FileError as error:
        faults += _faults_elsewhere(error)
        return None
    broken = _left_out(document.data, config)  # other parts may refer to these, which is not reported as a fault
    found = _part_faults(config, structure, document, step)
    faults += [fault for fault in found if str(fault.found).partition(".")[0] not in broken]
    if not scenario.data.get("reference"):
        problem = "needs the scenario's `reference`, the position of the world's origin on the Earth"
        faults += [
            document.fault(("sensors", name), problem) for name, part in config.sensors.items() if part.needs_reference
        ]
    faults += _command_faults({*config.actuators, *broken}, scenario, path)
    return Vehicle(config, structure, document)


def _with_overrides(own: Document, scenario: Document, path: KeyPath, faults: list[Fault]) -> Document:
    robot = scenario.part(path).data
    if not isinstance(robot.get("overrides"), dict):
        return Document(scenario.source, own.data, own.origins)
    overrides = scenario.part((*path, "overrides"))
    document = overlay(own, overrides, scenario.source)
    unknown = parts_without_kind(own.data, overrides.data, GROUPS)
    for group, part, known in unknown:
        hint = _guess(str(part), known, "A new part needs a `kind`")
        faults.append(document.fault((group, part), "the vehicle has no such part", hint=hint))
    data = _without(document.data, [(group, part) for group, part, _ in unknown])
    data = _without_removed_parts(data, overrides.data)
    return Document(document.source, data, document.origins)


def _without_noise(document: Document) -> Document:
    """Return the vehicle with `noise: none` in all parts that measure."""
    exact = {}
    for group in MEASURING:
        if isinstance(parts := document.data.get(group), dict):
            exact[group] = {
                name: {**part, "noise": "none"} if isinstance(part, dict) else part for name, part in parts.items()
            }
    return Document(document.source, document.data | exact, document.origins)


def _check(document: Document, home: Path, faults: list[Fault]) -> VehicleConfig | None:
    """Return the settings. Parts with faults are left out, so that the other parts can be checked too."""
    with resolve_paths_from(home):
        try:
            return VehicleConfig.model_validate(document.data)
        except ValidationError as error:
            faults += faults_of(error, VehicleConfig, document)
            paths = [detail["loc"][:2] for detail in error.errors(include_url=False)]
        try:
            return VehicleConfig.model_validate(_without(document.data, paths))
        except ValidationError:
            return None


def _left_out(data: dict[str, Any], config: VehicleConfig) -> set[str]:
    """Return the names of parts that were left out of the settings because they have faults."""
    groups = {group: data[group] for group in GROUPS if isinstance(data.get(group), dict)}
    return {str(name) for group, parts in groups.items() for name in parts if name not in getattr(config, group)}


def _without(data: dict[str, Any], paths: list[KeyPath]) -> dict[str, Any]:
    """Return the settings without the parts, or the top-level keys, that these paths lead to."""
    kept = {}
    for key, value in data.items():
        if key in GROUPS and isinstance(value, dict):
            kept[key] = {name: part for name, part in value.items() if (key, name) not in paths}
        elif all(path[:1] != (key,) for path in paths):
            kept[key] = value
    return kept


def _without_removed_parts(data: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without key commands for actuators and controllers that the overrides remove.

    The settings of sea trials are removed as soon as one of their parts is.
    """
    groups = [overrides.get(group) for group in ("actuators", "controllers")]
    removed = {name for group in groups if isinstance(group, dict) for name, part in group.items() if part is None}
    trials = data.get("trials")
    if isinstance(trials, dict):
        named = {str(name).partition(".")[0] for part in trials.values() if isinstance(part, dict) for name in part}
        emptied = [group for group in ("actuators", "controllers") if group in overrides and overrides[group] is None]
        if named & removed or (emptied and named - {name for group in GROUPS for name in data.get(group) or ()}):
            data = {key: value for key, value in data.items() if key != "trials"}
    keys = data.get("keys")
    if not removed or not isinstance(keys, dict):
        return data
    kept = {}
    for key, binding in keys.items():
        commands = binding.get("commands") if isinstance(binding, dict) else None
        if not isinstance(commands, dict):
            kept[key] = binding
        elif left := {name: value for name, value in commands.items() if str(name).partition(".")[0] not in removed}:
            kept[key] = {**binding, "commands": left}
    return {**data, "keys": kept}


def _part_faults(config: VehicleConfig, structure: UrdfRobot, document: Document, step: Fraction | None) -> list[Fault]:
    """Return the faults that depend on structure, parts and step together."""
    faults = []
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
            problem = f"is faster than the step of {step} s"
            hint = f"use at most {1 / step} Hz, or a shorter step"
            faults.append(document.fault((group, name, "frequency"), problem, str(frequency), hint))
    faults += _rope_faults(config, structure, document)
    manual_setpoints = [
        f"{name}.{setpoint}" for name, part in config.controllers.items() for setpoint in part.manual_setpoints
    ]
    for key, binding in config.keys.items():
        path: KeyPath = ("keys", key, "commands")
        faults += _missing_parts(
            binding.commands, [*config.actuators, *manual_setpoints], "actuator or setpoint", path, document
        )
    for group, choice in config.alternatives.items():
        where: KeyPath = ("alternatives", group, "sensors")
        faults += _missing_parts(choice.sensors, config.sensors, "sensor", where, document)
    if config.trials is not None:
        known = [*config.actuators, *manual_setpoints]
        faults += _missing_parts(config.trials.commanded, known, "actuator or setpoint", ("trials",), document)
        faults += _missing_parts(config.trials.hold, config.controllers, "controller", ("trials", "hold"), document)
    return faults


def _rope_faults(config: VehicleConfig, structure: UrdfRobot, document: Document) -> list[Fault]:
    """Return a fault for each rope with an unknown link or winch."""
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
    names: Iterable[str], known: Collection[str], what: str, path: KeyPath, document: Document
) -> list[Fault]:
    """Return a fault for each unknown name."""
    return [
        document.fault(path, f"there is no such {what}", name, did_you_mean(name, known))
        for name in names
        if name not in known
    ]


def _command_faults(actuators: Collection[str], scenario: Document, path: KeyPath) -> list[Fault]:
    commands = scenario.part(path).data.get("commands")
    return [
        scenario.fault((*path, "commands", name), "there is no such actuator", None, did_you_mean(name, actuators))
        for name in (commands if isinstance(commands, dict) else ())
        if name not in actuators
    ]


def _guess(name: str, known: list[str], otherwise: str) -> str:
    guess = did_you_mean(name, known)
    return f"{guess}{'' if guess.endswith('?') else '.'} {otherwise}"


def _faults_elsewhere(error: FileError) -> list[Fault]:
    """Return the faults of another file as faults of the file that refers to it."""
    faults = []
    for fault in error.faults:
        line = "" if fault.line is None else f"line {fault.line}: "
        location = f"{error.source}: {line}{fault.location}".removesuffix(": ")
        faults.append(Fault(location, fault.problem, fault.found, None, fault.hint))
    return faults
