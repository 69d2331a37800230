"""`skerry doctor` distinguishes optional packages that are missing from faults."""

from __future__ import annotations

import pytest

from skerry.cli import doctor
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.transport import TRANSPORTS


def test_a_missing_package_is_a_fault_unless_it_is_an_extra() -> None:
    assert doctor._check_package("numpy").is_well is True
    assert doctor._check_package("no-such-package").is_well is False
    extra = doctor._check_package("no-such-package", "ray", "sweeps on a cluster")
    assert extra.is_well is None
    assert "pip install 'skerry[ray]'" in extra.detail


def test_required_packages_come_from_the_metadata_of_skerry() -> None:
    assert {"numpy", "numba", "mujoco-core"} <= set(doctor.required_packages(None))
    assert doctor.required_packages("ray") == ["ray"]
    assert "pytest" not in doctor.required_packages(None)


def test_a_transport_whose_extra_is_missing_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "required_packages", lambda extra: ["no-such-package"] if extra == "ros" else [])
    found = {finding.name: finding for finding in doctor.check_kinds("ROS transport", TRANSPORTS)}
    assert found["ROS transport dds"] == doctor.Finding("ROS transport dds", None, "pip install 'skerry[ros]'")
    assert found["ROS transport endpoint"].is_well


def test_a_check_that_fails_is_reported_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise SkerryError("the sea is dry")

    monkeypatch.setattr(doctor, "_check_physics", fail)
    found = {finding.name: finding for finding in doctor.run_checks()}
    assert found["physics"] == doctor.Finding("physics", False, "the sea is dry")
    assert found["rays"].is_well
