"""The shipped URDF equals the output of its script, so it has not been edited by hand."""

import runpy
from pathlib import Path

import pytest

from skerry.scenario.vehicle import SHIPPED

SCRIPTS = sorted((Path(__file__).parents[2] / "scripts" / "vehicles").glob("husky.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_writes_the_urdf_that_is_shipped(script: Path, tmp_path: Path) -> None:
    script_globals = runpy.run_path(str(script))
    script_globals["main"].__globals__["TARGET"] = tmp_path / "robot.urdf"
    script_globals["main"]()
    assert (tmp_path / "robot.urdf").read_bytes() == (SHIPPED / script.stem / "robot.urdf").read_bytes()
