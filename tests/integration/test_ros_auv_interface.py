"""The SMaRC AUV ROS interface, row by row, on the bus: profile smarc-interface."""

from __future__ import annotations

from collections.abc import Iterator
from math import radians
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.frames import quaternion_to_rpy
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.runner import Runner
from skerry.scenario.vehicle import shipped_vehicles

REFERENCE = {"latitude_deg": 58.823332, "longitude_deg": 17.635227}

# The document's lists, with /vehicle as the robot's name. Its LCG and TCG are to be decided; SAM has a TCG if fitted.
CORE = {
    "core/imu": "sensor_msgs/msg/Imu",
    "core/pressure": "sensor_msgs/msg/FluidPressure",
    "core/gps": "sensor_msgs/msg/NavSatFix",
    "core/compass": "sensor_msgs/msg/MagneticField",
    "core/dvl": "smarc_msgs/msg/DVL",
    "core/dvl_status": "smarc_msgs/msg/SensorStatus",
    "core/leak": "smarc_msgs/msg/Leak",
    "core/battery": "sensor_msgs/msg/BatteryState",
    "core/thruster1_fb": "smarc_msgs/msg/ThrusterFeedback",
    "core/thruster2_fb": "smarc_msgs/msg/ThrusterFeedback",
}
BALLAST = {"core/vbs_fb": "smarc_msgs/msg/PercentStamped", "core/lcg_fb": "smarc_msgs/msg/PercentStamped"}
RECKONING = {
    "dr/odom": "nav_msgs/msg/Odometry",
    "dr/lat_lon": "geographic_msgs/msg/GeoPoint",
    "dr/depth": "std_msgs/msg/Float64",
    "dr/yaw": "std_msgs/msg/Float64",
    "dr/pitch": "std_msgs/msg/Float64",
    "dr/roll": "std_msgs/msg/Float64",
}
PAYLOAD = {
    "payload/sidescan": "smarc_msgs/msg/Sidescan",
    "payload/sidescan_status": "smarc_msgs/msg/SensorStatus",
    "payload/ctd": "smarc_msgs/msg/CTD",
    "payload/ctd_status": "smarc_msgs/msg/SensorStatus",
}
TARGETS = {
    "heading": "yaw",
    "depth": "depth",
    "altitude": "altitude",
    "speed": "speed",
    "pitch": "pitch",
    "roll": "roll",
}


class Vehicle:
    """Robot named `it`, and a peer that subscribes, publishes and calls services."""

    def __init__(
        self, vehicle: str = "sam", depth: float = 3.0, limits: Any = None, fitted: Any = None, **settings: Any
    ) -> None:
        overrides = fitted or ({} if limits is None else {"controllers": {"autopilot": {"limits": limits}}})
        robot = {
            "vehicle": vehicle,
            "pose": {"position": [1.3, 2.7, -depth], "yaw_deg": 0},
            "overrides": overrides,
        }
        ground = {"kind": "flat", "depth": 20}
        self.world = skerry.load({"reference": REFERENCE, "terrain": ground, "robots": {"it": robot}})
        built = Ros.model_validate({"profile": "smarc-interface", **settings}).build()
        assert isinstance(built, RosInterface)
        self.ros, self.bus, self.box = built, built.bus, SubscriberQueue()
        self.runner = Runner(self.world, None, {"ros": built})
        self.runner.run(0.0)
        self.robot = self.world.robots["it"]

    def run(self, seconds: float, *topics: str) -> dict[str, list[Any]]:
        """Return the messages of `seconds` seconds, by topic below the robot's name."""
        self.bus.set_subscriptions(self.box, [f"/it/{topic}" for topic in topics])
        found: dict[str, list[Any]] = {topic: [] for topic in topics}
        for _ in range(max(round(seconds * 10), 1)):
            self.runner.run(0.1)
            for outgoing in self.box.drain(0):
                assert len(outgoing.cdr) > 4
                found[outgoing.topic.name.removeprefix("/it/")].append(outgoing.message)
        return found

    def say(self, topic: str, **values: Any) -> None:
        name = f"/it/{topic}"
        self.bus.on_message(name, self.bus.codec.make(self.bus.subscribed_type(name), **values))

    def call(self, service: str, **values: Any) -> Any:
        name = f"/it/{service}"
        promise = self.bus.call(name, self.bus.codec.make(f"{self.bus.services[name].type}_Request", **values))
        self.runner.inbox.execute(self.runner)
        return promise.result()

    def status(self, target: str) -> tuple[int, str, str]:
        said = self.run(1.1, f"ctrl/{target}_controller_status")[f"ctrl/{target}_controller_status"][-1]
        return said.control_status, said.service_name, said.diagnostics_message

    def close(self) -> None:
        self.runner.close()
        self.world.close()


