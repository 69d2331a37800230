"""What sensors measure is what the page shows: the ray-traced picture, every line of the side-scan, messages, plots."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import simplejpeg

import skerry


def test_the_camera_panel_shows_the_ray_traced_picture(operator: Any) -> None:
    """The same picture, to JPEG's loss, as a world of the same seed gives at the same time.

    JPEG of quality 75 or more with halved colours loses some three levels in the mean of a natural picture; six leave
    room for the second time that the browser's own encoder loses some here.
    """
    operator.unfold("camera")
    operator.until(lambda: int(operator["camera-stamp"].get_attribute("data-count")) > 2, "pictures")
    operator.simulator.post(op="pause")
    shown = {"text": ""}

    def stands() -> bool:
        before, shown["text"] = shown["text"], operator["camera-stamp"].inner_text()
        operator.page.wait_for_timeout(500)
        return before == shown["text"]

    operator.until(stands, "the last picture")
    address = operator["camera-picture"].evaluate("canvas => canvas.toDataURL('image/jpeg', 0.95)")
    picture = simplejpeg.decode_jpeg(base64.b64decode(address.partition(",")[2]))
    assert picture.shape == (480, 640, 3)
    with skerry.load("sam_in_the_bay") as world:
        camera = world.robots["sam"].sensors["camera_front"]
        world.advance(float(shown["text"].removesuffix(" s")) + 1e-9)
        expected = camera.reading.image
    assert expected.std() > 1.0
    assert np.abs(picture.astype(float) - expected.astype(float)).mean() < 6.0


def test_a_preview_has_its_place_and_its_size_and_shows_the_picture(
    start: Callable[..., Any], before: Callable[..., Any]
) -> None:
    camera = "robots.sam.overrides.sensors.camera_front"
    window = {"left": 60, "top": 40, "width": 160}
    small = {"width": 64, "height": 48}
    settings = {f"preview.{name}": value for name, value in window.items()} | small
    options = [word for name, value in settings.items() for word in ("--set", f"{camera}.{name}={value}")]
    viewer = before(start("run", "sam_in_the_bay", "--port", "0", *options))
    viewer.until(lambda: viewer.colours("preview-picture") > 8, "the picture in the preview")
    places = "window => { const [a, b] = [window, document.getElementById('view')].map(e => e.getBoundingClientRect());"
    assert viewer["preview"].evaluate(f"{places} return [a.left - b.left, a.top - b.top] }}") == [60, 40]
    size = viewer["preview-picture"].evaluate("canvas => [canvas.clientWidth, canvas.clientHeight]")
    assert size == [160, 120]
    viewer.click("preview-close")
    assert viewer["preview"].count() == 0


def test_the_waterfall_grows_by_every_line_that_is_sent(operator: Any) -> None:
    operator.unfold("sidescan")
    lines = operator["sidescan-picture"]

    def shown() -> int:
        return int(lines.get_attribute("data-lines"))

    def stand() -> tuple[int, float]:
        """Pause, wait for the messages in flight, and return the number of lines and the time."""
        operator.simulator.post(op="pause")
        before = -1
        while before != shown():
            before = shown()
            operator.page.wait_for_timeout(3000)
        return before, operator.simulator.state["time"]

    operator.until(lambda: shown() > 3, "the first lines")
    first, began = stand()
    operator.simulator.post(op="resume")
    operator.until(lambda: shown() > first + 20, "twenty lines")
    last, ended = stand()
    scene = operator.simulator.get("scene")
    [rate] = [sensor["rate"] for sensor in scene["robots"][0]["sensors"] if sensor["kind"] == "sidescan"]
    # A line is due whenever the whole part of time × rate grows.
    assert last - first == int(ended * rate + 1e-6) - int(began * rate + 1e-6)
    assert operator.colours("sidescan-picture") > 8
    # The beams of SAM's side-scan end 2° below level, so that the echoes fill more than half of its range.
    assert int(operator["sidescan-range"].input_value()) == 1
    assert lines.evaluate("canvas => canvas.style.width") == "100%"
    operator["sidescan-range"].select_option("4")
    assert lines.evaluate("canvas => canvas.style.width") == "400%"


def test_a_message_is_sent_by_the_modem_and_logged(operator: Any) -> None:
    operator.click("tab-acoustics")
    operator["acoustics-text"].fill("all is well")
    operator.click("acoustics-send")
    operator.until(lambda: "all is well" in operator["acoustics-log"].inner_text(), "the message in the log")
    operator.until(lambda: operator["acoustics-text"].input_value() == "", "an empty line to write in")


def test_any_number_can_be_plotted(operator: Any) -> None:
    operator.click("tab-plots")
    operator["plots-choose"].select_option("pitch_deg")
    operator.click("plots-add")
    plots = operator["panel-plots"]
    operator.until(lambda: plots.locator(".legend li").count() == 3, "the third figure")
    operator.until(lambda: "–" not in plots.locator(".legend").inner_text(), "values of all three")


def test_the_state_panel_shows_the_state_of_the_simulator(operator: Any) -> None:
    operator.simulator.post(op="pause")
    operator.page.wait_for_timeout(1000)
    sam = operator.simulator.robot("sam")
    for field, value, tolerance in (("depth", sam["depth"], 0.006), ("heading", sam["heading_deg"], 0.6)):
        shown = float(operator[f"state-{field}"].inner_text().replace("−", "-"))
        assert abs(shown - value) < tolerance  # half of the last digit that is shown
