"""Version check of the installed packages. It runs when Skerry is imported, and does not import the packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from skerry.core.errors import DependencyError

MIN_VERSION, MAX_VERSION = (4, 0), (5, 0)
"""Supported versions of MuJoCo: from the first up to, but not including, the second."""
_REPAIR = "Run `pip uninstall -y mujoco mujoco-core`, then `pip install 'mujoco-core>=4.0,<5'`"


def mujoco_problem(core: str | None, other: str | None, imported: str | None = None) -> str | None:
    """Return a message about a wrong MuJoCo installation, or None if it is right.

    The packages `mujoco-core` and `mujoco` install into the same folder, so the one installed last overwrites the
    other.

    Args:
        core: Installed version of `mujoco-core`, or None.
        other: Installed version of `mujoco`, or None.
        imported: Version of the module that Python imports, if it is known.
    """
    found = imported or core
    if found is None:
        return f"MuJoCo is not installed. {_REPAIR}"
    if not MIN_VERSION <= _version_tuple(found) < MAX_VERSION:
        cause = f"; the package `mujoco` {other} overwrites it" if other and core else ""
        return f"Skerry needs mujoco-core {MIN_VERSION[0]}.x, but found MuJoCo {found}{cause}. {_REPAIR}"
    for name, installed in (("mujoco-core", core), ("mujoco", other)):
        if installed is not None and _version_tuple(installed) != _version_tuple(found):
            return f"two versions of MuJoCo share one folder: {found}, and {name} {installed}. {_REPAIR}"
    return None


def check_mujoco(imported: str | None = None) -> None:
    """Raise `DependencyError` if MuJoCo is missing or has the wrong version."""
    if problem := mujoco_problem(_installed("mujoco-core"), _installed("mujoco"), imported):
        raise DependencyError(problem)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _version_tuple(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
