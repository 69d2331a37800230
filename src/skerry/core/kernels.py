"""Native kernels: numba functions with a cache on disk, and intrinsics for access to raw memory."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import event
from numba.extending import intrinsic

from skerry.core.kernel_keys import KEYS, key_of

# Operations may be reordered and fused. NaN and infinity are preserved, because divergence must be detected.
FASTMATH = {"reassoc", "nsz", "arcp", "contract", "afn"}
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": FASTMATH}
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True}
STRICT: dict[str, Any] = {**OPTIONS, "fastmath": set()}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that can be called from Python and from other kernels; it releases the GIL.

    The kernel is inlined into each caller. A shared copy would be compiled for the first caller and would round as
    in that caller, so the results of a first run would differ from later runs.
    """
    return _dispatcher(function, INLINED)


def strict_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel without reordered or fused operations, so that it gives the same bits on every machine.

    It stays strict when a kernel that is not strict calls it.
    """
    return _dispatcher(function, STRICT)


class NativeFunction:
    """Native function with a C signature, called through a pointer.

    It is compiled when its address is first read, so that a module with ten of them compiles only those that are used.
    """

    def __init__(self, function: FunctionType, signature: Any) -> None:
        self._function, self._signature = function, signature
        self._key = key_of(function, str(signature), OPTIONS)
        KEYS[id(self)] = (self._key, self)

    @cached_property
    def address(self) -> int:
        """Address of the machine code."""
        return int(self._compiled.address)

    @property
    def ctypes(self) -> Any:
        """Function that can be called from Python through ctypes."""
        return self._compiled.ctypes

    @cached_property
    def _compiled(self) -> Any:
        def build(function: FunctionType, cached: bool) -> Any:
            return numba.cfunc(self._signature, cache=cached, **OPTIONS)(function)

        folder = _folder_for(self._function, self._key)
        if folder is None:
            return build(self._function, False)
        if not any(folder.glob("**/*.nbc")):
            _announce()
        with _caching_in(folder):
            return build(self._function, True)


def native(signature: Any) -> Callable[[Callable[..., Any]], NativeFunction]:
    """Return a decorator that makes a `NativeFunction` with a C signature."""

    def decorate(function: Callable[..., Any]) -> NativeFunction:
        assert isinstance(function, FunctionType)
        return NativeFunction(function, signature)

    return decorate


# ------------------------------------------------------------------------------------------------ cache


@cache
def cache_folder() -> Path | None:
    """Return the folder of compiled kernels: SKERRY_CACHE_DIR or the user's cache folder; None if not writable."""
    folder: Path | str = "the user's cache folder"
    try:
        folder = _cache_root().absolute() / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home folder
        reason = getattr(error, "strerror", None) or error
        _warn(
            f"skerry: compiled kernels cannot be stored in {folder} ({reason}), so every start takes about half a "
            "minute; set SKERRY_CACHE_DIR to a writable folder"
        )
        return None


