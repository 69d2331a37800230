"""The Typer application that collects all commands, and the entry point `main`.

Every command is a function in the file of its name. The files import heavy packages only inside functions, so that
`skerry --help` starts fast.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from skerry import __version__
from skerry.cli.bench import bench
from skerry.cli.check import check
from skerry.cli.dataset import dataset
from skerry.cli.doctor import doctor
from skerry.cli.export import export
from skerry.cli.import_terrain import import_terrain
from skerry.cli.import_vehicle import import_vehicle
from skerry.cli.list import list_contents
from skerry.cli.replay import replay
from skerry.cli.run import run
from skerry.cli.sweep import sweep
from skerry.cli.trial import trial
from skerry.core.errors import SkerryError

COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    "run": run,
    "replay": replay,
    "check": check,
    "list": list_contents,
    "import": import_vehicle,
    "import-terrain": import_terrain,
    "export": export,
    "dataset": dataset,
    "sweep": sweep,
    "trial": trial,
    "doctor": doctor,
    "bench": bench,
}
"""Functions of all commands by command name, in the order in which `skerry --help` lists them."""

INTERRUPTED: Final = 130
"""Exit code of a process that ends because of Ctrl-C (128 + SIGINT)."""

app = typer.Typer(
    name="skerry",
    help="Skerry, a marine-robotics simulator.\n\n"
    "Start with `skerry run`, then `skerry list`. `skerry COMMAND --help` describes a command.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _name, _command in COMMANDS.items():
    app.command(name=_name)(_command)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"skerry {__version__}")
        raise typer.Exit


@app.callback()
def global_options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Declare the options that come before the command."""


def main() -> None:
    """Run the `skerry` command and exit; print a `SkerryError` as one message instead of a traceback."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(INTERRUPTED))
    try:
        app()
    except SkerryError as error:
        print(f"skerry: {error}", file=sys.stderr)
        sys.exit(1)
