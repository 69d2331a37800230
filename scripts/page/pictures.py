"""Take the pictures of docs/page.md in a real Chromium. Arguments: names of pictures; all by default."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page
from real import PATIENCE, browser, simulator

FOLDER = Path(__file__).parents[2] / "docs" / "page"
QUALITY = 80  # quality of the JPEG files


@dataclass(frozen=True)
class Shot:
    """Picture: its scenario, the look of the page, and the actions before it is taken."""

    scenario: str
    scheme: str = "dark"
    size: tuple[int, int] = (1280, 720)
    clicks: tuple[str, ...] = ()
    held: str = ""
    seconds: float = 4.0  # simulated time before the picture is taken, s


SHOTS = {
    "overview": Shot("sam_in_the_bay", held="ArrowUp"),
    "panels": Shot(
        "sam_in_the_bay", "light", clicks=("fold-keys", "fold-state", "fold-actuators", "tab-plots"), held="ArrowUp"
    ),
    "drone": Shot("drone_recovers_sam", clicks=("robot-drone", "fold-winch", "fold-keys"), seconds=3.0),
}


def take(page: Page, address: str, shot: Shot, path: Path) -> None:
    """Open the page, make the actions and take the picture."""
    page.set_default_timeout(PATIENCE)
    page.goto(address)  # with the quality that the page chooses for this machine
    page.wait_for_function("() => window.__ui?.ready && __ui.store.get('state')")
    page.get_by_test_id("welcome-close").click()
    for control in shot.clicks:
        page.get_by_test_id(control).click()
    if shot.held:
        page.keyboard.down(shot.held)
    now = page.evaluate("() => __ui.store.get('state').time")
    page.wait_for_function(f"() => __ui.store.get('state').time > {now + shot.seconds}")
    page.screenshot(path=path, type="jpeg", quality=QUALITY)


def main(names: list[str]) -> None:
    """Take the named pictures, or all."""
    FOLDER.mkdir(exist_ok=True)
    with browser() as chromium:
        for name in names or SHOTS:
            shot = SHOTS[name]
            width, height = shot.size
            page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=shot.scheme)  # type: ignore[arg-type]
            with simulator(shot.scenario) as address:
                take(page, address, shot, FOLDER / f"{name}.jpg")
            page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
