"""Builders: from a scenario to a world, or to a batch of worlds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel.channel import AcousticChannel
from skerry.control.manual.keyboard import Keyboard
from skerry.core.clock import Clock, Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.core.geo import Projection
from skerry.core.noise import Noise
from skerry.parts.acoustics import BuildContext
from skerry.parts.actuator import Actuator, ActuatorConfig
from skerry.parts.display import check_display
from skerry.parts.law import Attach, Law, LawConfig
from skerry.parts.readings import check_reading
from skerry.parts.sensor import Sensor, SensorConfig
from skerry.physics.engine import Engine
from skerry.physics.joint_drive import JointDrive
from skerry.physics.law_binding import WORLD_OWNER
from skerry.physics.model import Model, Options, assemble
from skerry.physics.tree import Body, LawBuilder
from skerry.rays import robot_bit
from skerry.ropes.rope import Rope
from skerry.ropes.system import RopeSystem
from skerry.scenario import Scenario, load_scenario
from skerry.scenario.loading import LoadedScenario
from skerry.scenario.vehicle import Vehicle
from skerry.terrain import Terrain
from skerry.water.daylight import Daylight
from skerry.world.batch import Batch
from skerry.world.core import WorldCore
from skerry.world.mounted_controller import MountedController
from skerry.world.particles import FieldParticles
from skerry.world.python_forces import ForceFunction, PythonForce
from skerry.world.ray_scene import RaySceneBuilder, bodies_for_rays
from skerry.world.robot import BodyTree, Object, Parts, Robot, TreeBinding
from skerry.world.ropes import ROPES, bind_ropes, rope_plans, ropes_for_rays
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.sample import LiveState
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.sampling.sample_view import RobotSampleView
from skerry.world.start import set_initial_commands
from skerry.world.world import World

Source = str | Path | Scenario | Mapping[str, Any]
"""Name of a shipped scenario, path of a file, mapping, or `Scenario`."""


def build_world(
    source: Source,
    seed: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    forces: Mapping[str, ForceFunction] | None = None,
) -> World:
    """Load a scenario and build its world.

    Args:
        source: Name of a shipped scenario, path of a file, mapping, or `Scenario`.
        seed: Replaces the seed of the scenario.
        overrides: Replaces values of the scenario.
        forces: Python functions that are called as forces, by "robot/link".

    Returns:
        The world, at time 0. The caller must close it.

    Raises:
        SkerryError: The scenario is invalid; the message lists all faults.
    """
    return World(_build_core(load_scenario(source, overrides, seed), forces or {}))


def _build_core(
    loaded: LoadedScenario, forces: Mapping[str, ForceFunction], former: WorldCore | None = None
) -> WorldCore:
    """Return the core of a scenario's world; it keeps the unchanged robots and objects of the core that it replaces."""
    python_forces = _python_forces(loaded, forces)
    kept = _Kept.of(former, loaded)
    return _CoreBuilder(loaded, _assemble(loaded, python_forces, kept), python_forces, kept).build(
        lambda settings, former: _build_core(load_scenario(settings), forces, former)
    )


@dataclass(kw_only=True, frozen=True)
class _Kept:
    """Objects of a former core that a new core keeps, all by name."""

    robots: dict[str, Robot] = field(default_factory=dict)  # robots of the same vehicle with the same settings
    objects: dict[str, Object] = field(default_factory=dict)  # objects with the same settings
    ropes: dict[str, Rope] = field(default_factory=dict)  # all ropes: their settings are part of their bindings
    noises: dict[str, Noise] = field(default_factory=dict)
    states: dict[str, bytes] = field(default_factory=dict)  # initial states of the components of the robots

    @classmethod
    def of(cls, former: WorldCore | None, loaded: LoadedScenario) -> _Kept:
        """Return the objects that a new core of this scenario keeps."""
        if former is None:
            return cls()
        new, old = loaded.scenario, former.scenario
        robots = {
            name: robot
            for name, robot in former.robots.items()
            if name in new.robots
            and loaded.vehicles[name] == robot.vehicle
            and new.robots[name].anchored == old.robots[name].anchored
        }
        return cls(
            robots=robots,
            objects={name: part for name, part in former.objects.items() if new.objects.get(name) == old.objects[name]},
            ropes=former.ropes,
            noises=former.noises,
            states=former.initial_states_of(robots),
        )

    @property
    def trees(self) -> frozenset[str]:
        """Names of the robots and objects."""
        return frozenset([*self.robots, *self.objects])

    def law(self, owner: str, name: str) -> Law | None:
        """Return a force of a robot or object; None if it is not kept."""
        tree = self.robots.get(owner) or self.objects.get(owner)
        return None if tree is None else tree.forces[name]

    def actuator(self, robot: str, name: str) -> Actuator | None:
        """Return an actuator of a robot; None if the robot is not kept."""
        return self.robots[robot].actuators[name] if robot in self.robots else None


