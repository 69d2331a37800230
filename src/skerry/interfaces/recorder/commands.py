"""Recording on and off while a world runs: commands, so that any interface may ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skerry.core.errors import SkerryError
from skerry.interfaces.recorder import Recorder
from skerry.interfaces.recorder.recorder import RecorderInterface
from skerry.parts.interface import Command
from skerry.runner import Runner

NAME: Final = "recorder"
"""Of the interface, as of one that the command line adds."""


def recorders(run: Runner) -> list[str]:
    """The names of the interfaces that record."""
    return [name for name, interface in run.interfaces.items() if isinstance(interface, RecorderInterface)]


@dataclass(frozen=True)
class StartRecording(Command):
    """Record to a new file from now on; the recording begins with a snapshot, so that it can be run again."""

    changes_world = False

    path: str

    def apply(self, run: Runner) -> None:
        if found := recorders(run):
            raise SkerryError(f"{found[0]} records already; end that recording first")
        recorder = RecorderInterface(Recorder(path=Path(self.path)))
        run.add_interface(NAME, recorder)
        recorder.begin_with(run.world.snapshot())


@dataclass(frozen=True)
class StopRecording(Command):
    """End all recordings."""

    changes_world = False

    def apply(self, run: Runner) -> None:
        found = recorders(run)
        if not found:
            raise SkerryError("nothing is being recorded")
        for name in found:
            run.remove_interface(name)
