"""Chunks of MCAP records (https://mcap.dev/spec) from messages of many topics in the order of time, by native code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

HEADER_SIZE: Final = 31
"""Bytes before a message: opcode 1, length 8, channel 2, sequence 4, two times of 8."""
_UNCOUNTED: Final = 9  # bytes of the header that its length excludes: opcode and length
_MESSAGE: Final = 5  # opcode of a message record


@dataclass(frozen=True, eq=False, slots=True)
class ChannelMessages:
    """Messages of one channel."""

    channel: int
    times: NDArray[np.int64]
    """Time of each message, ns."""
    order: list[tuple[int, int]]
    """Pairs of sequence number of publication and number of messages; they order messages with equal times."""
    messages: EncodedBatch


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Records of messages as bytes, with channel, time, ns, and offset in the bytes of each message."""

    records: NDArray[np.uint8]
    channels: NDArray[np.int64]
    times: NDArray[np.int64]
    offsets: NDArray[np.int64]


@kernel
def _write_number(out: Any, offset: int, size: int, number: int) -> None:
    """Write a little-endian number of `size` bytes."""
    for k in range(size):
        out[offset + k] = number >> (8 * k) & 0xFF


@kernel
def _write_messages(
    data: Any, starts: Any, sizes: Any, channels: Any, times: Any, offsets: Any, counts: Any, out: Any
) -> None:
    """Write the records of messages.

    Args:
        data: Bytes of all messages.
        starts: Offset of each message in `data`.
        sizes: Size of each message.
        channels: Channel of each message.
        times: Time of each message, ns.
        offsets: Offset of each record in `out`.
        counts: Number of messages by channel, which is updated.
        out: Bytes to write to.
    """
    for i in range(len(sizes)):
        offset, size, channel = offsets[i], sizes[i], channels[i]
        counts[channel] += 1
        _write_number(out, offset, 1, _MESSAGE)
        _write_number(out, offset + 1, 8, HEADER_SIZE + size - _UNCOUNTED)
        _write_number(out, offset + 9, 2, channel)
        _write_number(out, offset + 11, 4, counts[channel])
        _write_number(out, offset + 15, 8, times[i])
        _write_number(out, offset + 23, 8, times[i])
        message, written = data[starts[i] : starts[i] + size], out[offset + HEADER_SIZE : offset + HEADER_SIZE + size]
        for k in range(size):  # compiled to one memory copy; an array assignment would not be
            written[k] = message[k]


def make_chunks(
    groups: Sequence[ChannelMessages], counts: NDArray[np.int64], max_size: int, head: bytes
) -> Iterator[Chunk]:
    """Yield all messages in the order of time and publication, in chunks.

    Args:
        groups: Messages by channel; at least one message.
        counts: Number of earlier messages by channel, for sequence numbers; it is updated.
        max_size: Approximate largest size of a chunk, bytes.
        head: Records of new schemas and channels, which are written before the first message.
    """
    lengths = [len(group.times) for group in groups]
    channels = np.repeat([group.channel for group in groups], lengths)
    times = np.concatenate([group.times for group in groups])
    sizes = np.concatenate([group.messages.sizes for group in groups])
    bytes_before = np.cumsum([0, *(len(group.messages.data) for group in groups)])[:-1]
    starts = np.concatenate([group.messages.starts for group in groups]) + np.repeat(bytes_before, lengths)
    data = np.concatenate([group.messages.data for group in groups])
    order = np.lexsort((np.repeat(*np.array([entry for group in groups for entry in group.order]).T), times))
    order = order[sizes[order] > 0]
    channels, times, sizes, starts = channels[order], times[order], sizes[order], starts[order]
    ends = np.cumsum(sizes + HEADER_SIZE)  # end of each record
    total = int(ends[-1])
    shares = (ends - 1) * -(-total // max_size) // total
    cuts = np.flatnonzero(np.diff(shares)) + 1
    for first, end in pairwise([0, *cuts.tolist(), len(order)]):
        part = slice(first, end)
        before = int(ends[first - 1]) if first else 0
        offsets = ends[part] - sizes[part] - HEADER_SIZE - before + len(head)
        records = np.empty(int(ends[end - 1]) - before + len(head), np.uint8)
        records[: len(head)] = np.frombuffer(head, np.uint8)
        head = b""
        _write_messages(data, starts[part], sizes[part], channels[part], times[part], offsets, counts, records)
        yield Chunk(records, channels[part], times[part], offsets)


def warm_up() -> None:
    """Compile the kernel, so that the first batch need not wait for it."""
    list(
        make_chunks(
            [ChannelMessages(0, np.array([0]), [(0, 1)], EncodedBatch.from_messages([b"\x00"]))],
            np.zeros(1, np.int64),
            1,
            b"",
        )
    )