@pytest.fixture
def sam() -> Iterator[Vehicle]:
    made = Vehicle()
    yield made
    made.close()


def test_every_topic_and_service_of_the_document_is_there(sam: Vehicle) -> None:
    said = {name: topic.type for name, topic in sam.bus.topics.items()}
    wanted = CORE | BALLAST | RECKONING | PAYLOAD
    wanted |= {f"ctrl/{word}_controller_status": "smarc_msgs/msg/ControllerStatus" for word in TARGETS.values()}
    assert {f"/it/{name}": kind for name, kind in wanted.items()}.items() <= said.items()
    heard = {name: sam.bus.subscribed_type(name) for name in sam.bus.subscriptions}
    wanted = {"core/thruster1_cmd": "smarc_msgs/msg/ThrusterRPM", "core/thruster2_cmd": "smarc_msgs/msg/ThrusterRPM"}
    wanted |= {"core/abort": "std_msgs/msg/Empty", "core/vbs_cmd": "smarc_msgs/msg/PercentStamped"}
    wanted |= {"core/lcg_cmd": "smarc_msgs/msg/PercentStamped"}
    for word in TARGETS.values():
        wanted |= dict.fromkeys((f"ctrl/{word}_setpoint", f"ctrl/{word}_setpoint_freq"), "std_msgs/msg/Float64")
    assert {f"/it/{name}": kind for name, kind in wanted.items()}.items() <= heard.items()
    offered = {name: service.type for name, service in sam.bus.services.items()}
    wanted = {f"ctrl/toggle_{word}_ctrl": "std_srvs/srv/SetBool" for word in TARGETS}
    wanted |= dict.fromkeys(
        ("core/toggle_dvl", "payload/toggle_sidescan", "payload/toggle_ctd"), "std_srvs/srv/SetBool"
    )
    wanted |= {"dr/lat_lon_to_utm": "smarc_msgs/srv/LatLonToUTM", "dr/utm_to_lat_lon": "smarc_msgs/srv/UTMToLatLon"}
    assert {f"/it/{name}": kind for name, kind in wanted.items()}.items() <= offered.items()
    assert "/it/ctrl/goto_waypoint" in sam.bus.actions


def test_each_of_them_is_said_and_in_a_frame_of_the_tree(sam: Vehicle) -> None:
    wanted = [*CORE, *BALLAST, *RECKONING, *PAYLOAD]
    found = sam.run(1.2, *wanted)
    assert not [name for name, messages in found.items() if not messages]
    tree = {item.child for item in sam.ros.frames.transforms()}
    for name, messages in found.items():
        if hasattr(messages[-1], "header"):
            assert messages[-1].header.frame_id in tree, name
    assert found["dr/odom"][-1].child_frame_id in tree


@pytest.mark.parametrize("vehicle", shipped_vehicles())
def test_every_vehicle_can_be_spoken_to_by_it(vehicle: str) -> None:
    robots = {name: {"vehicle": vehicle, "pose": {"position": [x, 0, 0]}} for name, x in (("one", 0), ("other", 30))}
    with skerry.load({"reference": REFERENCE, "robots": robots}) as world:
        Ros(profile="smarc-interface").build().check(world)


# ------------------------------------------------------------------------------------------------ core


