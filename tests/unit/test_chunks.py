"""Chunks of recordings: what the reader of the package `mcap` finds in them, and in which order."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader

from skerry.interfaces.recorder.chunks import Piece, chunks_of
from skerry.interfaces.recorder.mcap_file import McapFile, record
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

SCHEMA = Schema(id=1, data=b"", encoding="ros2msg", name="std_msgs/msg/Empty")
CHANNELS = [Channel(id=k, topic=f"/{k}", message_encoding="cdr", metadata={}, schema_id=1) for k in range(1, 4)]
SAID = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3]),
        st.lists(st.tuples(st.integers(0, 5), st.none() | st.binary(min_size=1, max_size=40)), min_size=1, max_size=5),
    ),
    min_size=1,
    max_size=8,
).filter(lambda said: any(data for _, messages in said for _, data in messages))


@given(SAID, st.sampled_from([1, 100, 10_000]))
def test_messages_stand_in_the_order_of_time_and_those_of_one_time_as_they_were_said(
    said: list[tuple[int, list[tuple[int, bytes | None]]]], most: int
) -> None:
    pieces = [
        Piece(
            channel,
            np.array([time for time, _ in messages], np.int64),
            [(turn, len(messages))],
            EncodedBatch.from_messages([data for _, data in messages]),
        )
        for turn, (channel, messages) in enumerate(said)
    ]
    stream, counts = BytesIO(), np.array([0, 10, 20, 30])
    file = McapFile(stream, "lz4", "ros2", "test")
    head = b"".join(map(record, [SCHEMA, *CHANNELS]))
    for chunk in chunks_of(pieces, counts, most, head):
        file.add_chunk(chunk)
    file.finish([SCHEMA], CHANNELS)
    expected = sorted(
        ((time, channel, data) for channel, messages in said for time, data in messages if data is not None),
        key=lambda message: message[0],
    )
    stream.seek(0)
    found = [record for record in StreamReader(stream, validate_crcs=True).records if isinstance(record, Message)]
    assert [(message.log_time, message.channel_id, message.data) for message in found] == expected
    for channel in (1, 2, 3):
        numbers = [message.sequence for message in found if message.channel_id == channel]
        assert numbers == list(range(10 * channel + 1, 10 * channel + 1 + len(numbers)))
        assert counts[channel] == 10 * channel + len(numbers)
        stream.seek(0)
        by_index = make_reader(stream, validate_crcs=True).iter_messages(topics=[f"/{channel}"])
        assert [(message.log_time, found_in.id, message.data) for _, found_in, message in by_index] == [
            message for message in expected if message[1] == channel
        ]


def test_messages_are_packed_and_come_back() -> None:
    messages = [b"one", None, b"three", None]
    packed = EncodedBatch.from_messages(messages)
    assert packed.data.tobytes() == b"onethree"
    assert packed.messages() == messages
    assert packed.masked(np.array([False, True, True, True])).messages() == [None, None, b"three", None]
    others = EncodedBatch.from_messages([b"1", b"2", None, None])
    assert packed.filled_from(others).messages() == [b"one", b"2", b"three", None]
    assert others.filled_from(packed).messages() == [b"1", b"2", b"three", None]
