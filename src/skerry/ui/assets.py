"""Store of the files that a page loads once per scene: meshes and grids, named by a hash of their bytes."""

from __future__ import annotations

import struct
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from skerry.core.meshes import Mesh


class Assets:
    """Files by name. The name is a hash of the content, so that a browser can cache a file without a time limit."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def get(self, name: str) -> bytes | None:
        """Return the content of a file, or None if there is no such file."""
        return self._files.get(name)

    def add(self, data: bytes, ending: str) -> str:
        """Store a file, and return the path of the URL at which it is served."""
        name = f"{sha256(data).hexdigest()}.{ending}"
        self._files[name] = data
        return f"/assets/{name}"

    def add_mesh(self, mesh: Mesh, colours: NDArray[np.uint8] | None = None) -> str:
        """Store a mesh, and return its path.

        Args:
            mesh: Mesh in the frame of its shape.
            colours: sRGB colour and opacity of each vertex, (n, 4); white by default. The page multiplies it by the
                colour of the shape.
        """
        vertices, faces = np.asarray(mesh.vertices, "<f4"), np.asarray(mesh.faces, "<u4")
        if colours is None:
            colours = np.full((len(vertices), 4), 255, np.uint8)
        head = struct.pack("<II", len(vertices), len(faces))
        return self.add(head + vertices.tobytes() + colours.tobytes() + faces.tobytes(), "mesh")

    def add_floats(self, values: NDArray[np.floating]) -> str:
        """Store numbers in single precision, and return the path."""
        return self.add(np.asarray(values, "<f4").tobytes(), "f32")

    def add_bytes(self, values: NDArray[np.uint8]) -> str:
        """Store unsigned bytes, and return the path."""
        return self.add(np.ascontiguousarray(values).tobytes(), "u8")