@dataclass(kw_only=True, frozen=True)
class _Assembly:
    """Compiled physics model of a scenario, and the objects that were built with it."""

    model: Model
    terrain: Terrain | None
    actuators: dict[str, dict[str, Actuator]]  # by robot and name
    rope_system: RopeSystem | None


class _CoreBuilder:
    """Builds the core of a world, in small steps.

    New parts are bound to the core at once. The kept parts must work in the former core until the new one is complete:
    the functions that bind them are collected in `_bindings`.
    """

    def __init__(
        self, loaded: LoadedScenario, assembly: _Assembly, python_forces: Mapping[str, PythonForce], kept: _Kept
    ) -> None:
        self._loaded = loaded
        self._scenario = loaded.scenario
        self._model = assembly.model
        self._terrain = assembly.terrain
        self._actuators = assembly.actuators
        self._rope_system = assembly.rope_system
        self._python_forces = python_forces
        self._kept = kept
        self._bindings: list[Callable[[], None]] = []
        self._engine = Engine([assembly.model])
        self._clock = Clock(self._scenario.step)
        self._robots: dict[str, Robot] = {}
        self._trees: dict[str, BodyTree] = {}
        self._ropes: dict[str, Rope] = {}
        self._controllers: list[MountedController] = []
        self._noises: dict[str, Noise] = {}
        for owner in self._model.laws:
            self._bind(owner, partial(_bind_laws, self._model, self._userdata, owner))
        ray_scene = self._ray_scene = self._build_ray_scene()
        water = self._model.water
        self._live = LiveState(self._engine, self._clock, water, self._ray_scene)
        self._buffer = SampleBuffer(self._engine, self._clock, water, self._ray_scene)
        self._channel = AcousticChannel(water, self._clock, lambda: ray_scene.scene)

    def _bind(self, tree: str, bind: Callable[[], None]) -> None:
        """Bind parts of a robot or object to this core: now if they are new, or later if they are kept."""
        if tree in self._kept.trees:
            self._bindings.append(bind)
        else:
            bind()

    def build(self, rebuild: Callable[[Mapping[str, Any], WorldCore], WorldCore]) -> WorldCore:
        """Return the core; `rebuild` builds a core of changed settings."""
        for number, name in enumerate(self._scenario.robots):
            self._robots[name] = self._build_robot(number, name)
        objects = {name: self._build_object(name) for name in self._scenario.objects}
        self._trees.update(self._robots)
        self._trees.update(objects)
        self._add_ropes()
        self._bindings.append(self._channel.bind_parts)
        return WorldCore(
            scenario=self._scenario,
            engine=self._engine,
            clock=self._clock,
            water=self._model.water,
            terrain=self._terrain,
            robots=self._robots,
            objects=objects,
            ropes=self._ropes,
            rope_system=self._rope_system,
            controllers=self._controllers,
            python_forces=list(self._python_forces.values()),
            particles=self._build_particles(),
            noises=self._noises,
            ray_scene=self._ray_scene,
            live=self._live,
            buffer=self._buffer,
            acoustics=self._channel,
            kept=self._kept.trees,
            bindings=self._bindings,
            kept_states=self._kept.states,
            rebuild=rebuild,
        )

    @property
    def _userdata(self) -> NDArray[np.float64]:
        return self._engine.part("userdata")[0]

    @cached_property
    def _projection(self) -> Projection | None:
        return None if self._scenario.reference is None else Projection(self._scenario.reference)

    @cached_property
    def _daylight(self) -> Daylight:
        return self._scenario.sky.build()

    def _noise(self, name: str) -> Noise:
        known = self._noises.get(name) or self._kept.noises.get(name)
        self._noises[name] = known or Noise(self._scenario.seed, name)
        return self._noises[name]

    def _build_ray_scene(self) -> RaySceneBuilder:
        start, size = self._model.law_slots.get((WORLD_OWNER, ROPES), (0, 0))
        return RaySceneBuilder(
            bodies=partial(bodies_for_rays, self._loaded, self._model, self._terrain),
            motions=self._engine.motions(0)[0],
            ropes=partial(ropes_for_rays, self._loaded, self._rope_system),
            userdata=self._userdata,
            state_of_ropes=slice(start, start + size),
        )

    def _tree_binding(self, name: str) -> TreeBinding:
        model = self._model
        links, joints = Parts("link", model.links[name]), Parts("joint", model.joints[name])
        return TreeBinding(engine=self._engine, world=0, root=model.roots[name], links=links, joints=joints)

    def _build_robot(self, number: int, name: str) -> Robot:
        binding = self._tree_binding(name)
        robot = self._kept.robots.get(name) or self._new_robot(name, binding)
        self._bind(name, partial(robot.bind, binding))
        view = RobotSampleView(
            robot=robot,
            sample=self._live,
            step=float(self._scenario.step),
            gravity=self._scenario.gravity,
            water=self._model.water,
            daylight=self._daylight,
            terrain=self._terrain,
            projection=self._projection,
            trees=self._trees,
            ropes=self._ropes,
            ray_bit=robot_bit(number),
        )
        self._add_sensors(robot, view)
        self._add_controllers(robot, view)
        self._add_acoustics(robot)
        self._bind(name, partial(self._bind_actuators, robot))
        self._bind(name, partial(robot.keyboard.bind, self._clock))
        return robot

    def _new_robot(self, name: str, binding: TreeBinding) -> Robot:
        vehicle, laws = self._loaded.vehicles[name], self._model.laws[name]
        return Robot(
            name=name,
            binding=binding,
            forces=Parts("force", {part: laws[part] for part in vehicle.config.forces}),
            actuators=Parts("actuator", self._actuators[name]),
            sensors=Parts("sensor", {}),
            controllers=Parts("controller", {}),
            ropes=Parts("rope", {}),
            acoustics=Parts("acoustic part", {}),
            keyboard=Keyboard(Parts("key", vehicle.config.keys), self._actuators[name], self._clock),
            vehicle=vehicle,
        )

    def _add_sensors(self, robot: Robot, view: RobotSampleView) -> None:
        for part, settings in robot.vehicle.config.sensors.items():
            where = f"{robot.name}.sensors.{part}"
            _check_bodies(where, settings.needs_bodies, self._loaded)
            _check_joints(where, settings, self._model.joints[robot.name])
            noise = self._noise(f"{robot.name}/{part}")
            if part in robot.sensors:
                self._bindings.append(partial(robot.sensors[part].bind, view, self._buffer))
                continue
            sensor = settings.build()
            _check_sensor(where, settings, sensor)
            robot.sensors[part] = MountedSensor(
                name=f"{robot.name}/{part}",
                sensor=sensor,
                rate=Rate.of(settings.frequency, self._scenario.step),
                noise=noise,
                view=view,
                mount=settings,
                buffer=self._buffer,
            )

    def _add_controllers(self, robot: Robot, view: RobotSampleView) -> None:
        for part, settings in robot.vehicle.config.controllers.items():
            _check_bodies(f"{robot.name}.controllers.{part}", settings.needs_bodies, self._loaded)
            noise = self._noise(f"{robot.name}/{part}")
            if part not in robot.controllers:
                controller = robot.controllers[part] = settings.build()
                controller.noise = noise
                driven = [robot.actuators[actuator] for actuator in settings.needs_actuators]
                robot.keyboard.connect(part, controller.manual_setpoints(), driven)
            rate = Rate.of(settings.frequency, self._scenario.step)
            self._controllers.append(
                MountedController(name=part, controller=robot.controllers[part], rate=rate, view=view, robot=robot)
            )

    def _add_acoustics(self, robot: Robot) -> None:
        for part, settings in robot.vehicle.config.acoustics.items():
            name = f"{robot.name}/{part}"
            noise = self._noise(name)
            if part not in robot.acoustics:
                robot.acoustics[part] = settings.build(BuildContext(name=name, noise=noise, clock=self._clock))
            handle = self._model.links[robot.name][settings.link]
            self._channel.join(robot.acoustics[part], robot.name, handle.body, handle.offset @ settings.offset())

    def _bind_actuators(self, robot: Robot) -> None:
        """Give actuators their names and the clock, and joint drives a view of their joint positions."""
        joints = self._model.joints[robot.name]
        logged_refusals: set[tuple[str, str]] = set()
        for part, actuator in robot.actuators.items():
            actuator.bind(f"{robot.name}/{part}", logged_refusals, self._clock)
            for _, law in actuator.laws:
                if isinstance(law, JointDrive):
                    law.position = self._engine.joint_view(0, joints[law.joint or ""])
                    if law.second_joint is not None:
                        law.second_position = self._engine.joint_view(0, joints[law.second_joint[0]])

    def _build_object(self, name: str) -> Object:
        binding = self._tree_binding(name)
        kept = self._kept.objects.get(name)
        built = kept or Object(name=name, binding=binding, forces=Parts("force", self._model.laws[name]))
        self._bind(name, partial(built.bind, binding))
        return built

    def _add_ropes(self) -> None:
        if self._rope_system is not None:
            bindings = bind_ropes(self._rope_system, self._model, self._engine, self._actuators)
            for name, binding in bindings.items():
                rope = self._ropes[name] = self._kept.ropes.get(name) or Rope(name, binding)
                self._bindings.append(partial(rope.bind, binding))
                owner, _, part = name.partition("/")
                if part:
                    self._robots[owner].ropes[part] = rope

    def _build_particles(self) -> FieldParticles | None:
        scenario, model = self._scenario, self._model
        if scenario.visualizer is None:
            return None
        washes = [None] * (len(model.field_rows) - len(scenario.fields))
        return FieldParticles(
            config=scenario.visualizer,
            table=model.field_memory,
            rows=model.field_rows,
            fields=[*scenario.fields.values(), *washes],
            water=model.water,
            noise=self._noise("field particles"),
        )


