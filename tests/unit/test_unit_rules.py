"""The rules of unit tests take effect."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

import skerry


def test_a_unit_test_cannot_build_a_world() -> None:
    with pytest.raises(AssertionError, match="must not build a world"):
        skerry.load({})


def test_a_unit_test_cannot_open_a_port_start_a_process_or_sleep() -> None:
    with socket.socket() as server, pytest.raises(AssertionError, match="open a port"):
        server.bind(("127.0.0.1", 0))
    with pytest.raises(AssertionError, match="start a process"):
        subprocess.run([sys.executable, "--version"], check=False)
    with pytest.raises(AssertionError, match="sleep"):
        time.sleep(0.0)
