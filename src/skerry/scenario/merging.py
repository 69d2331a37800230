"""One tree of settings laid over another: mappings merge, everything else replaces, null removes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def merge(base: Any, over: Any) -> Any:
    """The base with the other laid over it; neither is changed."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "kind" in over and "kind" in base and over["kind"] != base["kind"]:
        return over  # another kind has other settings
    result = dict(base)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(base[key], value) if key in base else value
    return result


def parts_without_kind(base: Any, over: Any, groups: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Parts that the overrides name but the base lacks, and that are no new parts since they say no `kind`."""
    found = []
    for group in groups:
        old, new = (tree.get(group) if isinstance(tree, dict) else None for tree in (base, over))
        if isinstance(new, dict):
            known = list(old) if isinstance(old, dict) else []
            for name, value in new.items():
                if name not in known and not (isinstance(value, dict) and "kind" in value):
                    found.append((group, str(name), known))
    return found
