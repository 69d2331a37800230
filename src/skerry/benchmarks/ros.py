"""ROS: message objects to the bytes that go over the wire, and what it costs to send them over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.benchmarks import _dds as dds
from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import Vocabulary

GOALS = {
    "ros.encode.imu.us": Goal(6),
    "ros.encode.image.us": Goal(150),
    "ros.encode.pointcloud100k.us": Goal(350),
    "ros.encode.tf20.us": Goal(25),
    **dds.GOALS,
}


def measure() -> dict[str, float]:
    """All figures of this part."""
    codec = Codec(Vocabulary())
    header = {"stamp": {"sec": 12, "nanosec": 345_000_000}, "frame_id": "sam/imu_link_gt"}
    rng = np.random.default_rng(0)
    imu = codec.make(
        "sensor_msgs/Imu",
        header=header,
        linear_acceleration={"x": 0.1, "y": 0.2, "z": 9.81},
        orientation_covariance=np.eye(3),
    )
    picture = rng.integers(0, 255, (480, 640, 3), np.uint8)
    image = codec.make(
        "sensor_msgs/Image", header=header, height=480, width=640, encoding="rgb8", step=1920, data=picture
    )
    points = rng.random((100_000, 4), np.float32)
    fields = [{"name": name, "offset": 4 * k, "datatype": 7, "count": 1} for k, name in enumerate("xyzi")]
    cloud = codec.make(
        "sensor_msgs/PointCloud2",
        header=header,
        height=1,
        width=len(points),
        fields=fields,
        point_step=16,
        row_step=16 * len(points),
        data=points.view(np.uint8),
    )
    transforms = [
        {"header": header, "child_frame_id": f"sam/link_{k}", "transform": {"translation": {"x": 1.0 * k}}}
        for k in range(20)
    ]
    tree = codec.make("tf2_msgs/TFMessage", transforms=transforms)
    return {
        "ros.encode.imu.us": _microseconds(codec, imu, 1000),
        "ros.encode.image.us": _microseconds(codec, image, 20),
        "ros.encode.pointcloud100k.us": _microseconds(codec, cloud, 20),
        "ros.encode.tf20.us": _microseconds(codec, tree, 200),
        **dds.measure(),
    }


def _microseconds(codec: Codec, message: Any, times: int) -> float:
    def encode() -> None:
        for _ in range(times):
            codec.to_cdr(message)

    return best_cpu(encode) / times * 1e6
