"""Cache of native kernels: never stale, never compiled twice, and only in the cache folder."""

import dataclasses
import dis
import inspect
import os
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from skerry.core import kernel_keys, kernels

# A package whose kernels depend on other files in every possible way.
FILES = {
    "constants.py": """
from enum import IntEnum
import numpy as np
FACTOR = 3.0
PAIR = (1.0, (4.0, 5))
TABLE = np.arange(2000.0) * 2.0
class Mode(IntEnum):
    FAST = 7
""",
    "helper.py": """
import numba
from skerry.core.kernels import kernel
from pack.constants import FACTOR
OTHER = FACTOR
@kernel
def twice(x):
    return x * 2.0
@kernel
def shifted(x, by=5.0):
    return x + by
@kernel
def scaled(x):
    return x * FACTOR
@numba.njit
def plain(x):
    return x - 6.0
def make(n):
    @kernel
    def add(x):
        return x + n
    return add
""",
    "main.py": """
import ctypes
import numpy as np
from numba import types
from pack import constants, helper
from pack.constants import FACTOR, PAIR, TABLE, Mode
from pack.helper import make, plain, scaled, shifted, twice
from skerry.core.kernels import kernel, native

@kernel
def by_own_body(x):
    return x * 8.0
@kernel
def by_helper(x):
    return twice(x) + 1.0
@kernel
def by_module(x):
    return helper.twice(x) + 1.0
@kernel
def by_module_of_module(x):
    return x * helper.OTHER
@kernel
def by_constant(x):
    return x * FACTOR
@kernel
def by_module_constant(x):
    return x * constants.FACTOR
@kernel
def by_constant_two_files_away(x):
    return scaled(x)
@kernel
def by_default(x):
    return shifted(x)
@kernel
def by_tuple(x):
    return x * PAIR[1][0]
@kernel
def by_array(x):
    return x * TABLE[1000]
@kernel
def by_enumeration(x):
    return x * Mode.FAST.value
@kernel
def by_plain_function(x):
    return plain(x)
by_closure = make(9.0)
@native(types.float64(types.float64))
def by_address(x):
    return twice(x) + 2.0

results = {name: value(10.0) for name, value in globals().items() if name.startswith("by_") and name != "by_address"}
results["by_address"] = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(by_address.address)(10.0)
for name, value in results.items():
    print(name, value)
""",
}

EDITS = {
    "constants.py": [("FACTOR = 3.0", "FACTOR = 4.0"), ("(4.0, 5)", "(5.0, 5)"), ("* 2.0", "* 3.0"), ("= 7", "= 8")],
    "helper.py": [("x * 2.0", "x * 3.0"), ("by=5.0", "by=6.0"), ("x - 6.0", "x - 7.0")],
    "main.py": [("x * 8.0", "x * 9.0"), ("make(9.0)", "make(8.0)")],
}

BEFORE = {
    "by_own_body": 80,
    "by_helper": 21,
    "by_module": 21,
    "by_module_of_module": 30,
    "by_constant": 30,
    "by_module_constant": 30,
    "by_constant_two_files_away": 30,
    "by_default": 15,
    "by_tuple": 40,
    "by_array": 20_000,
    "by_enumeration": 70,
    "by_plain_function": 4,
    "by_closure": 19,
    "by_address": 22,
}
AFTER = {
    "by_own_body": 90,
    "by_helper": 31,
    "by_module": 31,
    "by_module_of_module": 40,
    "by_constant": 40,
    "by_module_constant": 40,
    "by_constant_two_files_away": 40,
    "by_default": 16,
    "by_tuple": 50,
    "by_array": 30_000,
    "by_enumeration": 80,
    "by_plain_function": 3,
    "by_closure": 18,
    "by_address": 32,
}


