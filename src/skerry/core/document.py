"""Documents: the content of a file as plain data, with the file and line of each value for error messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.core.errors import Fault

KeyPath = tuple[str | int, ...]
"""Path of a value in a document: the keys and list indices that lead to it."""


@dataclass(frozen=True)
class Origin:
    """Source of a value: the file, the key path in that file, and the line (None for values given by a program)."""

    source: str
    path: KeyPath
    line: int | None


@dataclass(frozen=True)
class Document:
    """Content of a file as plain data, with the origin of each value. Origins may be in other files."""

    source: str
    data: Any
    origins: dict[KeyPath, Origin] = field(default_factory=dict)

    def fault(self, path: KeyPath, problem: str, found: object = None, hint: str = "") -> Fault:
        """Return a fault at a path. Its line is that of the value, or of the nearest enclosing value with a line."""
        for end in range(len(path), -1, -1):
            if origin := self.origins.get(path[:end]):
                return self._fault_of(origin, path[end:], problem, found, hint)
        return Fault(format_key_path(path), problem, found, None, hint)

    def _fault_of(self, origin: Origin, rest: KeyPath, problem: str, found: object, hint: str) -> Fault:
        shown = format_key_path((*origin.path, *rest))
        if origin.source == self.source:
            return Fault(shown, problem, found, origin.line, hint)
        line = "" if origin.line is None else f"line {origin.line}: "
        return Fault(f"{origin.source}: {line}{shown}", problem, found, None, hint)

    def part(self, path: KeyPath) -> Document:
        """Return the part of the document at a path as a document."""
        data, size = self.data, len(path)
        for key in path:
            data = data[key]
        origins = {where[size:]: origin for where, origin in self.origins.items() if where[:size] == path}
        return Document(self.source, data, origins)


def format_key_path(path: KeyPath) -> str:
    """Return a key path as text, such as `robots.sam.pose.position[2]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text