def _check_bodies(where: str, needed: Collection[str], loaded: LoadedScenario) -> None:
    """Raise an error if the scenario lacks a robot, object or link that a part needs."""
    scenario = loaded.scenario
    links = [f"{robot}/{link}" for robot, vehicle in loaded.vehicles.items() for link in vehicle.robot.links]
    known = [*scenario.robots, *scenario.objects, *links]
    for name in needed:
        if name not in known:
            raise SkerryError(f"{where}: there is no robot, object or link {name!r}; {did_you_mean(name, known)}")


def _check_sensor(where: str, settings: SensorConfig, sensor: Sensor[Any]) -> None:
    """Raise an error if the readings of a sensor, or their display, are declared wrongly."""
    try:
        reading = sensor.reading_type()
        check_reading(reading)
        check_display(reading, settings.display, sensor)
    except SkerryError as error:
        raise SkerryError(f"{where}: {error}") from None


def _check_joints(where: str, settings: SensorConfig, joints: Collection[str]) -> None:
    """Raise an error if a sensor needs a joint that is rigid in the physics."""
    for joint in settings.needs_joints:
        if joint not in joints:
            raise SkerryError(
                f"{where}: joint {joint!r} turns only in the picture, as propeller joints do, and cannot be measured; "
                f"{did_you_mean('', joints)}"
            )


