"""The command line: run · replay · check · list · import · export · dataset · sweep · trial · doctor · bench."""

from __future__ import annotations

import json
import math
import signal
import sys
from typing import Annotated, Any

import typer

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.formats.yaml_documents import parse_document

DEFAULT_SCENARIO = "sam_in_the_bay"  # there within seconds; the larger `demo` takes longer to load

app = typer.Typer(
    name="skerry",
    help="Skerry, a marine-robotics simulator.\n\nTry `skerry run`, then `skerry list`; each command has a `--help`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skerry {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and leave.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """What stands before the command."""


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """`path.to.value=5` as a tree of overrides; values are read as YAML."""
    tree: dict[str, Any] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        keys = path.split(".")
        if not equals or not all(keys):
            raise SkerryError(f"--set {setting!r}: write it as path.to.value=5, for example --set water.density=1000")
        try:
            value = parse_document(text, "--set").data
        except SkerryError:
            raise SkerryError(f"--set {setting!r}: {text!r} is not a value that YAML knows") from None
        place = tree
        for key in keys[:-1]:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise SkerryError(f"--set {setting!r}: {key!r} was given a value before, and has no parts")
        place[keys[-1]] = value
    return tree


def add_transport(overrides: dict[str, Any], transport: str) -> None:
    """Let the scenario's interface `ros`, or a new one, have a transport of this kind too."""
    place = overrides
    for key in ("interfaces", "ros"):
        place = place.setdefault(key, {})
    place.setdefault("kind", "ros")
    place.setdefault("transports", {}).setdefault(transport, {}).setdefault("kind", transport)


def add_recorder(overrides: dict[str, Any], path: str) -> None:
    """Let the scenario's interface `recorder`, or a new one, record to this file."""
    place = overrides.setdefault("interfaces", {}).setdefault("recorder", {})
    place.setdefault("kind", "recorder")
    place["path"] = path


def parse_speed(speed: str) -> float | None:
    """`max`, or simulated seconds per second."""
    if speed == "max":
        return None
    try:
        value = float(speed)
    except ValueError:
        value = math.nan
    if not (0 < value < math.inf):
        raise SkerryError(f"--speed {speed!r}: give a number above 0, such as 1 for real time, or `max`")
    return value


def page_settings(host: str, port: int | None, token: str | None) -> Any:
    """The settings of the page, checked."""
    from pydantic import ValidationError

    from skerry.ui.settings import PageSettings

    try:
        return PageSettings(host=host, port=port, token=token)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SkerryError(f"--{first['loc'][0]}: {first['msg']} (found {first['input']!r})") from None


@app.command()
def run(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name, or the path of a file.")
    ] = DEFAULT_SCENARIO,
    speed: Annotated[str, typer.Option(help="Simulated seconds per second: 1 is real time; or `max`.")] = "1",
    duration: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to simulate; the scenario's own by default, 0 only builds."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Another seed than the scenario's.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another value, as path=value; e.g. `--set water.density=1000`. May be repeated."),
    ] = None,
    ros: Annotated[
        list[str] | None,
        typer.Option(
            help="Speak to ROS over `endpoint`, `rosbridge`, `foxglove`, `dds`, `zenoh` or `tcpros`. May be repeated."
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="Record to a new file, .mcap: ROS 2 messages, and all that is needed to run it again."),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Without a page in the browser; only the terminal.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Where the page is served; `0.0.0.0` is every network, and needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="The page's port; 8080 or the next that is free by default.")] = None,
    token: Annotated[
        str | None, typer.Option(help="That browsers must give; made by chance for other hosts than this one.")
    ] = None,
) -> None:
    """Run a scenario, show where its robots are, and serve the operator's page.

    **Examples**

    `skerry run`

    `skerry run my_scenario.yaml --speed max --duration 60`

    `skerry run --set robots.sam.pose.position=[0,0,-10]`

    `skerry run sam_in_the_bay --ros endpoint`

    `skerry run sam_in_the_bay --record dive.mcap`
    """
    from skerry.cli.running import run_in_terminal

    page = None if headless else page_settings(host, port, token)
    overrides = parse_settings(settings or [])
    for transport in ros or []:
        add_transport(overrides, transport)
    if record is not None:
        add_recorder(overrides, record)
    run_in_terminal(scenario, parse_speed(speed), duration, seed, overrides, page)


