"""Writer of MCAP files (https://mcap.dev/spec) from whole chunks of encoded messages.

The records are those of the package `mcap`. Its own writer needs more time per message than Skerry needs to encode it.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import IO, Any, Final, Literal, TypeAlias

import lz4.frame  # lz4 and zstandard are dependencies of mcap
import numpy as np
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
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
from mcap.records import Chunk as ChunkRecord
from zstandard import ZstdCompressor

from skerry.interfaces.recorder.chunks import Chunk

Compression: TypeAlias = Literal["zstd", "lz4", "none"]

MAGIC: Final = b"\x89MCAP0\r\n"
_LEVEL: Final = -3  # level of zstd: half the time of level 1, a quarter of the default level, files 12 % larger
_ENTRY: Final = 16  # bytes of an index entry of a message: time and offset
_INDEX: Final = Struct("<BQHI")  # opcode, bytes that follow, channel, bytes of the entries
_FOOTER: Final = Struct("<BQQQ")  # opcode, bytes that follow, start of the summary, start of its offsets


def encode_record(found: Any) -> bytes:
    """Encode a record of the package `mcap`."""
    builder: Any = RecordBuilder()
    found.write(builder)
    data: bytes = builder.end()
    return data


class McapFile:
    """File that is being written; `finish` writes its end. Readers accept a file without end up to its last record."""

    def __init__(self, stream: IO[bytes], compression: Compression, profile: str, library: str) -> None:
        self._stream = stream
        self._name, self._compress = _compressor(compression)
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._counts: Counter[int] = Counter()
        self._offset = 0
        self._write(MAGIC + encode_record(Header(profile, library)))

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a metadata record of texts by name."""
        data = encode_record(Metadata(name, dict(values)))
        self._metadata.append(MetadataIndex(self._offset, len(data), name))
        self._write(data)

    def add_chunk(self, chunk: Chunk) -> None:
        """Write a chunk and the index of its messages by channel."""
        compressed = self._compress(chunk.records.data)
        start, end = int(chunk.times.min()), int(chunk.times.max())
        size, crc = chunk.records.nbytes, zlib.crc32(chunk.records.data)
        written = encode_record(ChunkRecord(self._name, compressed, end, start, crc, size))
        channels, counts = np.unique(chunk.channels, return_counts=True)
        by_channel = np.argsort(chunk.channels, kind="stable")
        entries = np.column_stack([chunk.times, chunk.offsets])[by_channel].astype("<u8", copy=False).tobytes()
        indices, offsets = [], {}
        offset = index_start = self._offset + len(written)
        first = 0
        for channel, count in zip(channels.tolist(), counts.tolist(), strict=True):
            length = _ENTRY * count
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + length, channel, length)
            indices += [head, entries[first : first + length]]
            offsets[channel] = offset
            offset += len(head) + length
            first += length
            self._counts[channel] += count
        self._chunks.append(
            ChunkIndex(
                chunk_length=len(written),
                chunk_start_offset=self._offset,
                compression=self._name,
                compressed_size=len(compressed),
                message_end_time=end,
                message_index_length=offset - index_start,
                message_index_offsets=offsets,
                message_start_time=start,
                uncompressed_size=size,
            )
        )
        self._write(b"".join([written, *indices]))

    def finish(self, schemas: Sequence[Schema], channels: Sequence[Channel]) -> None:
        """Write the end of the file: schemas, channels, statistics and indices."""
        self._write(encode_record(DataEnd(0)))
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
        start = self._offset
        summary, offsets = bytearray(), bytearray()
        for opcode, members in groups.items():
            group = b"".join(map(encode_record, members))
            if group:
                offsets += encode_record(SummaryOffset(opcode, start + len(summary), len(group)))
                summary += group
        offset_start = start + len(summary)
        summary += offsets
        crc = zlib.crc32(summary + _FOOTER.pack(Opcode.FOOTER, 20, start, offset_start))
        self._write(bytes(summary) + encode_record(Footer(start, offset_start, crc)) + MAGIC)

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._offset += len(data)


def _compressor(compression: Compression) -> tuple[str, Callable[[memoryview], bytes]]:
    """Return the name of a compression in the file, and the function that compresses."""
    match compression:
        case "zstd":
            return "zstd", ZstdCompressor(level=_LEVEL).compress
        case "lz4":
            return "lz4", lz4.frame.compress
        case "none":
            return "", bytes
