"""A batch of CDR messages in one byte array, in the layout that file writers need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class EncodedBatch:
    """Batch of n encoded messages. Message i is `data[starts[i] : starts[i] + sizes[i]]`; a size of 0 means no message.

    Attributes:
        data: Bytes of all messages.
        starts: Offset of each message in `data`, (n,).
        sizes: Length of each message in bytes, (n,).
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def from_messages(cls, messages: Sequence[bytes | None]) -> Self:
        """Return the batch of these messages; None is an absent message."""
        found = [message or b"" for message in messages]
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        return cls.contiguous(np.frombuffer(b"".join(found), np.uint8), sizes)

    @classmethod
    def contiguous(cls, data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> Self:
        """Return the batch of messages that follow each other in `data` without gaps."""
        return cls(data, np.cumsum(sizes) - sizes, sizes)

    @classmethod
    def absent(cls, count: int) -> Self:
        """Return a batch in which all messages are absent."""
        return cls(np.empty(0, np.uint8), np.zeros(count, np.int64), np.zeros(count, np.int64))

    @classmethod
    def concat(cls, parts: Sequence[EncodedBatch]) -> Self:
        """Return the messages of all parts, in order."""
        offsets = np.cumsum([0, *(len(part.data) for part in parts)])
        starts = [part.starts + offset for part, offset in zip(parts, offsets, strict=False)]
        sizes = [part.sizes for part in parts]
        return cls(np.concatenate([part.data for part in parts]), np.concatenate(starts), np.concatenate(sizes))

    def spread(self, rows: NDArray[np.bool_], others: EncodedBatch) -> EncodedBatch:
        """Return a batch with these messages where `rows` (n,) is True, and with those of `others` elsewhere."""
        both = EncodedBatch.concat([self, others])
        order = np.argsort(np.concatenate([np.flatnonzero(rows), np.flatnonzero(~rows)]))
        return EncodedBatch(both.data, both.starts[order], both.sizes[order])

    def message(self, row: int) -> bytes | None:
        """Return a message as `bytes`, or None if it is absent."""
        start, size = int(self.starts[row]), int(self.sizes[row])
        if not size:
            return None
        source = getattr(self.data.base, "obj", self.data.base)
        if type(source) is bytes and len(source) == size:
            return source  # the batch was made of this message
        return self.data[start : start + size].tobytes()

    def messages(self) -> list[bytes | None]:
        """Return the messages as separate `bytes`; None for an absent one."""
        return [self.message(row) for row in range(len(self.sizes))]
