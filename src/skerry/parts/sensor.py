"""A sensor: truth in, reading out; no timer, no topic and no socket inside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.core.noise import Noise
from skerry.parts.component import Component, ComponentConfig, Mount

SENSORS = Family("sensors", "skerry.sensors")

Reading = TypeVar("Reading", covariant=True)


@dataclass(frozen=True)
class Contact:
    """A point where a link touches something; in the world's axes (ENU)."""

    link: str
    other: str  # "terrain", an object's name, or "robot/link"
    position: NDArray[np.float64]  # (3,), m
    force: NDArray[np.float64]  # (3,), N, that the link feels


class RopeSight(Protocol):
    """A rope, as a controller may see it."""

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
    """The noise-free instant of one robot; all that a sensor may see.

    `sample_water` gives a `WaterSample` of the sea at points, now, `surface_height` only z of its surface, and `water`
    is the `Water` itself, for what it is like; of a single point, `depth` is how far it is below the surface, negative
    above, and `water_pressure` the pressure, Pa, and density there. `daylight` is the `Daylight`. `rays` is a `RayView`
    of all that rays can hit but the robot itself; `projection` leads from the world to the earth, where the scenario
    says where it is.

    Poses and twists are in the world (ENU); a twist is that of the link's origin. `motion` is both, of a frame that is
    offset from a link, as thirteen numbers: position, quaternion, velocity and angular velocity. `before` means one
    step ago.

    `place_of` finds a robot, an object or a "robot/link" of the scenario, `rope` one of its ropes, the robot's own by
    their short names; `joints` are the robot's own that move;
    `power` is what its actuators draw, W, as far as anything is known of it; `contacts` are those of one link, or of
    all of the robot's.
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
    def motion_before(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]: ...
    def pose(self, link: str) -> Pose: ...
    def pose_before(self, link: str) -> Pose: ...
    def twist(self, link: str) -> Twist: ...
    def twist_before(self, link: str) -> Twist: ...
    def place_of(self, name: str) -> NDArray[np.float64]: ...
    def rope(self, name: str) -> RopeSight: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def joint_position(self, joint: str) -> float: ...
    def joint_velocity(self, joint: str) -> float: ...
    @property
    def power(self) -> float: ...
    def contacts(self, link: str | None = None) -> list[Contact]: ...


class Sensor(Component, Generic[Reading]):
    """Measures when it is told to; rate, scheduling and delivery are the world's.

    One whose readings depend on what went before sets `is_stateful`: `update` is then called at each due tick,
    whether or not anybody reads it, and before it is measured. One that takes milliseconds sets `heavy`: it may then be
    measured in a thread of its own while the world goes on. That one, and one that sets `sees_bodies_only`, must ask
    the truth for nothing but motions, joints, water, ground and rays: then the world need not stop for it.
    """

    is_stateful: bool = False
    heavy: bool = False
    sees_bodies_only: bool = False
    feels_contacts: bool = False  # it is one that asks for contacts, for which more must be kept; and so
    feels_power: bool = False  # for what actuators draw
    measures_batches: bool = False  # it is a `BatchSensor`, and not heavy

    def update(self, sample: SampleView) -> None:
        """See a due instant."""
        return

    def trigger(self) -> None:
        """Let what it warns of happen."""
        raise SkerryError("this sensor warns of nothing that could be triggered")

    @abstractmethod
    def measure(self, sample: SampleView, noise: Noise) -> Reading | None:
        """The reading at this instant, or None if there is none."""


class SensorView(Protocol):
    """Several instants of one robot, in the order of time; what `SampleView` gives of one, each with a row per instant.

    Points are (n, 3), motions (n, 13), all else (n,). `rays` are `RayViews`. `at` is one of the instants, by its
    number, for what is asked for too seldom to be had in rows; it is valid until the next is asked for.
    """

    @property
    def ticks(self) -> NDArray[np.int64]: ...
    @property
    def times(self) -> list[float]: ...
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
    def motion_before(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def joint_position(self, joint: str) -> NDArray[np.float64]: ...
    def joint_velocity(self, joint: str) -> NDArray[np.float64]: ...
    @property
    def power(self) -> NDArray[np.float64]:
        """Of a sensor that `feels_power`."""

    def contacts(self, link: str | None = None) -> dict[int, list[Contact]]:
        """By the row of the instant, where there are any; of a sensor that `feels_contacts`."""

    @property
    def rays(self) -> Any: ...
    def at(self, number: int) -> SampleView: ...


class SingleSensorView:
    """A truth as the only one of several."""

    def __init__(self, sample: SampleView) -> None:
        self._truth = sample
        self.ticks = np.array([sample.tick])
        self.times = [sample.time]

    @property
    def step(self) -> float:
        return self._truth.step

    @property
    def gravity(self) -> float:
        return self._truth.gravity

    @property
    def water(self) -> Any:
        return self._truth.water

    @property
    def projection(self) -> Projection | None:
        return self._truth.projection

    def depth(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self._truth.depth(points[0])])

    def water_pressure(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pressure, density = self._truth.water_pressure(points[0])
        return np.array([pressure]), np.array([density])

    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        return self._truth.motion(link, offset)[None]

    def motion_before(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        return self._truth.motion_before(link, offset)[None]

    @property
    def joints(self) -> tuple[str, ...]:
        return self._truth.joints

    def joint_position(self, joint: str) -> NDArray[np.float64]:
        return np.array([self._truth.joint_position(joint)])

    def joint_velocity(self, joint: str) -> NDArray[np.float64]:
        return np.array([self._truth.joint_velocity(joint)])

    @property
    def power(self) -> NDArray[np.float64]:
        return np.array([self._truth.power])

    def contacts(self, link: str | None = None) -> dict[int, list[Contact]]:
        found = self._truth.contacts(link)
        return {0: found} if found else {}

    @cached_property
    def rays(self) -> Any:
        return self._truth.rays.alone

    def at(self, number: int) -> SampleView:
        return self._truth


class Readings(Sequence[Reading]):
    """Readings of several instants, each made of its row when somebody looks at it.

    `columns` gives all at once, to whoever writes many in one go. `there` tells in which rows there is a reading at
    all; elsewhere it is None. Rows of one source can be joined if they are `alike`.
    """

    def __init__(
        self,
        count: int,
        make: Callable[[int], Reading],
        columns: Callable[[], ReadingColumns] | None = None,
        there: NDArray[np.bool_] | None = None,
        alike: Hashable = None,
    ) -> None:
        self.alike = alike
        self._count = count
        self._make = make
        self.columns = columns
        self.there = there

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < self._count:
            raise IndexError(f"there are {self._count} readings; {row} is none of them")
        return self._make(row) if self.there is None or self.there[row] else None

    def some(self, numbers: Sequence[int]) -> Readings[Reading]:
        """The rows of these numbers."""
        return SelectedReadings(self, numbers)

    @staticmethod
    def joined(parts: Sequence[Readings[Any]]) -> Readings[Any]:
        """The rows of several, one after the other."""
        some = [part for part in parts if isinstance(part, SelectedReadings)]
        if len(some) == len(parts):  # to choose among them once is quicker
            before = np.cumsum([0, *(len(part.rows) for part in some)]).tolist()
            numbers = [first + number for first, part in zip(before, some, strict=False) for number in part.numbers]
            return Readings.joined([part.rows for part in some]).some(numbers)

        def make(row: int) -> Any:
            for part in parts:
                if row < len(part):
                    return part[row]
                row -= len(part)

        columns = [part.columns for part in parts if part.columns is not None]
        there = [np.ones(len(part), np.bool_) if part.there is None else part.there for part in parts]
        return Readings(
            sum(map(len, parts)),
            make,
            (lambda: ReadingColumns.joined([give() for give in columns])) if len(columns) == len(parts) else None,
            None if all(part.there is None for part in parts) else np.concatenate(there),
            parts[0].alike,
        )


class SelectedReadings(Readings[Reading]):
    """Those of these numbers among other rows."""

    def __init__(self, rows: Readings[Reading], numbers: Sequence[int]) -> None:
        self.rows, self.numbers = rows, numbers
        columns, there = rows.columns, rows.there
        super().__init__(
            len(numbers),
            lambda row: rows._make(numbers[row]),
            None if columns is None else lambda: columns().some(numbers),
            None if there is None else there[list(numbers)],
        )


class ReadingColumns(SimpleNamespace):
    """Something like a reading, of which each number is an array with one for each row, or again such columns.

    What is the `same` for all readings of a sensor is there once.
    """

    def __init__(self, same: Mapping[str, Any] | None = None, **each: Any) -> None:
        super().__init__(**each, **(same or {}))
        self._same, self._each = same, each

    def some(self, numbers: Sequence[int]) -> ReadingColumns:
        """Those of the rows of these numbers."""
        rows = np.asarray(numbers)
        each = {
            name: value.some(numbers) if isinstance(value, ReadingColumns) else np.asarray(value)[rows]
            for name, value in self._each.items()
        }
        return ReadingColumns(self._same, **each)

    @staticmethod
    def joined(parts: Sequence[ReadingColumns]) -> ReadingColumns:
        """Those of the rows of several of a sensor, one after the other."""
        each = {}
        for name, value in parts[0]._each.items():
            values = [part._each[name] for part in parts]
            each[name] = ReadingColumns.joined(values) if isinstance(value, ReadingColumns) else np.concatenate(values)
        return ReadingColumns(parts[0]._same, **each)


class BatchSensor(Sensor[Reading]):
    """Measures many instants at once, from motions, joints, water, contacts and rays; one instant is a row of them."""

    sees_bodies_only = True
    measures_batches = True
    most_rows: int = 1 << 30  # that it measures at once, where each needs much memory

    @abstractmethod
    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Sequence[Reading | None]:
        """The readings at these instants, None where there is none."""

    def measure(self, sample: SampleView, noise: Noise) -> Reading | None:
        return self.measure_batch(SingleSensorView(sample), noise)[0]


class SensorConfig(ComponentConfig, Mount):
    """Settings of a sensor on a link."""

    frequency: Rational = Field(gt=0, description="readings per second, Hz; at most one a step")

    @property
    def needs_reference(self) -> bool:
        """Whether the scenario must say where on earth it is."""
        return False

    @property
    def needs_joints(self) -> tuple[str, ...]:
        """The joints that its vehicle must have."""
        return ()

    @property
    def needs_places(self) -> tuple[str, ...]:
        """What the scenario must have: names of robots and objects, or "robot/link"."""
        return ()

    @property
    def can_be_triggered(self) -> bool:
        """Whether an event of the scenario may set it off."""
        return False

    def build(self) -> Sensor[Any]:
        """The sensor."""
        raise NotImplementedError
