"""Steps one world or many: native threads, no Python inside a step, one failed world leaves the others running."""

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
from skerry.physics.contacts import ContactProbe, Touch
from skerry.physics.log import MOST, Log
from skerry.physics.model import Model
from skerry.physics.mujoco import DATA_OFFSETS, BatchConfig, library, mujoco

logger = logging.getLogger("skerry")

_WARNINGS = {
    "INERTIA": "a mass matrix that is nearly singular",
    "CONTACTFULL": "too little memory for contacts; some were left out",
    "CNSTRFULL": "too little memory for constraints; some were left out",
    "BADCTRL": "a control that is not a number",
}
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
# Where somebody may put things (m), and how fast (m/s): well within what still counts as sound physics.
FARTHEST = native.TOO_FAR / 2
FASTEST = 1000.0


class Engine:
    """Worlds of one structure, stepped together; each is a row of `states`, and the same row gives the same future."""

    def __init__(self, models: Sequence[Model], threads: int = 1) -> None:
        native.install_callback()
        install_filter()
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
        self._request = np.zeros(native.WORDS, np.int64)
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
        self._acting: list[tuple[Rate, NativeController]] = []
        self._acting_words = np.zeros((0, native.REFLEX), np.int64)
        self._remembered: list[NDArray[np.float64]] = []  # by them, before the steps that are being made

        message = ctypes.create_string_buffer(500)
        config = BatchConfig(threads, False)
        self._library = library()
        self._batch: int | None = self._library.mjb_makeBatch(
            first._address, worlds, ctypes.addressof(config), message, len(message)
        )
        if not self._batch:
            raise EngineError(f"MuJoCo cannot step this world: {message.value.decode(errors='replace')}")
        self._addresses = np.array([model.compiled._address for model in self.models], np.int64)
        self._library.mjb_setModels(self._batch, self._addresses.ctypes.data)
        numbers: int = self._library.mjb_nstate(self._batch)
        memory = (ctypes.c_double * (worlds * numbers)).from_address(self._library.mjb_state(self._batch))
        # Views of the states outlive us: the batch goes when the last of them does, and MuJoCo's models after it. Our
        # own models must not be held here: their laws have such views, and would keep each other alive for ever.
        self._compiled = [model.compiled for model in self.models]
        weakref.finalize(memory, _delete, self._library, self._batch, self._compiled)
        self.states: NDArray[np.float64] = np.ctypeslib.as_array(memory).reshape(worlds, numbers)
        self._before = np.empty_like(self.states)  # as it was before the steps that are being made
        # (last info, count) of each warning. MuJoCo prints the first of each kind; we count from 1 and say it
        kinds = len(mujoco.mjtWarning.__members__) - 1
        self._warnings = np.ctypeslib.as_array(self._library.mjb_warning(self._batch), (worlds, kinds, 2))[:, :, 1]
        self._warnings[:] = 1
        self._no_warnings = self._warnings.tobytes()
        self._places = _places(first)
        userdata, positions, velocities = (self.part(name)[0] for name in ("userdata", "qpos", "qvel"))
        self.log = Log(self._motion[0], userdata, positions, velocities, MOST if worlds == 1 else 0)
        """Of instants on the way, of a world that is alone."""
        self._request[native.LOOK_STEPS] = self.log.steps.ctypes.data
        self.joint_places: list[tuple[int, int]] = list(
            zip(first.jnt_qposadr.tolist(), first.jnt_dofadr.tolist(), strict=True)
        )
        """Where each joint is among the positions, "qpos", and the velocities, "qvel"."""
        self._probes: dict[int, ContactProbe] = {}
        self._slots = _slots(self.models)
        for model, row in zip(self.models, self.states, strict=True):
            self._write_start(model, row)
        self.refresh()
        self._motion[:, 1] = self._motion[:, 0]

    def _check_structure(self, world: int, model: Model) -> None:
        if model.structure != self.model.structure:
            raise SkerryError(
                f"world {world} of the batch has another structure than world 0 (other links, parts or step); "
                "in a batch only values may differ"
            )

    def _write_start(self, model: Model, row: NDArray[np.float64]) -> None:
        """Write where a world begins: a batch's rows all begin with its first model's."""
        compiled = model.compiled
        row[self._places["qpos"]] = compiled.qpos0
        for place, start in model.joint_starts.items():
            row[self._places["qpos"].start + place] = start
        row[self._places["userdata"]] = model.initial_userdata
        for body in np.flatnonzero(compiled.body_mocapid >= 0):
            number = int(compiled.body_mocapid[body])
            row[self._places["mocap_pos"]][3 * number : 3 * number + 3] = compiled.body_pos[body]
            row[self._places["mocap_quat"]][4 * number : 4 * number + 4] = compiled.body_quat[body]

    # -------------------------------------------------------------------------------------------- stepping

    def advance(
        self,
        steps: int,
        worlds: Sequence[int] | None = None,
        looks: Sequence[int] = (),
        first_look: int = 0,
        keep_userdata: bool = True,
        tick: int = 0,
    ) -> dict[int, SkerryError]:
        """Step the given worlds (all by default); return what went wrong in which world.

        A world that diverges stands at its last sound state; one in which MuJoCo raised an error, where it was before.
        `looks` are steps, in order, after which a world that is alone is kept in the `log`, userdata only if they are
        wanted, from row `first_look` on. `tick` is the world's, for those who act inside the loop.
        """
        if steps < 1:
            return {}
        np.copyto(self._before, self.states)
        self._remembered = [reflex.memory.copy() for _, reflex in self._acting]
        self._request[native.TICK] = tick
        if looks:
            self.log.steps[: len(looks)] = looks
            self._request[native.LOG] = self.log.address(first_look)
        self._request[native.LOOKS] = len(looks)
        self._request[native.STATES_KEPT] = self._request[native.STATES] if keep_userdata else 0
        errors = self._apply(steps, worlds)
        if errors:
            self._recall()
        if self._failures.tobytes() != self._no_failures:  # quicker than any way to ask for the largest
            for world in range(len(self.models)) if worlds is None else sorted(worlds):
                if world not in errors and self._failed_at[world, 0] >= 0:
                    errors[world] = self._step_back(world, self._before[world])
        return errors

    def let_act(self, acting: list[tuple[Rate, NativeController]]) -> None:
        """Let these act inside the loop, at their rates, in a world that is alone; and no others."""
        if acting != self._acting:
            self._acting, self._remembered = acting, []
            self._acting_words = np.array([[*rate.words, *reflex.fields] for rate, reflex in acting], np.int64).reshape(
                -1, native.REFLEX
            )
            self._request[native.REFLEXES] = len(acting)
            self._request[native.REFLEX_WORDS] = self._acting_words.ctypes.data

    def undo(self) -> None:
        """Be as before the steps that were made last."""
        np.copyto(self.states, self._before)
        self._recall()
        self.refresh()

    def _recall(self) -> None:
        """Let those who act in the loop remember what they did before the steps that were made last."""
        for (_, reflex), memory in zip(self._acting, self._remembered, strict=False):
            reflex.memory[...] = memory

    def replace(self, world: int, model: Model) -> None:
        """Let a world begin anew with another model of the same structure."""
        self._check_structure(world, model)
        self.models[world] = model
        self._compiled.append(model.compiled)
        self._addresses[world] = model.compiled._address
        self._library.mjb_setModels(self._batch, self._addresses.ctypes.data)
        self._slots = _slots(self.models)
        in_use = {id(used.compiled) for used in self.models}
        self._compiled[:] = [compiled for compiled in self._compiled if id(compiled) in in_use]
        self.states[world] = 0.0
        self._write_start(model, self.states[world])
        self.stand(world)

    def stand(self, world: int) -> None:
        """Bring the bodies' motion up to a state that was written from outside, and let it be that of before too."""
        self.refresh([world])
        self._motion[world, 1] = self._motion[world, 0]

    def refresh(self, worlds: Sequence[int] | None = None) -> None:
        """Bring the bodies' motion up to states that were written from outside."""
        for error in self._apply(0, worlds).values():
            raise error

    def _apply(self, steps: int, worlds: Sequence[int] | None) -> dict[int, SkerryError]:
        if self._batch is None:
            raise EngineError("this world is closed")
        native.install_callback()
        for model, slot in self._slots:
            if not model.program.is_bound(slot):
                raise EngineError("the model has lost its program of forces; it must be bound again before it can step")
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
        """Log what MuJoCo warned of, once for each kind and world; runaway numbers are our own error."""
        if self._warnings.tobytes() == self._no_warnings:
            return
        for world, kind in np.argwhere(self._warnings > 1):
            name = mujoco.mjtWarning(int(kind)).name.removeprefix("mjWARN_")
            if name not in {"BADQPOS", "BADQVEL", "BADQACC"}:
                logger.warning("world %d: MuJoCo warns of %s", world, _WARNINGS.get(name, name))
        self._warnings[self._warnings > 1] = 1

    def _step_back(self, world: int, before: NDArray[np.float64]) -> PhysicsDiverged:
        """Put a diverged world at its last sound state, by stepping it there again, and say what happened."""
        steps, code = (int(value) for value in self._failed_at[world])
        self.states[world] = before
        self._recall()
        self.refresh([world])  # those who act before the first step see where that begins
        self._apply(steps, [world])
        compiled = self.models[world].compiled
        if code >= 0:  # the number of a joint axis, or else −1 − that of a position
            joint = int(compiled.dof_jntid[code])
        else:
            joint = int(np.searchsorted(compiled.jnt_qposadr, -1 - code, side="right")) - 1
        body = int(compiled.jnt_bodyid[joint])
        start, first = int(compiled.jnt_qposadr[joint]), int(compiled.jnt_dofadr[joint])
        free = compiled.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        row = self.states[world]
        time = float(row[self._places["time"]][0])
        position = row[self._places["qpos"]][start : start + (7 if free else 1)]
        velocity = row[self._places["qvel"]][first : first + (6 if free else 1)]
        step = round(time / self.step_length) + 1
        name = compiled.body(body).name
        return PhysicsDiverged(
            world, name, step, time, tuple(float(v) for v in position), tuple(float(v) for v in velocity)
        )

    # -------------------------------------------------------------------------------------------- looking and touching

    def part(self, name: str) -> NDArray[np.float64]:
        """A part of all worlds' states as a live array (worlds, n): qpos, qvel, userdata, time, …"""
        return self.states[:, self._places[name]]

    def motion(self, world: int, body: int) -> NDArray[np.float64]:
        """A body's position, quaternion (x, y, z, w), velocity and angular velocity in the world, now."""
        return self._motion[world, 0, body]

    def motion_before(self, world: int, body: int) -> NDArray[np.float64]:
        """The same, one step ago."""
        return self._motion[world, 1, body]

    def motions(self, world: int) -> NDArray[np.float64]:
        """The motion of all bodies of a world, now and one step ago, (2, bodies, 13); a live array."""
        return self._motion[world]

    def all_motion(self) -> NDArray[np.float64]:
        """The motion of all bodies of all worlds, (worlds, bodies, 13)."""
        return self._motion[:, 0]

    def motion_bytes(self, world: int) -> bytes:
        """The motion of a world's bodies, now and one step ago."""
        return self._motion[world].tobytes()

    def set_motion_bytes(self, world: int, data: bytes) -> None:
        """Take up what `motion_bytes` gave."""
        self._motion[world] = np.frombuffer(data).reshape(self._motion[world].shape)

    def place(self, world: int, body: int, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Put a free or kinematic body somewhere, at rest; its joints stay as they are bent, and stop.

        A free one may be given a velocity, in the world's axes.
        """
        compiled = self.model.compiled
        row = self.states[world]
        if not (np.isfinite(pose.position).all() and np.isfinite([*pose.orientation, *velocity]).all()):
            raise SkerryError(f"cannot put {compiled.body(body).name!r} at a pose that is not finite: {pose}")
        if np.abs(pose.position).max() > FARTHEST or np.abs(velocity).max() > FASTEST:
            raise SkerryError(
                f"cannot put {compiled.body(body).name!r} at {pose.position.tolist()} with {list(velocity)} m/s: a "
                f"place must be within {FARTHEST / 1e3:g} km of the world's origin, from which it is counted, and a "
                f"velocity at most {FASTEST:g} m/s"
            )
        x, y, z, w = normalise(pose.orientation)
        values = [*pose.position, w, x, y, z]
        mocap = int(compiled.body_mocapid[body])
        if mocap >= 0:
            row[self._places["mocap_pos"]][3 * mocap : 3 * mocap + 3] = values[:3]
            row[self._places["mocap_quat"]][4 * mocap : 4 * mocap + 4] = values[3:]
        else:
            joint = int(compiled.body_jntadr[body])
            if joint < 0 or compiled.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
                raise SkerryError(f"{compiled.body(body).name!r} is fixed to the world and cannot be moved")
            start = int(compiled.jnt_qposadr[joint])
            row[self._places["qpos"]][start : start + 7] = values
            for axis in range(compiled.nv):
                if int(compiled.body_rootid[compiled.dof_bodyid[axis]]) == body:
                    row[self._places["qvel"]][axis] = 0.0
                    row[self._places["qacc_warmstart"]][axis] = 0.0
            first = int(compiled.jnt_dofadr[joint])
            row[self._places["qvel"]][first : first + 3] = velocity
        if self.model.water_level is not None and self.model.water_level[0] == body:
            row[self._places["userdata"].start + self.model.water_level[1]] = pose.position[2]
        self.refresh([world])
        moved = compiled.body_rootid == compiled.body_rootid[body]
        self._motion[world, 1, moved] = self._motion[world, 0, moved]

    def joint_position(self, world: int, joint: int) -> float:
        """A hinge's angle or a slide's travel."""
        return float(self.states[world, self._places["qpos"].start + self.joint_places[joint][0]])

    def joint_view(self, world: int, joint: int) -> NDArray[np.float64]:
        """The same, as a live array (1,)."""
        place = self._places["qpos"].start + self.joint_places[joint][0]
        return self.states[world, place : place + 1]

    def joint_velocity(self, world: int, joint: int) -> float:
        """A hinge's or slide's rate."""
        return float(self.states[world, self._places["qvel"].start + self.joint_places[joint][1]])

    def contacts(self, world: int, owner: str) -> list[Touch]:
        """Where a robot or object touches something now."""
        probe = self._probe(world)
        if not probe.nearness.may_touch(self._motion[world, 0], owner):
            return []
        tick = round(self.part("time")[world, 0] / self.step_length)
        return self._touches(probe, self.states[world].copy(), tick, owner)

    def may_have_touched(self, rows: NDArray[np.int64], owner: str) -> NDArray[np.bool_]:
        """At which of these looks a robot or object may have touched something, of a world that is alone."""
        return self._probe(0).nearness.may_have_touched(self.log.motions, rows, owner)

    def contacts_then(self, row: int, tick: int, owner: str) -> list[Touch]:
        """Where a robot or object touched something at a look, which was at that tick; userdata must be kept."""
        state = self.states[0].copy()
        logs = {"qpos": self.log.positions, "qvel": self.log.velocities, "userdata": self.log.userdata}
        for part, log in logs.items():
            state[self._places[part]] = log[row]
        return self._touches(self._probe(0), state, tick, owner)

    def _probe(self, world: int) -> ContactProbe:
        if world not in self._probes:
            self._probes[world] = ContactProbe(self.models[world].compiled)
        return self._probes[world]

    def _touches(self, probe: ContactProbe, state: NDArray[np.float64], tick: int, owner: str) -> list[Touch]:
        # What is looked back at has lost its exact sum of steps, and what the solver began with: so nobody uses them.
        step = self.model.options.step
        state[self._places["time"]] = tick * step.numerator / step.denominator
        state[self._places["qacc_warmstart"]] = 0.0
        native.install_callback()
        return probe.look(state, owner)

    def close(self) -> None:
        """Step no more, and free the native memory as soon as nobody looks at it; closing twice is harmless."""
        if self._batch is not None:
            self._batch = None
            self._acting = []
            self._probes.clear()
            self.states = self.states.copy()
            self._warnings = self._warnings.copy()


def _delete(batches: Any, batch: int, compiled: list[Any]) -> None:
    """Free a batch; the compiled models, which it reads, are held until then."""
    batches.mjb_deleteBatch(batch)


def _slots(models: Sequence[Model]) -> list[tuple[Model, Any]]:
    """Each model once, with the place where it carries the address of its program."""
    return [(model, model.compiled.numeric_data) for model in {id(m): m for m in models}.values()]


def _bounds(compiled: Any) -> NDArray[np.float64]:
    """What no position, then no velocity, may reach; a hinge may turn for ever."""
    positions = np.full(compiled.nq, native.TOO_FAR)
    for joint in np.flatnonzero(compiled.jnt_type == mujoco.mjtJoint.mjJNT_HINGE):
        positions[compiled.jnt_qposadr[joint]] = np.inf
    return np.concatenate([positions, np.full(compiled.nv, native.TOO_FAST)])


def _places(compiled: Any) -> dict[str, slice]:
    """Where each part of a state row is (MuJoCo's order of mjtState bits)."""
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
    places = {}
    for name, bit in bits.items():
        earlier = int(STATE) & (int(bit) - 1)
        start = mujoco.mj_stateSize(compiled, earlier) if earlier else 0
        places[name] = slice(start, start + mujoco.mj_stateSize(compiled, int(bit)))
    return places
