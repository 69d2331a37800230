"""What is installed here, what is missing, and what works: for people who wonder why something does not."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skerry import __version__
from skerry.core.config import Family
from skerry.core.dependencies import check_mujoco
from skerry.core.errors import SkerryError
from skerry.core.kernels import cache_folder
from skerry.interfaces.ros.bus.transport import TRANSPORTS
from skerry.parts.interface import INTERFACES
from skerry.rays import load_tracer
from skerry.world import build_world

EXTRAS: Final = {
    "ros": "ROS 2 over DDS",
    "zenoh": "ROS 2 over Zenoh",
    "gym": "Gymnasium environments",
    "ray": "sweeps on a cluster",
    "grid": "currents and winds from NetCDF",
    "geotiff": "compressed GeoTIFF",
}
"""What each extra of the package is good for."""

NEEDED: Final = {"dds": "ros", "zenoh": "zenoh"}
"""Kinds that work only with an extra."""

TRIAL: Final = "torpedo_in_still_water"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `is_well` is None of what is missing but need not be there."""

    name: str
    is_well: bool | None
    detail: str


def examine() -> list[Finding]:
    """Look at everything, whatever fails on the way."""
    found = [
        Finding("Skerry", True, __version__),
        Finding("Python", True, f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("processors", True, f"{len(os.sched_getaffinity(0))} may be used"),
    ]
    found += [_package(name) for name in packages(None)]
    for extra, use in EXTRAS.items():
        found += [_package(name, extra, use) for name in packages(extra)]
    found += [
        _look("MuJoCo", _mujoco),
        _look("compiled kernels", _kernels),
        _look("rays", _rays),
        _look("physics", _physics),
    ]
    return found + _kinds("interface", INTERFACES) + _kinds("ROS transport", TRANSPORTS)


def packages(extra: str | None) -> list[str]:
    """The packages that Skerry asks for on this machine, or that one of its extras does."""
    names = []
    for requirement in requires("skerry") or []:
        name, _, marker = requirement.partition(";")
        of = re.search(r"extra == ['\"]([^'\"]+)['\"]", marker)
        if (of[1] if of else None) == extra:
            names += re.findall(r"^[\w.-]+", name)
    return list(dict.fromkeys(names))  # one may be asked for twice, for other versions of Python


def _package(name: str, extra: str | None = None, use: str = "") -> Finding:
    try:
        return Finding(name, True, version(name) + (f", for {use}" if use else ""))
    except PackageNotFoundError:
        pass
    if extra is not None:
        return Finding(name, None, f"not installed; for {use}: pip install 'skerry[{extra}]'")
    if name == "embreex":  # has no wheel for some machines, and can be done without
        return Finding(name, None, "not installed; rays are traced at about half the speed")
    return Finding(name, False, f"not installed; run `pip install {name}`")


def _look(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, look())
    except Exception as error:  # whatever is wrong here, the rest is looked at
        text = str(error) if isinstance(error, SkerryError) else f"{type(error).__name__}: {error}"
        return Finding(name, False, text)


def _mujoco() -> str:
    check_mujoco()
    return "its versions fit together"


def _kernels() -> str:
    folder = cache_folder()
    if folder is None:
        raise SkerryError("cannot be kept, so that every start takes half a minute; set SKERRY_CACHE_DIR to a folder")
    return f"in {folder}"


def _rays() -> str:
    return f"by {type(load_tracer()).__name__}"


def _physics() -> str:
    with build_world(TRIAL) as world:
        world.advance(1.0)
        start = time.perf_counter()
        world.advance(20.0)
        return f"{TRIAL} at {20.0 / (time.perf_counter() - start):.0f} times real time"


def _kinds(what: str, family: Family) -> list[Finding]:
    def find(kind: str) -> str:
        return f"by {family.find(kind).__module__}"

    found = []
    for kind in family.kinds():
        name, extra = f"{what} {kind}", NEEDED.get(kind)
        if extra is not None and any(_package(package).is_well is not True for package in packages(extra)):
            found.append(Finding(name, None, f"pip install 'skerry[{extra}]'"))
        else:
            found.append(_look(name, partial(find, kind)))
    return found


def show(findings: list[Finding]) -> None:
    """Print what was found as a table."""
    marks = {True: "[green]✓[/]", None: "[yellow]–[/]", False: "[red]✗[/]"}
    table = Table(box=None, show_header=False)
    for finding in findings:
        table.add_row(marks[finding.is_well], finding.name, escape(finding.detail))
    Console().print(table)