def test_the_dvl_can_be_switched_off_and_on(sam: Vehicle) -> None:
    assert sam.run(1.1, "core/dvl_status")["core/dvl_status"][-1].sensor_status == 1
    answer = sam.call("core/toggle_dvl", data=False)
    assert answer.success
    found = sam.run(2.1, "core/dvl", "core/dvl_status")
    assert not found["core/dvl"]
    assert len(found["core/dvl_status"]) == 2
    assert found["core/dvl_status"][-1].sensor_status == 0
    assert found["core/dvl_status"][-1].service_name == "/it/core/toggle_dvl"
    assert sam.call("core/toggle_dvl", data=True).success
    assert len(sam.run(1.0, "core/dvl")["core/dvl"]) >= 9


def test_sidescan_and_ctd_can_be_switched_too(sam: Vehicle) -> None:
    for name in ("sidescan", "ctd"):
        assert sam.run(0.3, f"payload/{name}")[f"payload/{name}"]
        assert sam.call(f"payload/toggle_{name}", data=False).success
        found = sam.run(1.1, f"payload/{name}", f"payload/{name}_status")
        assert not found[f"payload/{name}"]
        assert found[f"payload/{name}_status"][-1].sensor_status == 0


def test_percentages_go_from_0_to_1(sam: Vehicle) -> None:
    for _ in range(20):
        sam.say("core/vbs_cmd", value=0.6)
        sam.say("core/lcg_cmd", value=0.25)
        found = sam.run(0.1, "core/vbs_fb", "core/lcg_fb")
    assert sam.robot.actuators["vbs"].setpoint == pytest.approx(60.0)
    assert found["core/vbs_fb"][-1].value == pytest.approx(0.6, abs=0.01)
    assert found["core/lcg_fb"][-1].value == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(("profile", "full"), [("smarc-interface", 1.0), ("smarc", 100.0)])
def test_a_weight_that_slides_across_is_the_tcg_and_roll_follows(profile: str, full: float) -> None:
    weight = {"tcg": {"kind": "prismatic", "link": "tcg_link", "armature": 10}}
    sam = Vehicle(fitted={"attachments": ["tcg.urdf"], "actuators": weight}, profile=profile)
    assert sam.bus.subscribed_type("/it/core/tcg_cmd") == "smarc_msgs/msg/PercentStamped"
    assert sam.bus.topics["/it/core/tcg_fb"].type == "smarc_msgs/msg/PercentStamped"
    for _ in range(50):
        sam.say("core/tcg_cmd", value=full)
        found = sam.run(0.1, "core/tcg_fb")
    said = found["core/tcg_fb"][-1]
    assert said.value == pytest.approx(
        full, rel=0.01
    )  # all of its travel at 15 % a second; the slide gives way by a little
    assert said.header.frame_id == "it/tcg_link_gt"
    assert quaternion_to_rpy(sam.robot.pose.orientation)[0] < radians(-5.0)  # port side down
    sam.close()


def test_a_thruster_that_hears_nothing_for_half_a_second_stops(sam: Vehicle) -> None:
    for _ in range(5):
        sam.say("core/thruster1_cmd", rpm=600)
        found = sam.run(0.1, "core/thruster1_fb")
    assert found["core/thruster1_fb"][-1].rpm.rpm > 500
    sam.run(0.4)
    assert sam.robot.actuators["thruster1"].setpoint == 600
    sam.run(0.2)
    assert sam.robot.actuators["thruster1"].setpoint == 0


@pytest.mark.parametrize(("vehicle", "count"), [("bluerov2", 6), ("bluerov2_heavy", 8), ("okon2", 8)])
def test_thrusters_with_a_measured_curve_take_and_say_rpm(vehicle: str, count: int) -> None:
    """The command is looked up in the curve the other way round, so what comes back is what was asked for.

    Between the nodes of the curve both ways are linear, so nothing is lost; 1 rpm is the rounding of the message.
    """
    rov = Vehicle(vehicle)
    assert {f"/it/core/thruster{number}_fb" for number in range(1, count + 1)} <= rov.bus.topics.keys()
    for wanted in (1500, -900, 0, 9999):
        for _ in range(12):  # the lag has passed by then
            rov.say("core/thruster1_cmd", rpm=wanted)
            found = rov.run(0.1, "core/thruster1_fb")
        feedback = found["core/thruster1_fb"][-1]
        if wanted == 9999:
            assert 3000 < feedback.rpm.rpm < 4000  # as fast as it goes
            assert feedback.dc.dc == pytest.approx(1.0, abs=0.01)
        else:
            assert feedback.rpm.rpm == pytest.approx(wanted, abs=1)
            assert feedback.dc.dc * wanted >= 0.0
        assert np.isnan(feedback.current)


