"""The simulator as a node of ROS: a world's parts on the bus, as the profile says."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bridge.profile import load_profile, shipped_profiles
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.interfaces.ros.messages.encoders import registered_types
from skerry.interfaces.ros.messages.types import full_name
from skerry.parts.actuator import ACTUATORS
from skerry.parts.readings import Readings
from skerry.parts.sensor import SENSORS
from skerry.runner import Runner
from skerry.scenario.vehicle import shipped_vehicles
from skerry.sensors.camera import CameraSensor
from skerry.world.check import check_file
from skerry.world.frame_tree import ros_name

# The table of the SMaRC simulator's SAM: what it says, without pictures, and how often a second.
SAM_SAYS = {
    "core/vbs_fb": ("smarc_msgs/msg/PercentStamped", 10),
    "core/lcg_fb": ("smarc_msgs/msg/PercentStamped", 10),
    "core/thruster1_fb": ("smarc_msgs/msg/ThrusterFeedback", 10),
    "core/thruster2_fb": ("smarc_msgs/msg/ThrusterFeedback", 10),
    "core/battery": ("sensor_msgs/msg/BatteryState", 10),
    "core/depth20_pressure": ("sensor_msgs/msg/FluidPressure", 10),
    "core/depth300_pressure": ("sensor_msgs/msg/FluidPressure", 10),
    "core/dvl": ("smarc_msgs/msg/DVL", 10),
    "core/gps": ("sensor_msgs/msg/NavSatFix", 10),
    "dr/lat_lon": ("geographic_msgs/msg/GeoPoint", 10),
    "core/imu": ("sensor_msgs/msg/Imu", 10),
    "core/sbg_imu": ("sensor_msgs/msg/Imu", 10),
    "core/leak": ("smarc_msgs/msg/Leak", 10),
    "core/odom_gt": ("nav_msgs/msg/Odometry", 10),
    "payload/sidescan": ("smarc_msgs/msg/Sidescan", 20),
    "mbes/map_gt/bathy_points": ("sensor_msgs/msg/PointCloud2", 10),
}
SAM_HEARS = {
    "core/vbs_cmd": "smarc_msgs/msg/PercentStamped",
    "core/lcg_cmd": "smarc_msgs/msg/PercentStamped",
    "core/thruster1_cmd": "smarc_msgs/msg/ThrusterRPM",
    "core/thruster2_cmd": "smarc_msgs/msg/ThrusterRPM",
    "core/thrust_vector_cmd": "sam_msgs/msg/ThrusterAngles",
    "teleport": "geometry_msgs/msg/Pose",
}


class Graph:
    """A world with the interface, and a peer that takes some topics."""

    def __init__(self, scenario: Any, **settings: Any) -> None:
        self.world = skerry.load(scenario)
        built = Ros.model_validate(settings).build()
        assert isinstance(built, RosInterface)
        self.ros, self.box = built, SubscriberQueue()
        self.runner = Runner(self.world, None, {"ros": built})
        self.runner.run(0.0)

    def run(self, seconds: float, *topics: str) -> dict[str, list[Any]]:
        """Return the messages of `seconds` seconds, by topic."""
        self.ros.bus.set_subscriptions(self.box, topics)
        found: dict[str, list[Any]] = {topic: [] for topic in topics}
        for _ in range(round(seconds * 10)):
            self.runner.run(0.1)
            for outgoing in self.box.drain(0):
                assert len(outgoing.cdr) > 4
                found[outgoing.topic.name].append(outgoing.message)
        return found

    def say(self, topic: str, **values: Any) -> None:
        bus = self.ros.bus
        bus.on_message(topic, bus.codec.make(bus.subscribed_type(topic), **values))


@pytest.fixture
def sam() -> Iterator[Graph]:
    graph = Graph("sam_in_the_bay")
    yield graph
    graph.runner.close()
    graph.world.close()


def seconds(message: Any) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def test_sam_says_and_hears_every_topic_of_the_smarc_simulator(sam: Graph) -> None:
    bus = sam.ros.bus
    found = {name: topic.type for name, topic in bus.topics.items()}
    assert {f"/sam/{name}": kind for name, (kind, _) in SAM_SAYS.items()}.items() <= found.items()
    for camera in ("down", "port", "starboard"):
        assert found[f"/sam/payload/cam_{camera}/image_raw"] == "sensor_msgs/msg/Image"
        assert found[f"/sam/payload/cam_{camera}/image_raw/compressed"] == "sensor_msgs/msg/CompressedImage"
        assert found[f"/sam/payload/cam_{camera}/camera_info"] == "sensor_msgs/msg/CameraInfo"
    heard = {name: bus.subscribed_type(name) for name in bus.subscriptions}
    assert {f"/sam/{name}": kind for name, kind in SAM_HEARS.items()}.items() <= heard.items()


def test_topics_come_at_their_rates_with_stamps_of_simulated_time(sam: Graph) -> None:
    found = sam.run(2.0, *(f"/sam/{name}" for name in SAM_SAYS), "/clock", "/tf")
    for name, (_, rate) in SAM_SAYS.items():
        if name != "mbes/map_gt/bathy_points":  # of a cloud, a slow peer has the latest only
            assert abs(len(found[f"/sam/{name}"]) - 2 * rate) <= 2, name
    clock = [message.clock.sec + 1e-9 * message.clock.nanosec for message in found["/clock"]]
    np.testing.assert_allclose(np.diff(clock), 0.01, atol=1e-9)
    assert len(found["/tf"]) == 20
    assert seconds(found["/sam/core/odom_gt"][-1]) == pytest.approx(2.0)


def test_the_clock_is_said_of_every_due_tick_at_a_pace_too_and_not_of_time_that_is_skipped(sam: Graph) -> None:
    sam.run(0.1)
    sam.runner.speed = 20.0
    sam.ros.bus.set_subscriptions(sam.box, ["/clock"])
    sam.runner.run(0.5)
    sam.runner.skip(1000)
    sam.runner.run(0.1)
    ticks = [round(200 * (out.message.clock.sec + 1e-9 * out.message.clock.nanosec)) for out in sam.box.drain(0)]
    assert ticks == [*range(22, 121, 2), *range(1122, 1141, 2)]


@pytest.mark.parametrize("speed", [None, 20.0])
def test_no_message_is_later_than_the_clock_and_transforms_come_before_readings(speed: float | None) -> None:
    fast = {"vehicle": "sam", "overrides": {"sensors": {"imu": {"frequency": 200}}}}
    graph = Graph({"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}, "robots": {"sam": fast}})
    with graph.world, graph.runner:
        topics = ("/sam/core/imu", "/sam/core/odom_gt", "/sam/core/dvl", "/tf", "/clock")
        graph.ros.bus.set_subscriptions(graph.box, topics)
        graph.runner.speed = speed
        now, transformed, counted = -1.0, -1.0, Counter[str]()
        for _ in range(20):
            graph.runner.run(0.035)  # ends between two due ticks of /clock
            for item in graph.box.drain(0):
                name, message = item.topic.name, item.message
                counted[name] += 1
                if name == "/clock":
                    now = message.clock.sec + 1e-9 * message.clock.nanosec
                    continue
                stamp = seconds(message.transforms[0] if name == "/tf" else message)
                assert stamp <= now
                if name == "/tf":
                    transformed = stamp
                elif name == "/sam/core/odom_gt":  # at the ticks of /tf
                    assert stamp <= transformed
        assert len(counted) == 5


def test_nothing_is_measured_that_nobody_takes(sam: Graph) -> None:
    sensors = sam.world.robots["sam"].sensors
    sam.run(0.2)
    assert sam.ros.subscriptions == frozenset()
    sam.run(0.2, "/sam/core/imu")
    assert sam.ros.subscriptions == {("sam", "imu")}
    assert [name for name, part in sensors.items() if part.deliver is not None] == ["imu"]
    assert sam.ros.bus.topics["/sam/core/dvl"].sent == 0
    sam.run(0.2)
    assert all(part.deliver is None for part in sensors.values())


def test_what_is_said_is_what_was_measured(sam: Graph) -> None:
    names = [
        "core/odom_gt",
        "core/battery",
        "core/depth300_pressure",
        "core/gps",
        "core/dvl",
        "dr/lat_lon",
        "core/heading",
    ]
    found = {name: sam.run(0.3, f"/sam/{name}")[f"/sam/{name}"][-1] for name in names}
    truth = sam.world.robots["sam"]
    odom = found["core/odom_gt"]
    assert (odom.header.frame_id, odom.child_frame_id) == ("map_gt", "sam/base_link_gt")
    assert odom.pose.pose.position.z == pytest.approx(truth.pose.position[2], abs=1)
    battery = found["core/battery"]
    assert 0.9 < battery.percentage <= 1.0
    assert 21.0 <= battery.voltage <= 25.2
    pressure = found["core/depth300_pressure"]
    assert 101325 < pressure.fluid_pressure < 150000
    fix = found["core/gps"]
    assert fix.status.status == -1  # no fix below the water, and no old place either
    assert np.isnan([fix.latitude, fix.longitude, fix.altitude]).all()
    dvl = found["core/dvl"]
    assert len(dvl.beams) == 4
    assert dvl.velocity_covariance[0] > 0
    assert dvl.beams[0].pose.header.frame_id == dvl.header.frame_id == "sam/dvl_link_gt"
    assert found["dr/lat_lon"].latitude == pytest.approx(58.823332, abs=1e-3)
    assert 0 <= found["core/heading"].data < 360


def test_beams_of_the_dvl_look_where_their_poses_say(sam: Graph) -> None:
    """The x axis of each beam's pose is its direction: 22.5° from straight down."""
    dvl = sam.run(0.3, "/sam/core/dvl")["/sam/core/dvl"][-1]
    for beam in dvl.beams:
        q = beam.pose.pose.orientation
        x = Pose([0, 0, 0], [q.x, q.y, q.z, q.w]).rotation[:, 0]
        assert np.degrees(np.arccos(-x[2])) == pytest.approx(22.5)


