"""The 3-D view with the mouse: camera, flight, tools; and recovery after the loss of the graphics driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

EYE = "() => __ui.scene.viewport.camera.position.toArray()"
FOCUS = "() => __ui.scene.rig.focus.toArray()"
SEEN = "() => Boolean(__ui.scene.chosen) && __ui.scene.bodies.bodies[__ui.scene.chosen.body].visible"
# where the chosen robot is on the screen
PROJECTED = """() => {
    const {chosen, bodies, viewport} = __ui.scene;
    const {x, y} = bodies.bodies[chosen.body].position.clone().project(viewport.camera);
    const {left, top, width, height} = viewport.canvas.getBoundingClientRect();
    return [left + (0.5 + 0.5 * x) * width, top + (0.5 - 0.5 * y) * height];
}"""


@pytest.fixture
def paused(operator: Any) -> Any:
    """User of the page of a paused world, with the robot in the middle of the view."""
    operator.until(lambda: operator.page.evaluate(SEEN), "a robot in the view")
    operator.simulator.post(op="pause")
    operator.until(lambda: _settled(operator), "a camera at rest")
    return operator


def _settled(operator: Any) -> bool:
    before = operator.page.evaluate(EYE)
    operator.page.wait_for_timeout(300)
    return bool(np.allclose(before, operator.page.evaluate(EYE), atol=1e-3))


def _distance(operator: Any) -> float:
    return float(np.linalg.norm(np.subtract(operator.page.evaluate(EYE), operator.page.evaluate(FOCUS))))


def test_dragging_turns_the_camera_around_the_robot_and_the_wheel_zooms(paused: Any) -> None:
    mouse, eye, distance = paused.page.mouse, paused.page.evaluate(EYE), _distance(paused)
    x, y = paused.page.evaluate(PROJECTED)
    mouse.move(x + 60, y + 40)
    mouse.down()
    mouse.move(x + 160, y + 40, steps=4)
    mouse.up()
    # about 100 pixels of 0.005 rad each, round the focus
    paused.until(lambda: np.linalg.norm(np.subtract(paused.page.evaluate(EYE), eye)) > 0.2 * distance, "another side")
    assert _distance(paused) == pytest.approx(distance, rel=0.02)
    mouse.wheel(0, -400)
    paused.until(lambda: _distance(paused) < 0.8 * distance, "a closer look")


def test_keys_of_flight_move_the_camera_and_not_the_robot(paused: Any) -> None:
    mouse, eye = paused.page.mouse, paused.page.evaluate(EYE)
    mouse.move(*paused.page.evaluate(PROJECTED))
    mouse.down(button="right")
    paused.hold("w", lambda: np.linalg.norm(np.subtract(paused.page.evaluate(EYE), eye)) > 1.0, "flight")
    mouse.up(button="right")
    assert paused.page.evaluate("() => __ui.store.get('camera').mode") == "free"
    robot = paused.simulator.robot("sam")
    assert robot["held"] == [] and robot["lease"] is None


def test_a_distance_is_measured_and_a_robot_dragged_elsewhere(paused: Any) -> None:
    mouse, page = paused.page.mouse, paused.page
    x, y = page.evaluate(PROJECTED)
    page.evaluate("() => __ui.store.set('tool', 'measure')")
    mouse.click(x, y)
    mouse.click(x + 80, y + 60)
    measure = paused.until(lambda: page.evaluate("() => __ui.store.get('measure')"), "a distance")
    assert measure["distance"] == pytest.approx(float(np.linalg.norm(np.subtract(measure["from"], measure["to"]))))
    page.keyboard.press("Escape")
    assert page.evaluate("() => __ui.store.get('tool')") is None

    before = paused.simulator.robot("sam")["position"]
    page.keyboard.down("Control")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 80, y + 10, steps=4)
    mouse.up()
    page.keyboard.up("Control")

    def moved() -> bool:
        after = paused.simulator.robot("sam")["position"]
        return bool(np.hypot(after[0] - before[0], after[1] - before[1]) > 0.2 and abs(after[2] - before[2]) < 1e-3)

    paused.until(moved, "SAM elsewhere, as deep as before")


def test_the_view_recovers_after_the_graphics_driver_was_lost(paused: Any) -> None:
    paused.page.evaluate("() => __ui.scene.viewport.renderer.forceContextLoss()")
    paused.until(lambda: paused["notice"].is_visible(), "a notice")
    paused.page.evaluate("() => __ui.scene.viewport.renderer.forceContextRestore()")
    paused.until(lambda: not paused["notice"].is_visible(), "no notice")
    paused.until(lambda: paused.colours("scene") > 30, "a picture")


def test_the_view_can_use_the_pose_of_a_robots_camera(paused: Any) -> None:
    camera = next(each for each in paused.simulator.get("scene")["robots"][0]["sensors"] if each["kind"] == "camera")
    view = {"mode": "sensor", "robot": "sam", "sensor": camera["name"]}
    paused.page.evaluate("view => __ui.store.set('camera', view)", view)
    body = paused.page.evaluate("n => __ui.scene.bodies.bodies[n].position.toArray()", camera["pose"]["body"])
    # a rotation keeps the distance from the body's origin; poses come in single precision
    away = float(np.linalg.norm(camera["pose"]["position"]))
    paused.until(
        lambda: abs(np.linalg.norm(np.subtract(paused.page.evaluate(EYE), body)) - away) < 1e-3, "the camera's place"
    )
    assert paused.page.evaluate("() => __ui.scene.viewport.camera.fov") == pytest.approx(
        camera["display"][0]["vertical_fov_deg"]
    )
