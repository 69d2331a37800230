"""Display kinds: how a page shows the readings of a sensor. The settings of a sensor declare them as data.

A display names the fields of the reading that it shows; `cloud.points` is the field `points` of the field `cloud`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

import numpy as np

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.parts.readings import units_of

CONTENT: Final = "content"
"""Key of the expected content in the metadata of a display's field that names a field of the reading."""
AXES: Final = ("x", "y", "z")
"""Names of the components of a vector."""


def _shows(content: str, default: Any = MISSING) -> Any:
    """Return a dataclass field that holds the name of a field of the reading.

    Args:
        content: Expected content of the reading's field: "number", "array" or "pose".
        default: Default name; None makes the field optional.
    """
    return field(default=default, metadata={CONTENT: content})


@dataclass(frozen=True)
class Display:
    """Base class of the display kinds."""

    def shown(self) -> Iterator[tuple[str, str]]:
        """Yield each field of the reading that the display names, with the content that it must have."""
        for each in fields(self):
            names = getattr(self, each.name)
            if CONTENT in each.metadata and names is not None:
                for name in (names,) if isinstance(names, str) else names:
                    yield name, each.metadata[CONTENT]

    def describe(self, reading: type[Any]) -> dict[str, Any]:
        """Return the display as data for JSON: its kind, its fields, and the unit of each field of the reading."""
        units = units_of(reading)
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        found = {name: units[name] for name, _ in self.shown() if name in units}
        return {"kind": re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower(), **own, "units": found}


@dataclass(frozen=True)
class Scalars(Display):
    """Plots of numbers over time.

    Attributes:
        numbers: Fields that are numbers; None for all of them except `time`.
        vectors: Fields that are vectors (3,), whose components are plotted as x, y and z.
    """

    numbers: tuple[str, ...] | None = _shows("number", None)
    vectors: tuple[str, ...] = _shows("array", ())

    def numbers_of(self, reading: type[Any]) -> dict[str, str]:
        """Return the unit of each plotted number, by name; a component of a vector is `velocity.x`."""
        units, contents = units_of(reading), _contents(reading)
        every = (name for name, content in contents.items() if content == "number" and "." not in name)
        numbers = [name for name in every if name != "time"] if self.numbers is None else self.numbers
        found = {name: units[name] for name in numbers}
        return found | {f"{name}.{axis}": units[name] for name in self.vectors for axis in AXES}


@dataclass(frozen=True)
class Image(Display):
    """Picture.

    Attributes:
        image: Pixels, (height, width, 3) bytes of sRGB.
        quality: Quality of the JPEG that the page gets, 1 to 100; 75 if it is not named.
        vertical_fov_deg: Vertical field of view, degrees, with which the page can look through the sensor.
        preview: Left, top, width and height of a window over the 3-D view with the picture, pixels; None for no window.
    """

    image: str = _shows("array")
    quality: str | None = _shows("number", None)
    vertical_fov_deg: float | None = None
    preview: tuple[int, int, int, int] | None = None


@dataclass(frozen=True)
class SonarLines(Display):
    """Waterfall of the lines of a side-scan sonar; every line is shown.

    Attributes:
        port: Bytes of echo levels, (bins,), the nearest first.
        starboard: Bytes of echo levels, (bins,), the nearest first.
        bin_size: Length of a bin.
    """

    port: str = _shows("array")
    starboard: str = _shows("array")
    bin_size: str = _shows("number")


@dataclass(frozen=True)
class SonarFan(Display):
    """Fan of the beams of an imaging sonar.

    Attributes:
        levels: Bytes of echo levels, (beams, bins), the nearest first.
        azimuths: Angle of each beam, (beams,), rad, positive to the left.
        bin_size: Length of a bin.
    """

    levels: str = _shows("array")
    azimuths: str = _shows("array")
    bin_size: str = _shows("number")


@dataclass(frozen=True)
class SonarScan(Display):
    """Fan of a scanning sonar, with the latest echoes of every direction.

    Attributes:
        levels: Bytes of echo levels, (bins,), the nearest first.
        angle: Angle of the beam, rad, positive to the left.
        bin_size: Length of a bin.
        sector: Scanned sector around straight ahead, rad.
        beams: Number of directions in the sector.
    """

    levels: str = _shows("array")
    angle: str = _shows("number")
    bin_size: str = _shows("number")
    sector: float = 2.0 * np.pi
    beams: int = 360


