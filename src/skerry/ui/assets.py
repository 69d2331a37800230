"""What the page fetches once and keeps: meshes and grids, each under a hash of its bytes."""

from __future__ import annotations

import struct
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from skerry.core.meshes import Mesh


class Assets:
    """Bytes by name; the name is their hash, so that a browser may keep them for ever."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def get(self, name: str) -> bytes | None:
        """The bytes of that name."""
        return self._files.get(name)

    def add(self, data: bytes, ending: str) -> str:
        """Keep some bytes; gives the path at which they are served."""
        name = f"{sha256(data).hexdigest()}.{ending}"
        self._files[name] = data
        return f"/assets/{name}"

    def add_mesh(self, mesh: Mesh, colours: NDArray[np.uint8] | None = None) -> str:
        """Keep a mesh; `colours` are of its vertices, (n, 4), white by default, and are multiplied by the shape's."""
        vertices, faces = np.asarray(mesh.vertices, "<f4"), np.asarray(mesh.faces, "<u4")
        if colours is None:
            colours = np.full((len(vertices), 4), 255, np.uint8)
        head = struct.pack("<II", len(vertices), len(faces))
        return self.add(head + vertices.tobytes() + colours.tobytes() + faces.tobytes(), "mesh")

    def add_floats(self, values: NDArray[np.floating]) -> str:
        """Keep numbers in single precision."""
        return self.add(np.asarray(values, "<f4").tobytes(), "f32")

    def add_bytes(self, values: NDArray[np.uint8]) -> str:
        """Keep small whole numbers."""
        return self.add(np.ascontiguousarray(values).tobytes(), "u8")
