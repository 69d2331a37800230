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

    def masked(self, valid: NDArray[np.bool_]) -> EncodedBatch:
        """Return the batch without the messages whose entry in `valid` (n,) is False."""
        return EncodedBatch(self.data, self.starts, np.where(valid, self.sizes, 0))

    def filled_from(self, others: EncodedBatch) -> EncodedBatch:
        """Return the batch with each absent message replaced by that of `others`, a batch of the same length."""
        valid = self.sizes > 0
        return EncodedBatch(
            np.concatenate([self.data, others.data]),
            np.where(valid, self.starts, others.starts + len(self.data)),
            np.where(valid, self.sizes, others.sizes),
        )

    def messages(self) -> list[bytes | None]:
        """Return the messages as separate `bytes`; None for an absent one."""
        data, ends = self.data.tobytes(), (self.starts + self.sizes).tolist()
        pairs = zip(self.starts.tolist(), ends, strict=True)
        return [data[start:end] if end > start else None for start, end in pairs]
