"""Documents: a file's content as plain data, with the file and line where each value was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.core.errors import Fault

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Origin:
    """Where a value was written: the file, the place in it, and the line if it has lines."""

    source: str
    path: KeyPath
    line: int | None


@dataclass(frozen=True)
class Document:
    """A file's content as plain data, and where each part of it was written, which may be in other files too."""

    source: str
    data: Any
    origins: dict[KeyPath, Origin] = field(default_factory=dict)

    def fault(self, place: KeyPath, problem: str, found: object = None, hint: str = "") -> Fault:
        """A fault at a place; its line is that of the nearest thing around it."""
        for end in range(len(place), -1, -1):
            if origin := self.origins.get(place[:end]):
                return self._fault_of(origin, place[end:], problem, found, hint)
        return Fault(format_key_path(place), problem, found, None, hint)

    def _fault_of(self, origin: Origin, rest: KeyPath, problem: str, found: object, hint: str) -> Fault:
        shown = format_key_path((*origin.path, *rest))
        if origin.source == self.source:
            return Fault(shown, problem, found, origin.line, hint)
        line = "" if origin.line is None else f"line {origin.line}: "
        return Fault(f"{origin.source}: {line}{shown}", problem, found, None, hint)

    def part(self, place: KeyPath) -> Document:
        """The part of the document at a place, as a document."""
        data, size = self.data, len(place)
        for key in place:
            data = data[key]
        origins = {where[size:]: origin for where, origin in self.origins.items() if where[:size] == place}
        return Document(self.source, data, origins)


def format_key_path(place: KeyPath) -> str:
    """A place in a document as people write it: robots.sam.pose.position[2]."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text
