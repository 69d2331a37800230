"""Measure the loading time of the page in a real Chromium: `load.py [SCENARIO] [TIMES]`.

The page is ready when the browser has presented the first frame with terrain, water, vehicles and live panels, and the
page has received the simulator's state. The simulator runs at the same time, in real time. The browser is started
before and is idle when the measurement starts. Each of the two kinds of software rendering of `real.py` is measured.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from playwright.sync_api import Browser
from real import EMULATED, PATIENCE, SOFTWARE, browser, simulator

QUIET: Final = 0.02  # CPU time in half a second, s, below which a browser is idle
PAINTED: Final = "performance.getEntriesByName('first-contentful-paint')"  # the panels and the view are shown together
READY: Final = f"() => performance.getEntriesByName('ready').length && {PAINTED}.length && __ui.store.get('state')"
FIGURES: Final = f"""() => ({{
    ready: Math.max(performance.getEntriesByName('ready')[0].startTime, {PAINTED}[0].startTime),
    marks: performance.getEntriesByType('mark').map(mark => [mark.name, mark.startTime]),
    files: performance.getEntriesByType('resource').length,
    bytes: performance.getEntriesByType('resource').reduce((sum, file) => sum + file.transferSize, 0),
}})"""  # js/main.js sets the marks


def cpu_time(chromium: Browser) -> dict[str, float]:
    """Return the CPU time so far, s, by the type of the browser's processes."""
    spent: dict[str, float] = {}
    for process in chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]:
        spent[process["type"]] = spent.get(process["type"], 0.0) + process["cpuTime"]
    return spent


def wait_until_idle(chromium: Browser) -> dict[str, float]:
    """Wait until a browser that was just started is idle, and return its CPU time so far."""
    before = cpu_time(chromium)
    while True:
        time.sleep(0.5)
        now = cpu_time(chromium)
        if sum(now.values()) - sum(before.values()) < QUIET:
            return now
        before = now


def load(address: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """Open the page once in a new browser, and return the measured figures."""
    with browser(arguments) as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(PATIENCE)
        before = wait_until_idle(chromium)
        page.goto(address, wait_until="commit")
        page.wait_for_function(READY)
        after = cpu_time(chromium)
        found: dict[str, Any] = page.evaluate(FIGURES)
    found["cpu"] = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    return found


def main(scenario: str = "sam_in_the_bay", times: str = "3") -> None:
    """Open the page `times` times with each kind of rendering, and print the figures."""
    with simulator(scenario) as address:
        for _ in range(int(times)):
            for name, arguments in (("software", SOFTWARE), ("emulated", EMULATED)):
                found = load(address, arguments)
                spent = ", ".join(f"{kind} {seconds:.2f}" for kind, seconds in found["cpu"].items())
                print(
                    f"{name}: ready {found['ready'] / 1e3:.2f} s; {found['files']} files, {found['bytes'] / 1e6:.2f} MB"
                )
                print("  " + ", ".join(f"{mark} {at / 1e3:.2f}" for mark, at in found["marks"]))
                print(f"  CPU time: {spent} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
