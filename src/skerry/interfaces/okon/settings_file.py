"""settings.json: where the original looks for its ports and the quality of its pictures."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Final

from skerry.core.errors import SkerryError, shorten

logger = logging.getLogger("skerry")

KEYS: Final = {
    "videoPort": ("video_port", 1, 65535),
    "jsonPort": ("control_port", 1, 65535),
    "quality": ("quality", 0, 100),
}
"""The file's words: our own, the least and the most."""
LONGEST: Final = 1_000_000  # bytes


def read_settings_file(path: Path, defaults: dict[str, Any]) -> dict[str, int]:
    """The settings of a file by our own words; what it lacks keeps its default, and that is told."""
    try:
        found = json.loads(path.read_bytes()[:LONGEST])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SkerryError(f"{path}: cannot be read as JSON: {error}; mend it, or set `settings_file` to null") from None
    if not isinstance(found, dict):
        raise SkerryError(f"{path}: needs an object with {', '.join(KEYS)}, not {shorten(found)}")
    settings: dict[str, int] = {}
    for key, (word, least, most) in KEYS.items():
        if key not in found:
            logger.warning("%s: `%s` is missing; it stays %s", path, key, defaults[word])
            continue
        value = found[key]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise SkerryError(f"{path}: `{key}` must be a whole number from {least} to {most}, not {shorten(value)}")
        settings[word] = value
    for key in sorted(set(found) - set(KEYS)):
        logger.warning("%s: `%s` means nothing here; known are %s", path, shorten(key), ", ".join(KEYS))
    return settings
