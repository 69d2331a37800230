"""What ROS hears and says beside sensors and actuators: sound, ropes, waypoints to be shown, frames of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.external_frames import MAX_FRAMES
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.runner import Runner

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}
BUOY = {"geometry": {"kind": "sphere", "radius": 0.3}, "motion": "kinematic", "pose": {"position": [5, 5, 0]}}
ROCK = {"geometry": {"kind": "sphere", "radius": 0.3}, "motion": "static", "pose": {"position": [9, 9, 0]}}


def sam(x: float) -> dict[str, Any]:
    return {"vehicle": "sam", "pose": {"position": [x, 0, -4], "yaw_deg": 0}}


class Graph:
    """A world with the interface, and a peer."""

    def __init__(self, scenario: Any, **settings: Any) -> None:
        self.world = skerry.load(scenario)
        built = Ros.model_validate(settings).build()
        assert isinstance(built, RosInterface)
        self.ros, self.bus, self.box = built, built.bus, SubscriberQueue()
        self.runner = Runner(self.world, None, {"ros": built})
        self.runner.run(0.0)

    def run(self, seconds: float, *topics: str) -> dict[str, list[Any]]:
        self.bus.set_subscriptions(self.box, topics)
        found: dict[str, list[Any]] = {topic: [] for topic in topics}
        for _ in range(round(seconds * 10)):
            self.runner.run(0.1)
            for outgoing in self.box.drain(0):
                assert len(outgoing.cdr) > 4
                found[outgoing.topic.name].append(outgoing.message)
        return found

    def say(self, topic: str, **values: Any) -> None:
        self.bus.on_message(topic, self.bus.codec.make(self.bus.subscribed_type(topic), **values))

    def close(self) -> None:
        self.runner.close()
        self.world.close()


@pytest.fixture
def pair() -> Iterator[Graph]:
    made = Graph(
        {"reference": REFERENCE, "robots": {"a": sam(0), "b": sam(30)}, "objects": {"buoy": BUOY, "rock": ROCK}}
    )
    yield made
    made.close()


def seconds(stamp: Any) -> float:
    return float(stamp.sec + 1e-9 * stamp.nanosec)


# ------------------------------------------------------------------------------------------------ sound


def test_what_one_modem_is_told_the_other_says_after_the_way_of_the_sound(pair: Graph) -> None:
    pair.run(0.5, "/b/acoustic/read", "/a/acoustic/read")
    pair.say("/a/acoustic/write", data="come here")
    found = pair.run(0.5, "/b/acoustic/read", "/a/acoustic/read")
    assert not found["/a/acoustic/read"]
    first = found["/b/acoustic/read"][0]
    assert first.data == "come here"
    assert seconds(first.time_sent) == pytest.approx(0.5, abs=0.02)
    assert seconds(first.time_received) - seconds(first.time_sent) == pytest.approx(30 / 1500, rel=0.05)
    assert pair.world.robots["b"].acoustics["modem"].read().data == "come here"  # it is there for others too
    many = len(found["/b/acoustic/read"])  # by the surface too
    assert not pair.run(0.5, "/b/acoustic/read")["/b/acoustic/read"]  # it is published once
    assert many >= 1


def test_who_reads_the_modem_takes_nothing_from_ros_and_a_reset_repeats_nothing(pair: Graph) -> None:
    modem = pair.world.robots["b"].acoustics["modem"]
    pair.say("/a/acoustic/write", data="one")
    pair.run(0.3)  # without a subscriber it is not published, now or later
    while modem.read() is not None:
        pass
    pair.run(0.2, "/b/acoustic/read")
    pair.say("/a/acoustic/write", data="two")
    found = pair.run(0.5, "/b/acoustic/read")["/b/acoustic/read"]
    assert {message.data for message in found} == {"two"}
    before = modem.packets_received
    middle = pair.world.snapshot()
    pair.world.restore(middle)
    assert modem.packets_received == before
    pair.bus.call("/skerry/reset", pair.bus.codec.make("std_srvs/srv/Trigger_Request"))
    assert not pair.run(0.3, "/b/acoustic/read")["/b/acoustic/read"]
    modem.read()
    pair.say("/a/acoustic/write", data="three")
    assert pair.run(0.5, "/b/acoustic/read")["/b/acoustic/read"][-1].data == "three"


def test_a_packet_that_is_too_long_is_refused_in_the_log(pair: Graph, caplog: pytest.LogCaptureFixture) -> None:
    pair.say("/a/acoustic/write", data="x" * 70_000)
    pair.run(0.1)
    assert "/a/acoustic/write: a/modem: the packet has 70000 bytes, but `max_packet_bytes` is" in caplog.text


# ------------------------------------------------------------------------------------------------ ropes


def test_ropes_say_what_they_pull_and_how_long_they_are_and_are_frames() -> None:
    graph = Graph("drone_recovers_sam")
    winch = "/drone/lift"
    found = graph.run(0.5, f"{winch}/tension", f"{winch}/length", f"{winch}/hook", "/tf", "/drone/core/winch_fb")
    rope = graph.world.robots["drone"].ropes["lift"]
    assert found[f"{winch}/length"][-1].data == pytest.approx(rope.length, abs=0.1)
    assert found[f"{winch}/tension"][-1].data >= 0
    assert found[f"{winch}/hook"][-1].data == "hanging"
    assert found[f"{winch}/length"][-1].header.frame_id == "map_gt"
    assert found["/drone/core/winch_fb"]
    frames = {item.child_frame_id: item for item in found["/tf"][-1].transforms}
    nodes = [frames[f"drone/lift_node_{k}_gt"].transform.translation for k in range(len(rope.points))]
    assert nodes[-1].z == pytest.approx(rope.end[2], abs=0.2)
    assert graph.bus.topics["/sam/rope/tension"].type == "smarc_msgs/msg/FloatStamped"
    assert "/sam/rope/hook" not in graph.bus.topics
    graph.close()


# ------------------------------------------------------------------------------------------------ waypoints


def test_the_waypoint_of_a_robot_is_drawn_from_above_the_water(pair: Graph) -> None:
    assert pair.ros.drawings == []
    latitude, longitude, _ = pair.ros.frames.projection.to_geodetic([20.0, 10.0, 0.0])  # type: ignore[union-attr]
    pair.say("/a/mission/last_wp", lat=latitude, lon=longitude, travel_depth=6.0, goal_tolerance=3.0)
    (drawn,) = pair.ros.drawings
    assert (drawn["kind"], drawn["name"], drawn["radius"]) == ("waypoint", "a", 3.0)
    np.testing.assert_allclose(drawn["center"], [20, 10, -6], atol=1e-3)
    np.testing.assert_allclose(drawn["line"], [[20, 10, 2], [20, 10, -6]], atol=1e-3)
    circle = np.array(drawn["circle"])
    assert circle.shape == (50, 3)
    np.testing.assert_allclose(np.linalg.norm(circle - drawn["center"], axis=1), 3.0)
    pose = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 1.0, "y": 2.0}}}
    pair.say("/a/mission/last_wp", pose=pose, goal_tolerance=1.0)
    (drawn,) = pair.ros.drawings  # the latest only
    np.testing.assert_allclose(drawn["center"], [1, 2, 0])


def test_an_object_may_be_put_at_waypoints() -> None:
    scenario = {"reference": REFERENCE, "robots": {"a": sam(0)}, "objects": {"buoy": BUOY, "rock": ROCK}}
    marker = {"topic": "/goal", "mode": "position", "object": "buoy"}
    graph = Graph(scenario, waypoints={"goal": marker})
    pose = {"header": {"frame_id": "map_gt"}, "pose": {"position": {"x": 7.0, "y": -2.0}}}
    graph.say("/goal", pose=pose, travel_depth=1.5)
    graph.run(0.1)
    np.testing.assert_allclose(graph.world.objects["buoy"].pose.position, [7, -2, -1.5], atol=1e-6)
    assert graph.ros.drawings == []
    graph.close()
    for wrong, words in (({**marker, "object": "rock"}, "static"), ({**marker, "object": "bouy"}, "buoy")):
        with pytest.raises(SkerryError, match=words):
            Graph(scenario, waypoints={"goal": wrong})
    with pytest.raises(ValueError, match="requires"):
        Ros.model_validate({"waypoints": {"goal": {"topic": "/goal", "mode": "position"}}})


# ------------------------------------------------------------------------------------------------ frames of others


def transform(parent: str, child: str, x: float = 0.0, turn: float = 1.0) -> dict[str, Any]:
    return {
        "header": {"frame_id": parent},
        "child_frame_id": child,
        "transform": {"translation": {"x": x}, "rotation": {"w": turn}},
    }


def test_frames_of_others_are_placed_in_the_world(pair: Graph) -> None:
    assert pair.ros.external_frames == []
    pair.say("/tf_static", transforms=[transform("map", "b/odom", 30.0), transform("a/base_link_gt", "a/tool", 0.5)])
    pair.say("/tf", transforms=[transform("b/odom", "b/base_link", 2.0), transform("nowhere", "lost")])
    pair.say("/tf", transforms=[transform("loop", "ring"), transform("ring", "loop")])
    pair.say("/tf", transforms=[transform("map_gt", "a/odom_gt", 99.0)])  # its own, come back
    placed = {frame["name"]: frame for frame in pair.ros.external_frames}
    assert set(placed) == {"b/odom", "b/base_link", "a/tool"}
    assert placed["b/base_link"]["position"] == pytest.approx([32, 0, 0])
    assert placed["b/base_link"]["parent"] == "b/odom"
    tool = pair.world.robots["a"].pose.transform([0.5, 0.0, 0.0])
    assert placed["a/tool"]["position"] == pytest.approx(tool, abs=0.01)
    utm = pair.ros.frames.projection.origin[0] + 4.0  # type: ignore[union-attr]
    pair.say("/tf", transforms=[transform("utm", "there", utm)])
    assert {f["name"]: f["position"][0] for f in pair.ros.external_frames}["there"] == pytest.approx(4.0)


def test_frames_that_are_none_are_refused_and_too_many_are_not_kept(pair: Graph, caplog: Any) -> None:
    pair.say("/tf", transforms=[transform("map", "flat", turn=0.0)])
    pair.say("/tf", transforms=[transform("map", "far", float("inf"))])
    assert caplog.text.count("zero quaternion") == 2
    pair.say("/tf", transforms=[transform("map", f"f{k}") for k in range(MAX_FRAMES + 10)])
    assert len(pair.ros.external_frames) == MAX_FRAMES


def test_frames_of_others_need_not_be_heard() -> None:
    graph = Graph({"robots": {}}, subscribe_frames=False)
    assert "/tf" not in graph.bus.subscriptions
    assert graph.ros.external_frames == []
    graph.close()


# ------------------------------------------------------------------------------------------------ types and devices


def test_percentages_are_of_the_package_that_is_asked_for() -> None:
    graph = Graph({"reference": REFERENCE, "robots": {"a": sam(0)}}, percent_package="sam_msgs")
    assert graph.bus.subscribed_type("/a/core/vbs_cmd") == "sam_msgs/msg/PercentStamped"
    assert graph.bus.topics["/a/core/lcg_fb"].type == "sam_msgs/msg/PercentStamped"
    graph.say("/a/core/vbs_cmd", value=70.0)
    graph.run(0.1)
    assert graph.world.robots["a"].actuators["vbs"].setpoint == 70
    graph.close()


def test_the_three_lidars_of_the_evolo_have_topics_of_their_own() -> None:
    lidar = {"kind": "lidar", "link": "lidar_link", "frequency": 5}
    more = {"lidar_32": {**lidar, "pattern": "evolo_32"}, "lidar_128": {**lidar, "pattern": "evolo_128"}}
    boat = {"vehicle": "evolo", "overrides": {"sensors": more}}
    graph = Graph({"reference": REFERENCE, "robots": {"boat": boat}})
    for word in ("LowRes", "MidRes", "HighRes"):
        assert graph.bus.topics[f"/Evolo/Lidar/{word}"].type == "sensor_msgs/msg/PointCloud2"
    graph.close()
