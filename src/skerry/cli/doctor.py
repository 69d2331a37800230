"""`skerry doctor`: report the installed packages, the missing ones, and the features that work on this machine."""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skerry import __version__
from skerry.core.errors import SkerryError

if TYPE_CHECKING:
    from skerry.core.config import Family

EXTRAS: Final = {
    "gym": "Gymnasium environments",
    "ray": "sweeps on a cluster",
    "grid": "currents and winds from NetCDF",
    "geotiff": "compressed GeoTIFF",
}
"""Purpose of each optional extra of the package `skerry`, except the extras of ROS transports."""

TEST_SCENARIO: Final = "torpedo_in_still_water"
"""Scenario that the physics check runs."""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Report what is installed, what is missing, and what works here. The exit code is 1 if a check fails."""
    findings = run_checks()
    if as_json:
        typer.echo(json.dumps([vars(finding) for finding in findings], indent=2))
    else:
        print_findings(findings)
    if any(finding.is_well is False for finding in findings):
        raise typer.Exit(1)


@dataclass(frozen=True)
class Finding:
    """Result of one check."""

    name: str
    is_well: bool | None
    """False for a fault, None for an optional package that is missing."""
    detail: str


def run_checks() -> list[Finding]:
    """Run all checks; a check that fails does not stop the others."""
    from skerry.interfaces.ros.bus.transport import TRANSPORTS
    from skerry.parts.interface import INTERFACES

    found = [
        Finding("Skerry", True, __version__),
        Finding("Python", True, f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("processors", True, f"{len(os.sched_getaffinity(0))} available"),
    ]
    found += [_check_package(name) for name in required_packages(None)]
    transports = {
        extra: f"the ROS transport {kind}" for kind in TRANSPORTS.kinds() if (extra := _extra(TRANSPORTS, kind))
    }
    for extra, purpose in {**transports, **EXTRAS}.items():
        found += [_check_package(name, extra, purpose) for name in required_packages(extra)]
    found += [
        _run_check("MuJoCo", _check_mujoco),
        _run_check("compiled kernels", _check_kernels),
        _run_check("rays", _check_rays),
        _run_check("physics", _check_physics),
    ]
    return found + check_kinds("interface", INTERFACES) + check_kinds("ROS transport", TRANSPORTS)


def required_packages(extra: str | None) -> list[str]:
    """Return the names of the packages that an extra of Skerry requires; None is Skerry without extras."""
    names = []
    for requirement in requires("skerry") or []:
        name, _, marker = requirement.partition(";")
        match = re.search(r"extra == ['\"]([^'\"]+)['\"]", marker)
        if (match[1] if match else None) == extra:
            names += re.findall(r"^[\w.-]+", name)
    return list(dict.fromkeys(names))  # a package appears twice if its version depends on that of Python


def check_kinds(what: str, family: Family) -> list[Finding]:
    """Check that the module of every kind of a family can be imported."""

    def find(kind: str) -> str:
        return f"in module {family.find(kind).__module__}"

    found = []
    for kind in family.kinds():
        name, extra = f"{what} {kind}", _extra(family, kind)
        if extra and any(_check_package(package).is_well is not True for package in required_packages(extra)):
            found.append(Finding(name, None, f"pip install 'skerry[{extra}]'"))
        else:
            found.append(_run_check(name, partial(find, kind)))
    return found


def _extra(family: Family, kind: str) -> str:
    """Return the extra of Skerry that a kind needs; "" if it needs none or cannot be imported."""
    try:
        return getattr(family.find(kind), "extra", "")
    except Exception:  # the check of the kind reports it
        return ""


def print_findings(findings: list[Finding]) -> None:
    """Print the results of the checks as a table."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    marks = {True: "[green]✓[/]", None: "[yellow]–[/]", False: "[red]✗[/]"}
    table = Table(box=None, show_header=False)
    for finding in findings:
        table.add_row(marks[finding.is_well], finding.name, escape(finding.detail))
    Console().print(table)


def _check_package(name: str, extra: str | None = None, purpose: str = "") -> Finding:
    try:
        return Finding(name, True, version(name) + (f", for {purpose}" if purpose else ""))
    except PackageNotFoundError:
        pass
    if extra is not None:
        return Finding(name, None, f"not installed; for {purpose}: pip install 'skerry[{extra}]'")
    if name == "embreex":  # some machines have no wheel of it; Skerry's own tracer replaces it
        return Finding(name, None, "not installed; rays are traced at about half the speed")
    return Finding(name, False, f"not installed; run `pip install {name}`")


def _run_check(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except Exception as error:  # the other checks must run whatever fails here
        text = str(error) if isinstance(error, SkerryError) else f"{type(error).__name__}: {error}"
        return Finding(name, False, text)


def _check_mujoco() -> str:
    from skerry.core.dependencies import check_mujoco

    check_mujoco()
    return "compatible version"


def _check_kernels() -> str:
    from skerry.core.kernels import cache_folder

    folder = cache_folder()
    if folder is None:
        raise SkerryError("no writable cache folder, so every start takes half a minute; set SKERRY_CACHE_DIR to one")
    return f"cached in {folder}"


def _check_rays() -> str:
    from skerry.rays import load_tracer

    return f"traced by {type(load_tracer()).__name__}"


def _check_physics() -> str:
    from skerry.world import build_world

    with build_world(TEST_SCENARIO) as world:
        world.advance(1.0)
        start = time.perf_counter()
        world.advance(20.0)
        return f"{TEST_SCENARIO} at {20.0 / (time.perf_counter() - start):.0f} times real time"