@dataclass(frozen=True)
class Cloud(Display):
    """Point cloud in the 3-D view.

    Attributes:
        points: Points in the frame of the sensor, (n, 3), m.
        pose: Pose of the sensor in the world.
        intensity: Intensity of each point, (n,), 0 to 255.
    """

    points: str = _shows("array")
    pose: str = _shows("pose")
    intensity: str | None = _shows("array", None)


@dataclass(frozen=True)
class Rays(Display):
    """Rays in the 3-D view: those that the sensor casts or, if points are named, lines from the sensor to them.

    Attributes:
        points: Points in the frame of the sensor, (n, 3), m. Without them, the sensor must have `latest_rays`.
        pose: Pose of the sensor in the world.
    """

    points: str | None = _shows("array", None)
    pose: str | None = _shows("pose", None)


@dataclass(frozen=True)
class Polar(Display):
    """Ranges around the robot.

    Attributes:
        ranges: Ranges, (n,) or (rows, n).
        first_angle: Angle of the first range, rad, positive to the left.
        last_angle: Angle of the last range, rad.
        max_range: Range at the edge of the picture.
        row: Row that is shown.
    """

    ranges: str = _shows("array")
    first_angle: float = 0.0
    last_angle: float = 2.0 * np.pi
    max_range: float = 30.0
    row: int = 0


@dataclass(frozen=True)
class Meter(Display):
    """Bar in the state of the robot.

    Attributes:
        value: Number that the bar shows.
        low: Value below which the bar is marked.
        maximum: Value of a full bar.
    """

    value: str = _shows("number")
    low: float = 0.0
    maximum: float = 100.0


@dataclass(frozen=True)
class Alarm(Display):
    """Badge in the state of the robot, and an event when the alarm goes off.

    Attributes:
        value: Whether there is an alarm.
        on: Text of an alarm.
        off: Text without an alarm.
    """

    value: str = _shows("number")
    on: str = "Alarm!"
    off: str = "OK"


@dataclass(frozen=True)
class ReferenceLine(Display):
    """Line in the 3-D view from the link of the sensor to the reference point of the scenario."""


KINDS: Final = {kind.__name__: kind for kind in Display.__subclasses__()}
"""Display kinds by name."""


def check_display(reading: type[Any], display: object, sensor: object = None) -> None:
    """Check the `display` of a sensor's settings.

    Args:
        reading: Dataclass of the readings.
        display: Value of `display`.
        sensor: The sensor; None to skip the check that it has rays.

    Raises:
        SkerryError: It is not a tuple of display kinds, names a field that the reading does not have or that has
            another content, or shows rays of a sensor that has none.
    """
    name = reading.__name__
    if not isinstance(display, tuple):
        raise SkerryError(f"{name}: `display` must be a tuple such as `(Scalars(),)`, not {display!r}")
    contents = _contents(reading)
    for each in display:
        kind = type(each).__name__
        if not isinstance(each, Display) or kind not in KINDS:
            given = each.__name__ if isinstance(each, type) else kind
            raise SkerryError(f"{name}: {each!r} is not a display kind; {did_you_mean(given, KINDS)}")
        for path, expected in each.shown():
            if path not in contents:
                raise SkerryError(f"{name} has no field {path!r}, which {kind} shows; {did_you_mean(path, contents)}")
            if contents[path] != expected:
                found = f"is {contents[path]}" if contents[path] else "is neither a number nor an array"
                raise SkerryError(f"{name}.{path} {found}, but {kind} shows {expected}s")
        if isinstance(each, Rays) and (each.points is None) != (each.pose is None):
            raise SkerryError(f"{name}: Rays must name both `points` and `pose`, or none of them")
        if isinstance(each, Rays) and each.points is None and sensor is not None and not hasattr(sensor, "latest_rays"):
            raise SkerryError(
                f"{name}: Rays shows the rays that the sensor casts, but {type(sensor).__name__} has no `latest_rays`; "
                "name `points` and `pose`, or remove it"
            )


def _contents(reading: type[Any]) -> dict[str, str]:
    """Return the content of each field of a reading, by path: "number", "array", "pose", or "" for others."""
    found: dict[str, str] = {}
    for name, hint in get_type_hints(reading).items():
        options = [one for one in get_args(hint) or (hint,) if one is not NoneType]
        if get_origin(hint) in (np.ndarray, tuple):
            options = [hint]
        only = options[0] if len(options) == 1 else None
        if only is Pose:
            found[name] = "pose"
        elif get_origin(only) is np.ndarray:
            found[name] = "array"
        else:
            found[name] = "number" if set(options) <= {float, int, bool} else ""
        if isinstance(only, type) and is_dataclass(only):
            found |= {f"{name}.{inner}": content for inner, content in _contents(only).items()}
    return found
