"""The wheel builds, installs into an environment of its own and runs there; it takes minutes, so only on request."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "wheel"


@pytest.mark.skipif("SKERRY_TEST_WHEEL" not in os.environ, reason="takes minutes; set SKERRY_TEST_WHEEL=1")
def test_the_wheel_builds_installs_and_runs_by_itself() -> None:
    environment = {**os.environ, "PYTHON": sys.executable}
    result = subprocess.run([str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (size,) = re.findall(r"wheel: (\d+) kB", result.stdout)
    assert int(size) <= 15_000  # as few as pip takes in a moment
    assert "track reach" in result.stdout
