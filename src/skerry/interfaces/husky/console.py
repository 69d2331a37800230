"""Console of the original simulator: reset, run a motor, list waypoints; reads lines from the standard input."""

from __future__ import annotations

import os
import sys
from threading import Thread
from typing import TYPE_CHECKING, Final

from skerry.commands import Reset
from skerry.core.errors import did_you_mean
from skerry.core.geo import Projection
from skerry.interfaces.husky.messages import BadRequest, MotorPosition, MotorPower
from skerry.parts.interface import Inbox
from skerry.world import World

if TYPE_CHECKING:
    from skerry.interfaces.husky.interface import HuskyInterface

STANDARD_INPUT: Final = 0
"""File descriptor of the standard input."""
HELP: Final = """\
reset                    go back to the beginning
run MOTOR POWER          run a motor with a power from -1 to 1
run MOTOR to DEGREES     run a motor to a position, in degrees of the protocol
waypoints                list the waypoints
waypoint NAME            show the position of a waypoint
help                     show this list"""


class HuskyConsole:
    """Console that executes lines of text."""

    def __init__(self, interface: HuskyInterface, world: World, inbox: Inbox) -> None:
        self._interface = interface
        self._inbox = inbox
        self._waypoints = interface.config.waypoints
        reference = world.scenario.reference
        self._projection = None if reference is None else Projection(reference)

    def start(self) -> None:
        """Read lines from the standard input in a daemon thread."""
        Thread(target=self._read_lines, name="husky-console", daemon=True).start()

    def execute(self, line: str) -> str:
        """Execute a line and return the text to show; an invalid line returns its error."""
        try:
            return self._execute(line.split())
        except BadRequest as error:
            return str(error)

    def _execute(self, words: list[str]) -> str:
        match words:
            case ["reset"]:
                self._inbox.put(Reset())
                return "reset"
            case ["run", motor, "to", number]:
                self._interface.execute(MotorPosition(motor, _parse_number(number)))
                return f"{motor} runs to {number}°"
            case ["run", motor, number]:
                power = _parse_number(number)
                if not -1 <= power <= 1:
                    raise BadRequest(f"the power is {number}; expected -1 to 1")
                self._interface.execute(MotorPower(motor, power))
                return f"{motor} runs with {number}"
            case ["waypoints"]:
                return "\n".join(self._describe(name) for name in self._waypoints) or "there are no waypoints"
            case ["waypoint", name]:
                if name not in self._waypoints:
                    raise BadRequest(f"there is no waypoint {name!r}; {did_you_mean(name, self._waypoints)}")
                return self._describe(name)
            case [] | ["help"]:
                return HELP
        raise BadRequest(f"unknown command {' '.join(words)!r}; `help` lists the commands")

    def _describe(self, name: str) -> str:
        x, y = self._waypoints[name]
        if self._projection is None:
            return f"{name}: {x:g} m east, {y:g} m north"
        latitude, longitude, _ = self._projection.to_geodetic((x, y, 0.0))
        return f"{name}: latitude {latitude:z.8f}, longitude {longitude:z.8f}"

    def _read_lines(self) -> None:
        # `sys.stdin` is not used: a thread that waits in it still holds its lock when the interpreter exits.
        rest = b""
        while data := os.read(STANDARD_INPUT, 4096):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                print(self.execute(line.decode(errors="replace")), file=sys.stderr)


def _parse_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e9:
        raise BadRequest(f"{text!r} is not a number")
    return number
