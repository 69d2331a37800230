"""Conflicts of installed packages are detected and explained."""

import pytest

from skerry.core.dependencies import check_mujoco, mujoco_problem


def test_a_compatible_mujoco_is_accepted() -> None:
    assert mujoco_problem("4.0.1", None, "4.0.1") is None
    assert mujoco_problem("4.0.1", "4.0.0") is None
    check_mujoco()


def test_an_old_mujoco_that_shadows_the_core_is_explained() -> None:
    problem = mujoco_problem("4.0.1", "3.3.2", "3.3.2")
    assert problem is not None
    assert "mujoco-core 4.x" in problem
    assert "3.3.2" in problem
    assert "pip uninstall" in problem


def test_an_old_mujoco_is_detected_before_any_import() -> None:
    problem = mujoco_problem("4.0.1", "3.3.2")
    assert problem is not None
    assert "two versions" in problem
    assert "mujoco 3.3.2" in problem


@pytest.mark.parametrize("version", ["3.9.0", "5.0.0"])
def test_a_core_of_another_generation_is_refused(version: str) -> None:
    assert "needs mujoco-core 4.x" in (mujoco_problem(version, None, version) or "")


def test_a_missing_mujoco_is_explained() -> None:
    assert "not installed" in (mujoco_problem(None, None) or "")
