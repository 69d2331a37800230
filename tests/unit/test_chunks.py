"""Chunks of recordings as the reader of the package `mcap` reads them: content and order."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader

from skerry.interfaces.recorder.chunks import ChannelMessages, make_chunks
from skerry.interfaces.recorder.mcap_file import McapFile, encode_record
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

SCHEMA = Schema(id=1, data=b"", encoding="ros2msg", name="std_msgs/msg/Empty")
CHANNELS = [Channel(id=k, topic=f"/{k}", message_encoding="cdr", metadata={}, schema_id=1) for k in range(1, 4)]
PUBLISHED = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3]),
        st.lists(st.tuples(st.integers(0, 5), st.none() | st.binary(min_size=1, max_size=40)), min_size=1, max_size=5),
    ),
    min_size=1,
    max_size=8,
).filter(lambda published: any(data for _, messages in published for _, data in messages))


@given(PUBLISHED, st.sampled_from([1, 100, 10_000]))
def test_messages_are_in_the_order_of_time_and_then_of_publication(
    published: list[tuple[int, list[tuple[int, bytes | None]]]], max_size: int
) -> None:
    groups = [
        ChannelMessages(
            channel,
            np.array([time for time, _ in messages], np.int64),
            [(number, len(messages))],
            EncodedBatch.from_messages([data for _, data in messages]),
        )
        for number, (channel, messages) in enumerate(published)
    ]
    stream, counts = BytesIO(), np.array([0, 10, 20, 30])
    file = McapFile(stream, "lz4", "ros2", "test")
    head = b"".join(map(encode_record, [SCHEMA, *CHANNELS]))
    for chunk in make_chunks(groups, counts, max_size, head):
        file.add_chunk(chunk)
    file.finish([SCHEMA], CHANNELS)
    expected = sorted(
        ((time, channel, data) for channel, messages in published for time, data in messages if data is not None),
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


def test_messages_are_packed_and_unpacked() -> None:
    messages = [b"one", None, b"three", None]
    packed = EncodedBatch.from_messages(messages)
    assert packed.data.tobytes() == b"onethree"
    assert packed.messages() == messages
    assert [packed.message(row) for row in range(4)] == messages
    others = EncodedBatch.from_messages([b"1", None, b"2"])
    assert EncodedBatch.concat([packed, others]).messages() == [*messages, b"1", None, b"2"]
    rows = np.array([False, True, True, False, True, True, False])
    assert packed.spread(rows, others).messages() == [b"1", b"one", None, None, b"three", None, b"2"]
    assert EncodedBatch.absent(2).messages() == [None, None]
    single = bytes([1, 2])
    assert EncodedBatch.from_messages([single]).message(0) is single  # large messages are not copied
