"""Status line of a running world in the terminal; imported only when a world runs."""

from __future__ import annotations

import math
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.runner import Runner
from skerry.world import Robot

PAGE: Final = "page"
"""Name of the page among the interfaces of a runner."""


def run_with_status(console: Console, runner: Runner, duration: float | None) -> None:
    """Run a world and show its time, speed, first robot and interfaces in one line.

    Args:
        console: Terminal that shows the line; the line is omitted where output is not a terminal.
        runner: Runner of the world.
        duration: Simulated time of the run, s; None runs until the runner is stopped.
    """
    world = runner.world
    columns = [SpinnerColumn(), TextColumn("{task.description}")] + ([] if duration is None else [BarColumn()])
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=duration)
        start = world.time
        unannounced = dict(runner.interfaces)

        def update(factor: float) -> None:
            while unannounced:  # an interface knows its address only after it has started
                name, interface = unannounced.popitem()
                progress.console.print(escape(f"{name}: {interface.status}"), soft_wrap=True)
            progress.update(task, completed=world.time - start, description=_status_line(runner, factor))

        runner.run(duration, update)


def _status_line(runner: Runner, factor: float) -> str:
    world = runner.world
    first = next(iter(world.robots.values()), None)
    speed = "paused " if runner.paused else f"×{factor:<6.1f}"
    interfaces = "".join(f"  [{interface.status}]" for interface in runner.interfaces.values())
    return f"{world.time:8.1f} s  {speed} {robot_line(first) if first else ''}{escape(interfaces)}"


def robot_line(robot: Robot) -> str:
    """Return position, heading, roll, pitch and forward speed of a robot as one line of text."""
    pose, twist = robot.pose, robot.twist
    x, y, z = pose.position
    roll, pitch, yaw = quaternion_to_rpy(pose.orientation)
    return (
        f"{robot.name}: x {x:.2f} y {y:.2f} z {z:.2f} m  heading {float(yaw_to_heading(yaw)):.0f}°  "
        f"roll {math.degrees(roll):.0f}°  pitch {math.degrees(pitch):.0f}°  forward {twist.linear[0]:.2f} m/s"
    )
