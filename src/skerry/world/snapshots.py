"""Snapshots: the state of a world as bytes. A head of JSON data, then the states of the engine and of each part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from skerry.core.errors import SkerryError

MAGIC = b"skerry snapshot 10\n"
"""First bytes of a snapshot, with the version of the format."""

DIGEST = 16
"""Length of the hash that follows `MAGIC`, in bytes. It covers all bytes after it."""


@dataclass(frozen=True)
class Snapshot:
    """Complete state of a world as bytes, so that it continues bit-identically."""

    data: bytes

    def __bytes__(self) -> bytes:
        return self.data

    @classmethod
    def of(cls, head: Mapping[str, Any], chunks: Sequence[bytes]) -> Snapshot:
        """Return a snapshot with a head of JSON data and chunks of bytes."""
        text = json.dumps({**head, "sizes": [len(chunk) for chunk in chunks]}).encode()
        body = b"".join([len(text).to_bytes(8, "little"), text, *chunks])
        return cls(MAGIC + blake2b(body, digest_size=DIGEST).digest() + body)

    @property
    def tick(self) -> int:
        """Tick of the world when the snapshot was taken."""
        head, _ = self._head()
        tick, _, _ = json.loads(head["clock"])
        return int(tick)

    def read(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the head and the chunks; raise an error if the bytes are not a valid snapshot."""
        if not self.data.startswith(MAGIC):
            raise SkerryError("this is not a snapshot of a Skerry world, or it is of another version of Skerry")
        start = len(MAGIC) + DIGEST
        if blake2b(self.data[start:], digest_size=DIGEST).digest() != self.data[len(MAGIC) : start]:
            raise SkerryError("the snapshot is truncated or damaged; its hash does not match")
        head, start = self._head()
        chunks = []
        for size in head["sizes"]:
            chunks.append(self.data[start : start + size])
            start += size
        return head, chunks

    def _head(self) -> tuple[dict[str, Any], int]:
        """Return the head and the index of its end."""
        start = len(MAGIC) + DIGEST
        end = start + 8 + int.from_bytes(self.data[start : start + 8], "little")
        return json.loads(self.data[start + 8 : end]), end
