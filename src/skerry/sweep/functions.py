"""Python functions that a sweep file names as `module:function`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from hashlib import blake2b
from importlib import import_module
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from skerry.core.errors import SkerryError, did_you_mean

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_function(text: str) -> bool:
    """Return whether the text names a function (`module:function`) rather than an expression."""
    return _NAME.fullmatch(text.strip()) is not None


def find_function(text: str, folder: str) -> Callable[..., Any]:
    """Import a function by its name; its module may be in the given folder."""
    module_name, _, name = text.strip().partition(":")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = import_module(module_name)
    except Exception as error:  # user code may raise any exception
        raise SkerryError(f"{text}: the module cannot be imported: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise SkerryError(f"{text}: the module has no function {name!r}; {did_you_mean(name, known)}")
    return function


def digest_of(function: Callable[..., Any]) -> str:
    """Return a hash of the function's source file, so that results of another version are not reused."""
    try:
        file = getsourcefile(function)
    except TypeError:
        file = None
    return "" if file is None else blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()
