"""Embree 4 through its C interface, from the library in the `embreex` wheel. No other module imports Embree."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import DependencyError, EngineError
from skerry.rays.packets import ROW_MAJOR_3X4
from skerry.rays.tracer import MeshScene, TopScene, Tracer

# rtcore_geometry.h, rtcore_buffer.h, rtcore_scene.h, rtcore_device.h of Embree 4.4
_TRIANGLES: Final = 0
_INSTANCE: Final = 121
_INDICES, _VERTICES = 0, 1
_THREE_FLOATS, _THREE_INTEGERS = 0x9003, 0x5003
_DYNAMIC, _ROBUST = 1, 4
_NATIVE_RAYS: Final = {4: 32, 8: 33, 16: 34}  # packet width: device property that is set if the processor supports it
_RAY_MASKS: Final = 64
_COHERENT: Final = 1 << 16

# signature of each function, return type first: v void, p pointer, u unsigned, i int, z size, s string
_FUNCTIONS: Final = {
    "rtcNewDevice": "ps",
    "rtcGetDeviceError": "ip",
    "rtcGetDeviceProperty": "zpi",
    "rtcReleaseDevice": "vp",
    "rtcNewScene": "pp",
    "rtcSetSceneFlags": "vpi",
    "rtcCommitScene": "vp",
    "rtcReleaseScene": "vp",
    "rtcNewGeometry": "ppi",
    "rtcSetSharedGeometryBuffer": "vpiuipzzz",
    "rtcSetGeometryInstancedScene": "vpp",
    "rtcSetGeometryTransform": "vpuip",
    "rtcSetGeometryMask": "vpu",
    "rtcCommitGeometry": "vp",
    "rtcAttachGeometry": "upp",
    "rtcReleaseGeometry": "vp",
}
_TYPES: Final[dict[str, Any]] = {
    "p": ctypes.c_void_p,
    "u": ctypes.c_uint,
    "i": ctypes.c_int,
    "z": ctypes.c_ssize_t,
    "s": ctypes.c_char_p,
    "v": None,
}


@cache
def load_embree() -> Embree:
    """Return the tracer of this process, created on the first call.

    Raises:
        DependencyError: If the wheel is missing or contains no usable Embree 4.
    """
    try:
        package = import_module("embreex")
        import_module("embreex.rtcore")  # loads the libraries that Embree depends on
    except ImportError as error:
        raise DependencyError(f"the package embreex cannot be imported ({error})") from None
    reason = "no library found"
    for path in _libraries(Path(str(package.__file__)).parent):
        try:
            return Embree(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            reason = str(error)
    raise DependencyError(f"the package embreex contains no Embree 4 with a C interface ({reason})")


def _libraries(package: Path) -> Iterator[Path]:
    """Yield the libraries in the folders that the wheels of the platforms use."""
    for folder in (package.parent / "embreex.libs", package / ".dylibs", package.parent / "embreex.dylibs", package):
        yield from sorted(folder.glob("*embree4*"))


class Embree(Tracer):
    """Tracer that uses an Embree device. Scenes are built by one thread, so that the result is always the same."""

    name = "Embree"

    def __init__(self, library: Any) -> None:
        self._library = library
        for name, letters in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = _TYPES[letters[0]]
            function.argtypes = [_TYPES[letter] for letter in letters[1:]]
        self._device = library.rtcNewDevice(b"threads=1,set_affinity=0")
        if not self._device:
            raise DependencyError("Embree could not create a device on this processor")
        if not library.rtcGetDeviceProperty(self._device, _RAY_MASKS):
            raise DependencyError("this Embree was built without ray masks")
        width = max(
            (w for w, number in _NATIVE_RAYS.items() if library.rtcGetDeviceProperty(self._device, number)), default=4
        )
        arguments = np.zeros(16, np.uint64)  # RTCIntersectArguments: flags, feature mask, no context, no filter
        arguments.view(np.uint32)[:2] = _COHERENT, 0xFFFFFFFF
        self._arguments = arguments
        super().__init__(
            width=width,
            intersect=self._address(f"rtcIntersect{width}"),
            occluded=self._address(f"rtcOccluded{width}"),
            arguments=arguments.ctypes.data,
            set_transform=self._address("rtcSetGeometryTransform"),
            commit_geometry=self._address("rtcCommitGeometry"),
            commit_scene=self._address("rtcCommitScene"),
        )

    def _address(self, name: str) -> int:
        return int(ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value or 0)

    def mesh_scene(self, vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> MeshScene:
        library = self._library
        scene = library.rtcNewScene(self._device)
        # robust: no ray passes between triangles that share an edge
        library.rtcSetSceneFlags(scene, _ROBUST)
        padded = np.zeros((len(vertices) + 1, 3), np.float32)  # Embree reads 16 bytes at the last vertex
        padded[:-1] = vertices
        indices = np.ascontiguousarray(faces, np.uint32)
        geometry = library.rtcNewGeometry(self._device, _TRIANGLES)
        library.rtcSetSharedGeometryBuffer(
            geometry, _VERTICES, 0, _THREE_FLOATS, padded.ctypes.data, 0, 12, len(vertices)
        )
        library.rtcSetSharedGeometryBuffer(
            geometry, _INDICES, 0, _THREE_INTEGERS, indices.ctypes.data, 0, 12, len(indices)
        )
        library.rtcSetGeometryMask(geometry, 0xFFFFFFFF)
        library.rtcCommitGeometry(geometry)
        library.rtcAttachGeometry(scene, geometry)
        library.rtcReleaseGeometry(geometry)  # the scene keeps its own reference
        library.rtcCommitScene(scene)
        self._check()
        made = MeshScene(scene, padded[:-1], indices)
        weakref.finalize(made, library.rtcReleaseScene, scene)
        return made

    def top_scene(self, children: Sequence[MeshScene], masks: Sequence[int]) -> TopScene:
        library = self._library
        scene = library.rtcNewScene(self._device)
        library.rtcSetSceneFlags(scene, _DYNAMIC | _ROBUST)
        origin = np.eye(3, 4, dtype=np.float32)
        geometries = np.empty(len(children), np.int64)
        for i, (child, mask) in enumerate(zip(children, masks, strict=True)):
            geometry = library.rtcNewGeometry(self._device, _INSTANCE)
            library.rtcSetGeometryInstancedScene(geometry, child.handle)
            library.rtcSetGeometryTransform(geometry, 0, ROW_MAJOR_3X4, origin.ctypes.data)
            library.rtcSetGeometryMask(geometry, mask)
            library.rtcCommitGeometry(geometry)
            library.rtcAttachGeometry(scene, geometry)
            library.rtcReleaseGeometry(geometry)
            geometries[i] = geometry
        library.rtcCommitScene(scene)
        self._check()
        made = TopScene(scene, geometries, tuple(children))
        weakref.finalize(made, library.rtcReleaseScene, scene)
        return made

    def _check(self) -> None:
        if code := self._library.rtcGetDeviceError(self._device):
            raise EngineError(f"Embree failed with the error code {code}")
