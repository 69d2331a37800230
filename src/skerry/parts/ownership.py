"""Ownership of an actuator: one source commands it at a time. Other sources are refused, and every change is logged."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from typing import Final

from skerry.core.errors import SkerryError, did_you_mean

logger = logging.getLogger("skerry")

SOURCES: Final = ("manual", "external", "controller", "api")
"""Sources of commands: keys, network interfaces, controllers of the robot, and Python programs."""

_source: ContextVar[str] = ContextVar("command source", default="api")


class commanding_as:  # noqa: N801, used like a function
    """Context manager: commands given inside it come from this source, one of `SOURCES` or "controller/name"."""

    __slots__ = ("_source", "_token")

    def __init__(self, source: str) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._token = _source.set(self._source)

    def __exit__(self, *_: object) -> None:
        _source.reset(self._token)


def current_source() -> str:
    """Return the source of commands given now in this thread; "api" outside `commanding_as`."""
    return _source.get()


def check_source(source: str) -> str:
    """Return `source` unchanged.

    Raises:
        SkerryError: It is neither one of `SOURCES` nor "controller/name".
    """
    family, _, name = source.partition("/")
    if family not in SOURCES or (name and family != "controller"):
        raise SkerryError(f"there is no source of commands {source!r}; {did_you_mean(family, SOURCES)}")
    return source


class Ownership:
    """Owner of one actuator.

    An actuator has no owner at first, and the first source that commands it becomes the owner. The API becomes the
    owner with every command. Every other source must be given the actuator with `give`. The owner "controller" means
    any controller; the first controller that commands becomes the only owner.
    """

    def __init__(self) -> None:
        self.owner: str | None = None
        self.name = "an actuator"
        self._logged_refusals: set[tuple[str, str]] = set()

    def bind(self, name: str, logged_refusals: set[tuple[str, str]]) -> None:
        """Set the name for log lines and the robot's shared set of refusals that have been logged."""
        self.name, self._logged_refusals = name, logged_refusals

    def give(self, owner: str) -> None:
        """Make a source the owner."""
        if owner != self.owner:
            logger.info("%s: control passes from %s to %s", self.name, self.owner or "no owner", owner)
        self.owner = owner
        self._logged_refusals.clear()

    def acquire(self) -> bool:
        """Return whether the current source may command; make it the owner if it may take the actuator.

        A refusal is logged once for each source and robot.
        """
        source = _source.get()
        if source == self.owner:
            return True
        if self.owner is None or source == "api" or (self.owner == "controller" and source.startswith("controller/")):
            logger.info("%s: control passes from %s to %s", self.name, self.owner or "no owner", source)
            self.owner = source
            return True
        if (source, self.owner) not in self._logged_refusals:
            self._logged_refusals.add((source, self.owner))
            logger.warning(
                "%s: command from %s ignored, because %s has control; set `robot.control = %r` to transfer control",
                *(self.name, source, self.owner, source),
            )
        return False

    def state(self) -> bytes:
        return json.dumps(self.owner).encode()

    def set_state(self, state: bytes) -> None:
        self.owner = json.loads(state)
