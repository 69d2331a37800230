"""Places in a scenario as people write them, `robots.sam.pose.position[2]`: found, checked and set."""

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
    """A path as the keys and numbers that lead there; an entry of a list is written `[2]` or `.2`."""
    place: list[str | int] = []
    end = 0
    for step in _STEP.finditer(text):
        if step.start() != end:
            break
        word = step[1] or step[2]
        place.append(int(word) if word.isdecimal() else word)
        end = step.end()
    if not place or end != len(text) or isinstance(place[0], int):
        raise SkerryError(f"{text!r} is no path; write it as robots.sam.pose.position[2]")
    return tuple(place)


def resolve_key_path(loaded: LoadedScenario, text: str) -> KeyPath:
    """The place that a path leads to; raise an error that guesses if there is none."""
    return _walk(loaded, parse_key_path(text))[0]


def value_at(loaded: LoadedScenario, place: KeyPath) -> Any:
    """The value at a place, as a file would hold it; raise an error that guesses if there is no such place."""
    return to_plain(_walk(loaded, place)[1])


def _walk(loaded: LoadedScenario, place: KeyPath) -> tuple[KeyPath, Any]:
    """A place with numbers for entries of lists alone, and the value there.

    What a robot overrides is looked for in its vehicle, and what it commands among its actuators.
    """
    value: Any = loaded.scenario
    here: KeyPath = ()
    for given in place:
        if len(here) == 3 and here[0] == "robots" and here[2] == "overrides":
            value = loaded.vehicles[str(here[1])].config
        elif len(here) == 3 and here[0] == "robots" and here[2] == "commands":
            value = {name: value.get(name, {}) for name in loaded.vehicles[str(here[1])].config.actuators}
        elif len(here) == 4 and here[0] == "robots" and here[2] == "commands":
            return (*here, given), value.get(given)  # the actuator knows its word when the world is built
        step = given if isinstance(value, list | tuple) else str(given)
        value = _inside(value, step, here)
        here = (*here, step)
    return here, value


def _inside(value: Any, step: str | int, here: KeyPath) -> Any:
    shown = format_key_path((*here, step))
    if value is None:
        raise UnknownName(
            f"{shown}: the scenario has no {format_key_path(here)}; vary all of {format_key_path(here)}, or set it"
        )
    if isinstance(value, list | tuple):
        if isinstance(step, int) and step < len(value):
            return value[step]
        raise UnknownName(f"{shown}: {format_key_path(here)} has {len(value)} values, from [0] to [{len(value) - 1}]")
    known = list(type(value).model_fields) if isinstance(value, BaseModel) else value
    if not isinstance(known, list | Mapping):
        raise UnknownName(f"{shown}: {format_key_path(here)} is a single value and has no parts")
    if step not in known:
        raise UnknownName(f"{shown}: there is no such place; {did_you_mean(str(step), map(str, known))}")
    return getattr(value, str(step)) if isinstance(value, BaseModel) else value[step]


def set_value(tree: dict[str, Any], loaded: LoadedScenario, place: KeyPath, value: Any) -> None:
    """Write a value into a tree of overrides; a list is taken whole from the scenario, and one entry of it replaced."""
    whole = next((number for number, step in enumerate(place) if isinstance(step, int)), None)
    target: Any = tree
    for number, step in enumerate(place[:-1]):
        if number + 1 == whole and step not in target:
            target[step] = deepcopy(value_at(loaded, place[:whole]))
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    target[place[-1]] = value
