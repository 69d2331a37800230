"""`skerry import`: make a vehicle from a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_vehicle(
    file: Annotated[
        str, typer.Argument(help="Vehicle file: .urdf, .sdf, Stonefish .scn, or .json written by `skerry export`.")
    ],
    name: Annotated[
        str | None, typer.Option(help="Name of the vehicle and its folder. Default: the robot's name in the file.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to create. Default: a folder of that name in the working directory.")
    ] = None,
    packages: Annotated[
        list[str] | None,
        typer.Option(
            help="Folder to search for `package://` and `model://`, in addition to the parents of the file. "
            "May be repeated."
        ),
    ] = None,
    neutral: Annotated[
        bool,
        typer.Option(
            "--neutral", help="Make the vehicle neutrally buoyant, whatever its shapes displace; for open frames."
        ),
    ] = False,
) -> None:
    """Make a vehicle from another program's file: links, joints, masses, meshes, sensors.

    Buoyancy, added mass and drag that the file does not give are estimated from its shapes. vehicle.yaml
    contains each estimate with its likely error. Every estimate and every omission is printed.

    **Examples**

    `skerry import robot.urdf --packages ~/ros2_ws/src`

    `skerry import sam.json --name my_sam`
    """
    from rich.console import Console
    from rich.markup import escape

    from skerry.importers.vehicle import import_vehicle as write_vehicle

    console = Console(stderr=True)
    folder = None if out is None else Path(out).expanduser()
    package_folders = [Path(package).expanduser() for package in packages or []]
    imported = write_vehicle(Path(file).expanduser(), name, folder, package_folders, neutral)
    for note in imported.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    console.print(f"{escape(str(imported.folder))}: {escape(imported.summary)}", soft_wrap=True)
    path = imported.folder if imported.folder.is_absolute() else f"./{imported.folder}"
    console.print(f"Use it in a scenario as `vehicle: {escape(str(path))}`", soft_wrap=True)
