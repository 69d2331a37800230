"""Loading of a scenario and its vehicles from a name, a path or a mapping; all faults are reported together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skerry.core.config import expand_user, faults_of, is_file, resolve_paths_from
from skerry.core.document import Document, KeyPath, Origin
from skerry.core.errors import Fault, FileError, UnknownName, did_you_mean
from skerry.formats.yaml_documents import read_document
from skerry.scenario.events import event_faults
from skerry.scenario.merging import overlay, to_plain
from skerry.scenario.paths import with_absolute_paths
from skerry.scenario.props import with_props
from skerry.scenario.schema import Scenario
from skerry.scenario.vehicle import GROUPS, Vehicle, read_vehicle

SHIPPED = Path(__file__).parent.parent / "scenarios"


@dataclass(frozen=True)
class LoadedScenario:
    """Scenario with the vehicles of its robots, checked together."""

    scenario: Scenario
    vehicles: dict[str, Vehicle]
    document: Document = field(repr=False, compare=False)

    def locate(self, message: str) -> str:
        """Return an error message of the build, with the file and line of the part that it begins with.

        Args:
            message: Message such as `sam.sensors.dvl: …`, `sam.thruster1: …`, `objects.buoy: …` or `buoy: …`.
        """
        first, *rest = message.partition(": ")[0].replace("/", ".").split(".")
        document = self.document
        path: KeyPath = ("robots" if first in self.vehicles else "objects", first)
        if first in self.vehicles and rest:
            config = self.vehicles[first].config
            group = next((group for group in GROUPS if rest[0] in getattr(config, group)), None)
            document, path = self.vehicles[first].document, (rest[0], *rest[1:2]) if group is None else (group, rest[0])
        elif first not in self.vehicles and first not in self.scenario.objects:
            path = (first, *rest)
        origin = next((found for end in range(len(path), 0, -1) if (found := document.origins.get(path[:end]))), None)
        return message if origin is None or origin.line is None else f"{message} ({origin.source}, line {origin.line})"


def shipped_scenarios() -> list[str]:
    """Return the names of the shipped scenarios."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def describe_shipped_scenarios() -> dict[str, str]:
    """Return the descriptions of the shipped scenarios by name; only the scenario files are read."""
    return {name: read_document(SHIPPED / f"{name}.yaml").data.get("description", "") for name in shipped_scenarios()}


def find_scenario(name: str | Path, folder: Path | None = None) -> Path:
    """Return the file of a scenario.

    Args:
        name: Path of a file, or name of a shipped scenario.
        folder: Folder that a relative path refers to; the working directory by default.

    Raises:
        FileError: The path does not exist.
        UnknownName: There is no shipped scenario of this name; the message has a guess.
    """
    path = expand_user(name)
    near = path if folder is None or path.is_absolute() else folder / path
    if is_file(near):
        return near
    if len(path.parts) == 1 and is_file(SHIPPED / f"{path}.yaml"):
        return SHIPPED / f"{path}.yaml"
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileError(str(near), [Fault("", "there is no such file")])
    raise UnknownName(f"there is no scenario {str(name)!r}; {did_you_mean(str(name), shipped_scenarios())}")


