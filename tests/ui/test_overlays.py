"""Every overlay is drawn, live and in a replay: one world with data for each overlay."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# A rover stands on a pier over a short tide; SAM with a slack rope drifts in a force field, LoLo listens, and a drone
# hangs out a hook.
WORLD = """
name: everything
reference: {latitude_deg: 58.82, longitude_deg: 17.63}
water:
  surface: {kind: tide, constituents: [{amplitude: 0.5, period_hours: 0.02, phase_deg: 90}]}
terrain: {kind: flat, z: -8}
objects:
  pier: {prop: pier, pose: {position: [0, 8, 0]}}
  crate: {geometry: {kind: box, size: [0.6, 0.6, 1.2]}, pose: {position: [3, 8, 1.6]}} # for the rover's lidar
fields:
  drift: {kind: vector, vector: [0, 1, 0], magnitude: 0.2, volume: {kind: box, center: [0, 0, -3], size: [8, 8, 4]}}
visualizer: {count: 60, lifetime: 3}
robots:
  sam:
    vehicle: sam
    pose: {position: [0, 0, -1.5]}
    overrides:
      ropes:
        rope:
          {start: rope_link, length: 3, mass_per_metre: 0.005, segment_length: 0.3, buoy: {mass: 0.1, radius: 0.075}}
  lolo: {vehicle: lolo, pose: {position: [-8, 6, -3]}}
  husky: {vehicle: husky, pose: {position: [0, 8, 1.15]}}
  drone: {vehicle: quadrotor, pose: {position: [4, -4, 4]}}
"""
AMPLITUDE, PERIOD = 0.5, 72.0  # m, s; as above
# Lines and points that an overlay draws now.
DRAWN = """name => {
    let count = 0;
    __ui.scene.overlays.overlays.find(each => each.name === name).object.traverse(({isPoints, geometry}) => {
        if (geometry) count += isPoints ? geometry.drawRange.count : geometry.instanceCount ?? 0;
    });
    return count;
}"""
PLACES = """() => Array.from(__ui.scene.overlays.overlays.find(each => each.name === "field").points.object
    .geometry.getAttribute("position").array.slice(0, 30))"""
ROPES = """() => {
    const {geometry} = __ui.scene.overlays.overlays.find(each => each.name === "ropes").object;
    const shades = geometry.getAttribute("shade")?.array ?? [];
    return Array.from({length: geometry.instanceCount}, (_, i) => shades[4 * i] > shades[4 * i + 1] ? "red" : "green");
}"""
HOOKS = """() => __ui.scene.overlays.overlays.find(each => each.name === "winches").object.children
    .map(hook => hook.position.toArray())"""
PROGRAMS = """() => {
    const {renderer} = __ui.scene.viewport, gl = renderer.getContext();
    const failed = renderer.info.programs.filter(({program}) => !gl.getProgramParameter(program, gl.LINK_STATUS));
    return failed.map(({program}) => gl.getProgramInfoLog(program));
}"""
LEVEL = "() => [__ui.scene.viewport.medium.sea.level, __ui.store.get('state').time]"

OVERLAYS = {
    "rays": "sam",
    "clouds": "husky",
    "field": "sam",
    "acoustics": "sam",
    "wash": "lolo",
    "waypoints": "lolo",
    "forces": "sam",
    "gps": "sam",
    "tf": "sam",
    "contacts": "husky",
    "ropes": "sam",
}
"""Overlays with the robot that they show."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("overlays") / "everything.mcap"


@pytest.fixture(scope="module")
def busy(start: Callable[..., Any], before_for_long: Callable[..., Any], recorded: Path) -> Any:
    """User of the page of a world with data for all overlays."""
    scenario = recorded.with_name("everything.yaml")
    scenario.write_text(WORLD)
    simulator = start("run", str(scenario), "--record", str(recorded), "--port", "0")
    simulator.post(op="winch", robot="drone", winch="winch", target=2.0)
    simulator.post(op="waypoint", robot="lolo", position=[-8, 40, -3])
    return before_for_long(simulator)


def _show(operator: Any, overlay: str, robot: str) -> None:
    operator.page.evaluate(
        "([name, robot]) => { __ui.store.set('robot', robot); __ui.store.set(`show:${name}`, true) }", [overlay, robot]
    )


