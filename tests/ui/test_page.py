"""The page as a whole: the view and its switches, help, keyboard, window sizes, light and dark theme."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_the_view_is_neither_blank_nor_of_one_colour(operator: Any) -> None:
    assert operator.colours("scene") > 30


def test_names_and_frames_are_switched(operator: Any) -> None:
    labels = operator.page.locator("#labels .scene-label:not([data-kind=frame])", has_text="sam")
    operator.until(lambda: labels.count() == 1 and labels.is_visible(), "SAM's name")
    operator.click("menu-overlays")
    operator["show-names"].uncheck()
    operator.until(lambda: not labels.is_visible(), "no names")
    received = "() => __ui.received.tf ?? 0"
    assert operator.page.evaluate(received) == 0  # the page has not subscribed to frames
    operator["show-tf"].check()
    operator.until(lambda: operator.page.evaluate(received) > 2, "frames")


def test_help_opens_and_closes_by_key_and_lists_the_robots_keys(operator: Any) -> None:
    operator.page.keyboard.press("?")
    operator["help-dialog"].wait_for()
    text = operator["help-dialog"].inner_text()
    for key in operator.simulator.get("scene")["robots"][0]["keys"]:
        assert key["does"] in text
    operator.page.keyboard.press("Escape")
    operator["help-dialog"].wait_for(state="hidden")


def test_p_hides_all_panels_and_shows_them_again(operator: Any) -> None:
    operator.page.keyboard.press("p")
    operator.until(lambda: not operator["panel-robots"].is_visible(), "no panels")
    assert not operator["pause"].is_visible()
    assert operator["hud"].is_visible()
    operator.page.keyboard.press("p")
    operator.until(lambda: operator["panel-robots"].is_visible(), "the panels")


def test_every_panel_is_reached_by_the_keyboard_alone(operator: Any) -> None:
    where = """() => document.activeElement.closest('.panel, .tab-page, [role=tab], .menu')?.id
        || document.activeElement.dataset.testid"""
    panels = {"robots", "keys", "state", "actuators", "winch", "actions", "camera", "sidescan", "fan", "lidar"}
    wanted = {f"panel-{panel}" for panel in panels} | {"pause", "step", "speed", "view", "help", "scene", "tab-map"}
    reached = set()
    for _ in range(120):
        operator.page.keyboard.press("Tab")
        reached.add(operator.page.evaluate(where))
        if wanted <= reached:
            break
    assert wanted <= reached
    for tab in ("plots", "acoustics", "events"):
        operator["tab-map"].focus()
        for _ in range(4):
            operator.page.keyboard.press("ArrowRight")
            if operator["panel-" + tab].is_visible():
                break
        assert operator["panel-" + tab].is_visible()
        operator.click("tab-map")


def test_f6_goes_from_panel_to_panel_and_the_focus_is_visible(operator: Any) -> None:
    places = []
    for _ in range(5):
        operator.page.keyboard.press("F6")
        places.append(operator.page.evaluate("() => document.activeElement.dataset.testid"))
    assert len(set(places)) == 5
    outline = operator.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1280, 720, "dark"), (1280, 720, "light"), (1920, 1080, "light")]
)
def test_the_page_fits_and_can_be_read(
    simulator: Any, before: Callable[..., Any], width: int, height: int, scheme: str
) -> None:
    """The page fits the window, and text has a contrast of at least 4.5 : 1, as WCAG 2.2 (1.4.3) requires."""
    operator = before(simulator, viewport={"width": width, "height": height}, color_scheme=scheme)
    assert operator.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    bar = (
        "() => [...document.querySelectorAll('#bar *')].every(part => part.getBoundingClientRect().right <= innerWidth)"
    )
    assert operator.page.evaluate(bar)
    for text in ("panel-robots", "panel-state", "lease", "time"):
        assert operator[text].evaluate(CONTRAST) >= 4.5, text


CONTRAST = """element => {
    const draw = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const luminance = colour => {
        draw.fillStyle = colour;
        draw.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...draw.getImageData(0, 0, 1, 1).data].map(part => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let ground = element;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    const pair = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(luminance);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""
