"""ROS: time to encode messages with the encoders that the interface uses, and the cost of sending over DDS."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from skerry.benchmarks import _dds as dds
from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.interfaces.ros.bridge.frame_topics import TransformEncoder
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoders import EncoderContext, find_factory
from skerry.interfaces.ros.messages.encoders.pictures import image
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.sensors.imu import Imu, ImuReading

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
    codec = Codec(TypeStore())
    context = EncoderContext(codec, Imu(link="base_link", frequency=Fraction(100)), FRAME, FRAME, "map_gt", None)
    return {
        "ros.encode.imu.us": _microseconds(_imu(context), 1000),
        "ros.encode.image.us": _microseconds(_image(context), 20),
        "ros.encode.pointcloud100k.us": _microseconds(_point_cloud(codec), 20),
        "ros.encode.tf20.us": _microseconds(_transforms(codec), 200),
        **dds.measure(),
    }


def _imu(context: EncoderContext) -> Callable[[], object]:
    encode = find_factory("imu", "sensor_msgs/Imu")(context)
    turn, rate, force = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.1, 0.2, 9.81])
    reading = ImuReading(TIME, turn, rate, force, np.eye(3), np.eye(3), np.eye(3))
    return lambda: encode(reading, TIME)


def _image(context: EncoderContext) -> Callable[[], object]:
    pixels = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
    return lambda: context.codec.to_cdr(image(context, TIME, "rgb8", pixels, FRAME))


def _point_cloud(codec: Codec) -> Callable[[], object]:
    points = np.random.default_rng(0).random((100_000, 4), np.float32)
    fields = [{"name": name, "offset": 4 * k, "datatype": 7, "count": 1} for k, name in enumerate("xyzi")]
    cloud = codec.make(
        "sensor_msgs/PointCloud2",
        header={"stamp": {"sec": 12, "nanosec": 345_000_000}, "frame_id": FRAME},
        height=1,
        width=len(points),
        fields=fields,
        point_step=16,
        row_step=16 * len(points),
        data=points.view(np.uint8),
    )
    return lambda: codec.to_cdr(cloud)


def _transforms(codec: Codec) -> Callable[[], object]:
    encoder = TransformEncoder(codec)
    names = [name for k in range(20) for name in (FRAME, f"sam/link_{k}")]
    numbers = [number for k in range(20) for number in (1.0 * k, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)]
    return lambda: encoder.encode(TIME, names, numbers)


def _microseconds(encode: Callable[[], object], times: int) -> float:
    def run() -> None:
        for _ in range(times):
            encode()

    return best_cpu(run) / times * 1e6
