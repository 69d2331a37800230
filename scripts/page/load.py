"""Measures how long the page takes to be ready in a real Chromium: `load.py [SCENARIO] [TIMES]`.

Ready is when the first frame with ground, water, vehicles and live panels is on the screen: not before the browser says
that it has presented it, nor before the page has had word of the simulator's state. The simulator runs beside, in real
time; the browser has been started before and has come to rest. It is measured with both kinds of software rendering, in
turn, see real.py.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from playwright.sync_api import Browser
from real import EMULATED, PATIENCE, SOFTWARE, browser, simulator

QUIET: Final = 0.02  # s of processor in half a second, below which a browser is at rest
PAINTED: Final = "performance.getEntriesByName('first-contentful-paint')"  # panels and view are shown together
READY: Final = f"() => performance.getEntriesByName('ready').length && {PAINTED}.length && __ui.store.get('state')"
FIGURES: Final = f"""() => ({{
    ready: Math.max(performance.getEntriesByName('ready')[0].startTime, {PAINTED}[0].startTime),
    marks: performance.getEntriesByType('mark').map(mark => [mark.name, mark.startTime]),
    files: performance.getEntriesByType('resource').length,
    bytes: performance.getEntriesByType('resource').reduce((sum, file) => sum + file.transferSize, 0),
}})"""  # marks are those of js/main.js


def processor(chromium: Browser) -> dict[str, float]:
    """Seconds of processor by kind of the browser's processes so far."""
    spent: dict[str, float] = {}
    for process in chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]:
        spent[process["type"]] = spent.get(process["type"], 0.0) + process["cpuTime"]
    return spent


def come_to_rest(chromium: Browser) -> dict[str, float]:
    """Wait until a browser that was just started does nothing more; gives what it has spent."""
    before = processor(chromium)
    while True:
        time.sleep(0.5)
        now = processor(chromium)
        if sum(now.values()) - sum(before.values()) < QUIET:
            return now
        before = now


def load(address: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """Open the page once, in a browser of its own."""
    with browser(arguments) as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(PATIENCE)
        before = come_to_rest(chromium)
        page.goto(address, wait_until="commit")
        page.wait_for_function(READY)
        after = processor(chromium)
        found: dict[str, Any] = page.evaluate(FIGURES)
    found["processor"] = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    return found


def main(scenario: str = "sam_in_the_bay", times: str = "3") -> None:
    """Open the page so many times and print what was measured."""
    with simulator(scenario) as address:
        for _ in range(int(times)):
            for name, arguments in (("software", SOFTWARE), ("emulated", EMULATED)):
                found = load(address, arguments)
                spent = ", ".join(f"{kind} {seconds:.2f}" for kind, seconds in found["processor"].items())
                print(
                    f"{name}: ready {found['ready'] / 1e3:.2f} s; {found['files']} files, {found['bytes'] / 1e6:.2f} MB"
                )
                print("  " + ", ".join(f"{mark} {at / 1e3:.2f}" for mark, at in found["marks"]))
                print(f"  processor: {spent} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
