"""`skerry trial`: run a sea trial with a vehicle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skerry.cli._options import parse_settings


def trial(
    manoeuvre: Annotated[str, typer.Argument(help="`turning_circle`, `zigzag`, `spiral` or `stopping`.")],
    vehicle: Annotated[str, typer.Argument(help="Name of a shipped vehicle, or a folder with a vehicle.yaml.")],
    helm: Annotated[
        float | None,
        typer.Option(help="Rudder angle, °. Default: the largest angle for the turning circle, 10 for the zig-zag."),
    ] = None,
    angle: Annotated[
        float | None,
        typer.Option(help="Change of heading at which the zig-zag reverses the rudder, °. Default: the rudder angle."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder of the results. Default: the name of the manoeuvre and the vehicle.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a value of vehicle.yaml, as path=value. May be repeated."),
    ] = None,
) -> None:
    """Run a sea trial with a vehicle, and compare its figures with the IMO standards.

    **Examples**

    `skerry trial turning_circle remus100`

    `skerry trial zigzag otter --helm 20`

    `skerry trial stopping sam --set trials.ahead.thruster1=800 --set trials.ahead.thruster2=800`
    """
    from rich.console import Console
    from rich.table import Table

    from skerry.trials import run_trial, write_result

    overrides = parse_settings(settings)
    console = Console(stderr=True)
    with console.status(f"{manoeuvre} of {vehicle} …"):
        result = run_trial(manoeuvre, vehicle, overrides, helm_deg=helm, angle_deg=angle)
    table = Table("figure", "value", "IMO", "", box=None)
    for name, value in result.figures.items():
        table.add_row(name, f"{value:.4g}", "", "")
    for criterion in result.criteria:
        mark = "[green]met[/]" if criterion.is_met else "[red]not met[/]"
        table.add_row(criterion.name, f"{criterion.value:.4g}", f"≤ {criterion.limit:.4g}", mark)
    Console().print(table)
    folder = Path(f"{manoeuvre}_{Path(vehicle).name}" if out is None else out)
    console.print(", ".join(str(path) for path in write_result(result, folder)), soft_wrap=True)
