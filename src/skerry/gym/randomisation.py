"""Domain randomisation: draws scenario values of an episode, as a function of its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from skerry.core.document import KeyPath
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.gym.distributions import Distribution
from skerry.scenario.key_paths import resolve_key_path, set_value, value_at
from skerry.scenario.loading import LoadedScenario
from skerry.scenario.pose import PoseConfig

_DIRECTIONS = ("yaw_deg", "heading_deg")  # a pose has one of these


@dataclass(frozen=True)
class Episode:
    """Random values of one episode."""

    seed: int
    values: dict[str, Any]  # by scenario path
    overrides: dict[str, Any]  # values that need a rebuild of the world
    poses: dict[str, Pose]  # initial poses of robots; these need no rebuild


class EpisodeSampler:
    """Sampler of the values that change from episode to episode.

    Each value has its own noise stream, keyed by the episode's seed and the scenario path. Adding a value, or changing
    the order, does not change the other values.
    """

    def __init__(self, loaded: LoadedScenario, distributions: Mapping[str, Distribution]) -> None:
        self._loaded = loaded
        self._distributions = dict(distributions)
        self._key_paths: dict[str, KeyPath] = {}
        for path, distribution in distributions.items():
            if not isinstance(distribution, Distribution):
                raise SkerryError(
                    f"randomise[{path!r}] must be a distribution such as Uniform(1, 2), found {distribution!r}"
                )
            try:
                self._key_paths[path] = resolve_key_path(loaded, path)
            except SkerryError as error:
                raise type(error)(f"randomise[{path!r}]: {error}") from None

    @property
    def moves_robots(self) -> bool:
        """Whether the initial pose of some robot is random."""
        return any(_is_in_pose(key_path) for key_path in self._key_paths.values())

    def draw(self, seed: int) -> Episode:
        """Draw the values of the episode with this seed."""
        values = {path: what.at(Noise(seed, path).uniform(0)) for path, what in self._distributions.items()}
        overrides: dict[str, Any] = {}
        moved: dict[str, Any] = {"robots": {}}
        for path, value in values.items():
            key_path = self._key_paths[path]
            set_value(moved if _is_in_pose(key_path) else overrides, self._loaded, key_path, value)
        poses = {name: self._pose(name, robot["pose"]) for name, robot in moved["robots"].items()}
        return Episode(seed, values, overrides, poses)

    def _pose(self, name: str, drawn: dict[str, Any]) -> Pose:
        given = value_at(self._loaded, ("robots", name, "pose"))
        if not drawn.keys().isdisjoint(_DIRECTIONS):
            given |= dict.fromkeys(_DIRECTIONS)
        pose = given | drawn
        try:
            return PoseConfig.model_validate(pose).build()
        except ValidationError as error:
            raise SkerryError(f"robots.{name}.pose: {error.errors()[0]['msg']}, found {pose}") from None


def _is_in_pose(key_path: KeyPath) -> bool:
    """Return whether the path is part of a robot's pose, which needs no rebuild of the world."""
    return key_path[0] == "robots" and key_path[2:3] == ("pose",) and len(key_path) > 3
