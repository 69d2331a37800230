"""Many messages as CDR in one array of bytes, as whoever writes files wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Packed:
    """Messages, each so many bytes from a start on: 0 where there is nothing to say."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, messages: Sequence[bytes | None]) -> Self:
        """Messages one by one, None where there is nothing to say."""
        found = [message or b"" for message in messages]
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        return cls.in_turn(np.frombuffer(b"".join(found), np.uint8), sizes)

    @classmethod
    def in_turn(cls, data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> Self:
        """Messages that stand one after the other."""
        return cls(data, np.cumsum(sizes) - sizes, sizes)

    def only(self, said: NDArray[np.bool_]) -> Packed:
        """Those for which this holds; of the others there is nothing to say."""
        return Packed(self.data, self.starts, np.where(said, self.sizes, 0))

    def or_else(self, others: Packed) -> Packed:
        """With other ones, as many, where there is nothing to say."""
        said = self.sizes > 0
        return Packed(
            np.concatenate([self.data, others.data]),
            np.where(said, self.starts, others.starts + len(self.data)),
            np.where(said, self.sizes, others.sizes),
        )

    def each(self) -> list[bytes | None]:
        """One by one."""
        data, ends = self.data.tobytes(), (self.starts + self.sizes).tolist()
        pairs = zip(self.starts.tolist(), ends, strict=True)
        return [data[start:end] if end > start else None for start, end in pairs]
