"""Generated pages of the documentation: settings of every kind, command line, ROS messages and validation tests."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

SOURCES = Path(__file__).parents[2] / "src"
SIMPLE = {float: "number", int: "integer", str: "text", bool: "true or false", Path: "path", type(None): "null"}
MAX_KEYS = 9
"""Most keys of a mapping that are listed in the type column; longer mappings have their own table."""
BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def families() -> list[Any]:
    """Return all families of kinds, found in the modules that define one."""
    from skerry.core.config import Family

    found: dict[str, Family] = {}
    for path in sorted((SOURCES / "skerry").rglob("*.py")):
        if re.search(r"^[A-Z_]+ = \w*Family\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            module = import_module(".".join(path.relative_to(SOURCES).with_suffix("").parts))
            found |= {member.name: member for member in vars(module).values() if isinstance(member, Family)}
    return list(found.values())


# ------------------------------------------------------------------------------------------------ settings


def settings_page() -> str:
    """Return the page with the settings of every kind of every family."""
    from skerry.core.geo import GeoReference
    from skerry.ropes.config import RopeConfig
    from skerry.scenario.events import EventConfig
    from skerry.scenario.objects import ObjectConfig
    from skerry.scenario.pose import PoseConfig
    from skerry.scenario.schema import RobotConfig, Scenario
    from skerry.scenario.vehicle import VehicleConfig
    from skerry.water import WaterConfig

    lines = [
        "# Settings of every kind",
        "",
        "This page is generated from the code and lists all settings. The page of each part explains them, with",
        "equations. A file selects a part by its `kind`.",
        "",
        "## Files",
        "",
    ]
    for name, model in (
        ("A scenario", Scenario),
        ("A robot in a scenario", RobotConfig),
        ("A pose", PoseConfig),
        ("A reference point on the Earth", GeoReference),
        ("The water", WaterConfig),
        ("An object", ObjectConfig),
        ("An event", EventConfig),
        ("A rope", RopeConfig),
        ("A vehicle.yaml", VehicleConfig),
    ):
        lines += [f"### {name}", "", *table(model)]
    for family in families():
        lines += [f"## {family.name.replace('_', ' ').capitalize()}", ""]
        for kind in family.kinds():
            model = family.find(kind)
            # The heading contains the family, because two families can have a kind of the same name.
            lines += [f"### {kind} ({family.name.replace('_', ' ')})", "", *_described(model), *table(model)]
    return "\n".join(lines) + "\n"


def _described(model: type[BaseModel]) -> list[str]:
    text = (model.__doc__ or "").strip().split("\n\n")[0]
    return [" ".join(text.split()), ""] if text else []


def table(model: type[BaseModel]) -> list[str]:
    """Return the lines of a table of a model's fields."""
    rows = [
        f"| `{name}` | {_cell(type_text(field.annotation, field.metadata))} | {_cell(default(field))} | "
        f"{_cell(field.description or '')} |"
        for name, field in model.model_fields.items()
        if name != "kind"
    ]
    if not rows:
        return ["No settings.", ""]
    return ["| setting | type | default | meaning |", "|---|---|---|---|", *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def default(field: FieldInfo) -> str:
    """Return the default of a field as a file would contain it."""
    if field.is_required():
        return "*required*"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined:
        return ""
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value.value if hasattr(value, "value") else value)
    if isinstance(value, tuple):
        text = "[" + ", ".join(map(str, value)) + "]"
    return f"`{text}`" if text and len(text) < 60 else ""


def type_text(annotation: Any, metadata: Any = ()) -> str:
    """Return a type as text."""
    from skerry.core.config import Family

    family = next((item for item in metadata if isinstance(item, Family)), None)
    if family is not None:
        return f"one of [{family.name.replace('_', ' ')}](#{family.name.replace('_', '-')})"
    origin, arguments = get_origin(annotation), get_args(annotation)
    bounds = "".join(_bounds(metadata))
    if origin is Annotated:
        return type_text(arguments[0], (*arguments[1:], *metadata))
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in {Union, types.UnionType}:
        return " or ".join(type_text(argument, metadata) for argument in arguments if argument is not type(None))
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return f"list of {type_text(arguments[0])}"
    if origin is tuple:
        same = len(set(arguments)) == 1
        return f"{len(arguments)} × {type_text(arguments[0])}" if same else ", ".join(map(type_text, arguments))
    if origin in {list, set, frozenset}:
        return f"list of {type_text(arguments[0])}"
    if origin is dict:
        return f"mapping {type_text(arguments[0])} → {type_text(arguments[1])}"
    if annotation in SIMPLE:
        return SIMPLE[annotation] + bounds
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        keys = [f"`{name}`" for name in annotation.model_fields if name != "kind"]
        return f"mapping of {', '.join(keys)}" if 0 < len(keys) <= MAX_KEYS else "mapping"
    name = getattr(annotation, "__name__", "value")
    return {"Fraction": "number or fraction", "object": "value"}.get(name, name) + bounds