def _cache_root() -> Path:
    if given := os.environ.get("SKERRY_CACHE_DIR"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "skerry"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "skerry"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skerry"


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that numba compiles at the first call with each combination of argument types."""
    assert isinstance(function, FunctionType)
    key = key_of(function, "", options)
    folder = _folder_for(function, key)
    if folder is None:
        result = numba.njit(nogil=True, **options)(function)
    else:
        with _caching_in(folder):
            result = numba.njit(cache=True, nogil=True, **options)(function)
    KEYS[id(result)] = (key, result)
    return result


def _folder_for(function: FunctionType, key: str) -> Path | None:
    """Return the cache folder of a kernel; None if there is no cache or the kernel has no source file."""
    folder = cache_folder()
    return None if folder is None or not Path(function.__code__.co_filename).is_file() else folder / key


@contextmanager
def _caching_in(folder: Path) -> Iterator[None]:
    """Make numba use this cache folder inside the `with` block; the global setting belongs to the user."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@cache
def _announce() -> None:
    _warn("skerry: compiling native kernels; this happens once and takes up to two minutes …")


class _CompileListener(event.Listener):  # type: ignore[misc]
    """Listener that prints a message when a kernel is compiled at its first call, which delays that call."""

    def on_start(self, happening: Any) -> None:
        if id(happening.data["dispatcher"]) in KEYS and cache_folder() is not None:
            _announce()

    def on_end(self, happening: Any) -> None:
        pass


event.register("numba:compile", _CompileListener())


def _warn(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------ raw memory
# Addresses are plain integers (intp). They are never globals of a kernel; kernels read them from tables.


@intrinsic
def load_word(typingctx: Any, address: Any) -> Any:
    """Return the int64 stored at an address: a pointer, or an integer of a table."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def load_float(typingctx: Any, address: Any) -> Any:
    """Return the float64 stored at an address."""

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
    """Return a void pointer as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(types.voidptr), generate


@intrinsic
def stack_floats(typingctx: Any, count: Any) -> Any:
    """Return the address of `count` float64 on the stack of the calling kernel; `count` must be a literal.

    They are not set to zero, unlike numba's own arrays: for a thousand numbers that takes longer than most kernels.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with builder.goto_entry_block():
            array = builder.alloca(ir.ArrayType(ir.DoubleType(), size))
        array.align = 64
        return builder.ptrtoint(array, ir.IntType(64))

    return types.int64(types.IntegerLiteral(size)), generate


@intrinsic
def wide_product(typingctx: Any, a: Any, b: Any) -> Any:
    """Return the 128-bit product of two uint64 as its upper and lower 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        first, second = (builder.zext(argument, wide) for argument in arguments)
        product, word = builder.mul(first, second), ir.IntType(64)
        halves = builder.trunc(builder.lshr(product, wide(64)), word), builder.trunc(product, word)
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


@intrinsic
def fetch_add(typingctx: Any, address: Any, step: Any) -> Any:
    """Return the int64 at an address and add `step` to it, atomically, so that each thread gets another value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "monotonic")

    return types.int64(types.int64, types.int64), generate


def _caller(count: int) -> Any:
    """Return the code generator of a call through a function pointer with `count` int64 arguments, returning void."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word] * count)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), list(arguments[1:]))
        return context.get_dummy_value()

    return generate


@intrinsic
def call0(typingctx: Any, function: Any) -> Any:
    """Call the native function at an address without arguments."""
    return types.void(types.int64), _caller(0)


@intrinsic
def call1(typingctx: Any, function: Any, a: Any) -> Any:
    """Call the native function at an address with one int64."""
    return types.void(*[types.int64] * 2), _caller(1)


@intrinsic
def call3(typingctx: Any, function: Any, a: Any, b: Any, c: Any) -> Any:
    """Call the native function at an address with three int64."""
    return types.void(*[types.int64] * 4), _caller(3)


@intrinsic
def call4(typingctx: Any, function: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Call the native function at an address with four int64."""
    return types.void(*[types.int64] * 5), _caller(4)


@intrinsic
def call5(typingctx: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Call the native function at an address with five int64."""
    return types.void(*[types.int64] * 6), _caller(5)


@intrinsic
def call6(typingctx: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    """Call the native function at an address with six int64."""
    return types.void(*[types.int64] * 7), _caller(6)


@intrinsic
def call7(typingctx: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
    """Call the native function at an address with seven int64."""
    return types.void(*[types.int64] * 8), _caller(7)


UNKNOWN_SIZE = 2**31
"""Size for views of memory whose size a kernel does not know; larger than any real size."""


@numba.njit(inline="always")
def floats(address: int, count: int) -> Any:
    """Return an array view of `count` float64 at an address."""
    return numba.carray(float_pointer(address), (count,))


@numba.njit(inline="always")
def singles(address: int, count: int) -> Any:
    """Return an array view of `count` float32 at an address."""
    return numba.carray(single_pointer(address), (count,))


@numba.njit(inline="always")
def words(address: int, count: int) -> Any:
    """Return an array view of `count` int64 at an address."""
    return numba.carray(word_pointer(address), (count,))


@numba.njit(inline="always")
def integers(address: int, count: int) -> Any:
    """Return an array view of `count` int32 at an address."""
    return numba.carray(integer_pointer(address), (count,))
