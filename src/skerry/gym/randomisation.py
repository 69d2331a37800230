"""Draws the values of an episode: paths in a scenario to the values that are laid over it, by its seed alone."""

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

_DIRECTIONS = ("yaw_deg", "heading_deg")  # of which a pose has one


@dataclass(frozen=True)
class Episode:
    """What is drawn for one episode."""

    seed: int
    values: dict[str, Any]  # by path
    overrides: dict[str, Any]  # what must be built anew for it
    poses: dict[str, Pose]  # robots that begin elsewhere, which takes no building


class Draws:
    """The values that change from episode to episode.

    Each is drawn from a noise of its own, by the episode's seed and its path; so another value more, or a different
    order, changes none of the others.
    """

    def __init__(self, loaded: LoadedScenario, distributions: Mapping[str, Distribution]) -> None:
        self._loaded = loaded
        self._distributions = dict(distributions)
        self._places: dict[str, KeyPath] = {}
        for path, distribution in distributions.items():
            if not isinstance(distribution, Distribution):
                raise SkerryError(f"randomise[{path!r}] must be a distribution, as Uniform(1, 2), not {distribution!r}")
            try:
                self._places[path] = resolve_key_path(loaded, path)
            except SkerryError as error:
                raise type(error)(f"randomise[{path!r}]: {error}") from None

    @property
    def moves_robots(self) -> bool:
        """Whether some robot begins elsewhere in each episode."""
        return any(_is_in_pose(place) for place in self._places.values())

    def draw(self, seed: int) -> Episode:
        """The values of the episode of that seed."""
        values = {path: what.at(Noise(seed, path).uniform(0)) for path, what in self._distributions.items()}
        overrides: dict[str, Any] = {}
        moved: dict[str, Any] = {"robots": {}}
        for path, value in values.items():
            place = self._places[path]
            set_value(moved if _is_in_pose(place) else overrides, self._loaded, place, value)
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


def _is_in_pose(place: KeyPath) -> bool:
    """Whether it is a part of a robot's pose, to which the robot can be moved without building anything."""
    return place[0] == "robots" and place[2:3] == ("pose",) and len(place) > 3
