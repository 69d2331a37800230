"""Settings of all tests, and what several of them need."""

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

# How long an example takes says nothing on a shared machine.
settings.register_profile("skerry", deadline=None)
settings.load_profile("skerry")

# Whoever runs them in a shell with ROS gets the same as others.
for name in ("ROS_DISTRO", "ROS_DOMAIN_ID", "ROS_MASTER_URI", "ROS_HOSTNAME", "ROS_IP"):
    os.environ.pop(name, None)


def pytest_collection_finish() -> None:
    """What is there by now stays to the end: that Python looks through it for garbage takes a twelfth of all time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["embree", "own"])
def tracer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tracer:
    """Each of the tracers in turn."""
    from skerry.core.errors import DependencyError
    from skerry.rays import load_tracer

    monkeypatch.setenv("SKERRY_TRACER", request.param)
    try:
        return load_tracer()
    except DependencyError as error:
        pytest.skip(str(error))


@pytest.fixture
def skerry(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., object]]:
    """Calls the `skerry` command as a terminal does, without the seconds that a process of its own takes to start."""
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
    """The folder in which a user works: its files are found by their names, its modules can be imported."""
    known = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