class Package:
    """Package in a folder like site-packages, with a cache folder beside it."""

    def __init__(self, root: Path) -> None:
        self.site, self.cache, self.temporary = root / "site-packages", root / "cache", root / "temporary"
        self.folder = self.site / "pack"
        self.folder.mkdir(parents=True)
        self.temporary.mkdir()
        (self.folder / "__init__.py").touch()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        self.runs = 0

    def run(self, cache: Path | None = None) -> tuple[dict[str, float], str]:
        self.runs += 1
        environment = {
            **os.environ,
            "SKERRY_CACHE_DIR": str(cache or self.cache),
            "PYTHONPATH": str(self.site),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": str(self.runs),
            "TMPDIR": str(self.temporary),
        }
        command = [sys.executable, "-m", "pack.main"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
        assert result.returncode == 0, result.stderr
        rows = [line.split() for line in result.stdout.splitlines()]
        return {name: float(value) for name, value in rows}, result.stderr

    def edit(self, name: str) -> None:
        """Change a file without a change of its size or its modification time."""
        path = self.folder / name
        text, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        for old, new in EDITS[name]:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text)
        os.utime(path, ns=times)

    def files(self) -> set[str]:
        return {str(path.relative_to(self.site)) for path in self.site.rglob("*") if path.is_file()}

    def compiled(self) -> dict[Path, tuple[int, bytes]]:
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in self.cache.rglob("*.nb?")}


def test_a_kernel_is_compiled_once_and_again_when_anything_it_uses_is_edited(tmp_path: Path) -> None:
    package = Package(tmp_path)
    sources = package.files()
    results, said = package.run()
    assert results == BEFORE
    assert said.count("compiling native kernels") == 1
    compiled = package.compiled()
    assert len([path for path in compiled if path.suffix == ".nbc"]) >= len(BEFORE)

    results, said = package.run()
    assert results == BEFORE
    assert said == ""
    assert package.compiled() == compiled

    package.edit("constants.py")
    package.edit("helper.py")
    results, said = package.run()
    own = {name: BEFORE[name] for name in ("by_own_body", "by_closure")}
    assert results == {**AFTER, **own}
    assert said.count("compiling native kernels") == 1

    package.edit("main.py")
    assert package.run()[0] == AFTER

    assert package.files() == sources
    assert not any(package.temporary.iterdir())


def test_a_read_only_cache_folder_prints_one_line_and_has_no_other_effect(tmp_path: Path) -> None:
    package = Package(tmp_path)
    sources = package.files()
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    results, said = package.run(blocked)
    assert results == BEFORE
    assert said.startswith(f"skerry: compiled kernels cannot be stored in {blocked / 'kernels'} (")
    assert "set SKERRY_CACHE_DIR" in said
    assert said.count("\n") == 1
    assert package.files() == sources
    assert not any(package.temporary.iterdir())


def test_a_kernel_typed_at_a_prompt_works(tmp_path: Path) -> None:
    program = (
        "from skerry.core.kernels import kernel\n"
        "@kernel\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(10))"
    )
    environment = {**os.environ, "SKERRY_CACHE_DIR": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stdout) == (0, "55\n"), result.stderr


def test_a_kernel_must_be_defined_after_what_it_uses() -> None:
    with pytest.raises(NameError, match=r"the kernel .*early uses 'defined_below', which is not defined before it"):

        @kernels.kernel
        def early(x: float) -> float:
            return x * defined_below  # type: ignore[name-defined]  # noqa: F821


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def test_the_global_names_of_a_kernel_equal_those_that_dis_reports() -> None:
    """The bytecode of this Python version, for a large amount of code."""
    for module in (inspect, dataclasses, typing):
        code = compile(Path(module.__file__).read_text(), module.__file__, "exec")
        for part in _codes(code):
            names = {
                str(step.argval)
                for inner in _codes(part)
                for step in dis.get_instructions(inner)
                if step.opname in {"LOAD_GLOBAL", "LOAD_DEREF"}
            }
            own = {name for inner in _codes(part) for name in (*inner.co_cellvars, *inner.co_varnames)}
            found = {name for name, *_ in kernel_keys._outer_names(part)}
            assert found <= names
            assert names - own <= found


