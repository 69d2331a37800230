"""Native kernels: numba functions cached where a user may write, and the few words needed to reach raw memory.

A kernel is found in the cache by what it *is*: its byte code, the constants it refers to, and the same of every kernel
it calls. So an edit anywhere below a kernel gives it a new place, and a stale one is never served.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Sums may be reordered and fused, but NaN and infinity stay what they are: divergence must be seen.
FASTMATH = {"reassoc", "nsz", "arcp", "contract", "afn"}


def kernel(function: Callable[..., Any]) -> Any:
    """A native function, to be called from Python or from other kernels; releases the GIL."""
    return _compile(function, lambda f: numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)(f))


def native(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A native function with a C signature and an `address`, to be called through a pointer."""

    def decorate(function: Callable[..., Any]) -> Any:
        return _compile(
            function,
            lambda f: numba.cfunc(signature, cache=True, error_model="numpy", fastmath=FASTMATH)(f),
            str(signature),
        )

    return decorate


# ------------------------------------------------------------------------------------------------ cache


@cache
def cache_folder() -> Path | None:
    """The folder of compiled kernels: SKERRY_CACHE_DIR, or the user's cache folder; None if neither can be written."""
    if given := os.environ.get("SKERRY_CACHE_DIR"):
        root = Path(given)
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "skerry"
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "skerry"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skerry"
    folder = root / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        _say(f"skerry: compiled kernels cannot be kept in {folder} ({error.strerror}); set SKERRY_CACHE_DIR")
        return None


_KEYS: dict[int, str] = {}  # id of a kernel object → its key; kernels are module-level and live as long as the process


def _compile(function: Callable[..., Any], build: Callable[[Callable[..., Any]], Any], signature: str = "") -> Any:
    key = _key_of(function, signature)
    with _caching_in(key) as place:
        if signature and not any(place.glob("**/*.nbc")):
            _announce()
        result = build(function)
    _KEYS[id(result)] = key
    return result


@contextmanager
def _caching_in(key: str) -> Iterator[Path]:
    """Point numba at the folder of this key while it sets up a kernel; its global setting is the user's own."""
    folder = cache_folder()
    place = (folder or Path(tempfile.gettempdir()) / f"skerry-{os.getpid()}") / key
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(place)
    try:
        yield place
    finally:
        numba.config.CACHE_DIR = before


@cache
def _announce() -> None:
    _say("skerry: compiling native kernels; this happens once per version and takes about half a minute …")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@cache
def _versions() -> str:
    found = [f"python {sys.version_info[:2]}"]
    for package in ("numba", "llvmlite", "numpy", "mujoco-core", "embreex"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} absent")
    return ", ".join(found)


def _key_of(function: Callable[..., Any], signature: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{_versions()}|{signature}|".encode())
    assert isinstance(function, FunctionType)
    _digest_function(function, digest, set())
    return digest.hexdigest()


def _digest_function(function: FunctionType, digest: Any, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    names = _digest_code(function.__code__, digest)
    for name in sorted(names & function.__globals__.keys()):
        digest.update(f"{name}=".encode())
        _digest_value(function.__globals__[name], digest, seen)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        digest.update(f"{name}=".encode())
        _digest_value(cell.cell_contents, digest, seen)


def _digest_code(code: CodeType, digest: Any) -> set[str]:
    digest.update(code.co_code)
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _digest_code(constant, digest)
        else:
            digest.update(repr(constant).encode())
    digest.update(repr((code.co_names, code.co_varnames)).encode())
    return names


def _digest_value(value: object, digest: Any, seen: set[int]) -> None:
    inner = getattr(value, "py_func", None) or getattr(value, "_pyfunc", None) or getattr(value, "_defn", value)
    if id(value) in _KEYS:
        digest.update(_KEYS[id(value)].encode())
    elif isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        outside = value.__name__.split(".")[0] in {"numpy", "math", "numba", "llvmlite"}
        digest.update(value.__name__.encode() if outside or file is None else Path(file).read_bytes())
    elif isinstance(inner, FunctionType):
        _digest_function(inner, digest, seen)
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.dtype, value.shape)).encode() + value.tobytes())
    elif isinstance(value, int | float | complex | str | bytes | bool | tuple | frozenset | type(None) | np.generic):
        digest.update(repr(value).encode())
    else:
        digest.update(
            f"{type(value).__qualname__} {getattr(value, '__name__', '')}{getattr(value, 'symbol', '')}".encode()
        )


# ------------------------------------------------------------------------------------------------ raw memory
# Addresses are plain integers (intp). None of them is ever a global of a kernel: they come in tables.


@intrinsic
def load_word(typingctx: Any, address: Any) -> Any:
    """The 64-bit word stored at an address: a pointer, or an integer of a table."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def load_float(typingctx: Any, address: Any) -> Any:
    """The float64 stored at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

    return types.float64(types.int64), generate


def _pointer_to(element: Any, llvm_type: Any) -> Any:
    @intrinsic
    def cast(typingctx: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], llvm_type.as_pointer())

        return types.CPointer(element)(types.int64), generate

    return cast


float_pointer = _pointer_to(types.float64, ir.DoubleType())
single_pointer = _pointer_to(types.float32, ir.FloatType())
word_pointer = _pointer_to(types.int64, ir.IntType(64))
integer_pointer = _pointer_to(types.int32, ir.IntType(32))


@intrinsic
def address_of(typingctx: Any, pointer: Any) -> Any:
    """A void pointer as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(types.voidptr), generate


@intrinsic
def stack_floats(typingctx: Any, count: Any) -> Any:
    """The address of so many float64 on the stack of the calling kernel; the count is a literal."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), size))
        array.align = 64
        return builder.ptrtoint(array, ir.IntType(64))

    return types.int64(types.IntegerLiteral(size)), generate


def _caller(count: int) -> Any:
    """A call through a function pointer that takes `count` words and returns nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word] * count)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), list(arguments[1:]))
        return context.get_dummy_value()

    return generate


@intrinsic
def call3(typingctx: Any, function: Any, a: Any, b: Any, c: Any) -> Any:
    """Call the native function at an address with three words."""
    return types.void(*[types.int64] * 4), _caller(3)


@intrinsic
def call7(typingctx: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
    """Call the native function at an address with seven words."""
    return types.void(*[types.int64] * 8), _caller(7)


@numba.njit(inline="always")
def floats(address: int, count: int) -> Any:
    """So many float64 at an address, as an array."""
    return numba.carray(float_pointer(address), (count,))


@numba.njit(inline="always")
def words(address: int, count: int) -> Any:
    """So many int64 at an address, as an array."""
    return numba.carray(word_pointer(address), (count,))


@numba.njit(inline="always")
def integers(address: int, count: int) -> Any:
    """So many int32 at an address, as an array."""
    return numba.carray(integer_pointer(address), (count,))
