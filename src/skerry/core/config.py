"""Settings: frozen, checked, and picked by `kind`; a kind is found by name, so that adding one is adding one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializeAsAny,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from skerry.core.documents import Document, Place, show_place
from skerry.core.errors import Fault, FileError, SkerryError, UnknownName, did_you_mean


class Config(BaseModel):
    """Settings as pure data: unknown keys, NaN and wrong types are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    @classmethod
    def load(cls, document: Document, folder: Path | None = None) -> Self:
        """Check a document against this class; raise one `FileError` with all its faults."""
        with files_from(folder):
            try:
                return cls.model_validate(document.data)
            except ValidationError as error:
                raise FileError(document.source, faults_of(error, cls, document)) from None


class KindConfig(Config):
    """Settings that a file picks by `kind:`; each subclass fixes its own word as a `Literal`."""

    kind: str


ConfigT = TypeVar("ConfigT", bound=Config)

# ------------------------------------------------------------------------------------------------ field types


def _fraction(value: object) -> object:
    if isinstance(value, str):
        try:
            return Fraction(value.replace(" ", ""))
        except (ValueError, ZeroDivisionError):
            raise PydanticCustomError("fraction", "is not a number or a fraction such as 1/200") from None
    if isinstance(value, float):
        return Fraction(str(value)) if value == value and abs(value) != float("inf") else value
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


Rational = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str, return_type=str)]
"""An exact number: 1/200, 0.005 or 5."""

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Vector3 = tuple[float, float, float]
Vector6 = tuple[float, float, float, float, float, float]
Matrix6 = tuple[Vector6, Vector6, Vector6, Vector6, Vector6, Vector6]

_folder: ContextVar[Path | None] = ContextVar("folder of the file being read", default=None)