def test_two_types_of_numba_do_not_share_a_key() -> None:
    """The machine code of an intrinsic depends on types from its closure."""
    keys = set()
    for value in (kernels.float_pointer, kernels.single_pointer, kernels.word_pointer, kernels.integer_pointer):
        digest = kernel_keys._Digest()
        digest.add_value(value)
        keys.add(digest.key())
    assert len(keys) == 4


def test_an_object_of_unknown_content_never_has_the_same_key_twice() -> None:
    def key() -> str:
        digest = kernel_keys._Digest()
        digest.add_value(thing)
        return digest.key()

    thing: object = object()
    assert key() != key()
    thing = (1, 2.0, "three", None, True)
    assert key() == key()


# ------------------------------------------------------------------------------------------------ the folder


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.delenv("SKERRY_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def folder() -> Path | None:
    return kernels.cache_folder.__wrapped__()  # the result is cached for the whole process


@pytest.mark.skipif(sys.platform != "linux", reason="the user's cache folder is elsewhere")
def test_kernels_are_kept_in_the_users_cache_folder(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert folder() == tmp_path / "home" / ".cache" / "skerry" / "kernels"
    fresh.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder() == tmp_path / "xdg" / "skerry" / "kernels"


@pytest.mark.parametrize(("given", "place"), [("mine", "mine"), ("~/mine", "home/mine"), ("{root}/mine", "mine")])
def test_the_user_can_set_the_cache_folder(fresh: pytest.MonkeyPatch, tmp_path: Path, given: str, place: str) -> None:
    fresh.setenv("SKERRY_CACHE_DIR", given.format(root=tmp_path))
    assert folder() == tmp_path / place / "kernels"


def test_a_user_without_a_home_can_run(fresh: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    fresh.setattr(kernels.Path, "home", no_home)
    assert folder() is None
    assert capsys.readouterr().err.startswith(
        "skerry: compiled kernels cannot be stored in the user's cache folder (Could"
    )


def test_a_strict_kernel_fuses_nothing_and_has_its_own_cache_entry() -> None:
    def off_by_rounding(x: float, y: float) -> float:
        return x * x + y

    fast, strict = kernels.kernel(off_by_rounding), kernels.strict_kernel(off_by_rounding)
    assert kernel_keys.KEYS[id(fast)][0] != kernel_keys.KEYS[id(strict)][0]
    x = 1.0 + 2.0**-30
    assert strict(x, -(x * x)) == 0.0  # a fused operation gives 2^-60


CHAIN = """
import sys
import typing
from collections.abc import Iterator
import numpy as np
from skerry.core.kernels import kernel

@kernel
def weigh(x, n, a, b):
    total = 0.0
    for k in range(n):
        u = x[k] - a
        total += u * u * b + x[k] / 3.0 - np.sqrt(abs(u)) * a
        for j in range(k):
            if x[j] > u:
                total -= x[j] * b * u
            else:
                total += np.exp(-x[j] * u) * a
    return total

@kernel
def first(x):
    total = 0.0
    for i in range(6):
        total += weigh(x, 16, 0.1, 0.7) * weigh(x[i:], 8, 0.1, 0.7)
    return total

@kernel
def second(x):
    total = 0.0
    for i in range(x.size - 8):
        total += weigh(x[i:], x.size - i, x[i], total * 1e-3)
    return total

@kernel
def third(x):
    return first(x) - weigh(x, 30, 0.3, 0.2) * second(x)

x = np.sin(np.arange(40.0)) + 1.3
found = {name: float(globals()[name](x)).hex() for name in sys.argv[1:]}
print(sorted(found.items()))
"""


def test_kernels_that_share_a_kernel_give_the_same_bits_with_a_fresh_cache_and_a_warm_one(tmp_path: Path) -> None:
    """The order of the first calls has no effect: each caller has its own copy of the kernels that it calls."""
    program = tmp_path / "chain.py"
    program.write_text(CHAIN)
    environment = {**os.environ, "SKERRY_CACHE_DIR": str(tmp_path / "cache")}

    def run(*names: str) -> str:
        command = [sys.executable, str(program), *names]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    fresh = run("first", "second", "third")
    assert run("third", "second", "first") == fresh
    assert run("second", "third", "first") == fresh
