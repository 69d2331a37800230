"""Benchmarks of `skerry bench`: each module measures one part with shipped vehicles and the public API.

A module has `GOALS`, a mapping of key to goal, and `measure()`, which returns a value for each key.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from rich.console import Console
from rich.table import Table

from skerry.benchmarks._goal import Goal
from skerry.core.errors import UnknownName, did_you_mean


def parts() -> list[str]:
    """Return the names of the parts that can be measured."""
    return sorted(m.name for m in iter_modules(__path__) if not m.name.startswith("_"))


def measure(names: list[str]) -> dict[str, float]:
    """Measure the named parts, or all parts if `names` is empty.

    Returns:
        Values by dotted key.
    """
    console = Console(stderr=True)
    for name in names:
        if name not in parts():
            raise UnknownName(f"there is no benchmark {name!r}; {did_you_mean(name, parts())}")
    values: dict[str, float] = {}
    with console.status("") as status:
        for name in names or parts():
            status.update(f"measuring {name} …")
            values |= import_module(f"{__name__}.{name}").measure()
    return values


def goals() -> dict[str, Goal]:
    """Return the goal of every key that has one."""
    return {key: goal for name in parts() for key, goal in import_module(f"{__name__}.{name}").GOALS.items()}


def nested(values: Mapping[str, float]) -> dict[str, Any]:
    """Return dotted keys as nested dictionaries."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, last = key.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = float(f"{value:.6g}")
    return tree


def show(values: Mapping[str, float]) -> None:
    """Print the values as a table with the goal beside each."""
    table = Table("key", "value", "goal", "", box=None)
    known = goals()
    for key, value in values.items():
        goal = known.get(key)
        mark = "" if goal is None else ("[green]reached[/]" if goal.is_reached(value, values) else "[red]missed[/]")
        table.add_row(key, f"{value:.4g}", str(goal or ""), mark)
    Console().print(table)
