"""What people see in the terminal: a run's live status, and lists of what there is."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from skerry.core.documents import Document
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.dataset import DatasetOptions, write_dataset
from skerry.interfaces.recorder import Recorder
from skerry.interfaces.recorder.player import NAME as REPLAY
from skerry.interfaces.recorder.player import Player
from skerry.interfaces.recorder.reading import Recording
from skerry.interfaces.recorder.replay import republish, verify
from skerry.interfaces.recorder.switching import NAME as RECORDER
from skerry.interfaces.recorder.writing import COMMANDS, FINGERPRINTS
from skerry.interfaces.ros.transport import TRANSPORTS
from skerry.parts.acoustics import ACOUSTICS
from skerry.parts.actuator import ACTUATORS
from skerry.parts.controller import CONTROLLERS
from skerry.parts.interface import INTERFACES
from skerry.parts.law import LAWS
from skerry.parts.sensor import SENSORS
from skerry.runner import Runner
from skerry.scenario import Scenario
from skerry.scenario.loading import load_scenario, shipped_scenarios
from skerry.scenario.props import read_prop, shipped_props
from skerry.scenario.vehicle import shipped_vehicles
from skerry.sweep import make_plan, run_sweep
from skerry.terrain import TERRAINS
from skerry.trials import run_trial, write_result
from skerry.ui.page import Page
from skerry.ui.server import PageServer
from skerry.ui.settings import PageSettings
from skerry.water.flow import CURRENTS, SURFACES
from skerry.world import Robot, World, build_world

PAGE: Final = "page"
"""The name of the page among the interfaces."""

FAMILIES = (
    LAWS,
    ACTUATORS,
    SENSORS,
    CONTROLLERS,
    ACOUSTICS,
    SURFACES,
    CURRENTS,
    TERRAINS,
    INTERFACES,
    TRANSPORTS,
)

MOST_FAILURES = 5
"""Failed runs of a sweep that are told one by one; the table has them all."""


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
        server = None if page is None else stack.enter_context(PageServer(page))
        if server is not None:
            console.print(f"The page: {server.url}", soft_wrap=True)
        while world is not None:
            with world:
                world, speed = _run_world(console, world, speed, duration, server, overrides)
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
    count = "1 robot" if len(world.robots) == 1 else f"{len(world.robots)} robots"
    console.print(f"{loaded.name}: {count}, step {loaded.step} s, seed {loaded.seed}")
    interfaces = {name: config.build() for name, config in loaded.interfaces.items()}
    shown = None if server is None else Page(server)
    both = interfaces if shown is None else {**interfaces, PAGE: shown}
    with Runner(world, speed, both, partial(_make_world, overrides)) as runner:
        if shown is not None:
            shown.watch(runner)
        before = signal.signal(signal.SIGINT, lambda *_: runner.stop())
        try:
            _run_with_status(console, runner, lasting)
        finally:
            signal.signal(signal.SIGINT, before)
        for name, interface in interfaces.items():
            console.print(f"{name}: {interface.status}", soft_wrap=True)
    for robot in world.robots.values():
        console.print(f"{world.time:9.2f} s  {_where(robot)}", soft_wrap=True)
    return runner.successor, runner.speed


def _make_world(overrides: Mapping[str, Any], source: str | Scenario, seed: int | None) -> World:
    """Another world: the same scenario as it is, or a shipped one with the interfaces of the command line."""
    if isinstance(source, str):
        given = {name: part for name, part in overrides.get("interfaces", {}).items() if name != RECORDER}
        return build_world(source, seed, {"interfaces": given} if given else None)
    kept = {name: part for name, part in source.interfaces.items() if not isinstance(part, Recorder)}
    return build_world(source.model_copy(update={"interfaces": kept}), seed)


def _run_with_status(console: Console, runner: Runner, duration: float | None) -> None:
    world = runner.world
    columns = [SpinnerColumn(), TextColumn("{task.description}")] + ([] if duration is None else [BarColumn()])
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=duration)
        start = world.time
        untold = dict(runner.interfaces)

        def watch(factor: float) -> None:
            while untold:  # where to find them, once they have started
                name, interface = untold.popitem()
                progress.console.print(f"{name}: {interface.status}", soft_wrap=True)
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
            before = signal.signal(signal.SIGINT, lambda *_: runner.stop())
            try:
                _run_with_status(console, runner, None)
            finally:
                signal.signal(signal.SIGINT, before)


def republish_in_terminal(path: str, kinds: list[str], speed: float | None, settings: Mapping[str, Any]) -> None:
    """Say a recording to peers; Ctrl-C ends it cleanly."""
    console = Console(stderr=True)
    stopped = Event()
    before = signal.signal(signal.SIGINT, lambda *_: stopped.set())
    try:
        with console.status("") as status:
            count = republish(
                Recording(Path(path)),
                kinds,
                speed,
                stopped,
                lambda seconds, peers: status.update(f"{seconds:8.1f} s  {escape(f'[{peers}]')}"),
                settings,
            )
    finally:
        signal.signal(signal.SIGINT, before)
    console.print(f"{path}: {count} messages")


def write_dataset_in_terminal(
    scenario: str, camera: str, folder: str, count: int, seed: int, overrides: Mapping[str, Any]
) -> None:
    """Write a dataset, and show how far it is."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("pictures", total=count)
        labels = write_dataset(
            scenario,
            camera,
            folder,
            DatasetOptions(count, seed),
            overrides,
            lambda done: progress.update(task, completed=done),
        )
    console.print(f"{count} pictures with {labels} labels in {folder}", soft_wrap=True)


