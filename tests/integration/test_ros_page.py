"""The page on ROS shows the topics that there are."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs" / "ros_topics.py"))


@pytest.mark.parametrize(("vehicle", "profile"), SCRIPT["TABLES"])
def test_the_tables_are_what_the_script_writes(vehicle: str, profile: str) -> None:
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    assert SCRIPT["mark"](vehicle, profile) in page
    assert SCRIPT["write"](page, vehicle, profile) == page, "run scripts/docs/ros_topics.py"
