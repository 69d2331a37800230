"""Reader of settings.json, the file with the ports and the image quality of the original simulator."""

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
"""Field of `Okon`, lowest and highest value for each key of the file."""
MAX_SIZE: Final = 1_000_000
"""Number of bytes of the file that are read."""


def read_settings_file(path: Path, defaults: dict[str, Any]) -> dict[str, int]:
    """Return the settings of a file by their names in `Okon`.

    Args:
        path: File to read; a missing file gives no settings.
        defaults: Values of all fields of `Okon`; a key that the file lacks keeps its default and causes a warning.

    Raises:
        SkerryError: The file is not JSON, or a value is out of range.
    """
    try:
        found = json.loads(path.read_bytes()[:MAX_SIZE])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SkerryError(f"{path}: not valid JSON: {error}; correct it, or set `settings_file` to null") from None
    if not isinstance(found, dict):
        raise SkerryError(f"{path}: expected an object with the keys {', '.join(KEYS)}; found {shorten(found)}")
    settings: dict[str, int] = {}
    for key, (name, low, high) in KEYS.items():
        if key not in found:
            logger.warning("%s: `%s` is missing; the default %s is used", path, key, defaults[name])
            continue
        value = found[key]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise SkerryError(f"{path}: `{key}` must be a whole number from {low} to {high}; found {shorten(value)}")
        settings[name] = value
    for key in sorted(set(found) - set(KEYS)):
        logger.warning("%s: unknown key `%s` is ignored; known keys are %s", path, shorten(key), ", ".join(KEYS))
    return settings
