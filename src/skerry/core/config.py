"""Settings: frozen and checked data. A `kind` selects the class by module name, so a new kind is one new file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    SerializeAsAny,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from skerry.core.document import Document, KeyPath
from skerry.core.errors import Fault, FileError, SkerryError, UnknownName, did_you_mean


def _forbid_coercion(schema: object) -> None:
    """Make bool, int and float fields strict, so that `true` and "5" are not accepted as numbers.

    Pydantic's strict mode for a whole model would also reject lists for tuples.
    """
    if isinstance(schema, dict):
        kind = schema.get("type")  # a mapping of fields can have a field called `type`; its value is then a dictionary
        if isinstance(kind, str) and kind in {"bool", "int", "float"}:
            schema["strict"] = True
        for inner in schema.values():
            _forbid_coercion(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            _forbid_coercion(inner)


class Config(BaseModel):
    """Base class of settings. Unknown keys, NaN, infinity and values of a wrong type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _forbid_coercion(schema)
        return schema

    @classmethod
    def load(cls, document: Document, folder: Path | None = None) -> Self:
        """Check a document against this class.

        Args:
            document: Content of the file.
            folder: Folder that relative paths in the settings refer to.

        Raises:
            FileError: The document has faults; the error lists all of them.
        """
        with resolve_paths_from(folder):
            try:
                return cls.model_validate(document.data)
            except ValidationError as error:
                raise FileError(document.source, faults_of(error, cls, document)) from None


class KindConfig(Config):
    """Base class of settings that a file selects by `kind:`. Each subclass declares its kind as a `Literal`."""

    kind: str

    @classmethod
    def example(cls, **settings: Any) -> Self:
        """Return small valid settings, with which the contract tests build the kind.

        A kind with required settings overrides it, and adds them: `return super().example(**{"area": 1} | settings)`.

        Args:
            settings: Settings that are added to the example or replace its own.
        """
        return cls.model_validate(settings)


ConfigT = TypeVar("ConfigT", bound=Config)

# ------------------------------------------------------------------------------------------------ field types


_RATIONAL = re.compile(r"\s*[-+]?[0-9]{1,30}(?:\s*/\s*[0-9]{1,30}|(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,2})?)\s*")


def _fraction(value: object) -> object:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        text = str(value)  # the decimal form of a float counts: 0.1 is 1/10
        if _RATIONAL.fullmatch(text):
            try:
                return Fraction("".join(text.split()))
            except ZeroDivisionError:
                pass
    raise PydanticCustomError("fraction", "must be a number or a fraction such as 1/200")


Rational = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str, return_type=str)]
"""Exact number, written as 1/200, 0.005 or 5."""

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Vector3 = tuple[float, float, float]
Vector6 = tuple[float, float, float, float, float, float]
Matrix6 = tuple[Vector6, Vector6, Vector6, Vector6, Vector6, Vector6]

_folder: ContextVar[Path | None] = ContextVar("folder of the file being read", default=None)


@contextmanager
def resolve_paths_from(folder: Path | None) -> Iterator[None]:
    """Resolve relative paths in settings against this folder (that of the settings file) inside the `with` block."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def is_file(path: Path) -> bool:
    """Return whether a file exists; invalid and inaccessible paths give False."""
    try:
        return path.is_file()
    except OSError:
        return False  # the name is too long, or the folder is not readable


def expand_user(path: str | Path) -> Path:
    """Return the path with `~` replaced by the home folder; unchanged if the user is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def resolve_path(path: str | Path) -> Path:
    """Return a path from a settings file, resolved against the folder of that file."""
    expanded, folder = expand_user(path), _folder.get()
    return expanded if expanded.is_absolute() or folder is None else folder / expanded


def _existing_file(value: object) -> object:
    if isinstance(value, str | Path):
        path = resolve_path(value)
        if not is_file(path):
            raise PydanticCustomError("missing_file", "there is no file {path}", {"path": str(path)})
        return path
    return value


def _existing_folder(value: object) -> object:
    if isinstance(value, str | Path):
        path = resolve_path(value)
        try:
            exists = path.is_dir()
        except OSError:
            exists = False
        if not exists:
            raise PydanticCustomError("missing_file", "there is no folder {path}", {"path": str(path)})
        return path
    return value


ExistingFile = Annotated[Path, BeforeValidator(_existing_file)]
"""Path of an existing file, relative to the settings file."""

ExistingFolder = Annotated[Path, BeforeValidator(_existing_folder)]
"""Path of an existing folder, relative to the settings file."""

# ------------------------------------------------------------------------------------------------ kinds


