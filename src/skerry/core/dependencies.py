"""Whether the installed packages fit together; looked at when Skerry is imported, without importing them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from skerry.core.errors import DependencyError

MIN_VERSION, MAX_VERSION = (4, 0), (5, 0)
_REPAIR = "Run `pip uninstall -y mujoco mujoco-core`, then `pip install 'mujoco-core>=4.0,<5'`"


def mujoco_problem(core: str | None, other: str | None, imported: str | None = None) -> str | None:
    """What is wrong with MuJoCo, in words, or None.

    `core` and `other` are the installed versions of `mujoco-core` and of `mujoco`, which share one folder, so that the
    one installed last lies over the other; `imported` is the version that Python really found there.
    """
    found = imported or core
    if found is None:
        return f"MuJoCo is not installed. {_REPAIR}"
    if not MIN_VERSION <= _version_tuple(found) < MAX_VERSION:
        cause = f"; the package `mujoco` {other} lies over it" if other and core else ""
        return f"Skerry needs mujoco-core {MIN_VERSION[0]}.x, but finds MuJoCo {found}{cause}. {_REPAIR}"
    for name, installed in (("mujoco-core", core), ("mujoco", other)):
        if installed is not None and _version_tuple(installed) != _version_tuple(found):
            return f"two versions of MuJoCo lie over each other: {found}, and {name} {installed}. {_REPAIR}"
    return None


def check_mujoco(imported: str | None = None) -> None:
    """Raise an error that explains a clash of MuJoCo versions."""
    if problem := mujoco_problem(_installed("mujoco-core"), _installed("mujoco"), imported):
        raise DependencyError(problem)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _version_tuple(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
