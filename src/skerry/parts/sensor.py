"""Base classes of sensors: a sensor turns the noise-free state of its robot into readings.

A sensor has no timer, topic or socket. The world decides when a sensor is evaluated and where its readings go.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.core.noise import Noise
from skerry.parts.component import Component, MeasuringConfig
from skerry.parts.display import Display, Scalars
from skerry.parts.readings import Readings

SENSORS = Family("sensors", "skerry.sensors")

Reading = TypeVar("Reading", covariant=True)

Execution: TypeAlias = Literal["now", "batch", "thread"]
"""When and where a sensor is evaluated; see `Sensor`."""


@dataclass(frozen=True)
class ContactPoint:
    """Point where a link touches something, in the world frame (ENU)."""

    link: str
    other: str  # "terrain", an object's name, or "robot/link"
    position: NDArray[np.float64]  # (3,), m
    force: NDArray[np.float64]  # (3,), N, acting on the link


class RopeView(Protocol):
    """State of a rope, as controllers see it."""

    @property
    def exists(self) -> bool: ...
    @property
    def points(self) -> NDArray[np.float64]: ...
    @property
    def velocities(self) -> NDArray[np.float64]: ...
    @property
    def tension(self) -> NDArray[np.float64]: ...
    @property
    def length(self) -> float: ...
    @property
    def loaded(self) -> bool: ...
    @property
    def phase(self) -> str | None: ...


class SampleView(Protocol):
    """Noise-free sample of the world for one robot: the input of sensors and controllers.

    Poses and twists are in the world frame (ENU). The twist of a link is that of its origin.

    Attributes and methods that need an explanation:
        sample_water: `WaterSample` at points (…, 3), at the time of the sample.
        surface_height: Height z of the water surface at points (…, 3), m.
        water: The `Water` object, for constants such as its density.
        depth: Distance of one point below the water surface, m; negative above the surface.
        water_pressure: Pressure, Pa, and density, kg/m³, at one point.
        daylight: The `Daylight` object.
        rays: `RayCaster` of everything that rays can hit, except the robot itself.
        projection: Projection from the world to latitude and longitude; None if the scenario has no `reference`.
        motion: Pose and twist of a frame at `offset` from a link, (13,): position, quaternion, linear and angular
            velocity.
        place_of: Position of a robot, an object or a "robot/link", (3,).
        rope: A rope by name. The robot's own ropes are found by their short names.
        joints: Names of the robot's moving joints.
        power: Electric power that the robot's actuators draw, W. Actuators without a power model count as 0.
        contacts: Contact points of one link, or of the whole robot.
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
    def depth(self, point: NDArray[np.float64]) -> float: ...
    def water_velocity(self, point: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def water_pressure(self, point: NDArray[np.float64]) -> tuple[float, float]: ...
    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]: ...
    def pose(self, link: str) -> Pose: ...
    def twist(self, link: str) -> Twist: ...
    def position_of(self, name: str) -> NDArray[np.float64]: ...
    def rope(self, name: str) -> RopeView: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def joint_position(self, joint: str) -> float: ...
    def joint_velocity(self, joint: str) -> float: ...
    @property
    def power(self) -> float: ...
    def contacts(self, link: str | None = None) -> list[ContactPoint]: ...


