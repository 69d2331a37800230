"""Overlay of settings on others: mappings are merged, other values replaced, and null removes a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from skerry.core.document import Document, KeyPath


def to_plain(value: Any) -> Any:
    """Convert settings made in Python to plain data, as a file would contain them."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(inner) for inner in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value) if isinstance(value, Fraction | Path) else value


def merge(base: Any, over: Any, keeps_null: Callable[[KeyPath], bool] = lambda path: False, path: KeyPath = ()) -> Any:
    """Return `base` with `over` laid over it; neither is changed.

    Args:
        base: Lower settings.
        over: Upper settings.
        keeps_null: Tells for a path whether a null there is a value and does not remove the key.
        path: Path of `base` in the document.
    """
    if _replaces(base, over):
        return over
    result = dict(base)
    for key, value in over.items():
        at = (*path, key)
        if value is None and not keeps_null(at):
            result.pop(key, None)
        else:
            result[key] = merge(base[key], value, keeps_null, at) if key in base else value
    return result


def overlay(
    base: Document, over: Document, source: str, keeps_null: Callable[[KeyPath], bool] = lambda path: False
) -> Document:
    """Return `base` with `over` laid over it; each value keeps its origin."""
    kept = {at: origin for at, origin in base.origins.items() if not _comes_from_over(base.data, over.data, at)}
    return Document(source, merge(base.data, over.data, keeps_null), {**kept, **over.origins})


def _replaces(base: Any, over: Any) -> bool:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return True
    return (
        "kind" in over and "kind" in base and over["kind"] != base["kind"]
    )  # the settings of another kind are different


def _comes_from_over(base: Any, over: Any, path: KeyPath) -> bool:
    """Return whether `over` determines the value at a path, or its absence."""
    for part in path:
        if _replaces(base, over):
            return True
        if part not in over or part not in base:
            return part in over
        base, over = base[part], over[part]
    return True


def parts_without_kind(base: Any, over: Any, groups: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Return the parts that exist only in the overrides and have no `kind`, as (group, name, known names).

    A new part needs a `kind`, so these names are most likely misspelt.
    """
    found = []
    for group in groups:
        old, new = (tree.get(group) if isinstance(tree, dict) else None for tree in (base, over))
        if isinstance(new, dict):
            known = list(old) if isinstance(old, dict) else []
            for name, value in new.items():
                if name not in known and not (isinstance(value, dict) and "kind" in value):
                    found.append((group, name, known))
    return found
