"""`skerry replay`: summarise a recording, show it on the page, verify it, or republish it to ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skerry.cli._interrupts import on_interrupt
from skerry.cli._options import HostOption, PortOption, TokenOption, parse_page_settings, parse_settings, parse_speed

if TYPE_CHECKING:
    from skerry.ui.settings import PageSettings

INCOMPLETE: Final = "The recording was not closed, as after a kill; only the messages before that point are used."


def replay(
    file: Annotated[str, typer.Argument(help="Recording written by `skerry run --record`.")],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Run the world again with the recorded commands and compare every bit."),
    ] = False,
    ros: Annotated[
        list[str] | None,
        typer.Option(help="Publish to ROS over this transport, such as `endpoint`. May be repeated."),
    ] = None,
    speed: Annotated[str, typer.Option(help="Recorded seconds per second: 1 is real time; or `max`.")] = "1",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Override a setting of a transport, e.g. `--set endpoint.port=10001`. May be repeated."
        ),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Serve no page; print the summary and exit.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    token: TokenOption = None,
) -> None:
    """Summarise a recording, show it on the page, verify it, or republish it to ROS.

    **Examples**

    `skerry replay dive.mcap`

    `skerry replay dive.mcap --headless`

    `skerry replay dive.mcap --verify`

    `skerry replay dive.mcap --ros endpoint --speed 2`
    """
    if verify:
        verify_recording(file)
    if ros:
        republish_recording(file, ros, parse_speed(speed), parse_settings(settings))
    if not (verify or ros):
        summarise_recording(file)
        if not headless:
            show_recording(file, parse_speed(speed), parse_page_settings(host, port, token))


def summarise_recording(path: str) -> None:
    """Print scenario, length, number of commands and all topics of a recording."""
    from rich.console import Console
    from rich.table import Table

    from skerry.interfaces.recorder.recording_reader import Recording
    from skerry.interfaces.recorder.recording_writer import COMMANDS, FINGERPRINTS

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
    console.print(f"{path}: {name}, seed {recording.seed}, {seconds:.2f} s, recorded by Skerry {recording.version}")
    if not recording.complete:
        console.print(INCOMPLETE)
    console.print(f"{counts.pop(COMMANDS, 0)} commands, {counts.pop(FINGERPRINTS, 0)} fingerprints of the world")
    table = Table("topic", "type", "messages", "Hz", box=None)
    for topic, count in sorted(counts.items()):
        table.add_row(topic, types[topic], str(count), f"{(count - 1) / seconds:.1f}" if seconds and count > 1 else "")
    console.print(table)


def verify_recording(path: str) -> None:
    """Run a recorded world again and print that all fingerprints agree; a difference raises a `SkerryError`."""
    from rich.console import Console

    from skerry.interfaces.recorder.recording_reader import Recording
    from skerry.interfaces.recorder.replay import verify

    console = Console(stderr=True)
    recording = Recording(Path(path))
    with console.status("") as status:
        found = verify(recording, lambda seconds: status.update(f"{seconds:8.1f} s"))
    console.print(
        f"{path}: the replay is identical to the bit up to {found.seconds:.2f} s: "
        f"{found.fingerprints} fingerprints, {found.commands} commands",
        soft_wrap=True,
    )
    if not recording.complete:
        console.print(INCOMPLETE)


def show_recording(path: str, speed: float | None, settings: PageSettings) -> None:
    """Run a recorded world again and show it on the page, until Ctrl-C.

    Args:
        path: File of the recording.
        speed: Recorded seconds per second; None is as fast as possible.
        settings: Settings of the page.
    """
    from rich.console import Console

    from skerry.cli._status import PAGE, run_with_status
    from skerry.interfaces.recorder.player import REPLAY, Player
    from skerry.interfaces.recorder.recording_reader import Recording
    from skerry.runner import Runner
    from skerry.ui.page import Page
    from skerry.ui.server import PageServer
    from skerry.world import build_world

    console = Console(stderr=True)
    player = Player(Recording(Path(path)))
    scenario = {**player.recording.scenario, "interfaces": {}}
    with PageServer(settings) as server, build_world(scenario) as world:
        console.print(f"The page: {server.url}", soft_wrap=True)
        page = Page(server)
        with Runner(world, speed, {REPLAY: player, PAGE: page}) as runner:
            player.watch(runner)
            page.attach_runner(runner)
            with on_interrupt(runner.stop):
                run_with_status(console, runner, None)


def republish_recording(path: str, kinds: list[str], speed: float | None, settings: Mapping[str, Any]) -> None:
    """Publish the messages of a recording to ROS; Ctrl-C ends it cleanly.

    Args:
        path: File of the recording.
        kinds: Kinds of the transports.
        speed: Recorded seconds per second; None is as fast as possible.
        settings: Settings of the transports by kind.
    """
    from rich.console import Console
    from rich.markup import escape

    from skerry.interfaces.recorder.recording_reader import Recording
    from skerry.interfaces.recorder.replay import republish

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
    console.print(f"{path}: {count} messages published")
