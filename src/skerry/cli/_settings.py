"""Settings of a kind as rows of text: name, type, default, unit and meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skerry.core.config import Family

UNIT: Final = re.compile(
    r", (?:in )?((?:1/)?(?:µPa|kPa|MPa|Pa|dB|kHz|MHz|Hz|mm|cm|km|m|min|ms|s|N|kg|g|W|Wh|J|V|A|K|L|l|rad|bit|°C|°|%|h)"
    r"(?:[²³⁴]|/|\s|(?:m|s|h|N|kg|rad|°|K|V|Hz|min|bit|W|µPa|a|Pa)(?![a-zé]))*)(?=$|[,;:.)]|\s(?:or|at|per|by|re)\b)"
)
SUFFIXES: Final = {"_deg": "°", "_rpm": "1/min", "_hz": "Hz", "_percent": "%", "frequency": "Hz", "_knots": "kn"}
NAMES: Final = {float: "number", int: "whole number", bool: "true or false", str: "text", Path: "file", dict: "mapping"}
SIGNS: Final = (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤"))

Row = tuple[str, str, str, str, str]
"""Name, type, default, unit and meaning of a setting."""


def setting_rows(model: type[BaseModel], prefix: str = "") -> Iterator[Row]:
    """Yield a row for each setting of a class, and for each setting of a mapping inside it."""
    for name, field in model.model_fields.items():
        if name == "kind":
            continue
        inner = next(_models(field.annotation), None)
        meaning = field.description or (_summary(inner) if inner else "")
        yield f"{prefix}{name}", _type(field.annotation, field.metadata), _default(field), _unit(name, meaning), meaning
        if inner is not None and prefix.count(".") < 2:
            yield from setting_rows(inner, f"{prefix}{name}.")


def _summary(model: type[BaseModel]) -> str:
    """Return the first sentence of a class's docstring."""
    text = (model.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _unit(name: str, meaning: str) -> str:
    """Return the unit that the description or the name of a setting contains."""
    found = UNIT.search(meaning)
    return found[1].strip() if found else next((unit for end, unit in SUFFIXES.items() if name.endswith(end)), "")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of settings that an annotation consists of; classes that a `kind` selects are left out."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _models(part)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory_takes_validated_data:
        return "depends on others"
    return _value(field.get_default(call_default_factory=True))


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, BaseModel):
        return f"kind {value.kind}" if hasattr(value, "kind") else "as below"
    if isinstance(value, dict):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]" if value else "none"
    return str(value) if isinstance(value, Fraction | str | Path) else f"{value:g}"


def _type(annotation: Any, metadata: Any = ()) -> str:
    """Return the text of a type annotation and its limits."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if family := next((item for item in metadata if isinstance(item, Family)), None):
        return f"mapping with a kind of {family.name}"
    if origin is Annotated:
        return _type(arguments[0], (*metadata, *arguments[1:]))
    if origin in {Union, UnionType}:
        return " or ".join(dict.fromkeys(_type(part, metadata) for part in arguments if part is not type(None)))
    if origin is Literal:
        return ", ".join(map(str, arguments))
    if origin in {tuple, list}:
        inner = [part for part in arguments if part is not Ellipsis]
        count = f"{len(inner)} × " if len(inner) == len(arguments) and len(set(inner)) == 1 else "list of "
        return f"{count}{_type(inner[0])}"
    if origin is dict:
        return f"mapping name → {_type(arguments[1])}"
    if annotation is Fraction:
        text = "number or fraction"
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        text = "mapping"
    else:
        text = NAMES.get(annotation, getattr(annotation, "__name__", str(annotation)))
    limits = [f"{sign} {float(getattr(item, key)):g}" for item in metadata for key, sign in SIGNS if hasattr(item, key)]
    return " ".join([text, *limits])
