"""Commands as plain data, so that they can stand in a file and be done again to the bit."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import skerry.commands  # noqa: F401  that its commands are known by name
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose
from skerry.parts.interface import Command
from skerry.world import Snapshot

POSE, SNAPSHOT = "pose", "snapshot"  # the tags of values that JSON does not know


def command_to_text(command: Command) -> str:
    """A command as one line of JSON; numbers keep all their digits."""
    if not is_dataclass(command):
        raise SkerryError(f"{type(command).__name__} cannot be recorded; make it a dataclass")
    values = {field.name: _to_plain(getattr(command, field.name)) for field in fields(command)}
    return json.dumps({"command": type(command).__name__, **values})


def command_from_text(text: str) -> Command:
    """The command that a line of JSON means."""
    try:
        values = json.loads(text)
        name = values.pop("command")
        known = {found.__name__: found for found in _commands(Command)}
        if name not in known:
            raise UnknownName(f"there is no command {name!r}; {did_you_mean(str(name), known)}")
        command: Command = known[name](**{word: _from_plain(value) for word, value in values.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SkerryError(f"this is no command: {text[:100]!r} ({error})") from None
    return command


def _commands(base: Any) -> Iterator[Any]:
    for found in base.__subclasses__():
        yield found
        yield from _commands(found)


def _to_plain(value: Any) -> Any:
    match value:
        case Pose():
            return {POSE: [*value.position.tolist(), *value.orientation.tolist()]}
        case Snapshot():
            return {SNAPSHOT: b64encode(bytes(value)).decode()}
        case np.ndarray() | np.generic():
            return value.tolist()
        case Mapping():
            return {str(word): _to_plain(item) for word, item in value.items()}
        case list() | tuple():
            return [_to_plain(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
    raise SkerryError(f"a {type(value).__name__} in a command cannot be recorded")


def _from_plain(value: Any) -> Any:
    match value:
        case {"pose": [*numbers], **rest} if not rest:
            return Pose.of(numbers)
        case {"snapshot": str(text), **rest} if not rest:
            return Snapshot(b64decode(text))
        case dict():
            return {word: _from_plain(item) for word, item in value.items()}
        case list():
            return tuple(_from_plain(item) for item in value)
    return value
