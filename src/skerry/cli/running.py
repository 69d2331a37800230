"""A run in the terminal: its live status, and the page that others look at."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from skerry.cli.interrupts import on_interrupt
from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.core.words import counted
from skerry.runner import Runner
from skerry.scenario import Scenario
from skerry.world import Robot, World, build_world

if TYPE_CHECKING:
    from skerry.ui.page import Page
    from skerry.ui.server import PageServer
    from skerry.ui.settings import PageSettings

PAGE: Final = "page"
"""The name of the page among the interfaces."""


def run_in_terminal(
    scenario: str,
    speed: float | None,
    duration: float | None,
    seed: int | None,
    overrides: Mapping[str, Any],
    page: PageSettings | None = None,
) -> None:
    """Build a world, run it, and show its status; Ctrl-C ends it cleanly. With a page, others may follow it."""
    console = Console(stderr=True)
    world: World | None = build_world(scenario, seed, overrides)
    with ExitStack() as stack:
        server: PageServer | None = None
        if page is not None:
            from skerry.ui.server import PageServer  # who wants no page waits for no server

            server = stack.enter_context(PageServer(page))
            console.print(f"The page: {server.url}", soft_wrap=True)
        while world is not None:
            with world:
                world, speed = _run_world(console, world, speed, duration, server, overrides)
            gc.collect()  # a world is hundreds of megabytes in some thousand objects, too few for Python to look itself
            duration = None


def _run_world(
    console: Console,
    world: World,
    speed: float | None,
    duration: float | None,
    server: PageServer | None,
    overrides: Mapping[str, Any],
) -> tuple[World | None, float | None]:
    """Run one world; gives the one that is to follow it, if any, and the speed that was set last."""
    loaded = world.scenario
    lasting = loaded.duration if duration is None else duration
    name, robots = loaded.name or "a scenario", counted(len(world.robots), "robot")
    console.print(f"{name}: {robots}, step {loaded.step} s, seed {loaded.seed}")
    interfaces = {name: config.build() for name, config in loaded.interfaces.items()}
    shown: Page | None = None
    if server is not None:
        from skerry.ui.page import Page

        shown = interfaces[PAGE] = Page(server)
    with Runner(world, speed, interfaces, partial(_make_world, overrides)) as runner:
        if shown is not None:
            shown.watch(runner)
        with on_interrupt(runner.stop):
            run_with_status(console, runner, lasting)
    for name in loaded.interfaces:
        console.print(escape(f"{name}: {interfaces[name].status}"), soft_wrap=True)
    for robot in world.robots.values():
        console.print(f"{world.time:9.2f} s  {_where(robot)}", soft_wrap=True)
    return runner.successor, runner.speed


def _make_world(overrides: Mapping[str, Any], source: str | Scenario, seed: int | None) -> World:
    """Another world: the same scenario as it is, or a shipped one with the interfaces of the command line."""
    from skerry.interfaces.recorder import Recorder
    from skerry.interfaces.recorder.commands import NAME as RECORDER

    if isinstance(source, str):
        given = {name: part for name, part in overrides.get("interfaces", {}).items() if name != RECORDER}
        return build_world(source, seed, {"interfaces": given} if given else None)
    kept = {name: part for name, part in source.interfaces.items() if not isinstance(part, Recorder)}
    return build_world(source.model_copy(update={"interfaces": kept}), seed)


def run_with_status(console: Console, runner: Runner, duration: float | None) -> None:
    """Run, with a line that says how it goes; None is until it is stopped."""
    world = runner.world
    columns = [SpinnerColumn(), TextColumn("{task.description}")] + ([] if duration is None else [BarColumn()])
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=duration)
        start = world.time
        untold = dict(runner.interfaces)

        def watch(factor: float) -> None:
            while untold:  # where to find them, once they have started
                name, interface = untold.popitem()
                progress.console.print(escape(f"{name}: {interface.status}"), soft_wrap=True)
            progress.update(task, completed=world.time - start, description=_status(runner, factor))

        runner.run(duration, watch)


def _status(runner: Runner, factor: float) -> str:
    world = runner.world
    first = next(iter(world.robots.values()), None)
    pace = "paused " if runner.paused else f"×{factor:<6.1f}"
    peers = "".join(f"  [{interface.status}]" for interface in runner.interfaces.values())
    return f"{world.time:8.1f} s  {pace} {_where(first) if first else ''}{escape(peers)}"


def _where(robot: Robot) -> str:
    pose, twist = robot.pose, robot.twist
    x, y, z = pose.position
    roll, pitch, yaw = quaternion_to_rpy(pose.orientation)
    degrees = 57.29577951308232
    return (
        f"{robot.name}: x {x:.2f} y {y:.2f} z {z:.2f} m  heading {float(yaw_to_heading(yaw)):.0f}°  "
        f"roll {roll * degrees:.0f}°  pitch {pitch * degrees:.0f}°  forward {twist.linear[0]:.2f} m/s"
    )
