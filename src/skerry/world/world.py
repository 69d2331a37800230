"""The world: robots, objects, water, terrain and a clock. It advances in native steps to the next stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self, overload

import numpy as np

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose
from skerry.parts.observer import Observer
from skerry.parts.watchdog import Watchdog
from skerry.scenario import Scenario
from skerry.scenario.merging import to_plain
from skerry.water import WaterSample
from skerry.world.changes import Change, apply_changes
from skerry.world.core import WorldCore
from skerry.world.events import Events
from skerry.world.mounted_controller import MountedController, run_controllers
from skerry.world.robot import BodyTree, Parts
from skerry.world.ropes import move_tree
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.recorded import Recorded, recording
from skerry.world.snapshots import DIGEST, Snapshot
from skerry.world.start import structure_key

Watched = tuple[Watchdog, Callable[[], None]]
"""Watchdog, and the function to call when it expires."""


class World:
    """Deterministic world, built by `skerry.load`. Close it, or use it in a `with` block.

    Everything that depends on the structure is in its core. A change of the structure installs another core.

    Attributes:
        scenario: The scenario, with all changes since the world was built.
        changes: Robots and objects that were added or removed since the world was built.
        robots: Robots by name.
        objects: Objects by name.
        ropes: Ropes by name; those of robots are "robot/rope".
        water: Water and wind.
        terrain: Ground; None if the scenario has no terrain.
        acoustics: Acoustic channel.
        particles: Particles that show force fields; None if not configured.
        ray_scene: Geometry for rays.
    """

    def __init__(self, core: WorldCore) -> None:
        self.changes: tuple[Change, ...] = ()
        self._initial_scenario = core.scenario
        core.start(core.scenario)
        self._install(core, core.events(core.scenario))
        for sensor in core.sensors:
            sensor.check()

    def _install(self, core: WorldCore, events: Events) -> None:
        """Make `core` the core of this world, and bind the robots, objects, ropes and parts that it keeps to it."""
        core.bind()
        self._core = core
        self.scenario = core.scenario
        self.robots = Parts("robot", core.robots)
        self.objects = Parts("object", core.objects)
        self.ropes = Parts("rope", core.ropes)
        self.water = core.water
        self.terrain = core.terrain
        self.acoustics = core.acoustics
        self.particles = core.particles
        self.ray_scene = core.ray_scene
        self._engine = core.engine
        self._clock = core.clock
        self._live = core.live
        self._buffer = core.buffer
        self._events = events
        self._watchdogs = self._list_watchdogs()
        self._observers: Sequence[Observer] = ()
        self._group_sensors()
        self._engine_time = core.engine.part("time")[0]
        self._must_step_singly = bool(core.python_forces) or core.water.raises_outside
        particles, step = core.particles, core.scenario.step
        self._particle_rate = None if particles is None else Rate.of(particles.config.frequency, step)
        self._structure_key = structure_key(core.scenario)

    def _list_watchdogs(self) -> list[Watched]:
        watchdogs: list[Watched] = []
        for robot in self.robots.values():
            watchdogs += [(part.watchdog, part.reset) for part in robot.actuators.values()]
        keyboards = [robot.keyboard for robot in self.robots.values() if robot.keys]
        return watchdogs + [(keyboard.watchdog, keyboard.release_all) for keyboard in keyboards]

    # -------------------------------------------------------------------------------------------- reset

    def is_compatible(self, scenario: Scenario) -> bool:
        """Return whether `reset` accepts this scenario, because it has the same structure.

        Seed, initial commands, events and duration may differ. The seed must be the same if waves, currents or terrain
        are drawn from it.
        """
        return structure_key(scenario) == self._structure_key

    def reset(self, seed: int | None = None, *, scenario: Scenario | None = None) -> None:
        """Restart; bit-identical to a newly built world.

        References to robots and parts stay valid. If waves, currents or terrain are drawn from the seed, another seed
        takes as long as loading.

        Args:
            seed: Seed of the new run; by default that of the scenario.
            scenario: Scenario of the same structure to start instead of the present one.

        Raises:
            SkerryError: The scenario has another structure; see `is_compatible`.
        """
        if scenario is not None and not self.is_compatible(scenario):
            raise SkerryError(
                "cannot reset: the scenario has other robots, parts, water or terrain than this world; load it instead"
            )
        scenario = self.scenario if scenario is None else scenario
        if seed is not None:
            scenario = scenario.model_copy(update={"seed": seed})
        if not self.is_compatible(scenario):
            former = self._core
            core = former.rebuild(to_plain(scenario), former)
            self._install(core, core.events(core.scenario))
            former.close(successor=core)
        self.scenario = self._initial_scenario = scenario
        self.changes = ()
        self.restore(self._core.initial_snapshot)
        for noise in self._core.noises.values():
            noise.reseed(scenario.seed)
        self._core.start(scenario)
        self._events = self._core.events(scenario)

    # -------------------------------------------------------------------------------------------- time

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._clock.time

    @property
    def tick(self) -> int:
        """Number of steps since the start."""
        return self._clock.tick

    @overload
    def advance(self, seconds: float) -> None: ...
    @overload
    def advance(self, seconds: float, record: Sequence[str]) -> Recorded: ...
    def advance(self, seconds: float, record: Sequence[str] | None = None) -> Recorded | None:
        """Simulate as fast as possible.

        Args:
            seconds: Duration, s; rounded to whole steps.
            record: Sensors, as "robot/sensor", whose readings in this interval are returned.

        Returns:
            The readings of each recorded sensor, by its name: all that became due in the interval. None without
            `record`.

        Raises:
            UnknownName: There is no such sensor.
            PhysicsDiverged: The physics became unstable. The world stays at the last valid step.
        """
        sensors = [self._find_sensor(name) for name in dict.fromkeys(record or ())]
        with recording(sensors) as recorded:
            self.advance_steps(self._clock.steps_for(seconds))
        return None if record is None else recorded

    def _find_sensor(self, name: str) -> MountedSensor[Any]:
        robot, _, sensor = name.partition("/")
        return self.robots[robot].sensors[sensor]

    def advance_steps(self, steps: int, observers: Sequence[Observer] = ()) -> None:
        """Simulate a number of steps.

        Args:
            steps: Number of steps, 0 or more.
            observers: Observers that are called with the samples of these steps.

        Raises:
            PhysicsDiverged: The physics became unstable. The world stays at the last valid step.
        """
        if steps < 0:
            raise SkerryError(f"cannot advance by {steps} steps; give 0 or more")
        for sensor in self._live_sensors:
            sensor.plan(self.tick)
        if [other.rate for other in observers] != [other.rate for other in self._observers]:
            self._buffer.plan_is_stale = True
        self._observers = observers
        try:
            self._advance_to(self.tick + steps)
        finally:
            self._process_samples()

    def warm_up_acoustics(self) -> None:
        """Compile the acoustic kernels, so that the first message causes no delay. The state does not change."""
        self.acoustics.warm_up(self._live)

    def _advance_to(self, end: int) -> None:
        tick = self.tick
        while tick < end:
            if self._events.is_due(tick):
                self._process_samples()  # samples from before the events
                self._events.run(tick)
            python_controllers = run_controllers(self._core.controllers, self._engine, tick)
            self.acoustics.send(self._live)
            active = [entry for entry in self._watchdogs if entry[0].is_active]
            stop = min([end, *self._next_stops(tick, active, python_controllers)])
            sample_ticks = self._sample_ticks(tick, stop)
            if len(sample_ticks) > self._buffer.free_rows:
                self._process_samples()
            if len(sample_ticks) > (free := self._buffer.free_rows):
                stop = sample_ticks[free - self._buffer.max_kept - 1]
                sample_ticks = self._sample_ticks(tick, stop)
            errors = self._step(stop - tick, sample_ticks)
            before, tick = tick, self.tick
            if not self.acoustics.is_silent:
                self._receive_past_signals(before, sample_ticks)
            for error in errors:
                raise error
            self._move_particles()
            for watchdog, reset in active:
                if watchdog.check_timeout():
                    reset()
            self.acoustics.receive(self._live, is_present=True)
            for sensor in self._live_sensors:
                if sensor.next_tick <= tick:
                    sensor.process_live()

    def _next_stops(self, tick: int, active: list[Watched], controllers: list[MountedController]) -> Iterator[int]:
        """Yield the ticks after `tick` at which Python code must run."""
        if self._must_step_singly:
            yield tick + 1
        if self._particle_rate is not None:
            yield self._particle_rate.next_due(tick)
        if (event := self._events.next_after(tick)) is not None:
            yield event
        yield from self.acoustics.next_stop_ticks(tick)
        for mounted in controllers:
            yield mounted.rate.next_due(tick)
        for watchdog, _ in active:
            if (deadline := watchdog.deadline()) is not None:
                yield max(deadline, tick + 1)
        for sensor in self._live_sensors:
            yield sensor.next_tick

    def _sample_ticks(self, tick: int, stop: int) -> list[int]:
        """Return the ticks after `tick` that the engine must store.

        These are the due ticks of sensors up to `stop`, and the ticks of acoustic arrivals before `stop`.
        """
        due = self._buffer.plan(tick, stop)
        arrivals = self.acoustics.arrival_ticks(tick, stop)
        return sorted({*due, *arrivals}) if arrivals else due

    def _receive_past_signals(self, start: int, sample_ticks: list[int]) -> None:
        """Deliver the acoustic signals that arrived after tick `start` and before now, in the order of time."""
        for tick in sample_ticks:
            if start < tick < self.tick:
                self.acoustics.receive(self._buffer.stored(tick), is_present=False)

    def _process_samples(self) -> None:
        """Call observers and measure sensors with all buffered samples, then clear the buffer.

        The samples of the latest due tick of each sensor are kept.
        """
        buffer = self._buffer
        if not buffer.has_new:
            return
        buffer.truncate(self.tick)
        if self._observers:
            buffer.replay(self._observers)
        for sensor in self._buffered_sensors:
            sensor.process_pending()
        buffer.clear()

    def _group_sensors(self) -> None:
        """Divide the sensors into those that need a stop of the world and those that use the sample buffer."""
        self._live_sensors = [sensor for sensor in self._core.sensors if sensor.needs_stop]
        self._buffered_sensors = [sensor for sensor in self._core.sensors if not sensor.needs_stop]
        self._buffer.rates = self._sample_rates

    def _sample_rates(self) -> list[Rate]:
        rates = [sensor.rate for sensor in self._buffered_sensors if sensor.is_active]
        return [*rates, *(observer.rate for observer in self._observers)]

    def _move_particles(self) -> None:
        if self.particles is not None and self._particle_rate is not None and self._particle_rate.is_due(self.tick):
            seconds = 1.0 / float(self._particle_rate.frequency)
            self.particles.advance(seconds, self.time, self._engine.part("userdata")[0])

    def _step(self, steps: int, sample_ticks: list[int]) -> list[SkerryError]:
        """Advance the engine, store samples at `sample_ticks`, and return the errors."""
        if self.water.raises_outside:
            self._check_positions()
        first_row, tick = len(self._buffer.ticks), self.tick
        self._buffer.add(sample_ticks)
        errors = self._engine.advance(
            steps,
            sample_steps=[sample_tick - tick for sample_tick in sample_ticks],
            first_row=first_row,
            tick=tick,
        )
        if any(force.error is not None for force in self._core.python_forces):
            self._engine.undo()  # the step lacks the force that failed
        now = round(self._engine_time.item() / self._engine.step_length)
        self._clock.advance(now - self._clock.tick)
        for force in self._core.python_forces:
            force.raise_error()
        return list(errors.values())

    def _check_positions(self) -> None:
        """Raise an error if a robot or moving object is outside the grid of a current or wind."""
        moving = [name for name, config in self.scenario.objects.items() if config.motion == "dynamic"]
        trees: dict[str, BodyTree] = {f"the robot {name!r}": robot for name, robot in self.robots.items()}
        trees |= {f"the object {name!r}": self.objects[name] for name in moving}
        if trees:
            positions = [tree.pose.position for tree in trees.values()]
            self.water.check_points(positions, self.time, list(trees), self._engine.part("userdata")[0])

    # -------------------------------------------------------------------------------------------- live state

    @property
    def motions(self) -> np.typing.NDArray[np.float64]:
        """Motions of all bodies, (bodies, 13), a live array.

        The columns are position, quaternion, velocity and angular velocity in the world. `root` of a robot or object
        is its row.
        """
        return self._engine.motions(0)[0]

    def sample_water(self, points: np.typing.ArrayLike) -> WaterSample:
        """Return the state of the water now at points (…, 3), m, ENU."""
        return self.water.sample(points, self.time, self._engine.part("userdata")[0])

    def sample_wind(self, points: np.typing.ArrayLike) -> np.typing.NDArray[np.float64]:
        """Return the wind velocity now at points (…, 3), as (…, 3), m/s, ENU; zero under water."""
        return self.water.sample_wind(points, self.time, self._engine.part("userdata")[0])

    def teleport(self, name: str, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Move a robot or object to another pose. Joint angles stay; joint velocities become zero.

        Ropes whose other end is free move along. Ropes tied to something else are laid again between their ends.

        Args:
            name: Robot or object.
            pose: New pose of the root link in the world (ENU).
            velocity: New velocity, m/s, ENU; only for bodies that move freely.

        Raises:
            UnknownName: There is no such robot or object.
            SkerryError: A rope is too short. The world is then unchanged.
        """
        tree = dict.get(self.robots, name) or dict.get(self.objects, name)
        if tree is None:
            raise UnknownName(
                f"there is no robot or object {name!r}; {did_you_mean(name, [*self.robots, *self.objects])}"
            )
        move_tree(self.ropes, tree, pose, velocity)

    # -------------------------------------------------------------------------------------------- adding and removing

    def spawn(self, name: str, settings: Mapping[str, Any]) -> None:
        """Add a robot or an object while the world runs.

        The world is built again with the new part, which takes about as long as loading, and continues from its
        present state. References to existing robots, objects, ropes and parts stay valid.

        Args:
            name: Name of the robot or object; must be unused.
            settings: Settings as in a scenario file; a robot has a `vehicle`.
        """
        if name in self.robots or name in self.objects:
            raise SkerryError(f"there is already a robot or object {name!r}; give another name")
        self._change((*self.changes, Change(name, to_plain(settings))))

    def delete(self, name: str) -> None:
        """Remove a robot or an object and its ropes. Ropes of others that are tied to it become free.

        Args:
            name: Robot or object.

        Raises:
            UnknownName: There is no such robot or object.
        """
        if name not in self.robots and name not in self.objects:
            raise UnknownName(
                f"there is no robot or object {name!r}; {did_you_mean(name, [*self.robots, *self.objects])}"
            )
        self._change((*self.changes, Change(name, None)))

    def _change(self, changes: tuple[Change, ...]) -> None:
        """Build the core of the initial scenario with these changes, and continue with it.

        If an error is raised, the world is unchanged.
        """
        former = self._core
        core = former.rebuild(apply_changes(self._initial_scenario, changes), former)
        try:
            events = core.events(core.scenario)
            core.start(core.scenario, former)
        except SkerryError:
            core.engine.close()
            raise
        self._install(core, events)
        self.changes = changes
        former.close(successor=core)

    # -------------------------------------------------------------------------------------------- state

    def snapshot(self) -> Snapshot:
        """Return the complete state. A world of the same scenario can `restore` it, also in another process."""
        states = {name: component.state() for name, component in self._core.components.items()}
        return self._core.snapshot(states, self.changes)

    def fingerprint(self) -> str:
        """Return a hash of the state without readings, so that it does not depend on subscribers."""
        digest = blake2b(self._engine.states[0].tobytes(), digest_size=DIGEST)
        digest.update(self._engine.motion_bytes(0))
        digest.update(self._clock.state())
        for name, component in self._core.components.items():
            state = component.fingerprint_state() if isinstance(component, MountedSensor) else component.state()
            digest.update(f"{name} {len(state)}\n".encode())
            digest.update(state)
        return digest.hexdigest()

    def restore(self, snapshot: Snapshot | bytes) -> None:
        """Return to a snapshot. The simulation then continues bit-identically.

        If robots or objects were added or removed between then and now, the world is built again.

        Args:
            snapshot: What `snapshot` returned, or its bytes.

        Raises:
            SkerryError: The bytes are not a valid snapshot, or the snapshot is of another structure.
        """
        given = snapshot if isinstance(snapshot, Snapshot) else Snapshot(snapshot)
        head, (row, motion, samples, *states) = given.read()
        changes = tuple(Change(name, settings) for name, settings in head["changes"])
        if changes != self.changes:
            self._change(changes)
        components = self._core.components
        if head["structure"] != self._engine.model.structure_hash or head["components"] != list(components):
            raise SkerryError(
                "the snapshot is of a world with other robots, links or parts; load its scenario to restore it"
            )
        self._engine.states[0] = np.frombuffer(row)
        self._engine.set_motion_bytes(0, motion)
        self._clock.set_state(head["clock"].encode())
        self._buffer.set_state(head["samples"], samples)
        for component, state in zip(components.values(), states, strict=True):
            component.set_state(state)

    def load_state(self, state: bytes) -> None:
        """Set the physical state to that of a world of a batch.

        Args:
            state: What `Batch.state` returned, for the same scenario.
        """
        row = np.frombuffer(state)
        if row.shape != self._engine.states[0].shape:
            raise SkerryError(f"the state has {row.size} numbers; this world needs {self._engine.states[0].size}")
        self._engine.states[0] = row
        self._engine.reset_motion(0)
        self._clock.set_state(json.dumps([round(self._engine_time.item() / self._engine.step_length), 0, 1]).encode())
        self._buffer.set_state([], b"")
        self._buffer.complete()

    def __repr__(self) -> str:
        robots = ", ".join(self.robots) or "no robots"
        return f"<World {self.scenario.name}: {robots}; {len(self.objects)} objects, {self.time:g} s>"

    def close(self) -> None:
        """Free the native memory; closing twice is harmless."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
