"""Ownership: every actuator has one owner at a time; changes and refusals are logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.parts.ownership import commanding_as


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    caplog.set_level(logging.INFO, "skerry")
    with skerry.load("sam_empty") as made:
        yield made


@pytest.fixture
def sam(world: Any) -> Any:
    return world.robots["sam"]


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def send(actuator: Any, source: str, rpm: float) -> bool:
    if source == "external":
        return actuator.receive(rpm=rpm)
    with commanding_as(source):
        return actuator.command(rpm=rpm)


SOURCES = ("manual", "external", "controller/depth", "api")


@pytest.mark.parametrize("source", SOURCES)
def test_an_actuator_has_no_owner_until_the_first_command(sam, source, caplog) -> None:
    screw = sam.actuators["thruster1"]
    assert (screw.owner, sam.control) == (None, None)
    assert send(screw, source, 100.0)
    assert (screw.owner, screw.setpoint) == (source, 100.0)
    assert sam.control == source.partition("/")[0]
    assert sam.actuators["thruster2"].owner is None
    assert f"sam/thruster1: control passes from no owner to {source}" in caplog.text


@pytest.mark.parametrize("owner", ["manual", "external", "controller", "api"])
def test_only_the_owner_and_the_api_are_accepted(sam, owner) -> None:
    screw = sam.actuators["thruster1"]
    for number, source in enumerate(SOURCES, 1):
        sam.control = owner
        screw.set_initial(rpm=0.0)
        accepted = send(screw, source, 100.0 * number)
        assert accepted == (source.partition("/")[0] in {owner, "api"})
        assert screw.setpoint == (100.0 * number if accepted else 0.0)
        assert screw.owner == (source if accepted else owner)


def test_a_refusal_is_logged_once_until_the_owner_changes(sam, caplog) -> None:
    sam.control = "controller"
    for name in ("thruster1", "thruster2"):
        for _ in range(20):
            assert not sam.actuators[name].receive(rpm=100.0)
    (line,) = refusals(caplog)
    assert "sam/thruster1: command from external ignored, because controller has control" in line
    assert "robot.control = 'external'" in line
    sam.control = "manual"
    for _ in range(20):
        sam.actuators["thruster1"].receive(rpm=100.0)
    assert len(refusals(caplog)) == 2


def test_the_api_takes_over_and_logs_it_once(sam, caplog) -> None:
    sam.control = "external"
    caplog.clear()
    for _ in range(5):
        sam.actuators["thruster1"].command(rpm=10.0)
    assert [record.getMessage() for record in caplog.records] == ["sam/thruster1: control passes from external to api"]
    assert sam.control == "mixed"


def test_two_controllers_do_not_share_an_actuator(sam, caplog) -> None:
    screw = sam.actuators["thruster1"]
    screw.owner = "controller"
    assert send(screw, "controller/first", 100.0)
    assert not send(screw, "controller/second", 200.0)
    assert (screw.owner, screw.setpoint) == ("controller/first", 100.0)
    assert "command from controller/second ignored, because controller/first has control" in caplog.text
    screw.owner = "controller/second"
    assert send(screw, "controller/second", 200.0)


def test_an_ignored_message_does_not_start_the_watchdog(world, sam) -> None:
    screw = sam.actuators["thruster1"]
    screw.command(rpm=100.0)
    screw.receive(rpm=200.0)
    world.advance(2.0)
    assert screw.setpoint == 100.0
    assert not screw.watchdog.received_first_message


def test_the_watchdog_still_expires_when_interfaces_lose_control_without_a_successor(world, sam) -> None:
    screw = sam.actuators["thruster1"]
    screw.receive(rpm=200.0)
    sam.control = "manual"
    world.advance(1.0)
    assert screw.setpoint == 0.0


def test_owners_are_part_of_a_snapshot(world, sam) -> None:
    sam.control = "manual"
    before = world.snapshot()
    sam.actuators["thruster1"].command(rpm=10.0)
    world.restore(before)
    assert sam.control == "manual"
    assert bytes(world.snapshot()) == bytes(before)


def test_initial_commands_of_a_scenario_take_no_control() -> None:
    with skerry.load("sam_empty", overrides={"robots": {"sam": {"commands": {"thruster1": {"rpm": 300}}}}}) as world:
        screw = world.robots["sam"].actuators["thruster1"]
        assert (screw.setpoint, screw.owner) == (300.0, None)


@pytest.mark.parametrize(
    ("source", "message"),
    [("manuel", "did you mean 'manual'"), ("api/x", "no source"), ("", "no source"), ("controller/x", "no controller")],
)
def test_an_unknown_source_is_refused_with_a_guess(sam, source, message) -> None:
    with pytest.raises(SkerryError, match=message):
        sam.control = source
    assert sam.control is None
