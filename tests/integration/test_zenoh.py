"""What Skerry says on Zenoh, without Zenoh: keys, tokens, what goes along with messages, and what comes from peers.

The literal words and bytes are those of rmw_zenoh: `docs/design.md`, and `rmw_zenoh_cpp/src/detail` where it is named.
"""

import sys
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Qos
from skerry.interfaces.ros.messages.codec import BadMessage, Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.zenoh import SERVICE_QOS, Zenoh
from skerry.interfaces.ros.transports.zenoh.names import (
    EntityName,
    LivelinessToken,
    attachment_of,
    quality_of,
    read_attachment,
    tokens_of,
)
from skerry.interfaces.ros.transports.zenoh.work_queue import WorkQueue
from skerry.runner import Runner

HUMBLE, JAZZY = TypeStore(), TypeStore(distribution="jazzy")
STRING = "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
TALKER = f"@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/{STRING}/::,7:,:,:,,"
LISTENER = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
ADDING = "example_interfaces::srv::dds_::AddTwoInts_"
HASH_OF_ADDING = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
SERVER = (
    "@ros2_lv/2/f9980ee0495eaafb3e38f0d19e2eae12/0/10/SS/%/%/add_two_ints_server/%add_two_ints/"
    f"{ADDING}/{HASH_OF_ADDING}/::,10:,:,:,,"
)


# ------------------------------------------------------------------------------------------------ what we say


def test_keys_are_those_of_rmw_zenoh() -> None:
    assert EntityName.of(JAZZY, "/chatter", "std_msgs/msg/String").key(2) == f"2/chatter/{STRING}"
    # strip_slashes of liveliness_utils.cpp leaves slashes within; TypeHashNotSupported is what its branch humble says
    named = EntityName.of(HUMBLE, "/sam/core/imu", "sensor_msgs/msg/Imu")
    assert named.key(0) == "0/sam/core/imu/sensor_msgs::msg::dds_::Imu_/TypeHashNotSupported"
    # rmw_service_data.cpp: the type of the answer without `Response_`
    assert EntityName.of(HUMBLE, "/skerry/pause", "std_srvs/srv/SetBool").type == "std_srvs::srv::dds_::SetBool_"
    goal = EntityName.of(HUMBLE, "/go/_action/send_goal", "smarc_msgs/action/GotoWaypoint_SendGoal")
    assert goal.key(0) == (
        "0/go/_action/send_goal/smarc_msgs::action::dds_::GotoWaypoint_SendGoal_/TypeHashNotSupported"
    )


def test_tokens_are_those_of_rmw_zenoh() -> None:
    # the examples of docs/design.md
    assert str(LivelinessToken(2, "aac3178e146ba6f1fc6e6a4085e77f21", 0, "NN", "/listener")) == LISTENER
    chatter = EntityName.of(JAZZY, "/chatter", "std_msgs/msg/String")
    depth = quality_of(Qos(depth=7))
    assert str(LivelinessToken(2, "8b20917502ee955ac4476e0266340d5c", 10, "MP", "/talker", chatter, depth)) == TALKER
    adding = EntityName("/add_two_ints", ADDING, HASH_OF_ADDING)
    session = "f9980ee0495eaafb3e38f0d19e2eae12"
    assert str(LivelinessToken(2, session, 10, "SS", "/add_two_ints_server", adding, quality_of(SERVICE_QOS))) == SERVER
    assert str(LivelinessToken(0, "1a", 0, "NN")) == "@ros2_lv/0/1a/0/0/NN/%/%/skerry"
    assert str(LivelinessToken(0, "1a", 0, "NN", "/sam/ctrl/helm")) == "@ros2_lv/0/1a/0/0/NN/%/%sam%ctrl/helm"
    assert tokens_of(7) == "@ros2_lv/7/**"


@pytest.mark.parametrize(
    ("qos", "text"),
    [  # qos_to_keyexpr, with the defaults of qos.cpp: reliable, volatile, the last 42
        (Qos(depth=10), "::,10:,:,:,,"),
        (Qos(depth=42), "::,:,:,:,,"),
        (Qos(reliable=False, depth=5), "2::,5:,:,:,,"),
        (LATCHED, ":1:,1:,:,:,,"),
    ],
)
def test_quality_is_told_as_what_differs_from_the_defaults(qos: Qos, text: str) -> None:
    assert quality_of(qos) == text


def test_attachments_are_those_of_rmw_zenoh() -> None:
    # docs/design.md: int64, int64, the length of the GID in one byte, the GID; little-endian
    gid = bytes(range(16))
    data = attachment_of(258, 1_700_000_000_000_000_000, gid)
    assert data.hex() == "0201000000000000" + "00002a36fe9c9717" + "10" + "000102030405060708090a0b0c0d0e0f"
    assert read_attachment(data) == (258, gid)


def test_who_sends_is_known_by_the_hash_of_its_token() -> None:
    pytest.importorskip("zenoh")
    from skerry.interfaces.ros.transports.zenoh.session import gid_of

    # XXH3-128 of nothing is 99aa06d3014798d86001c324468d497f (xxHash's own sanity test); the lower half goes first,
    # as liveliness_utils.cpp copies it
    assert gid_of("").hex() == "7f498d4624c30160" + "d8984701d306aa99"
    assert len({gid_of(TALKER), gid_of(SERVER)}) == 2


# ------------------------------------------------------------------------------------------------ what comes