@app.command()
def replay(
    file: Annotated[str, typer.Argument(help="A recording that `skerry run --record` made.")],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Run the world again with the recorded commands, and compare it to the bit."),
    ] = False,
    ros: Annotated[
        list[str] | None,
        typer.Option(help="Say what was recorded over a transport, such as `endpoint`. May be repeated."),
    ] = None,
    speed: Annotated[str, typer.Option(help="Recorded seconds per second: 1 is real time; or `max`.")] = "1",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of a transport, e.g. `--set endpoint.port=10001`. May be repeated."),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Without a page in the browser; say what is in the file, and end.")
    ] = False,
    host: Annotated[str, typer.Option(help="Where the page is served; see `skerry run`.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="The page's port; 8080 or the next that is free by default.")] = None,
    token: Annotated[str | None, typer.Option(help="That browsers must give; see `skerry run`.")] = None,
) -> None:
    """Say what is in a recording and show it on the page, verify it, or say it to peers of ROS.

    **Examples**

    `skerry replay dive.mcap`

    `skerry replay dive.mcap --headless`

    `skerry replay dive.mcap --verify`

    `skerry replay dive.mcap --ros endpoint --speed 2`
    """
    from skerry.cli.recordings import replay_in_terminal, republish_in_terminal, show_recording, verify_in_terminal

    if verify:
        verify_in_terminal(file)
    if ros:
        republish_in_terminal(file, ros, parse_speed(speed), parse_settings(settings or []))
    if not (verify or ros):
        show_recording(file)
        if not headless:
            replay_in_terminal(file, parse_speed(speed), page_settings(host, port, token))


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help="Scenario files or names, or folders of vehicles.")],
) -> None:
    """Check scenarios or vehicles without running them; say all that is wrong at once.

    A scenario is loaded and its world is built, so that whatever could go wrong at the start is found. Exit code 1 if
    anything is wrong.
    """
    from skerry.world.check import check_file

    failed = False
    for file in files:
        try:
            typer.echo(f"{file}: {check_file(file)}")
        except SkerryError as error:
            typer.echo(str(error), err=True)
            failed = True
    if failed:
        raise typer.Exit(1)


@app.command(name="list")
def list_(
    what: Annotated[str, typer.Argument(help="scenarios, vehicles, props or components; all by default.")] = "all",
) -> None:
    """List shipped scenarios, vehicles and props, and the kinds of components that files may name."""
    from skerry.cli.listing import list_contents

    list_contents(what)


@app.command(name="import")
def import_(
    file: Annotated[str, typer.Argument(help="A vehicle: .urdf, .sdf, Stonefish .scn, or .json of `skerry export`.")],
    name: Annotated[str | None, typer.Option(help="Of the folder; the robot's own name by default.")] = None,
    out: Annotated[str | None, typer.Option(help="A new folder; by default one of that name, here.")] = None,
    packages: Annotated[
        list[str] | None,
        typer.Option(
            help="Where `package://` and `model://` are looked for, beside the file's parents. May be repeated."
        ),
    ] = None,
    neutral: Annotated[
        bool, typer.Option("--neutral", help="It floats freely, however large its shapes are, as open frames do.")
    ] = False,
) -> None:
    """Make a vehicle that runs of another program's file: links, joints, masses, meshes, sensors.

    What the file does not say is guessed from its shapes, each number with its likely error beside it in vehicle.yaml:
    buoyancy, added mass, drag. Every guess, and what was left out, is told.

    **Examples**

    `skerry import robot.urdf --packages ~/ros2_ws/src`

    `skerry import sam.json --name my_sam`
    """
    from skerry.cli.exchanging import import_vehicle_in_terminal

    import_vehicle_in_terminal(file, name, out, packages or [], neutral)


@app.command(name="import-terrain")
def import_terrain(
    file: Annotated[str, typer.Argument(help="Ground: .tif, .asc, .npy, .npz, .stl, .obj or .dae.")],
    out: Annotated[str | None, typer.Option(help="A new folder; by default named after the file, here.")] = None,
    resolution: Annotated[float | None, typer.Option(help="m between heights; the file's own by default.")] = None,
    crs: Annotated[
        str | None, typer.Option(help="The file's coordinates, if it tells none, such as EPSG:3006.")
    ] = None,
    cell: Annotated[float | None, typer.Option(help="m between the numbers of an .npy.")] = None,
    positive: Annotated[str, typer.Option(help="`up` if the file holds heights, `down` if depths.")] = "up",
    vertical_offset: Annotated[float, typer.Option(help="m, added to all heights.")] = 0.0,
    scale: Annotated[float, typer.Option(help="m to a unit of a mesh.")] = 1.0,
    y_up: Annotated[bool, typer.Option("--y-up", help="The mesh has y up, not z.")] = False,
) -> None:
    """Make a heightfield and a scenario with it of a survey or a mesh, resampled to even nodes.

    **Examples**

    `skerry import-terrain survey.tif --positive down --resolution 2`

    `skerry import-terrain harbour.stl --scale 0.001`
    """
    from skerry.cli.exchanging import import_terrain_in_terminal

    options = {"resolution": resolution, "crs": crs, "cell": cell, "positive": positive, "scale": scale}
    import_terrain_in_terminal(file, out, {**options, "vertical_offset": vertical_offset, "y_up": y_up})


