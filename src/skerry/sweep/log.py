"""Results file of a sweep: one JSON line per run, appended when the run ends, so that a kill loses no result."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final, Self

from skerry.core.errors import SkerryError
from skerry.sweep.work import Outcome, Run

SYNC_INTERVAL: Final = 1.0  # s between calls of fsync; a power cut loses at most this time


class ResultsLog:
    """Append-only file of JSON lines; `outcomes` holds the last line of each run, by run key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise SkerryError(f"{path}: cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise SkerryError(
                f"{path}: another sweep is writing to this folder; wait for it, or choose another folder with --out"
            ) from None
        self.outcomes = self._read()
        self._synced = time.monotonic()

    def _read(self) -> dict[str, Outcome]:
        """Read earlier results; remove an incomplete last line, left by a kill or a full disk."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)
        found = {}
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                entry = json.loads(line)
                found[entry["key"]] = Outcome(entry["key"], entry["metrics"], entry["error"], entry["seconds"])
            except (ValueError, KeyError, TypeError):
                self.close()
                raise SkerryError(
                    f"{self.path}: line {number} is not a sweep result; choose another folder with --out"
                ) from None
        return found

    def add(self, run: Run, outcome: Outcome) -> None:
        """Append the outcome of a run."""
        line = json.dumps({**asdict(outcome), "seed": run.seed, "values": run.values}) + "\n"
        data = line.encode()
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if time.monotonic() - self._synced >= SYNC_INTERVAL:
                self._sync()
        except OSError as error:
            raise SkerryError(
                f"{self.path}: cannot be written: {error.strerror}; the {len(self.outcomes)} earlier results are "
                "kept; free disk space and run the same command again"
            ) from None
        self.outcomes[outcome.key] = outcome

    def _sync(self) -> None:
        os.fsync(self._file)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Flush all results to the disk and close the file. Calling it twice is harmless."""
        if self._file >= 0:
            try:
                os.fsync(self._file)
            except OSError as error:
                raise SkerryError(f"{self.path}: the last results may be lost: {error.strerror}") from None
            finally:
                os.close(self._file)
                self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
