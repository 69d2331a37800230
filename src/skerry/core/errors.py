"""Errors for users. Each says where the problem is, what was found and what to do; a file error lists all faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from skerry.core.smarc_names import from_smarc

MAX_LISTED: Final = 40  # known names that a hint lists completely
NEAREST: Final = 12  # names that a hint lists if there are more


class SkerryError(Exception):
    """Base class of all errors that a user can fix. The command line prints them without a traceback."""


@dataclass(frozen=True)
class Fault:
    """Problem in a file.

    Attributes:
        location: Where the problem is, such as `robots.sam.pose.position[2]`; empty for the whole file.
        problem: What is wrong there.
        found: Value that was found; None to leave it out of the message.
        line: Line in the file, counted from 1.
        hint: What to do, or a guess at the intended name.
    """

    location: str
    problem: str
    found: object = None
    line: int | None = None
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.location}: {self.problem}" if self.location else self.problem
        if self.found is not None:
            text += f" (found {shorten(self.found)})"
        if self.line is not None:
            text = f"line {self.line}: {text}"
        if self.hint:
            text += f"; {self.hint}"
        return text


class FileError(SkerryError):
    """Error for a file that cannot be used. Its message lists every fault of the file."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = list(faults)
        if len(self.faults) == 1:
            text = f"{source}: {self.faults[0]}"
        else:
            lines = "\n".join(f"  - {fault}" for fault in self.faults)
            text = f"{source}: {len(self.faults)} faults\n{lines}"
        super().__init__(text)


class UnknownName(SkerryError):
    """Error for a name that does not exist."""


class DependencyError(SkerryError, ImportError):
    """Error for an installed package that is missing or has the wrong version."""


class EngineError(SkerryError):
    """Error of the physics engine, with the name of the part that caused it."""


class PhysicsDiverged(SkerryError):
    """Error for a simulation whose state became infinite, NaN or unreasonably large.

    It holds the world, body and step of the failure, and the last valid position and velocity.
    """

    def __init__(
        self,
        world: int,
        body: str,
        step: int,
        time: float,
        last_position: tuple[float, ...],
        last_velocity: tuple[float, ...],
    ) -> None:
        self.world, self.body, self.step, self.time = world, body, step, time
        self.last_position, self.last_velocity = last_position, last_velocity
        show = ", ".join(f"{value:.4g}" for value in last_position)
        speed = ", ".join(f"{value:.4g}" for value in last_velocity)
        super().__init__(
            f"the physics of world {world} diverged at step {step} (t = {time:.4f} s): the state of body {body!r} is "
            f"not finite or far too large. Last valid state: position ({show}), velocity ({speed}); the world is "
            "back in that state. Use a shorter step, more damping or smaller forces"
        )


def shorten(value: object, limit: int = 60) -> str:
    """Return the repr of a value, cut to `limit` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name.

    It is "did you mean …?" if a known name is similar, or if the name is that of the SMaRC simulator for a known name;
    otherwise all known names, or the nearest of them if they are many.
    """
    words = sorted(set(known))
    if not words:
        return "none are defined"
    if word := from_smarc(name, words):
        return f"did you mean {word!r}?"
    with_unit = [word for word in words if word.startswith(f"{name}_")]  # such as `latitude_deg` for `latitude`
    near = with_unit if len(with_unit) == 1 else get_close_matches(name, words, n=1, cutoff=0.6)
    if near := near or [word for word in words if name and name in word][:1]:
        return f"did you mean {near[0]!r}?"
    if len(words) <= MAX_LISTED:
        return f"known: {', '.join(words)}"
    nearest = sorted(get_close_matches(name, words, n=NEAREST, cutoff=0.0))
    return f"the nearest of {len(words)} known names: {', '.join(nearest)}"
