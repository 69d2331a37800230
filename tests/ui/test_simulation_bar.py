"""The bar: pause, step, speed, reset, scenarios, snapshots, recording; reconnection to a restarted server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_pause_stops_time_and_step_makes_one_step(operator: Any) -> None:
    simulator = operator.simulator
    operator.click("pause")
    operator.until(lambda: simulator.state["paused"], "the pause")
    tick = simulator.state["tick"]
    shown = operator["time"].inner_text()
    operator.click("step")
    operator.until(lambda: simulator.state["tick"] == tick + 1, "one step")
    operator.page.keyboard.press(".")
    operator.until(lambda: simulator.state["tick"] == tick + 2, "another step, by its key")
    assert operator["rtf"].inner_text() == "paused"
    operator.page.keyboard.press(",")
    operator.until(lambda: operator["time"].inner_text() != shown and not simulator.state["paused"], "time to go on")


def test_speed_is_chosen_and_shown(operator: Any) -> None:
    operator["speed"].select_option("0.1")
    operator.until(lambda: operator.simulator.state["rate"] == 0.1, "a tenth of real time")
    operator["speed"].select_option("max")
    operator.until(lambda: operator.simulator.state["rate"] is None, "as fast as it goes")
    operator.simulator.post(op="rate", x=3.0)  # set by another client
    operator.until(lambda: operator["speed"].input_value() == "3", "the speed of the other client to be shown")


def test_reset_goes_back_and_takes_another_seed(operator: Any) -> None:
    simulator = operator.simulator
    operator.until(lambda: simulator.state["time"] > 1.0, "a second to pass")
    simulator.post(op="pause")
    operator.click("menu-scenario")
    operator.click("reset")
    operator.until(lambda: simulator.state["time"] < 1.0, "the beginning")
    seed = simulator.state["seed"] + 5
    operator["seed"].fill(str(seed))
    operator.click("reset")
    operator.until(lambda: simulator.state["seed"] == seed, "the other seed")
    operator.page.wait_for_function(f"() => __ui.ready && __ui.store.get('scene').seed === {seed}")


def test_another_scenario_is_chosen_in_the_menu(operator: Any) -> None:
    operator.click("menu-scenario")
    operator.until(lambda: operator["scenario"].locator("option").count() > 3, "the list of scenarios")
    operator["scenario"].select_option("sam_empty")
    operator.click("scenario-load")
    operator.until(lambda: operator.simulator.state["scenario"] == "sam_empty", "the scenario")
    operator.page.wait_for_function("() => __ui.ready && __ui.store.get('scene').scenario === 'sam_empty'")
    assert operator["robot-sam"].is_visible()


def test_a_snapshot_is_kept_and_restored(operator: Any) -> None:
    simulator = operator.simulator
    operator.click("menu-snapshot")
    operator["snapshot-name"].fill("before the dive")
    operator.click("snapshot-take")
    operator["restore-before the dive"].wait_for()
    kept = simulator.state["time"]
    operator.until(lambda: simulator.state["time"] > kept + 1.0, "a second to pass")
    simulator.post(op="pause")
    operator.click("restore-before the dive")
    operator.until(lambda: simulator.state["time"] <= kept, "the world to go back")


def test_a_recording_is_made_and_then_scrubbed(
    start: Callable[..., Any], before: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where recordings go
    simulator = start("run", "sam_empty")
    operator = before(simulator)
    operator.click("record")
    path = operator.until(lambda: (found := simulator.state["recording"]) and found["path"], "the recording")
    operator.until(lambda: simulator.state["recording"]["seconds"] > 4.0, "four seconds of it")
    operator.click("record")
    operator.until(lambda: simulator.state["recording"] is None, "its end")
    operator.leave()
    simulator.stop()

    player = start("replay", str(tmp_path / path))
    operator = before(player)
    assert player.state["mode"] == "replay"
    assert operator["timeline"].is_visible()
    player.post(op="pause")
    for wanted in (3.0, 1.0):
        operator["timeline"].fill(str(wanted))
        operator.until(lambda wanted=wanted: abs(player.state["replay"]["t"] - wanted) < 0.05, f"{wanted} s")
        operator.until(lambda wanted=wanted: operator["timeline-at"].inner_text() == f"00:0{wanted:.1f}", "the page")


def test_the_page_reconnects_after_the_server_was_restarted(
    start: Callable[..., Any], before: Callable[..., Any]
) -> None:
    simulator = start("run", "sam_empty")
    operator = before(simulator)
    simulator.stop()
    operator.until(lambda: operator["link"].inner_text() == "Lost", "the page to notice")
    operator.problems.clear()  # the browser logs every failed attempt to connect
    simulator.start("--port", simulator.port)
    operator.until(lambda: operator["link"].inner_text() == "Live", "the page to come back")
    operator.problems.clear()
    operator.page.wait_for_function("() => __ui.ready")
    operator.hold(
        "ArrowUp", lambda: simulator.robot("sam")["actuators"]["thruster1"]["target"] == 800.0, "SAM to be driven"
    )
