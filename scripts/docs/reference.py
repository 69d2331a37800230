"""Pages of the documentation that are made of the code itself: settings of every kind, the command line, messages."""

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
MOST_KEYS = 9
"""Of a mapping, to be named where it is used; a longer one has a table of its own."""
BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def families() -> list[Any]:
    """All families of kinds, found in the modules that make one."""
    from skerry.core.config import Family

    found: dict[str, Family] = {}
    for path in sorted((SOURCES / "skerry").rglob("*.py")):
        if re.search(r"^[A-Z_]+ = Family\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            module = import_module(".".join(path.relative_to(SOURCES).with_suffix("").parts))
            found |= {member.name: member for member in vars(module).values() if isinstance(member, Family)}
    return list(found.values())


# ------------------------------------------------------------------------------------------------ settings


def settings_page() -> str:
    """Every kind of every family, with its settings."""
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
        "Made of the code at the build of this site. What a setting is for, with its equation, is on the page of its",
        "part; here is all there is, at a glance. Files name a part by its `kind`.",
        "",
        "## Files",
        "",
    ]
    for name, model in (
        ("A scenario", Scenario),
        ("A robot in a scenario", RobotConfig),
        ("A pose", PoseConfig),
        ("A place on Earth", GeoReference),
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
            # The family stands in the heading, since a word may be a kind of two of them.
            lines += [f"### {kind} ({family.name.replace('_', ' ')})", "", *_described(model), *table(model)]
    return "\n".join(lines) + "\n"


def _described(model: type[BaseModel]) -> list[str]:
    text = (model.__doc__ or "").strip().split("\n\n")[0]
    return [" ".join(text.split()), ""] if text else []


def table(model: type[BaseModel]) -> list[str]:
    """A table of a model's fields."""
    rows = [
        f"| `{name}` | {_cell(words(field.annotation, field.metadata))} | {_cell(default(field))} | "
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
    """As a file would write it."""
    if field.is_required():
        return "*needed*"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined:
        return ""
    if isinstance(value, BaseModel):
        return "its own"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value.value if hasattr(value, "value") else value)
    if isinstance(value, tuple):
        text = "[" + ", ".join(map(str, value)) + "]"
    return f"`{text}`" if text and len(text) < 60 else ""


def words(annotation: Any, metadata: Any = ()) -> str:
    """A type in words."""
    from skerry.core.config import Family

    family = next((item for item in metadata if isinstance(item, Family)), None)
    if family is not None:
        return f"one of [{family.name.replace('_', ' ')}](#{family.name.replace('_', '-')})"
    origin, arguments = get_origin(annotation), get_args(annotation)
    bounds = "".join(_bounds(metadata))
    if origin is Annotated:
        return words(arguments[0], (*arguments[1:], *metadata))
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in arguments)
    if origin in {Union, types.UnionType}:
        return " or ".join(words(argument, metadata) for argument in arguments if argument is not type(None))
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return f"list of {words(arguments[0])}"
    if origin is tuple:
        alike = len(set(arguments)) == 1
        return f"{len(arguments)} × {words(arguments[0])}" if alike else ", ".join(map(words, arguments))
    if origin in {list, set, frozenset}:
        return f"list of {words(arguments[0])}"
    if origin is dict:
        return f"mapping {words(arguments[0])} → {words(arguments[1])}"
    if annotation in SIMPLE:
        return SIMPLE[annotation] + bounds
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        keys = [f"`{name}`" for name in annotation.model_fields if name != "kind"]
        return f"mapping of {', '.join(keys)}" if 0 < len(keys) <= MOST_KEYS else "mapping"
    name = getattr(annotation, "__name__", "value")
    return {"Fraction": "number or fraction", "object": "value"}.get(name, name) + bounds


def _bounds(metadata: Any) -> Iterator[str]:
    for item in metadata:
        for inner in getattr(item, "metadata", [item]):  # a Field inside of Annotated
            for word, sign in BOUNDS.items():
                if (limit := getattr(inner, word, None)) is not None:
                    yield f" {sign} {limit:g}" if isinstance(limit, int | float) else f" {sign} {limit}"


# ------------------------------------------------------------------------------------------------ command line


def cli_page() -> str:
    """What `skerry COMMAND --help` says, as a page."""
    import typer

    from skerry.cli import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# The command line",
        "",
        "Made of the code at the build of this site; `skerry COMMAND --help` says the same.",
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
    """All ROS types that ship with Skerry, by their definitions."""
    from skerry.interfaces.ros.messages.type_store import SHIPPED, TypeStore

    type_store = TypeStore()
    lines = [
        "# Messages",
        "",
        "All types of ROS 2 that ship with Skerry, made of their definitions at the build of this site. Which",
        "topic has which is on [the page on ROS](../ros.md#profiles), as is how to [add your own](../ros.md#messages).",
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
    """Without comments and empty lines."""
    bare = (line.split("#")[0].rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in bare if line] or ["(empty)"]


# ------------------------------------------------------------------------------------------------ validation


def validation_page() -> str:
    """Every physical claim that a test holds the simulator to, with its formula, source and tolerance."""
    lines = [
        "# Validation",
        "",
        "Made of `tests/validation` at the build of this site: one claim a row, with the formula or the published",
        "source that it is held against, and why its tolerance is what it is. All of them run at every change.",
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


def _as_text(words: str) -> str:
    """Formulas hold signs that Markdown would take for its own."""
    return re.sub(r"([\\|*_<>\[\]])", r"\\\1", words)


PAGES = {
    "reference/settings.md": settings_page,
    "reference/cli.md": cli_page,
    "reference/messages.md": messages_page,
    "reference/validation.md": validation_page,
}
