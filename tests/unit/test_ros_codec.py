"""The codec of ROS: the same bytes as `rosbags`, there and back, and no harm from bytes that mean nothing."""

import json
import struct
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.messages.codec import BadMessage, Codec
from skerry.interfaces.ros.messages.fast_encoders import FAST_ENCODERS
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.messages.types import NUMBERS, FieldType

CODEC = Codec(TypeStore(distribution="jazzy"))
THEIRS = get_typestore(Stores.ROS2_JAZZY)
ALL = [
    *CODEC.type_store.names("msg"),
    *(f"{name}{part}" for name in CODEC.type_store.names("srv") for part in ("_Request", "_Response")),
    *(
        f"{name}{part}"
        for name in CODEC.type_store.names("action")
        for part in ("_SendGoal_Request", "_GetResult_Response", "_FeedbackMessage")
    ),
]


A_FEW = settings(max_examples=25)
"""A message draws dozens of values, so few messages cover many values."""


@cache
def values_of(kind: FieldType) -> st.SearchStrategy[Any]:
    """Values of one field."""
    if kind.array:
        count = {"fixed": (kind.size, kind.size), "bounded": (0, min(kind.size, 3))}.get(kind.array, (0, 3))
        items = st.lists(values_of(FieldType(kind.base, limit=kind.limit)), min_size=count[0], max_size=count[1])
        dtype = {"bool": "bool_", "byte": "uint8", "char": "uint8"}.get(kind.base, kind.base)
        return items.map(lambda found: np.array(found, dtype)) if kind.is_number else items
    if kind.is_message:
        return messages(kind.base)
    if kind.base == "string":
        return st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=9)
    if kind.base == "bool":
        return st.booleans()
    if kind.base.startswith("float"):
        return st.floats(width=8 * NUMBERS[kind.base], allow_nan=False)  # type: ignore[arg-type]
    bits = 8 * NUMBERS[kind.base]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if kind.base.startswith("int") else (0, 2**bits)
    return st.integers(low, high - 1)


@cache
def messages(name: str) -> st.SearchStrategy[Any]:
    """Messages of a type."""
    fields = CODEC.type_store.message(name).fields
    filled = st.fixed_dictionaries(
        {field.name: st.deferred(lambda kind=field.type: values_of(kind)) for field in fields}
    )
    return filled.map(lambda values: CODEC.make(name, **values))


@pytest.mark.parametrize("name", ALL)
def test_every_message_comes_back_from_all_three_forms(name: str) -> None:
    message = CODEC.make(name)
    cdr = CODEC.to_cdr(message)
    assert CODEC.to_cdr(CODEC.from_cdr(cdr, name)) == cdr
    assert CODEC.to_cdr(CODEC.from_ros1(CODEC.to_ros1(message), name)) == cdr
    plain = json.loads(json.dumps(CODEC.to_json(message), allow_nan=False))
    assert CODEC.to_cdr(CODEC.from_json(plain, name)) == cdr


@pytest.mark.parametrize("name", sorted(FAST_ENCODERS))
@A_FEW
@given(data=st.data())
def test_a_template_gives_the_bytes_that_rosbags_gives(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name))
    assert CODEC.to_cdr(message) == bytes(THEIRS.serialize_cdr(message, name))


@pytest.mark.parametrize("name", ["nav_msgs/msg/Odometry", "sensor_msgs/msg/CameraInfo", "smarc_msgs/msg/DVL"])
@A_FEW
@given(data=st.data())
def test_messages_come_back_whole(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name))
    cdr = CODEC.to_cdr(message)
    assert CODEC.to_cdr(CODEC.from_cdr(cdr, name)) == cdr
    assert CODEC.to_cdr(CODEC.from_ros1(CODEC.to_ros1(message), name)) == cdr


def test_ros_1_has_a_sequence_number_in_its_headers() -> None:
    """std_msgs/Header of ROS 1 is uint32 seq, time stamp, string frame_id, without padding."""
    message = CODEC.make("sensor_msgs/FluidPressure", header={"stamp": {"sec": 3, "nanosec": 4}, "frame_id": "a"})
    assert CODEC.to_ros1(message) == struct.pack("<IIII", 0, 3, 4, 1) + b"a" + struct.pack("<dd", 0, 0)


def test_an_empty_message_is_one_byte_in_ros_2_and_none_in_ros_1() -> None:
    message = CODEC.make("std_msgs/Empty")
    assert CODEC.to_cdr(message) == b"\x00\x01\x00\x00\x00"
    assert CODEC.to_ros1(message) == b""
    assert CODEC.to_json(message) == {}
    with pytest.raises(BadMessage):
        CODEC.from_ros1(b"\x00", "std_msgs/Empty")