def test_thrusters_have_numbers_on_every_vehicle() -> None:
    lolo = Vehicle("lolo")
    for number, part in enumerate(("thruster_port", "thruster_starboard", "vertical_front_port"), 1):
        lolo.say(f"core/thruster{number}_cmd", rpm=300 + number)
        lolo.run(0.1)
        assert lolo.robot.actuators[part].setpoint == 300 + number
    assert "/it/core/thruster6_fb" in lolo.bus.topics
    lolo.close()


def test_after_an_abort_the_vehicle_surfaces_and_ros_is_not_heard(sam: Vehicle) -> None:
    sam.say("core/thruster1_cmd", rpm=600)
    sam.run(0.2)
    sam.say("core/abort")
    sam.run(0.3)
    for _ in range(10):
        sam.say("core/thruster1_cmd", rpm=600)
        sam.say("core/vbs_cmd", value=1.0)
        sam.run(0.1)
    assert sam.robot.actuators["thruster1"].setpoint == 0
    assert sam.robot.actuators["vbs"].setpoint == 0
    refused = sam.call("ctrl/toggle_depth_ctrl", data=True)
    assert not refused.success
    assert "aborted" in refused.message
    assert sam.status("depth")[0] == 2
    sam.run(50.0)
    assert sam.robot.sensors["depth300"].reading.depth < 0.2


# ------------------------------------------------------------------------------------------------ controllers


def test_a_controller_is_switched_on_told_and_switched_off(sam: Vehicle) -> None:
    assert sam.status("depth") == (0, "/it/ctrl/toggle_depth_ctrl", "")
    sam.say("ctrl/depth_setpoint", data=5.0)  # not switched on: nothing happens
    sam.run(0.3)
    assert sam.robot.controllers["autopilot"].idle
    assert sam.call("ctrl/toggle_depth_ctrl", data=True).success
    assert sam.status("depth") == (0, "/it/ctrl/toggle_depth_ctrl", "waiting for a setpoint on /it/ctrl/depth_setpoint")
    sam.say("ctrl/depth_setpoint", data=5.0)
    sam.run(0.3)
    assert sam.status("depth")[0] == 1
    sam.run(40.0)
    assert sam.robot.sensors["depth300"].reading.depth == pytest.approx(5.0, abs=0.2)
    assert sam.call("ctrl/toggle_depth_ctrl", data=False).success
    sam.run(0.3)
    assert sam.status("depth")[0] == 0
    assert sam.robot.actuators["vbs"].owner == "external"


def test_the_second_of_two_that_conflict_is_refused(sam: Vehicle) -> None:
    assert sam.call("ctrl/toggle_depth_ctrl", data=True).success
    refused = sam.call("ctrl/toggle_altitude_ctrl", data=True)
    assert (refused.success, refused.message) == (False, "give depth or altitude, not both")
    assert sam.call("ctrl/toggle_depth_ctrl", data=False).success
    assert sam.call("ctrl/toggle_altitude_ctrl", data=True).success


def test_yaw_is_to_the_left_from_east_and_angles_are_radians(sam: Vehicle) -> None:
    autopilot = sam.robot.controllers["autopilot"]
    for word, target, value, name, wanted in (
        ("heading", "yaw", radians(30.0), "heading_deg", 60.0),
        ("pitch", "pitch", radians(-10.0), "pitch_deg", -10.0),
        ("roll", "roll", radians(5.0), "roll_deg", 5.0),
        ("speed", "speed", 0.8, "speed", 0.8),
    ):
        assert sam.call(f"ctrl/toggle_{word}_ctrl", data=True).success
        sam.say(f"ctrl/{target}_setpoint", data=value)
        sam.run(0.2)
        assert autopilot.external_setpoints.setpoints[name] == pytest.approx(wanted)
    sam.run(60.0)
    yaw = float(quaternion_to_rpy(sam.robot.pose.orientation)[2])
    assert yaw == pytest.approx(radians(30.0), abs=0.05)


