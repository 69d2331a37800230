"""Reader of greyscale PNG images, for maps of heights and materials."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import Fault, FileError
from skerry.core.kernels import kernel

# Numbers and names follow W3C, Portable Network Graphics (PNG) Specification, Second Edition (2003).
SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES: Final = {
    0: "greyscale",
    2: "RGB colour",
    3: "palette colour",
    4: "greyscale with alpha",
    6: "RGB colour with alpha",
}


def read_grey_png(path: Path, max_pixels: int) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return the pixels of an 8-bit or 16-bit greyscale PNG, shape (rows, columns), top row first.

    Raises:
        FileError: The file cannot be read, is not such a PNG, or has more than `max_pixels` pixels.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        _fail(path, f"cannot be read: {error.strerror}")
    if not data.startswith(SIGNATURE):
        _fail(path, "is not a PNG image")
    header, compressed = _read_chunks(path, data)
    columns, rows, depth = _read_header(path, header)
    if not 0 < rows * columns <= max_pixels:
        _fail(path, f"has {columns} × {rows} pixels, but must have from 1 to {max_pixels}")
    stride = columns * depth // 8
    lines = np.frombuffer(_decompress(path, compressed, rows * (stride + 1)), np.uint8).reshape(rows, stride + 1)
    if lines[:, 0].max() > 4:
        _fail(path, f"is damaged: filter {lines[:, 0].max()} is unknown; filters are 0 to 4")
    pixels = np.empty((rows, stride), np.uint8)
    _unfilter(lines, depth // 8, pixels)
    return pixels if depth == 8 else pixels.view(">u2").astype(np.uint16)


def _read_chunks(path: Path, data: bytes) -> tuple[bytes, bytes]:
    """Return the header and the complete compressed image."""
    header, parts, offset = b"", [], len(SIGNATURE)
    while True:
        length, kind = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4 : offset + 8]
        body, check = data[offset + 8 : offset + 8 + length], data[offset + 8 + length : offset + 12 + length]
        if len(check) < 4:
            _fail(path, f"is truncated: it ends after {len(data)} bytes, before the end chunk")
        if zlib.crc32(kind + body) != int.from_bytes(check, "big"):
            _fail(path, f"is damaged: the checksum of the chunk at byte {offset} is wrong")
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            parts.append(body)
        elif kind == b"IEND":
            return header, b"".join(parts)
        offset += 12 + length


def _read_header(path: Path, header: bytes) -> tuple[int, int, int]:
    """Return the number of columns and rows, and the bits per pixel."""
    if len(header) != 13:
        _fail(path, f"is damaged: its header has {len(header)} bytes instead of 13")
    columns, rows = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    depth, colour, _compression, _filter, interlace = header[8:]
    faults = []
    if colour != 0:
        found = COLOUR_TYPES.get(colour, f"colour type {colour}")
        faults.append(Fault("", f"must be greyscale, but is {found}", hint="convert it to 16-bit greyscale"))
    elif depth not in (8, 16):
        faults.append(Fault("", "must have 8 or 16 bits per pixel", depth))
    if interlace:
        faults.append(Fault("", "is interlaced, which is not supported", hint="save it without interlacing"))
    if faults:
        raise FileError(str(path), faults)
    return columns, rows, depth


def _decompress(path: Path, compressed: bytes, expected: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        # One byte more than expected shows that there are too many.
        data = stream.decompress(compressed, expected + 1)
    except zlib.error as error:
        _fail(path, f"is damaged: {error}")
    if len(data) != expected:
        found = "more" if len(data) > expected else len(data)
        _fail(path, f"is truncated or damaged: its pixels need {expected} bytes, found {found}")
    return data


@kernel
def _unfilter(lines: Any, step: int, pixels: Any) -> None:
    """Reverse the filter given by the first byte of each line (W3C 2003, section 9); a pixel has `step` bytes."""
    rows, stride = pixels.shape
    for r in range(rows):
        kind = lines[r, 0]
        for k in range(stride):
            a = int(pixels[r, k - step]) if k >= step else 0  # left
            b = int(pixels[r - 1, k]) if r > 0 else 0  # above
            c = int(pixels[r - 1, k - step]) if r > 0 and k >= step else 0  # above left
            if kind == 0:
                guess = 0
            elif kind == 1:
                guess = a
            elif kind == 2:
                guess = b
            elif kind == 3:
                guess = (a + b) // 2
            else:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                guess = a if pa <= pb and pa <= pc else (b if pb <= pc else c)
            pixels[r, k] = (int(lines[r, k + 1]) + guess) & 255


def _fail(path: Path, problem: str) -> NoReturn:
    raise FileError(str(path), [Fault("", problem)]) from None