class Family:
    """Family of kinds: modules of the given packages, and entry points of other installed packages.

    A kind `imu` of the family `sensors` is the `KindConfig` in module `skerry.sensors.imu` whose `kind` is "imu".
    Other packages add theirs through the entry-point group `skerry.<family>`, name = kind, value = "module:Class".

    Args:
        name: Name of the family, for messages and for its entry-point group.
        packages: Packages whose modules are the kinds. Modules whose name begins with `_` are helpers.
        folders: True if each kind is a sub-package; other modules beside them are helpers. False if each kind is a
            module; sub-packages beside them are helpers.
    """

    def __init__(self, name: str, *packages: str, folders: bool = False) -> None:
        self.name = name
        self.packages = packages
        self.folders = folders

    def kinds(self) -> list[str]:
        """Return the names of all kinds, without importing them."""
        found = {point.name for point in self._points()}
        for package in self.packages:
            path = import_module(package).__path__
            modules = [module for module in iter_modules(path) if not module.name.startswith("_")]
            found |= {module.name for module in modules if module.ispkg == self.folders}
        return sorted(found)

    def find(self, kind: str) -> type[KindConfig]:
        """Return the settings class of a kind.

        Raises:
            UnknownName: The kind does not exist; the message has a guess.
        """
        found = self._find(kind) if isinstance(kind, str) else None
        if found is None:
            raise UnknownName(f"unknown kind {kind!r} of {self.name}; {did_you_mean(str(kind), self.kinds())}")
        return found

    def _find(self, kind: str) -> type[KindConfig] | None:
        return _find_kind(self, kind)

    def _points(self) -> list[EntryPoint]:
        return _entry_points(f"skerry.{self.name}")


@cache
def _entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of installed packages; cached, because the search takes 15 ms."""
    return list(entry_points(group=group))


@cache
def _find_kind(family: Family, kind: str) -> type[KindConfig] | None:
    for point in family._points():
        if point.name == kind:
            return _load_entry_point(point, kind)
    if not kind.isidentifier():
        return None
    for package in family.packages:
        name = f"{package}.{kind}"
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                continue
            raise
        found = [
            member
            for member in vars(module).values()
            if isinstance(member, type) and issubclass(member, KindConfig) and _kind_name(member) == kind
        ]
        if found:
            return found[0]
    return None


def _load_entry_point(point: EntryPoint, kind: str) -> type[KindConfig]:
    where = f"the entry point {kind!r} ({point.value})"
    try:
        member = point.load()
    except Exception as error:  # another package's code may fail in any way
        raise SkerryError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if isinstance(member, type) and issubclass(member, KindConfig) and _kind_name(member) == kind:
        return member
    raise SkerryError(f"{where} must be a subclass of KindConfig whose kind is {kind!r}")


def _kind_name(member: type[KindConfig]) -> str | None:
    annotation = member.model_fields["kind"].annotation
    return get_args(annotation)[0] if get_origin(annotation) is Literal else None


def config_of(family: Family) -> Any:
    """Return the type of a settings field whose class is selected by its `kind` in a family."""

    def resolve(value: object) -> object:
        if isinstance(value, KindConfig):
            return value
        if not isinstance(value, dict):
            raise PydanticCustomError("no_mapping", "must be a mapping with a `kind`")
        if "kind" not in value:
            raise PydanticCustomError("no_kind", "has no `kind`; known: {kinds}", {"kinds": ", ".join(family.kinds())})
        try:
            chosen = family.find(value["kind"])
        except SkerryError as error:
            raise PydanticCustomError("unknown_kind", "{text}", {"text": str(error)}) from None
        return chosen.model_validate(value)

    return Annotated[SerializeAsAny[KindConfig], BeforeValidator(resolve), family]


# ------------------------------------------------------------------------------------------------ faults


_MESSAGES = {
    "model_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "union_tag_not_found": "has no `kind`",
}
"""Messages for Pydantic's error types, in the terms of a scenario file."""
_WITHOUT_VALUE = {"no_kind", "missing_file", "unknown_kind", "missing", "extra_forbidden"}
"""Error types whose message does not need the value that was found."""


def faults_of(error: ValidationError, model: type[BaseModel], document: Document) -> list[Fault]:
    """Return every fault of a validation error, with its path and line in the file and a guess at the right name."""
    details = [
        (detail, *_locate(detail, document.data))
        for detail in error.errors(include_url=False)
        if detail["type"] != "default_factory_not_called"  # a default that depends on a field which is itself at fault
    ]
    likely = _likely_branches(details)
    faults: dict[tuple[KeyPath, str], Fault] = {}
    for detail, path, branches in details:
        if any(likely[where] != name for where, name in branches):
            continue
        last = path[-1] if path else None
        if detail["type"] == "missing" and isinstance(last, int):
            # Pydantic reports each missing value of a short list; one fault with the required count is enough.
            found = _child_at(document.data, path[:-1])
            faults[path[:-1], ""] = document.fault(path[:-1], f"needs {last + 1} values", found)
        else:
            faults.setdefault((path, detail["msg"]), _fault_of(detail, path, model, document))
    return list(faults.values())


