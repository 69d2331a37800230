"""Control laws inside the native loop: such a law runs at its rate between physics steps, without Python.

A law is a native function of four addresses: the motions of the bodies, userdata, the time, and its own table. It
writes one command per actuator, in the unit of the actuator's keyword. While the controller owns its actuators, the
native loop writes these commands to the actuators' command slots. Otherwise Python calls the law and sends the
commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import NativeFunction, call7, kernel, native
from skerry.parts.actuator import Actuator

Floats = NDArray[np.float64]

native_controller = native(types.void(types.int64, types.int64, types.int64, types.int64))
"""Decorator for the function of a native control law: (motions, userdata, time, table), all four addresses."""

# Fields of a command slot in native memory: index in userdata, sign of the written value, limits, and the smallest
# magnitude of a command. COMMAND_SLOT is the number of fields.
INDEX, SIGN, LOW, HIGH, MINIMUM, COMMAND_SLOT = range(6)

# Fields of a rope's table. Each field is an index in userdata: number of nodes, rope joined over the hook, body that
# the end is tied to, position and velocity of the end, last tension, and first tension beyond the hook (−1 if there is
# no hook). ROPE is the number of fields.
COUNT, JOIN, TIED, END, END_VELOCITY, TENSION, TENSION_BEYOND, ROPE = range(8)


class NativeView(Protocol):
    """Memory that a native control law may read: the live `SampleView`."""

    @property
    def time(self) -> float: ...
    @property
    def gravity(self) -> float: ...
    @property
    def motions(self) -> Floats:
        """Motions of all bodies of the engine, (bodies, 13)."""

    @property
    def userdata(self) -> Floats: ...
    @property
    def sea(self) -> tuple[int, int]:
        """Addresses of the water's native function and of its table."""

    def frame(self, link: str, offset: Any = None) -> tuple[int, Floats]:
        """Return the body that carries a frame of the robot, and the frame's pose on that body, (7,)."""

    def frame_of(self, name: str) -> tuple[int, Floats]:
        """Return body and pose as `frame` does, for a robot, an object or a "robot/link" of the scenario."""

    def rope_offsets(self, name: str) -> NDArray[np.int64]:
        """Return the fields of a rope's table, (ROPE,)."""


class NativeController:
    """A control law prepared for the native loop.

    Args:
        law: The native function.
        table: 64-bit fields that the function reads; some are addresses of arrays in `holds`.
        memory: State of the law between calls; the Python controller shares this array.
        actuators: Actuators that the law commands.
        view: Memory that the law reads.
        output: (len(actuators),) array that the function writes its commands to.
        holds: Objects that must stay alive as long as the table.
    """

    def __init__(
        self,
        law: NativeFunction,
        table: Sequence[int],
        memory: Floats,
        actuators: Sequence[Actuator],
        view: NativeView,
        output: Floats,
        holds: Sequence[Any],
    ) -> None:
        self._law = law
        self.view = view
        self._table = np.array(table, np.int64)
        self._time = np.zeros(1)
        self._holds = holds
        self.memory = memory
        self.output = output
        self.actuators = actuators
        command_slots = [(actuator.limits, actuator.command_slot) for actuator in actuators]
        self.has_command_slots = all(command_slot is not None for _, command_slot in command_slots)
        """Whether native code can command all of the actuators."""
        self._slots = np.array(
            [
                [
                    index_in_userdata(view.userdata, command_slot.memory),
                    command_slot.sign,
                    *limits,
                    command_slot.minimum,
                ]
                for limits, command_slot in command_slots
                if command_slot is not None
            ]
        )
        self.fields = (
            *(law.address, self._table.ctypes.data, output.ctypes.data),
            *(len(actuators), self._slots.ctypes.data),
        )
        """Fields for the native loop: addresses of law, table and output, number of actuators, address of the slots."""

    def compute(self) -> list[float]:
        """Run the law on the live state and return one command per actuator."""
        view = self.view
        self._time[0] = view.time
        self._law.ctypes(
            *(view.motions.ctypes.data, view.userdata.ctypes.data),
            *(self._time.ctypes.data, self._table.ctypes.data),
        )
        return self.output.tolist()


def index_in_userdata(userdata: Floats, view: Floats) -> int:
    """Return the index in userdata at which a view of it begins."""
    index, rest = divmod(view.ctypes.data - userdata.ctypes.data, userdata.itemsize)
    assert rest == 0 and 0 <= index < userdata.size
    return index


# ------------------------------------------------------------------------------------------------ for kernels


@kernel
def write_command(userdata: Any, command_slot: Any, value: float) -> None:
    """Write a command to an actuator's slot, clamped to the limits as in `Actuator.command`."""
    if np.isfinite(value):
        within = min(max(value, command_slot[LOW]), command_slot[HIGH])
        large_enough = abs(within) >= command_slot[MINIMUM]
        userdata[int(command_slot[INDEX])] = command_slot[SIGN] * within if large_enough else 0.0


@kernel
def sample_sea(function: int, table: int, userdata: int, time: int, need: int, point: Any, found: Any) -> None:
    """Sample the sea at a point (3,) and write the result to `found`."""
    call7(function, table, userdata, time, need, 1, point.ctypes.data, found.ctypes.data)


@kernel
def rope_exists(userdata: Any, rope: Any) -> bool:
    """Return whether the rope exists now."""
    return userdata[rope[COUNT]] > 0.0


@kernel
def rope_is_loaded(userdata: Any, rope: Any) -> bool:
    """Return whether something is tied to the end of the rope."""
    return userdata[rope[COUNT]] > 0.0 and userdata[rope[TIED]] >= 0.0


@kernel
def rope_tension(userdata: Any, rope: Any) -> float:
    """Return the tension at the start of the rope, N."""
    if userdata[rope[JOIN]] >= 0.0 and rope[TENSION_BEYOND] >= 0:
        return userdata[rope[TENSION_BEYOND]]
    return userdata[rope[TENSION] + int(userdata[rope[COUNT]]) - 2]


@kernel
def vector_at(userdata: Any, index: int) -> Any:
    """Return a copy of three numbers of userdata, from `index` on."""
    return userdata[index : index + 3].copy()
