"""A run in the terminal: what it shows of what peers say, and what is left of a world when another follows."""

import gc
import weakref

import pytest
from rich.console import Console

from skerry.cli import running
from skerry.cli.running import run_in_terminal
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.world import World, build_world


def test_words_of_a_peer_in_a_status_are_shown_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ROS master has names of nodes in brackets, which the console would take for its own markup."""
    told = "left: [/skerry] Reason: new node registered with same name"
    monkeypatch.setattr(RosInterface, "status", told)
    run_in_terminal("sam_empty", None, 0.1, None, {"interfaces": {"ros": {"kind": "ros"}}})
    assert f"ros: {told}\n" in capsys.readouterr().err


def test_a_world_that_another_follows_is_freed_before_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[World]] = []

    def run_world(console: Console, world: World, *rest: object) -> tuple[World | None, None]:
        if seen:
            assert seen[0]() is None
            return None, None
        seen.append(weakref.ref(world))
        return build_world("torpedo_in_still_water"), None

    monkeypatch.setattr(running, "_run_world", run_world)
    gc.disable()
    try:
        run_in_terminal("torpedo_in_still_water", None, None, None, {})
    finally:
        gc.enable()
    assert seen
