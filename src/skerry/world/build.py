"""From a scenario to a world, or to a batch of worlds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
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
from skerry.parts.law import Attach, Law, LawConfig
from skerry.parts.sensor import SensorConfig
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
from skerry.world.batch import Batch
from skerry.world.mounted_controller import MountedController
from skerry.world.particles import FieldParticles
from skerry.world.python_forces import ForceFunction, PythonForce
from skerry.world.ray_scene import RaySceneBuilder, bodies_for_rays
from skerry.world.robot import BodyTree, Object, Parts, Robot
from skerry.world.ropes import ROPES, build_ropes, rope_plans, ropes_for_rays
from skerry.world.sampling.mounted_sensor import MountedSensor
from skerry.world.sampling.sample import LiveState
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.sampling.sensor_view import RobotSampleView
from skerry.world.start import give_first_commands
from skerry.world.world import World

Source = str | Path | Scenario | Mapping[str, Any]


def build_world(
    source: Source,
    seed: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    forces: Mapping[str, ForceFunction] | None = None,
) -> World:
    """Load a scenario and build its world.

    `source` is a shipped scenario's name, a path, a mapping or a `Scenario`; `overrides` is laid over it. `forces` maps
    "robot/link" to a Python function that is called as a force on that link.
    """
    loaded = load_scenario(source, overrides, seed)
    hooks = _hooks(loaded, forces or {})
    model, terrain, actuators, net = _assemble(loaded, hooks)
    scenario = loaded.scenario
    engine = Engine([model])
    clock = Clock(scenario.step)
    projection = None if scenario.reference is None else Projection(scenario.reference)
    daylight = scenario.sky.build()
    robots: dict[str, Robot] = {}
    trees: dict[str, BodyTree] = {}
    ropes: dict[str, Rope] = {}
    controllers: list[MountedController] = []
    noises: list[Noise] = []

    def noise_of(name: str) -> Noise:
        noises.append(Noise(scenario.seed, name))
        return noises[-1]

    _bind(model, engine.part("userdata")[0])
    state_of_ropes, size = model.law_slots.get((WORLD_OWNER, ROPES), (0, 0))
    surroundings = RaySceneBuilder(
        partial(bodies_for_rays, loaded, model, terrain),
        engine.motions(0)[0],
        partial(ropes_for_rays, loaded, net),
        engine.part("userdata")[0],
        slice(state_of_ropes, state_of_ropes + size),
    )
    present = LiveState(engine, clock, model.water, surroundings)
    history = SampleBuffer(engine, clock, model.water, surroundings)
    channel = AcousticChannel(model.water, clock, lambda: surroundings.scene)
    for number, name in enumerate(scenario.robots):
        config = loaded.vehicles[name].config
        robot = Robot(
            name,
            engine,
            0,
            model.roots[name],
            Parts("link", model.links[name]),
            Parts("joint", model.joints[name]),
            Parts("force", {part: law for part, law in model.laws[name].items() if part in config.forces}),
            Parts("actuator", actuators[name]),
            Parts("sensor", {}),
            Parts("controller", {}),
            Parts("rope", {}),
            Parts("acoustic part", {}),
            Keyboard(Parts("key", config.keys), actuators[name], clock),
            loaded.vehicles[name],
        )
        sample = RobotSampleView(
            robot,
            present,
            float(scenario.step),
            scenario.gravity,
            model.water,
            daylight,
            terrain,
            projection,
            trees,
            ropes,
            robot_bit(number),
        )
        for part, settings in config.sensors.items():
            _check_places(f"{name}.sensors.{part}", settings.needs_bodies, loaded)
            _check_joints(f"{name}.sensors.{part}", settings, model.joints[name])
            rate = Rate.of(settings.frequency, scenario.step)
            noise = noise_of(f"{name}/{part}")
            robot.sensors[part] = MountedSensor(settings.build(), rate, noise, sample, settings, history)
        for part, settings in config.controllers.items():
            _check_places(f"{name}.controllers.{part}", settings.needs_bodies, loaded)
            robot.controllers[part] = settings.build()
            robot.controllers[part].noise = noise_of(f"{name}/{part}")
            rate = Rate.of(settings.frequency, scenario.step)
            controllers.append(MountedController(part, robot.controllers[part], rate, sample, robot))
            driven = [actuators[name][driven] for driven in settings.needs_actuators]
            robot.keyboard.connect(part, robot.controllers[part].manual_setpoints(), driven)
        for part, settings in config.acoustics.items():
            context = BuildContext(f"{name}/{part}", noise_of(f"{name}/{part}"), clock)
            robot.acoustics[part] = settings.build(context)
            handle = model.links[name][settings.link]
            channel.join(robot.acoustics[part], name, handle.body, handle.offset @ settings.offset())
        told: set[tuple[str, str]] = set()
        for part, actuator in actuators[name].items():
            actuator.bind(f"{name}/{part}", told, clock)
            for _, law in actuator.laws:
                if isinstance(law, JointDrive):
                    law.position = engine.joint_view(0, model.joints[name][law.joint or ""])
                    if law.second_joint is not None:
                        law.second_position = engine.joint_view(0, model.joints[name][law.second_joint[0]])
        robots[name] = robot
    objects = {
        name: Object(
            name,
            engine,
            0,
            model.roots[name],
            Parts("link", model.links[name]),
            Parts("force", model.laws[name]),
        )
        for name in scenario.objects
    }
    trees.update(robots)
    trees.update(objects)
    if net is not None:
        ropes.update(build_ropes(net, model, engine, actuators))
    for name, rope in ropes.items():
        owner, _, part = name.partition("/")
        if part:
            robots[owner].ropes[part] = rope
    return World(
        scenario,
        engine,
        clock,
        model.water,
        terrain,
        robots,
        objects,
        ropes,
        controllers,
        list(hooks.values()),
        noises,
        _particles(scenario, model, noise_of),
        surroundings,
        present,
        history,
        channel,
        net,
        partial(build_world, forces=forces),
    )


def _check_places(name: str, needed: Collection[str], loaded: LoadedScenario) -> None:
    """Raise an error that guesses the right word if a part needs a place that is not there."""
    scenario = loaded.scenario
    links = [f"{robot}/{link}" for robot, vehicle in loaded.vehicles.items() for link in vehicle.robot.links]
    places = [*scenario.robots, *scenario.objects, *links]
    for place in needed:
        if place not in places:
            raise SkerryError(f"{name}: there is no robot, object or link {place!r}; {did_you_mean(place, places)}")


def _check_joints(name: str, settings: SensorConfig, joints: Collection[str]) -> None:
    """Raise an error if a sensor needs a joint that does not move."""
    for joint in settings.needs_joints:
        if joint not in joints:
            raise SkerryError(
                f"{name}: joint {joint!r} turns for the eye only, as those of propellers do; {did_you_mean('', joints)}"
            )


def _particles(scenario: Scenario, model: Model, noise_of: Callable[[str], Noise]) -> FieldParticles | None:
    if scenario.visualizer is None:
        return None
    washes = [None] * (len(model.field_rows) - len(scenario.fields))
    fields = [*scenario.fields.values(), *washes]
    noise = noise_of("field particles")
    return FieldParticles(scenario.visualizer, model.field_memory, model.field_rows, fields, model.water, noise)


def build_batch(
    source: Source,
    seeds: Sequence[int],
    overrides: Sequence[Mapping[str, Any] | None] | None = None,
    threads: int = 0,
) -> Batch:
    """Load a scenario once per seed, each with its own overrides, and build the worlds to be stepped together."""
    if len(seeds) == 0:
        raise SkerryError("a batch needs at least one seed")
    layers = [None] * len(seeds) if overrides is None else list(overrides)
    if len(layers) != len(seeds):
        raise SkerryError(f"a batch of {len(seeds)} seeds needs as many overrides, not {len(layers)}")
    models: dict[str, tuple[Model, dict[str, dict[str, Actuator]]]] = {}
    chosen: list[tuple[Model, dict[str, dict[str, Actuator]]]] = []
    scenarios: list[Scenario] = []
    known: dict[tuple[int, int], tuple[LoadedScenario, str]] = {}  # reading a scenario takes longer than comparing it
    for seed, layer in zip(seeds, layers, strict=True):
        if (seed, id(layer)) not in known:
            loaded = load_scenario(source, layer, seed)
            if loaded.scenario.events:
                raise SkerryError("a batch steps all its worlds without a stop, and has no `events`; remove them")
            known[seed, id(layer)] = loaded, loaded.scenario.with_seeds().model_dump_json(exclude={"seed"})
        loaded, key = known[seed, id(layer)]
        scenarios.append(loaded.scenario)
        if key not in models:
            model, _, actuators, _ = _assemble(loaded, {})
            if model.water.raises_outside:
                raise SkerryError(
                    "a batch steps too many worlds at once to watch a grid that refuses what is outside; give the "
                    "currents and winds `outside: clamp` or `zero`"
                )
            models[key] = (model, actuators)
        chosen.append(models[key])
    engine = Engine([model for model, _ in chosen], threads)
    userdata = engine.part("userdata")
    for row, scenario, (model, actuators) in zip(userdata, scenarios, chosen, strict=True):
        _bind(model, row)
        give_first_commands(scenario, actuators)
    _bind(engine.model, userdata)
    return Batch(scenarios, engine, Clock(scenarios[0].step))


def rebuild(batch: Batch, world: int, source: Source, seed: int, overrides: Mapping[str, Any] | None = None) -> None:
    """Let one world of a batch begin anew with other values of its scenario, of the same structure."""
    loaded = load_scenario(source, overrides, seed)
    model, _, actuators, _ = _assemble(loaded, {})
    batch.replace(world, loaded.scenario, model)
    _bind(model, batch.engine.part("userdata")[world])
    give_first_commands(loaded.scenario, actuators)
    batch.keep_start(world)


def depends_on_seed(scenario: Scenario) -> bool:
    """Whether the sea or the ground, and not only noise, is another one with another seed."""
    first, second = (
        scenario.model_copy(update={"seed": seed}).with_seeds().model_dump_json(exclude={"seed"}) for seed in (0, 1)
    )
    return first != second


def _bind(model: Model, userdata: NDArray[np.float64]) -> None:
    """Let the laws of a model see their states in one world's userdata, (n,), or in that of many, (worlds, n)."""
    for (owner, name), (start, count) in model.law_slots.items():
        model.laws[owner][name].memory = userdata[..., start : start + count]