def test_a_gps_above_the_water_has_a_fix_with_its_covariance() -> None:
    scenario = {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {"sam": {"vehicle": "sam", "anchored": True, "pose": {"position": [0, 0, 2]}}},
    }
    graph = Graph(scenario)
    fix = graph.run(0.3, "/sam/core/gps")["/sam/core/gps"][-1]
    assert fix.status.status == 0
    assert fix.latitude == pytest.approx(58.8, abs=1e-3)
    assert fix.position_covariance[0] > 0
    assert fix.position_covariance_type == 2
    graph.world.close()


def test_commands_reach_actuators_and_feedback_comes_back(sam: Graph) -> None:
    robot = sam.world.robots["sam"]
    for _ in range(10):  # ten a second, as the watchdog wants at least two
        sam.say("/sam/core/thruster1_cmd", rpm=900)
        sam.say("/sam/core/vbs_cmd", value=80.0)
        sam.say("/sam/core/thrust_vector_cmd", thruster_vertical_radians=0.05, thruster_horizontal_radians=-0.1)
        found = sam.run(0.1, "/sam/core/thruster1_fb", "/sam/core/vbs_fb")
    assert robot.actuators["thruster1"].setpoint == 900
    assert robot.actuators["vbs"].setpoint == 80
    assert robot.actuators["thrust_vector_yaw"].setpoint == pytest.approx(-0.1)
    assert robot.actuators["thrust_vector_pitch"].setpoint == pytest.approx(0.05)
    assert robot.actuators["vbs"].owner == "external"
    assert found["/sam/core/thruster1_fb"][-1].rpm.rpm == pytest.approx(900, abs=5)
    feedback = found["/sam/core/thruster1_fb"][-1]
    assert feedback.header.frame_id == "sam/front_prop_link_gt"
    assert feedback.dc.dc == pytest.approx(900 / 1525, abs=0.01)
    assert feedback.torque == pytest.approx(robot.actuators["thruster1"].torque, rel=0.05)
    assert np.isnan(feedback.current)
    sam.run(0.7)
    assert robot.actuators["thruster1"].setpoint == 0  # silence resets


