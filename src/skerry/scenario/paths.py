"""Paths in settings made whole, so that settings of one file can be laid over those of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skerry.core.config import is_file
from skerry.scenario.vehicle import SHIPPED as SHIPPED_VEHICLES
from skerry.scenario.vehicle import find_vehicle


def with_absolute_paths(data: Any, folder: Path, key: str | int = "") -> Any:
    """Settings of a file in this folder, with the files and vehicles beside it named by their whole paths."""
    if isinstance(data, dict):
        return {inner: with_absolute_paths(value, folder, inner) for inner, value in data.items()}
    if isinstance(data, list):
        return [with_absolute_paths(value, folder, key) for value in data]
    if not isinstance(data, str) or key in {"name", "description"}:
        return data
    if key == "vehicle":
        home = find_vehicle(data, folder)
        return data if home is None or home.parent == SHIPPED_VEHICLES else str(home.resolve())
    # A word that happens to be a file's name too is no path.
    return str(folder / data) if ("/" in data or "." in data) and is_file(folder / data) else data
