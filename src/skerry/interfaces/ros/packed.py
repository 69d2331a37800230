"""Many messages as CDR in one piece of bytes, as whoever writes files wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Packed:
    """Where in `data` each message begins, and how long it is: 0 where there is nothing to say."""

    data: bytes
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, messages: Sequence[bytes | None]) -> Self:
        """Messages one by one, None where there is nothing to say."""
        sizes = np.array([0 if message is None else len(message) for message in messages], np.int64)
        return cls(b"".join([message for message in messages if message is not None]), np.cumsum(sizes) - sizes, sizes)

    @classmethod
    def alike(cls, data: bytes, size: int) -> Self:
        """Messages of one size, one after the other."""
        starts = np.arange(0, len(data), size)
        return cls(data, starts, np.full(len(starts), size))

    def each(self) -> list[bytes | None]:
        """One by one."""
        found = zip(self.starts.tolist(), self.sizes.tolist(), strict=True)
        return [self.data[start : start + size] if size else None for start, size in found]

    def but(self, others: dict[int, bytes | None]) -> Self:
        """The same with some of them, by number, in the place of those that are there."""
        more = type(self).of(list(others.values()))
        starts, sizes, numbers = self.starts.copy(), self.sizes.copy(), list(others)
        starts[numbers], sizes[numbers] = more.starts + len(self.data), more.sizes
        return type(self)(self.data + more.data, starts, sizes)

    def where(self, there: Sequence[bool]) -> Self:
        """The same, one for each truth; elsewhere there is nothing to say."""
        starts, sizes = np.zeros((2, len(there)), np.int64)
        starts[np.array(there)], sizes[np.array(there)] = self.starts, self.sizes
        return type(self)(self.data, starts, sizes)

    def some(self, numbers: Sequence[int]) -> Self:
        """Those of these numbers."""
        return type(self)(self.data, self.starts[numbers], self.sizes[numbers])
