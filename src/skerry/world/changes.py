"""What comes into a world and what goes, while it runs: as data, and what becomes of what users hold."""

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
    """A robot or object that came, with its settings, or that went."""

    name: str
    settings: Mapping[str, Any] | None


def changed(scenario: Scenario, changes: Sequence[Change]) -> dict[str, Any]:
    """What a scenario is after changes, not yet checked."""
    data: dict[str, Any] = to_plain(scenario)
    for change in changes:
        if change.settings is not None:
            data["robots" if "vehicle" in change.settings else "objects"][change.name] = change.settings
        else:
            _take_out(data, change.name)
    return data


def _take_out(data: dict[str, Any], name: str) -> None:
    """Remove a robot or object, what begins at it and what would happen to it; what ends at it ends nowhere."""
    for family in ("robots", "objects"):
        data[family].pop(name, None)
    data["ropes"] = {
        rope: {**settings, "end": None if _is_at(settings["end"], name) else settings["end"]}
        for rope, settings in data["ropes"].items()
        if not _is_at(settings["start"], name)
    }
    data["events"] = [event for event in data["events"] if not any(_is_at(value, name) for value in event.values())]


def _is_at(place: object, name: str) -> bool:
    return isinstance(place, str) and place.partition("/")[0] == name


def follow(world: World, new: World) -> None:
    """Let a world, and what users hold of it, be another that was built anew, part by part of the same name."""
    for name in world.robots.keys() & new.robots.keys():
        for family in PARTS:
            _pair_up(getattr(world.robots[name], family), getattr(new.robots[name], family))
    for family in ("robots", "objects", "ropes"):
        _pair_up(getattr(world, family), getattr(new, family))
    _become(world, new)


def _pair_up(old: Mapping[str, object], new: Mapping[str, object]) -> None:
    for name in old.keys() & new.keys():
        _become(old[name], new[name])


def _become(old: object, new: object) -> None:
    """From now on the two are one thing with two names: what either is told, both know.

    They share the old one's dictionary, which those who became one with it earlier have too.
    """
    shared, values = old.__dict__, dict(new.__dict__)
    shared.clear()
    shared.update(values)
    object.__setattr__(new, "__dict__", shared)
