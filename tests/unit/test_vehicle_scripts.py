"""What scripts write is what is shipped: nobody has edited a URDF behind its script's back."""

import runpy
from pathlib import Path

import pytest

from skerry.scenario.vehicle import SHIPPED

SCRIPTS = sorted((Path(__file__).parents[2] / "scripts" / "vehicles").glob("husky.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_writes_the_urdf_that_is_shipped(script: Path, tmp_path: Path) -> None:
    made = runpy.run_path(str(script))
    made["main"].__globals__["TARGET"] = tmp_path / "robot.urdf"
    made["main"]()
    assert (tmp_path / "robot.urdf").read_bytes() == (SHIPPED / script.stem / "robot.urdf").read_bytes()
