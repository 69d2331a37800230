"""Row by row, what the SMaRC simulator's documentation says of its publishers and subscribers, as a peer sees it.

The rows are those of its two tables, with the topics that SAM has for them. For every row: the type, the rate, stamps
that go on, a header's frame that is in the tree, and fields that are filled honestly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import isnan, pi, radians, tan
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.runner import Runner

REFERENCE = {"latitude_deg": 58.823332, "longitude_deg": 17.635227}
DEPTH, GROUND, DURATION = 3.0, 12.0, 1.5


class Peer:
    """SAM below the water, a `mate` within hearing, one above it, at the `top`; and what they have said for a while."""

    def __init__(self) -> None:
        robots = {
            "sam": {"vehicle": "sam", "pose": {"position": [0, 0, -DEPTH]}},
            "mate": {"vehicle": "sam", "pose": {"position": [0, 20, -DEPTH]}},
            "top": {"vehicle": "sam", "anchored": True, "pose": {"position": [20, 0, 2]}},
        }
        ground = {"kind": "flat", "depth": GROUND}
        self.world = skerry.load({"reference": REFERENCE, "terrain": ground, "robots": robots})
        built = Ros().build()
        assert isinstance(built, RosInterface)
        self.ros, self.bus, self.box = built, built.bus, SubscriberQueue()
        self.runner = Runner(self.world, None, {"ros": built})
        self.runner.run(0.0)
        self.said: dict[str, list[tuple[float, Any]]] = {}
        topics = [row[0] for row in SAID]
        self.run(DURATION / 3, topics)
        self.say("/mate/acoustic/write", data="ping")
        self.run(DURATION * 2 / 3, topics)
        self.tree = {item.child for item in built.frames.transforms()}

    def run(self, seconds: float, topics: list[str]) -> None:
        self.bus.set_subscriptions(self.box, topics)
        for _ in range(round(seconds * 20)):
            self.runner.run(0.05)
            for outgoing in self.box.drain(0):
                self.said.setdefault(outgoing.topic.name, []).append((self.world.time, outgoing.message))

    def say(self, topic: str, **values: Any) -> None:
        self.bus.on_message(topic, self.bus.codec.make(self.bus.subscribed_type(topic), **values))

    def last(self, topic: str) -> Any:
        return self.said[topic][-1][1]


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.runner.close()
    made.world.close()


def is_covariance(values: Any, size: int) -> bool:
    """Symmetric, and with no variance below 0 in any direction; −1 on the diagonal would mean that nothing is measured.

    1e-15: the rounding of the largest.
    """
    matrix = np.asarray(values).reshape(size, size)
    return bool(np.array_equal(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() >= -1e-15)


def check_heard(peer: Peer, message: Any) -> None:
    """Sound goes at about 1500 m/s: 20 m take some 13 ms, and the ways by surface and ground not twice as much."""
    sent, came = ((stamp.sec + 1e-9 * stamp.nanosec) for stamp in (message.time_sent, message.time_received))
    assert message.data == "ping"
    assert 0.012 < came - sent < 0.03


def check_battery(peer: Peer, message: Any) -> None:
    assert 0.0 <= message.percentage <= 1.0
    assert message.voltage > 0.0
    assert isnan(message.current) or message.current <= 0.0


def check_image(peer: Peer, message: Any) -> None:
    assert (message.encoding, message.step) == ("rgb8", 3 * message.width)
    assert len(message.data) == message.step * message.height
    assert message.data.max() > message.data.min()


def check_compressed(peer: Peer, message: Any) -> None:
    assert bytes(message.data[:3]) == b"\xff\xd8\xff"  # a JPEG (ITU T.81)
    assert "jpeg" in message.format


def check_lens(peer: Peer, message: Any) -> None:
    """A pinhole of 60° from top to bottom: f = h/2/tan 30°; SAM's cameras have no distortion."""
    focal = message.height / 2 / tan(radians(30.0))
    assert message.k[[0, 4]] == pytest.approx(focal, rel=1e-6)
    assert message.p[[0, 5]] == pytest.approx(focal, rel=1e-6)
    assert message.k[[2, 5]] == pytest.approx([message.width / 2, message.height / 2], abs=0.51)  # by half a pixel
    assert not np.asarray(message.d).any()
    image = peer.last("/sam/payload/cam_down/image_raw")
    assert (message.width, message.height) == (image.width, image.height)
    assert message.header.frame_id == image.header.frame_id


def check_pressure(peer: Peer, message: Any) -> None:
    """p₀ + ρ g d, with the sensor within 0.2 m of the vehicle's depth."""
    assert message.fluid_pressure == pytest.approx(101325 + 1025 * 9.81 * DEPTH, abs=1025 * 9.81 * 0.2)
    assert message.variance >= 0.0


