"""The world: robots, water, terrain and a clock; advances in native steps up to the next thing that is due."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from skerry.acoustics.channel.channel import AcousticChannel
from skerry.core.clock import Clock, Rate
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.component import Component
from skerry.parts.observer import Observer
from skerry.parts.watchdog import Watchdog
from skerry.physics.carry_over import carry_over_state, common_bodies
from skerry.physics.engine import Engine
from skerry.physics.law_binding import WORLD_OWNER
from skerry.ropes.rope import Rope
from skerry.ropes.system import RopeSystem
from skerry.scenario import Scenario
from skerry.scenario.merging import to_plain
from skerry.terrain import Terrain
from skerry.water import Water, WaterSample
from skerry.world.changes import Change, changed, follow
from skerry.world.events import build_events
from skerry.world.mounted_controller import MountedController, run_controllers
from skerry.world.particles import FieldParticles
from skerry.world.python_forces import PythonForce
from skerry.world.ray_scene import RaySceneBuilder
from skerry.world.robot import Object, Parts, Robot
from skerry.world.ropes import ROPES, put
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.sample import LiveState
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.snapshots import DIGEST, Snapshot
from skerry.world.start import give_first_commands, structure_key

Watched = tuple[Watchdog, Callable[[], None]]  # with what to do when it bites


class World:
    """One deterministic world. Made by `skerry.load`; close it, or use it in a `with` block."""

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        clock: Clock,
        water: Water,
        terrain: Terrain | None,
        robots: dict[str, Robot],
        objects: dict[str, Object],
        ropes: dict[str, Rope],
        controllers: list[MountedController],
        hooks: list[PythonForce],
        noises: list[Noise],
        particles: FieldParticles | None,
        surroundings: RaySceneBuilder,
        present: LiveState,
        history: SampleBuffer,
        acoustics: AcousticChannel,
        net: RopeSystem | None,
        rebuild: Callable[[Mapping[str, Any]], World],
    ) -> None:
        self.scenario = scenario
        self.changes: tuple[Change, ...] = ()
        """What has come and gone since the world was built."""
        self._beginning = scenario
        self._rebuild = rebuild
        self._net = net
        self.water = water
        self.terrain = terrain
        self.robots = Parts("robot", robots)
        self.objects = Parts("object", objects)
        self.ropes = Parts("rope", ropes)
        self._engine = engine
        self._clock = clock
        self._controllers = controllers
        self._watched: list[Watched] = []
        for robot in robots.values():
            self._watched += [(part.watchdog, part.reset) for part in robot.actuators.values()]
        keyboards = [robot.keyboard for robot in robots.values() if robot.keys]
        self._watched += [(keyboard.watchdog, keyboard.release_all) for keyboard in keyboards]
        self._sensors: list[MountedSensor] = [part for robot in robots.values() for part in robot.sensors.values()]
        self._history = history
        self._observers: Sequence[Observer] = ()
        self._sort_sensors()
        self._hooks = hooks
        self._engine_time = engine.part("time")[0]
        self._must_step_singly = bool(hooks) or water.raises_outside
        self._noises = noises
        self.particles = particles
        self.surroundings = surroundings
        self.acoustics = acoustics
        self._present = present
        self._particle_rate = None if particles is None else Rate.of(particles.config.frequency, scenario.step)
        self._structure_key = structure_key(scenario)
        self._blank = self.snapshot()
        self._begin()

    # -------------------------------------------------------------------------------------------- the beginning

    def is_compatible(self, scenario: Scenario) -> bool:
        """Whether this world can begin anew as that scenario: it is built of the same things.

        Seed, first commands, events and duration may differ; but no seed that waves, currents or ground are drawn from.
        """
        return structure_key(scenario) == self._structure_key

    def reset(self, scenario: Scenario) -> None:
        """Start anew, as if just built of this scenario, to the bit; see `is_compatible`."""
        if not self.is_compatible(scenario):
            raise SkerryError("this world is built of other things than the scenario has; load the scenario")
        self.scenario = self._beginning = scenario
        self.changes = ()
        self.restore(self._blank)
        for noise in self._noises:
            noise.reseed(scenario.seed)
        self._begin()

    def _begin(self) -> None:
        robots, scenario = self.robots, self.scenario
        give_first_commands(scenario, {name: robot.actuators for name, robot in robots.items()})
        self._events = build_events(scenario, robots, {**robots, **self.objects}, self.ropes)
        for sensor in self._sensors:
            sensor.watch_if_due()

    # -------------------------------------------------------------------------------------------- time

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._clock.time

    @property
    def tick(self) -> int:
        """Steps made so far."""
        return self._clock.tick

    def advance(self, seconds: float) -> None:
        """Simulate so many seconds, to the nearest step, as fast as it goes."""
        self.advance_steps(self._clock.steps_for(seconds))

    def advance_steps(self, steps: int, observers: Sequence[Observer] = ()) -> None:
        """Simulate so many steps, and show onlookers, if any are given, how the world was on the way."""
        if steps < 0:
            raise SkerryError(f"cannot advance by {steps} steps; time does not run backwards")
        for sensor in self._stopping_sensors:
            sensor.plan(self.tick)
        if [other.rate for other in observers] != [other.rate for other in self._observers]:
            self._history.stale = True
        self._observers = observers
        try:
            self._advance_to(self.tick + steps)
        finally:
            self._look_back()

    def warm_up_acoustics(self) -> None:
        """Have the kernels of sound compiled, so that the first message holds nobody up; nothing is changed by it."""
        self.acoustics.warm_up(self._present)

    def _advance_to(self, end: int) -> None:
        tick = self.tick
        while tick < end:
            if self._events.is_due(tick):
                self._look_back()  # at what was before it
                self._events.happen(tick)
            thinking = run_controllers(self._controllers, self._engine, tick)
            self.acoustics.send(self._present)
            waiting = [entry for entry in self._watched if entry[0].is_active]
            stop = min([end, *self._stops_after(tick, waiting, thinking)])
            looks = self._looks_on_the_way(tick, stop)
            if len(looks) > self._history.room:
                self._look_back()
            if len(looks) > (most := self._engine.sample_log.capacity):
                looks = looks[:most]
                stop = looks[-1]
            errors = self._step(stop - tick, looks)
            before, tick = tick, self.tick
            if not self.acoustics.is_silent:
                self._hear_back(before, looks)
            for error in errors:
                raise error
            self._move_particles()
            for watchdog, go_back in waiting:
                if watchdog.check_timeout():
                    go_back()
            self.acoustics.receive(self._present, is_present=True)
            for sensor in self._stopping_sensors:
                if sensor.next_look <= tick:
                    sensor.look()

    def _stops_after(self, tick: int, waiting: list[Watched], thinking: list[MountedController]) -> Iterator[int]:
        """The ticks at which something must happen in Python."""
        if self._must_step_singly:
            yield tick + 1
        if self._particle_rate is not None:
            yield self._particle_rate.next_due(tick)
        if (event := self._events.next_after(tick)) is not None:
            yield event
        yield from self.acoustics.next_stop_ticks(tick)
        for mounted in thinking:
            yield mounted.rate.next_due(tick)
        for watchdog, _ in waiting:
            if (deadline := watchdog.deadline()) is not None:
                yield max(deadline, tick + 1)
        for sensor in self._stopping_sensors:
            yield sensor.next_look

    def _looks_on_the_way(self, tick: int, stop: int) -> list[int]:
        """The ticks up to a stop at which sensors are due that look back, and those before it at which sound comes."""
        looks = self._history.looks_after(tick, stop)
        sounds = self.acoustics.arrival_ticks(tick, stop)
        return sorted({*looks, *sounds}) if sounds else looks

    def _hear_back(self, tick: int, looks: list[int]) -> None:
        """Hear what came on the way to now, in the order of time."""
        for look in looks:
            if tick < look < self.tick:
                self.acoustics.receive(self._history.glimpse(look), is_present=False)

    def _look_back(self) -> None:
        """Measure what was due on the way: what looks at all at once first, then the rest in the order of time."""
        history = self._history
        if not history.ticks:
            return
        history.end_at(self.tick)
        if self._observers:
            history.replay(self._observers)
        waiting: dict[int, list[MountedSensor]] = {}
        for sensor in self._patient_sensors:
            if sensor.is_batch:
                sensor.catch_up()
            else:
                for tick in sensor.take_what_waits():
                    waiting.setdefault(tick, []).append(sensor)
        for tick in sorted(waiting):
            history.go(tick)
            for sensor in waiting[tick]:
                sensor.look_at_history()
        history.clear()

    def _sort_sensors(self) -> None:
        """Into those that the world must stop for and those that look back."""
        self._stopping_sensors = [sensor for sensor in self._sensors if sensor.stops_the_world]
        self._patient_sensors = [sensor for sensor in self._sensors if not sensor.stops_the_world]
        self._history.rates = self._rates_of_looks
        patient = [mounted.sensor for mounted in self._patient_sensors]
        feel = [sensor for sensor in patient if sensor.needs]
        self._history.must_keep_userdata = self.water.followed_object is not None or bool(feel) or bool(self.ropes)

    def _rates_of_looks(self) -> list[Rate]:
        rates = [sensor.rate for sensor in self._patient_sensors if sensor.is_looked_at]
        return [*rates, *(observer.rate for observer in self._observers)]

    def _move_particles(self) -> None:
        if self.particles is not None and self._particle_rate is not None and self._particle_rate.is_due(self.tick):
            seconds = 1.0 / float(self._particle_rate.frequency)
            self.particles.advance(seconds, self.time, self._engine.part("userdata")[0])

    def _step(self, steps: int, looks: list[int]) -> list[SkerryError]:
        """Go on, and keep what will be looked at; give what went wrong."""
        if self.water.raises_outside:
            self._check_places()
        first_look, tick = len(self._history.ticks), self.tick
        self._history.keep(looks)
        errors = self._engine.advance(
            steps,
            sample_steps=[look - tick for look in looks],
            first_row=first_look,
            keep_userdata=bool(self._observers) or self._history.must_keep_userdata,
            tick=tick,
        )
        if any(hook.error is not None for hook in self._hooks):
            self._engine.undo()  # a step without one of its forces is no step
        now = round(self._engine_time.item() / self._engine.step_length)
        self._clock.advance(now - self._clock.tick)
        for hook in self._hooks:
            hook.raise_error()
        return list(errors.values())

    def _check_places(self) -> None:
        """Raise an error if something that moves is where the water or the wind has no answer."""
        moving = [name for name, thing in self.scenario.objects.items() if thing.motion == "dynamic"]
        trees = {f"the robot {name!r}": robot for name, robot in self.robots.items()}
        trees |= {f"the object {name!r}": self.objects[name] for name in moving}
        if trees:
            places = [tree.pose.position for tree in trees.values()]
            self.water.check_points(places, self.time, list(trees), self._engine.part("userdata")[0])

    # -------------------------------------------------------------------------------------------- looking and touching

    @property
    def motions(self) -> np.typing.NDArray[np.float64]:
        """Of all bodies: position, quaternion, velocity and angular velocity in the world; (bodies, 13), a live array.

        Robots and objects have the number of theirs as `root`.
        """
        return self._engine.motions(0)[0]

    def sample_water(self, points: np.typing.ArrayLike) -> WaterSample:
        """The sea at points (…, 3), now."""
        return self.water.sample(points, self.time, self._engine.part("userdata")[0])

    def sample_wind(self, points: np.typing.ArrayLike) -> np.typing.NDArray[np.float64]:
        """The velocity of the air at points (…, 3), now; nothing under water."""
        return self.water.sample_wind(points, self.time, self._engine.part("userdata")[0])

    def teleport(self, name: str, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Put a robot or object somewhere else; its joints stay as they are bent, their velocities zero.

        It is at rest there unless a `velocity` is given, m/s in the world's axes, with which a free one is let go.

        Ropes whose other end is free go with it; others are laid anew between their ends, if they are long enough.
        """
        tree = dict.get(self.robots, name) or dict.get(self.objects, name)
        if tree is None:
            raise UnknownName(
                f"there is no robot or object {name!r}; {did_you_mean(name, [*self.robots, *self.objects])}"
            )
        put(self.ropes, tree, pose, velocity)

    # -------------------------------------------------------------------------------------------- coming and going

    def spawn(self, name: str, settings: Mapping[str, Any]) -> None:
        """Let a robot (settings with a `vehicle`) or an object come into the world, as a scenario's file describes it.

        The world is built anew around what is there, which takes about as long as loading it, and goes on from where it
        is; robots, parts and ropes that somebody holds stay good.
        """
        if name in self.robots or name in self.objects:
            raise SkerryError(f"there is a robot or object {name!r} already; give another name")
        self._change((*self.changes, Change(name, to_plain(settings))))

    def delete(self, name: str) -> None:
        """Take a robot or an object out of the world, with its ropes; ropes of others that are tied to it come free."""
        if name not in self.robots and name not in self.objects:
            raise UnknownName(
                f"there is no robot or object {name!r}; {did_you_mean(name, [*self.robots, *self.objects])}"
            )
        self._change((*self.changes, Change(name, None)))

    def _change(self, changes: tuple[Change, ...]) -> None:
        """Be the world that comes of the scenario by these changes."""
        new = self._rebuild(changed(self._beginning, changes))
        try:
            new._go_on_from(self)
        except SkerryError:
            new.close()
            raise
        new.changes, new._beginning = changes, self._beginning
        self._engine.close()
        follow(self, new)

    def _go_on_from(self, former: World) -> None:
        """Take over the state of all that both worlds have."""
        bodies = common_bodies(self._engine, former._engine)
        carry_over_state(self._engine, former._engine, bodies)
        if self._net is not None and former._net is not None:
            states = [world._engine.model.laws[WORLD_OWNER][ROPES].memory for world in (self, former)]
            self._net.take_over(states[0], former._net, states[1], bodies)
        self._clock.set_state(former._clock.state())
        before = dict(former._components())
        for name, component in self._components():
            if component is not self.acoustics and name in before:
                component.set_state(before[name].state())
        self.acoustics.copy_from(former.acoustics)

    # -------------------------------------------------------------------------------------------- state

    def _components(self) -> list[tuple[str, Component]]:
        found: list[tuple[str, Component]] = []
        for name, robot in self.robots.items():
            for group in ("actuators", "sensors", "controllers", "acoustics"):
                found += [(f"{name}/{group}/{part}", component) for part, component in getattr(robot, group).items()]
            if robot.keys:
                found.append((f"{name}/keyboard", robot.keyboard))
        if self.particles is not None:
            found.append(("particles", self.particles))
        found.append(("acoustics", self.acoustics))
        return found

    def snapshot(self) -> Snapshot:
        """All of the world's state; a world of the same scenario, here or in another process, can `restore` it."""
        states = [(name, component.state()) for name, component in self._components()]
        head = {
            "changes": [[change.name, change.settings] for change in self.changes],
            "structure": self._engine.model.structure_hash,
            "clock": self._clock.state().decode(),
            "components": [name for name, _ in states],
        }
        chunks = [self._engine.states[0].tobytes(), self._engine.motion_bytes(0), *(state for _, state in states)]
        return Snapshot.of(head, chunks)

    def fingerprint(self) -> str:
        """A hash of all that goes on whoever looks: the state without readings, which depend on who asks for them."""
        digest = blake2b(self._engine.states[0].tobytes(), digest_size=DIGEST)
        digest.update(self._engine.motion_bytes(0))
        digest.update(self._clock.state())
        for name, component in self._components():
            state = component.watched_state() if isinstance(component, MountedSensor) else component.state()
            digest.update(f"{name} {len(state)}\n".encode())
            digest.update(state)
        return digest.hexdigest()

    def restore(self, snapshot: Snapshot | bytes) -> None:
        """Go back to a snapshot; what follows is bit-identical. A snapshot of another structure is refused.

        What has come or gone since, comes or goes again, for which the world is built anew.
        """
        head, (row, motion, *states) = (snapshot if isinstance(snapshot, Snapshot) else Snapshot(snapshot)).read()
        changes = tuple(Change(name, settings) for name, settings in head["changes"])
        if changes != self.changes:
            self._change(changes)
        components = self._components()
        names = [name for name, _ in components]
        if head["structure"] != self._engine.model.structure_hash or head["components"] != names:
            raise SkerryError(
                "the snapshot is of a world with other robots, links or parts; load its scenario to restore it"
            )
        self._engine.states[0] = np.frombuffer(row)
        self._engine.set_motion_bytes(0, motion)
        self._clock.set_state(head["clock"].encode())
        for (_, component), state in zip(components, states, strict=True):
            component.set_state(state)

    def load_state(self, state: bytes) -> None:
        """Take over the physical state of a world of a batch, of the same structure, to be looked at from here."""
        row = np.frombuffer(state)
        if row.shape != self._engine.states[0].shape:
            raise SkerryError(f"this is a state of {row.size} numbers; this world has {self._engine.states[0].size}")
        self._engine.states[0] = row
        self._engine.reset_motion(0)
        self._clock.set_state(json.dumps([round(self._engine_time.item() / self._engine.step_length), 0, 1]).encode())

    def close(self) -> None:
        """Free the native memory; closing twice is harmless."""
        for sensor in self._sensors:
            sensor.drop()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
