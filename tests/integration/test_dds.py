"""What Skerry says on DDS, without DDS: names, headers of calls, and the list of a node's endpoints."""

import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.messages.codec import BadMessage, Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.dds import Dds
from skerry.interfaces.ros.transports.dds.names import (
    join_call,
    participant_info,
    reply_of,
    request_of,
    split_call,
    topic_of,
    type_of,
)
from skerry.runner import Runner

CODEC = Codec(TypeStore())


def test_names_are_those_of_ros_2() -> None:
    # https://design.ros2.org/articles/topic_and_service_names.html, and rmw_cyclonedds for the types
    assert topic_of("/sam/core/imu") == "rt/sam/core/imu"
    assert request_of("/skerry/pause") == "rq/skerry/pauseRequest"
    assert reply_of("/skerry/pause") == "rr/skerry/pauseReply"
    assert type_of("sensor_msgs/msg/Imu") == "sensor_msgs::msg::dds_::Imu_"
    assert type_of("std_srvs/srv/SetBool_Request") == "std_srvs::srv::dds_::SetBool_Request_"


def test_a_call_has_its_header_before_its_fields() -> None:
    header, cdr = bytes(range(16)), b"\x00\x01\x00\x00fields"
    joined = join_call(header, cdr)
    assert joined == b"\x00\x01\x00\x00" + header + b"fields"
    assert split_call(joined) == (header, cdr)


@pytest.mark.parametrize(("store", "size"), [(Stores.ROS2_HUMBLE, 24), (Stores.ROS2_JAZZY, 16)])
def test_the_list_of_endpoints_is_read_by_rosbags(store: Stores, size: int) -> None:
    guids = [bytes([number] * 16) for number in range(4)]
    data = participant_info(guids[0], "/", "skerry", guids[1:3], guids[3:], size)
    found = get_typestore(store).deserialize_cdr(data, "rmw_dds_common/msg/ParticipantEntitiesInfo")
    assert bytes(found.gid.data)[:16] == guids[0]
    (node,) = found.node_entities_info_seq
    assert (node.node_namespace, node.node_name) == ("/", "skerry")
    assert [bytes(gid.data)[:16] for gid in node.reader_gid_seq] == guids[1:3]
    assert [bytes(gid.data)[:16] for gid in node.writer_gid_seq] == guids[3:]


def test_the_domain_is_that_of_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    assert Dds().number == 0
    monkeypatch.setenv("ROS_DOMAIN_ID", "42")
    assert Dds().number == 42
    assert Dds(domain=7).number == 7
    monkeypatch.setenv("ROS_DOMAIN_ID", "my own")
    with pytest.raises(SkerryError, match="integer from 0 to 232"):
        _ = Dds().number


def test_a_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cyclonedds.core", None)
    monkeypatch.delitem(sys.modules, "skerry.interfaces.ros.transports.dds.cyclone", raising=False)
    monkeypatch.delattr("skerry.interfaces.ros.transports.dds.cyclone", raising=False)
    ros = Ros(transports={"dds": {"kind": "dds"}}).build()
    with (
        skerry.load("sam_empty") as world,
        Runner(world, None, {"ros": ros}) as runner,
        pytest.raises(SkerryError, match=r"pip install 'skerry\[ros\]'"),
    ):
        runner.run(0.1)


def test_ros_1_is_not_spoken_over_dds() -> None:
    pytest.importorskip("cyclonedds")
    ros = Ros(transports={"dds": {"kind": "dds"}}, distribution="noetic").build()
    with (
        skerry.load("sam_empty") as world,
        Runner(world, None, {"ros": ros}) as runner,
        pytest.raises(SkerryError, match="use `endpoint`"),
    ):
        runner.run(0.1)


@given(st.binary(max_size=60), st.sampled_from(["std_srvs/srv/SetBool_Request", "std_srvs/srv/Trigger_Response"]))
def test_a_call_that_is_cut_short_is_refused(junk: bytes, name: str) -> None:
    header, message = split_call(junk)
    assert len(header) <= 16
    with suppress(BadMessage):
        CODEC.from_cdr(message, name)
