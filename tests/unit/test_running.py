"""A run in the terminal: what it shows of what peers say."""

import pytest

from skerry.interfaces.ros.node import RosInterface
from skerry.terminal.running import run_in_terminal


def test_words_of_a_peer_in_a_status_are_shown_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ROS master has names of nodes in brackets, which the console would take for its own markup."""
    told = "left: [/skerry] Reason: new node registered with same name"
    monkeypatch.setattr(RosInterface, "status", told)
    run_in_terminal("sam_empty", None, 0.1, None, {"interfaces": {"ros": {"kind": "ros"}}})
    assert f"ros: {told}\n" in capsys.readouterr().err
