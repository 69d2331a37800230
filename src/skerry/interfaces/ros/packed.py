"""Many messages as CDR in one piece of bytes, as whoever writes files wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, eq=False, slots=True)
class Packed:
    """Messages one after the other, and how many bytes each has: 0 where there is nothing to say."""

    data: bytes
    sizes: list[int]

    @classmethod
    def of(cls, messages: Sequence[bytes | None]) -> Self:
        """Messages one by one, None where there is nothing to say."""
        found = [message or b"" for message in messages]
        return cls(b"".join(found), [len(message) for message in found])

    def each(self) -> list[bytes | None]:
        """One by one."""
        found: list[bytes | None] = []
        place = 0
        for size in self.sizes:
            found.append(self.data[place : place + size] if size else None)
            place += size
        return found