def load_scenario(
    source: str | Path | Scenario | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> LoadedScenario:
    """Load and check a scenario.

    Args:
        source: Name of a shipped scenario, path of a file, mapping, or `Scenario`.
        overrides: Settings that are laid over those of the scenario.
        seed: Seed that replaces the scenario's.

    Raises:
        FileError: The scenario or one of its vehicles has faults; the error lists all of them.
    """
    if isinstance(source, Scenario | Mapping):
        folder, chain = Path.cwd(), []
        document = _given("scenario", source)
    else:
        path = find_scenario(source)
        folder, chain = path.parent.resolve(), [path.resolve()]
        document = read_document(path)
    document = _extended(document, folder, chain)
    if overrides:
        document = overlay(document, _given("overrides", overrides), document.source, keeps_null)
    if seed is not None:
        document = overlay(document, _given("argument", {"seed": seed}), document.source)
    return _check(document, folder)


# ------------------------------------------------------------------------------------------------ layers


def _extended(document: Document, folder: Path, chain: list[Path]) -> Document:
    """Return a scenario laid over the one it extends; `chain` are the files of the scenarios above it."""
    data = document.data
    if not isinstance(data, dict):
        raise FileError(document.source, [Fault("", "must be a mapping of settings", data)])
    if "extends" not in data:
        return document
    try:
        path = _base_of(data["extends"], folder, chain)
    except (FileError, UnknownName) as error:
        raise FileError(document.source, [document.fault(("extends",), str(error))]) from None
    base = _extended(read_document(path), path.parent, [*chain, path])
    own = {key: value for key, value in data.items() if key != "extends"}
    return overlay(
        Document(base.source, with_absolute_paths(base.data, path.parent), base.origins),
        Document(document.source, own, document.origins),
        document.source,
        keeps_null,
    )


def _base_of(name: object, folder: Path, chain: list[Path]) -> Path:
    if not isinstance(name, str):
        raise UnknownName(f"must be the name or path of a scenario, found {name!r}")
    path = find_scenario(name, folder).resolve()
    if path in chain:
        raise UnknownName(f"forms a cycle: {' → '.join(map(str, [*chain, path]))}")
    return path


def keeps_null(path: KeyPath) -> bool:
    """Return whether a null at a path is kept: overrides of vehicles and props are applied later, with their nulls."""
    if path[0] == "objects":
        return len(path) > 2
    return len(path) > 3 and path[0] == "robots" and path[2] == "overrides"


def _given(name: str, data: Scenario | Mapping[str, Any]) -> Document:
    """Return settings from a program as a document; its values have a path but no line."""
    settings = to_plain(data)
    return Document(name, settings, {path: Origin(name, path, None) for path in _all_paths(settings, ())})


def _all_paths(data: Any, path: KeyPath) -> list[KeyPath]:
    found = [path]
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            found += _all_paths(value, (*path, key))
    return found


# ------------------------------------------------------------------------------------------------ checks


def _check(given: Document, folder: Path) -> LoadedScenario:
    # Absolute paths, because a scenario can be dumped to any folder and its overrides are relative to its own folder.
    robots = with_absolute_paths(given.data.get("robots"), folder)
    document = Document(given.source, {**given.data, "robots": robots} if robots else given.data, given.origins)
    faults: list[Fault] = []
    document = with_props(document, folder, faults)
    scenario: Scenario | None = None
    with resolve_paths_from(folder):
        try:
            scenario = Scenario.model_validate(document.data)
        except ValidationError as error:
            faults += faults_of(error, Scenario, document)
    step = _step_of(document.data)
    vehicles: dict[str, Vehicle] = {}
    for name, robot in robots.items() if isinstance(robots, dict) else ():
        if isinstance(robot, dict) and isinstance(robot.get("vehicle"), str):
            vehicle = read_vehicle(document, name, folder, step, faults)
            if vehicle is not None:
                vehicles[name] = vehicle
    if scenario is not None and len(vehicles) == len(scenario.robots):
        movable = {name: not robot.anchored for name, robot in scenario.robots.items()}
        movable |= {name: thing.motion != "static" for name, thing in scenario.objects.items()}
        faults += event_faults(document, scenario.events, vehicles, movable)
    if faults or scenario is None:
        raise FileError(document.source, _in_order(faults))
    return LoadedScenario(scenario, vehicles, document)


def _step_of(data: dict[str, Any]) -> Fraction | None:
    """Return the step if it is valid, even if other settings are not."""
    try:
        return Scenario.model_validate({key: value for key, value in data.items() if key == "step"}).step
    except ValidationError:
        return None


def _in_order(faults: list[Fault]) -> list[Fault]:
    """Return faults sorted by line, those of other files last; duplicates from a shared vehicle are removed."""
    once = {str(fault): fault for fault in faults}
    return sorted(once.values(), key=lambda fault: (fault.line is None, fault.line or 0))
