"""From a name, a path or a mapping to a checked scenario and its vehicles; all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from skerry.scenario.vehicle import Vehicle, read_vehicle

SHIPPED = Path(__file__).parent.parent / "scenarios"


@dataclass(frozen=True)
class LoadedScenario:
    """A scenario and the vehicles of its robots, checked together."""

    scenario: Scenario
    vehicles: dict[str, Vehicle]


def shipped_scenarios() -> list[str]:
    """The names of the scenarios that come with Skerry."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def describe_shipped_scenarios() -> dict[str, str]:
    """What each of them says of itself, by name; read from its file alone, without all that it is made of."""
    return {name: read_document(SHIPPED / f"{name}.yaml").data.get("description", "") for name in shipped_scenarios()}


def find_scenario(name: str | Path, folder: Path | None = None) -> Path:
    """The file of a scenario: a path, relative to `folder` if given, or a shipped scenario's name."""
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
    """Load and check a scenario: a shipped one's name, a path, a mapping, or a `Scenario`; with values laid over it."""
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
    """A scenario laid over the one that it extends; the chain is the files that led here."""
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
        raise UnknownName(f"must be a scenario's name or path, not {name!r}")
    path = find_scenario(name, folder).resolve()
    if path in chain:
        raise UnknownName(f"goes in a circle: {' → '.join(map(str, [*chain, path]))}")
    return path


def keeps_null(place: KeyPath) -> bool:
    """What overrides a vehicle or a prop is laid over it later, and only then do its nulls remove their parts."""
    if place[0] == "objects":
        return len(place) > 2
    return len(place) > 3 and place[0] == "robots" and place[2] == "overrides"


def _given(name: str, data: Scenario | Mapping[str, Any]) -> Document:
    """Values that a program gave: they have a place, but no line."""
    settings = to_plain(data)
    return Document(name, settings, {place: Origin(name, place, None) for place in _places(settings, ())})


def _places(data: Any, place: KeyPath) -> list[KeyPath]:
    found = [place]
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            found += _places(value, (*place, key))
    return found


# ------------------------------------------------------------------------------------------------ checks


def _check(given: Document, folder: Path) -> LoadedScenario:
    # A scenario can be dumped anywhere, and what it overrides in a vehicle is relative to itself.
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
    return LoadedScenario(scenario, vehicles)


def _step_of(data: dict[str, Any]) -> Fraction | None:
    """The step, if it is sound, whatever else is not."""
    try:
        return Scenario.model_validate({key: value for key, value in data.items() if key == "step"}).step
    except ValidationError:
        return None


def _in_order(faults: list[Fault]) -> list[Fault]:
    """In the order of lines, those of other files last; a fault of a vehicle that two robots share is told once."""
    once = {str(fault): fault for fault in faults}
    return sorted(once.values(), key=lambda fault: (fault.line is None, fault.line or 0))