def _hooks(loaded: LoadedScenario, forces: Mapping[str, ForceFunction]) -> dict[str, PythonForce]:
    known = [f"{robot}/{link}" for robot, vehicle in loaded.vehicles.items() for link in vehicle.robot.links]
    for name in forces:
        if name not in known:
            raise SkerryError(f"forces: there is no link {name!r}; {did_you_mean(name, known)}")
    return {name: PythonForce(name, function) for name, function in forces.items()}


def _assemble(
    loaded: LoadedScenario, hooks: Mapping[str, PythonForce]
) -> tuple[Model, Terrain | None, dict[str, dict[str, Actuator]], RopeSystem | None]:
    """Compile the model of a scenario."""
    scenario = loaded.scenario.with_seeds()
    water = scenario.water.build(scenario.gravity)
    projection = None if scenario.reference is None else Projection(scenario.reference)
    terrain: Terrain | None = None if scenario.terrain is None else scenario.terrain.build(projection)
    bodies = []
    actuators: dict[str, dict[str, Actuator]] = {}
    for name, robot in scenario.robots.items():
        vehicle = loaded.vehicles[name]
        owned = actuators[name] = {}
        density = vehicle.config.trim_density or water.density
        laws: dict[str, LawBuilder] = {
            part: partial(_build_force, config) for part, config in vehicle.config.forces.items()
        }
        for part, config in vehicle.config.actuators.items():
            laws[f"actuators.{part}"] = partial(_build_actuator, config, part, owned)
        for link in vehicle.robot.links:
            if hook := hooks.get(f"{name}/{link}"):
                laws[f"python.{link}"] = partial(_build_hook, hook, link)
        bodies.append(
            Body(
                name,
                vehicle.robot,
                robot.pose.build(),
                laws,
                frozen=_frozen(vehicle),
                trim_ballast=sum(config.trim_ballast(density) for _, _, config in vehicle.config.parts()),
                trim_density=vehicle.config.trim_density,
                motion="static" if robot.anchored else "dynamic",
                self_collision=vehicle.config.self_collision,
                friction=vehicle.config.friction,
                tyres=frozenset(vehicle.config.tyres),
            )
        )
    for name, thing in scenario.objects.items():
        try:
            forces = thing.forces(_ground_below(thing.pose.build(), terrain))
        except SkerryError as error:
            raise SkerryError(f"objects.{name}: {error}") from None
        laws = {part: partial(_build_force, config) for part, config in forces.items()}
        bodies.append(
            Body(name, thing.robot(name), thing.pose.build(), laws, motion=thing.motion, friction=thing.friction)
        )
    options = Options(scenario.step, scenario.integrator, scenario.gravity)
    plans = rope_plans(loaded)
    net = RopeSystem(plans, terrain, bool(scenario.water.winds)) if plans else None
    systems = {} if net is None else {ROPES: net}
    return assemble(bodies, water, terrain, options, scenario.fields, systems), terrain, actuators, net


def _ground_below(pose: Pose, terrain: Terrain | None) -> float | None:
    """The height of the ground below a place, where there is ground."""
    height = np.nan if terrain is None else float(terrain.height(pose.position[:2]))
    return height if np.isfinite(height) else None


def _frozen(vehicle: Vehicle) -> frozenset[str]:
    """The joints that turn for the eye only: those of propellers, unless something else drives them."""
    actuators = vehicle.config.actuators.values()
    seen = {config.link for config in actuators if config.joint_is_visual}
    driven = {config.link for config in actuators if not config.joint_is_visual}
    return frozenset(
        joint.name
        for joint in vehicle.robot.joints.values()
        if joint.kind == "continuous" and joint.child in seen - driven
    )


def _build_force(config: LawConfig, attach: Attach) -> list[tuple[str, Law]]:
    return [(config.link, config.build(attach(config.link)))]


def _build_actuator(
    config: ActuatorConfig, name: str, owned: dict[str, Actuator], attach: Attach
) -> list[tuple[str, Law]]:
    owned[name] = config.build(attach)
    return owned[name].laws


def _build_hook(hook: PythonForce, link: str, attach: Attach) -> list[tuple[str, Law]]:
    return [(link, hook.law(attach(link)))]
