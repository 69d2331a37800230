"""Types as ROS 1 knows them: sums and texts, against what ROS 1 itself has."""

from pathlib import Path

import pytest

from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry_ros1.types import Ros1Types

TYPES = Ros1Types(TypeStore(distribution="noetic"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("std_msgs/msg/Empty", "d41d8cd98f00b204e9800998ecf8427e"),
        ("std_msgs/msg/Header", "2176decaecbce78abc3b96ef049fabed"),  # with its number
        ("rosgraph_msgs/msg/Clock", "a9c97c1d230cfc112e270351a944ee47"),  # of a plain time
        ("sensor_msgs/msg/Imu", "6a62c6daae103f4ff57a132d6f95cec2"),  # of messages and fixed arrays
        ("sensor_msgs/msg/NavSatFix", "2d3a8cd499b9b4a0249fb98fd05cfa48"),  # of constants
        ("sensor_msgs/msg/CameraInfo", "c9a58c1b0b154e0e6da7578cb991d214"),  # of names that ROS 2 has changed
        ("tf2_msgs/msg/TFMessage", "94810edda583a504dfda3829e70d7eec"),  # of an array of messages
    ],
)
def test_messages_have_the_sums_of_ros_1(name: str, expected: str) -> None:
    """Expected values are the output of `rosmsg md5` of Noetic."""
    assert TYPES.md5(name) == expected


def test_services_have_the_sums_of_ros_1() -> None:
    """Expected values are the output of `rossrv md5` of Noetic."""
    assert TYPES.service_md5("std_srvs/srv/SetBool") == "09fb03525b03e7ea1fd3992bafd87e16"
    assert TYPES.service_md5("std_srvs/srv/Empty") == "d41d8cd98f00b204e9800998ecf8427e"


def test_a_text_has_all_that_a_message_refers_to_once() -> None:
    text = TYPES.definition("geometry_msgs/msg/PoseStamped")
    assert text.startswith("std_msgs/Header header\ngeometry_msgs/Pose pose\n====")
    parts = ["std_msgs/Header", "geometry_msgs/Pose", "geometry_msgs/Point", "geometry_msgs/Quaternion"]
    assert [line[5:] for line in text.splitlines() if line.startswith("MSG: ")] == parts
    assert "uint32 seq\ntime stamp\nstring frame_id" in text


def test_constants_count_as_they_are_written(tmp_path: Path) -> None:
    """The sum is what `genmsg` gives for this file: it keeps the text of the value."""
    folder = tmp_path / "my_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Shared.msg").write_text("float32 HALF = 0.50 # of it\nfloat32 share\n")
    types = Ros1Types(TypeStore([tmp_path], "noetic"))
    assert types.definition("my_msgs/msg/Shared") == "float32 HALF=0.50\nfloat32 share\n"
    assert types.md5("my_msgs/msg/Shared") == "4ba786b220f4a152c3beab32b8222b5c"


def test_only_what_begins_with_a_header_has_a_number_to_count() -> None:
    assert TYPES.has_header("sensor_msgs/msg/Imu")
    assert not TYPES.has_header("tf2_msgs/msg/TFMessage")
    assert not TYPES.has_header("std_msgs/msg/Empty")
