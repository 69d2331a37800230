"""Streams of one sensor, chosen by the type of its readings: pictures, sonar lines and fans, clouds, rays, ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args, get_origin

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from skerry.parts.sensor import Sensor
from skerry.sensors.camera import CameraReading
from skerry.sensors.fls import FlsReading
from skerry.sensors.lidar import LidarReading, PlanarReading, RosetteSensor
from skerry.sensors.mbes import MbesReading
from skerry.sensors.msis import Msis, MsisReading
from skerry.sensors.raycast.ray_sensor import RaySensor
from skerry.sensors.sidescan import Sidescan, SidescanReading
from skerry.ui import protocol
from skerry.ui.protocol import Kind
from skerry.ui.streams import PageStream, StreamInput
from skerry.world import Robot

MAX_RAYS: Final = 256  # rays of a reading that are drawn
HIT_COLOUR: Final = (255, 220, 80, 160)
MISS_COLOUR: Final = (120, 160, 200, 60)
"""Colours of rays that hit something and of rays that hit nothing: red, green, blue, opacity."""


def reading_type(sensor: Sensor[Any]) -> type | None:
    """Return the class of a sensor's readings, from its generic base such as `Sensor[ImuReading]`."""
    for kind in type(sensor).__mro__:
        for base in vars(kind).get("__orig_bases__", ()):
            found = [argument for argument in get_args(base) if isinstance(argument, type)]
            if found and issubclass(get_origin(base), Sensor):
                return found[0]
    return None


def sensor_streams(robot: Robot, name: str) -> list[PageStream]:
    """Return the streams of a sensor. A sensor whose readings are only numbers has none."""
    sensor = robot.sensors[name].sensor
    builder = _StreamBuilder(robot, name, sensor)
    kind = reading_type(sensor)
    if kind is CameraReading:
        return [builder.image()]
    if kind is SidescanReading:
        return [builder.lines(), *builder.rays()]
    if kind is FlsReading:
        return [builder.fan(), builder.cloud(_sonar_cloud), builder.cloud_rays(_sonar_cloud)]
    if kind is MsisReading:
        return [builder.scan(), *builder.rays()]
    if kind is MbesReading:
        return [builder.cloud(_sonar_cloud), builder.cloud_rays(_sonar_cloud)]
    if kind is LidarReading:
        polar = [] if isinstance(sensor, RosetteSensor) else [builder.polar(*_level_row(sensor))]
        return [builder.cloud(_lidar_cloud), builder.cloud_rays(_lidar_cloud), *polar]
    if kind is PlanarReading:
        return [builder.cloud(_lidar_cloud), builder.cloud_rays(_lidar_cloud), builder.polar(*_level_row(sensor))]
    return builder.rays()


Points = tuple[NDArray[np.float64], NDArray[np.floating], NDArray[np.uint8]]
"""Position of the sensor, points (n, 3) in the world, m, and intensities (n,)."""


def _sonar_cloud(reading: Any) -> Points:
    cloud = reading.cloud
    return cloud.pose.position, cloud.world_points, cloud.levels


def _lidar_cloud(reading: Any) -> Points:
    points = reading.points.astype(np.float64) @ reading.pose.rotation.T + reading.pose.position
    strength = reading.intensity
    if isinstance(reading, PlanarReading):
        strength = strength[np.isfinite(reading.ranges)]
    return reading.pose.position, points, np.clip(strength, 0, 255).astype(np.uint8)


def _level_row(sensor: Any) -> tuple[int, int, tuple[float, float]]:
    """Return the row of a lidar's beams that is closest to horizontal.

    Returns:
        Index of the row, number of its beams, and azimuth of its first and last beam, rad.
    """
    channels = sensor.channels
    directions = sensor.bundle.directions.T.reshape(channels, -1, 3)
    row = int(np.argmin(np.abs(directions[:, 0, 2])))
    angles = np.unwrap(np.arctan2(directions[row, :, 1], directions[row, :, 0]))
    return row, len(angles), (float(angles[0]), float(angles[-1]))


