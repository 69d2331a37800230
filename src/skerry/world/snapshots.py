"""A world's state as bytes: a head of plain data, then the engine's state and that of each part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from skerry.core.errors import SkerryError

MAGIC = b"skerry snapshot 8\n"
DIGEST = 16  # bytes after it: a hash of all that follows


@dataclass(frozen=True)
class Snapshot:
    """Everything that a world needs to go on bit-identically, as bytes."""

    data: bytes

    def __bytes__(self) -> bytes:
        return self.data

    @classmethod
    def of(cls, head: Mapping[str, Any], chunks: Sequence[bytes]) -> Snapshot:
        """A head of plain data and, after it, chunks of bytes."""
        text = json.dumps({**head, "sizes": [len(chunk) for chunk in chunks]}).encode()
        body = b"".join([len(text).to_bytes(8, "little"), text, *chunks])
        return cls(MAGIC + blake2b(body, digest_size=DIGEST).digest() + body)

    @property
    def tick(self) -> int:
        """Of the world that it is of."""
        head, _ = self._head()
        tick, _, _ = json.loads(head["clock"])
        return int(tick)

    def read(self) -> tuple[dict[str, Any], list[bytes]]:
        """The head and the chunks; raise an error if it is no snapshot, or a damaged one."""
        if not self.data.startswith(MAGIC):
            raise SkerryError("this is not a snapshot of a Skerry world, or one of another version")
        start = len(MAGIC) + DIGEST
        if blake2b(self.data[start:], digest_size=DIGEST).digest() != self.data[len(MAGIC) : start]:
            raise SkerryError("the snapshot is cut short or damaged")
        head, place = self._head()
        chunks = []
        for size in head["sizes"]:
            chunks.append(self.data[place : place + size])
            place += size
        return head, chunks

    def _head(self) -> tuple[dict[str, Any], int]:
        """The head, and where it ends."""
        start = len(MAGIC) + DIGEST
        end = start + 8 + int.from_bytes(self.data[start : start + 8], "little")
        return json.loads(self.data[start + 8 : end]), end