def test_a_command_that_is_no_number_is_not_obeyed(sam: Graph, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        sam.say("/sam/core/vbs_cmd", value=float("nan"))
        sam.run(0.1)
    assert sam.world.robots["sam"].actuators["vbs"].owner is None
    assert [record.getMessage() for record in caplog.records] == [
        "/sam/core/vbs_cmd: a command must be a number, not percent=nan"
    ]


def test_a_robot_can_be_teleported(sam: Graph, caplog: pytest.LogCaptureFixture) -> None:
    sam.say("/sam/teleport", position={"x": 10.0, "y": 20.0, "z": -4.0}, orientation={"w": 2.0})
    sam.run(0.1)
    assert sam.world.robots["sam"].pose.position == pytest.approx([10, 20, -4], abs=0.2)
    sam.say("/sam/teleport", orientation={"w": 0.0})  # no rotation at all; refused, and the world goes on
    sam.run(0.1)
    for _ in range(3):
        sam.say("/sam/teleport", position={"x": 6.5e6, "y": 20.0, "z": -4.0}, orientation={"w": 1.0})
        sam.run(0.1)
    assert sam.world.robots["sam"].pose.position == pytest.approx([10, 20, -4], abs=0.5)
    told = [record.message for record in caplog.records if "within 500 km" in record.message]
    assert len(told) == 1
    assert told[0].startswith("/sam/teleport: ")


def test_the_simulation_is_controlled_by_services(sam: Graph) -> None:
    bus = sam.ros.bus

    def call(name: str, **values: Any) -> Any:
        promise = bus.call(name, bus.codec.make(f"{bus.services[name].type}_Request", **values))
        sam.runner.inbox.execute(sam.runner)
        return promise.result()

    sam.run(0.5)
    assert call("/skerry/snapshot").success
    sam.run(0.5)
    assert call("/skerry/restore").success
    assert sam.world.time == pytest.approx(0.5)
    assert call("/skerry/reset").success
    assert sam.world.time == 0.0
    assert call("/skerry/trigger/sam/leak").success
    assert sam.run(0.5, "/sam/core/leak")["/sam/core/leak"][-1].value
    assert call("/skerry/pause", data=True).success
    assert sam.runner.paused
    assert call("/skerry/pause", data=False).success
    sam.say("/skerry/speed", data=3.0)
    sam.runner.inbox.execute(sam.runner)
    assert sam.runner.speed == 3.0
    assert call("/skerry/set_speed", speed=2.0).success
    assert sam.runner.speed == 2.0
    assert "above 0" in call("/skerry/set_speed", speed=-1.0).message
    assert call("/skerry/set_speed").success
    assert sam.runner.speed is None


def test_parameters_are_those_of_a_node_of_ros_2(sam: Graph) -> None:
    bus = sam.ros.bus

    def call(name: str, **values: Any) -> Any:
        request = bus.codec.make(f"{bus.services[f'/skerry/{name}'].type}_Request", **values)
        answer = bus.call(f"/skerry/{name}", request).result()
        return bus.codec.from_cdr(bus.codec.to_cdr(answer), answer.__msgtype__)

    zone, band, nothing = call("get_parameters", names=["utm_zone", "utm_band", "nothing"]).values
    assert (zone.type, zone.integer_value) == (2, 33)
    assert (band.type, band.string_value) == (4, "V")
    assert nothing.type == 0
    assert call("get_parameter_types", names=["utm_zone"]).types.tolist() == [2]
    assert call("list_parameters").result.names == ["utm_band", "utm_zone"]
    assert call("list_parameters", prefixes=["utm_z"]).result.names == ["utm_zone"]
    assert call("describe_parameters", names=["utm_zone"]).descriptors[0].read_only
    assert not call("set_parameters", parameters=[{"name": "utm_zone"}]).results[0].successful
    assert not call("set_parameters_atomically").result.successful


def test_there_is_nothing_to_restore_before_a_snapshot(sam: Graph) -> None:
    bus = sam.ros.bus
    with pytest.raises(SkerryError, match="snapshot"):
        bus.call("/skerry/restore", bus.codec.make("std_srvs/srv/Trigger_Request")).result()


# ------------------------------------------------------------------------------------------------ frames


def chain(graph: Graph) -> dict[str, tuple[str, Pose]]:
    """Each frame with its parent and its pose there."""
    found = graph.run(0.2, "/tf", "/tf_static")
    transforms = [item for message in found["/tf"][-1:] + found["/tf_static"] for item in message.transforms]
    edges = {}
    for item in transforms:
        t, q = item.transform.translation, item.transform.rotation
        assert item.child_frame_id not in edges, "a frame has two parents"
        edges[item.child_frame_id] = (item.header.frame_id, Pose([t.x, t.y, t.z], [q.x, q.y, q.z, q.w]))
    return edges


def pose_in(edges: dict[str, tuple[str, Pose]], frame: str, outer: str) -> Pose:
    pose = Pose.identity()
    while frame != outer:
        frame, step = edges[frame]
        pose = step @ pose
    return pose


def test_the_tree_reaches_from_utm_to_every_link(sam: Graph) -> None:
    edges = chain(sam)
    robot = sam.world.robots["sam"]
    for link in robot.links:
        pose = pose_in(edges, f"sam/{link}_gt", "map_gt")
        assert pose.position == pytest.approx(robot.link_pose(link).position, abs=1e-6), link
    way, frame = [], "sam/imu_link_gt"
    while frame in edges:
        way.append(frame)
        frame = edges[frame][0]
    wanted = ["sam/imu_link_gt", "sam/base_link_gt", "sam/odom_gt", "map_gt", "utm", "utm_33_V", "utm_ned"]
    assert [*way, frame] == wanted
    assert sam.ros.bus.parameters == {"/utm_zone": 33, "/utm_band": "V"}
    assert pose_in(edges, "map_gt", "utm").position[:2] == pytest.approx([652149.8, 6523374.6], abs=1)


def test_utm_ned_has_north_east_and_down_for_axes(sam: Graph) -> None:
    turned = pose_in(chain(sam), "utm", "utm_ned").rotation
    np.testing.assert_allclose(turned @ [1, 0, 0], [0, 1, 0], atol=1e-12)  # east is the second axis
    np.testing.assert_allclose(turned @ [0, 0, 1], [0, 0, -1], atol=1e-12)


def test_every_header_names_a_frame_of_the_tree(sam: Graph) -> None:
    edges = chain(sam)
    topics = [f"/sam/{name}" for name in SAM_SAYS]
    for name, messages in sam.run(0.4, *topics).items():
        if hasattr(messages[-1], "header"):
            assert messages[-1].header.frame_id in edges, name
    for camera in ("front", "down", "port", "starboard"):
        settings = sam.world.robots["sam"].vehicle.config.sensors[f"camera_{camera}"]
        assert sam.ros.frames.sensor("sam", f"camera_{camera}", settings) in edges


def test_a_camera_looks_along_z_of_its_frame(sam: Graph) -> None:
    edges = chain(sam)
    robot = sam.world.robots["sam"]
    for camera in ("front", "down", "port", "starboard"):
        settings = robot.vehicle.config.sensors[f"camera_{camera}"]
        frame = sam.ros.frames.sensor("sam", f"camera_{camera}", settings)
        looks = robot.link_pose(settings.link) @ settings.offset()
        np.testing.assert_allclose(pose_in(edges, frame, "map_gt").rotation[:, 2], looks.rotation[:, 0], atol=1e-5)


def test_frames_may_go_without_a_suffix_and_a_world_without_a_place_on_earth() -> None:
    graph = Graph({"robots": {"my torpedo": {"vehicle": "torpedo"}}}, frame_suffix="")
    edges = chain(graph)
    assert edges["my_torpedo/base_link"][0] == "my_torpedo/odom"
    assert "utm" not in {parent for parent, _ in edges.values()}
    graph.world.close()


# ------------------------------------------------------------------------------------------------ profiles


def test_the_calibration_of_a_camera_comes_with_the_stamps_of_its_images_and_renders_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered: list[float] = []
    measure = CameraSensor.measure_one

    def counted(self: CameraSensor, sample: Any, noise: Any) -> Any:
        rendered.append(sample.time)
        return measure(self, sample, noise)

    monkeypatch.setattr(CameraSensor, "measure_one", counted)
    camera = {"kind": "camera", "link": "base_link", "frequency": 15, "width": 16, "height": 12}
    graph = Graph({"robots": {"it": {"vehicle": "torpedo", "overrides": {"sensors": {"eye": camera}}}}})
    info, image = "/it/payload/eye/camera_info", "/it/payload/eye/image_raw"
    alone = graph.run(0.5, info)[info]
    assert graph.ros.bus.topics[info].sent == 4  # the first reading in each tenth of a second
    assert [seconds(message) for message in alone] == [0.2, 0.4]  # a slow peer has the latest only
    assert rendered == []
    assert (alone[0].width, alone[0].height, alone[0].k[2]) == (16, 12, 7.5)
    found = graph.run(0.5, info, image)
    assert [seconds(message) for message in found[info]] == [seconds(message) for message in found[image]]
    assert rendered
    graph.runner.close()
    graph.world.close()


def test_every_kind_of_sensor_and_actuator_is_spoken() -> None:
    profile = load_profile("smarc")
    for kind in SENSORS.kinds():
        rows = profile.sensor("any", "part", kind)
        assert rows, f"the profile has no row for sensors of kind {kind}"
        assert all(row.value or (kind, full_name(row.type)) in registered_types() for row in rows)
    for kind in ACTUATORS.kinds():
        assert profile.actuator("any", "part", kind).command is not None


@pytest.mark.parametrize(
    ("profile", "vehicle"),
    [*(("smarc", vehicle) for vehicle in shipped_vehicles()), *((name, "sam") for name in shipped_profiles())],
)
def test_every_vehicle_speaks_and_sam_every_profile(profile: str, vehicle: str) -> None:
    scenario = {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 30},
        "robots": {"it": {"vehicle": vehicle, "pose": {"position": [0, 0, -1]}}},
    }
    graph = Graph(scenario, profile=profile)
    small = [name for name, topic in graph.ros.bus.topics.items() if not topic.type.endswith(("Image", "CameraInfo"))]
    found = graph.run(1.2, *small)
    for (_, sensor), publishers in graph.ros.schedule.sensors.items():
        reading = graph.world.robots["it"].sensors[sensor].reading if publishers[0].topic.name in small else None
        for publisher in publishers:
            if reading is None:
                continue
            if publisher.encoder.encode(Readings.of(type(reading), [reading]), np.zeros(1)).message(0) is not None:
                assert found.get(publisher.topic.name, True), f"{publisher.topic.name} published nothing"
    tree = {item.child for item in graph.ros.frames.transforms()}
    for name, messages in found.items():
        header = getattr(messages[-1], "header", None) if messages else None
        assert header is None or header.frame_id in tree, f"{name} is in {header.frame_id}, which is no frame"
    graph.runner.close()
    graph.world.close()


