"""Rules of unit tests: no world, no port, no sleep, no process. An attempt fails the test."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from skerry.world.batch import Batch
from skerry.world.world import World


def _refuse(action: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError(f"a unit test must not {action}; move the test to tests/integration")

    return refuse


@pytest.fixture(autouse=True)
def unit_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make worlds, ports, sleeps and processes errors."""
    monkeypatch.setattr(World, "__init__", _refuse("build a world"))
    monkeypatch.setattr(Batch, "__init__", _refuse("build a batch of worlds"))
    monkeypatch.setattr(socket.socket, "bind", _refuse("open a port"))
    monkeypatch.setattr(socket.socket, "connect", _refuse("connect to a port"))
    monkeypatch.setattr(subprocess.Popen, "__init__", _refuse("start a process"))
    monkeypatch.setattr(time, "sleep", _refuse("sleep"))
