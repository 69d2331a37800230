"""A sensor: truth in, reading out; no timer, no topic and no socket inside."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.core.noise import Noise
from skerry.parts.component import Component, ComponentConfig, Mount

SENSORS = Family("sensors", "skerry.sensors")

Reading = TypeVar("Reading", covariant=True)


class Truth(Protocol):
    """The noise-free instant of one robot; all that a sensor may see.

    `sample_water` gives a `WaterSample` of the sea at points, now, `surface_height` only z of its surface, and `water`
    is the `Water` itself, for what it is like; `daylight` is the `Daylight`. `rays` is a `RayView` of all that rays can
    hit but the robot itself;
    `projection` leads from the world to the earth, where the scenario says where it is. Poses and twists are in the
    world (ENU); a twist is that of the link's origin. `before` means one step ago.
    """

    @property
    def time(self) -> float: ...
    @property
    def tick(self) -> int: ...
    @property
    def step(self) -> float: ...
    @property
    def gravity(self) -> float: ...
    @property
    def water(self) -> Any: ...
    @property
    def daylight(self) -> Any: ...
    @property
    def terrain(self) -> Any: ...
    @property
    def rays(self) -> Any: ...
    @property
    def projection(self) -> Projection | None: ...
    def sample_water(self, points: ArrayLike) -> Any: ...
    def surface_height(self, points: ArrayLike) -> NDArray[np.float64]: ...
    def pose(self, link: str) -> Pose: ...
    def pose_before(self, link: str) -> Pose: ...
    def twist(self, link: str) -> Twist: ...
    def twist_before(self, link: str) -> Twist: ...


class Sensor(Component, Generic[Reading]):
    """Measures when it is told to; rate, scheduling and delivery are the world's."""

    @abstractmethod
    def measure(self, truth: Truth, noise: Noise) -> Reading | None:
        """The reading at this instant, or None if there is none."""


class SensorConfig(ComponentConfig, Mount):
    """Settings of a sensor on a link."""

    frequency: Rational = Field(gt=0, description="readings per second, Hz; at most one a step")

    @property
    def needs_reference(self) -> bool:
        """Whether the scenario must say where on earth it is."""
        return False

    def build(self) -> Sensor[Any]:
        """The sensor."""
        raise NotImplementedError
