"""From a name, a path or YAML text to a checked scenario and its vehicles; all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skerry.core.config import faults_of, files_from
from skerry.core.documents import Document, Place, read_document, show_place
from skerry.core.errors import Fault, FileError, UnknownName, did_you_mean
from skerry.parts.component import Mount
from skerry.scenario.merging import merge
from skerry.scenario.schema import Scenario
from skerry.scenario.vehicle import SHIPPED as SHIPPED_VEHICLES
from skerry.scenario.vehicle import Vehicle, find_vehicle, read_vehicle

SHIPPED = Path(__file__).parent.parent / "scenarios"


@dataclass(frozen=True)
class LoadedScenario:
    """A scenario and the vehicles of its robots, checked together."""

    scenario: Scenario
    vehicles: dict[str, Vehicle]


def shipped_scenarios() -> list[str]:
    """The names of the scenarios that come with Skerry."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def find_scenario(name: str | Path, folder: Path | None = None) -> Path:
    """The file of a scenario: a path, relative to `folder` if given, or a shipped scenario's name."""
    path = Path(name).expanduser()
    near = path if folder is None or path.is_absolute() else folder / path
    if near.is_file():
        return near
    if len(path.parts) == 1 and (SHIPPED / f"{path}.yaml").is_file():
        return SHIPPED / f"{path}.yaml"
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileError(str(near), [Fault("", "there is no such file")])
    raise UnknownName(f"there is no scenario {str(name)!r}; {did_you_mean(str(name), shipped_scenarios())}")


def load_scenario(
    source: str | Path | Scenario | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> LoadedScenario:
    """Load and check a scenario: a shipped one's name, a path, a mapping, or a `Scenario`; with values laid over it."""
    folder: Path | None = None
    if isinstance(source, Scenario):
        document = Document("scenario", source.model_dump(mode="json"))
    elif isinstance(source, Mapping):
        document = Document("scenario", dict(source))
    else:
        path = find_scenario(source)
        folder = path.parent.resolve()
        document = _extended(read_document(path), folder, [])
    data = document.data
    if not isinstance(data, dict):
        raise FileError(document.source, [Fault("", "must be a mapping of settings", data)])
    if overrides:
        data = merge(data, dict(overrides))
    if seed is not None:
        data = {**data, "seed": seed}
    return _check(Document(document.source, data, document.lines), folder)


def _extended(document: Document, folder: Path, below: list[str]) -> Document:
    """A scenario laid over the one that it extends."""
    data = document.data
    if not isinstance(data, dict) or "extends" not in data:
        return document
    own = {key: value for key, value in data.items() if key != "extends"}
    line = document.line(("extends",))
    if not isinstance(data["extends"], str):
        raise FileError(document.source, [Fault("extends", "must be a scenario's name or path", data["extends"], line)])
    chain = [*below, document.source]
    try:
        path = find_scenario(data["extends"], folder)
    except (FileError, UnknownName) as error:
        raise FileError(document.source, [Fault("extends", str(error), None, line)]) from None
    if str(path) in chain:
        raise FileError(
            document.source,
            [Fault("extends", f"goes in a circle: {' → '.join([*chain, str(path)])}", None, line)],
        )
    base = _extended(read_document(path), path.parent.resolve(), chain)
    with_files = _absolute_paths(base.data, path.parent.resolve())
    return Document(document.source, merge(with_files, own), {**base.lines, **document.lines})


def _absolute_paths(data: Any, folder: Path) -> Any:
    """The data of a file in another folder, with relative paths of files that exist there made absolute."""
    if isinstance(data, dict):
        return {key: _absolute_paths(value, folder) for key, value in data.items()}
    if isinstance(data, list):
        return [_absolute_paths(value, folder) for value in data]
    if isinstance(data, str) and ("/" in data or "." in data) and len(data) < 1000 and (folder / data).exists():
        return str(folder / data)
    return data


def _check(document: Document, folder: Path | None) -> LoadedScenario:
    faults: list[Fault] = []
    scenario: Scenario | None = None
    with files_from(folder):
        try:
            scenario = Scenario.model_validate(document.data)
        except ValidationError as error:
            faults += faults_of(error, Scenario, document)
    vehicles: dict[str, Vehicle] = {}
    robots = document.data.get("robots")
    for name, robot in robots.items() if isinstance(robots, dict) else ():
        if isinstance(robot, dict) and isinstance(robot.get("vehicle"), str):
            overrides = robot.get("overrides")
            tree = overrides if isinstance(overrides, dict) else {}
            vehicle = read_vehicle(robot["vehicle"], tree, ("robots", name), document, folder, faults)
            if vehicle is not None:
                vehicles[name] = vehicle
                if scenario is not None:
                    faults += _part_faults(scenario, str(name), vehicle, tree, document)
    if faults or scenario is None:
        raise FileError(document.source, faults)
    return LoadedScenario(_with_found_vehicles(scenario, folder), vehicles)


def _part_faults(scenario: Scenario, robot: str, vehicle: Vehicle, overrides: Any, document: Document) -> list[Fault]:
    """Faults that only show when structure, parts and step are seen together."""
    faults = []
    links = list(vehicle.robot.links)
    for group, name, config in vehicle.config.parts():
        written = isinstance(overrides.get(group), dict) and name in overrides[group]
        place: Place = ("robots", robot, "overrides", group, name) if written else ("robots", robot)
        label = show_place(place) if written else f"{show_place(place)} ({group}.{name} of the vehicle)"
        if isinstance(config, Mount) and config.link not in links:
            hint = did_you_mean(config.link, links)
            faults.append(
                Fault(
                    f"{label}.link",
                    "there is no such link",
                    config.link,
                    document.line((*place, "link")),
                    hint,
                )
            )
        frequency = getattr(config, "frequency", None)
        if frequency is not None and frequency * scenario.step > 1:
            fastest = 1 / scenario.step
            faults.append(
                Fault(
                    f"{label}.frequency",
                    f"is faster than the step of {scenario.step} s allows",
                    str(frequency),
                    document.line((*place, "frequency")),
                    f"at most {fastest} Hz, or a shorter step",
                )
            )
    return faults


def _with_found_vehicles(scenario: Scenario, folder: Path | None) -> Scenario:
    """The scenario with paths of vehicles made absolute, so that it can be dumped anywhere."""
    robots = {}
    for name, robot in scenario.robots.items():
        home = find_vehicle(robot.vehicle, folder)
        if home is None or home.parent == SHIPPED_VEHICLES:
            robots[name] = robot
        else:
            robots[name] = robot.model_copy(update={"vehicle": str(home.resolve())})
    return scenario.model_copy(update={"robots": robots})