def test_setpoints_by_frequency_hold_while_they_come(sam: Vehicle) -> None:
    vector = sam.robot.actuators["thrust_vector_yaw"]
    for _ in range(3):
        sam.say("ctrl/yaw_setpoint_freq", data=1.0)
        sam.run(1.0)
        assert vector.owner == "controller/autopilot"
    sam.run(1.0)
    assert vector.owner == "external"
    assert vector.setpoint == 0.0


def test_what_is_switched_on_is_repeated_as_a_throttle_does_and_does_not_hear_itself(sam: Vehicle) -> None:
    assert not sam.run(1.0, "ctrl/yaw_setpoint_freq")["ctrl/yaw_setpoint_freq"]
    assert sam.call("ctrl/toggle_heading_ctrl", data=True).success
    sam.say("ctrl/yaw_setpoint", data=1.0)
    said = sam.run(2.0, "ctrl/yaw_setpoint_freq")["ctrl/yaw_setpoint_freq"]
    assert [message.data for message in said] == [pytest.approx(1.0)] * 4
    assert sam.call("ctrl/toggle_heading_ctrl", data=False).success
    sam.bus.on_message("/it/ctrl/yaw_setpoint_freq", said[-1])  # a transport returns an earlier message
    sam.run(0.3)
    assert sam.robot.controllers["autopilot"].external_setpoints.names == set()


def test_what_is_refused_again_and_again_is_logged_once(sam: Vehicle, caplog: pytest.LogCaptureFixture) -> None:
    assert sam.call("ctrl/toggle_depth_ctrl", data=True).success
    for value in (float("nan"), 3.0, 3.0):
        sam.say("ctrl/depth_setpoint", data=value)
        sam.say("ctrl/altitude_setpoint", data=3.0)  # not switched on, which is not logged
        sam.say("ctrl/altitude_setpoint_freq", data=3.0)
        sam.run(0.2)
    assert caplog.text.count("/it/ctrl/altitude_setpoint_freq: give depth or altitude, not both") == 1
    assert caplog.text.count("depth_setpoint: a setpoint must be a finite number") == 1
    assert "/it/ctrl/altitude_setpoint:" not in caplog.text


def test_a_controller_whose_actuators_another_has_says_so(sam: Vehicle) -> None:
    sam.robot.control = "manual"
    assert sam.call("ctrl/toggle_heading_ctrl", data=True).success
    sam.say("ctrl/yaw_setpoint", data=1.0)
    code, _, text = sam.status("yaw")
    assert (code, text) == (2, "another owner controls the actuators")


def test_a_vehicle_has_the_controllers_that_it_can_be() -> None:
    for vehicle, words in (
        ("otter", {"heading", "speed"}),
        ("remus100", {"heading", "depth", "altitude", "speed", "pitch"}),
        ("bluerov2", {"heading", "depth", "altitude", "speed", "roll"}),
    ):
        graph = Vehicle(vehicle, 0.0 if vehicle == "otter" else 3.0)
        found = {word for word in TARGETS if f"/it/ctrl/toggle_{word}_ctrl" in graph.bus.services}
        assert found == words, vehicle
        graph.close()


def test_limits_are_parameters_and_are_kept() -> None:
    limits = {"depth": 4.0, "altitude": 2.0, "pitch_deg": 20.0, "roll_deg": 10.0, "dive_time": 600}
    sam = Vehicle(limits=limits)
    found = {name: value for name, value in sam.bus.parameters.items() if name.startswith("/it/")}
    assert found == {
        "/it/max_dive_depth": 4.0,
        "/it/min_altitude": 2.0,
        "/it/max_pitch": pytest.approx(0.34907, abs=1e-5),
        "/it/max_roll": pytest.approx(0.17453, abs=1e-5),
        "/it/max_dive_time": 600,
    }
    assert isinstance(found["/it/max_dive_time"], int)
    assert sam.call("ctrl/toggle_depth_ctrl", data=True).success
    sam.say("ctrl/depth_setpoint", data=9.0)
    sam.run(40.0)
    assert sam.robot.sensors["depth300"].reading.depth == pytest.approx(4.0, abs=0.2)
    sam.close()