def test_tokens_of_peers_are_read() -> None:
    talker = LivelinessToken.parse(TALKER)
    assert (talker.kind, talker.node, talker.number) == ("MP", "/talker", 10)
    assert talker.named == EntityName.of(JAZZY, "/chatter", "std_msgs/msg/String")
    assert str(talker) == TALKER
    assert LivelinessToken.parse(LISTENER).named is None
    # since 0.10.5, more may follow
    assert LivelinessToken.parse(f"{TALKER}/cpu").named == talker.named


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@ros2_lv",
        "@ros2_lv/2//0/0/NN/%/%/listener",
        LISTENER.replace("@ros2_lv", "@adv"),
        LISTENER.replace("/NN/", "/XX/"),
        LISTENER.replace("/2/", "/two/"),
        LISTENER.replace("/2/", "/²/"),
        LISTENER.replace("/NN/", "/MP/"),
    ],
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(BadMessage):
        LivelinessToken.parse(text)


@given(st.text() | st.lists(st.sampled_from([*TALKER.split("/"), "", "%", "²", "0"]), max_size=20).map("/".join))
def test_a_token_is_read_or_refused(text: str) -> None:
    with suppress(BadMessage):
        token = LivelinessToken.parse(text)
        assert LivelinessToken.parse(str(token)).kind == token.kind


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(33),
        attachment_of(1, 2, bytes(16))[:-1],
        attachment_of(1, 2, bytes(24)),
        # before April 2025 words stood before the values
        b"\x0fsequence_number" + bytes(8) + b"\x10source_timestamp" + bytes(8) + b"\x0asource_gid\x10" + bytes(16),
    ],
)
def test_what_does_not_say_which_call_it_is_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage, match="attachment of the call"):
        read_attachment(data)


@given(st.binary(max_size=64) | st.binary(min_size=33, max_size=33))
def test_an_attachment_is_read_or_refused(data: bytes) -> None:
    with suppress(BadMessage):
        number, gid = read_attachment(data)
        assert attachment_of(number, int.from_bytes(data[8:16], "little", signed=True), gid) == data


CODEC = Codec(JAZZY)


@given(
    st.binary(max_size=200).map(lambda body: b"\0\1\0\0" + body) | st.binary(max_size=200),
    st.sampled_from(["std_srvs/srv/SetBool_Request", "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/Imu"]),
)
def test_a_payload_is_read_or_refused(data: bytes, name: str) -> None:
    with suppress(BadMessage):
        CODEC.from_cdr(data, name)


def test_of_what_comes_too_fast_the_latest_is_kept() -> None:
    queue = WorkQueue()
    done: list[int] = []
    for number in range(500):
        queue.put("/cmd", lambda number=number: done.append(number))  # type: ignore[misc]
    queue.put("/other", lambda: done.append(-1))
    for _, task in queue.drain(0.0):
        task()
    assert sorted(done) == [-1, *range(400, 500)]
    assert queue.drain(0.0) == []
    queue.wake()
    assert queue.drain(60.0) == []


# ------------------------------------------------------------------------------------------------ settings


def test_it_stays_on_this_machine_unless_told() -> None:
    assert (Zenoh().connects_to, Zenoh().listens_at) == (("tcp/127.0.0.1:7447",), ("tcp/127.0.0.1:0",))
    assert (Zenoh(mode="client").connects_to, Zenoh(mode="client").listens_at) == (("tcp/127.0.0.1:7447",), ())
    assert (Zenoh(router=True).connects_to, Zenoh(router=True).listens_at) == ((), ("tcp/127.0.0.1:7447",))
    given = Zenoh(router=True, connect=("tcp/10.0.0.1:7447",), listen=("tcp/0.0.0.0:7447",))
    assert (given.connects_to, given.listens_at) == (("tcp/10.0.0.1:7447",), ("tcp/0.0.0.0:7447",))
    assert not Zenoh().multicast
    with pytest.raises(ValidationError, match="should match pattern"):
        Zenoh(connect=("127.0.0.1:7447",))


def test_the_domain_is_that_of_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "42")
    assert Zenoh().number == 42
    assert Zenoh(domain=7).number == 7


def test_errors_of_zenoh_are_told_without_places_in_its_code() -> None:
    pytest.importorskip("zenoh")
    from skerry.interfaces.ros.transports.zenoh.session import reason

    error = "Unable to connect to any of [tcp/127.0.0.1:1]!  at /x/zenoh/src/net/runtime/orchestrator.rs:447."
    assert reason(ValueError(error)) == "Unable to connect to any of [tcp/127.0.0.1:1]!"


def test_a_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zenoh", None)
    monkeypatch.delitem(sys.modules, "skerry.interfaces.ros.transports.zenoh.session", raising=False)
    monkeypatch.delattr("skerry.interfaces.ros.transports.zenoh.session", raising=False)
    ros = Ros(transports={"zenoh": {"kind": "zenoh"}}).build()
    with (
        skerry.load("sam_empty") as world,
        Runner(world, None, {"ros": ros}) as runner,
        pytest.raises(SkerryError, match=r"pip install 'skerry\[zenoh\]'"),
    ):
        runner.run(0.1)


def test_ros_1_is_not_spoken_over_zenoh() -> None:
    pytest.importorskip("zenoh")
    before = set(threading.enumerate())
    node = Zenoh().build()
    with pytest.raises(SkerryError, match="use `endpoint`"):
        node.start(Bus(Codec(TypeStore(distribution="noetic"))))
    node.close()
    assert set(threading.enumerate()) == before