def check_dvl(peer: Peer, message: Any) -> None:
    """With a lock: ground 9 m below, and beams that reach it at 22.5° from the vertical, r cos 22.5° = a to 10 %."""
    assert is_covariance(message.velocity_covariance, 3)
    assert message.altitude == pytest.approx(GROUND - DEPTH, abs=0.3)
    assert len(message.beams) == 4
    for beam in message.beams:
        assert beam.range * np.cos(pi / 8) == pytest.approx(message.altitude, rel=0.1)
        assert beam.range_covariance >= 0.0
        assert beam.pose.header.frame_id in peer.tree


def check_place(peer: Peer, message: Any) -> None:
    assert message.latitude == pytest.approx(REFERENCE["latitude_deg"], abs=1e-4)
    assert message.longitude == pytest.approx(REFERENCE["longitude_deg"], abs=1e-4)


def check_no_fix(peer: Peer, message: Any) -> None:
    assert message.status.status == -1
    assert isnan(message.latitude)
    assert isnan(message.longitude)


def check_fix(peer: Peer, message: Any) -> None:
    assert message.status.status >= 0
    assert message.latitude == pytest.approx(REFERENCE["latitude_deg"], abs=1e-3)
    assert message.position_covariance_type > 0
    assert is_covariance(message.position_covariance, 3)
    assert np.any(message.position_covariance)


def check_imu(peer: Peer, message: Any) -> None:
    """At rest: what holds it up, 9.81 m/s² upwards, within its noise; a quaternion of length 1."""
    q, a = message.orientation, message.linear_acceleration
    assert np.linalg.norm([q.x, q.y, q.z, q.w]) == pytest.approx(1.0, abs=1e-6)
    assert np.linalg.norm([a.x, a.y, a.z]) == pytest.approx(9.81, abs=0.3)
    for values in (message.orientation_covariance, message.angular_velocity_covariance):
        assert is_covariance(values, 3)
    assert is_covariance(message.linear_acceleration_covariance, 3)


def check_leak(peer: Peer, message: Any) -> None:
    assert (message.value, message.leak_counter) == (False, 0)


def check_odometry(peer: Peer, message: Any) -> None:
    """The truth, which is exact."""
    assert (message.header.frame_id, message.child_frame_id) == ("map_gt", "sam/base_link_gt")
    assert message.pose.pose.position.z == pytest.approx(peer.world.robots["sam"].pose.position[2], abs=0.05)
    assert not np.any(message.pose.covariance)


def check_percent(peer: Peer, message: Any) -> None:
    assert message.value == pytest.approx(50.0, abs=1.0)


def check_thruster(peer: Peer, message: Any) -> None:
    assert (message.rpm.rpm, round(message.dc.dc, 6)) == (0, 0)
    assert isnan(message.current)


def check_cloud(peer: Peer, message: Any) -> None:
    points = message.width * message.height
    assert points > 0
    assert message.row_step == message.width * message.point_step
    assert len(message.data) == points * message.point_step
    octets = np.frombuffer(bytes(message.data), np.uint8).reshape(points, message.point_step)
    z = np.ascontiguousarray(octets[:, 8:12]).view("<f4")
    assert z == pytest.approx(-GROUND, abs=0.5)  # echoes of the flat ground, in the map


def check_sidescan(peer: Peer, message: Any) -> None:
    assert message.type == 0xE2
    assert len(message.port_channel) == len(message.starboard_channel) > 0


def check_frames(peer: Peer, message: Any) -> None:
    assert {item.child_frame_id for item in message.transforms} <= peer.tree


def check_clock(peer: Peer, message: Any) -> None:
    assert message.clock.sec + 1e-9 * message.clock.nanosec == pytest.approx(DURATION, abs=0.011)


Check = Callable[[Peer, Any], None]
# topic, type, Hz (0: not at a rate), and what the message must be
SAID: list[tuple[str, str, float, Check]] = [
    ("/sam/acoustic/read", "smarc_msgs/msg/StringStamped", 0, check_heard),
    ("/sam/core/battery", "sensor_msgs/msg/BatteryState", 10, check_battery),
    ("/sam/payload/cam_down/image_raw", "sensor_msgs/msg/Image", 10, check_image),
    ("/sam/payload/cam_down/image_raw/compressed", "sensor_msgs/msg/CompressedImage", 10, check_compressed),
    ("/sam/payload/cam_down/camera_info", "sensor_msgs/msg/CameraInfo", 10, check_lens),
    ("/sam/core/depth20_pressure", "sensor_msgs/msg/FluidPressure", 10, check_pressure),
    ("/sam/core/depth300_pressure", "sensor_msgs/msg/FluidPressure", 10, check_pressure),
    ("/sam/core/dvl", "smarc_msgs/msg/DVL", 10, check_dvl),
    ("/sam/dr/lat_lon", "geographic_msgs/msg/GeoPoint", 10, check_place),
    ("/sam/core/gps", "sensor_msgs/msg/NavSatFix", 10, check_no_fix),
    ("/top/core/gps", "sensor_msgs/msg/NavSatFix", 10, check_fix),
    ("/sam/core/imu", "sensor_msgs/msg/Imu", 10, check_imu),
    ("/sam/core/sbg_imu", "sensor_msgs/msg/Imu", 10, check_imu),
    ("/sam/core/leak", "smarc_msgs/msg/Leak", 10, check_leak),
    ("/sam/core/odom_gt", "nav_msgs/msg/Odometry", 10, check_odometry),
    ("/sam/core/vbs_fb", "smarc_msgs/msg/PercentStamped", 10, check_percent),
    ("/sam/core/lcg_fb", "smarc_msgs/msg/PercentStamped", 10, check_percent),
    ("/sam/core/thruster1_fb", "smarc_msgs/msg/ThrusterFeedback", 10, check_thruster),
    ("/sam/core/thruster2_fb", "smarc_msgs/msg/ThrusterFeedback", 10, check_thruster),
    ("/sam/mbes/map_gt/bathy_points", "sensor_msgs/msg/PointCloud2", 10, check_cloud),
    ("/sam/payload/sidescan", "smarc_msgs/msg/Sidescan", 20, check_sidescan),
    ("/tf", "tf2_msgs/msg/TFMessage", 10, check_frames),
    ("/clock", "rosgraph_msgs/msg/Clock", 100, check_clock),
]


