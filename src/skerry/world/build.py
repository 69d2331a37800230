"""Builders: from a scenario to a world, or to a batch of worlds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel.channel import AcousticChannel
from skerry.control.geometric_tracking import GeometricTracking
from skerry.control.manual.keyboard import Keyboard
from skerry.core.clock import Clock, Rate
from skerry.core.errors import FileError, SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.core.geo import Projection
from skerry.core.noise import Noise
from skerry.parts.acoustics import BuildContext
from skerry.parts.actuator import Actuator, ActuatorConfig
from skerry.parts.display import check_display
from skerry.parts.law import Attach, Law, LawConfig
from skerry.parts.readings import check_reading
from skerry.parts.sensor import Sensor, SensorConfig
from skerry.physics.buried import depths_in_ground
from skerry.physics.engine import Engine
from skerry.physics.joint_drive import JointDrive
from skerry.physics.law_binding import WORLD_OWNER
from skerry.physics.model import Model, Options, assemble, solid_boxes
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
from skerry.world.ropes import ROPES, bind_ropes, hanging_mass, rope_plans, ropes_for_rays
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.sample import LiveState
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.sampling.sample_view import RobotSampleView
from skerry.world.start import set_initial_commands
from skerry.world.world import World

logger = logging.getLogger("skerry")

ALLOWED_DEPTH = 0.05
"""Depth of a body in the ground at the start up to which contacts push it out gently, m."""

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
    with _located(loaded):
        return _CoreBuilder(loaded, _assemble(loaded, python_forces, kept), python_forces, kept).build(
            lambda settings, former: _build_core(load_scenario(settings), forces, former)
        )


@contextmanager
def _located(loaded: LoadedScenario) -> Iterator[None]:
    """Add the file and line of the part to error messages of the build."""
    try:
        yield
    except SkerryError as error:
        if len(error.args) == 1 and not isinstance(error, FileError):
            error.args = (loaded.locate(str(error)),)
        raise


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
            for name in (robot.name, f"{robot.name}/{settings.link}"):
                if name in settings.needs_bodies:
                    raise SkerryError(
                        f"{where}: {name!r} is the sensor's own {'link' if '/' in name else 'robot'}; "
                        "name another robot, object or link"
                    )
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
        for choice in robot.vehicle.config.alternatives.values():
            group = [robot.sensors[part] for part in choice.sensors]
            if not any(sensor.alternatives for sensor in group):
                for part, sensor in zip(choice.sensors, group, strict=True):
                    sensor.alternatives = tuple(other for other in group if other is not sensor)
                    sensor.on = part == choice.active

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
        if "previous" in sensor.needs and sensor.execution == "thread":
            raise SkerryError(f'`{type(sensor).__name__}` needs "previous"; its `execution` must be "batch" or "now"')
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
            with _located(loaded):
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
    with _located(loaded):
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

    def compile_model() -> tuple[Model, RopeSystem | None]:
        plans = rope_plans(loaded)
        ropes = RopeSystem(plans, terrain, bool(scenario.water.winds)) if plans else None
        systems = {} if ropes is None else {ROPES: ropes}
        return assemble(bodies, water, terrain, options, scenario.fields, systems), ropes

    model, rope_system = compile_model()
    if lifts := _lifts_out_of_ground(model, terrain, bodies, kept):
        bodies = [replace(body, pose=_raised(body.pose, lifts.get(body.name, 0.0))) for body in bodies]
        model, rope_system = compile_model()
    _report_unfelt_fields(model, scenario, kept)
    for name, thing in scenario.objects.items():
        if name not in kept.trees and thing.has_no_water_forces:
            logger.warning(
                "objects.%s: has neither drag nor added mass, so that water does not slow it down; set "
                "`quadratic_damping: shape` and `added_mass: shape` to estimate both, or give numbers (0 for none)",
                name,
            )
    _report_solid_targets(model, loaded, kept)
    return _Assembly(model=model, terrain=terrain, actuators=actuators, rope_system=rope_system)


def _raised(pose: Pose, height: float) -> Pose:
    x, y, z = pose.position
    return Pose((x, y, z + height), pose.orientation)


def _lifts_out_of_ground(
    model: Model, terrain: Terrain | None, bodies: Sequence[Body], kept: _Kept
) -> dict[str, float]:
    """Return how far each new movable robot or object that starts inside the ground must be lifted, m, by name."""
    if terrain is None:
        return {}
    movable = {body.name for body in bodies if body.motion == "dynamic"} - kept.trees
    depths = depths_in_ground(model, terrain)
    lifts = {name: depth for name, depth in depths.items() if name in movable and depth > ALLOWED_DEPTH}
    for name, lift in lifts.items():
        logger.warning(
            "%s starts %.2f m inside the ground and is lifted by this distance; raise the z of its `pose`", name, lift
        )
    return lifts


def _report_unfelt_fields(model: Model, scenario: Scenario, kept: _Kept) -> None:
    """Log a warning for each movable robot or object that starts in a force field but has no force points."""
    anchored = {name for name, robot in scenario.robots.items() if robot.anchored}
    fixed = {name for name, thing in scenario.objects.items() if thing.motion != "dynamic"}
    for owner in (owner for owner in model.links if owner not in anchored | fixed | kept.trees):
        if any(law.point_set is not None for law in model.laws[owner].values()):
            continue
        places = [model.start_pose(body).position for body in {link.body for link in model.links[owner].values()}]
        for name, config in scenario.fields.items():
            if any(config.volume.contains(place) for place in places):
                logger.warning(
                    "%s starts in the force field %r, which has no effect on it: fields act on force points, and it "
                    "has none; give it a `force_points` law",
                    *(owner, name),
                )


def _report_solid_targets(model: Model, loaded: LoadedScenario, kept: _Kept) -> None:
    """Log a warning for each robot that shall follow a solid target into its shape."""
    for name in (name for name in loaded.scenario.robots if name not in kept.trees):
        for part, config in loaded.vehicles[name].config.controllers.items():
            target = getattr(config, "target", None)
            owner, _, link = (target or "").partition("/")
            if not isinstance(config, GeometricTracking) or owner not in model.links or owner == name:
                continue
            body = model.links[owner][link].body if link in model.links[owner] else model.roots[owner]
            frame = model.links[name][config.link]
            place = (model.start_pose(frame.body) @ frame.offset).position
            shift = model.start_pose(body).position + np.array(config.offset) - place
            solid = solid_boxes(model, owner)
            if any((np.abs(a - b - shift) < c + d).all() for a, c in solid for b, d in solid_boxes(model, name)):
                logger.warning(
                    "%s.controllers.%s follows %r, which is solid, with an `offset` of %s m: both overlap there and "
                    "collide; give an `offset`, or set `collides: false` for the shapes of the target",
                    *(name, part, target, list(config.offset)),
                )


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
        hanging_mass=hanging_mass(loaded, name),
        motion="static" if robot.anchored else "dynamic",
        self_collision=vehicle.config.self_collision,
        friction=vehicle.config.friction,
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
