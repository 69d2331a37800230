"""Many messages as CDR in one piece of bytes, as whoever writes files wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Packed:
    """Messages one after the other, and how many bytes each has: 0 where there is nothing to say."""

    data: bytes
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, messages: Sequence[bytes | None]) -> Self:
        """Messages one by one, None where there is nothing to say."""
        found = [message or b"" for message in messages]
        return cls(b"".join(found), np.fromiter(map(len, found), np.int64, len(found)))

    def each(self) -> list[bytes | None]:
        """One by one."""
        found: list[bytes | None] = []
        place = 0
        for size in self.sizes.tolist():
            found.append(self.data[place : place + size] if size else None)
            place += size
        return found