# ------------------------------------------------------------------------------------------------ dead reckoning


def test_dead_reckoning_says_where_the_vehicle_believes_it_is(sam: Vehicle) -> None:
    sam.run(2.0)
    found = {name: messages[-1] for name, messages in sam.run(0.3, *RECKONING).items()}
    odom, robot = found["dr/odom"], sam.robot
    assert (odom.header.frame_id, odom.child_frame_id) == ("it/odom", "it/base_link")
    variance = odom.pose.covariance[0]
    assert 0.5 < variance < 2.0  # the crew told it where it is, to a metre
    assert abs(odom.pose.pose.position.x) < 4 * variance**0.5
    assert odom.twist.covariance[0] > 0
    assert found["dr/depth"].data == pytest.approx(-robot.pose.position[2], abs=0.02)
    assert found["dr/yaw"].data == pytest.approx(0.0, abs=0.02)
    assert found["dr/lat_lon"].latitude == pytest.approx(REFERENCE["latitude_deg"], abs=1e-3)
    tree = {item.child: item for item in sam.ros.frames.transforms()}
    assert tree["it/base_link"].parent == "it/odom"
    assert (tree["it/odom"].parent, tree["map"].parent) == ("map", "utm")


def test_dead_reckoning_goes_on_after_a_reset_and_is_not_in_the_other_profiles(sam: Vehicle) -> None:
    sam.run(1.0)
    request = sam.bus.codec.make("std_srvs/srv/Trigger_Request")
    sam.bus.call("/skerry/reset", request)
    found = sam.run(1.0, "dr/depth")
    assert len(found["dr/depth"]) > 5
    other = Vehicle(profile="smarc")
    assert "/it/dr/odom" not in other.bus.topics
    other.run(0.5)
    assert other.robot.controllers["dead_reckoning"].idle
    other.close()


def test_latitude_and_longitude_and_utm_are_turned_into_each_other(sam: Vehicle) -> None:
    utm = sam.call("dr/lat_lon_to_utm", lat_lon_point={**geographic(58.9, 17.7), "altitude": -5.0}).utm_point
    # EPSG:32633 by the registry of PROJ
    np.testing.assert_allclose([utm.x, utm.y, utm.z], [655543.93168, 6532056.08836, -5.0], atol=1e-3)
    back = sam.call("dr/utm_to_lat_lon", utm_point={"x": utm.x, "y": utm.y, "z": utm.z}).lat_lon_point
    assert (back.latitude, back.longitude) == (pytest.approx(58.9, abs=1e-9), pytest.approx(17.7, abs=1e-9))
    assert sam.call("dr/lat_lon_to_utm", lat_lon_point=geographic(58.9, 12.1)).utm_point.x < 400_000  # zone 33 still


def geographic(latitude: float, longitude: float) -> dict[str, float]:
    return {"latitude": latitude, "longitude": longitude}


def test_a_waypoint_may_be_said_as_a_message_where_there_are_no_actions(
    sam: Vehicle, caplog: pytest.LogCaptureFixture
) -> None:
    """Send a goal as an endpoint of ROS 2 does; the status of the action is 2 (executing), then 4 (succeeded)."""
    pose = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 9.0, "y": 2.7}}}
    sam.say("ctrl/goto_waypoint/waypoint", pose=pose, goal_tolerance=2.0, speed_control_mode=1, travel_rpm=900.0)
    status = "ctrl/goto_waypoint/_action/status"
    assert sam.run(0.2, status)[status][-1].status_list[-1].status == 2
    for _ in range(30):
        found = sam.run(1.0, status)[status]
        if found and found[-1].status_list[-1].status == 4:
            break
    else:
        pytest.fail("it does not arrive")
    sam.say("ctrl/goto_waypoint/waypoint", pose={"header": {"frame_id": "moon"}}, speed_control_mode=1)
    assert "waypoint rejected" in caplog.text