def _fault_of(detail: ErrorDetails, path: KeyPath, model: type[BaseModel], document: Document) -> Fault:
    kind, context, hint = detail["type"], detail.get("ctx", {}), ""
    problem = _MESSAGES.get(kind, detail["msg"].removeprefix("Value error, ").replace("Input should", "must"))
    found = path[-1] if detail["loc"][-1:] == ("[key]",) else _child_at(document.data, path)
    if kind == "extra_forbidden":
        hint = did_you_mean(str(path[-1]), _known_keys([model], path[:-1], document.data))
    elif kind == "literal_error":
        hint = _guess(found, context["expected"])
    elif kind == "union_tag_invalid":
        path, problem, found = (*path, "kind"), "there is no such kind", context["tag"]
        hint = did_you_mean(str(found), re.findall("'([^']*)'", context["expected_tags"]))
    elif kind == "unknown_kind":
        path = (*path, "kind")
    if kind in _WITHOUT_VALUE or isinstance(found, dict | BaseModel):
        found = None
    return document.fault(path, problem[:1].lower() + problem[1:], found, hint)


def _guess(found: object, expected: str) -> str:
    hint = did_you_mean(str(found), re.findall("'([^']*)'", expected))
    return hint if hint.startswith("did you mean") else ""  # the message already lists the allowed values


LocatedError = tuple[ErrorDetails, KeyPath, list[tuple[KeyPath, str | int]]]
"""Pydantic's details of an error, its key path, and the union branches on the way: (path of the union, branch)."""


def _locate(detail: ErrorDetails, data: object) -> tuple[KeyPath, list[tuple[KeyPath, str | int]]]:
    """Return the key path in the document, and the union branches that Pydantic put into its location."""
    path: KeyPath = ()
    branches: list[tuple[KeyPath, str | int]] = []
    parts = detail["loc"]
    for number, part in enumerate(parts):
        is_missing = detail["type"] == "missing" and number == len(parts) - 1
        if (child := _child(data, part)) is not _ABSENT or is_missing:
            path, data = (*path, part), child
        elif part != "[key]":
            branches.append((path, part))
    return path, branches


def _likely_branches(details: list[LocatedError]) -> dict[KeyPath, str | int]:
    """Return for each union the branch that the user most likely intended.

    A branch that accepts the type of the value comes first, then the branch with the fewest faults.
    """
    ranks: dict[KeyPath, dict[str | int, list[int]]] = {}
    for detail, path, branches in details:
        for where, name in branches:
            rank = ranks.setdefault(where, {}).setdefault(name, [0, 0])
            rank[0] |= path == where and detail["type"].endswith("_type")
            rank[1] += 1
    return {where: min(names, key=names.__getitem__) for where, names in ranks.items()}


_ABSENT = object()


def _child(data: object, part: str | int) -> object:
    if isinstance(data, dict):
        return data.get(part, _ABSENT)
    inside = isinstance(data, list | tuple) and isinstance(part, int) and part < len(data)
    return data[part] if inside else _ABSENT  # type: ignore[index]


def _child_at(data: object, path: KeyPath) -> object:
    for part in path:
        data = _child(data, part)
    return None if data is _ABSENT else data


def _known_keys(types: Iterable[Any], path: KeyPath, data: object) -> list[str]:
    """Return the keys that are allowed at a path, by following the types and the data together."""
    kind = _child(data, "kind")
    keys: list[str] = []
    for candidate in types:
        if isinstance(candidate, Family):
            found = candidate._find(kind) if isinstance(kind, str) else None
            keys += _known_keys([found], path, data) if found else []
        elif get_origin(candidate) is not None:
            inner = _types_in(_item_type(candidate, path[0])) if path else []
            keys += _known_keys(inner, path[1:], _child(data, path[0])) if path else []
        elif issubclass(candidate, BaseModel) and _may_have_kind(candidate, kind):
            fields = candidate.model_fields
            if not path:
                keys += fields
            elif field := fields.get(str(path[0])):
                inner = _types_in(field.annotation, field.metadata)
                keys += _known_keys(inner, path[1:], _child(data, path[0]))
    return keys


def _types_in(annotation: Any, metadata: Sequence[Any] = ()) -> Iterator[Any]:
    """Yield the models, families and containers that a type annotation allows."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if family := next((item for item in metadata if isinstance(item, Family)), None):
        yield family
    elif origin is Annotated:
        yield from _types_in(arguments[0], arguments[1:])
    elif origin in {Union, UnionType}:
        for argument in arguments:
            yield from _types_in(argument)
    elif origin in {dict, list, tuple} or isinstance(annotation, type):
        yield annotation


def _item_type(container: Any, part: str | int) -> Any:
    arguments = get_args(container)
    if get_origin(container) is tuple and arguments[-1] is not Ellipsis:
        return arguments[part] if isinstance(part, int) and part < len(arguments) else None
    return arguments[0] if arguments[-1] is Ellipsis else arguments[-1]


def _may_have_kind(model: type[BaseModel], kind: object) -> bool:
    """Return whether a model accepts this `kind`."""
    field = model.model_fields.get("kind")
    return field is None or get_origin(field.annotation) is not Literal or kind in get_args(field.annotation)