class _StreamBuilder:
    """Builds the streams of one sensor."""

    def __init__(self, robot: Robot, name: str, sensor: Any) -> None:
        self._robot, self._name, self._sensor = robot, name, sensor
        self._settings = robot.vehicle.config.sensors[name]

    def _stream(
        self,
        prefix: str,
        kind: Kind,
        sample: Callable[[StreamInput], Any],
        encode: Callable[[Any], protocol.Payload],
        **more: Any,
    ) -> PageStream:
        owner = self._robot.name
        return PageStream(
            f"{prefix}/{owner}/{self._name}",
            kind,
            f"{owner} {self._name.replace('_', ' ')}",
            sample,
            encode,
            robot=owner,
            sensor=self._name,
            sensors=frozenset([(owner, self._name)]),
            **more,
        )

    def image(self) -> PageStream:
        details = {"width": self._settings.width, "height": self._settings.height}
        return self._stream("image", Kind.IMAGE, _latest, encode_picture, details=details, is_slow=True)

    def lines(self) -> PageStream:
        """Return the stream of side-scan lines. A line goes from the port range limit to the starboard range limit."""
        settings = self._settings
        assert isinstance(settings, Sidescan)

        def sample(inputs: StreamInput) -> Any:
            readings = [new.reading for new in inputs.new if new.reading is not None]
            rows = [np.concatenate([each.port_levels[::-1], each.starboard_levels]) for each in readings]
            return [(each.time, row) for each, row in zip(readings, rows, strict=True)] or None

        details = {"rows": 2 * settings.buckets, "range_m": settings.max_range}
        return self._stream(
            "sonar",
            Kind.SONAR_LINES,
            sample,
            protocol.sonar_lines,
            details=details,
            needs_every_reading=True,
            keeps_every_row=True,
        )

    def fan(self) -> PageStream:
        def encode(reading: FlsReading) -> protocol.Payload:
            angles = float(reading.azimuths[0]), float(reading.azimuths[-1])
            return protocol.sonar_fan(reading.levels, angles, (0.0, reading.bin_size * reading.levels.shape[1]))

        details = {"range_m": self._settings.max_range, "angles": _half(np.radians(self._settings.fov_deg))}
        return self._stream("sonar", Kind.SONAR_FAN, _latest, encode, details=details)

    def scan(self) -> PageStream:
        """Return the stream of a scanning sonar: a fan with the latest echoes of every direction."""
        settings = self._settings
        assert isinstance(settings, Msis)
        sector = np.radians(settings.sector_deg)
        beams = max(round(settings.sector_deg / settings.step_deg), 1)
        levels = np.zeros((beams, settings.bins), np.uint8)

        def sample(inputs: StreamInput) -> Any:
            for new in inputs.new:
                if new.reading is not None:
                    beam = int((0.5 * sector - new.reading.angle) / sector * beams)
                    levels[beam % beams] = new.reading.levels
            return levels.copy() if inputs.new else None

        def encode(fan: NDArray[np.uint8]) -> protocol.Payload:
            return protocol.sonar_fan(fan, _half(sector), (0.0, settings.max_range))

        details = {"range_m": settings.max_range, "angles": _half(sector)}
        return self._stream("sonar", Kind.SONAR_FAN, sample, encode, details=details, needs_every_reading=True)

    def cloud(self, points: Callable[[Any], Points]) -> PageStream:
        def encode(reading: Any) -> protocol.Payload:
            _, positions, intensity = points(reading)
            return protocol.cloud(positions, intensity)

        return self._stream("cloud", Kind.CLOUD, _latest, encode, is_slow=True)

    def cloud_rays(self, points: Callable[[Any], Points]) -> PageStream:
        """Return the stream of lines from the sensor to at most about `MAX_RAYS` points of its cloud."""

        def encode(reading: Any) -> protocol.Payload:
            origin, positions, _ = points(reading)
            ends = positions[:: max(len(positions) // MAX_RAYS, 1)]
            return _lines(origin, ends, np.ones(len(ends), bool))

        return self._stream("rays", Kind.SEGMENTS, _latest, encode)

    def rays(self) -> list[PageStream]:
        """Return the stream of the rays of the latest reading.

        A sensor that measures in a worker thread has no such stream, because it may be tracing the next rays.
        """
        sensor = self._sensor
        if not isinstance(sensor, RaySensor) or sensor.execution == "thread":
            return []
        every = max(sensor.viewer.every, len(sensor.bundle) // MAX_RAYS, 1)

        def sample(inputs: StreamInput) -> Any:
            return sensor.latest_rays(every) if inputs.new else None

        def encode(shown: Any) -> protocol.Payload:
            return _lines(shown.origin, shown.ends, shown.hit)

        return [self._stream("rays", Kind.SEGMENTS, sample, encode)]

    def polar(self, row: int, count: int, angles: tuple[float, float]) -> PageStream:
        """Return the stream of the ranges of one row of beams."""

        def encode(reading: Any) -> protocol.Payload:
            return protocol.scalars(np.atleast_2d(reading.ranges)[row])

        details = {"angles": angles, "range_m": self._settings.limits().max_range, "rows": count, "unit": "m"}
        return self._stream("polar", Kind.SCALARS, _latest, encode, details=details)


def _latest(inputs: StreamInput) -> Any:
    """Return the latest new reading, or None."""
    return next((new.reading for new in reversed(inputs.new) if new.reading is not None), None)


def _half(angle: float) -> tuple[float, float]:
    return float(0.5 * angle), float(-0.5 * angle)


def encode_picture(reading: CameraReading) -> protocol.Payload:
    """Encode the picture of a camera as JPEG, with the quality from the camera's settings."""
    picture = np.ascontiguousarray(reading.image)
    return protocol.image(simplejpeg.encode_jpeg(picture, reading.jpeg_quality, colorsubsampling="420", fastdct=True))


def _lines(origin: NDArray[np.floating], ends: NDArray[np.floating], hit: NDArray[np.bool_]) -> protocol.Payload:
    lines = np.empty((len(ends), 2, 3), np.float32)
    lines[:, 0], lines[:, 1] = origin, ends
    return protocol.segments(lines, np.where(hit[:, None], HIT_COLOUR, MISS_COLOUR).astype(np.uint8))
