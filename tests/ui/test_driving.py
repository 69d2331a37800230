"""Driving from the page: held keys, source of commands, drive lock, winches, sliders, waypoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

RPM = 800.0  # command of SAM's key in vehicle.yaml
UNDER_WAY = 500.0  # rpm at the start of the scenario


def thrust(operator: Any) -> float:
    return float(operator.simulator.robot("sam")["actuators"]["thruster1"]["target"])


def test_held_keys_drive_sam_and_releasing_them_stops_it(operator: Any) -> None:
    start = np.array(operator.simulator.robot("sam")["position"])

    def has_moved() -> bool:
        return bool(np.linalg.norm(operator.simulator.robot("sam")["position"] - start) > 0.5)

    operator.hold("ArrowUp", lambda: thrust(operator) == RPM and has_moved(), "SAM to move half a metre")
    operator.until(lambda: thrust(operator) == 0.0, "the propeller to stop")
    sam = operator.simulator.robot("sam")
    assert sam["control"] == "manual"
    assert sam["held"] == []
    heading = np.radians(90 - sam["heading_deg"])
    moved = np.array(sam["position"] - start)[:2]
    assert moved @ [np.cos(heading), np.sin(heading)] > 0.4  # it moved forward


def test_key_caps_light_up_and_can_be_held_by_mouse(operator: Any) -> None:
    cap = operator["key-up"]
    cap.hover()
    operator.page.mouse.down()
    operator.until(lambda: "held" in cap.get_attribute("class"), "the cap to light up")
    operator.until(lambda: thrust(operator) == RPM, "the propeller to turn")
    operator.page.mouse.up()
    operator.until(lambda: thrust(operator) == 0.0, "the propeller to stop")
    operator.until(lambda: "held" not in cap.get_attribute("class"), "the cap to go out")


def test_keys_are_ignored_while_ros_has_control(operator: Any) -> None:
    simulator = operator.simulator
    operator.click("source-external")
    operator.until(lambda: simulator.robot("sam")["control"] == "external", "the external client to have control")
    source = operator["source-external"]
    operator.until(
        lambda: source.get_attribute("aria-checked") == "true", "the page to know that an external client has control"
    )
    operator.hold(
        "ArrowUp", lambda: "controlled by an external client" in operator["notices"].inner_text(), "the notice"
    )
    # The simulator also ignores keys that a page sends nevertheless.
    before = simulator.state["time"]
    operator.page.evaluate("() => __ui.net.send({op: 'keys', robot: 'sam', held: ['up'], seq: 999})")
    operator.until(lambda: simulator.state["time"] > before + 0.3, "time to pass")
    assert thrust(operator) == UNDER_WAY
    operator.click("source-manual")
    operator.until(lambda: simulator.robot("sam")["control"] == "manual", "the page to have control")
    chosen = operator["source-manual"]
    operator.until(lambda: chosen.get_attribute("aria-checked") == "true", "the page to know that it has control")
    operator.hold("ArrowUp", lambda: thrust(operator) == RPM, "the propeller to turn")


def test_one_page_at_a_time_drives_and_the_other_cannot(operator: Any) -> None:
    other = operator.another()
    operator.hold("ArrowUp", lambda: thrust(operator) == RPM, "the propeller to turn")
    operator.until(lambda: "This page drives" in operator["lease"].inner_text(), "the first page to show it")
    operator.until(lambda: other["lease"].inner_text().startswith("Page "), "the second page to show it")
    assert other["lease-take"].is_disabled()
    other.hold("ArrowUp", lambda: "drives" in other["notices"].inner_text(), "the second page to be refused")
    operator.until(lambda: thrust(operator) == 0.0, "nothing to move")
    operator.click("lease-take")
    operator.until(lambda: "No page" in other["lease"].inner_text(), "the drive lock to be free")
    other.hold("ArrowUp", lambda: thrust(operator) == RPM, "the second page to drive")


def test_a_slider_commands_its_actuator(operator: Any) -> None:
    operator.click("source-manual")
    operator.unfold("actuators")
    operator["actuator-vbs"].fill("80")
    operator.until(lambda: operator.simulator.robot("sam")["actuators"]["vbs"]["target"] == 80.0, "the command")


def test_a_place_that_was_clicked_on_the_map_is_where_sam_goes(operator: Any) -> None:
    operator["map"].click(position={"x": 200, "y": 60})
    east, north = operator.page.evaluate("() => __ui.store.get('place')")[:2]
    operator.click("map-go")
    sam = operator.until(lambda: (robot := operator.simulator.robot("sam"))["waypoint"] and robot, "the waypoint")
    assert sam["waypoint"]["position"][:2] == pytest.approx([east, north])
    assert sam["control"] == "controller"
    operator.unfold("actions")
    operator.click("waypoint-stop")
    operator.until(lambda: operator.simulator.robot("sam")["control"] != "controller", "SAM to be stopped")


def test_sam_can_be_put_elsewhere_and_made_to_leak(operator: Any) -> None:
    operator.unfold("actions")
    for field, value in {"east": "12", "north": "-7", "up": "-4"}.items():
        operator[f"place-{field}"].fill(value)
    operator.click("teleport")
    operator.until(
        lambda: operator.simulator.robot("sam")["position"] == pytest.approx([12, -7, -4], abs=0.5), "SAM to be there"
    )
    operator.click("leak")
    operator.until(lambda: "Leak" in operator["state-leak"].inner_text(), "the leak to be shown")
    operator.click("tab-events")
    operator.until(lambda: "Leak!" in operator["events-log"].inner_text(), "the leak in the log")


@pytest.mark.parametrize("operator", ["drone_recovers_sam"], indirect=True)
def test_a_winch_pays_out(operator: Any) -> None:
    scene = operator.simulator.get("scene")
    robot, winch = next((robot["name"], winch) for robot in scene["robots"] for winch in robot["winches"])
    operator.click(f"robot-{robot}")
    operator.unfold("winch")
    name = winch["name"]
    before = operator.simulator.robot(robot)["winches"][name]["length"]
    target = round(min(before + 1.0, winch["high"]), 1)
    operator.click("source-manual")
    operator[f"winch-{name}-target"].fill(str(target))
    operator[f"winch-{name}-target"].dispatch_event("change")
    operator.until(lambda: operator.simulator.robot(robot)["winches"][name]["length"] > before + 0.2, "rope to go out")
    assert "m out" in operator[f"winch-{name}-figures"].inner_text()
