"""Run a trial of a vehicle by name and write its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, Final

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.formats.chart import draw_charts
from skerry.trials.result import Result
from skerry.trials.ship import Ship
from skerry.trials.spiral import spiral
from skerry.trials.stopping import stopping
from skerry.trials.turning_circle import turning_circle
from skerry.trials.zigzag import zigzag

MANOEUVRES: Final[dict[str, Callable[..., Result]]] = {
    "turning_circle": turning_circle,
    "zigzag": zigzag,
    "spiral": spiral,
    "stopping": stopping,
}


def run_trial(
    manoeuvre: str, vehicle: str, overrides: Mapping[str, Any] | None = None, **options: float | None
) -> Result:
    """Run a manoeuvre with a vehicle (name or folder); `overrides` are merged into its vehicle.yaml.

    Options are those of the manoeuvre: `helm_deg` of the turning circle and the zig-zag, `angle_deg` of the zig-zag.
    """
    if manoeuvre not in MANOEUVRES:
        raise UnknownName(f"there is no trial {manoeuvre!r}; {did_you_mean(manoeuvre, MANOEUVRES)}")
    perform = MANOEUVRES[manoeuvre]
    given = {name: value for name, value in options.items() if value is not None}
    known = [name for name in signature(perform).parameters if name != "ship"]
    for name in given:
        if name not in known:
            raise SkerryError(f"{manoeuvre} has no option {name}; its options: {', '.join(known) or 'none'}")
    with Ship(vehicle, overrides) as ship:
        return perform(ship, **given)


def write_result(result: Result, folder: Path) -> list[Path]:
    """Write result.json and charts.svg into a folder and return their paths."""
    files = {
        "result.json": json.dumps(result.plain(), indent=2) + "\n",
        "charts.svg": draw_charts(result.charts, len(result.charts)),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"{folder}: cannot be written: {error.strerror}") from None
    return [folder / name for name in files]
