"""Robots and objects that are added or removed while the world runs, and the references that users hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skerry.scenario import Scenario
from skerry.scenario.merging import to_plain

if TYPE_CHECKING:
    from skerry.world.world import World

PARTS = ("actuators", "sensors", "controllers", "acoustics")


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


def rebind(world: World, new: World) -> None:
    """Make `world` and its robots, objects, ropes and parts share the state of those of the same names in `new`.

    References that callers hold therefore stay valid after a rebuild.
    """
    for name in world.robots.keys() & new.robots.keys():
        for family in PARTS:
            _rebind_all(getattr(world.robots[name], family), getattr(new.robots[name], family))
    for family in ("robots", "objects", "ropes"):
        _rebind_all(getattr(world, family), getattr(new, family))
    _rebind_one(world, new)


def _rebind_all(old: Mapping[str, object], new: Mapping[str, object]) -> None:
    for name in old.keys() & new.keys():
        _rebind_one(old[name], new[name])


def _rebind_one(old: object, new: object) -> None:
    """Make `old` and `new` share one state: the attribute dictionary of `old`, with the values of `new`.

    Objects of earlier rebuilds share the dictionary of `old` too, so they get the new values as well.
    """
    shared, values = old.__dict__, dict(new.__dict__)
    shared.clear()
    shared.update(values)
    object.__setattr__(new, "__dict__", shared)
