"""`skerry run`: run a scenario in the terminal and serve its page."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skerry.cli._interrupts import on_interrupt
from skerry.cli._options import (
    HostOption,
    NoiseOption,
    PortOption,
    SetOption,
    TokenOption,
    parse_page_settings,
    parse_settings,
    parse_speed,
)

if TYPE_CHECKING:
    from rich.console import Console

    from skerry.scenario import Scenario
    from skerry.ui.page import Page
    from skerry.ui.server import PageServer
    from skerry.ui.settings import PageSettings
    from skerry.world import World

DEFAULT_SCENARIO = "sam_in_the_bay"  # loads within seconds; `demo` is larger and takes longer


def run(
    scenario: Annotated[
        str, typer.Argument(help="Name of a shipped scenario, or path of a scenario file.")
    ] = DEFAULT_SCENARIO,
    speed: Annotated[str, typer.Option(help="Simulated seconds per second: 1 is real time; or `max`.")] = "1",
    duration: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to simulate. Default: the scenario's duration. 0 only builds the world."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed that replaces the scenario's seed.")] = None,
    settings: SetOption = None,
    noise: NoiseOption = None,
    ros: Annotated[
        list[str] | None,
        typer.Option(
            help="Publish to ROS over this transport. `skerry list components` lists all transports. May be repeated."
        ),
    ] = None,
    waraps: Annotated[
        str | None,
        typer.Option(metavar="HOST[:PORT]", help="Connect all robots to this MQTT broker as agents of WARA-PS."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="Record to this new .mcap file: ROS 2 messages, and all data that a replay needs."),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Serve no page; show only the terminal.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    token: TokenOption = None,
) -> None:
    """Run a scenario, show where its robots are, and serve the operator's page.

    **Examples**

    `skerry run`

    `skerry run my_scenario.yaml --speed max --duration 60`

    `skerry run --set robots.sam.pose.position=[0,0,-10]`

    `skerry run sam_in_the_bay --ros endpoint`

    `skerry run sam_in_the_bay --record dive.mcap`
    """
    page = None if headless else parse_page_settings(host, port, token)
    overrides = parse_settings(settings, noise)
    for transport in ros or []:
        add_transport(overrides, transport)
    if waraps is not None:
        add_waraps(overrides, waraps)
    if record is not None:
        add_recorder(overrides, record)
    run_scenario(scenario, parse_speed(speed), duration, seed, overrides, page)


def add_transport(overrides: dict[str, Any], transport: str) -> None:
    """Add a transport of this kind to the interface `ros` of the overrides, which is added if it is missing."""
    ros = overrides.setdefault("interfaces", {}).setdefault("ros", {})
    ros.setdefault("kind", "ros")
    ros.setdefault("transports", {}).setdefault(transport, {}).setdefault("kind", transport)


def add_waraps(overrides: dict[str, Any], address: str) -> None:
    """Set the broker, HOST or HOST:PORT, of the interface `waraps` of the overrides, which is added if missing."""
    host, separator, port = address.rpartition(":")
    if separator and not port.isdigit():
        raise typer.BadParameter(f"{address!r} is not HOST or HOST:PORT", param_hint="--waraps")
    waraps = overrides.setdefault("interfaces", {}).setdefault("waraps", {})
    waraps.setdefault("kind", "waraps")
    waraps["host"] = host if separator else address
    if separator:
        waraps["port"] = int(port)


def add_recorder(overrides: dict[str, Any], path: str) -> None:
    """Set the file of the interface `recorder` of the overrides, which is added if it is missing."""
    recorder = overrides.setdefault("interfaces", {}).setdefault("recorder", {})
    recorder.setdefault("kind", "recorder")
    recorder["path"] = path


def run_scenario(
    scenario: str,
    speed: float | None,
    duration: float | None,
    seed: int | None,
    overrides: Mapping[str, Any],
    page: PageSettings | None = None,
) -> None:
    """Build and run a world, then each world that an operator starts after it; Ctrl-C ends the run cleanly.

    Args:
        scenario: Name of a shipped scenario, or path of a scenario file.
        speed: Simulated seconds per second; None is as fast as possible.
        duration: Simulated time of the first world, s; None is the scenario's duration.
        seed: Seed that replaces the scenario's seed.
        overrides: Values that replace those of the scenario.
        page: Settings of the page; None serves no page.
    """
    from rich.console import Console

    from skerry.world import build_world

    console = Console(stderr=True)
    world: World | None = build_world(scenario, seed, overrides)
    with ExitStack() as stack:
        server: PageServer | None = None
        if page is not None:
            from skerry.ui.server import PageServer

            server = stack.enter_context(PageServer(page))
            console.print(f"The page: {server.url}", soft_wrap=True)
        while world is not None:
            with world:
                world, speed = _run_world(console, world, speed, duration, server, overrides)
            # A world holds hundreds of megabytes in a few thousand objects: too few objects to trigger a collection.
            gc.collect()
            duration = None


def _run_world(
    console: Console,
    world: World,
    speed: float | None,
    duration: float | None,
    server: PageServer | None,
    overrides: Mapping[str, Any],
) -> tuple[World | None, float | None]:
    """Run one world; return the world to run next, or None, and the speed that was set last."""
    from rich.markup import escape

    from skerry.cli._status import PAGE, robot_line, run_with_status
    from skerry.core.text import count_noun
    from skerry.runner import Runner

    loaded = world.scenario
    run_time = loaded.duration if duration is None else duration
    name, robots = loaded.name or "a scenario", count_noun(len(world.robots), "robot")
    console.print(f"{name}: {robots}, step {loaded.step} s, seed {loaded.seed}")
    interfaces = {name: config.build() for name, config in loaded.interfaces.items()}
    page: Page | None = None
    if server is not None:
        from skerry.ui.page import Page

        page = interfaces[PAGE] = Page(server)
    with Runner(world, speed, interfaces, partial(_make_world, overrides)) as runner:
        if page is not None:
            page.attach_runner(runner)
        with on_interrupt(runner.stop):
            run_with_status(console, runner, run_time)
    for name in loaded.interfaces:
        console.print(escape(f"{name}: {interfaces[name].status}"), soft_wrap=True)
    for robot in world.robots.values():
        console.print(f"{world.time:9.2f} s  {robot_line(robot)}", soft_wrap=True)
    return runner.successor, runner.speed


def _make_world(overrides: Mapping[str, Any], source: str | Scenario, seed: int | None) -> World:
    """Build the next world, without a recorder, because its file would exist already.

    Args:
        overrides: Overrides of the command line; a named scenario gets their interfaces.
        source: Name of a scenario, or the scenario itself, which is built unchanged.
        seed: Seed that replaces the scenario's seed.
    """
    from skerry.commands import RECORDER
    from skerry.interfaces.recorder import Recorder
    from skerry.world import build_world

    if isinstance(source, str):
        given = {name: part for name, part in overrides.get("interfaces", {}).items() if name != RECORDER}
        return build_world(source, seed, {"interfaces": given} if given else None)
    kept = {name: part for name, part in source.interfaces.items() if not isinstance(part, Recorder)}
    return build_world(source.model_copy(update={"interfaces": kept}), seed)