def _send_text(operator: Any) -> None:
    operator.simulator.post(op="acoustic", robot="sam", transceiver="modem", text="here I am")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_draws_its_data(overlay: str, busy: Any) -> None:
    _show(busy, overlay, OVERLAYS[overlay])

    def drawn() -> bool:
        if overlay == "acoustics":
            _send_text(busy)  # its lines are shown for a second
        return bool(busy.page.evaluate(DRAWN, overlay) > 0)

    busy.until(drawn, f"something under {overlay}")
    if overlay in {"rays", "clouds"}:
        busy.page.evaluate("name => __ui.store.set(`show:${name}`, false)", overlay)


def test_every_program_of_the_view_was_compiled(busy: Any) -> None:
    """The page does not check this, because the check would delay the first frame."""
    assert busy.page.evaluate(PROGRAMS) == []


def test_particles_of_a_field_move(busy: Any) -> None:
    _show(busy, "field", "sam")
    before = busy.until(lambda: busy.page.evaluate(PLACES), "particles")
    busy.until(lambda: busy.page.evaluate(PLACES) != before, "particles elsewhere")


def test_a_taut_rope_is_red_and_a_slack_one_green_and_the_hook_hangs_at_its_end(busy: Any) -> None:
    """The hook of 0.1 kg stretches the drone's rope, SAM's floats; with 2 m out, the hook is as far below the drone."""
    _show(busy, "ropes", "drone")
    busy.until(lambda: set(busy.page.evaluate(ROPES)) == {"red", "green"}, "a taut rope and a slack one")

    def below() -> bool:
        hooks, drone = busy.page.evaluate(HOOKS), busy.simulator.robot("drone")["position"]
        return len(hooks) == 1 and 1.2 < drone[2] - hooks[0][2] < 3.2

    busy.until(below, "the hook 2 m below the drone")
    busy.until(lambda: busy["label-winch-drone-winch"].count() == 1, "the winch's label")


def test_the_water_rises_and_falls_in_the_view_as_in_the_physics(busy: Any) -> None:
    """A sin(2π t/T), which changes by at most 2π A/T = 44 mm/s.

    The view is late by the 0.2 s between states, the 0.2 s of its smoothing and one or two slow frames. A tolerance of
    50 mm allows about a second.
    """

    def agrees() -> bool:
        level, time = busy.page.evaluate(LEVEL)
        return abs(level - AMPLITUDE * math.sin(2 * math.pi * time / PERIOD)) < 0.05

    busy.until(lambda: abs(busy.page.evaluate(LEVEL)[0]) > 0.1, "another level than at the start")
    busy.until(agrees, "the level of the tide")


def test_the_sonar_fan_and_the_lidar_have_pictures(busy: Any) -> None:
    for panel, robot in (("fan", "lolo"), ("lidar", "husky")):
        busy.page.evaluate("robot => __ui.store.set('robot', robot)", robot)
        busy.unfold(panel)
        busy.until(lambda panel=panel: int(busy[f"{panel}-stamp"].get_attribute("data-count")) > 1, f"a {panel}")
        assert busy.colours(f"{panel}-picture") > 8
        busy.click(f"fold-{panel}")


def test_an_acoustic_message_is_in_the_log(busy: Any) -> None:
    busy.click("tab-acoustics")
    _send_text(busy)
    busy.until(lambda: "here I am" in busy["acoustics-log"].inner_text(), "the message")


def test_a_replay_shows_the_same(
    busy: Any, recorded: Path, start: Callable[..., Any], before: Callable[..., Any]
) -> None:
    end = busy.until(lambda: busy.simulator.state["time"], "some time")
    busy.leave()
    busy.simulator.stop()
    simulator = start("replay", str(recorded), "--port", "0")
    viewer = before(simulator)
    simulator.post(op="seek", t=max(end - 5.0, 0.0))
    simulator.post(op="resume")
    shown = {name: robot for name, robot in OVERLAYS.items() if name != "acoustics"}  # no message is sent at that time
    for name, robot in shown.items():
        _show(viewer, name, robot)
        viewer.until(lambda name=name: viewer.page.evaluate(DRAWN, name) > 0, f"something under {name} in a replay")
        if name in {"rays", "clouds"}:
            viewer.page.evaluate("name => __ui.store.set(`show:${name}`, false)", name)
