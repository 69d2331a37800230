"""Absolute paths in settings, so that settings of one file can be laid over those of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skerry.core.config import is_file
from skerry.scenario.vehicle import SHIPPED as SHIPPED_VEHICLES
from skerry.scenario.vehicle import find_vehicle


def with_absolute_paths(data: Any, folder: Path, key: str | int = "") -> Any:
    """Return settings of a file in this folder with relative paths of files and vehicles made absolute."""
    if isinstance(data, dict):
        return {inner: with_absolute_paths(value, folder, inner) for inner, value in data.items()}
    if isinstance(data, list):
        return [with_absolute_paths(value, folder, key) for value in data]
    if not isinstance(data, str) or key in {"name", "description"}:
        return data
    if key == "vehicle":
        home = find_vehicle(data, folder)
        return data if home is None or home.parent == SHIPPED_VEHICLES else str(home.resolve())
    # Text without a slash or dot is not a path, even if a file of that name exists.
    return str(folder / data) if ("/" in data or "." in data) and is_file(folder / data) else data
