"""A model's program: the native laws of its links, run by one callback, and the native loop that steps it.

The program's address sits in a `numeric` field of mjModel behind a magic number, so that copies of the model carry it.
All mutable state is in mjData.userdata. Layout of a program: number of forces, number of updates, address of the
ground's table or 0, then (function, table) of each.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.errors import EngineError
from skerry.core.kernels import (
    UNCOUNTED,
    address_of,
    call3,
    call4,
    floats,
    kernel,
    load_word,
    native,
    strict_kernel,
    words,
)
from skerry.parts import law as laws
from skerry.parts.native_controller import COMMAND_SLOT, write_command
from skerry.physics.mujoco import (
    CVEL,
    DATA_OFFSETS,
    LAYOUT_SIZE,
    NUMERIC_COUNT_OFFSET,
    NUMERIC_OFFSET,
    QPOS,
    QVEL,
    SUBTREE_COM,
    TIME_OFFSET,
    USERDATA_OFFSET,
    XPOS,
    XQUAT,
    mujoco,
)

MAGIC: Final = 7.25e9
NUMERIC_NAME: Final = "skerry_program"
NO_PROGRAM: Final = -1
ENTRIES: Final = 24  # bytes of a program before its functions
# Nothing that we simulate is this fast (m/s, rad/s) or this far (m); MuJoCo's own limit of 1e10 comes too late.
TOO_FAST: Final = 1e6
TOO_FAR: Final = 1e6

_mj_step = types.ExternalFunction("mj_step", types.void(types.int64, types.int64))
_mj_kinematics = types.ExternalFunction("mj_kinematics", types.void(types.int64, types.int64))
_mj_com_position = types.ExternalFunction("mj_comPos", types.void(types.int64, types.int64))
_mj_com_velocity = types.ExternalFunction("mj_comVel", types.void(types.int64, types.int64))


@kernel
def _program_of(model: int) -> int:
    """The address of a model's program, or 0 if it has none."""
    if load_word(model + NUMERIC_COUNT_OFFSET) < 2:
        return 0
    slot = floats(load_word(model + NUMERIC_OFFSET), 2)
    if slot[0] != MAGIC:
        return 0
    return int(slot[1])


@kernel
def ground_of(model: int) -> int:
    """The address of the table of a model's ground, 0 if it has none, or `NO_PROGRAM` if the model is not ours."""
    program = _program_of(model)
    return NO_PROGRAM if program == 0 else load_word(program + 16)


@native(types.void(types.voidptr, types.voidptr))
def run_forces(model: Any, data: Any) -> None:
    """mjcb_passive: walk the model's forces."""
    m, d = address_of(model), address_of(data)
    program = _program_of(m)
    if program == 0:
        return
    for k in range(load_word(program)):
        entry = program + ENTRIES + 16 * k
        call3(load_word(entry), m, d, load_word(entry + 8))


# ------------------------------------------------------------------------------------------------ the loop

BODY_ROW: Final = 13  # position, quaternion (x, y, z, w), velocity, angular velocity: all in the world

# words of a request
STEPS, LAYOUT, ROOTS, BODIES, POSITIONS, VELOCITIES, OUT, FAILED_AT, BOUNDS = range(9)
# how many instants on the way are wanted, the steps after which they come (one by one, in order), where to write them
# (motion now, motion one step before, userdata, positions and velocities of the joints), how many numbers userdata has,
# and how many of them are kept
LOOKS, LOOK_STEPS, LOG, STATES, STATES_KEPT = range(9, 14)
# whether a step evaluates the state that it starts from only, so that what it leaves is the motion one step before
ONE_PASS = 14
# how many controllers act in the loop, where their words are, the tick of the first step, the length of a step as a
# fraction, and the time, as a float64, that those who act are given
REFLEXES, REFLEX_WORDS, TICK, NUMERATOR, DENOMINATOR, TIME, WORDS = range(15, 22)
# words of such a controller: it is due at ticks where tick × TURNS mod TICKS < TURNS; its function and table, the
# address of its answer, of how many numbers, and of the levers that are moved by them
TURNS, TICKS, FUNCTION, TABLE, ANSWER, LEVERS, LEVER_ROWS, REFLEX = range(8)


