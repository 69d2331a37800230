"""Core of a world: everything that is built for one structure. A changed structure needs another core."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from skerry.acoustics.channel.channel import AcousticChannel
from skerry.core.clock import Clock, Rate
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.component import Component
from skerry.physics.carry_over import carry_over_state, common_bodies
from skerry.physics.engine import Engine
from skerry.physics.law_binding import WORLD_OWNER
from skerry.ropes.rope import Rope
from skerry.ropes.system import RopeSystem
from skerry.scenario import Scenario
from skerry.terrain import Terrain
from skerry.water import Water
from skerry.world.changes import Change
from skerry.world.events import Events, build_events
from skerry.world.mounted_controller import MountedController
from skerry.world.particles import FieldParticles
from skerry.world.python_forces import PythonForce
from skerry.world.ray_scene import RaySceneBuilder
from skerry.world.robot import Object, Robot
from skerry.world.ropes import ROPES
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.sample import LiveState
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.snapshots import Snapshot
from skerry.world.start import set_initial_commands


@dataclass(kw_only=True, eq=False)
class WorldCore:
    """Engine of a world, the objects that depend on it, and the robots, objects and ropes that are bound to it.

    A core that replaces a former core keeps the robots and objects of the same name and settings, and all ropes of the
    same name. They stay bound to the former core until `bind` is called.

    Attributes:
        scenario: The checked scenario that the core was built from.
        engine: Physics engine with one world.
        clock: Simulation clock.
        water: Water and wind.
        terrain: Ground; None if the scenario has no terrain.
        robots: Robots by name.
        objects: Objects by name.
        ropes: Ropes by name; those of robots are "robot/rope".
        rope_system: Solver of all ropes; None without ropes.
        controllers: Controllers of all robots.
        python_forces: Forces that are Python functions.
        noises: Noise streams of all parts by name; a reset gives them another seed.
        particles: Particles that show force fields; None if not configured.
        ray_scene: Geometry for rays.
        live: The live state, as sensors see it.
        buffer: Buffer of past samples.
        acoustics: Acoustic channel.
        kept: Robots and objects of the former core that this core keeps.
        bindings: Functions that bind the kept robots, objects, ropes and parts to this core; none of them can fail.
        kept_states: Initial states of the components of kept robots, by name.
        rebuild: Builds a core from changed settings that can replace a core, with the same Python forces.
        initial_states: States of all components at the start, by name.
        initial_snapshot: Snapshot of the start, before the initial commands.
    """

    scenario: Scenario
    engine: Engine
    clock: Clock
    water: Water
    terrain: Terrain | None
    robots: dict[str, Robot]
    objects: dict[str, Object]
    ropes: dict[str, Rope]
    rope_system: RopeSystem | None
    controllers: list[MountedController]
    python_forces: list[PythonForce]
    noises: dict[str, Noise]
    particles: FieldParticles | None
    ray_scene: RaySceneBuilder
    live: LiveState
    buffer: SampleBuffer
    acoustics: AcousticChannel
    kept: frozenset[str]
    bindings: list[Callable[[], None]]
    kept_states: Mapping[str, bytes]
    rebuild: Callable[[Mapping[str, Any], WorldCore], WorldCore]
    initial_states: dict[str, bytes] = field(init=False)
    initial_snapshot: Snapshot = field(init=False)

    def __post_init__(self) -> None:
        self.buffer.sensor_rates = _rates_of(self.sensors)
        self.buffer.previous_rates = _rates_of(sensor for sensor in self.sensors if "previous" in sensor.sensor.needs)
        kept = self.kept_states
        self.initial_states = {
            name: kept[name] if name in kept else component.state() for name, component in self.components.items()
        }
        self.initial_snapshot = self.snapshot(self.initial_states)

    @cached_property
    def sensors(self) -> list[MountedSensor[Any]]:
        """Sensors of all robots."""
        return [sensor for robot in self.robots.values() for sensor in robot.sensors.values()]

    @cached_property
    def components(self) -> dict[str, Component]:
        """Components whose state a snapshot stores, by name; those of a robot are "robot/…"."""
        found: dict[str, Component] = {}
        for name, robot in self.robots.items():
            for group in ("actuators", "sensors", "controllers", "acoustics"):
                found |= {f"{name}/{group}/{part}": component for part, component in getattr(robot, group).items()}
            if robot.keys:
                found[f"{name}/keyboard"] = robot.keyboard
        if self.particles is not None:
            found["particles"] = self.particles
        found["acoustics"] = self.acoustics
        return found

    def initial_states_of(self, robots: Collection[str]) -> dict[str, bytes]:
        """Return the initial states of the components of these robots, by name."""
        owners = tuple(f"{name}/" for name in robots)
        return {name: state for name, state in self.initial_states.items() if name.startswith(owners)}

    def snapshot(self, states: Mapping[str, bytes], changes: Sequence[Change] = ()) -> Snapshot:
        """Return the present state of engine and clock, with these states of the components, as a snapshot."""
        ticks, samples = self.buffer.state()
        head = {
            "changes": [[change.name, change.settings] for change in changes],
            "structure": self.engine.model.structure_hash,
            "clock": self.clock.state().decode(),
            "samples": ticks,
            "components": list(states),
        }
        engine = self.engine
        return Snapshot.of(head, [engine.states[0].tobytes(), engine.motion_bytes(0), samples, *states.values()])

    def bind(self) -> None:
        """Bind the kept robots, objects, ropes and parts to this core; the former core cannot be used any more."""
        for bind in self.bindings:
            bind()
        self.bindings.clear()

    def start(self, scenario: Scenario, former: WorldCore | None = None) -> None:
        """Set the initial commands of all new robots, continue from a former core, and start the new sensors.

        Raises:
            SkerryError: The former core cannot be replaced; see `continue_from`.
        """
        new = {name: robot for name, robot in self.robots.items() if former is None or name not in self.kept}
        set_initial_commands(scenario, {name: robot.actuators for name, robot in new.items()})
        if former is not None:
            self.continue_from(former)
        for robot in new.values():
            for sensor in robot.sensors.values():
                sensor.start()
            for part in robot.acoustics.values():
                part.set_state(part.state())  # plan the next transmission from the present tick

    def events(self, scenario: Scenario) -> Events:
        """Return the events of a scenario of this structure."""
        return build_events(scenario, self.robots, {**self.robots, **self.objects}, self.ropes)

    def continue_from(self, former: WorldCore) -> None:
        """Copy the state of everything that a former core has too. The state of kept parts is in the parts themselves.

        Raises:
            SkerryError: A rope runs over a hook that no longer exists. The former core is then unchanged.
        """
        for sensor in self.sensors:
            sensor.settle()
        self.clock.set_state(former.clock.state())
        bodies = common_bodies(self.engine, former.engine, self.kept)
        self._copy_samples(former, bodies)
        self._copy_state(former, bodies)
        if self.particles is not None and former.particles is not None:
            self.particles.set_state(former.particles.state())
        self.acoustics.copy_from(former.acoustics)

    def _copy_state(self, former: WorldCore, bodies: Mapping[int, int]) -> None:
        """Copy the state of the common bodies and ropes from the live state of a former core."""
        carry_over_state(self.engine, former.engine, self.kept, bodies)
        if self.rope_system is not None and former.rope_system is not None:
            states = [core.engine.model.laws[WORLD_OWNER][ROPES].memory for core in (self, former)]
            self.rope_system.carry_over(states[0], former.rope_system, states[1], bodies)

    def _copy_samples(self, former: WorldCore, bodies: Mapping[int, int]) -> None:
        """Copy the kept samples. In these samples, new bodies are in their initial state."""
        for tick in sorted({*former.buffer.ticks, *self.buffer.kept_ticks(self.clock.tick)}):
            replaying = former.buffer.replaying(tick) if former.buffer.has(tick) else nullcontext()
            with replaying, suppress(SkerryError):  # the ropes of a past sample may be over a hook that is removed now
                self._copy_state(former, bodies)
            self.buffer.store_live(tick)
        self.buffer.start = self.clock.tick

    def close(self, successor: WorldCore | None = None) -> None:
        """Free the native memory. Sensors that `successor` does not have discard their unfinished readings."""
        still_used = set() if successor is None else {id(sensor) for sensor in successor.sensors}
        for sensor in self.sensors:
            if id(sensor) not in still_used:
                sensor.drop()
        self.engine.close()


def _rates_of(sensors: Iterable[MountedSensor[Any]]) -> list[Rate]:
    """Return the rates of sensors, each once."""
    return list({sensor.rate.ratio: sensor.rate for sensor in sensors}.values())
