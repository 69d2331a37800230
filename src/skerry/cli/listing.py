"""Lists of what there is to name in a file."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.ros.bus.transport import TRANSPORTS
from skerry.parts.acoustics import ACOUSTICS
from skerry.parts.actuator import ACTUATORS
from skerry.parts.controller import CONTROLLERS
from skerry.parts.interface import INTERFACES
from skerry.parts.law import LAWS
from skerry.parts.sensor import SENSORS
from skerry.scenario.loading import describe_shipped_scenarios
from skerry.scenario.props import read_prop, shipped_props
from skerry.scenario.vehicle import shipped_vehicles
from skerry.terrain import TERRAINS
from skerry.water.flow import CURRENTS, SURFACES

FAMILIES = (
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
)


def list_contents(what: str) -> None:
    """Print the names of what there is."""
    parts = ("scenarios", "vehicles", "props", "components")
    if what != "all" and what not in parts:
        raise SkerryError(f"there is no list of {what!r}; {did_you_mean(what, parts)}")
    console = Console()
    if what in {"all", "scenarios"}:
        table = Table("scenario", "", title="Scenarios: skerry run NAME", title_justify="left", box=None)
        for name, description in describe_shipped_scenarios().items():
            table.add_row(name, description)
        console.print(table)
    if what in {"all", "vehicles"}:
        console.print("Vehicles:", ", ".join(shipped_vehicles()))
    if what in {"all", "props"}:
        table = Table("prop", "", title="Props: objects: {NAME: {prop: PROP, …}}", title_justify="left", box=None)
        for name in shipped_props():
            table.add_row(name, read_prop(name).description)
        console.print(table)
    if what in {"all", "components"}:
        table = Table(
            "family",
            "kinds",
            title="Components, by the `kind` that a file gives",
            title_justify="left",
            box=None,
        )
        for family in FAMILIES:
            table.add_row(family.name, ", ".join(family.kinds()) or "none yet")
        console.print(table)
