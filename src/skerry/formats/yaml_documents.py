"""Strict reader of YAML files: YAML 1.2 values, no duplicate keys, and the line of each value for error messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from skerry.core.document import Document, KeyPath, Origin, format_key_path
from skerry.core.errors import Fault, FileError

MAX_LEVELS = 100
"""Deepest nesting; the recursion of the parser would crash the process at about 100,000 levels."""
MAX_COPIES = 100_000
"""Most values that aliases may repeat; ten lines of nested aliases can expand to more values than memory holds."""

# ------------------------------------------------------------------------------------------------ YAML 1.2


_YAML = "tag:yaml.org,2002:"  # the prefix that `!!` abbreviates


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader of plain data with the types of YAML 1.2: `on` is text, and 1e-7 is a number."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


class _Dumper(yaml.SafeDumper):
    """Dumper that quotes text which YAML 1.1 or 1.2 would read as another type."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    odd = any(
        character in text for character in "\x85\u2028\u2029\ufeff"
    )  # these are read back as spaces unless they are escaped
    return dumper.represent_scalar(_YAML + "str", text, style='"' if odd else None)


_Dumper.add_representer(str, _represent_text)

for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
):
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_YAML + _tag, re.compile(_pattern), list(_first))


def _integer(text: str) -> int:
    base = {"0x": 16, "0o": 8}.get(text[:2], 10)
    return int(text, base)


_SCALARS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "str": ("text", str),
    "null": ("null", lambda text: None),
    "bool": ("true or false", lambda text: {"true": True, "false": False}[text.lower()]),
    "int": ("a whole number", _integer),
    "float": ("a number", lambda text: float(re.sub(r"\.(?=inf|nan)", "", text.lower()))),
}


# ------------------------------------------------------------------------------------------------ reading and writing


def read_document(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        FileError: The file is missing, unreadable or malformed.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(str(path), [Fault("", "there is no such file")]) from None
    except OSError as error:
        raise FileError(str(path), [Fault("", f"cannot be read: {error.strerror}")]) from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(str(path), [Fault("", f"is not UTF-8 text: {error.reason}", line=line)]) from None
    return parse_document(text, str(path))


def parse_document(text: str, source: str) -> Document:
    """Parse YAML text; `source` is the name of the file for error messages."""
    try:
        _refuse_deep(text, source)
        node = yaml.compose(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (
            min(mark.line + 1, max(len(text.splitlines()), 1)) if mark else None
        )  # the end of the text can be behind the last line
        problem = ", ".join(filter(None, (error.context, error.problem)))
        raise FileError(source, [Fault("", f"is not valid YAML: {problem}", line=line)]) from None
    except (yaml.YAMLError, UnicodeError) as error:
        # Characters that YAML forbids; most often the file is not a text file.
        raise FileError(source, [Fault("", f"is not valid YAML: {' '.join(str(error).split())}")]) from None
    reader = _NodeReader(source)
    data = None if node is None else reader.value(node, (), frozenset())
    if reader.faults:
        raise FileError(source, reader.faults)
    return Document(source, data, reader.origins)


def dump_document(data: object) -> str:
    """Return plain data as YAML text that `parse_document` reads back equal."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _refuse_deep(text: str, source: str) -> None:
    level = 0
    for event in yaml.parse(text, _Loader):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > MAX_LEVELS:
            problem = f"is nested more than {MAX_LEVELS} levels deep"
            raise FileError(source, [Fault("", problem, line=event.start_mark.line + 1)])  # type: ignore[union-attr]


class _NodeReader:
    """Converter of YAML nodes to plain data; it collects the faults."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.origins: dict[KeyPath, Origin] = {}
        self.faults: list[Fault] = []
        self._seen: set[int] = set()
        self._copies = 0

    def value(self, node: Any, path: KeyPath, above: frozenset[int]) -> Any:
        line = node.start_mark.line + 1
        self.origins[path] = Origin(self.source, path, line)
        if id(node) in above:
            return self._refuse(path, line, "is an alias that contains itself")
        self._count(node, line)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if node.tag not in {_YAML + "seq", _YAML + "map"}:
            return self._refuse_tag(node, path)
        above = above | {id(node)}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, i), above) for i, item in enumerate(node.value)]
        return self._mapping(node, path, above)

    def _count(self, node: Any, line: int) -> None:
        self._copies += id(node) in self._seen
        self._seen.add(id(node))
        if self._copies > MAX_COPIES:
            problem = f"its aliases repeat more than {MAX_COPIES} values"
            raise FileError(self.source, [Fault("", problem, line=line)])

    def _mapping(self, node: Any, path: KeyPath, above: frozenset[int]) -> dict[str | int, Any]:
        mapping: dict[str | int, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = _key(key_node)
            if key is None:
                found = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
                self._refuse(path, line, "a key must be text or a whole number", found)
                continue
            at = (*path, key)
            if key in mapping:
                self._refuse(at, line, f"given twice, first on line {self.origins[at].line}")
                continue
            mapping[key] = self.value(value_node, at, above)
            self.origins[at] = Origin(self.source, at, line)
        return mapping

    def _scalar(self, node: Any, path: KeyPath) -> Any:
        line = node.start_mark.line + 1
        what, read = _SCALARS.get(node.tag.removeprefix(_YAML), ("", None))
        if read is None:
            return self._refuse_tag(node, path)
        try:
            return read(node.value)
        except (ValueError, KeyError):
            return self._refuse(path, line, f"is not {what}", node.value)

    def _refuse_tag(self, node: Any, path: KeyPath) -> None:
        tag = node.tag.replace(_YAML, "!!")
        self._refuse(path, node.start_mark.line + 1, f"the tag {tag} is unknown; remove it")

    def _refuse(self, path: KeyPath, line: int, problem: str, found: object = None) -> None:
        self.faults.append(Fault(format_key_path(path), problem, found, line))


def _key(node: Any) -> str | int | None:
    kind = node.tag.removeprefix(_YAML)
    if kind in {"str", "bool"}:
        return str(node.value)
    if kind == "int":
        with suppress(ValueError):
            return _integer(node.value)
    return None
