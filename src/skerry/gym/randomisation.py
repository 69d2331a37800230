"""Draws the values of an episode: paths in a scenario to the values that are laid over it, by its seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.gym.distributions import Distribution
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
        tree = loaded.scenario.model_dump(mode="json")
        for name, vehicle in loaded.vehicles.items():
            tree["robots"][name]["overrides"] = vehicle.config.model_dump(mode="json")
        self._distributions = dict(distributions)
        self._tree = tree
        for path, distribution in distributions.items():
            if not isinstance(distribution, Distribution):
                raise SkerryError(f"randomise[{path!r}] must be a distribution, as Uniform(1, 2), not {distribution!r}")
            self._check(path)

    @property
    def moves_robots(self) -> bool:
        """Whether some robot begins elsewhere in each episode."""
        return any(path.startswith("robots.") and path.split(".")[2:3] == ["pose"] for path in self._distributions)

    def draw(self, seed: int) -> Episode:
        """The values of the episode of that seed."""
        values = {path: what.at(Noise(seed, path).uniform(0)) for path, what in self._distributions.items()}
        overrides: dict[str, Any] = {}
        moved: dict[str, dict[str, Any]] = {}
        for path, value in values.items():
            keys = path.split(".")
            if keys[0] == "robots" and keys[2:3] == ["pose"] and len(keys) > 3:
                if keys[1] not in moved:
                    moved[keys[1]] = deepcopy(self._tree["robots"][keys[1]]["pose"])
                pose = moved[keys[1]]
                if keys[3] in _DIRECTIONS:
                    pose |= dict.fromkeys(_DIRECTIONS)
                self._put(pose, keys[3:], value)
            else:
                self._lay(overrides, keys, value)
        poses = {name: self._pose(name, pose) for name, pose in moved.items()}
        return Episode(seed, values, overrides, poses)

    def _check(self, path: str) -> None:
        place: Any = self._tree
        keys = path.split(".")
        for number, key in enumerate(keys):
            known = list(place) if isinstance(place, dict) else [str(k) for k in range(len(place))]
            if key not in known:
                where = ".".join(keys[:number]) or "the scenario"
                raise UnknownName(f"randomise[{path!r}]: {where} has no {key!r}; {did_you_mean(key, known)}")
            place = place[key] if isinstance(place, dict) else place[int(key)]
            if number < len(keys) - 1 and not isinstance(place, dict | list):
                raise UnknownName(f"randomise[{path!r}]: {'.'.join(keys[: number + 1])} is {place!r}, and has no parts")

    def _lay(self, overrides: dict[str, Any], keys: list[str], value: Any) -> None:
        """Put a value where it belongs; a list is laid over as a whole."""
        known, place = self._tree, overrides
        for number, key in enumerate(keys[:-1]):
            known = known[key]
            if isinstance(known, list):
                if key not in place:
                    place[key] = deepcopy(known)
                self._put(place[key], keys[number + 1 :], value)
                return
            place = place.setdefault(key, {})
        place[keys[-1]] = value

    @staticmethod
    def _put(place: Any, keys: list[str], value: Any) -> None:
        for key in keys[:-1]:
            place = place[key] if isinstance(place, dict) else place[int(key)]
        if isinstance(place, dict):
            place[keys[-1]] = value
        else:
            place[int(keys[-1])] = value

    @staticmethod
    def _pose(name: str, pose: dict[str, Any]) -> Pose:
        try:
            return PoseConfig.model_validate(pose).build()
        except ValidationError as error:
            raise SkerryError(f"robots.{name}.pose: {error.errors()[0]['msg']}, found {pose}") from None