def test_a_profile_of_ones_own_is_laid_over_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "extends: smarc\nvehicles: {sam: {sensors: {imu: [{topic: /fast, type: sensor_msgs/Imu, frequency: 20}]}}}\n"
    )
    graph = Graph("sam_empty", profile=str(file))
    assert len(graph.run(1.0, "/fast")["/fast"]) == 20
    assert "/sam/core/depth20_pressure" in graph.ros.bus.topics
    graph.world.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kinds: {sensors: {imu: [{topic: a, type: std_msgs/Bool}]}}", "cannot be published as"),
        ("kinds: {actuators: {propeller: {command: {topic: a, type: std_msgs/Bool, field: date}}}}", "no field"),
        (
            "kinds: {actuators: {propeller: {command: {topic: a, type: std_msgs/String, field: data}}}}",
            "not a single number",
        ),
        ("kinds: {sensors: {imu: [{topic: a, type: nothing/Imu}]}}", "cannot be published as"),
        (
            "kinds: {sensors: {pressure: [{topic: a, type: std_msgs/Float32, value: pressur}]}}",
            "no field 'pressur'; did you mean 'pressure'",
        ),
        ("kindes: {}", "kindes"),
        (
            "vehicles: {sam: {controllers: {autopilot: {calls: [{topic: a, type: std_msgs/Bool, method: dance,"
            " arguments: {}}]}}}}",
            "calls 'dance'",
        ),
    ],
)
def test_a_bad_profile_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(SkerryError, match=words):
        Graph("sam_empty", profile=str(file))
    with pytest.raises(SkerryError, match="smarc"):
        Graph("sam_empty", profile="smarcc")


