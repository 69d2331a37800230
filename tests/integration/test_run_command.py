"""`skerry run`: text of peers in its status, and release of a world before the next one runs."""

import gc
import weakref

import pytest
from rich.console import Console

from skerry.cli import run as run_command
from skerry.cli.run import run_scenario
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.world import World, build_world


def test_brackets_in_the_status_of_an_interface_are_printed_unchanged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ROS master sends names of nodes in brackets; the console would parse them as markup."""
    status = "left: [/skerry] Reason: new node registered with same name"
    monkeypatch.setattr(RosInterface, "status", status)
    run_scenario("sam_empty", None, 0.1, None, {"interfaces": {"ros": {"kind": "ros"}}})
    assert f"ros: {status}\n" in capsys.readouterr().err


def test_a_world_is_freed_before_the_next_world_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[World]] = []

    def run_world(console: Console, world: World, *rest: object) -> tuple[World | None, None]:
        if seen:
            assert seen[0]() is None
            return None, None
        seen.append(weakref.ref(world))
        return build_world("torpedo_in_still_water"), None

    monkeypatch.setattr(run_command, "_run_world", run_world)
    gc.disable()
    try:
        run_scenario("torpedo_in_still_water", None, None, None, {})
    finally:
        gc.enable()
    assert seen