def test_a_message_is_made_of_what_is_known_and_zeros() -> None:
    pose = CODEC.make("geometry_msgs/PoseStamped", pose={"position": {"x": 2.0}})
    assert (pose.pose.position.x, pose.pose.position.y, pose.pose.orientation.w, pose.header.frame_id) == (2, 0, 1, "")
    with pytest.raises(SkerryError, match="did you mean 'pose'"):
        CODEC.make("geometry_msgs/PoseStamped", posse=1)
    assert CODEC.constant("sensor_msgs/NavSatStatus", "STATUS_NO_FIX") == -1
    with pytest.raises(SkerryError, match="STATUS_FIX"):
        CODEC.constant("sensor_msgs/NavSatStatus", "STATUS_FIXX")


def test_json_has_bytes_in_base64_and_null_for_no_number() -> None:
    image = CODEC.make("sensor_msgs/Image", data=np.array([1, 2, 255], np.uint8))
    assert CODEC.to_json(image)["data"] == "AQL/"
    assert CODEC.from_json({"data": [1, 2, 255]}, "sensor_msgs/Image").data.tolist() == [1, 2, 255]
    assert CODEC.to_json(CODEC.make("std_msgs/Float64", data=float("nan"))) == {"data": None}
    assert np.isnan(CODEC.from_json({"data": None}, "std_msgs/Float64").data)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("std_msgs/Float64", 5),
        ("std_msgs/Float64", {"date": 5}),
        ("std_msgs/Float64", {"data": "5"}),
        ("std_msgs/Float64", {"data": 10**400}),
        ("std_msgs/Int8", {"data": 128}),
        ("std_msgs/Int8", {"data": 0.5}),
        ("std_msgs/UInt8", {"data": -1}),
        ("std_msgs/Bool", {"data": 1}),
        ("std_msgs/String", {"data": 1}),
        ("sensor_msgs/Image", {"data": "§"}),
        ("sensor_msgs/Imu", {"orientation_covariance": [1, 2]}),
        ("sensor_msgs/Imu", {"orientation": [1, 2]}),
        ("nav_msgs/Path", {"poses": {"a": 1}}),
    ],
)
def test_json_that_is_no_such_message_is_refused(name: str, values: Any) -> None:
    with pytest.raises(BadMessage):
        CODEC.from_json(values, name)


@pytest.mark.parametrize(
    "name", ["sensor_msgs/msg/Image", "tf2_msgs/msg/TFMessage", "smarc_msgs/msg/DVL", "std_msgs/msg/Empty"]
)
@given(junk=st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda tail: b"\x00\x01\x00\x00" + tail)))
def test_junk_is_a_message_or_refused(name: str, junk: bytes) -> None:
    for read in (CODEC.from_cdr, CODEC.from_ros1):
        with suppress(BadMessage):
            read(junk, name)


@pytest.mark.parametrize("name", ["sensor_msgs/msg/JointState", "nav_msgs/msg/Path", "sensor_msgs/msg/CameraInfo"])
@A_FEW
@given(data=st.data())
def test_bytes_of_either_order_are_read_as_rosbags_wrote_them(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name))
    for little_endian in (True, False):
        theirs = bytes(THEIRS.serialize_cdr(message, name, little_endian=little_endian))
        assert CODEC.to_cdr(CODEC.from_cdr(theirs, name)) == CODEC.to_cdr(message)


CDR = b"\x00\x01\x00\x00"
MANY = struct.pack("<I", 0x7FFFFFFF)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("std_msgs/String", CDR + MANY + b"abc", "2147483647 items, but only"),
        ("std_msgs/String", CDR + struct.pack("<I", 3) + b"abc", "does not end with a zero"),
        ("std_msgs/String", CDR + struct.pack("<I", 0), "does not end with a zero"),
        ("std_msgs/String", CDR + struct.pack("<I", 2) + b"\xff\x00", "can't decode"),
        ("std_msgs/Float64", CDR + b"1234", "ends too soon"),
        ("std_msgs/Float64", CDR + bytes(12), "4 bytes remain"),
        ("std_msgs/Float64", b"\x00\x03\x00\x00" + bytes(8), "not those of plain CDR"),
        ("std_msgs/Float64", b"", "not those of plain CDR"),
        ("tf2_msgs/TFMessage", CDR + MANY + bytes(64), "2147483647 items, but only"),
        ("std_msgs/ByteMultiArray", CDR + bytes(8) + MANY + bytes(3), "2147483647 items, but only"),
        ("sensor_msgs/JointState", CDR + bytes(8) + struct.pack("<I", 1) + bytes(4) + MANY, "but only"),
    ],
)
def test_bytes_that_are_no_such_message_are_refused_in_words(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(BadMessage, match=reason):
        CODEC.from_cdr(data, name)


def test_a_length_beyond_the_bytes_of_ros_1_is_refused() -> None:
    for name in ("std_msgs/String", "tf2_msgs/TFMessage", "std_msgs/ByteMultiArray"):
        with pytest.raises(BadMessage, match="but only"):
            CODEC.from_ros1(MANY + b"abc", name)
    with pytest.raises(BadMessage, match="1 bytes remain"):
        CODEC.from_ros1(b"\x00", "std_msgs/Empty")