def sweep_in_terminal(
    file: str, out: str | None, engine: str, address: str | None, workers: int | None, retry_failed: bool
) -> bool:
    """Do a sweep, show how far it is and how long it takes yet, and say whether all runs went well."""
    console = Console(stderr=True)
    path = Path(file)
    folder = Path(f"{path.stem}_results" if out is None else out)
    plan = make_plan(path)
    total = len(plan.runs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done = 0
    with Progress(*columns, console=console, disable=not console.is_terminal, refresh_per_second=4) as progress:
        task = progress.add_task("runs", total=total)

        def watch(finished: int, failed: int) -> None:
            nonlocal done
            done = finished
            progress.update(task, completed=finished, description=f"runs, {failed} failed" if failed else "runs")

        try:
            report = run_sweep(plan, folder, engine, address, workers, retry_failed, watch)
        except (SystemExit, KeyboardInterrupt):
            console.print(
                f"{done} of {total} runs are done, and kept in {folder}; the same command goes on with the rest"
            )
            raise
    for failure in report.failures[:MOST_FAILURES]:
        console.print(f"a run failed: {escape(failure.error)}", soft_wrap=True)
    more = f", {len(report.failures)} of them failed" if report.failures else ""
    before = f", {report.done_before} of them before" if report.done_before else ""
    console.print(f"{total} runs{more}{before}: {', '.join(map(str, report.files))}", soft_wrap=True)
    return not report.failures


def try_in_terminal(
    manoeuvre: str, vehicle: str, helm: float | None, angle: float | None, out: str | None, overrides: Mapping[str, Any]
) -> None:
    """Do a sea trial, and show its figures."""
    console = Console(stderr=True)
    with console.status(f"{manoeuvre} of {vehicle} …"):
        result = run_trial(manoeuvre, vehicle, overrides, helm_deg=helm, angle_deg=angle)
    table = Table("figure", "value", "IMO", "", box=None)
    for name, value in result.figures.items():
        table.add_row(name, f"{value:.4g}", "", "")
    for each in result.criteria:
        mark = "[green]met[/]" if each.is_met else "[red]not met[/]"
        table.add_row(each.name, f"{each.value:.4g}", f"≤ {each.limit:.4g}", mark)
    Console().print(table)
    folder = Path(f"{manoeuvre}_{Path(vehicle).name}" if out is None else out)
    console.print(", ".join(str(path) for path in write_result(result, folder)), soft_wrap=True)


def list_contents(what: str) -> None:
    """Print the names of what there is."""
    parts = ("scenarios", "vehicles", "props", "components")
    if what != "all" and what not in parts:
        raise SkerryError(f"there is no list of {what!r}; {did_you_mean(what, parts)}")
    console = Console()
    if what in {"all", "scenarios"}:
        table = Table("scenario", "", title="Scenarios: skerry run NAME", title_justify="left", box=None)
        for name in shipped_scenarios():
            table.add_row(name, load_scenario(name).scenario.description)
        console.print(table)
    if what in {"all", "vehicles"}:
        console.print("Vehicles:", ", ".join(shipped_vehicles()))
    if what in {"all", "props"}:
        table = Table("prop", "", title="Props: objects: {NAME: {prop: PROP, …}}", title_justify="left", box=None)
        for name in shipped_props():
            table.add_row(name, read_prop(name).description)
        console.print(table)
    if what in {"all", "components"}:
        table = Table(
            "family",
            "kinds",
            title="Components, by the `kind` that a file gives",
            title_justify="left",
            box=None,
        )
        for family in FAMILIES:
            table.add_row(family.name, ", ".join(family.kinds()) or "none yet")
        console.print(table)


def import_vehicle_in_terminal(
    file: str, name: str | None, out: str | None, packages: list[str], neutral: bool
) -> None:
    """Import a vehicle, and say what was made and what was guessed."""
    from skerry.exchange.vehicle_import import import_vehicle

    console = Console(stderr=True)
    folder = None if out is None else Path(out).expanduser()
    places = [Path(place).expanduser() for place in packages]
    made = import_vehicle(Path(file).expanduser(), name, folder, places, neutral)
    for note in made.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}", soft_wrap=True)
    console.print(f"{escape(str(made.folder))}: {escape(made.summary)}", soft_wrap=True)
    console.print(f"Use it in a scenario as `vehicle: ./{escape(str(made.folder))}`", soft_wrap=True)


def import_terrain_in_terminal(file: str, out: str | None, options: Mapping[str, Any]) -> None:
    """Import ground, and say what was made."""
    from skerry.exchange.terrain_import import TerrainOptions, import_terrain

    folder = None if out is None else Path(out).expanduser()
    made = import_terrain(Path(file).expanduser(), folder, TerrainOptions.load(Document("options", dict(options))))
    console = Console(stderr=True)
    console.print(f"{escape(str(made.folder))}: {escape(made.summary)}", soft_wrap=True)
    console.print(f"Use it in a scenario by `extends: {escape(str(made.folder))}/terrain.yaml`", soft_wrap=True)


def export_in_terminal(vehicle: str, out: str | None) -> None:
    """Write a vehicle's JSON to a file, or print it."""
    from skerry.exchange.vehicle_json import export_text

    text = export_text(vehicle)
    if out is None:
        print(text, end="")
        return
    try:
        Path(out).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise SkerryError(f"{out} cannot be written: {error.strerror}") from None
