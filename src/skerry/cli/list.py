"""`skerry list`: list the names that files may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.markup import escape

from skerry.core.errors import SkerryError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

    from skerry.core.config import Family

LISTS: Final = ("scenarios", "vehicles", "props", "components")


def list_contents(
    what: Annotated[
        str,
        typer.Argument(
            help="`scenarios`, `vehicles`, `props` or `components`; or a kind such as `dvl`, to list its settings. "
            "Default: all four lists."
        ),
    ] = "all",
) -> None:
    """List shipped scenarios, vehicles, props and kinds of components, or the settings of one kind."""
    from rich.console import Console

    console = Console()
    if what in {"all", "scenarios"}:
        _list_scenarios(console)
    if what in {"all", "vehicles"}:
        from skerry.scenario.vehicle import shipped_vehicles

        console.print("Vehicles:", ", ".join(shipped_vehicles()))
    if what in {"all", "props"}:
        _list_props(console)
    if what in {"all", "components"}:
        _list_components(console)
    if what != "all" and what not in LISTS:
        _list_settings(console, what)


def _list_scenarios(console: Console) -> None:
    from rich.table import Table

    from skerry.scenario.loading import describe_shipped_scenarios

    table = Table("scenario", "", title="Scenarios: skerry run NAME", title_justify="left", box=None)
    for name, description in describe_shipped_scenarios().items():
        table.add_row(name, description)
    console.print(table)


def _list_props(console: Console) -> None:
    from rich.table import Table

    from skerry.scenario.props import read_prop, shipped_props

    table = Table("prop", "", title="Props: objects: {NAME: {prop: PROP, …}}", title_justify="left", box=None)
    for name in shipped_props():
        table.add_row(name, read_prop(name).description)
    console.print(table)


def _families() -> tuple[Family, ...]:
    """Return all families of kinds."""
    from skerry.interfaces.ros.bus.transport import TRANSPORTS
    from skerry.parts.acoustics import ACOUSTICS
    from skerry.parts.actuator import ACTUATORS
    from skerry.parts.controller import CONTROLLERS
    from skerry.parts.interface import INTERFACES
    from skerry.parts.law import LAWS
    from skerry.parts.sensor import SENSORS
    from skerry.terrain import TERRAINS
    from skerry.water.flow import CURRENTS, SURFACES

    return (LAWS, ACTUATORS, SENSORS, CONTROLLERS, ACOUSTICS, SURFACES, CURRENTS, TERRAINS, INTERFACES, TRANSPORTS)


def _list_components(console: Console) -> None:
    from rich.table import Table

    title = "Components: values of `kind` in scenario and vehicle files; skerry list KIND shows the settings of one"
    table = Table("family", "kinds", title=title, title_justify="left", box=None)
    for family in _families():
        table.add_row(family.name, ", ".join(family.kinds()) or "none")
    console.print(table)


def _list_settings(console: Console, kind: str) -> None:
    """Print the settings of a kind, in every family that has a kind of this name."""
    from rich.table import Table

    from skerry.cli._settings import setting_rows

    having = [family for family in _families() if kind in family.kinds()]
    if not having:
        known = {*LISTS, *(name for family in _families() for name in family.kinds())}
        raise SkerryError(f"there is no list and no kind {kind!r}; {did_you_mean(kind, known)}")
    for family in having:
        model = family.find(kind)
        summary = (model.__doc__ or "").strip().partition("\n")[0]
        table = Table(title=f"{kind} ({family.name}): {summary}", title_justify="left", box=None)
        for heading in ("setting", "type", "default", "unit", "meaning"):
            table.add_column(heading, overflow="fold")
        for row in setting_rows(model):
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
