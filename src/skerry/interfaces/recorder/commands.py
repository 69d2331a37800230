"""Commands that start and stop a recording while a world runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skerry.core.errors import SkerryError
from skerry.interfaces.recorder import Recorder
from skerry.interfaces.recorder.recorder import RecorderInterface
from skerry.parts.interface import Command
from skerry.runner import Runner

RECORDER: Final = "recorder"
"""Name of the interface; `skerry run --record` uses the same name."""


def recorder_names(run: Runner) -> list[str]:
    """Return the names of the interfaces that record."""
    return [name for name, interface in run.interfaces.items() if isinstance(interface, RecorderInterface)]


@dataclass(frozen=True)
class StartRecording(Command):
    """Start a recording to a new file; it begins with a snapshot, from which a replay starts."""

    changes_world = False

    path: str

    def apply(self, run: Runner) -> None:
        if found := recorder_names(run):
            raise SkerryError(f"the interface {found[0]!r} already records; stop that recording first")
        recorder = RecorderInterface(Recorder(path=Path(self.path)))
        run.add_interface(RECORDER, recorder)
        recorder.start_from(run.world.snapshot())


@dataclass(frozen=True)
class StopRecording(Command):
    """Stop all recordings."""

    changes_world = False

    def apply(self, run: Runner) -> None:
        found = recorder_names(run)
        if not found:
            raise SkerryError("no recording is running")
        for name in found:
            run.remove_interface(name)
