"""Access to MuJoCo: version check, shared library, and the offsets of its arrays in mjModel and mjData.

Native code reads these structures without a header or a compiler. A small probe model is built, and its structures are
searched for the array addresses that the Python bindings report. A second probe model confirms the offsets.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from numpy.typing import NDArray

from skerry.core.dependencies import check_mujoco
from skerry.core.errors import DependencyError, SkerryError

try:
    import mujoco as mujoco
except ImportError as error:
    check_mujoco()
    raise DependencyError(f"cannot import MuJoCo: {error}; reinstall mujoco-core") from error
check_mujoco(mujoco.__version__)


@cache
def library_path() -> str:
    """Return the file of MuJoCo's shared library."""
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so.*", "libmujoco*.dylib", "mujoco.dll"):
        if found := sorted(folder.glob(pattern)):
            return str(found[0])
    raise SkerryError(f"no shared library of MuJoCo in {folder}; reinstall mujoco-core")


llvmlite.binding.load_library_permanently(library_path())

# ------------------------------------------------------------------------------------------------ offsets in memory

DATA_ARRAYS = (
    "userdata",
    "qpos",
    "qvel",
    "xpos",
    "xquat",
    "xmat",
    "cvel",
    "subtree_com",
    "cdof",
    "cdof_dot",
    "M",
    "qfrc_passive",
    "qfrc_applied",
    "geom_xpos",
    "geom_xmat",
    "qLD",
    "qLDiagInv",
)
GEOM_XMAT, FACTORS, INVERSE_DIAGONAL = (DATA_ARRAYS.index(name) for name in ("geom_xmat", "qLD", "qLDiagInv"))
XPOS, XQUAT, XMAT, CVEL, SUBTREE_COM, CDOF, CDOF_DOT, MASS, QFRC_PASSIVE, QPOS, QVEL, QFRC_APPLIED, GEOM_XPOS = (
    DATA_ARRAYS.index(name)
    for name in (
        "xpos",
        "xquat",
        "xmat",
        "cvel",
        "subtree_com",
        "cdof",
        "cdof_dot",
        "M",
        "qfrc_passive",
        "qpos",
        "qvel",
        "qfrc_applied",
        "geom_xpos",
    )
)
LAYOUT_SIZE = len(DATA_ARRAYS)


def _probe(numbers: int, extra: str) -> Any:
    """Return a model in which none of the searched arrays is empty."""
    data = " ".join(["1"] * numbers)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><size nuserdata="3"/><custom><numeric name="n" data="{data}"/></custom><worldbody>{extra}'
        '<body pos="0 0 1"><freejoint/><geom size=".1"/><body pos=".3 0 0"><joint name="j" type="hinge" axis="0 1 0"/>'
        '<geom size=".1"/></body></body></worldbody></mujoco>'
    )


_UNKNOWN = (
    f"the memory layout of MuJoCo {mujoco.__version__} is not the expected one; install another 4.x release of "
    "mujoco-core and report this version"
)


def _search(address: int, pattern: bytes, limit: int) -> int:
    """Return the offset of an 8-byte pattern behind an address, reading no further than needed.

    An empty array has the same address as the array after it, so the last of several equal pointers is returned.
    """
    for start in range(0, limit, 4096):
        chunk = ctypes.string_at(address + start, 4096)
        found = chunk.find(pattern)
        while found % 8 and found >= 0:
            found = chunk.find(pattern, found + 1)
        if found >= 0:
            offset = start + found
            while ctypes.string_at(address + offset + 8, 8) == pattern:
                offset += 8
            return offset
    raise SkerryError(_UNKNOWN)


def _pointer(array: NDArray[Any]) -> bytes:
    return int(array.ctypes.data).to_bytes(8, "little")


MODEL_ARRAYS = (
    "numeric_data",
    "geom_contype",
    "geom_conaffinity",
    "geom_rbound",
    "geom_aabb",
    "M_rowadr",
    "M_rownnz",
    "geom_bodyid",
    "geom_friction",
)


def _discover(numbers: int, extra: str) -> tuple[list[int], list[int], int, int]:
    """Return the offsets of DATA_ARRAYS, of MODEL_ARRAYS, of the time and of the size of the numeric data."""
    model = _probe(numbers, extra)
    data = mujoco.MjData(model)
    offsets = [_search(data._address, _pointer(getattr(data, name)), 1 << 20) for name in DATA_ARRAYS]
    data.time = 1234.5678901
    time = _search(data._address, np.float64(data.time).tobytes(), 1 << 20)
    in_model = [_search(model._address, _pointer(getattr(model, name)), 1 << 16) for name in MODEL_ARRAYS]
    count = _search(model._address, numbers.to_bytes(8, "little"), 1 << 16)
    return offsets, in_model, time, count