def build_batch(
    source: Source,
    seeds: Sequence[int],
    overrides: Sequence[Mapping[str, Any] | None] | None = None,
    threads: int = 0,
) -> Batch:
    """Load a scenario once per seed and build worlds that are stepped together.

    Args:
        source: Name of a shipped scenario, path of a file, mapping, or `Scenario`.
        seeds: One seed per world.
        overrides: One mapping of replaced values, or None, per world.
        threads: Number of native threads; 0 for one per core.

    Raises:
        SkerryError: The scenario has events or a grid that refuses positions outside, or the structures differ.
    """
    if len(seeds) == 0:
        raise SkerryError("a batch needs at least one seed; got none")
    layers = [None] * len(seeds) if overrides is None else list(overrides)
    if len(layers) != len(seeds):
        raise SkerryError(f"a batch of {len(seeds)} seeds needs {len(seeds)} overrides, not {len(layers)}")
    models: dict[str, tuple[Model, dict[str, dict[str, Actuator]]]] = {}
    chosen: list[tuple[Model, dict[str, dict[str, Actuator]]]] = []
    scenarios: list[Scenario] = []
    known: dict[tuple[int, int], tuple[LoadedScenario, str]] = {}
    for seed, layer in zip(seeds, layers, strict=True):
        if (seed, id(layer)) not in known:
            loaded = load_scenario(source, layer, seed)
            if loaded.scenario.events:
                raise SkerryError("a batch cannot run `events`, because it steps its worlds without stops; remove them")
            known[seed, id(layer)] = loaded, loaded.scenario.with_seeds().model_dump_json(exclude={"seed"})
        loaded, key = known[seed, id(layer)]
        scenarios.append(loaded.scenario)
        if key not in models:
            assembly = _assemble(loaded, {}, _Kept())
            model = assembly.model
            if model.water.raises_outside:
                raise SkerryError(
                    "a batch cannot check whether robots leave the grid of a current or wind; give the currents and "
                    "winds `outside: clamp` or `zero`"
                )
            models[key] = (model, assembly.actuators)
        chosen.append(models[key])
    engine = Engine([model for model, _ in chosen], threads)
    userdata = engine.part("userdata")
    for row, scenario, (model, actuators) in zip(userdata, scenarios, chosen, strict=True):
        _bind_all_laws(model, row)
        set_initial_commands(scenario, actuators)
    _bind_all_laws(engine.model, userdata)
    return Batch(scenarios, engine, Clock(scenarios[0].step))