@contextmanager
def files_from(folder: Path | None) -> Iterator[None]:
    """Read relative paths in settings as relative to this folder, the one of the file that names them."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def _existing_file(value: object) -> object:
    if isinstance(value, str | Path):
        path = Path(value).expanduser()
        folder = _folder.get()
        if not path.is_absolute() and folder is not None:
            path = folder / path
        if not path.is_file():
            raise PydanticCustomError("missing_file", "there is no file {path}", {"path": str(path)})
        return path
    return value


ExistingFile = Annotated[Path, BeforeValidator(_existing_file)]
"""A path to a file that is there; relative to the file that names it."""

# ------------------------------------------------------------------------------------------------ kinds


class Family:
    """A family of kinds: modules of the given packages, and entry points of other installed packages.

    A kind `imu` of the family `sensors` is the `KindConfig` in module `skerry.sensors.imu` whose `kind` is "imu".
    Other packages add theirs through the entry-point group `skerry.<family>`, name = kind, value = "module:Class".
    """

    def __init__(self, name: str, *packages: str) -> None:
        self.name = name
        self.packages = packages

    def kinds(self) -> list[str]:
        """All kinds there are, without importing them."""
        found = {point.name for point in self._points()}
        for package in self.packages:
            module = import_module(package)
            found |= {m.name for m in iter_modules(module.__path__) if not m.ispkg and not m.name.startswith("_")}
        return sorted(kind for kind in found if kind not in self._not_kinds())

    def find(self, kind: str) -> type[KindConfig]:
        """The settings class of a kind; raise `UnknownName` with a guess if there is none."""
        found = self._find(kind) if isinstance(kind, str) else None
        if found is None:
            raise UnknownName(f"unknown kind {kind!r} of {self.name}; {did_you_mean(str(kind), self.kinds())}")
        return found

    def _find(self, kind: str) -> type[KindConfig] | None:
        return _find_kind(self, kind)

    def _points(self) -> list[Any]:
        return list(entry_points(group=f"skerry.{self.name}"))

    def _not_kinds(self) -> set[str]:
        return {name for package in self.packages for name in getattr(import_module(package), "NOT_KINDS", ())}


@cache
def _find_kind(family: Family, kind: str) -> type[KindConfig] | None:
    for point in family._points():
        if point.name == kind:
            return _class_of_kind(point.load(), kind, str(point.value))
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
            if isinstance(member, type) and issubclass(member, KindConfig) and _word(member) == kind
        ]
        if found:
            return found[0]
    return None


def _class_of_kind(member: object, kind: str, source: str) -> type[KindConfig]:
    if isinstance(member, type) and issubclass(member, KindConfig) and _word(member) == kind:
        return member
    raise SkerryError(f"the entry point {kind!r} ({source}) is not a KindConfig whose kind is {kind!r}")


def _word(member: type[KindConfig]) -> str | None:
    annotation = member.model_fields["kind"].annotation
    return get_args(annotation)[0] if get_origin(annotation) is Literal else None


def of_kind(family: Family) -> Any:
    """The field type of settings whose class is found by their `kind` in a family."""

    def resolve(value: object) -> object:
        if isinstance(value, KindConfig):
            return value
        if not isinstance(value, dict):
            raise PydanticCustomError("no_mapping", "must be a mapping with a `kind`")
        if "kind" not in value:
            raise PydanticCustomError("no_kind", "has no `kind`; known: {kinds}", {"kinds": ", ".join(family.kinds())})
        try:
            chosen = family.find(value["kind"])
        except UnknownName as error:
            raise PydanticCustomError("unknown_kind", "{text}", {"text": str(error)}) from None
        return chosen.model_validate(value)

    return Annotated[SerializeAsAny[KindConfig], BeforeValidator(resolve), family]


# ------------------------------------------------------------------------------------------------ faults


def faults_of(
    error: ValidationError,
    model: type[BaseModel],
    document: Document,
    place_of: Callable[[Place], Place] = lambda place: place,
) -> list[Fault]:
    """Every fault of a validation error, with its place in the file and a guess at the right word."""
    faults = []
    for detail in error.errors(include_url=False):
        place = tuple(part for part in detail["loc"] if not _is_type_tag(part))
        kind, problem = detail["type"], detail["msg"]
        found, hint = detail.get("input"), ""
        if kind == "extra_forbidden":
            problem, found = "is not a known key", None
            hint = did_you_mean(str(place[-1]), _known_keys(model, place[:-1], document.data))
        elif kind == "missing":
            problem, found = "is missing", None
        elif kind in {"no_kind", "missing_file", "unknown_kind"} or isinstance(found, dict | BaseModel):
            found = None
        problem = problem.removeprefix("Value error, ")
        problem = problem[:1].lower() + problem[1:]
        at = place_of(place)
        faults.append(Fault(show_place(at), problem, found, document.line(at), hint))
    return faults


def _is_type_tag(part: str | int) -> bool:
    """Pydantic puts the branch of a union into the place; people did not write it."""
    return isinstance(part, str) and ("[" in part or part in {"float", "int", "str", "bool", "is-instance"})


def _known_keys(model: type[BaseModel], place: Place, data: object) -> list[str]:
    """The keys that are allowed at a place, found by walking model and data together."""
    current: Any = model
    for part in place:
        data = _child(data, part)
        current = _type_at(current, part)
        if isinstance(current, Family):
            kind = data.get("kind") if isinstance(data, dict) else None
            current = current._find(kind) if isinstance(kind, str) else None
    for candidate in _models_in(current):
        return list(candidate.model_fields)
    return []


def _child(data: object, part: str | int) -> object:
    if isinstance(data, dict):
        return data.get(part)
    return data[part] if isinstance(data, list | tuple) and isinstance(part, int) and part < len(data) else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]


def _type_at(current: Any, part: str | int) -> Any:
    for model in _models_in(current):
        if isinstance(part, str) and part in model.model_fields:
            field = model.model_fields[part]
            return _family_in(field.metadata) or field.annotation
    arguments = get_args(current)
    if arguments:
        inner = arguments[-1]
        return _family_in(get_args(inner)) or inner
    return None


def _family_in(metadata: Any) -> Family | None:
    return next((item for item in metadata if isinstance(item, Family)), None)
