"""Writes MCAP files (https://mcap.dev/spec) by whole chunks of messages that are encoded already.

The records are those of the package `mcap`, but its writer takes longer for a message than Skerry for making it. Here a
message is one piece of bytes, and the index of a chunk is made at once.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import IO, Any, Final, Literal, TypeAlias

import lz4.frame  # it and zstandard: which mcap needs
import numpy as np
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from numpy.typing import NDArray
from zstandard import ZstdCompressor

Compression: TypeAlias = Literal["zstd", "lz4", "none"]

MAGIC: Final = b"\x89MCAP0\r\n"
_LEVEL: Final = 1  # of zstd; the default level takes twice as long for files that are 3 % smaller
MESSAGE: Final = Struct("<BQHIQQ")
"""How a message begins: opcode, bytes that follow, channel, sequence, time of the log, time of publishing."""
MESSAGE_OPCODE: Final = int(Opcode.MESSAGE)  # as a plain number, which is quicker to write
HEAD: Final = MESSAGE.size - 9
"""The bytes of a message that follow its length, but for the data."""
_HEAD: Final = np.dtype("u1, <u8, <u2, <u4, <u8, <u8")
_HEAD.names = ("opcode", "length", "channel", "sequence", "time", "published")
_INDEX: Final = Struct("<BQHI")  # opcode, bytes that follow, channel, bytes of the array
_FOOTER: Final = Struct("<BQQQ")  # opcode, bytes that follow, beginning of the summary, of its offsets


def record(found: Any) -> bytes:
    """A record as bytes."""
    builder: Any = RecordBuilder()
    found.write(builder)
    data: bytes = builder.end()
    return data


class McapFile:
    """A file that is being written; `finish` gives it its end, without which it is read as far as it goes."""

    def __init__(self, stream: IO[bytes], compression: Compression, profile: str, library: str) -> None:
        self._stream = stream
        self._name, self._compress = _compressor(compression)
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._counts: Counter[int] = Counter()
        self._place = 0
        self._write(MAGIC + record(Header(profile, library)))

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write texts by name."""
        data = record(Metadata(name, dict(values)))
        self._metadata.append(MetadataIndex(self._place, len(data), name))
        self._write(data)

    def add_chunk(self, records: Sequence[bytes]) -> int:
        """Write a chunk, and behind it where in it the messages of each channel are; gives how many messages it has."""
        data = b"".join(records)
        sizes = np.fromiter(map(len, records), np.int64, len(records))
        channels, places = _messages(data, np.cumsum(sizes) - sizes)
        if not len(channels):
            return 0
        start, end = int(places[:, 0].min()), int(places[:, 0].max())
        compressed = self._compress(data)
        chunk = record(Chunk(self._name, compressed, end, start, zlib.crc32(data), len(data)))
        order = np.argsort(channels, kind="stable")
        numbers, firsts, counts = np.unique(channels[order], return_index=True, return_counts=True)
        self._counts.update(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))
        places = places[order]
        indices, offsets = [], {}
        place = index_start = self._place + len(chunk)
        for number, first, count in zip(numbers.tolist(), firsts.tolist(), counts.tolist(), strict=True):
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + 16 * count, number, 16 * count)
            indices += [head, places[first : first + count].tobytes()]
            offsets[number] = place
            place += len(head) + 16 * count
        self._chunks.append(
            ChunkIndex(
                chunk_length=len(chunk),
                chunk_start_offset=self._place,
                compression=self._name,
                compressed_size=len(compressed),
                message_end_time=end,
                message_index_length=place - index_start,
                message_index_offsets=offsets,
                message_start_time=start,
                uncompressed_size=len(data),
            )
        )
        self._write(b"".join([chunk, *indices]))
        return len(channels)

    def finish(self, schemas: Sequence[Schema], channels: Sequence[Channel]) -> None:
        """Write the end: what there is in the file, and where."""
        self._write(record(DataEnd(0)))
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(channels),
            channel_message_counts=dict(self._counts),
            chunk_count=len(self._chunks),
            message_count=self._counts.total(),
            message_end_time=max((chunk.message_end_time for chunk in self._chunks), default=0),
            message_start_time=min((chunk.message_start_time for chunk in self._chunks), default=0),
            metadata_count=len(self._metadata),
            schema_count=len(schemas),
        )
        groups: dict[Opcode, Sequence[Any]] = {
            Opcode.SCHEMA: schemas,
            Opcode.CHANNEL: channels,
            Opcode.STATISTICS: [statistics],
            Opcode.CHUNK_INDEX: self._chunks,
            Opcode.METADATA_INDEX: self._metadata,
        }
        start = self._place
        summary, offsets = bytearray(), bytearray()
        for opcode, members in groups.items():
            group = b"".join(map(record, members))
            if group:
                offsets += record(SummaryOffset(opcode, start + len(summary), len(group)))
                summary += group
        offset_start = start + len(summary)
        summary += offsets
        crc = zlib.crc32(summary + _FOOTER.pack(Opcode.FOOTER, 20, start, offset_start))
        self._write(bytes(summary) + record(Footer(start, offset_start, crc)) + MAGIC)

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._place += len(data)


def _messages(data: bytes, places: NDArray[np.int64]) -> tuple[NDArray[np.uint16], NDArray[np.uint64]]:
    """The channels of the messages among records at these places, and times and places, (n, 2)."""
    octets = np.frombuffer(data, np.uint8)
    places = places[octets[places] == Opcode.MESSAGE]
    heads = octets[places[:, None] + np.arange(_HEAD.itemsize)].view(_HEAD)[:, 0]
    return heads["channel"], np.column_stack([heads["time"], places.astype("<u8")])


def _compressor(compression: Compression) -> tuple[str, Callable[[bytes], bytes]]:
    """Its name in the file, and what compresses."""
    match compression:
        case "zstd":
            return "zstd", ZstdCompressor(level=_LEVEL).compress
        case "lz4":
            return "lz4", lz4.frame.compress
        case "none":
            return "", lambda data: data
