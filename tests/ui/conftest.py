"""Fixtures that start a real simulator and a real Chromium, and check the browser for errors."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PATIENCE = 120.0  # timeout, s; kernels may be compiled, and a software renderer on a busy machine stalls for seconds
SIZE = {"width": 1024, "height": 480}  # small, because the CPU draws every pixel
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
SCENARIO = "sam_in_the_bay"
FOLDED = "localStorage['skerry.folds'] ??= JSON.stringify({camera: false, sidescan: false})"
QUIET = "() => ['rays', 'clouds'].forEach(overlay => __ui.store.set(`show:${overlay}`, false))"
"""Hide the overlays that need most of the CPU time. Tests of these overlays show them."""


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for the first true value of a condition, and return it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := condition():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"timeout after {PATIENCE:.0f} s while waiting for {what}")


class Simulator:
    """`skerry …` in a separate process, and its HTTP API."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self, *more: str) -> None:
        """Start, or start again after `stop`."""
        command = [sys.executable, "-u", "-m", "skerry", *self._arguments, *more]
        process = self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := ADDRESS.search(line):
                self.address = found.group()
                return
        raise AssertionError("the simulator ended: " + "".join(lines))

    def stop(self) -> None:
        """Stop the process with Ctrl-C. A second call has no effect."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.communicate(timeout=PATIENCE)
            self.process = None

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]

    def get(self, what: str) -> Any:
        with urllib.request.urlopen(f"{self.address}/api/{what}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, **data: Any) -> Any:
        request = urllib.request.Request(f"{self.address}/api/cmd", json.dumps(data).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    @property
    def state(self) -> Any:
        """State of the world. Waits until there is one."""
        return wait_until(self._state, "a world")

    def _state(self) -> Any:
        try:
            return self.get("state")
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            return None

    def robot(self, name: str) -> Any:
        return self.state["robots"][name]

    def begin(self, scenario: str) -> None:
        """Run a scenario from its beginning, in real time."""
        if self.state["scenario"] != scenario:
            self.post(op="scenario", load=scenario)
            wait_until(lambda: self.state["scenario"] == scenario, scenario)
        self.post(op="rate", x=1.0)
        self.post(op="reset")
        self.post(op="resume")


class Operator:
    """User of a page: finds controls by their test ids, and collects the errors of the browser."""

    def __init__(self, browser: Browser, simulator: Simulator, **options: Any) -> None:
        self.browser, self.simulator = browser, simulator
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self.others: list[Operator] = []
        self.context = browser.new_context(**{"viewport": SIZE} | options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(500 * PATIENCE)
        self.page.add_init_script(FOLDED)
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._check_address(request.url))
        self.page.on("websocket", lambda socket: self._check_address(socket.url))
        self.open()

    def _check_address(self, address: str) -> None:
        host = self.simulator.address.removeprefix("http:")
        if not address.startswith((f"http:{host}", f"ws:{host}", "data:", "blob:")):
            self.foreign.append(address)

    def open(self) -> None:
        self.page.goto(f"{self.simulator.address}/?q=0")
        self.page.wait_for_function("() => window.__ui?.ready && __ui.store.get('state')")
        self.page.evaluate(QUIET)
        if self["welcome"].is_visible():
            self.click("welcome-close")

    def another(self) -> Operator:
        """Return the user of another page."""
        self.others.append(Operator(self.browser, self.simulator))
        return self.others[-1]

    def __getitem__(self, name: str) -> Locator:
        return self.page.get_by_test_id(name)

    def click(self, name: str) -> None:
        """Click a visible and enabled control. Does not wait for frames as Playwright does, because they are slow."""
        control = self[name]
        wait_until(lambda: control.is_visible() and control.is_enabled(), f"{name} to be enabled")
        control.evaluate("control => control.click()")

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        return wait_until(condition, what)

    def unfold(self, panel: str) -> None:
        if not self[f"panel-{panel}"].evaluate("panel => panel.open"):
            self.click(f"fold-{panel}")

    def hold(self, key: str, condition: Callable[[], Any], what: str) -> Any:
        """Hold a key until a condition is true, and return its value."""
        self.page.keyboard.down(key)
        try:
            return wait_until(condition, what)
        finally:
            self.page.keyboard.up(key)

    def colours(self, canvas: str) -> int:
        """Return the number of different colours of a canvas, scaled to 64 × 48 pixels."""
        return int(self[canvas].evaluate(COUNT_COLOURS))

    def leave(self) -> None:
        """Close the page before the simulator stops."""
        self.page.close()

    def close(self) -> None:
        for other in self.others:
            other.close()
        self.context.close()
        assert not self.problems, self.problems
        assert not self.foreign, self.foreign


# A WebGL canvas can be read only in the frame in which it was drawn.
COUNT_COLOURS = """canvas => new Promise(done => requestAnimationFrame(() => {
    const context = new OffscreenCanvas(64, 48).getContext("2d");
    context.drawImage(canvas, 0, 0, 64, 48);
    done(new Set(new Uint32Array(context.getImageData(0, 0, 64, 48).data.buffer)).size);
}))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as on a machine without a graphics card.

    The scope is the module, because Playwright's event loop must not run during tests with other event loops.
    """
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: sudo apt-get install chromium")
    arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def start(browser: Browser) -> Iterator[Callable[..., Simulator]]:
    """Function that starts a simulator with arguments of `skerry`. All are stopped at the end."""
    started: list[Simulator] = []

    def begin(*arguments: str) -> Simulator:
        started.append(Simulator(*arguments))
        return started[-1]

    yield begin
    for simulator in started:
        simulator.stop()


@pytest.fixture(scope="module")
def simulator(start: Callable[..., Simulator]) -> Simulator:
    """Simulator with SAM in the bay, shared by the tests of a module."""
    return start("run", SCENARIO)


@pytest.fixture
def operator(browser: Browser, simulator: Simulator, request: pytest.FixtureRequest) -> Iterator[Operator]:
    """User of the page of a scenario at its start. The parameter selects another scenario than SAM in the bay."""
    simulator.begin(getattr(request, "param", SCENARIO))
    operator = Operator(browser, simulator)
    yield operator
    operator.close()


def _open_pages(browser: Browser) -> Iterator[Callable[..., Operator]]:
    operators: list[Operator] = []

    def open_page(simulator: Simulator, **options: Any) -> Operator:
        operators.append(Operator(browser, simulator, **options))
        return operators[-1]

    yield open_page
    for operator in operators:
        operator.close()


@pytest.fixture
def before(browser: Browser) -> Iterator[Callable[..., Operator]]:
    """Function that opens the page of any simulator."""
    yield from _open_pages(browser)


@pytest.fixture(scope="module")
def before_for_long(browser: Browser) -> Iterator[Callable[..., Operator]]:
    """Function that opens the page of any simulator, for all tests of a module."""
    yield from _open_pages(browser)
