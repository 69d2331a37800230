"""Import and export in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from skerry.core.document import Document
from skerry.core.errors import SkerryError


def import_vehicle_in_terminal(
    file: str, name: str | None, out: str | None, packages: list[str], neutral: bool
) -> None:
    """Import a vehicle, and say what was made and what was guessed."""
    from skerry.importers.vehicle_import import import_vehicle

    console = Console(stderr=True)
    folder = None if out is None else Path(out).expanduser()
    places = [Path(place).expanduser() for place in packages]
    made = import_vehicle(Path(file).expanduser(), name, folder, places, neutral)
    for note in made.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    console.print(f"{escape(str(made.folder))}: {escape(made.summary)}", soft_wrap=True)
    place = made.folder if made.folder.is_absolute() else f"./{made.folder}"
    console.print(f"Use it in a scenario as `vehicle: {escape(str(place))}`", soft_wrap=True)


def import_terrain_in_terminal(file: str, out: str | None, options: Mapping[str, Any]) -> None:
    """Import ground, and say what was made."""
    from skerry.importers.terrain_import import TerrainOptions, import_terrain

    folder = None if out is None else Path(out).expanduser()
    made = import_terrain(Path(file).expanduser(), folder, TerrainOptions.load(Document("options", dict(options))))
    console = Console(stderr=True)
    console.print(f"{escape(str(made.folder))}: {escape(made.summary)}", soft_wrap=True)
    console.print(f"Use it in a scenario by `extends: {escape(str(made.folder))}/terrain.yaml`", soft_wrap=True)


def export_in_terminal(vehicle: str, out: str | None) -> None:
    """Write a vehicle's JSON to a file, or print it."""
    from skerry.importers.vehicle_json import export_text

    text = export_text(vehicle)
    if out is None:
        print(text, end="")
        return
    try:
        Path(out).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"{out} cannot be written: {error.strerror}") from None
