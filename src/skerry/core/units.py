"""Units of dataclass fields, as metadata."""

from __future__ import annotations

from dataclasses import field
from typing import Any

UNIT = "unit"
"""Key of the unit in the metadata of a field."""


def unit(symbol: str | None = None) -> Any:
    """Return a dataclass field whose metadata holds its unit.

    Args:
        symbol: The unit, for example "m/s"; "" for pure numbers, flags, names and images. None for a field that is a
            dataclass, whose own fields have units.
    """
    return field(metadata={UNIT: symbol})