def rebuild(batch: Batch, world: int, source: Source, seed: int, overrides: Mapping[str, Any] | None = None) -> None:
    """Restart one world of a batch with other values of its scenario.

    Args:
        batch: The batch.
        world: Index of the world.
        source: Scenario of the same structure.
        seed: Seed of the world.
        overrides: Replaced values of the scenario.
    """
    loaded = load_scenario(source, overrides, seed)
    assembly = _assemble(loaded, {}, _Kept())
    batch.replace(world, loaded.scenario, assembly.model)
    _bind_all_laws(assembly.model, batch.engine.part("userdata")[world])
    set_initial_commands(loaded.scenario, assembly.actuators)
    batch.save_start(world)


def depends_on_seed(scenario: Scenario) -> bool:
    """Return whether waves, currents or terrain depend on the seed, and not only the noise."""
    first, second = (
        scenario.model_copy(update={"seed": seed}).with_seeds().model_dump_json(exclude={"seed"}) for seed in (0, 1)
    )
    return first != second


def _bind_laws(model: Model, userdata: NDArray[np.float64], owner: str) -> None:
    """Set the memory of an owner's laws to their slots in the userdata of one world, (n,), or of many, (worlds, n)."""
    for name, law in model.laws[owner].items():
        start, count = model.law_slots[owner, name]
        law.memory = userdata[..., start : start + count]


def _bind_all_laws(model: Model, userdata: NDArray[np.float64]) -> None:
    for owner in model.laws:
        _bind_laws(model, userdata, owner)


def _python_forces(loaded: LoadedScenario, forces: Mapping[str, ForceFunction]) -> dict[str, PythonForce]:
    known = [f"{robot}/{link}" for robot, vehicle in loaded.vehicles.items() for link in vehicle.robot.links]
    for name in forces:
        if name not in known:
            raise SkerryError(f"forces: there is no link {name!r}; {did_you_mean(name, known)}")
    return {name: PythonForce(name, function) for name, function in forces.items()}


