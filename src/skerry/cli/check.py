"""`skerry check`: check scenarios and vehicles without running them."""

from __future__ import annotations

from typing import Annotated

import typer

from skerry.core.errors import SkerryError


def check(
    files: Annotated[list[str], typer.Argument(help="Scenario files, names of scenarios, or folders of vehicles.")],
) -> None:
    """Check scenarios or vehicles without running them, and list all faults of each file.

    A scenario is loaded and its world is built, so every fault that could stop its start is found. The exit code is 1
    if a file has a fault.
    """
    from skerry.world.check import check_file

    failed = False
    for file in files:
        try:
            typer.echo(f"{file}: {check_file(file)}")
        except SkerryError as error:
            typer.echo(str(error), err=True)
            failed = True
    if failed:
        raise typer.Exit(1)