@kernel
def _write_bodies(request: Any, data: int, out: int) -> None:
    """Copy the motion of every body out of mjData, for those who look at the world."""
    bodies = request[BODIES]
    layout = words(request[LAYOUT], LAYOUT_SIZE)
    roots = words(request[ROOTS], bodies)
    xpos = floats(load_word(data + layout[XPOS]), 3 * bodies)
    xquat = floats(load_word(data + layout[XQUAT]), 4 * bodies)
    cvel = floats(load_word(data + layout[CVEL]), 6 * bodies)
    com = floats(load_word(data + layout[SUBTREE_COM]), 3 * bodies)
    rows = floats(out, BODY_ROW * bodies)
    for b in range(bodies):
        row = rows[BODY_ROW * b : BODY_ROW * b + BODY_ROW]
        wx, wy, wz = cvel[6 * b], cvel[6 * b + 1], cvel[6 * b + 2]
        rx = xpos[3 * b] - com[3 * roots[b]]
        ry = xpos[3 * b + 1] - com[3 * roots[b] + 1]
        rz = xpos[3 * b + 2] - com[3 * roots[b] + 2]
        row[0], row[1], row[2] = xpos[3 * b], xpos[3 * b + 1], xpos[3 * b + 2]
        row[3], row[4], row[5], row[6] = xquat[4 * b + 1], xquat[4 * b + 2], xquat[4 * b + 3], xquat[4 * b]
        row[7] = cvel[6 * b + 3] + wy * rz - wz * ry
        row[8] = cvel[6 * b + 4] + wz * rx - wx * rz
        row[9] = cvel[6 * b + 5] + wx * ry - wy * rx
        row[10], row[11], row[12] = wx, wy, wz


@kernel
def _look(model: int, data: int, request: Any, out: int) -> None:
    """Write out the motion that belongs to the state of now, which mj_step leaves one step behind."""
    _mj_kinematics(model, data)
    _mj_com_position(model, data)
    _mj_com_velocity(model, data)
    _write_bodies(request, data, out)


@strict_kernel
def _time_of(tick: int, numerator: int, denominator: int) -> float:
    """As `Clock.time_of` has it, to the bit."""
    return tick * numerator / denominator


@kernel
def _act(model: int, data: int, argument: int, step: int, out: int) -> None:
    """Let those controllers act that are due before a step; `out` has the motion of now if it is the first one."""
    request = words(argument, WORDS)
    tick = request[TICK] + step
    is_seen = step == 0
    for k in range(request[REFLEXES]):
        reflex = words(request[REFLEX_WORDS] + 8 * REFLEX * k, REFLEX)
        if tick * reflex[TURNS] % reflex[TICKS] >= reflex[TURNS]:
            continue
        if not is_seen:
            _look(model, data, request, out)
            is_seen = True
        floats(argument + 8 * TIME, 1)[0] = _time_of(tick, request[NUMERATOR], request[DENOMINATOR])
        userdata = load_word(data + USERDATA_OFFSET)
        call4(reflex[FUNCTION], out, userdata, argument + 8 * TIME, reflex[TABLE])
        answer = floats(reflex[ANSWER], reflex[LEVERS])
        command_slots = floats(reflex[LEVER_ROWS], COMMAND_SLOT * reflex[LEVERS])
        for i in range(reflex[LEVERS]):
            write_command(
                floats(userdata, UNCOUNTED),
                command_slots[COMMAND_SLOT * i : COMMAND_SLOT * i + COMMAND_SLOT],
                answer[i],
            )


@kernel
def _first_beyond(values: Any, bounds: Any) -> int:
    """The first number that is not one, or beyond its bound; or −1."""
    for i in range(values.size):
        if not (abs(values[i]) < bounds[i]):
            return i
    return -1


