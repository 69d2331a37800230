"""Errors that say where, what was found and what to do; all faults of a file at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class SkerryError(Exception):
    """The base of all errors that a user can act on; the command line prints it without a traceback."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a file: the place in it, what is wrong there, and what was found."""

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
    """A file that cannot be used, with every fault in it."""

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
    """A name that nothing answers to."""


class DependencyError(SkerryError, ImportError):
    """An installed package does not fit."""


class EngineError(SkerryError):
    """The physics engine refused something, in words that name the part."""


class PhysicsDiverged(SkerryError):
    """The numbers of a world ran away: which world, body and step, and the last states that were still sound."""

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
            f"the physics of world {world} diverged at step {step} (t = {time:.4f} s): body {body!r} no longer has "
            f"finite, sensible numbers. Last sound state: position ({show}), velocity ({speed}). "
            "A shorter step, more damping or smaller forces help; the world stands at that last sound state"
        )


def shorten(value: object, limit: int = 60) -> str:
    """A value as it would be written, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A guess at the right word, or the list of words where no guess is near."""
    words = sorted(set(known))
    if not words:
        return "there are none"
    near = get_close_matches(name, words, n=1, cutoff=0.6) or [w for w in words if name and name in w][:1]
    if near:
        return f"did you mean {near[0]!r}?"
    listed = ", ".join(words[:20]) + (", …" if len(words) > 20 else "")
    return f"known: {listed}"
