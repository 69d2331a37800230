"""`skerry export`: write a vehicle as one JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skerry.core.errors import SkerryError


def export(
    vehicle: Annotated[str, typer.Argument(help="Name of a shipped vehicle, or folder of a vehicle.")],
    out: Annotated[str | None, typer.Option(help="File to write. Default: standard output.")] = None,
) -> None:
    """Write a vehicle as one JSON file: geometry, masses, joints, components, meshes. `skerry import` reads it back.

    **Examples**

    `skerry export sam --out sam.json`
    """
    from skerry.importers.vehicle_json import export_text

    text = export_text(vehicle)
    if out is None:
        print(text, end="")
        return
    try:
        Path(out).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"--out {out}: cannot write the file: {error.strerror}") from None
