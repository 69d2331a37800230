"""Who commands an actuator: one source at a time; others are refused, and every change of hands is logged."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from typing import Final

from skerry.core.errors import SkerryError, did_you_mean

logger = logging.getLogger("skerry")

SOURCES: Final = ("manual", "ros", "controller", "api")
"""Keys, outside interfaces, controllers that the robot carries, and Python programs."""

_speaker: ContextVar[str] = ContextVar("who commands", default="api")


class commanding_as:  # noqa: N801, as it is used as a function is
    """Let commands come from this source: a word of `SOURCES`, or "controller/name"."""

    __slots__ = ("_source", "_token")

    def __init__(self, source: str) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._token = _speaker.set(self._source)

    def __exit__(self, *_: object) -> None:
        _speaker.reset(self._token)


def speaker() -> str:
    """The source that commands now."""
    return _speaker.get()


def check_source(source: str) -> str:
    """The source, if it is one."""
    word, _, name = source.partition("/")
    if word not in SOURCES or (name and word != "controller"):
        raise SkerryError(f"there is no source of commands {source!r}; {did_you_mean(word, SOURCES)}")
    return source


class Ownership:
    """The owner of one actuator.

    Nobody owns it at first, and the first who commands takes it. The API takes it whenever it commands; every other
    source must be given it. "controller" is whichever controller commands first, and from then on that one alone.
    """

    def __init__(self) -> None:
        self.owner: str | None = None
        self._name = "an actuator"
        self._told: set[tuple[str, str]] = set()

    def bind(self, name: str, told: set[tuple[str, str]]) -> None:
        """Take a name for the log, and the refusals that the robot has been told of."""
        self._name, self._told = name, told

    def give(self, owner: str) -> None:
        """Hand it to a source."""
        if owner != self.owner:
            logger.info("%s: control passes from %s to %s", self._name, self.owner or "nobody", owner)
        self.owner = owner
        self._told.clear()

    @property
    def is_speakers(self) -> bool:
        """Whether the source that speaks now owns it already."""
        return _speaker.get() == self.owner

    def admits(self) -> bool:
        """Whether the source that speaks now may command; a refusal is logged once for a source and a robot."""
        source = _speaker.get()
        if source == self.owner:
            return True
        if self.owner is None or source == "api" or (self.owner == "controller" and source.startswith("controller/")):
            logger.info("%s: control passes from %s to %s", self._name, self.owner or "nobody", source)
            self.owner = source
            return True
        if (source, self.owner) not in self._told:
            self._told.add((source, self.owner))
            logger.warning(
                "%s: commands of %s are ignored, as %s has control; `robot.control = %r` would hand it over",
                *(self._name, source, self.owner, source),
            )
        return False

    def state(self) -> bytes:
        return json.dumps(self.owner).encode()

    def set_state(self, state: bytes) -> None:
        self.owner = json.loads(state)
