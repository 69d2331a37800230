"""A real simulator and a real browser, for the scripts that measure the page or take pictures of it."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

PATIENCE: Final = 300_000  # timeout of the browser, ms; a software renderer is slow
SOFTWARE: Final = ("--enable-unsafe-swiftshader",)
"""Arguments for a browser without a graphics card: the CPU paints the page, and WebGL is emulated."""
EMULATED: Final = ("--use-gl=angle", "--use-angle=swiftshader")
"""Arguments for a browser that emulates a graphics card for the whole page: the slowest case."""


@contextmanager
def simulator(scenario: str) -> Iterator[str]:
    """Run a simulator, and yield the address of its page."""
    command = [sys.executable, "-u", "-m", "skerry", "run", scenario]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(found.group() for line in process.stderr if (found := re.search(r"http://[\d.:]+", line)))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@contextmanager
def browser(arguments: tuple[str, ...] = SOFTWARE) -> Iterator[Browser]:
    """Run the installed Chromium, and yield it."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", *arguments]
        )
        yield chromium
        chromium.close()
