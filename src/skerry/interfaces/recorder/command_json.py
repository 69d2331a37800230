"""Encoding of commands as JSON, from which a replay executes them again, equal to the bit."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import skerry.commands  # noqa: F401  registers its commands as subclasses
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose
from skerry.parts.interface import Command
from skerry.world import Snapshot

POSE, SNAPSHOT = "pose", "snapshot"
"""Keys that mark values that JSON cannot represent."""


def command_to_text(command: Command) -> str:
    """Encode a command as one line of JSON; numbers keep all their digits."""
    if not is_dataclass(command):
        raise SkerryError(f"the command {type(command).__name__} cannot be recorded; make it a dataclass")
    values = {field.name: _to_json(getattr(command, field.name)) for field in fields(command)}
    return json.dumps({"command": type(command).__name__, **values})


def command_from_text(text: str) -> Command:
    """Decode a command; raise a `SkerryError` if the text is invalid."""
    try:
        values = json.loads(text)
        name = values.pop("command")
        known = {found.__name__: found for found in _subclasses(Command)}
        if name not in known:
            raise UnknownName(f"there is no command {name!r}; {did_you_mean(str(name), known)}")
        command: Command = known[name](**{name: _from_json(value) for name, value in values.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SkerryError(f"{text[:100]!r} is not a command: {error}") from None
    return command


def _subclasses(base: Any) -> Iterator[Any]:
    for found in base.__subclasses__():
        yield found
        yield from _subclasses(found)


def _to_json(value: Any) -> Any:
    match value:
        case Pose():
            return {POSE: [*value.position.tolist(), *value.orientation.tolist()]}
        case Snapshot():
            return {SNAPSHOT: b64encode(bytes(value)).decode()}
        case np.ndarray() | np.generic():
            return value.tolist()
        case Mapping():
            return {str(key): _to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [_to_json(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
    raise SkerryError(f"a command with a value of type {type(value).__name__} cannot be recorded")


def _from_json(value: Any) -> Any:
    match value:
        case {"pose": [*numbers], **rest} if not rest:
            return Pose.of(numbers)
        case {"snapshot": str(text), **rest} if not rest:
            return Snapshot(b64decode(text))
        case dict():
            return {key: _from_json(item) for key, item in value.items()}
        case list():
            return tuple(_from_json(item) for item in value)
    return value
