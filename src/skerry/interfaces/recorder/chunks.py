"""Messages of many topics as chunks of MCAP records (https://mcap.dev/spec), in the order of time, by native code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

HEAD: Final = 31  # bytes before a message: opcode 1, length 8, channel 2, sequence 4, two times of 8
_UNCOUNTED: Final = 9  # of those bytes, which the length does not count: the opcode and itself
_MESSAGE: Final = 5  # the opcode


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """Messages of one channel, of these times, ns, and the turns at which they were said, for those of one time."""

    channel: int
    times: NDArray[np.int64]
    turns: list[tuple[int, int]]  # each, and how many messages
    messages: EncodedBatch


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Records of messages, as bytes; and of each of them its channel, its time, ns, and its place among the bytes."""

    records: NDArray[np.uint8]
    channels: NDArray[np.int64]
    times: NDArray[np.int64]
    places: NDArray[np.int64]


@kernel
def _write_number(out: Any, place: int, size: int, number: int) -> None:
    """Little-endian."""
    for k in range(size):
        out[place + k] = number >> (8 * k) & 0xFF


@kernel
def _write_messages(
    data: Any, starts: Any, sizes: Any, channels: Any, times: Any, places: Any, counts: Any, out: Any
) -> None:
    """Records of messages, which are `sizes` bytes of `data` from `starts`, to `places` of `out`.

    `counts` are by channel how many there were, and then are.
    """
    for i in range(len(sizes)):
        place, size, channel = places[i], sizes[i], channels[i]
        counts[channel] += 1
        _write_number(out, place, 1, _MESSAGE)
        _write_number(out, place + 1, 8, HEAD + size - _UNCOUNTED)
        _write_number(out, place + 9, 2, channel)
        _write_number(out, place + 11, 4, counts[channel])
        _write_number(out, place + 15, 8, times[i])
        _write_number(out, place + 23, 8, times[i])
        message, written = data[starts[i] : starts[i] + size], out[place + HEAD : place + HEAD + size]
        for k in range(size):  # which is compiled to a copy of all at once, as an assignment is not
            written[k] = message[k]


def chunks_of(pieces: Sequence[Piece], counts: NDArray[np.int64], most: int, head: bytes) -> Iterator[Chunk]:
    """All messages in the order of time and turn, in chunks of about so many bytes at most.

    There must be some. `counts` are by channel how many there were before, for their sequence numbers; the new ones are
    added. Before all stand the records in `head`, of channels that are new.
    """
    lengths = [len(piece.times) for piece in pieces]
    channels = np.repeat([piece.channel for piece in pieces], lengths)
    times = np.concatenate([piece.times for piece in pieces])
    sizes = np.concatenate([piece.messages.sizes for piece in pieces])
    bytes_before = np.cumsum([0, *(len(piece.messages.data) for piece in pieces)])[:-1]
    starts = np.concatenate([piece.messages.starts for piece in pieces]) + np.repeat(bytes_before, lengths)
    data = np.concatenate([piece.messages.data for piece in pieces])
    order = np.lexsort((np.repeat(*np.array([turn for piece in pieces for turn in piece.turns]).T), times))
    order = order[sizes[order] > 0]
    channels, times, sizes, starts = channels[order], times[order], sizes[order], starts[order]
    behind = np.cumsum(sizes + HEAD)  # in all, each
    total = int(behind[-1])
    shares = (behind - 1) * -(-total // most) // total
    cuts = np.flatnonzero(np.diff(shares)) + 1
    for first, end in pairwise([0, *cuts.tolist(), len(order)]):
        part = slice(first, end)
        before = int(behind[first - 1]) if first else 0
        places = behind[part] - sizes[part] - HEAD - before + len(head)
        records = np.empty(int(behind[end - 1]) - before + len(head), np.uint8)
        records[: len(head)] = np.frombuffer(head, np.uint8)
        head = b""
        _write_messages(data, starts[part], sizes[part], channels[part], times[part], places, counts, records)
        yield Chunk(records, channels[part], times[part], places)


def warm_up() -> None:
    """Have the kernel compiled, so that the first batch need not wait for it."""
    list(
        chunks_of(
            [Piece(0, np.array([0]), [(0, 1)], EncodedBatch.from_messages([b"\x00"]))], np.zeros(1, np.int64), 1, b""
        )
    )
