"""YAML files read strictly: YAML 1.2 words, no duplicate keys, and the line of every value for error messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skerry.core.errors import Fault, FileError

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A file's content as plain data, and where in the file each part of it stands."""

    source: str
    data: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest thing around it."""
        for end in range(len(place), -1, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Plain data only, with the words of YAML 1.2: `on` is a word, and 1e-7 a number."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^(?:[-+]?[0-9]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def show_place(place: Place) -> str:
    """A place in a document as people write it: robots.sam.pose.position[2]."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def read_document(path: Path) -> Document:
    """Read a YAML file; raise `FileError` in words if it is missing, unreadable or malformed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(str(path), [Fault("", "there is no such file")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(str(path), [Fault("", f"cannot be read: {error}")]) from None
    return parse_document(text, str(path))


def parse_document(text: str, source: str) -> Document:
    """Turn YAML text into a `Document`."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise FileError(
            source, [Fault("", f"is not valid YAML: {error.problem or error.context}", line=line)]
        ) from None
    except yaml.YAMLError as error:
        raise FileError(source, [Fault("", f"is not valid YAML: {error}")]) from None
    finally:
        loader.dispose()
    document = Document(source, None)
    faults: list[Fault] = []
    data = _construct(loader, node, (), document.lines, faults, set()) if node is not None else None
    if faults:
        raise FileError(source, faults)
    return Document(source, data, document.lines)


def _construct(
    loader: Any, node: Any, place: Place, lines: dict[Place, int], faults: list[Fault], above: set[int]
) -> Any:
    lines[place] = node.start_mark.line + 1
    if id(node) in above:
        faults.append(Fault(show_place(place), "an alias that contains itself", line=lines[place]))
        return None
    if isinstance(node, yaml.ScalarNode):
        try:
            return loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            faults.append(Fault(show_place(place), problem, node.value, lines[place]))
            return None
    above = above | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return [_construct(loader, n, (*place, i), lines, faults, above) for i, n in enumerate(node.value)]
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        line = key_node.start_mark.line + 1
        if key is None or isinstance(key, float):
            faults.append(Fault(show_place(place), "a key must be a word", getattr(key_node, "value", key), line))
            continue
        key = str(key) if isinstance(key, bool) else key
        if key in mapping:
            first = lines[(*place, key)]
            faults.append(Fault(show_place((*place, key)), f"given twice, first on line {first}", line=line))
            continue
        mapping[key] = _construct(loader, value_node, (*place, key), lines, faults, above)
        lines[(*place, key)] = line
    return mapping
