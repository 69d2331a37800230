"""Trees of settings as plain data, and one laid over another: mappings merge, all else replaces, null removes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from skerry.core.document import Document, KeyPath


def to_plain(value: Any) -> Any:
    """Settings made in Python, as a file would hold them."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(inner) for inner in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value) if isinstance(value, Fraction | Path) else value


def merge(
    base: Any, over: Any, keeps_null: Callable[[KeyPath], bool] = lambda place: False, place: KeyPath = ()
) -> Any:
    """The base with the other laid over it; neither is changed. `keeps_null` says where a null is itself a value."""
    if _replaces(base, over):
        return over
    result = dict(base)
    for key, value in over.items():
        at = (*place, key)
        if value is None and not keeps_null(at):
            result.pop(key, None)
        else:
            result[key] = merge(base[key], value, keeps_null, at) if key in base else value
    return result


def overlay(
    base: Document, over: Document, source: str, keeps_null: Callable[[KeyPath], bool] = lambda place: False
) -> Document:
    """One document laid over another, of which each value remembers where it was written."""
    kept = {at: origin for at, origin in base.origins.items() if not _comes_from_over(base.data, over.data, at)}
    return Document(source, merge(base.data, over.data, keeps_null), {**kept, **over.origins})


def _replaces(base: Any, over: Any) -> bool:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return True
    return "kind" in over and "kind" in base and over["kind"] != base["kind"]  # another kind has other settings


def _comes_from_over(base: Any, over: Any, place: KeyPath) -> bool:
    """Whether the value at a place, or its absence, is the doing of the upper tree."""
    for part in place:
        if _replaces(base, over):
            return True
        if part not in over or part not in base:
            return part in over
        base, over = base[part], over[part]
    return True


def parts_without_kind(base: Any, over: Any, groups: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Parts that the overrides name but the base lacks, and that are no new parts since they say no `kind`."""
    found = []
    for group in groups:
        old, new = (tree.get(group) if isinstance(tree, dict) else None for tree in (base, over))
        if isinstance(new, dict):
            known = list(old) if isinstance(old, dict) else []
            for name, value in new.items():
                if name not in known and not (isinstance(value, dict) and "kind" in value):
                    found.append((group, name, known))
    return found