def test_a_number_of_a_reading_may_be_a_topic_of_its_own() -> None:
    truth = {"sensors": {"truth": {"kind": "ground_truth", "link": "base_link", "frequency": 10}}}
    scenario = {
        "robots": {"it": {"vehicle": "sam", "pose": {"position": [0, 0, -3], "yaw_deg": 0}, "overrides": truth}}
    }
    graph = Graph({**scenario, "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}, profile="smarc-standard")
    found = graph.run(0.4, "/it/smarc/depth", "/it/smarc/heading", "/it/core/standard/leak")
    assert found["/it/smarc/depth"][-1].data == pytest.approx(3, abs=0.1)
    assert found["/it/smarc/heading"][-1].data == pytest.approx(90, abs=1)
    assert found["/it/core/standard/leak"][-1].data is False
    for _ in range(3):
        graph.say("/it/core/standard/thrust_vector_yaw_cmd", data=0.1)
        graph.say("/it/core/standard/thruster1_cmd", data=500.0)
        graph.run(0.1)
    assert graph.world.robots["it"].actuators["thrust_vector_yaw"].setpoint == pytest.approx(0.1)
    assert graph.world.robots["it"].actuators["thruster1"].setpoint == 500
    graph.world.close()


def test_definitions_of_ones_own_are_found_beside_the_scenario(tmp_path: Path) -> None:
    folder = tmp_path / "messages" / "my_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Turns.msg").write_text("float32 per_minute\nstd_msgs/Header header\n")
    (tmp_path / "mine.yaml").write_text(
        "extends: smarc\nkinds: {actuators: {propeller: {command: "
        "{topic: turns, type: my_msgs/Turns, field: per_minute}}}}\n"
    )
    (tmp_path / "scenario.yaml").write_text(
        "reference: {latitude_deg: 58, longitude_deg: 17}\nrobots: {it: {vehicle: otter}}\n"
        "interfaces: {ros: {kind: ros, message_paths: [messages], profile: mine.yaml}}\n"
    )
    with skerry.load(tmp_path / "scenario.yaml") as world:
        ros = world.scenario.interfaces["ros"].build()
        Runner(world, None, {"ros": ros}).run(0.1)
        assert "my_msgs/msg/Turns" in {ros.bus.subscribed_type(name) for name in ros.bus.subscriptions}
    (tmp_path / "scenario.yaml").write_text("interfaces: {ros: {kind: ros, message_paths: [nowhere]}}\n")
    with pytest.raises(SkerryError, match="no folder"):
        skerry.load(tmp_path / "scenario.yaml")


EARTH = {"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}


def test_the_evolo_is_steered_by_a_twist_of_knots_and_degrees() -> None:
    graph = Graph({**EARTH, "robots": {"evolo": {"vehicle": "evolo"}}})
    graph.say("/evolo_cmd", linear={"x": 10.0}, angular={"z": 5.0})
    graph.run(0.1)
    flight = graph.world.robots["evolo"].controllers["flight"]
    assert flight.speed_kn == pytest.approx(10)
    assert flight.roll_deg == pytest.approx(-5)  # to port, as a positive turn about z is
    graph.say("/evolo_cmd", linear={"x": float("nan")})
    graph.run(0.1)
    assert flight.speed_kn == pytest.approx(10)
    graph.world.close()


def test_the_drone_flies_to_a_moved_target() -> None:
    graph = Graph({**EARTH, "robots": {"drone": {"vehicle": "quadrotor", "pose": {"position": [0, 0, 5]}}}})
    graph.say("/drone/move_to_setpoint", position={"x": 1.0, "y": 2.0, "z": 6.0})
    graph.run(0.1)
    assert graph.world.robots["drone"].controllers["tracking"].target == pytest.approx([1, 2, 6])
    graph.world.close()


def test_a_scenario_is_checked_with_its_interfaces(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    text = "extends: sam_empty\ninterfaces: {ros: {kind: ros, profile: %s, transports: {it: {kind: rosbridge}}}}\n"
    file.write_text(text % "smarc")
    assert "1 robot " in check_file(str(file))
    file.write_text(text % "smark")
    with pytest.raises(SkerryError, match=r"interfaces\.ros: .*did you mean 'smarc'"):
        check_file(str(file))


def test_names_are_made_fit_for_ros() -> None:
    assert [ros_name(name) for name in ("sam", "my boat", "2nd", "Åsa")] == ["sam", "my_boat", "_2nd", "_sa"]


def test_robots_and_objects_come_and_go_by_service() -> None:
    reference = {"latitude_deg": 58.82, "longitude_deg": 17.63}
    graph = Graph({"reference": reference, "robots": {"it": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}}})
    bus, world = graph.ros.bus, graph.world
    before = {name: set(getattr(bus, name)) for name in ("subscriptions", "services", "actions")}

    def ask(verb: str, **values: Any) -> Any:
        service = bus.services[f"/skerry/{verb}"]
        promise = bus.call(service.name, bus.codec.make(f"{service.type}_Request", **values))
        promise.add_done_callback(lambda done: there.append({*bus.topics, *bus.subscriptions}))
        graph.runner.run(0.1)
        return promise.result(1.0)

    there: list[set[str]] = []  # topics when an answer came
    pose = {"position": {"x": 0.0, "y": 10.0, "z": -3.0}, "orientation": {"z": 1.0, "w": 0.0}}
    answer = ask("spawn", name="other", vehicle="sam", pose=pose)
    assert (answer.success, answer.message) == (True, "")
    ours = {name.replace("/it/", "/other/") for name in there[-1] if name.startswith("/it/")}
    assert ours <= there[-1]
    assert np.allclose(world.robots["other"].pose.orientation[2] ** 2, 1.0, atol=1e-3)
    assert ask("spawn", name="buoy", settings="prop: buoy_port\nmooring: null", pose=pose).success
    found = graph.run(1.0, "/other/core/odom_gt", "/it/core/odom_gt", "/tf", "/tf_static")
    assert len(found["/other/core/odom_gt"]) == len(found["/it/core/odom_gt"]) >= 9
    children = {item.child_frame_id for item in found["/tf"][-1].transforms}
    assert {"it/base_link_gt", "other/base_link_gt", "buoy_gt"} <= children
    graph.say("/other/core/thruster1_cmd", rpm=500)
    graph.runner.run(0.2)
    assert world.robots["other"].actuators["thruster1"].setpoint == 500.0
    assert not ask("spawn", name="it", vehicle="sam").success
    assert "sam" in ask("spawn", name="third", vehicle="smm").message
    assert "mapping" in str(bus.call("/skerry/spawn", _request(bus, name="x", settings="[1]")).exception())

    assert ask("delete", name="other").success
    assert ask("delete", name="buoy").success
    assert {name: set(getattr(bus, name)) for name in ("subscriptions", "services", "actions")} == before
    graph.box.drain(0)
    found = graph.run(0.5, "/other/core/odom_gt", "/it/core/odom_gt", "/tf")
    assert not found["/other/core/odom_gt"]
    assert found["/it/core/odom_gt"]
    assert "other/base_link_gt" not in {item.child_frame_id for item in found["/tf"][-1].transforms}
    graph.runner.close()
    world.close()


def _request(bus: Any, **values: Any) -> Any:
    return bus.codec.make("skerry_msgs/srv/Spawn_Request", **values)


@pytest.mark.parametrize(
    ("around", "kinds", "expected"),
    [
        (None, [], "humble"),
        ("jazzy", [], "humble"),  # a recording does not depend on the environment
        (None, ["dds"], "jazzy"),
        ("jazzy", ["dds"], "jazzy"),
        ("kilted", ["zenoh", "rosbridge"], "jazzy"),
        ("noetic", ["dds"], "jazzy"),
        ("noetic", ["endpoint"], "noetic"),
        ("dashing", ["endpoint"], "humble"),
        (None, ["tcpros"], "noetic"),
        ("jazzy", ["tcpros", "rosbridge"], "noetic"),
    ],
)
def test_the_distribution_is_that_of_the_environment_where_transports_can_be_of_it(
    monkeypatch: pytest.MonkeyPatch, around: str | None, kinds: list[str], expected: str
) -> None:
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    if around is not None:
        monkeypatch.setenv("ROS_DISTRO", around)
    transports = {kind: {"kind": kind} for kind in kinds}
    assert Ros(transports=transports).distribution == expected
    assert Ros(transports=transports, distribution="jazzy").distribution == "jazzy"
