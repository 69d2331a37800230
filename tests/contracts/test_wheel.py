"""The wheel builds, installs into a new environment and runs there; this takes minutes, so it runs only on request."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "wheel"


@pytest.mark.skipif("SKERRY_TEST_WHEEL" not in os.environ, reason="takes minutes; set SKERRY_TEST_WHEEL=1")
def test_the_wheel_builds_installs_and_runs() -> None:
    environment = {**os.environ, "PYTHON": sys.executable}
    result = subprocess.run([str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (size,) = re.findall(r"wheel: (\d+) kB", result.stdout)
    assert int(size) <= 15_000  # kB; pip installs it in a moment
    assert "track reach" in result.stdout
