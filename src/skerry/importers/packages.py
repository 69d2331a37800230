"""Where the packages of ROS and the models of Gazebo lie that a file names: package://arm_description/…, model://arm/…"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

DEEPEST = 4
"""Levels below a given folder: a workspace has src/<repository>/<package>."""


def find_packages(folders: Iterable[Path]) -> dict[str, Path]:
    """Packages by name: the folders, those directly in them, and all within that have a package.xml or model.config."""
    found: dict[str, Path] = {}
    for start in folders:
        found.setdefault(start.resolve().name, start)
        depth = len(start.parts)
        for place, inside, files in os.walk(start):
            folder = Path(place)
            if "package.xml" in files:
                found.setdefault(_package_name(folder), folder)
            if "model.config" in files or folder == start:
                found.setdefault(folder.name, folder)
            if folder == start:
                for name in inside:
                    found.setdefault(name, folder / name)
            if len(folder.parts) - depth >= DEEPEST:
                inside.clear()
    return found


def _package_name(folder: Path) -> str:
    try:
        return (ElementTree.parse(folder / "package.xml").getroot().findtext("name") or folder.name).strip()
    except (ElementTree.ParseError, OSError):
        return folder.name


def resolve(name: str, home: Path, packages: Mapping[str, Path]) -> tuple[Path | None, list[Path]]:
    """The file that a URI or a relative path means, seen from the folder `home`; and where it was looked for."""
    scheme, separator, rest = name.strip().partition("://")
    if not separator:
        tried = [home / name.strip()]
    elif scheme in {"package", "model"}:
        package, _, inner = rest.partition("/")
        tried = [packages[package] / inner] if package in packages else []
        tried += [folder / package / inner for folder in (home, *home.parents) if (folder / package).is_dir()]
        tried.append(home / inner)
    elif scheme == "file":
        path = Path(unquote(rest))
        tried = [path if path.is_absolute() else home / path]
    else:
        tried = []
    return next((path for path in tried if path.is_file()), None), tried
