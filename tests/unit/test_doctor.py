"""The doctor tells what is missing from what is wrong."""

from __future__ import annotations

import pytest

from skerry.cli import doctor
from skerry.core.errors import SkerryError


def test_a_missing_package_is_wrong_unless_it_is_an_extra() -> None:
    assert doctor._package("numpy").is_well is True
    assert doctor._package("no-such-package").is_well is False
    extra = doctor._package("no-such-package", "ray", "sweeps on a cluster")
    assert extra.is_well is None
    assert "pip install 'skerry[ray]'" in extra.detail


def test_packages_are_those_that_the_package_asks_for() -> None:
    assert {"numpy", "numba", "mujoco-core"} <= set(doctor.packages(None))
    assert doctor.packages("ray") == ["ray"]
    assert "pytest" not in doctor.packages(None)


def test_a_transport_whose_extra_is_missing_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "packages", lambda extra: ["no-such-package"] if extra == "ros" else [])
    found = {finding.name: finding for finding in doctor._kinds("ROS transport", doctor.TRANSPORTS)}
    assert found["ROS transport dds"] == doctor.Finding("ROS transport dds", None, "pip install 'skerry[ros]'")
    assert found["ROS transport endpoint"].is_well


def test_what_fails_is_told_and_the_rest_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise SkerryError("the sea is dry")

    monkeypatch.setattr(doctor, "_physics", fail)
    found = {finding.name: finding for finding in doctor.examine()}
    assert found["physics"] == doctor.Finding("physics", False, "the sea is dry")
    assert found["rays"].is_well
