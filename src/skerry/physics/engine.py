"""Engine: step one world or a batch of worlds in native threads, without Python inside a step.

A world that fails does not stop the other worlds of its batch.
"""

from __future__ import annotations

import ctypes
import logging
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.core.errors import EngineError, PhysicsDiverged, SkerryError
from skerry.core.frames import Pose, normalise
from skerry.parts.native_controller import NativeController
from skerry.physics import program as native
from skerry.physics.contact_filter import install_filter
from skerry.physics.contacts import BodyContact, ContactProbe
from skerry.physics.ground_contact import install_ground_contacts
from skerry.physics.model import Model
from skerry.physics.mujoco import DATA_OFFSETS, BatchConfig, library, mujoco
from skerry.physics.sample_log import MAX_SAMPLES, SampleLog

logger = logging.getLogger("skerry")

_WARNINGS = {
    "INERTIA": "the mass matrix is nearly singular",
    "CONTACTFULL": "the memory for contacts is full; some contacts are ignored",
    "CNSTRFULL": "the memory for constraints is full; some constraints are ignored",
    "BADCTRL": "a control value is not a number",
}
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
# Largest coordinate at which `Engine.set_pose` accepts a body, m: half of the divergence limit.
MAX_POSITION = native.TOO_FAR / 2
# Largest velocity component that `Engine.set_pose` accepts, m/s.
MAX_SPEED = 1000.0


