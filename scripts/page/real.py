"""A real simulator and a real browser, for those who measure the page or take pictures of it."""

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

PATIENCE: Final = 300_000  # ms; a software renderer takes its time over a fine picture
SOFTWARE: Final = ("--enable-unsafe-swiftshader",)
"""What a browser does on a machine without a graphics card: it paints the page itself, and WebGL is emulated."""
EMULATED: Final = ("--use-gl=angle", "--use-angle=swiftshader")
"""A graphics card is emulated for the whole page, also for its text and its lines: the worst that there is."""


@contextmanager
def simulator(scenario: str) -> Iterator[str]:
    """A simulator; gives the address of its page."""
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
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", *arguments]
        )
        yield chromium
        chromium.close()
