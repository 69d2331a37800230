"""The page on ROS shows the topics that there are."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs" / "ros_topics.py"))


@pytest.mark.parametrize("vehicle", SCRIPT["VEHICLES"])
def test_the_tables_are_what_the_script_writes(vehicle: str) -> None:
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    assert f"<!-- topics of {vehicle} -->" in page
    assert SCRIPT["write"](page, vehicle) == page, "run scripts/docs/ros_topics.py"
