"""Measures how long the page takes to be ready in a real Chromium: `page_load.py [SCENARIO] [TIMES]`.

Ready is when a frame with the scene has been drawn, the panels are filled and the state has come. The simulator runs
beside it, and every load is one of an empty cache. Prints seconds since the navigation began, and the seconds of
processor that the browser's processes took until then.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, sync_playwright

PATIENCE = 300_000  # ms
READY = "() => performance.getEntriesByName('ready').length && __ui.store.get('state')"  # marks are those of js/main.js
FIGURES = """() => ({
    ready: performance.getEntriesByName('ready')[0].startTime,
    marks: performance.getEntriesByType('mark').map(mark => [mark.name, mark.startTime]),
    files: performance.getEntriesByType('resource').length,
    lastFile: Math.max(...performance.getEntriesByType('resource').map(file => file.responseEnd)),
    bytes: performance.getEntriesByType('resource').reduce((sum, file) => sum + file.transferSize, 0),
})"""


@contextmanager
def running(scenario: str) -> Iterator[str]:
    """A simulator; gives the address of its page."""
    command = [sys.executable, "-u", "-m", "skerry", "run", scenario]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(found.group() for line in process.stderr if (found := re.search(r"http://[\d.:]+", line)))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def processor(browser: Browser) -> dict[str, float]:
    """Seconds of processor by kind of the browser's processes so far."""
    spent: dict[str, float] = {}
    for process in browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]:
        spent[process["type"]] = spent.get(process["type"], 0.0) + process["cpuTime"]
    return spent


def load(address: str) -> dict[str, Any]:
    """Open the page once, in a browser of its own."""
    arguments = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(PATIENCE)
        before = processor(browser)
        page.goto(address, wait_until="commit")
        page.wait_for_function(READY)
        after = processor(browser)
        found: dict[str, Any] = page.evaluate(FIGURES)
        found["processor"] = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
        browser.close()
    return found


def main(scenario: str = "sam_in_the_bay", times: str = "3") -> None:
    """Open the page so many times and print what was measured."""
    with running(scenario) as address:
        for _ in range(int(times)):
            found = load(address)
            spent = ", ".join(f"{kind} {seconds:.2f}" for kind, seconds in found["processor"].items())
            print(
                f"ready {found['ready'] / 1e3:.2f} s; {found['files']} files, {found['bytes'] / 1e6:.2f} MB, "
                f"the last after {found['lastFile'] / 1e3:.2f} s; processor: {spent} s"
            )
            print("  " + ", ".join(f"{name} {at / 1e3:.2f}" for name, at in found["marks"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
