"""Ground truth: exact pose, twist, heading, depth, altitude and geographic position of a frame on the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, isnan
from typing import Literal

from skerry.core.frames import Pose, Twist, heading_of, rotate
from skerry.core.frames import inverse as inverse_of
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.sensor import SampleView, SensorConfig, SimpleSensor


@dataclass(frozen=True)
class GroundTruthReading:
    """Pose in the world (ENU), twist in the frame's own axes, and derived quantities.

    Headings and courses are clockwise from the world's north, from 0 to below 360°.
    """

    time: float = unit("s")
    pose: Pose = unit()
    twist: Twist = unit()
    speed: float = unit("m/s")  # magnitude of the velocity
    course_deg: float = unit("°")  # direction of the horizontal velocity; equal to the heading at rest
    heading_deg: float = unit("°")
    depth: float = unit("m")  # below the surface; negative in the air
    altitude: float = unit("m")  # above the ground or, in air, above water or ground; infinite with nothing below
    latitude_deg: float | None = unit("°")  # None if the scenario has no reference
    longitude_deg: float | None = unit("°")  # None if the scenario has no reference


class GroundTruthSensor(SimpleSensor[GroundTruthReading]):
    """Sensor that reports ground truth."""

    execution = "batch"

    def __init__(self, link: str, offset: Pose) -> None:
        self._link = link
        self._offset = offset

    def measure_one(self, sample: SampleView, noise: Noise) -> GroundTruthReading:
        motion = sample.motion(self._link, self._offset)
        pose = Pose.of(motion[:7])
        to_body = inverse_of(pose.orientation)
        east, north, up = motion[7:10].tolist()
        heading = heading_of(*rotate(pose.orientation, [1.0, 0.0, 0.0]).tolist()[:2])
        position: list[float] = pose.position.tolist()
        depth = sample.depth(pose.position)
        latitude = longitude = None
        if sample.projection is not None:
            latitude, longitude, _ = sample.projection.to_geodetic(pose.position).tolist()
        return GroundTruthReading(
            sample.time,
            pose,
            Twist(rotate(to_body, motion[7:10]), rotate(to_body, motion[10:13])),
            hypot(east, north, up),
            heading_of(east, north) if east != 0.0 or north != 0.0 else heading,
            heading,
            depth,
            _altitude(sample, position, depth + position[2]),
            latitude,
            longitude,
        )


def _altitude(sample: SampleView, position: list[float], surface: float) -> float:
    """Return the height above the ground or, in air, above water or ground, whichever is higher."""
    ground = float("nan") if sample.terrain is None else float(sample.terrain.height(position[:2]))
    if position[2] >= surface:
        return position[2] - (surface if isnan(ground) else max(ground, surface))
    return inf if isnan(ground) else position[2] - ground


class GroundTruth(SensorConfig):
    """Ground truth of a link, or of a frame with an offset from a link."""

    kind: Literal["ground_truth"] = "ground_truth"

    def build(self) -> GroundTruthSensor:
        return GroundTruthSensor(self.link, self.offset())
