"""Program of a model: its native laws, the MuJoCo callback that runs them, and the native loop that steps the model.

The address of the program is in a `numeric` field of mjModel behind a magic number, so that copies of the model carry
it. All mutable state is in mjData.userdata. Layout of a program: number of forces, number of updates, address of the
contact filter's ground table or 0, number of records, then (function, table) of each force, update and record.
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
    UNKNOWN_SIZE,
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
ENTRIES: Final = 32  # offset in a program of its first (function, table), bytes
# Velocity at which a world counts as diverged, m/s or rad/s; MuJoCo's own limit of 1e10 is too late.
TOO_FAST: Final = 1e6
# Position at which a world counts as diverged, m.
TOO_FAR: Final = 1e6

_mj_step = types.ExternalFunction("mj_step", types.void(types.int64, types.int64))
_mj_kinematics = types.ExternalFunction("mj_kinematics", types.void(types.int64, types.int64))
_mj_com_position = types.ExternalFunction("mj_comPos", types.void(types.int64, types.int64))
_mj_com_velocity = types.ExternalFunction("mj_comVel", types.void(types.int64, types.int64))


@kernel
def _program_of(model: int) -> int:
    """Return the address of a model's program, or 0 without a program."""
    if load_word(model + NUMERIC_COUNT_OFFSET) < 2:
        return 0
    slot = floats(load_word(model + NUMERIC_OFFSET), 2)
    if slot[0] != MAGIC:
        return 0
    return int(slot[1])


@kernel
def ground_of(model: int) -> int:
    """Return the address of a model's ground table, 0 without ground, `NO_PROGRAM` for a model of another library."""
    program = _program_of(model)
    return NO_PROGRAM if program == 0 else load_word(program + 16)


@native(types.void(types.voidptr, types.voidptr))
def run_forces(model: Any, data: Any) -> None:
    """Run the force laws of a model; MuJoCo's `mjcb_passive`."""
    m, d = address_of(model), address_of(data)
    program = _program_of(m)
    if program == 0:
        return
    for k in range(load_word(program)):
        entry = program + ENTRIES + 16 * k
        call3(load_word(entry), m, d, load_word(entry + 8))


# ------------------------------------------------------------------------------------------------ the loop

BODY_ROW: Final = 13  # numbers of a body's motion: position, quaternion (x, y, z, w), velocity, angular velocity

# Offsets in a request, in 64-bit integers. First the step count, then sizes and addresses of MuJoCo's and the engine's
# arrays.
STEPS, LAYOUT, ROOTS, BODIES, POSITIONS, VELOCITIES, OUT, FAILED_AT, BOUNDS = range(9)
# Samples between the steps: their number, the address of the steps after which they are taken (increasing), the address
# of the rows for them (motion, motion one step before, userdata, qpos, qvel), and the size of userdata.
SAMPLES, SAMPLE_STEPS, SAMPLE_ROWS, STATES = range(9, 13)
# 1 if a step evaluates only the state that it starts from. Then mj_step leaves the motion of the previous state.
ONE_PASS = 13
# Native controllers: their number, the address of their rows, the tick of the first step, the step length as a
# fraction, and the time as a float64 that controllers read. Last the size of a request.
CONTROLLERS, CONTROLLER_ROWS, TICK, NUMERATOR, DENOMINATOR, TIME, REQUEST_SIZE = range(14, 21)
# Offsets in the row of a controller. It is due at ticks where tick × TURNS mod TICKS < TURNS. Then the addresses of its
# function, its table and its commands, the number of commands, the address of their slots, and the size of the row.
TURNS, TICKS, FUNCTION, TABLE, COMMANDS, COMMAND_COUNT, COMMAND_SLOTS, CONTROLLER_ROW = range(8)


@kernel
def _write_bodies(request: Any, data: int, out: int) -> None:
    """Copy the motion of every body from mjData to `out`."""
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
def _write_current_motion(model: int, data: int, request: Any, out: int) -> None:
    """Compute and write the motion of the current state; mj_step leaves that of the previous state."""
    _mj_kinematics(model, data)
    _mj_com_position(model, data)
    _mj_com_velocity(model, data)
    _write_bodies(request, data, out)


@strict_kernel
def _time_of(tick: int, numerator: int, denominator: int) -> float:
    """Return the same bits as `Clock.time_of`, s."""
    return tick * numerator / denominator


@kernel
def _run_controllers(model: int, data: int, argument: int, step: int, out: int) -> None:
    """Run the controllers that are due before a step; before step 0, `out` holds the current motion already."""
    request = words(argument, REQUEST_SIZE)
    tick = request[TICK] + step
    is_current = step == 0
    for k in range(request[CONTROLLERS]):
        row = words(request[CONTROLLER_ROWS] + 8 * CONTROLLER_ROW * k, CONTROLLER_ROW)
        if tick * row[TURNS] % row[TICKS] >= row[TURNS]:
            continue
        if not is_current:
            _write_current_motion(model, data, request, out)
            is_current = True
        floats(argument + 8 * TIME, 1)[0] = _time_of(tick, request[NUMERATOR], request[DENOMINATOR])
        userdata = load_word(data + USERDATA_OFFSET)
        call4(row[FUNCTION], out, userdata, argument + 8 * TIME, row[TABLE])
        commands = floats(row[COMMANDS], row[COMMAND_COUNT])
        command_slots = floats(row[COMMAND_SLOTS], COMMAND_SLOT * row[COMMAND_COUNT])
        for i in range(row[COMMAND_COUNT]):
            write_command(
                floats(userdata, UNKNOWN_SIZE),
                command_slots[COMMAND_SLOT * i : COMMAND_SLOT * i + COMMAND_SLOT],
                commands[i],
            )