@native(types.void(types.voidptr, types.voidptr, types.int32, types.voidptr))
def run_steps(model: Any, data: Any, world: int, argument: Any) -> None:
    """mjfBatchFunc: step one world; stop at the step that diverges; write out its motion before and after the last
    step, and, of a world that is alone, at instants on the way.

    A step begins by working out the motion of the state that it starts from, so that of an instant on the way is
    written when the step after it has been made, and costs no more than that.
    """
    m, d = address_of(model), address_of(data)
    request = words(address_of(argument), WORDS)
    program = _program_of(m)
    layout = words(request[LAYOUT], LAYOUT_SIZE)
    qpos = floats(load_word(d + layout[QPOS]), request[POSITIONS])
    qvel = floats(load_word(d + layout[QVEL]), request[VELOCITIES])
    near = floats(request[BOUNDS], request[POSITIONS])
    slow = floats(request[BOUNDS] + 8 * request[POSITIONS], request[VELOCITIES])
    out = request[OUT] + 16 * BODY_ROW * request[BODIES] * world
    failed = words(request[FAILED_AT] + 16 * world, 2)
    failed[0] = -1
    first_update = load_word(program)
    last_update = first_update + load_word(program + 8)
    steps = request[STEPS]
    looks = words(request[LOOK_STEPS], request[LOOKS])
    motion = BODY_ROW * request[BODIES]
    kept_numbers = 2 * motion + request[STATES] + request[POSITIONS] + request[VELOCITIES]
    look = 0
    waiting = 0  # where the motion of the last instant on the way is to be written
    for step in range(steps):
        log = out
        if look < looks.size and looks[look] == step + 1:
            log = request[LOG] + 8 * look * kept_numbers
        seen = log != out or step == steps - 1
        if seen and request[ONE_PASS] == 0:
            _look(m, d, request, log + 8 * motion)
        if request[REFLEXES] > 0:
            _act(m, d, address_of(argument), step, out)
        for k in range(first_update, last_update):
            entry = program + ENTRIES + 16 * k
            call3(load_word(entry), m, d, load_word(entry + 8))
        _mj_step(m, d)
        if waiting != 0:
            _write_bodies(request, d, waiting)
            waiting = 0
        if seen and request[ONE_PASS] != 0:
            _write_bodies(request, d, log + 8 * motion)
        axis = _first_beyond(qvel, slow)
        place = _first_beyond(qpos, near)
        if axis >= 0 or place >= 0:
            failed[0], failed[1] = step, axis if axis >= 0 else -1 - place
            return
        if log != out:
            if request[ONE_PASS] != 0 and step < steps - 1:
                waiting = log
            else:
                _look(m, d, request, log)
            userdata = floats(load_word(d + USERDATA_OFFSET), request[STATES_KEPT])
            kept = floats(log + 16 * motion, request[STATES_KEPT])
            for k in range(request[STATES_KEPT]):
                kept[k] = userdata[k]
            joints = floats(log + 16 * motion + 8 * request[STATES], qpos.size + qvel.size)
            for k in range(qpos.size):
                joints[k] = qpos[k]
            for k in range(qvel.size):
                joints[qpos.size + k] = qvel[k]
            look += 1
            if step == steps - 1:
                last, seen_last = floats(out, 2 * motion), floats(log, 2 * motion)
                for k in range(2 * motion):
                    last[k] = seen_last[k]
                return
    _look(m, d, request, out)


# ------------------------------------------------------------------------------------------------ building


@dataclass
class Program:
    """The laws of one model, in memory that native code reads; must outlive the model's last step."""

    forces: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    updates: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    keep: list[object] = field(default_factory=list)
    ground: NDArray[np.float64] | None = None  # the table of the contact filter
    _memory: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    _address: int = 0

    def bind(self, model: Any) -> None:
        """Write the program's address into the model."""
        entries = [(function, table.ctypes.data) for function, table in (*self.forces, *self.updates)]
        ground = 0 if self.ground is None else self.ground.ctypes.data
        head = (len(self.forces), len(self.updates), ground)
        self._memory = np.array([*head, *(word for entry in entries for word in entry)], np.int64)
        self._address = self._memory.ctypes.data
        model.numeric_data[:2] = MAGIC, float(self._address)

    def is_bound(self, slot: NDArray[np.float64]) -> bool:
        """Whether a model whose numeric data this is carries this very program."""
        return slot.size >= 2 and bool(slot[0] == MAGIC) and int(slot[1]) == self._address


def table_of(
    constants: NDArray[np.float64],
    *,
    water: tuple[int, int],
    wind: tuple[int, int],
    fields: int = 0,
    owner: int = 0,
    block: int = 0,
    state: int = 0,
    body: int = 0,
    joint: tuple[int, int, int] = (0, 0, 0),
) -> NDArray[np.float64]:
    """A law's table: the header that says where things are, then its constants."""
    table = np.zeros(laws.HEADER + constants.size)
    table[laws.HEADER :] = constants
    header = table.view(np.int64)
    header[laws.USERDATA_OFFSET] = USERDATA_OFFSET
    header[laws.BLOCK_START] = block
    header[laws.STATE_START] = state
    header[laws.CONSTANTS] = constants.size
    header[laws.WATER], header[laws.WATER_TABLE] = water
    header[laws.WIND], header[laws.WIND_TABLE] = wind
    header[laws.FIELDS], header[laws.OWNER] = fields, owner
    header[laws.TIME_OFFSET] = TIME_OFFSET
    header[laws.BODY] = body
    header[laws.LAYOUT] = DATA_OFFSETS.ctypes.data
    header[laws.JOINT_POSITION : laws.JOINT_INERTIA + 1] = joint
    return table


_callback: Any = None


def install_callback() -> None:
    """Make our walker MuJoCo's passive callback; models without a program are not touched by it."""
    global _callback
    current = mujoco.get_mjcb_passive()
    if _callback is not None and current is _callback:
        return
    if current is not None:
        raise EngineError(
            "another library in this process has set MuJoCo's passive callback (mjcb_passive), which Skerry's forces "
            "need; call mujoco.set_mjcb_passive(None) before using Skerry"
        )
    if _callback is None:
        _callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(run_forces.address)
    mujoco.set_mjcb_passive(_callback)
