"""Recordings in the terminal: what is in them, whether they come out the same, on the page and to peers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skerry.cli.interrupts import on_interrupt
from skerry.cli.running import PAGE, run_with_status
from skerry.interfaces.recorder.player import NAME as REPLAY
from skerry.interfaces.recorder.player import Player
from skerry.interfaces.recorder.reading import Recording
from skerry.interfaces.recorder.replay import republish, verify
from skerry.interfaces.recorder.writing import COMMANDS, FINGERPRINTS
from skerry.runner import Runner
from skerry.ui.page import Page
from skerry.ui.server import PageServer
from skerry.ui.settings import PageSettings
from skerry.world import build_world


def show_recording(path: str) -> None:
    """Print what is in a recording."""
    recording = Recording(Path(path))
    counts: Counter[str] = Counter()
    types: dict[str, str] = {}
    first, last = None, 0
    for message in recording.messages():
        counts[message.topic] += 1
        types[message.topic] = message.type
        first, last = (message.time if first is None else first), message.time
    seconds = (last - (first or 0)) / 1e9
    console = Console()
    name = recording.scenario.get("name") or "a scenario"
    console.print(f"{path}: {name}, seed {recording.seed}, {seconds:.2f} s, by Skerry {recording.version}")
    if not recording.complete:
        console.print("The file has no end, as of a run that was killed; this is what was written before.")
    console.print(f"{counts.pop(COMMANDS, 0)} commands, {counts.pop(FINGERPRINTS, 0)} fingerprints of the world")
    table = Table("topic", "type", "messages", "Hz", box=None)
    for topic, count in sorted(counts.items()):
        table.add_row(topic, types[topic], str(count), f"{(count - 1) / seconds:.1f}" if seconds and count > 1 else "")
    console.print(table)


def verify_in_terminal(path: str) -> None:
    """Run a recorded world again, and say that it came out the same; an error says where it did not."""
    console = Console(stderr=True)
    recording = Recording(Path(path))
    with console.status("") as status:
        found = verify(recording, lambda seconds: status.update(f"{seconds:8.1f} s"))
    console.print(
        f"{path}: the world came out the same to the bit, up to {found.seconds:.2f} s: "
        f"{found.fingerprints} fingerprints, {found.commands} commands",
        soft_wrap=True,
    )
    if not recording.complete:
        console.print("The file has no end, as of a run that was killed; this was checked of what there is.")


def replay_in_terminal(path: str, speed: float | None, page: PageSettings) -> None:
    """Run a recorded world again on the page, until Ctrl-C."""
    console = Console(stderr=True)
    player = Player(Recording(Path(path)))
    scenario = {**player.recording.scenario, "interfaces": {}}
    with PageServer(page) as server, build_world(scenario) as world:
        console.print(f"The page: {server.url}", soft_wrap=True)
        shown = Page(server)
        with Runner(world, speed, {REPLAY: player, PAGE: shown}) as runner:
            player.watch(runner)
            shown.watch(runner)
            with on_interrupt(runner.stop):
                run_with_status(console, runner, None)


def republish_in_terminal(path: str, kinds: list[str], speed: float | None, settings: Mapping[str, Any]) -> None:
    """Say a recording to peers; Ctrl-C ends it cleanly."""
    console = Console(stderr=True)
    stopped = Event()
    with on_interrupt(stopped.set), console.status("") as status:
        count = republish(
            Recording(Path(path)),
            kinds,
            speed,
            stopped,
            lambda seconds, peers: status.update(f"{seconds:8.1f} s  {escape(f'[{peers}]')}"),
            settings,
        )
    console.print(f"{path}: {count} messages")
