"""The keys of native kernels: a hash of all that a kernel's machine code is made from.

A kernel is found in the cache by what it *is*: its byte code, the constants it refers to, and the same of every kernel
it calls. So an edit anywhere below a kernel gives it a new place, and a stale one is never served.
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
"""Of each kernel, by its id, the key; and the kernel itself, so that its id stays its own."""

_BY_VERSION = {"numpy", "math", "cmath", "numba", "llvmlite", "builtins"}
"""Packages that change with their version only."""


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
    """The key of a kernel that is about to be compiled."""
    digest = _Digest()
    digest.add(
        _versions(),
        signature,
        *(f"{name} {sorted(value) if isinstance(value, set) else value}" for name, value in options.items()),
    )
    digest.add_function(function)
    return digest.key()


class _Digest:
    """A hash of all that a kernel's machine code is made from."""

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
                    f"the kernel {function.__qualname__} uses {name!r}, which does not stand above it; "
                    "what is defined below it could change without its compiled form being made anew"
                )

    def _add_code(self, code: CodeType, docstring: str | None = None) -> None:
        """Add byte code, names and constants; a docstring, which is the first constant, changes no machine code."""
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
            self.add(os.urandom(16).hex())  # whatever it is, it may change unseen: compiled anew each time


_HASHED_BY_REPR: tuple[type, ...] = (
    *(int, float, complex, str, bytes, type(None), type(Ellipsis)),
    *(np.generic, np.dtype, np.ufunc, types.Type, ir.Type),
)
"""What its repr says all about, in every process alike."""


def _python_function(value: Any) -> Any:
    """The Python function that a dispatcher, a C function or an intrinsic is made from; or the value itself."""
    return getattr(value, "py_func", None) or getattr(value, "_pyfunc", None) or getattr(value, "_defn", value)


def _closure_of(function: FunctionType) -> dict[str, Any]:
    """What a function knows of the functions around it."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet, as a function's own name
            found[name] = cell.cell_contents
    return found


def _resolve(value: Any, attributes: list[str]) -> Any:
    """What a kernel takes from a module, by its name there; other values are taken as a whole."""
    for attribute in attributes:
        if not isinstance(value, ModuleType):
            break
        value = getattr(value, attribute)
    return value


# The module `dis` says the same of every instruction and more, which took a tenth of a warm start. The number behind an
# instruction is a name's place, in some above bits that mean something else.
_EXTENDED, _CACHE = dis.opmap["EXTENDED_ARG"], dis.opmap["CACHE"]
_GLOBAL, _OUTER = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_DEREF"]
_ATTRIBUTES = {
    dis.opmap[name]: shift
    for name, shift in (("LOAD_METHOD", 0), ("LOAD_ATTR", 0 if sys.version_info < (3, 12) else 1))
    if name in dis.opmap
}


def _outer_names(code: CodeType) -> set[tuple[str, ...]]:
    """The names that a function looks up outside itself, each with the attributes that it takes of it."""
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