@cache
def _layout() -> tuple[list[int], list[int], int, int]:
    first = _discover(787, "")
    if first != _discover(911, '<body mocap="true"><geom size=".1"/><site/></body><light/><camera/>'):
        raise SkerryError(_UNKNOWN)
    return first


DATA_OFFSETS: NDArray[np.int64] = np.array(_layout()[0], np.int64)
"""Offsets in mjData of the pointers to DATA_ARRAYS, in that order."""
NUMERIC_OFFSET, CONTACT_TYPES, CONTACT_AFFINITIES, GEOM_RADII, GEOM_BOXES = _layout()[1][:5]
MASS_ROWS, MASS_ROW_SIZES, GEOM_BODIES, GEOM_FRICTION = _layout()[1][5:]
"""Offsets in mjModel of the pointers to MODEL_ARRAYS, in that order."""
TIME_OFFSET, NUMERIC_COUNT_OFFSET = _layout()[2:]
USERDATA_OFFSET = int(DATA_OFFSETS[0])


def _discover_contacts(balls: int) -> tuple[set[int], tuple[int, ...]]:
    """Return the possible offsets in mjData of the number of contacts, and the other offsets of contacts.

    The others are those in mjData of the pointers to the contacts and to the forces of constraints, then the size of a
    contact, then those in a contact of position, frame, geom numbers and the first row of its forces.
    """
    shapes = '<freejoint/><geom size=".1"/><geom size=".1" pos="0 .5 0"/>'
    bodies = "".join(f'<body pos="{k} 0 .09">{shapes}</body>' for k in range(balls))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="0 0 1"/>{bodies}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = data.contact
    start, count = found.dist.ctypes.data, len(found.dist)
    offsets = (
        _search(data._address, start.to_bytes(8, "little"), 1 << 20),
        _search(data._address, _pointer(data.efc_force), 1 << 20),
        found.dist.strides[0],
        *(array.ctypes.data - start for array in (found.pos, found.frame, found.geom, found.efc_address)),
    )
    touching = np.frombuffer(ctypes.string_at(data._address, offsets[0]), np.int32)  # the number precedes the pointers
    data.qpos[2::7] += 1.0
    mujoco.mj_forward(model, data)
    apart = np.frombuffer(ctypes.string_at(data._address, offsets[0]), np.int32)
    return {4 * int(i) for i in np.flatnonzero((touching == count) & (apart == 0))}, offsets


@cache
def _contact_layout() -> tuple[int, ...]:
    (counts, first), (others, second) = _discover_contacts(3), _discover_contacts(5)
    counts &= others
    if len(counts) != 1 or first != second:
        raise SkerryError(_UNKNOWN)
    return counts.pop(), *first


CONTACT_COUNT, CONTACTS, CONTACT_FORCES, CONTACT_SIZE = _contact_layout()[:4]
"""Offsets in mjData of the number of contacts and of the pointers to contacts and to forces; size of a contact."""
CONTACT_POSITION, CONTACT_FRAME, CONTACT_GEOMS, CONTACT_ADDRESS = _contact_layout()[4:]
"""Offsets in a contact of its position, frame, geom numbers, and number of the first row of its forces."""

# ------------------------------------------------------------------------------------------------ the C API of batches

_pointer_type, _int = ctypes.c_void_p, ctypes.c_int


class BatchConfig(ctypes.Structure):
    """MuJoCo's mjBatchConfig."""

    _fields_ = (("nthread", _int), ("persistent", ctypes.c_bool))


@cache
def library() -> Any:
    """Return MuJoCo's library with the batch functions declared; calls release the GIL."""
    found = ctypes.CDLL(library_path())
    for name, result, arguments in (
        ("mjb_makeBatch", _pointer_type, [_pointer_type, _int, _pointer_type, ctypes.c_char_p, _int]),
        ("mjb_deleteBatch", None, [_pointer_type]),
        ("mjb_state", _pointer_type, [_pointer_type]),
        ("mjb_nstate", _int, [_pointer_type]),
        ("mjb_apply", _int, [_pointer_type, _pointer_type, _int, _pointer_type, _pointer_type, _int]),
        ("mjb_status", ctypes.POINTER(_int), [_pointer_type]),
        ("mjb_error", ctypes.c_char_p, [_pointer_type, _int]),
        ("mjb_setModels", None, [_pointer_type, _pointer_type]),
        ("mjb_warning", ctypes.POINTER(_int), [_pointer_type]),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found
