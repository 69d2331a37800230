"""Robots and objects that are added or removed while the world runs, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skerry.scenario import Scenario
from skerry.scenario.merging import to_plain


@dataclass(frozen=True)
class Change:
    """Robot or object that was added, with its settings, or removed (`settings` is None)."""

    name: str
    settings: Mapping[str, Any] | None


def apply_changes(scenario: Scenario, changes: Sequence[Change]) -> dict[str, Any]:
    """Return the settings of a scenario after changes, not yet checked."""
    data: dict[str, Any] = to_plain(scenario)
    for change in changes:
        if change.settings is not None:
            data["robots" if "vehicle" in change.settings else "objects"][change.name] = change.settings
        else:
            _remove(data, change.name)
    return data


def _remove(data: dict[str, Any], name: str) -> None:
    """Remove a robot or object, ropes that start at it and its events. Ropes that end at it get a free end."""
    for family in ("robots", "objects"):
        data[family].pop(name, None)
    data["ropes"] = {
        rope: {**settings, "end": None if _is_at(settings["end"], name) else settings["end"]}
        for rope, settings in data["ropes"].items()
        if not _is_at(settings["start"], name)
    }
    data["events"] = [event for event in data["events"] if not any(_is_at(value, name) for value in event.values())]


def _is_at(attachment: object, name: str) -> bool:
    return isinstance(attachment, str) and attachment.partition("/")[0] == name
