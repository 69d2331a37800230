"""A control law inside the native loop: it acts at its rate between two steps, and no step waits for Python.

Its function is given the addresses of the bodies' motions, of userdata, of the time and of its own table, and writes an
answer: a command for each of its actuators, in their units. Who uses the answer is not its concern: the native loop
moves the actuators' levers by it while the controller owns them; otherwise Python asks for it, and commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import Native, call7, kernel, native
from skerry.parts.actuator import Actuator

Floats = NDArray[np.float64]

reflex = native(types.void(types.int64, types.int64, types.int64, types.int64))
"""Decorator of a reflex's function (motions, userdata, time, table), all four addresses."""

# numbers of a lever: its place in userdata, the sign of what is written there, the limits, and the least command
PLACE, SIGN, LOW, HIGH, LEAST, COMMAND_SLOT = range(6)

# words of a rope: places in userdata of its number of nodes, of what it is joined to over a hook, of the body that its
# end is tied to, of its end's position and velocity, of its last tension, and of its first one beyond that hook, or −1
COUNT, JOIN, TIED, END, END_VELOCITY, TENSION, TENSION_BEYOND, ROPE = range(8)


class Sight(Protocol):
    """What a reflex may see, as memory; the `SampleView` of the present."""

    @property
    def time(self) -> float: ...
    @property
    def gravity(self) -> float: ...
    @property
    def motions(self) -> Floats:
        """Of all bodies of the engine, (bodies, 13)."""

    @property
    def userdata(self) -> Floats: ...
    @property
    def sea(self) -> tuple[int, int]:
        """The addresses of the water's native function and of its table."""

    def frame(self, link: str, offset: Any = None) -> tuple[int, Floats]:
        """The number of the body that a frame of the robot is fixed to, and its pose on it, (7,)."""

    def frame_of(self, name: str) -> tuple[int, Floats]:
        """The same of a robot, an object or a "robot/link" of the scenario."""

    def rope_words(self, name: str) -> NDArray[np.int64]:
        """Where a rope is in userdata, (ROPE,)."""


class NativeController:
    """A control law as the native loop runs it.

    `table` is what its function reads: words, addresses among them, of arrays that it `holds`; `memory` what it
    remembers from one time to the next, in an array that the controller has too.
    """

    def __init__(
        self,
        law: Native,
        table: Sequence[int],
        memory: Floats,
        actuators: Sequence[Actuator],
        sight: Sight,
        answer: Floats,
        holds: Sequence[Any],
    ) -> None:
        self._law = law
        self._sight = sight
        self._table = np.array(table, np.int64)
        self._time = np.zeros(1)
        self._holds = holds
        self.memory = memory
        self.answer = answer
        self.actuators = actuators
        command_slots = [(actuator.limits, actuator.command_slot) for actuator in actuators]
        self.has_command_slots = all(command_slot is not None for _, command_slot in command_slots)
        """Whether native code can command all of its actuators."""
        self._levers = np.array(
            [
                [place_in(sight.userdata, command_slot.memory), command_slot.sign, *limits, command_slot.least]
                for limits, command_slot in command_slots
                if command_slot is not None
            ]
        )
        self.words = (
            *(law.address, self._table.ctypes.data, answer.ctypes.data),
            *(len(actuators), self._levers.ctypes.data),
        )

    def think(self) -> list[float]:
        """Its answer now."""
        sight = self._sight
        self._time[0] = sight.time
        self._law.ctypes(
            *(sight.motions.ctypes.data, sight.userdata.ctypes.data),
            *(self._time.ctypes.data, self._table.ctypes.data),
        )
        return self.answer.tolist()


def place_in(userdata: Floats, view: Floats) -> int:
    """The place in userdata at which a view of it begins."""
    place, rest = divmod(view.ctypes.data - userdata.ctypes.data, userdata.itemsize)
    assert rest == 0 and 0 <= place < userdata.size
    return place


# ------------------------------------------------------------------------------------------------ for kernels


@kernel
def pull(userdata: Any, command_slot: Any, value: float) -> None:
    """Command an actuator; as `Actuator.command` does, a command beyond the limits is the limit."""
    if np.isfinite(value):
        within = min(max(value, command_slot[LOW]), command_slot[HIGH])
        userdata[int(command_slot[PLACE])] = command_slot[SIGN] * within if abs(within) >= command_slot[LEAST] else 0.0


@kernel
def ask_sea(function: int, table: int, userdata: int, time: int, need: int, point: Any, found: Any) -> None:
    """What the sea is like at a point (3,), now."""
    call7(function, table, userdata, time, need, 1, point.ctypes.data, found.ctypes.data)


@kernel
def rope_exists(userdata: Any, rope: Any) -> bool:
    """Whether there is such a rope now."""
    return userdata[rope[COUNT]] > 0.0


@kernel
def rope_is_loaded(userdata: Any, rope: Any) -> bool:
    """Whether something is tied to its end."""
    return userdata[rope[COUNT]] > 0.0 and userdata[rope[TIED]] >= 0.0


@kernel
def rope_tension(userdata: Any, rope: Any) -> float:
    """With which it pulls at what it is tied to at its start, N."""
    if userdata[rope[JOIN]] >= 0.0 and rope[TENSION_BEYOND] >= 0:
        return userdata[rope[TENSION_BEYOND]]
    return userdata[rope[TENSION] + int(userdata[rope[COUNT]]) - 2]


@kernel
def three(userdata: Any, place: int) -> Any:
    """Three numbers of userdata."""
    return userdata[place : place + 3].copy()
