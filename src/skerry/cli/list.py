"""`skerry list`: list the names that files may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from skerry.core.errors import SkerryError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

LISTS: Final = ("scenarios", "vehicles", "props", "components")


def list_contents(
    what: Annotated[
        str, typer.Argument(help="`scenarios`, `vehicles`, `props` or `components`. Default: all of them.")
    ] = "all",
) -> None:
    """List shipped scenarios, vehicles and props, and the kinds of components that files may name."""
    from rich.console import Console

    if what != "all" and what not in LISTS:
        raise SkerryError(f"there is no list of {what!r}; {did_you_mean(what, LISTS)}")
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


def _list_components(console: Console) -> None:
    from rich.table import Table

    from skerry.interfaces.ros.bus.transport import TRANSPORTS
    from skerry.parts.acoustics import ACOUSTICS
    from skerry.parts.actuator import ACTUATORS
    from skerry.parts.controller import CONTROLLERS
    from skerry.parts.interface import INTERFACES
    from skerry.parts.law import LAWS
    from skerry.parts.sensor import SENSORS
    from skerry.terrain import TERRAINS
    from skerry.water.flow import CURRENTS, SURFACES

    title = "Components: values of `kind` in scenario and vehicle files"
    table = Table("family", "kinds", title=title, title_justify="left", box=None)
    for family in (
        LAWS,
        ACTUATORS,
        SENSORS,
        CONTROLLERS,
        ACOUSTICS,
        SURFACES,
        CURRENTS,
        TERRAINS,
        INTERFACES,
        TRANSPORTS,
    ):
        table.add_row(family.name, ", ".join(family.kinds()) or "none")
    console.print(table)
