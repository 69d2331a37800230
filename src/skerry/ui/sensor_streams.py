"""The streams of one sensor, by what its readings are: pictures, sonar lines and fans, clouds, rays, polar ranges."""

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
from skerry.ui import protocol as wire
from skerry.ui.protocol import Kind
from skerry.ui.streams import ReadingBatches, Stream
from skerry.world import Robot

MOST_RAYS: Final = 256  # that are drawn of a reading
HIT: Final = (255, 220, 80, 160)
MISSED: Final = (120, 160, 200, 60)
"""Red, green, blue and opacity of rays."""


def reading_type(sensor: Sensor[Any]) -> type | None:
    """The class of a sensor's readings, as its bases say: `Sensor[ImuReading]`."""
    for kind in type(sensor).__mro__:
        for base in vars(kind).get("__orig_bases__", ()):
            found = [argument for argument in get_args(base) if isinstance(argument, type)]
            if found and issubclass(get_origin(base), Sensor):
                return found[0]
    return None


def sensor_streams(robot: Robot, name: str) -> list[Stream]:
    """The streams that a sensor offers; one that gives only numbers offers none of its own."""
    sensor = robot.sensors[name].sensor
    maker = _Maker(robot, name, sensor)
    kind = reading_type(sensor)
    if kind is CameraReading:
        return [maker.image()]
    if kind is SidescanReading:
        return [maker.lines(), *maker.rays()]
    if kind is FlsReading:
        return [maker.fan(), maker.cloud(_sonar_cloud), maker.cloud_rays(_sonar_cloud)]
    if kind is MsisReading:
        return [maker.scan(), *maker.rays()]
    if kind is MbesReading:
        return [maker.cloud(_sonar_cloud), maker.cloud_rays(_sonar_cloud)]
    if kind is LidarReading:
        polar = [] if isinstance(sensor, RosetteSensor) else [maker.polar(*_level_row(sensor))]
        return [maker.cloud(_lidar_cloud), maker.cloud_rays(_lidar_cloud), *polar]
    if kind is PlanarReading:
        return [maker.cloud(_lidar_cloud), maker.cloud_rays(_lidar_cloud), maker.polar(*_level_row(sensor))]
    return maker.rays()


Points = tuple[NDArray[np.float64], NDArray[np.floating], NDArray[np.uint8]]
"""Where a cloud was measured from, its points in the world, and their intensity."""


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
    """Of a lidar's beams, the number of the row that is most level, how many there are in it, and its angles."""
    channels = sensor.channels
    directions = sensor.bundle.directions.T.reshape(channels, -1, 3)
    row = int(np.argmin(np.abs(directions[:, 0, 2])))
    angles = np.unwrap(np.arctan2(directions[row, :, 1], directions[row, :, 0]))
    return row, len(angles), (float(angles[0]), float(angles[-1]))