class Engine:
    """Worlds of one structure that are stepped together.

    Each world is a row of `states`. Equal rows lead to equal results, bit for bit.
    """

    def __init__(self, models: Sequence[Model], threads: int = 1) -> None:
        native.install_callback()
        install_filter()
        install_ground_contacts()
        self.models = list(models)
        first = models[0].compiled
        self.model = models[0]
        for number, model in enumerate(models):
            self._check_structure(number, model)
        self.step_length = float(self.model.options.step)
        self.bodies: int = first.nbody
        worlds = len(self.models)
        self._failed_at = np.full((worlds, 2), -1, np.int64)
        self._failures = self._failed_at[:, 0]
        self._no_failures = self._failures.tobytes()
        self._motion = np.zeros((worlds, 2, self.bodies, native.BODY_ROW))
        self._roots = np.array(first.body_rootid, np.int64)
        self._request = np.zeros(native.REQUEST_SIZE, np.int64)
        self._request[native.LAYOUT] = DATA_OFFSETS.ctypes.data
        self._request[native.ROOTS] = self._roots.ctypes.data
        self._request[native.BODIES] = first.nbody
        self._request[native.POSITIONS] = first.nq
        self._request[native.VELOCITIES] = first.nv
        self._bounds = _bounds(first)
        self._request[native.BOUNDS] = self._bounds.ctypes.data
        self._request[native.OUT] = self._motion.ctypes.data
        self._request[native.STATES] = first.nuserdata
        self._request[native.ONE_PASS] = first.opt.integrator != int(mujoco.mjtIntegrator.mjINT_RK4)
        self._request_at: int = self._request.ctypes.data
        self._run_steps: int = native.run_steps.address
        self._request[native.FAILED_AT] = self._failed_at.ctypes.data
        step = self.model.options.step
        self._request[native.NUMERATOR], self._request[native.DENOMINATOR] = step.numerator, step.denominator
        self._controllers: list[tuple[Rate, NativeController]] = []
        self._controller_rows = np.zeros((0, native.CONTROLLER_ROW), np.int64)
        self._saved_memories: list[NDArray[np.float64]] = []  # memory of each controller before the last `advance`

        message = ctypes.create_string_buffer(500)
        config = BatchConfig(threads, False)
        self._library = library()
        self._batch: int | None = self._library.mjb_makeBatch(
            first._address, worlds, ctypes.addressof(config), message, len(message)
        )
        if not self._batch:
            raise EngineError(f"MuJoCo cannot create a batch of this world: {message.value.decode(errors='replace')}")
        self._addresses = np.array([model.compiled._address for model in self.models], np.int64)
        self._library.mjb_setModels(self._batch, self._addresses.ctypes.data)
        numbers: int = self._library.mjb_nstate(self._batch)
        memory = (ctypes.c_double * (worlds * numbers)).from_address(self._library.mjb_state(self._batch))
        # Views of the states may outlive the engine. The batch is deleted when the last view is gone, and MuJoCo's
        # models after it. The finalizer must not hold the `Model` objects: their laws hold such views, and the cycle
        # would never be freed.
        self._compiled = [model.compiled for model in self.models]
        weakref.finalize(memory, _delete, self._library, self._batch, self._compiled)
        self.states: NDArray[np.float64] = np.ctypeslib.as_array(memory).reshape(worlds, numbers)
        self._before = np.empty_like(self.states)  # copy of the states before the last `advance`
        # MuJoCo keeps (last info, count) for each warning and prints the first of each kind. Counts start at 1 here, so
        # that MuJoCo prints nothing and `_report_warnings` logs the warning instead.
        kinds = len(mujoco.mjtWarning.__members__) - 1
        self._warnings = np.ctypeslib.as_array(self._library.mjb_warning(self._batch), (worlds, kinds, 2))[:, :, 1]
        self._warnings[:] = 1
        self._no_warnings = self._warnings.tobytes()
        self._slices = _state_slices(first)
        userdata, positions, velocities = (self.part(name)[0] for name in ("userdata", "qpos", "qvel"))
        self.sample_log = SampleLog(self._motion[0], userdata, positions, velocities, MAX_SAMPLES if worlds == 1 else 0)
        """Samples that `advance` takes between its steps; empty in a batch of several worlds."""
        self._request[native.SAMPLE_STEPS] = self.sample_log.steps.ctypes.data
        self.joint_addresses: list[tuple[int, int]] = list(
            zip(first.jnt_qposadr.tolist(), first.jnt_dofadr.tolist(), strict=True)
        )
        """Index of each joint in "qpos" and in "qvel"."""
        self._probes: dict[int, ContactProbe] = {}
        self._model_slots = _program_slots(self.models)
        for model, row in zip(self.models, self.states, strict=True):
            self._write_start(model, row)
        self.refresh()
        self._motion[:, 1] = self._motion[:, 0]

    def _check_structure(self, world: int, model: Model) -> None:
        if model.structure_hash != self.model.structure_hash:
            raise SkerryError(
                f"world {world} of the batch differs from world 0 in its links, parts or step; "
                "worlds of a batch may differ only in parameter values"
            )

    def _write_start(self, model: Model, row: NDArray[np.float64]) -> None:
        """Write the start of a model into a state row; MuJoCo fills all rows from the first model."""
        compiled = model.compiled
        row[self._slices["qpos"]] = compiled.qpos0
        for index, start in model.joint_starts.items():
            row[self._slices["qpos"].start + index] = start
        row[self._slices["userdata"]] = model.initial_userdata
        for body in np.flatnonzero(compiled.body_mocapid >= 0):
            number = int(compiled.body_mocapid[body])
            row[self._slices["mocap_pos"]][3 * number : 3 * number + 3] = compiled.body_pos[body]
            row[self._slices["mocap_quat"]][4 * number : 4 * number + 4] = compiled.body_quat[body]

    # -------------------------------------------------------------------------------------------- stepping

    def advance(
        self,
        steps: int,
        worlds: Sequence[int] | None = None,
        sample_steps: Sequence[int] = (),
        first_row: int = 0,
        tick: int = 0,
    ) -> dict[int, SkerryError]:
        """Step the given worlds, all by default.

        A world that diverges keeps its last valid state. A world in which MuJoCo raised an error keeps the state from
        before the call.

        Args:
            steps: number of steps.
            worlds: numbers of the worlds to step.
            sample_steps: steps, in increasing order, after which the state is copied into `sample_log`. Only for a
                single world.
            first_row: row of `sample_log` for the first of these samples.
            tick: tick of the world before the first step, for the native controllers.

        Returns:
            The error of each world that failed, by world number.
        """
        if steps < 1:
            return {}
        np.copyto(self._before, self.states)
        self._saved_memories = [controller.memory.copy() for _, controller in self._controllers]
        self._request[native.TICK] = tick
        if sample_steps:
            self.sample_log.steps[: len(sample_steps)] = sample_steps
            self._request[native.SAMPLE_ROWS] = self.sample_log.address(first_row)
        self._request[native.SAMPLES] = len(sample_steps)
        errors = self._apply(steps, worlds)
        if errors:
            self._restore_memories()
        if self._failures.tobytes() != self._no_failures:  # faster than any NumPy reduction
            for world in range(len(self.models)) if worlds is None else sorted(worlds):
                if world not in errors and self._failed_at[world, 0] >= 0:
                    errors[world] = self._step_back(world, self._before[world])
        return errors

    def set_controllers(self, controllers: list[tuple[Rate, NativeController]]) -> None:
        """Replace the controllers that the native loop runs at their rates; only for a single world."""
        if controllers != self._controllers:
            self._controllers, self._saved_memories = controllers, []
            rows = [[*rate.ratio, *controller.fields] for rate, controller in controllers]
            self._controller_rows = np.array(rows, np.int64).reshape(-1, native.CONTROLLER_ROW)
            self._request[native.CONTROLLERS] = len(controllers)
            self._request[native.CONTROLLER_ROWS] = self._controller_rows.ctypes.data

    def undo(self) -> None:
        """Restore the states from before the last `advance`."""
        np.copyto(self.states, self._before)
        self._restore_memories()
        self.refresh()

    def _restore_memories(self) -> None:
        """Restore the memory of the native controllers from before the last `advance`."""
        for (_, controller), memory in zip(self._controllers, self._saved_memories, strict=False):
            controller.memory[...] = memory

    def replace(self, world: int, model: Model) -> None:
        """Restart a world with another model of the same structure."""
        self._check_structure(world, model)
        self.models[world] = model
        self._compiled.append(model.compiled)
        self._addresses[world] = model.compiled._address
        self._library.mjb_setModels(self._batch, self._addresses.ctypes.data)
        self._model_slots = _program_slots(self.models)
        in_use = {id(used.compiled) for used in self.models}
        self._compiled[:] = [compiled for compiled in self._compiled if id(compiled) in in_use]
        self.states[world] = 0.0
        self._write_start(model, self.states[world])
        self.reset_motion(world)

    def reset_motion(self, world: int) -> None:
        """Compute the bodies' motion of a state that was written from outside; use it as the previous motion too."""
        self.refresh([world])
        self._motion[world, 1] = self._motion[world, 0]

    def refresh(self, worlds: Sequence[int] | None = None) -> None:
        """Compute the bodies' motion of states that were written from outside."""
        for error in self._apply(0, worlds).values():
            raise error

    def _apply(self, steps: int, worlds: Sequence[int] | None) -> dict[int, SkerryError]:
        if self._batch is None:
            raise EngineError("this world is closed and cannot be stepped")
        native.install_callback()
        for model, slot in self._model_slots:
            if not model.program.is_bound(slot):
                raise EngineError(
                    "the compiled model has lost the address of its force program; call `model.program.bind` first"
                )
        self._request[native.STEPS] = steps
        ids, count = None, 0
        if worlds is not None:
            chosen = np.array(sorted(worlds), np.int32)
            ids, count = chosen.ctypes.data, len(chosen)
        failures = self._library.mjb_apply(self._batch, ids, count, self._run_steps, self._request_at, 1)
        self._report_warnings()
        if not failures:
            return {}
        status = np.ctypeslib.as_array(self._library.mjb_status(self._batch), (len(self.models),))
        selected = range(len(self.models)) if worlds is None else worlds
        return {
            world: EngineError(
                f"MuJoCo stopped world {world}: {self._library.mjb_error(self._batch, world).decode(errors='replace')}"
            )
            for world in selected
            if status[world]
        }

    def _report_warnings(self) -> None:
        """Log each new warning of MuJoCo once per kind and world, except divergence, which is `PhysicsDiverged`."""
        if self._warnings.tobytes() == self._no_warnings:
            return
        for world, kind in np.argwhere(self._warnings > 1):
            name = mujoco.mjtWarning(int(kind)).name.removeprefix("mjWARN_")
            if name not in {"BADQPOS", "BADQVEL", "BADQACC"}:
                logger.warning("world %d: MuJoCo warning: %s", world, _WARNINGS.get(name, name))
        self._warnings[self._warnings > 1] = 1

    def _step_back(self, world: int, before: NDArray[np.float64]) -> PhysicsDiverged:
        """Step a diverged world again up to its last valid state, and return the error that describes it."""
        steps, code = (int(value) for value in self._failed_at[world])
        self.states[world] = before
        self._restore_memories()
        self.refresh([world])  # controllers read the motion before the first step
        self._apply(steps, [world])
        compiled = self.models[world].compiled
        if code >= 0:  # index of a velocity; a negative code is −1 − index of a position
            joint = int(compiled.dof_jntid[code])
        else:
            joint = int(np.searchsorted(compiled.jnt_qposadr, -1 - code, side="right")) - 1
        body = int(compiled.jnt_bodyid[joint])
        start, first = int(compiled.jnt_qposadr[joint]), int(compiled.jnt_dofadr[joint])
        free = compiled.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        row = self.states[world]
        time = float(row[self._slices["time"]][0])
        position = row[self._slices["qpos"]][start : start + (7 if free else 1)]
        velocity = row[self._slices["qvel"]][first : first + (6 if free else 1)]
        step = round(time / self.step_length) + 1
        name = compiled.body(body).name
        return PhysicsDiverged(
            world, name, step, time, tuple(float(v) for v in position), tuple(float(v) for v in velocity)
        )

    # -------------------------------------------------------------------------------------------- states

    def part(self, name: str) -> NDArray[np.float64]:
        """Return a live view (worlds, n) of one part of all states: "qpos", "qvel", "userdata", "time", …"""
        return self.states[:, self._slices[name]]

    def motion(self, world: int, body: int) -> NDArray[np.float64]:
        """Return the current motion of a body in the world frame (13,), a live view.

        The columns are position, quaternion (x, y, z, w), velocity and angular velocity.
        """
        return self._motion[world, 0, body]

    def motion_before(self, world: int, body: int) -> NDArray[np.float64]:
        """Return the motion of a body one step ago, as `motion` does."""
        return self._motion[world, 1, body]

    def motions(self, world: int) -> NDArray[np.float64]:
        """Return the current and the previous motion of all bodies of a world, (2, bodies, 13), a live view."""
        return self._motion[world]

    def all_motion(self) -> NDArray[np.float64]:
        """Return the current motion of all bodies of all worlds, (worlds, bodies, 13), a live view."""
        return self._motion[:, 0]

    def motion_bytes(self, world: int) -> bytes:
        """Return `motions` of a world as bytes, for a snapshot."""
        return self._motion[world].tobytes()

    def set_motion_bytes(self, world: int, data: bytes) -> None:
        """Restore the bytes that `motion_bytes` returned."""
        self._motion[world] = np.frombuffer(data).reshape(self._motion[world].shape)

    def set_pose(
        self, world: int, body: int, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Move a free or kinematic body to a pose in the world frame.

        The joints of its tree keep their positions and stop.

        Args:
            world: number of the world.
            body: number of the root body.
            pose: new pose.
            velocity: new velocity of a free body in the world frame, m/s. The angular velocity is zero.

        Raises:
            SkerryError: the pose is not finite or too far away, the velocity is too large, or the body is fixed.
        """
        compiled = self.model.compiled
        row = self.states[world]
        if not (np.isfinite(pose.position).all() and np.isfinite([*pose.orientation, *velocity]).all()):
            raise SkerryError(
                f"cannot move {compiled.body(body).name!r}: pose or velocity not finite: {pose}, {list(velocity)} m/s"
            )
        if np.abs(pose.position).max() > MAX_POSITION or np.abs(velocity).max() > MAX_SPEED:
            raise SkerryError(
                f"cannot move {compiled.body(body).name!r} to {pose.position.tolist()} with {list(velocity)} m/s: "
                f"coordinates must be within {MAX_POSITION / 1e3:g} km of the world's origin, and velocities at most "
                f"{MAX_SPEED:g} m/s"
            )
        x, y, z, w = normalise(pose.orientation)
        values = [*pose.position, w, x, y, z]
        mocap = int(compiled.body_mocapid[body])
        if mocap >= 0:
            row[self._slices["mocap_pos"]][3 * mocap : 3 * mocap + 3] = values[:3]
            row[self._slices["mocap_quat"]][4 * mocap : 4 * mocap + 4] = values[3:]
        else:
            joint = int(compiled.body_jntadr[body])
            if joint < 0 or compiled.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
                raise SkerryError(f"{compiled.body(body).name!r} is fixed to the world and cannot be moved")
            start = int(compiled.jnt_qposadr[joint])
            row[self._slices["qpos"]][start : start + 7] = values
            for axis in range(compiled.nv):
                if int(compiled.body_rootid[compiled.dof_bodyid[axis]]) == body:
                    row[self._slices["qvel"]][axis] = 0.0
                    row[self._slices["qacc_warmstart"]][axis] = 0.0
            first = int(compiled.jnt_dofadr[joint])
            row[self._slices["qvel"]][first : first + 3] = velocity
        if self.model.water_level is not None and self.model.water_level[0] == body:
            row[self._slices["userdata"].start + self.model.water_level[1]] = pose.position[2]
        self.refresh([world])
        moved = compiled.body_rootid == compiled.body_rootid[body]
        self._motion[world, 1, moved] = self._motion[world, 0, moved]

    def joint_position(self, world: int, joint: int) -> float:
        """Return the angle of a hinge, rad, or the travel of a slide, m."""
        return float(self.states[world, self._slices["qpos"].start + self.joint_addresses[joint][0]])

    def joint_view(self, world: int, joint: int) -> NDArray[np.float64]:
        """Return a live view (1,) of a joint's position."""
        index = self._slices["qpos"].start + self.joint_addresses[joint][0]
        return self.states[world, index : index + 1]

    def joint_velocity(self, world: int, joint: int) -> float:
        """Return the velocity of a hinge, rad/s, or of a slide, m/s."""
        return float(self.states[world, self._slices["qvel"].start + self.joint_addresses[joint][1]])

    def contacts(self, world: int, owner: str) -> list[BodyContact]:
        """Return the current contact points of a robot or object."""
        probe = self._probe(world)
        if not probe.proximity.may_touch(self._motion[world, 0], owner):
            return []
        tick = round(self.part("time")[world, 0] / self.step_length)
        return self._contact_points(probe, self.states[world].copy(), tick, owner)

    def may_have_touched(self, rows: NDArray[np.int64], owner: str) -> NDArray[np.bool_]:
        """Return for each row of `sample_log` whether a robot or object may have had a contact; single world only."""
        return self._probe(0).proximity.may_have_touched(self.sample_log.motions, rows, owner)

    def contacts_at_row(self, row: int, tick: int, owner: str) -> list[BodyContact]:
        """Return the contact points of a robot or object at a row of `sample_log`, sampled with userdata at `tick`."""
        state, log = self.states[0].copy(), self.sample_log
        for part, samples in (("qpos", log.positions), ("qvel", log.velocities), ("userdata", log.userdata)):
            state[self._slices[part]] = samples[row]
        return self._contact_points(self._probe(0), state, tick, owner)

    def _probe(self, world: int) -> ContactProbe:
        if world not in self._probes:
            self._probes[world] = ContactProbe(self.models[world].compiled)
        return self._probes[world]

    def _contact_points(
        self, probe: ContactProbe, state: NDArray[np.float64], tick: int, owner: str
    ) -> list[BodyContact]:
        # Samples do not store MuJoCo's accumulated time and the solver's warm start. Live states must give the same
        # result as samples, so both values are replaced.
        step = self.model.options.step
        state[self._slices["time"]] = tick * step.numerator / step.denominator
        state[self._slices["qacc_warmstart"]] = 0.0
        native.install_callback()
        return probe.contacts_of(state, owner)

    def close(self) -> None:
        """Stop stepping, and free the native memory once no view of it is left; a second call has no effect."""
        if self._batch is not None:
            self._batch = None
            self._controllers = []
            self._probes.clear()
            self.states = self.states.copy()
            self._warnings = self._warnings.copy()


def _delete(batches: Any, batch: int, compiled: list[Any]) -> None:
    """Free a batch; the argument `compiled` keeps the models alive that the batch reads."""
    batches.mjb_deleteBatch(batch)


def _program_slots(models: Sequence[Model]) -> list[tuple[Model, Any]]:
    """Return each distinct model with the array that holds the address of its program."""
    return [(model, model.compiled.numeric_data) for model in {id(m): m for m in models}.values()]


def _bounds(compiled: Any) -> NDArray[np.float64]:
    """Return the divergence limit of each position, then of each velocity; hinge angles have none."""
    positions = np.full(compiled.nq, native.TOO_FAR)
    for joint in np.flatnonzero(compiled.jnt_type == mujoco.mjtJoint.mjJNT_HINGE):
        positions[compiled.jnt_qposadr[joint]] = np.inf
    return np.concatenate([positions, np.full(compiled.nv, native.TOO_FAST)])


def _state_slices(compiled: Any) -> dict[str, slice]:
    """Return the slice of each part in a state row, in the order of MuJoCo's mjtState bits."""
    bits = {
        "time": mujoco.mjtState.mjSTATE_TIME,
        "qpos": mujoco.mjtState.mjSTATE_QPOS,
        "qvel": mujoco.mjtState.mjSTATE_QVEL,
        "qacc_warmstart": mujoco.mjtState.mjSTATE_WARMSTART,
        "ctrl": mujoco.mjtState.mjSTATE_CTRL,
        "eq_active": mujoco.mjtState.mjSTATE_EQ_ACTIVE,
        "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
        "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
        "userdata": mujoco.mjtState.mjSTATE_USERDATA,
    }
    slices = {}
    for name, bit in bits.items():
        earlier = int(STATE) & (int(bit) - 1)
        start = mujoco.mj_stateSize(compiled, earlier) if earlier else 0
        slices[name] = slice(start, start + mujoco.mj_stateSize(compiled, int(bit)))
    return slices
