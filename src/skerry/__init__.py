"""Skerry: a marine-robotics simulator that you install with pip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from skerry.core.dependencies import check_mujoco
from skerry.core.errors import EngineError, FileError, PhysicsDiverged, SkerryError, UnknownName

if TYPE_CHECKING:
    from skerry.world import Batch, World
    from skerry.world.build import Source
    from skerry.world.python_forces import ForceFunction

__version__ = version("skerry")
check_mujoco()


def load(
    scenario: Source,
    seed: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    forces: Mapping[str, ForceFunction] | None = None,
) -> World:
    """Build a world: from a shipped scenario's name, a path, a mapping, or a `Scenario`.

    `seed` and `overrides` replace values of the scenario; `forces` maps "robot/link" to a Python function of a
    `skerry.world.python_forces.LinkState` that returns force and torque (6 numbers) in the link's axes.
    """
    from skerry.world import build_world

    return build_world(scenario, seed, overrides, forces)


def load_batch(
    scenario: Source,
    seeds: Sequence[int],
    overrides: Sequence[Mapping[str, Any] | None] | None = None,
    threads: int = 0,
) -> Batch:
    """Build many worlds of one scenario that step together in native threads (0: one per core)."""
    from skerry.world import build_batch

    return build_batch(scenario, seeds, overrides, threads)


__all__ = [
    "EngineError",
    "FileError",
    "PhysicsDiverged",
    "SkerryError",
    "UnknownName",
    "__version__",
    "load",
    "load_batch",
]
