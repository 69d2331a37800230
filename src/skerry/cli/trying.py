"""Sea trials in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from skerry.trials import run_trial, write_result


def try_in_terminal(
    manoeuvre: str, vehicle: str, helm: float | None, angle: float | None, out: str | None, overrides: Mapping[str, Any]
) -> None:
    """Do a sea trial, and show its figures."""
    console = Console(stderr=True)
    with console.status(f"{manoeuvre} of {vehicle} …"):
        result = run_trial(manoeuvre, vehicle, overrides, helm_deg=helm, angle_deg=angle)
    table = Table("figure", "value", "IMO", "", box=None)
    for name, value in result.figures.items():
        table.add_row(name, f"{value:.4g}", "", "")
    for each in result.criteria:
        mark = "[green]met[/]" if each.is_met else "[red]not met[/]"
        table.add_row(each.name, f"{each.value:.4g}", f"≤ {each.limit:.4g}", mark)
    Console().print(table)
    folder = Path(f"{manoeuvre}_{Path(vehicle).name}" if out is None else out)
    console.print(", ".join(str(path) for path in write_result(result, folder)), soft_wrap=True)