class SensorView(Protocol):
    """Several samples of one robot in the order of time: `SampleView` with one row per sample.

    Points are (n, 3), motions (n, 13), all other values (n,).

    Attributes and methods that need an explanation:
        power: Electric power of the actuators, W. Only for sensors with "power" in `needs`.
        contacts: Contact points by row; rows without contacts are missing. Only for sensors with "contacts" in `needs`.
        rays: A `RayCasterBatch` of all samples.
        at: The `SampleView` of one row, for values that have no array form. Valid until the next call of `at`.
        rows: A view of one row.
        previous: View of the sensor's samples one period earlier, row by row; the first sample of a run precedes
            itself. Only for sensors with "previous" in `needs`.
    """

    def __len__(self) -> int: ...
    @property
    def ticks(self) -> NDArray[np.int64]: ...
    @property
    def times(self) -> NDArray[np.float64]: ...
    @property
    def step(self) -> float: ...
    @property
    def gravity(self) -> float: ...
    @property
    def water(self) -> Any: ...
    @property
    def projection(self) -> Projection | None: ...
    def depth(self, points: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def water_pressure(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def joint_position(self, joint: str) -> NDArray[np.float64]: ...
    def joint_velocity(self, joint: str) -> NDArray[np.float64]: ...
    @property
    def power(self) -> NDArray[np.float64]: ...
    def contacts(self, link: str | None = None) -> dict[int, list[ContactPoint]]: ...
    @property
    def rays(self) -> Any: ...
    def at(self, row: int) -> SampleView: ...
    def rows(self, row: int) -> SensorView: ...
    @property
    def previous(self) -> SensorView: ...


class SingleSensorView:
    """`SensorView` with one row, made from a `SampleView`.

    Args:
        sample: The sample.
        previous: View of the sensor's sample one period earlier; None if there is none.
    """

    def __init__(self, sample: SampleView, previous: SensorView | None = None) -> None:
        self._sample = sample
        self._previous = previous
        self.ticks = np.array([sample.tick])
        self.times = np.array([sample.time])

    def __len__(self) -> int:
        return 1

    @property
    def step(self) -> float:
        return self._sample.step

    @property
    def gravity(self) -> float:
        return self._sample.gravity

    @property
    def water(self) -> Any:
        return self._sample.water

    @property
    def projection(self) -> Projection | None:
        return self._sample.projection

    def depth(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self._sample.depth(points[0])])

    def water_pressure(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pressure, density = self._sample.water_pressure(points[0])
        return np.array([pressure]), np.array([density])

    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        return self._sample.motion(link, offset)[None]

    @property
    def joints(self) -> tuple[str, ...]:
        return self._sample.joints

    def joint_position(self, joint: str) -> NDArray[np.float64]:
        return np.array([self._sample.joint_position(joint)])

    def joint_velocity(self, joint: str) -> NDArray[np.float64]:
        return np.array([self._sample.joint_velocity(joint)])

    @property
    def power(self) -> NDArray[np.float64]:
        return np.array([self._sample.power])

    def contacts(self, link: str | None = None) -> dict[int, list[ContactPoint]]:
        found = self._sample.contacts(link)
        return {0: found} if found else {}

    @cached_property
    def rays(self) -> Any:
        return self._sample.rays.as_batch

    def at(self, row: int) -> SampleView:
        return self._sample

    def rows(self, row: int) -> SensorView:
        return self

    @property
    def previous(self) -> SensorView:
        return self._previous or self


class Sensor(Component, Generic[Reading]):
    """Base class of sensors. The world owns the rate, the schedule and the delivery of readings.

    A sensor samples at its own due ticks from the start, whether or not its readings are used. A reading depends only
    on the sample of its due tick, on the noise of that tick and, if `is_stateful`, on all earlier samples.

    Attributes:
        execution: When the sensor is evaluated.
            "now": The world stops at every due tick and calls `measure` with the live state.
            "batch": The world does not stop. It keeps samples and calls `measure` for many of them later.
            "thread": As "batch", but each sample is measured in a worker thread. For sensors that need milliseconds.
            "batch" and "thread" sensors may use only motions, joints, water, terrain and rays of a sample, and what
            they declare in `needs`.
        needs: Further data that must be kept for each sample: "contacts", "power", or "previous", the sample one period
            earlier. "thread" sensors cannot have "previous".
        is_stateful: Whether readings depend on earlier samples. Such a sensor is measured at every due tick, even if
            its readings are not used.
        max_batch: Largest number of samples per call of `measure`; lower it if each sample needs much memory.
    """

    execution: Execution = "now"
    needs: frozenset[str] = frozenset()
    is_stateful: bool = False
    max_batch: int = 1 << 30

    @classmethod
    def reading_type(cls) -> type[Any]:
        """Return the dataclass of the readings, which the class declares as `Sensor[SomeReading]`.

        Raises:
            SkerryError: The class does not declare it.
        """
        for ancestor in cls.__mro__:
            for base in vars(ancestor).get("__orig_bases__", ()):
                for argument in get_args(base):
                    if is_dataclass(argument) and isinstance(argument, type):
                        return argument
        raise SkerryError(f"{cls.__name__} does not declare its readings; write `class {cls.__name__}(Sensor[…])`")

    def start(self, tick: int) -> None:
        """Start at a tick: at the start of a run, or when the robot was added. Its effect belongs to `state`."""
        return

    def trigger(self) -> None:
        """Trigger the alarm that this sensor watches for, for example a leak.

        Raises:
            SkerryError: The sensor has no alarm.
        """
        raise SkerryError("this sensor has no trigger; only alarm sensors such as `leak` can be triggered")

    @abstractmethod
    def measure(self, view: SensorView, noise: Noise) -> Readings[Reading]:
        """Return one reading per sample of the view. `valid` of the readings is false where nothing was measured."""


class SimpleSensor(Sensor[Reading]):
    """Base class of sensors that measure one sample at a time."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[Reading]:
        return Readings.of(self.reading_type(), [self.measure_one(view.at(row), noise) for row in range(len(view))])

    @abstractmethod
    def measure_one(self, sample: SampleView, noise: Noise) -> Reading | None:
        """Return the reading for one sample, or None if nothing was measured."""


class SensorConfig(MeasuringConfig):
    """Settings of a sensor on a link.

    Attributes:
        display: How the page shows the readings. A kind whose display depends on its settings makes it a property.
        ros: Messages as which the readings can be published in ROS: for each message type, the field of the reading by
            the path of the message's field. Fields are numbers or arrays of numbers, such as `velocity` or
            `pose.position`. Other messages need an encoder in `interfaces/ros/messages/encoders`.
        ros_definitions: Definitions of message types that Skerry does not have, as the text of a .msg file, by type.
    """

    display: ClassVar[tuple[Display, ...]] = (Scalars(),)
    ros: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    ros_definitions: ClassVar[Mapping[str, str]] = {}

    frequency: Rational = Field(gt=0, description="readings per second, Hz; at most one per physics step")

    @property
    def needs_reference(self) -> bool:
        """Whether the scenario must have a `reference` (latitude and longitude)."""
        return False

    @property
    def needs_joints(self) -> tuple[str, ...]:
        """Joints that the vehicle must have."""
        return ()

    @property
    def needs_bodies(self) -> tuple[str, ...]:
        """Robots, objects and "robot/link" names that the scenario must have."""
        return ()

    @property
    def can_be_triggered(self) -> bool:
        """Whether a scenario event may trigger the sensor."""
        return False

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"frequency": 50} | settings)

    def build(self) -> Sensor[Any]:
        """Return a new sensor with these settings."""
        raise NotImplementedError