def _bounds(metadata: Any) -> Iterator[str]:
    for item in metadata:
        for inner in getattr(item, "metadata", [item]):  # a Field inside Annotated
            for name, sign in BOUNDS.items():
                if (limit := getattr(inner, name, None)) is not None:
                    yield f" {sign} {limit:g}" if isinstance(limit, int | float) else f" {sign} {limit}"


# ------------------------------------------------------------------------------------------------ command line


def cli_page() -> str:
    """Return the page with the output of `skerry COMMAND --help` for all commands."""
    import typer

    from skerry.cli import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# The command line",
        "",
        "This page is generated from the code; `skerry COMMAND --help` prints the same.",
        "",
    ]
    for name, command in group.commands.items():
        lines += [f"## skerry {name}", "", (command.help or "").strip().replace("\b", ""), ""]
        rows = []
        for parameter in command.params:
            if parameter.name == "help":
                continue
            is_option = parameter.param_type_name == "option"
            shown = ", ".join(parameter.opts) if is_option else (parameter.name or "").upper()
            value = parameter.default
            given = "" if callable(value) or value in (None, False, ()) or parameter.required else f"`{value}`"
            rows.append(f"| `{shown}` | {_cell(given)} | {_cell(getattr(parameter, 'help', '') or '')} |")
        if rows:
            lines += ["| argument or option | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------ messages


def messages_page() -> str:
    """Return the page with the definitions of all shipped ROS types."""
    from skerry.interfaces.ros.messages.type_store import SHIPPED, TypeStore

    type_store = TypeStore()
    lines = [
        "# Messages",
        "",
        "All ROS 2 types that ship with Skerry, generated from their definitions. The page on ROS lists the",
        "[topics with their types](../ros.md#profiles) and shows how to [add your own types](../ros.md#messages).",
        "",
    ]
    for folder, title in (("msg", "Messages of topics"), ("srv", "Services"), ("action", "Actions")):
        lines += [f"## {title}", ""]
        for name in type_store.names(folder):
            package, _, short = name.split("/")
            path = SHIPPED / package / folder / f"{short}.{folder}"
            if path.is_file():
                lines += [f"### {package}/{short}", "", "```text", *_definition(path), "```", ""]
    return "\n".join(lines) + "\n"


def _definition(path: Path) -> list[str]:
    """Return the lines of a definition without comments and empty lines."""
    bare = (line.split("#")[0].rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in bare if line] or ["(empty)"]


# ------------------------------------------------------------------------------------------------ validation


def validation_page() -> str:
    """Return the page with every validation test: its claim, and the formula, source and tolerance."""
    lines = [
        "# Validation",
        "",
        "This page is generated from `tests/validation`. Each row is one claim, with the formula or the published",
        "source that it is compared with, and the reason for its tolerance. All of them run at every change.",
        "",
    ]
    for path in sorted((SOURCES.parent / "tests" / "validation").glob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        summary = (ast.get_docstring(module) or "").split("\n\n")[0].replace("\n", " ")
        claims = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        lines += [f"## {path.stem}", "", summary, "", "| claim | formula, source, tolerance |", "|---|---|"]
        for claim in claims:
            reason = " ".join((ast.get_docstring(claim) or "").split())
            lines.append(f"| {claim.name.removeprefix('test_').replace('_', ' ')} | {_as_text(reason)} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def _as_text(text: str) -> str:
    """Escape characters of formulas that Markdown would interpret."""
    return re.sub(r"([\\|*_<>\[\]])", r"\\\1", text)


PAGES = {
    "reference/settings.md": settings_page,
    "reference/cli.md": cli_page,
    "reference/messages.md": messages_page,
    "reference/validation.md": validation_page,
}