class _Maker:
    """Makes the streams of a sensor."""

    def __init__(self, robot: Robot, name: str, sensor: Any) -> None:
        self._robot, self._name, self._sensor = robot, name, sensor
        self._settings = robot.vehicle.config.sensors[name]

    def _stream(
        self,
        word: str,
        kind: Kind,
        look: Callable[[ReadingBatches], Any],
        encode: Callable[[Any], wire.Payload],
        **more: Any,
    ) -> Stream:
        owner = self._robot.name
        return Stream(
            f"{word}/{owner}/{self._name}",
            kind,
            f"{owner} {self._name.replace('_', ' ')}",
            look,
            encode,
            robot=owner,
            sensor=self._name,
            sensors=frozenset([(owner, self._name)]),
            **more,
        )

    def image(self) -> Stream:
        details = {"width": self._settings.width, "height": self._settings.height}
        return self._stream("image", Kind.IMAGE, _latest, encode_picture, details=details, is_slow=True)

    def lines(self) -> Stream:
        """Each line from the farthest to port over the middle to the farthest to starboard."""
        settings = self._settings
        assert isinstance(settings, Sidescan)

        def look(news: ReadingBatches) -> Any:
            readings = [new.reading for new in news.new if new.reading is not None]
            rows = [np.concatenate([each.port_levels[::-1], each.starboard_levels]) for each in readings]
            return [(each.time, row) for each, row in zip(readings, rows, strict=True)] or None

        details = {"rows": 2 * settings.buckets, "range_m": settings.max_range}
        return self._stream(
            "sonar", Kind.SONAR_LINES, look, wire.sonar_lines, details=details, gathers=True, appends=True
        )

    def fan(self) -> Stream:
        def encode(reading: FlsReading) -> wire.Payload:
            angles = float(reading.azimuths[0]), float(reading.azimuths[-1])
            return wire.sonar_fan(reading.levels, angles, (0.0, reading.bin_size * reading.levels.shape[1]))

        details = {"range_m": self._settings.max_range, "angles": _half(np.radians(self._settings.fov_deg))}
        return self._stream("sonar", Kind.SONAR_FAN, _latest, encode, details=details)

    def scan(self) -> Stream:
        """What a turning sonar has heard in the directions in which it looked last."""
        settings = self._settings
        assert isinstance(settings, Msis)
        sector = np.radians(settings.sector_deg)
        beams = max(round(settings.sector_deg / settings.step_deg), 1)
        levels = np.zeros((beams, settings.bins), np.uint8)

        def look(news: ReadingBatches) -> Any:
            for new in news.new:
                if new.reading is not None:
                    beam = int((0.5 * sector - new.reading.angle) / sector * beams)
                    levels[beam % beams] = new.reading.levels
            return levels.copy() if news.new else None

        def encode(seen: NDArray[np.uint8]) -> wire.Payload:
            return wire.sonar_fan(seen, _half(sector), (0.0, settings.max_range))

        details = {"range_m": settings.max_range, "angles": _half(sector)}
        return self._stream("sonar", Kind.SONAR_FAN, look, encode, details=details, gathers=True)

    def cloud(self, points: Callable[[Any], Points]) -> Stream:
        def encode(reading: Any) -> wire.Payload:
            _, places, strength = points(reading)
            return wire.cloud(places, strength)

        return self._stream("cloud", Kind.CLOUD, _latest, encode, is_slow=True)

    def cloud_rays(self, points: Callable[[Any], Points]) -> Stream:
        """Lines to the points of a cloud, or to some of them."""

        def encode(reading: Any) -> wire.Payload:
            origin, places, _ = points(reading)
            ends = places[:: max(len(places) // MOST_RAYS, 1)]
            return _lines(origin, ends, np.ones(len(ends), bool))

        return self._stream("rays", Kind.SEGMENTS, _latest, encode)

    def rays(self) -> list[Stream]:
        """The rays of the latest reading; none of a sensor that may be measuring again while they are looked at."""
        sensor = self._sensor
        if not isinstance(sensor, RaySensor) or sensor.execution == "thread":
            return []
        every = max(sensor.viewer.every, len(sensor.bundle) // MOST_RAYS, 1)

        def look(news: ReadingBatches) -> Any:
            return sensor.shown(every) if news.new else None

        def encode(shown: Any) -> wire.Payload:
            return _lines(shown.origin, shown.ends, shown.hit)

        return [self._stream("rays", Kind.SEGMENTS, look, encode)]

    def polar(self, row: int, count: int, angles: tuple[float, float]) -> Stream:
        """The ranges of the most level beams."""

        def encode(reading: Any) -> wire.Payload:
            return wire.scalars(np.atleast_2d(reading.ranges)[row])

        details = {"angles": angles, "range_m": self._settings.reach().most, "rows": count, "unit": "m"}
        return self._stream("polar", Kind.SCALARS, _latest, encode, details=details)


def _latest(news: ReadingBatches) -> Any:
    """The latest reading that has come since, if any."""
    return next((new.reading for new in reversed(news.new) if new.reading is not None), None)


def _half(angle: float) -> tuple[float, float]:
    return float(0.5 * angle), float(-0.5 * angle)


def encode_picture(reading: CameraReading) -> wire.Payload:
    """A camera's picture as JPEG, of the quality that the camera's settings say."""
    picture = np.ascontiguousarray(reading.image)
    return wire.image(simplejpeg.encode_jpeg(picture, reading.jpeg_quality, colorsubsampling="420", fastdct=True))


def _lines(origin: NDArray[np.floating], ends: NDArray[np.floating], hit: NDArray[np.bool_]) -> wire.Payload:
    lines = np.empty((len(ends), 2, 3), np.float32)
    lines[:, 0], lines[:, 1] = origin, ends
    return wire.segments(lines, np.where(hit[:, None], HIT, MISSED).astype(np.uint8))
