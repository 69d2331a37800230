"""Search for ROS packages and Gazebo models that a file names: package://arm_description/…, model://arm/…"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

MAX_DEPTH = 4
"""Number of levels below a given folder that are searched: a workspace has src/<repository>/<package>."""


def find_packages(folders: Iterable[Path]) -> dict[str, Path]:
    """Return packages by name.

    Packages are the given folders, their direct subfolders, and all folders inside with a package.xml or model.config.
    """
    found: dict[str, Path] = {}
    for start in folders:
        found.setdefault(start.resolve().name, start)
        depth = len(start.parts)
        for path, inside, files in os.walk(start):
            folder = Path(path)
            if "package.xml" in files:
                found.setdefault(_package_name(folder), folder)
            if "model.config" in files or folder == start:
                found.setdefault(folder.name, folder)
            if folder == start:
                for name in inside:
                    found.setdefault(name, folder / name)
            if len(folder.parts) - depth >= MAX_DEPTH:
                inside.clear()
    return found


def _package_name(folder: Path) -> str:
    try:
        return (ElementTree.parse(folder / "package.xml").getroot().findtext("name") or folder.name).strip()
    except (ElementTree.ParseError, OSError):
        return folder.name


def resolve_file(name: str, home: Path, packages: Mapping[str, Path]) -> tuple[Path | None, list[Path]]:
    """Find the file of a URI or a relative path.

    Args:
        name: URI with the scheme `package`, `model` or `file`, or a relative path.
        home: Folder of the file that contains the name.
        packages: Folders of packages by name.

    Returns:
        The file or None, and all paths that were tried.
    """
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
