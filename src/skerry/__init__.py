"""Skerry: a marine-robotics simulator that installs with pip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from skerry.core.dependencies import check_mujoco
from skerry.core.errors import DependencyError, EngineError, FileError, PhysicsDiverged, SkerryError, UnknownName

if TYPE_CHECKING:
    from skerry.core.frames import Pose, Twist
    from skerry.parts.readings import Readings
    from skerry.runner import Runner
    from skerry.scenario import Scenario
    from skerry.world import Batch, Robot, World
    from skerry.world.build import Source
    from skerry.world.python_forces import ForceFunction

__version__ = version("skerry")
check_mujoco()

_LAZY = {
    "Pose": "skerry.core.frames",
    "Readings": "skerry.parts.readings",
    "Robot": "skerry.world",
    "Runner": "skerry.runner",
    "Scenario": "skerry.scenario",
    "Twist": "skerry.core.frames",
    "World": "skerry.world",
}
"""Module of each class that is imported when it is first used, so that `import skerry` stays fast."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'skerry' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def load(
    scenario: Source,
    seed: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    forces: Mapping[str, ForceFunction] | None = None,
) -> World:
    """Load a scenario and build its world.

    Args:
        scenario: Name of a shipped scenario, path of a file, mapping, or `Scenario`.
        seed: Replaces the seed of the scenario.
        overrides: Replaces values of the scenario, as nested mappings.
        forces: Python functions that are called as forces, by "robot/link". Each gets a
            `skerry.world.python_forces.LinkState` and returns force and torque (6 numbers, N and N m) in the axes of
            the link.

    Returns:
        The world, at time 0. Close it, or use it in a `with` block.

    Raises:
        SkerryError: The scenario is invalid; the message lists all faults with file and line.
    """
    from skerry.world import build_world

    return build_world(scenario, seed, overrides, forces)


def load_batch(
    scenario: Source,
    seeds: Sequence[int],
    overrides: Sequence[Mapping[str, Any] | None] | None = None,
    threads: int = 0,
) -> Batch:
    """Build many worlds of one scenario that step together in native threads.

    Args:
        scenario: Name of a shipped scenario, path of a file, mapping, or `Scenario`.
        seeds: One seed per world.
        overrides: One mapping of replaced values, or None, per world.
        threads: Number of threads; 0 for one per core.

    Returns:
        The batch, at time 0. Close it, or use it in a `with` block.
    """
    from skerry.world import build_batch

    return build_batch(scenario, seeds, overrides, threads)


__all__ = [
    "DependencyError",
    "EngineError",
    "FileError",
    "PhysicsDiverged",
    "Pose",
    "Readings",
    "Robot",
    "Runner",
    "Scenario",
    "SkerryError",
    "Twist",
    "UnknownName",
    "World",
    "__version__",
    "load",
    "load_batch",
]
