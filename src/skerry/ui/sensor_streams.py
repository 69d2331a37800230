"""Streams of one sensor, one for each display of its settings: pictures, sonar lines and fans, clouds, rays, ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.parts.display import Cloud, Display, Image, Polar, Rays, SonarFan, SonarLines, SonarScan
from skerry.sensors.raycast.ray_sensor import RayViewerConfig
from skerry.ui import protocol
from skerry.ui.protocol import Kind
from skerry.ui.streams import PageStream, StreamInput
from skerry.world import Robot

MAX_RAYS: Final = 256  # rays of a reading that are drawn
JPEG_QUALITY: Final = 75  # quality of pictures whose display names none
HIT_COLOUR: Final = (255, 220, 80, 160)
MISS_COLOUR: Final = (120, 160, 200, 60)
"""Colours of rays that hit something and of rays that hit nothing: red, green, blue, opacity.

The page distinguishes hits from misses by the opacity.
"""


@dataclass(frozen=True)
class StreamParts:
    """Parts of a stream that depend on its display; see `PageStream`."""

    kind: Kind
    sample: Callable[[StreamInput], Any]
    encode: Callable[[Any], protocol.Payload]
    is_slow: bool = False
    needs_every_reading: bool = False
    keeps_every_row: bool = False


def sensor_streams(robot: Robot, name: str) -> list[PageStream]:
    """Return the streams of a sensor. A sensor whose readings are only numbers has none."""
    sensor = robot.sensors[name].sensor
    found: list[PageStream] = []
    for display in robot.vehicle.config.sensors[name].display:
        prefix, make = BUILDERS.get(type(display), ("", None))
        parts = None if make is None else make(display, sensor)
        if parts is not None:
            same = sum(stream.name.startswith(f"{prefix}/") for stream in found)
            viewer = {"viewer": viewer_of(sensor).model_dump(mode="json")} if isinstance(display, Rays) else {}
            found.append(
                PageStream(
                    f"{prefix}/{robot.name}/{name}" + (f"/{same + 1}" if same else ""),
                    title=f"{robot.name} {name.replace('_', ' ')}",
                    robot=robot.name,
                    sensor=name,
                    sensors=frozenset([(robot.name, name)]),
                    details={"display": display.describe(sensor.reading_type()), **viewer},
                    **vars(parts),
                )
            )
    return found


# ------------------------------------------------------------------------------------------------ displays


def _image(display: Image, sensor: Any) -> StreamParts:
    image = attrgetter(display.image)
    quality = (lambda reading: JPEG_QUALITY) if display.quality is None else attrgetter(display.quality)
    return StreamParts(
        Kind.IMAGE, _latest, lambda reading: encode_picture(image(reading), quality(reading)), is_slow=True
    )


def encode_picture(image: NDArray[np.uint8], quality: int) -> protocol.Payload:
    """Encode a picture (height, width, 3) as JPEG of a quality from 1 to 100."""
    picture = np.ascontiguousarray(image)
    return protocol.image(simplejpeg.encode_jpeg(picture, quality, colorsubsampling="420", fastdct=True))


def _sonar_lines(display: SonarLines, sensor: Any) -> StreamParts:
    """Return the stream of side-scan lines. A line goes from the port range limit to the starboard range limit."""
    port, starboard, bin_size = (attrgetter(name) for name in (display.port, display.starboard, display.bin_size))

    def sample(inputs: StreamInput) -> Any:
        readings = [new.reading for new in inputs.new if new.reading is not None]
        return [
            protocol.SonarLine(
                each.time, len(port(each)) * bin_size(each), np.concatenate([port(each)[::-1], starboard(each)])
            )
            for each in readings
        ] or None

    return StreamParts(Kind.SONAR_LINES, sample, protocol.sonar_lines, needs_every_reading=True, keeps_every_row=True)


def _sonar_fan(display: SonarFan, sensor: Any) -> StreamParts:
    levels, azimuths, bin_size = (attrgetter(name) for name in (display.levels, display.azimuths, display.bin_size))

    def encode(reading: Any) -> protocol.Payload:
        echoes, angles = levels(reading), azimuths(reading)
        far = bin_size(reading) * echoes.shape[1]
        return protocol.sonar_fan(echoes, (float(angles[0]), float(angles[-1])), (0.0, far))

    return StreamParts(Kind.SONAR_FAN, _latest, encode)


def _sonar_scan(display: SonarScan, sensor: Any) -> StreamParts:
    levels, angle, bin_size = (attrgetter(name) for name in (display.levels, display.angle, display.bin_size))
    sector, beams = display.sector, display.beams
    fan = np.zeros((beams, 0), np.uint8)
    far = 0.0

    def sample(inputs: StreamInput) -> Any:
        nonlocal fan, far
        for new in inputs.new:
            if new.reading is not None:
                echoes = levels(new.reading)
                if fan.shape[1] != len(echoes):
                    fan = np.zeros((beams, len(echoes)), np.uint8)
                fan[int((0.5 * sector - angle(new.reading)) / sector * beams) % beams] = echoes
                far = bin_size(new.reading) * len(echoes)
        return (fan.copy(), far) if inputs.new and fan.size else None

    def encode(sampled: tuple[NDArray[np.uint8], float]) -> protocol.Payload:
        return protocol.sonar_fan(sampled[0], (0.5 * sector, -0.5 * sector), (0.0, sampled[1]))

    return StreamParts(Kind.SONAR_FAN, sample, encode, needs_every_reading=True)


def _cloud(display: Cloud, sensor: Any) -> StreamParts:
    points, pose = attrgetter(display.points), attrgetter(display.pose)
    intensity = None if display.intensity is None else attrgetter(display.intensity)

    def encode(reading: Any) -> protocol.Payload:
        strength = None if intensity is None else np.clip(intensity(reading), 0, 255).astype(np.uint8)
        return protocol.cloud(_in_world(points(reading), pose(reading)), strength)

    return StreamParts(Kind.CLOUD, _latest, encode, is_slow=True)


def _rays(display: Rays, sensor: Any) -> StreamParts | None:
    """Return the stream of at most about `MAX_RAYS` rays of the latest reading; None if the viewer shows nothing.

    Rays that a sensor casts in a worker thread are not shown, because it may be tracing the next rays.
    """
    viewer = viewer_of(sensor)
    if not (viewer.draw_rays or viewer.draw_hits):
        return None
    if display.points is not None and display.pose is not None:
        points, pose = attrgetter(display.points), attrgetter(display.pose)

        def encode_points(reading: Any) -> protocol.Payload:
            found = points(reading)
            ends = _in_world(found[:: max(len(found) // MAX_RAYS, viewer.every)], pose(reading))
            return _lines(pose(reading).position, ends, np.ones(len(ends), bool), viewer)

        return StreamParts(Kind.SEGMENTS, _latest, encode_points)
    if sensor.execution == "thread":
        return None
    every = max(viewer.every, len(sensor.bundle) // MAX_RAYS)
    return StreamParts(
        Kind.SEGMENTS,
        lambda inputs: sensor.latest_rays(every) if inputs.new else None,
        lambda shown: _lines(shown.origin, shown.ends, shown.hit, viewer),
    )


def _polar(display: Polar, sensor: Any) -> StreamParts:
    ranges = attrgetter(display.ranges)
    return StreamParts(
        Kind.SCALARS, _latest, lambda reading: protocol.scalars(np.atleast_2d(ranges(reading))[display.row])
    )


BUILDERS: Final[dict[type[Display], tuple[str, Callable[[Any, Any], StreamParts | None]]]] = {
    Image: ("image", _image),
    SonarLines: ("sonar", _sonar_lines),
    SonarFan: ("sonar", _sonar_fan),
    SonarScan: ("sonar", _sonar_scan),
    Cloud: ("cloud", _cloud),
    Rays: ("rays", _rays),
    Polar: ("polar", _polar),
}
"""Prefix of the stream's name, and function that makes its parts, by display kind. Other kinds have no stream."""


