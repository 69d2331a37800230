"""Settings of all tests, and fixtures that several test files share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from skerry.rays.tracer import Tracer

# The time of an example means nothing on a shared machine, so Hypothesis has no deadline.
settings.register_profile("skerry", deadline=None)
settings.load_profile("skerry")

# The tests behave the same in a shell in which ROS is set up.
for name in ("ROS_DISTRO", "ROS_DOMAIN_ID", "ROS_MASTER_URI", "ROS_HOSTNAME", "ROS_IP"):
    os.environ.pop(name, None)


def pytest_collection_finish() -> None:
    """Exclude all objects made so far from garbage collection, because scanning them takes 8 % of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["embree", "own"])
def tracer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tracer:
    """Return each ray tracer in turn; a tracer that is not installed is skipped."""
    from skerry.core.errors import DependencyError
    from skerry.rays import load_tracer

    monkeypatch.setenv("SKERRY_TRACER", request.param)
    try:
        return load_tracer()
    except DependencyError as error:
        pytest.skip(str(error))


@pytest.fixture
def skerry(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., object]]:
    """Return a function that runs the `skerry` command in this process, which saves the start of a new process."""
    from skerry.cli import main

    before = signal.getsignal(signal.SIGINT)

    def call(*arguments: str) -> CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["skerry", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return CompletedProcess(arguments, int(end.value.code or 0), *capsys.readouterr())

    yield call
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Change to a temporary folder and make its modules importable; return its path."""
    known = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
