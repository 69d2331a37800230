"""`skerry import-terrain`: make a heightfield from a survey or a mesh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_terrain(
    file: Annotated[str, typer.Argument(help="Terrain file: .tif, .asc, .npy, .npz, .stl, .obj or .dae.")],
    out: Annotated[
        str | None,
        typer.Option(help="Folder to create. Default: a folder with the name of the file in the working directory."),
    ] = None,
    resolution: Annotated[
        float | None, typer.Option(help="Distance between heights, m. Default: the file's own.")
    ] = None,
    crs: Annotated[
        str | None, typer.Option(help="Coordinate system, such as EPSG:3006, of a file that names none.")
    ] = None,
    cell: Annotated[float | None, typer.Option(help="Distance between the numbers of an .npy file, m.")] = None,
    positive: Annotated[str, typer.Option(help="`up` if the file holds heights, `down` if it holds depths.")] = "up",
    vertical_offset: Annotated[float, typer.Option(help="Offset that is added to all heights, m.")] = 0.0,
    scale: Annotated[float, typer.Option(help="Length of one unit of a mesh, m.")] = 1.0,
    y_up: Annotated[bool, typer.Option("--y-up", help="The y axis of the mesh, not z, points up.")] = False,
) -> None:
    """Make a heightfield, and a scenario that uses it, from a survey or a mesh, resampled to a regular grid.

    **Examples**

    `skerry import-terrain survey.tif --positive down --resolution 2`

    `skerry import-terrain harbour.stl --scale 0.001`
    """
    from rich.console import Console
    from rich.markup import escape

    from skerry.core.document import Document
    from skerry.importers.terrain import TerrainOptions
    from skerry.importers.terrain import import_terrain as write_terrain

    given = {
        "resolution": resolution,
        "crs": crs,
        "cell": cell,
        "positive": positive,
        "scale": scale,
        "vertical_offset": vertical_offset,
        "y_up": y_up,
    }
    folder = None if out is None else Path(out).expanduser()
    imported = write_terrain(Path(file).expanduser(), folder, TerrainOptions.load(Document("options", given)))
    console = Console(stderr=True)
    console.print(f"{escape(str(imported.folder))}: {escape(imported.summary)}", soft_wrap=True)
    console.print(f"Use it in a scenario by `extends: {escape(str(imported.folder))}/terrain.yaml`", soft_wrap=True)
