"""The console of the original: reset, run a motor, and where the waypoints are; lines from the standard input."""

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
    from skerry.interfaces.husky.rover import HuskyInterface

STANDARD_INPUT: Final = 0
HELP: Final = """\
reset                    go back to the beginning
run MOTOR POWER          run a motor with a power from -1 to 1
run MOTOR to DEGREES     run a motor to a position, in degrees of the protocol
waypoints                list the waypoints
waypoint NAME            where a waypoint is
help                     this list"""


class Console:
    """Does what a line asks for."""

    def __init__(self, interface: HuskyInterface, world: World, inbox: Inbox) -> None:
        self._interface = interface
        self._inbox = inbox
        self._waypoints = interface.config.waypoints
        reference = world.scenario.reference
        self._projection = None if reference is None else Projection(reference)

    def start(self) -> None:
        """Take lines from the standard input, in a thread that ends with it."""
        Thread(target=self._listen, name="husky-console", daemon=True).start()

    def answer(self, line: str) -> str:
        """Do what a line says; what to show for it."""
        try:
            return self._do(line.split())
        except BadRequest as error:
            return str(error)

    def _do(self, words: list[str]) -> str:
        match words:
            case ["reset"]:
                self._inbox.put(Reset())
                return "reset"
            case ["run", motor, "to", number]:
                self._interface.do(MotorPosition(motor, _number(number)))
                return f"{motor} runs to {number}°"
            case ["run", motor, number]:
                power = _number(number)
                if not -1 <= power <= 1:
                    raise BadRequest(f"a power is from -1 to 1, not {number}")
                self._interface.do(MotorPower(motor, power))
                return f"{motor} runs with {number}"
            case ["waypoints"]:
                return "\n".join(self._where(name) for name in self._waypoints) or "there are no waypoints"
            case ["waypoint", name]:
                if name not in self._waypoints:
                    raise BadRequest(f"there is no waypoint {name!r}; {did_you_mean(name, self._waypoints)}")
                return self._where(name)
            case [] | ["help"]:
                return HELP
        raise BadRequest(f"{' '.join(words)}: unknown; `help` lists what there is")

    def _where(self, name: str) -> str:
        x, y = self._waypoints[name]
        if self._projection is None:
            return f"{name}: {x:g} m east, {y:g} m north"
        latitude, longitude, _ = self._projection.to_geodetic((x, y, 0.0))
        return f"{name}: latitude {latitude:z.8f}, longitude {longitude:z.8f}"

    def _listen(self) -> None:
        # not by `sys.stdin`, whose lock a thread that waits would still hold when the interpreter ends
        rest = b""
        while piece := os.read(STANDARD_INPUT, 4096):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                print(self.answer(line.decode(errors="replace")), file=sys.stderr)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e9:
        raise BadRequest(f"{text!r} is no number")
    return number