@pytest.mark.parametrize(("topic", "kind", "rate", "check"), SAID, ids=[row[0] for row in SAID])
def test_a_row_of_the_publishers(peer: Peer, topic: str, kind: str, rate: float, check: Check) -> None:
    """A rate is met to one message: the first may fall before or after the beginning."""
    assert peer.bus.topics[topic].type == kind
    found = peer.said[topic]
    if rate:
        assert len(found) == pytest.approx(rate * DURATION, abs=1)
    headers = [(time, message.header) for time, message in found if hasattr(message, "header")]
    stamps = [header.stamp.sec + 1e-9 * header.stamp.nanosec for _, header in headers]
    assert all(later > earlier for earlier, later in pairwise(stamps)), "an old message again"
    for (time, header), stamp in zip(headers, stamps, strict=True):
        assert header.frame_id in peer.tree | {"map_gt"}
        assert -1e-9 <= time - stamp <= 0.2  # what a sensor may take, and what the reading of this test adds
    check(peer, found[-1][1])


# topic, type, published message, and its effect after a tenth of a second
HEARD: list[tuple[str, str, dict[str, Any], Callable[[Peer], bool]]] = [
    (
        "/sam/core/thrust_vector_cmd",
        "sam_msgs/msg/ThrusterAngles",
        {"thruster_horizontal_radians": 0.05, "thruster_vertical_radians": -0.04},
        lambda peer: (
            [
                round(peer.world.robots["sam"].actuators[f"thrust_vector_{axis}"].setpoint, 6)
                for axis in ("yaw", "pitch")
            ]
            == [0.05, -0.04]
        ),
    ),
    (
        "/sam/core/vbs_cmd",
        "smarc_msgs/msg/PercentStamped",
        {"value": 20.0},
        lambda peer: peer.world.robots["sam"].actuators["vbs"].setpoint == pytest.approx(20.0),
    ),
    (
        "/sam/core/lcg_cmd",
        "smarc_msgs/msg/PercentStamped",
        {"value": 70.0},
        lambda peer: peer.world.robots["sam"].actuators["lcg"].setpoint == pytest.approx(70.0),
    ),
    (
        "/sam/core/thruster2_cmd",
        "smarc_msgs/msg/ThrusterRPM",
        {"rpm": 400},
        lambda peer: peer.world.robots["sam"].actuators["thruster2"].setpoint == 400,
    ),
    (
        "/mate/teleport",
        "geometry_msgs/msg/Pose",
        {"position": {"x": 40.0, "y": 5.0, "z": -1.0}, "orientation": {"w": 1.0}},
        lambda peer: np.allclose(peer.world.robots["mate"].pose.position, [40, 5, -1], atol=0.05),
    ),
    (
        "/tf",
        "tf2_msgs/msg/TFMessage",
        {
            "transforms": [
                {"header": {"frame_id": "map"}, "child_frame_id": "dock", "transform": {"rotation": {"w": 1.0}}}
            ]
        },
        lambda peer: [frame["name"] for frame in peer.ros.external_frames] == ["dock"],
    ),
    (
        "/sam/mission/last_wp",
        "smarc_mission_msgs/msg/GotoWaypoint",
        {"pose": {"header": {"frame_id": "map"}, "pose": {"position": {"x": 9.0}}}, "goal_tolerance": 2.0},
        lambda peer: [drawn["radius"] for drawn in peer.ros.drawings] == [2.0],
    ),
]


@pytest.mark.parametrize(("topic", "kind", "values", "done"), HEARD, ids=[row[0] for row in HEARD])
def test_a_row_of_the_subscribers(
    peer: Peer, topic: str, kind: str, values: dict[str, Any], done: Callable[[Peer], bool]
) -> None:
    """The acoustic transmitter, the eighth, is what lets the receiver above have something to say."""
    assert peer.bus.subscribed_type(topic) == kind
    peer.say(topic, **values)
    peer.run(0.1, [])
    assert done(peer)