# ------------------------------------------------------------------------------------------------ helpers


def _latest(inputs: StreamInput) -> Any:
    """Return the latest new reading, or None."""
    return next((new.reading for new in reversed(inputs.new) if new.reading is not None), None)


def _in_world(points: NDArray[np.floating], pose: Pose) -> NDArray[np.float64]:
    found: NDArray[np.float64] = points.astype(np.float64) @ pose.rotation.T + pose.position
    return found


def viewer_of(sensor: Any) -> RayViewerConfig:
    """Return the viewer settings of a sensor; the defaults for a sensor that casts no rays itself."""
    found = getattr(sensor, "viewer", None)
    return found if isinstance(found, RayViewerConfig) else RayViewerConfig()


def _lines(
    origin: NDArray[np.floating], ends: NDArray[np.floating], hit: NDArray[np.bool_], viewer: RayViewerConfig
) -> protocol.Payload:
    lines = np.empty((len(ends), 2, 3), np.float32)
    lines[:, 0], lines[:, 1] = origin, ends
    colours = np.where(hit[:, None], HIT_COLOUR, MISS_COLOUR).astype(np.uint8)
    if viewer.ray_colour is not None:
        colours[:, :3] = np.rint(255.0 * np.array(viewer.ray_colour))
    return protocol.segments(lines, colours)
