"""Key paths in a scenario, written as `robots.sam.pose.position[2]`: parse, resolve, read and set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from skerry.core.document import KeyPath, format_key_path
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.scenario.loading import LoadedScenario
from skerry.scenario.merging import to_plain

_STEP = re.compile(r"(?:^|\.)([^.\[\]]+)|\[(\d+)\]")


def parse_key_path(text: str) -> KeyPath:
    """Parse a key path; a list entry is written as `[2]` or `.2`."""
    path: list[str | int] = []
    end = 0
    for step in _STEP.finditer(text):
        if step.start() != end:
            break
        key = step[1] or step[2]
        path.append(int(key) if key.isdecimal() else key)
        end = step.end()
    if not path or end != len(text) or isinstance(path[0], int):
        raise SkerryError(f"{text!r} is not a valid path; write it as robots.sam.pose.position[2]")
    return tuple(path)


def resolve_key_path(loaded: LoadedScenario, text: str) -> KeyPath:
    """Parse and check a key path of a scenario.

    Raises:
        UnknownName: The scenario has no such path; the message has a guess.
    """
    return _walk(loaded, parse_key_path(text))[0]


def value_at(loaded: LoadedScenario, path: KeyPath) -> Any:
    """Return the value at a path, as plain data.

    Raises:
        UnknownName: The scenario has no such path; the message has a guess.
    """
    return to_plain(_walk(loaded, path)[1])


def _walk(loaded: LoadedScenario, path: KeyPath) -> tuple[KeyPath, Any]:
    """Return a path and the value there. In the returned path, only list entries are integers.

    Paths below `overrides` of a robot are resolved in its vehicle, and those below `commands` in its actuators.
    """
    value: Any = loaded.scenario
    here: KeyPath = ()
    for given in path:
        if len(here) == 3 and here[0] == "robots" and here[2] == "overrides":
            value = loaded.vehicles[str(here[1])].config
        elif len(here) == 3 and here[0] == "robots" and here[2] == "commands":
            value = {name: value.get(name, {}) for name in loaded.vehicles[str(here[1])].config.actuators}
        elif len(here) == 4 and here[0] == "robots" and here[2] == "commands":
            return (*here, given), value.get(given)  # the name of the command is checked when the world is built
        step = given if isinstance(value, list | tuple) else str(given)
        value = _inside(value, step, here)
        here = (*here, step)
    return here, value


def _inside(value: Any, step: str | int, here: KeyPath) -> Any:
    shown = format_key_path((*here, step))
    if value is None:
        raise UnknownName(
            f"{shown}: the scenario has no {format_key_path(here)}; set it in the scenario, or vary it as a whole"
        )
    if isinstance(value, list | tuple):
        if isinstance(step, int) and step < len(value):
            return value[step]
        raise UnknownName(f"{shown}: {format_key_path(here)} has {len(value)} values, from [0] to [{len(value) - 1}]")
    known = list(type(value).model_fields) if isinstance(value, BaseModel) else value
    if not isinstance(known, list | Mapping):
        raise UnknownName(f"{shown}: {format_key_path(here)} is a single value without parts")
    if step not in known:
        raise UnknownName(f"{shown}: there is no such path; {did_you_mean(str(step), map(str, known))}")
    return getattr(value, str(step)) if isinstance(value, BaseModel) else value[step]


def set_value(tree: dict[str, Any], loaded: LoadedScenario, path: KeyPath, value: Any) -> None:
    """Write a value into a tree of overrides.

    To set one entry of a list, the whole list is copied from the scenario first.
    """
    whole = next((number for number, step in enumerate(path) if isinstance(step, int)), None)
    target: Any = tree
    for number, step in enumerate(path[:-1]):
        if number + 1 == whole and step not in target:
            target[step] = deepcopy(value_at(loaded, path[:whole]))
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    target[path[-1]] = value
