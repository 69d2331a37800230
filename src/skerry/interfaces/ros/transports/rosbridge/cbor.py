"""Encoder of CBOR (RFC 8949), for the values that rosbridge sends, with typed arrays of numbers (RFC 8746)."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

_TAGS: Final = {
    **{"u2": 69, "u4": 70, "u8": 71, "i1": 72},
    **{"i2": 77, "i4": 78, "i8": 79, "f4": 85, "f8": 86},
}
"""Tags of little-endian arrays of numbers (RFC 8746, table 1); arrays of bytes have no tag."""

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _LIST, _MAP, _TAG = range(7)  # major types


def to_cbor(value: Any) -> bytes:
    """Return a value as CBOR."""
    parts: list[bytes] = []
    _add(parts, value)
    return b"".join(parts)


def _add(parts: list[bytes], value: Any) -> None:
    match value:
        case None | bool():
            parts.append({None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value])
        case int():
            parts.append(_head(_UNSIGNED, value) if value >= 0 else _head(_NEGATIVE, -1 - value))
        case float():
            parts.append(struct.pack(">Bd", 0xFB, value))
        case str():
            encoded = value.encode()
            parts += (_head(_TEXT, len(encoded)), encoded)
        case bytes():
            parts += (_head(_BYTES, len(value)), value)
        case dict():
            parts.append(_head(_MAP, len(value)))
            for key, item in value.items():
                _add(parts, key)
                _add(parts, item)
        case list():
            parts.append(_head(_LIST, len(value)))
            for item in value:
                _add(parts, item)
        case np.ndarray():
            tag = _TAGS.get(value.dtype.str[1:])
            if tag is not None:
                parts.append(_head(_TAG, tag))
            _add(parts, value.tobytes())
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be written as CBOR")


def _head(major: int, number: int) -> bytes:
    """Return a major type and its number, in as few bytes as possible."""
    first = major << 5
    if number < 24:
        return bytes((first | number,))
    for size_code, (limit, letter) in enumerate(((2**8, "B"), (2**16, "H"), (2**32, "I"), (2**64, "Q")), 24):
        if number < limit:
            return struct.pack(f">B{letter}", first | size_code, number)
    raise ValueError(f"{number} is too large for CBOR")
