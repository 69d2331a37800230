"""Cache keys of native kernels: a hash of everything that determines a kernel's machine code.

The key of a kernel covers its byte code, the constants it refers to, and the keys of all kernels it calls. So an edit
of any called function gives the kernel a new key, and the cache never returns outdated machine code.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import os
import sys
from contextlib import suppress
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

KEYS: dict[int, tuple[str, Any]] = {}
"""Key of each kernel by the kernel's `id`. The kernel is stored too, so that its id is not reused."""

_BY_VERSION = {"numpy", "math", "cmath", "numba", "llvmlite", "builtins"}
"""Packages whose functions are identified by name, because the package versions are part of every key."""


@cache
def _versions() -> str:
    found = [f"python {sys.version_info[:2]}"]
    for package in ("numba", "llvmlite", "numpy", "mujoco-core", "embreex"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} absent")
    return ", ".join(found)


def key_of(function: FunctionType, signature: str, options: dict[str, Any]) -> str:
    """Return the cache key of a kernel.

    Args:
        function: Python function of the kernel.
        signature: C signature as text; empty if numba infers the types.
        options: Options of the compiler.
    """
    digest = _Digest()
    digest.add(
        _versions(),
        signature,
        *(f"{name} {sorted(value) if isinstance(value, set) else value}" for name, value in options.items()),
    )
    digest.add_function(function)
    return digest.key()


class _Digest:
    """Hash of everything that determines a kernel's machine code."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._seen: set[int] = set()

    def key(self) -> str:
        return self._hash.hexdigest()

    def add(self, *texts: str) -> None:
        for text in texts:
            self._hash.update(f"{len(text)}:{text}".encode())

    def add_function(self, function: FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        code = function.__code__
        known = {**vars(builtins), **function.__globals__, **_closure_of(function)}
        self.add_value((function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items()))))
        self._add_code(code, function.__doc__)
        for name, *attributes in sorted(_outer_names(code)):
            if name in known:
                self.add(name, *attributes)
                self.add_value(_resolve(known[name], attributes))
            elif name != function.__name__:
                raise NameError(
                    f"the kernel {function.__qualname__} uses {name!r}, which is not defined before it; move the "
                    "definition above the kernel, so that changes of it are part of the kernel's cache key"
                )

    def _add_code(self, code: CodeType, docstring: str | None = None) -> None:
        """Add byte code, names and constants, except the docstring (the first constant), which is not compiled."""
        self.add(code.co_code.hex(), repr((code.co_names, code.co_varnames, code.co_freevars)))
        has_docstring = docstring is not None and code.co_consts[:1] == (docstring,)
        for constant in code.co_consts[has_docstring:]:
            if isinstance(constant, CodeType):
                self._add_code(constant)
            else:
                self.add_value(constant)

    def add_value(self, value: Any) -> None:
        if id(value) in KEYS:
            self.add(KEYS[id(value)][0])
        elif str(getattr(value, "__module__", "")).split(".")[0] in _BY_VERSION and hasattr(value, "__qualname__"):
            self.add(value.__module__, value.__qualname__)
        elif isinstance(function := _python_function(value), FunctionType):
            self.add(repr(sorted(getattr(value, "targetoptions", {}).items())))
            self.add_function(function)
        elif isinstance(value, tuple):
            self.add(type(value).__qualname__, str(len(value)))
            for item in value:
                self.add_value(item)
        elif isinstance(value, np.ndarray):
            self.add(repr((value.dtype, value.shape)), value.tobytes().hex())
        elif isinstance(value, frozenset):
            self.add(*sorted(map(repr, value)))
        elif isinstance(value, type) and issubclass(value, Enum):
            self.add(value.__qualname__, *(repr((member.name, member.value)) for member in value))
        elif isinstance(value, types.ExternalFunction):
            self.add(value.symbol, str(value.sig))
        elif isinstance(value, _HASHED_BY_REPR):
            self.add(type(value).__qualname__, repr(value))
        else:
            self.add(os.urandom(16).hex())  # unknown type: a random key, so that the kernel is always compiled again


_HASHED_BY_REPR: tuple[type, ...] = (
    *(int, float, complex, str, bytes, type(None), type(Ellipsis)),
    *(np.generic, np.dtype, np.ufunc, types.Type, ir.Type),
)
"""Types whose repr describes the value completely and is the same in every process."""


def _python_function(value: Any) -> Any:
    """Return the Python function of a dispatcher, C function or intrinsic; other values are returned unchanged."""
    return getattr(value, "py_func", None) or getattr(value, "_pyfunc", None) or getattr(value, "_defn", value)


def _closure_of(function: FunctionType) -> dict[str, Any]:
    """Return the variables that a function uses from its enclosing functions."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet, as a function's own name
            found[name] = cell.cell_contents
    return found


def _resolve(value: Any, attributes: list[str]) -> Any:
    """Return the object that attributes of a module refer to; for other values, return the value itself."""
    for attribute in attributes:
        if not isinstance(value, ModuleType):
            break
        value = getattr(value, attribute)
    return value


# The byte code is decoded here, because `dis.get_instructions` took a tenth of a warm start. The argument of an
# instruction is an index into the names, in some instructions shifted by bits with another meaning.
_EXTENDED, _CACHE = dis.opmap["EXTENDED_ARG"], dis.opmap["CACHE"]
_GLOBAL, _OUTER = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_DEREF"]
_ATTRIBUTES = {
    dis.opmap[name]: shift
    for name, shift in (("LOAD_METHOD", 0), ("LOAD_ATTR", 0 if sys.version_info < (3, 12) else 1))
    if name in dis.opmap
}


def _outer_names(code: CodeType) -> set[tuple[str, ...]]:
    """Return the global and enclosing names that a function uses, each followed by the attributes read from it."""
    found: set[tuple[str, ...]] = set()
    current: tuple[str, ...] = ()
    extended = 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        number = extended << 8 | low
        extended = number if operation == _EXTENDED else 0
        if operation in (_EXTENDED, _CACHE):
            continue
        if operation in _ATTRIBUTES and current:
            current = (*current, code.co_names[number >> _ATTRIBUTES[operation]])
            continue
        found.add(current)
        current = ()
        if operation == _GLOBAL:
            current = (code.co_names[number >> 1],)
        elif operation == _OUTER:
            current = (code._varname_from_oparg(number),)  # type: ignore[attr-defined]
    own = {(name,) for name in (*code.co_cellvars, *code.co_varnames)}
    inner = [_outer_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return {names for names in found.union(*inner) if names and names[:1] not in own}