def _assemble(loaded: LoadedScenario, python_forces: Mapping[str, PythonForce], kept: _Kept) -> _Assembly:
    """Build bodies, laws and actuators of a scenario without those that are kept, and compile the physics model."""
    scenario = loaded.scenario.with_seeds()
    water = scenario.water.build(scenario.gravity)
    projection = None if scenario.reference is None else Projection(scenario.reference)
    terrain: Terrain | None = None if scenario.terrain is None else scenario.terrain.build(projection)
    actuators: dict[str, dict[str, Actuator]] = {}
    bodies = []
    for name in scenario.robots:
        actuators[name] = {}
        bodies.append(_robot_body(loaded, scenario, name, water.density, actuators[name], python_forces, kept))
    bodies += [_object_body(scenario, name, terrain, kept) for name in scenario.objects]
    options = Options(scenario.step, scenario.integrator, scenario.gravity)
    plans = rope_plans(loaded)
    rope_system = RopeSystem(plans, terrain, bool(scenario.water.winds)) if plans else None
    systems = {} if rope_system is None else {ROPES: rope_system}
    model = assemble(bodies, water, terrain, options, scenario.fields, systems)
    return _Assembly(model=model, terrain=terrain, actuators=actuators, rope_system=rope_system)


def _robot_body(
    loaded: LoadedScenario,
    scenario: Scenario,
    name: str,
    water_density: float,
    actuators: dict[str, Actuator],
    python_forces: Mapping[str, PythonForce],
    kept: _Kept,
) -> Body:
    """Return the body of a robot; its actuators are added to `actuators` when the laws are built."""
    robot, vehicle = scenario.robots[name], loaded.vehicles[name]
    density = vehicle.config.trim_density or water_density
    laws: dict[str, LawBuilder] = {
        part: partial(_build_force, config, kept.law(name, part)) for part, config in vehicle.config.forces.items()
    }
    for part, config in vehicle.config.actuators.items():
        laws[f"actuators.{part}"] = partial(_build_actuator, config, kept.actuator(name, part), part, actuators)
    for link in vehicle.robot.links:
        if force := python_forces.get(f"{name}/{link}"):
            laws[f"python.{link}"] = partial(_build_python_force, force, link)
    return Body(
        name,
        vehicle.robot,
        robot.pose.build(),
        laws,
        frozen=_visual_joints(vehicle),
        trim_ballast=sum(config.trim_ballast(density) for _, _, config in vehicle.config.parts()),
        trim_density=vehicle.config.trim_density,
        motion="static" if robot.anchored else "dynamic",
        self_collision=vehicle.config.self_collision,
        friction=vehicle.config.friction,
        tyres=frozenset(vehicle.config.tyres),
    )


def _object_body(scenario: Scenario, name: str, terrain: Terrain | None, kept: _Kept) -> Body:
    config = scenario.objects[name]
    try:
        forces = config.forces(_ground_below(config.pose.build(), terrain))
    except SkerryError as error:
        raise SkerryError(f"objects.{name}: {error}") from None
    laws: dict[str, LawBuilder] = {
        part: partial(_build_force, force, kept.law(name, part)) for part, force in forces.items()
    }
    return Body(name, config.robot(name), config.pose.build(), laws, motion=config.motion, friction=config.friction)


def _ground_below(pose: Pose, terrain: Terrain | None) -> float | None:
    """Return the height of the ground below a pose, m; None where there is no ground."""
    height = np.nan if terrain is None else float(terrain.height(pose.position[:2]))
    return height if np.isfinite(height) else None


def _visual_joints(vehicle: Vehicle) -> frozenset[str]:
    """Return the joints that turn only in the picture: propeller joints that no other actuator drives."""
    actuators = vehicle.config.actuators.values()
    visual = {config.link for config in actuators if config.joint_is_visual}
    driven = {config.link for config in actuators if not config.joint_is_visual}
    return frozenset(
        joint.name
        for joint in vehicle.robot.joints.values()
        if joint.kind == "continuous" and joint.child in visual - driven
    )


def _build_force(config: LawConfig, kept: Law | None, attach: Attach) -> list[tuple[str, Law]]:
    return [(config.link, kept or config.build(attach(config.link)))]


def _build_actuator(
    config: ActuatorConfig, kept: Actuator | None, name: str, actuators: dict[str, Actuator], attach: Attach
) -> list[tuple[str, Law]]:
    actuators[name] = kept or config.build(attach)
    return actuators[name].laws


def _build_python_force(force: PythonForce, link: str, attach: Attach) -> list[tuple[str, Law]]:
    return [(link, force.law(attach(link)))]
