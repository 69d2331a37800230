"""Props: ready-made objects, one file each. A scenario selects them by name and may override their settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skerry.core.config import expand_user, is_file
from skerry.core.document import Document, KeyPath
from skerry.core.errors import Fault, FileError, did_you_mean
from skerry.formats.yaml_documents import read_document
from skerry.scenario.merging import overlay
from skerry.scenario.objects import ObjectConfig
from skerry.scenario.paths import with_absolute_paths

SHIPPED = Path(__file__).parent.parent / "props"


def shipped_props() -> list[str]:
    """Return the names of the shipped props."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def read_prop(name: str) -> ObjectConfig:
    """Read and check a shipped prop."""
    return ObjectConfig.load(read_document(SHIPPED / f"{name}.yaml"), SHIPPED)


def find_prop(name: str, folder: Path | None) -> Path | None:
    """Return the file of a prop, or None.

    Args:
        name: Name of a shipped prop, or path of a file.
        folder: Folder that a relative path refers to.
    """
    path = expand_user(name)
    candidates = [SHIPPED / f"{name}.yaml"] if len(path.parts) == 1 else []
    candidates.append(path if path.is_absolute() or folder is None else folder / path)
    return next((candidate for candidate in candidates if is_file(candidate)), None)


def with_props(scenario: Document, folder: Path | None, faults: list[Fault]) -> Document:
    """Return the scenario with each object laid over its prop.

    Objects with an unknown prop are removed, and a fault is added to `faults`.
    """
    objects = scenario.data.get("objects")
    if not isinstance(objects, dict):
        return scenario
    whole, origins = dict(objects), dict(scenario.origins)
    for name, thing in objects.items():
        if not isinstance(thing, dict) or thing.get("prop") is None:
            whole[name] = _without_nulls(thing)
            continue
        key_path: KeyPath = ("objects", name)
        prop = _read(scenario, (*key_path, "prop"), thing["prop"], folder, faults)
        if prop is None:
            del whole[name]
            continue
        own = scenario.part(key_path)
        settings = {key: value for key, value in own.data.items() if key != "prop"}
        laid = overlay(prop, Document(own.source, settings, own.origins), scenario.source)
        whole[name] = _without_nulls(laid.data)
        origins |= {(*key_path, *at): origin for at, origin in laid.origins.items()}
    return Document(scenario.source, {**scenario.data, "objects": whole}, origins)


def _without_nulls(data: Any) -> Any:
    """Return settings without the keys whose value is null."""
    if not isinstance(data, dict):
        return data
    return {key: _without_nulls(value) for key, value in data.items() if value is not None}


def _read(
    scenario: Document, key_path: KeyPath, name: object, folder: Path | None, faults: list[Fault]
) -> Document | None:
    path = find_prop(name, folder) if isinstance(name, str) else None
    if path is None:
        hint = did_you_mean(str(name), shipped_props())
        hint += f"{'' if hint.endswith('?') else '.'} A path must name a YAML file of an object"
        faults.append(scenario.fault(key_path, "there is no such prop", name, hint))
        return None
    try:
        prop = read_document(path)
        if not isinstance(prop.data, dict):
            raise FileError(prop.source, [Fault("", "must be a mapping of settings", prop.data)])
    except FileError as error:
        faults.append(scenario.fault(key_path, str(error)))
        return None
    return Document(prop.source, with_absolute_paths(prop.data, path.parent.resolve()), prop.origins)
