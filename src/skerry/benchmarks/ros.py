"""ROS: time to encode messages with the encoders that the interface uses, and the cost of sending over DDS."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from skerry.benchmarks import _dds as dds
from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.core.frames import Pose
from skerry.interfaces.ros.bridge.frame_topics import TransformEncoder
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoders import EncoderContext, make_encoder
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorConfig
from skerry.sensors.camera import Camera, CameraReading
from skerry.sensors.imu import Imu, ImuReading
from skerry.sensors.lidar import Lidar, PlanarReading

GOALS = {
    "ros.encode.imu.us": Goal(6),
    "ros.encode.image.us": Goal(150),
    "ros.encode.pointcloud100k.us": Goal(350),
    "ros.encode.tf20.us": Goal(25),
    **dds.GOALS,
}

FRAME = "sam/imu_link_gt"
TIME = 12.345  # s


def measure() -> dict[str, float]:
    """Return all figures of this part: microseconds per message, and the load of DDS."""
    return {
        "ros.encode.imu.us": _microseconds(_imu(), 1000),
        "ros.encode.image.us": _microseconds(_image(), 20),
        "ros.encode.pointcloud100k.us": _microseconds(_point_cloud(), 20),
        "ros.encode.tf20.us": _microseconds(_transforms(), 200),
        **dds.measure(),
    }


def _encoding(settings: SensorConfig, type_name: str, reading: Any) -> Callable[[], object]:
    """Return a function that encodes a reading as the interface does: as a batch of one."""
    kind = type(reading)
    context = EncoderContext(Codec(TypeStore()), settings, kind, FRAME, "map_gt", None)
    encoder, readings, times = make_encoder(context, type_name), Readings.of(kind, [reading]), np.array([TIME])
    return lambda: encoder.encode(readings, times)


def _imu() -> Callable[[], object]:
    turn, rate, force = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.1, 0.2, 9.81])
    reading = ImuReading(TIME, turn, rate, force, np.eye(3), np.eye(3), np.eye(3), rate, rate)
    return _encoding(Imu(link="base_link", frequency=Fraction(100)), "sensor_msgs/Imu", reading)


def _image() -> Callable[[], object]:
    shape, none = (480, 640), np.empty(0)
    pixels = np.random.default_rng(0).integers(0, 255, (*shape, 3), np.uint8)
    depth, bodies, labels = np.ones(shape, np.float32), np.zeros(shape, np.int16), np.zeros(shape, np.uint8)
    reading = CameraReading(TIME, pixels, depth, bodies, labels, (), np.eye(3), none, 1.0, (), 90)
    return _encoding(Camera(link="base_link", frequency=Fraction(10)), "sensor_msgs/Image", reading)


def _point_cloud() -> Callable[[], object]:
    points = np.random.default_rng(0).random((100_000, 3), np.float32)
    reading = PlanarReading(TIME, 0.0, 0.0, 0.0, 0.0, 1.0, points[:, 0], points[:, 1], points, Pose.identity())
    settings = Lidar(link="base_link", frequency=Fraction(10), pattern="planar")
    return _encoding(settings, "sensor_msgs/PointCloud2", reading)


def _transforms() -> Callable[[], object]:
    encoder = TransformEncoder(Codec(TypeStore()))
    names = [name for k in range(20) for name in (FRAME, f"sam/link_{k}")]
    numbers = np.random.default_rng(0).random((1, 20, 7))
    return lambda: encoder.encode([TIME], names, numbers)


def _microseconds(encode: Callable[[], object], times: int) -> float:
    def run() -> None:
        for _ in range(times):
            encode()

    return best_cpu(run) / times * 1e6
