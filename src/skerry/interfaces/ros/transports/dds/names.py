"""Names of ROS 2 entities on DDS, as in rmw_cyclonedds, and the discovery message of a node."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

DISCOVERY: Final = "ros_discovery_info"
DISCOVERY_TYPE: Final = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
# Type hash of rmw_dds_common/msg/ParticipantEntitiesInfo in Jazzy, as sent by its nodes.
DISCOVERY_HASH: Final = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"
GID_BYTES: Final = {"humble": 24, "jazzy": 16}
"""Length of rmw_dds_common/msg/Gid in each distribution."""
HEADER: Final = 16
"""Bytes before the fields of a request or response, with the ids of client and call; specific to rmw_cyclonedds."""


def topic_of(name: str) -> str:
    """Return the DDS topic of a topic."""
    return f"rt{name}"


def request_of(name: str) -> str:
    """Return the DDS topic of a service's requests."""
    return f"rq{name}Request"


def reply_of(name: str) -> str:
    """Return the DDS topic of a service's responses."""
    return f"rr{name}Reply"


def type_of(name: str) -> str:
    """Return the DDS type of a message: sensor_msgs/msg/Imu becomes sensor_msgs::msg::dds_::Imu_."""
    package, folder, short = name.split("/")
    return f"{package}::{folder}::dds_::{short}_"


def split_call(cdr: bytes) -> tuple[bytes, bytes]:
    """Return the header of a request or response, and its message as CDR."""
    return cdr[4 : 4 + HEADER], cdr[:4] + cdr[4 + HEADER :]


def join_call(header: bytes, cdr: bytes) -> bytes:
    """Return a request or response with its header, whose 16 bytes do not change the alignment."""
    return cdr[:4] + header + cdr[4:]


def participant_info(
    participant: bytes, namespace: str, node: str, readers: Sequence[bytes], writers: Sequence[bytes], gid_bytes: int
) -> bytes:
    """Return a rmw_dds_common/msg/ParticipantEntitiesInfo as CDR, which lists the endpoints of one node."""
    data = bytearray(_gid(participant, gid_bytes))
    _number(data, 1)
    for text in (namespace, node):
        encoded = text.encode() + b"\0"
        _number(data, len(encoded))
        data += encoded
    for gids in (readers, writers):
        _number(data, len(gids))
        for gid in gids:
            data += _gid(gid, gid_bytes)
    return b"\x00\x01\x00\x00" + bytes(data)


def _gid(guid: bytes, size: int) -> bytes:
    return guid.ljust(size, b"\0")


def _number(data: bytearray, value: int) -> None:
    data += bytes(-len(data) % 4) + struct.pack("<I", value)