@kernel
def _first_beyond(values: Any, bounds: Any) -> int:
    """Return the index of the first value that is NaN or reaches its bound, or −1."""
    for i in range(values.size):
        if not (abs(values[i]) < bounds[i]):
            return i
    return -1


@native(types.void(types.voidptr, types.voidptr, types.int32, types.voidptr))
def run_steps(model: Any, data: Any, world: int, argument: Any) -> None:
    """Step one world; MuJoCo's mjfBatchFunc.

    The loop stops at the step that diverges. It writes the motion before and after the last step, and the samples of a
    single world. A step starts with computing the motion of its initial state, so the motion of a sample is copied
    after the next step and costs only the copy.
    """
    m, d = address_of(model), address_of(data)
    request = words(address_of(argument), REQUEST_SIZE)
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
    last_record = last_update + load_word(program + 24)
    steps = request[STEPS]
    sample_steps = words(request[SAMPLE_STEPS], request[SAMPLES])
    motion = BODY_ROW * request[BODIES]
    row_size = 2 * motion + request[STATES] + request[POSITIONS] + request[VELOCITIES]
    sample = 0
    pending = 0  # address for the motion of the last sample, or 0
    for step in range(steps):
        log = out
        if sample < sample_steps.size and sample_steps[sample] == step + 1:
            log = request[SAMPLE_ROWS] + 8 * sample * row_size
        is_sampled = log != out or step == steps - 1
        if is_sampled and request[ONE_PASS] == 0:
            _write_current_motion(m, d, request, log + 8 * motion)
        if request[CONTROLLERS] > 0:
            _run_controllers(m, d, address_of(argument), step, out)
        for k in range(first_update, last_update):
            entry = program + ENTRIES + 16 * k
            call3(load_word(entry), m, d, load_word(entry + 8))
        _mj_step(m, d)
        for k in range(last_update, last_record):
            entry = program + ENTRIES + 16 * k
            call3(load_word(entry), m, d, load_word(entry + 8))
        if pending != 0:
            _write_bodies(request, d, pending)
            pending = 0
        if is_sampled and request[ONE_PASS] != 0:
            _write_bodies(request, d, log + 8 * motion)
        axis = _first_beyond(qvel, slow)
        position = _first_beyond(qpos, near)
        if axis >= 0 or position >= 0:
            failed[0], failed[1] = step, axis if axis >= 0 else -1 - position
            return
        if log != out:
            if request[ONE_PASS] != 0 and step < steps - 1:
                pending = log
            else:
                _write_current_motion(m, d, request, log)
            userdata = floats(load_word(d + USERDATA_OFFSET), request[STATES])
            kept = floats(log + 16 * motion, request[STATES])
            for k in range(request[STATES]):
                kept[k] = userdata[k]
            joints = floats(log + 16 * motion + 8 * request[STATES], qpos.size + qvel.size)
            for k in range(qpos.size):
                joints[k] = qpos[k]
            for k in range(qvel.size):
                joints[qpos.size + k] = qvel[k]
            sample += 1
            if step == steps - 1:
                last, last_sample = floats(out, 2 * motion), floats(log, 2 * motion)
                for k in range(2 * motion):
                    last[k] = last_sample[k]
                return
    _write_current_motion(m, d, request, out)


# ------------------------------------------------------------------------------------------------ building


@dataclass
class Program:
    """Laws of one model in memory that native code reads; the program must outlive the model's last step."""

    forces: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    updates: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    records: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    keep: list[object] = field(default_factory=list)
    ground: NDArray[np.float64] | None = None  # the table of the contact filter
    heights: NDArray[np.float32] | None = None  # heights that the table refers to
    _memory: NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, np.int64))
    _address: int = 0

    def bind(self, model: Any) -> None:
        """Write the address of the program into a compiled model."""
        entries = [(function, table.ctypes.data) for function, table in (*self.forces, *self.updates, *self.records)]
        ground = 0 if self.ground is None else self.ground.ctypes.data
        head = (len(self.forces), len(self.updates), ground, len(self.records))
        self._memory = np.array([*head, *(address for entry in entries for address in entry)], np.int64)
        self._address = self._memory.ctypes.data
        model.numeric_data[:2] = MAGIC, float(self._address)

    def is_bound(self, slot: NDArray[np.float64]) -> bool:
        """Return whether `slot`, the numeric data of a model, holds the address of this program."""
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
    """Return the table of a law: a header with addresses and offsets, then the constants.

    Args:
        constants: constants of the law.
        water: addresses of the water's native function and of its table.
        wind: addresses of the wind's native function and of its table.
        fields: address of the force fields, or 0.
        owner: number of the robot or object that the law belongs to.
        block: start of the link's block in userdata.
        state: start of the law's state in userdata.
        body: number of the body that the law acts on.
        joint: index of the joint in qpos, in qvel, and on the diagonal of the sparse mass matrix.
    """
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
    """Set `run_forces` as MuJoCo's passive callback; it does nothing for models without a program.

    Raises:
        EngineError: another library has set the callback.
    """
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