@app.command()
def export(
    vehicle: Annotated[str, typer.Argument(help="A shipped vehicle's name, or its folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, the one format there is.")] = False,
    out: Annotated[str | None, typer.Option(help="A file; by default it is printed.")] = None,
) -> None:
    """Write a vehicle as one file: geometry, masses, joints, components, meshes; `skerry import` reads it back."""
    from skerry.cli.exchanging import export_in_terminal

    if not as_json:
        raise SkerryError("give the format: skerry export VEHICLE --json")
    export_in_terminal(vehicle, out)


@app.command()
def dataset(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario's name, or a file.")],
    camera: Annotated[str, typer.Option(help="Whose lens and size: `robot/camera`.")],
    out: Annotated[str, typer.Option(help="A new folder.")],
    count: Annotated[int, typer.Option(help="How many pictures.")] = 100,
    seed: Annotated[int, typer.Option(help="Of views, water and light.")] = 0,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Override a value: `path.to.value=5`.")] = None,
) -> None:
    """Write labelled pictures of a scenario, to teach a network: JPEG, YOLO labels, train.txt and data.yaml.

    Viewpoint, turbidity and daylight are drawn anew for each picture; the same seed gives the same files.
    """
    from skerry.cli.datasets import write_dataset_in_terminal

    write_dataset_in_terminal(scenario, camera, out, count, seed, parse_settings(settings or []))


@app.command()
def sweep(
    file: Annotated[str, typer.Argument(help="A sweep file, .yaml: a scenario, what varies, what is measured.")],
    out: Annotated[
        str | None, typer.Option(help="Folder of the results; by default the file's name with `_results`, here.")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="`local`: processes of this machine; `ray`: a Ray cluster, of this machine if alone.")
    ] = "local",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster, such as `10.0.0.1:6379` or `auto`.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time; one for each core by default.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Do runs again that failed before.")] = False,
) -> None:
    """Run a scenario many times with other values, and measure each run.

    Results are written as they come; after a kill the same command goes on where it was. Exit code 1 if a run failed.

    **Examples**

    `skerry sweep speeds.yaml`

    `skerry sweep speeds.yaml --engine ray --address auto --out speeds`
    """
    from skerry.cli.sweeping import sweep_in_terminal

    if not sweep_in_terminal(file, out, engine, address, workers, retry_failed):
        raise typer.Exit(1)


@app.command()
def trial(
    manoeuvre: Annotated[str, typer.Argument(help="turning_circle, zigzag, spiral or stopping.")],
    vehicle: Annotated[str, typer.Argument(help="A shipped vehicle's name, or a folder with a vehicle.yaml.")],
    helm: Annotated[
        float | None, typer.Option(help="° of helm: hard over for the turning circle, 10 for the zig-zag by default.")
    ] = None,
    angle: Annotated[float | None, typer.Option(help="° of heading of the zig-zag; as much as the helm.")] = None,
    out: Annotated[str | None, typer.Option(help="Folder of the results; by default the names of both, here.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another value of vehicle.yaml, as path=value. May be repeated."),
    ] = None,
) -> None:
    """Do a sea trial with a vehicle, and compare its figures with the IMO's standards.

    **Examples**

    `skerry trial turning_circle remus100`

    `skerry trial zigzag otter --helm 20`

    `skerry trial stopping sam --set trials.ahead.thruster1=800 --set trials.ahead.thruster2=800`
    """
    from skerry.cli.trying import try_in_terminal

    try_in_terminal(manoeuvre, vehicle, helm, angle, out, parse_settings(settings or []))


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list instead of a table.")] = False,
) -> None:
    """Say what is installed, what is missing, and what works here. Exit code 1 if something is wrong."""
    from skerry.cli.doctor import examine, show

    findings = examine()
    if as_json:
        typer.echo(json.dumps([vars(finding) for finding in findings], indent=2))
    else:
        show(findings)
    if any(finding.is_well is False for finding in findings):
        raise typer.Exit(1)


@app.command()
def bench(
    parts: Annotated[list[str] | None, typer.Argument(help="Parts to run, such as `physics`; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Measure this machine: step times, real-time factors and start-up, beside the goals.

    Times are CPU time of the measuring thread, best of several repeats, unless the key says otherwise.
    """
    from skerry.benchmarks import measure, nested, show

    values = measure(parts or [])
    if as_json:
        typer.echo(json.dumps(nested(values), indent=2))
    else:
        show(values)


def main() -> None:
    """The `skerry` command: errors that a user can act on are one message, not a traceback."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    try:
        app()
    except SkerryError as error:
        print(f"skerry: {error}", file=sys.stderr)
        sys.exit(1)
