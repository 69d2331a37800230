"""Contract of each family of components, checked for every kind, also for kinds of other packages."""

import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.config import Family
from skerry.core.errors import SkerryError
from skerry.core.geo import GeoReference, Projection
from skerry.core.meshes import box
from skerry.formats.mesh_files import write_stl
from skerry.parts.acoustics import ACOUSTICS
from skerry.parts.actuator import ACTUATORS
from skerry.parts.controller import CONTROLLERS
from skerry.parts.display import check_display
from skerry.parts.law import LAWS
from skerry.parts.readings import check_reading
from skerry.parts.sensor import SENSORS
from skerry.sensors.raycast.ray_sensor import RaySensor
from skerry.terrain import TERRAINS
from skerry.terrain.function import FUNCTIONS
from skerry.terrain.terrain import ContactHeightfield
from skerry.water.flow import CURRENTS, SURFACES
from skerry.world import World

# Setting of each kind that reads a file, and the file, which the fixture `folder` writes.
FILES = {"grid": ("file", "currents.npz"), "georeferenced": ("file", "depths.npz"), "mesh": ("mesh", "ground.stl")}

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}

RIG = """
<robot name="rig">
  <link name="base_link">
    <inertial><mass value="20"/><inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.8 0.3 0.3"/></geometry></collision>
  </link>
  <link name="fin">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="fin_hinge" type="revolute">
    <origin xyz="-0.5 0 0"/><parent link="base_link"/><child link="fin"/><axis xyz="0 1 0"/>
    <limit lower="-0.5" upper="0.5" effort="20" velocity="2"/>
  </joint>
  <link name="piston">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="piston_slide" type="prismatic">
    <origin xyz="0.2 0 0"/><parent link="base_link"/><child link="piston"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.05" effort="100" velocity="0.05"/>
  </joint>
  <link name="wheel">
    <inertial><mass value="0.01"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="axle" type="continuous">
    <origin xyz="0 0.2 0"/><parent link="base_link"/><child link="wheel"/><axis xyz="0 1 0"/>
  </joint>
  <link name="wrist">
    <inertial><mass value="0.01"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="wrist_pitch" type="continuous">
    <origin xyz="0.5 0 0"/><parent link="base_link"/><child link="wrist"/><axis xyz="0 1 0"/>
  </joint>
  <link name="hand">
    <inertial><mass value="0.01"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="wrist_roll" type="continuous"><parent link="wrist"/><child link="hand"/><axis xyz="1 0 0"/></joint>
</robot>
"""
PARTS = """
forces:
  buoyancy:
    kind: force_points
    link: base_link
    volume: 0.0205
    points: [[0.3, 0, 0.02], [-0.3, 0, 0.02], [0, 0.1, 0.02], [0, -0.1, 0.02]]
  drag: {kind: damping, link: base_link, linear: [5, 20, 20, 1, 5, 5], quadratic: [10, 50, 50, 1, 10, 10]}
"""

DEPTHS = (-2.0, 0.0, 0.05, 5.0, 6000.0)


def kinds(*families: Family) -> list[Any]:
    return [pytest.param(f, kind, id=f"{f.name}-{kind}") for f in families for kind in f.kinds()]


def settings_of(family: Family, kind: str, folder: Path, **shared: Any) -> dict[str, Any]:
    if kind in FILES:
        setting, file = FILES[kind]
        shared[setting] = str(folder / file)
    example = family.find(kind).example(**shared)
    return {"kind": kind, **example.model_dump(mode="json", exclude_unset=True)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a vehicle and the files that kinds read; no test changes them."""
    folder = tmp_path_factory.mktemp("rig")
    (folder / "robot.urdf").write_text(RIG)
    (folder / "vehicle.yaml").write_text(PARTS)
    write_stl(folder / "ground.stl", box((20, 20, 2)))
    np.savez(folder / "currents.npz", x=[-9, 9], y=[-9, 9], u=[[0.1, 0.2], [0.3, 0.4]], v=[[0, 0], [0, 0]])
    projection = Projection(GeoReference(**REFERENCE))
    x, y = (projection.origin[k] + np.linspace(-15, 15, 31) for k in (0, 1))
    depths = -9 + 0.1 * np.add.outer(np.sin(y), np.cos(x))
    np.savez(folder / "depths.npz", heights=depths, x=x, y=y, crs=f"EPSG:{projection.epsg}")
    return folder


# ------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("family", "kind"), kinds(LAWS, ACTUATORS, SENSORS, CONTROLLERS, ACOUSTICS, SURFACES, CURRENTS, TERRAINS, FUNCTIONS)
)
def test_its_settings_dump_and_load_back_equal(family: Family, kind: str, folder: Path) -> None:
    shared = {"frequency": "100/3"} if family in (SENSORS, CONTROLLERS) else {}
    config = family.find(kind)
    settings = config.model_validate(settings_of(family, kind, folder, **shared))
    assert config.model_validate(settings.model_dump(mode="json")) == settings
    assert settings.kind == kind
    assert config.__doc__


# ------------------------------------------------------------------------------------------------ parts of a robot


def scenario(family: Family, kind: str, folder: Path, depth: float = 5.0) -> dict[str, Any]:
    """Return a scenario with a robot in a current that carries one part of this kind."""
    vehicle = getattr(family.find(kind), "example_vehicle", None) or str(folder)
    return {
        "seed": 11,
        "reference": REFERENCE,
        "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.2, 0.1, 0]}}},
        "terrain": {"kind": "flat", "depth": 6010},
        "robots": {
            "rig": {
                "vehicle": vehicle,
                "pose": {"position": [1, 2, -depth], "roll_deg": 5, "pitch_deg": -3, "yaw_deg": 40},
                "overrides": {family.name: {"part": settings_of(family, kind, folder)}},
            }
        },
    }


def part_of(world: World, family: Family) -> Any:
    return getattr(world.robots["rig"], family.name)["part"]


def stir(world: World, family: Family) -> None:
    """Set the world in motion, and use the part."""
    world._engine.part("qvel")[0, :] = np.linspace(-0.5, 0.7, world._engine.part("qvel").shape[1])
    if family is ACTUATORS:
        actuator = part_of(world, family)
        actuator.command(**{actuator.keyword: 0.7 * min(actuator.limits[1], 100.0)})


def run(world: World, family: Family, seconds: float = 0.5) -> bytes:
    """Run, and return everything that is visible of the world as bytes."""
    seen = []
    for _ in range(10):
        world.advance(seconds / 10)
        if family is SENSORS:
            seen.append(pickle.dumps(part_of(world, family).reading))
    return b"".join([*seen, bytes(world.snapshot())])


def numbers_in(value: object) -> Iterator[float]:
    """Yield all numbers of a reading; images and scans may be infinite where nothing was hit."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from numbers_in(getattr(value, field.name))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        yield from value[~np.isposinf(value)].astype(float).tolist()
    elif isinstance(value, int | float | np.number):
        yield float(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item)


of_a_robot = pytest.mark.parametrize(("family", "kind"), kinds(LAWS, ACTUATORS, SENSORS, CONTROLLERS, ACOUSTICS))


@of_a_robot
def test_it_builds_from_its_smallest_settings(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world:
        assert part_of(world, family) is not None


@of_a_robot
def test_the_same_seed_gives_the_same_result(family: Family, kind: str, folder: Path) -> None:
    answers = []
    for _ in range(2):
        with skerry.load(scenario(family, kind, folder)) as world:
            stir(world, family)
            answers.append(run(world, family))
    assert answers[0] == answers[1]


@of_a_robot
@pytest.mark.parametrize("depth", DEPTHS)
def test_its_numbers_are_finite_at_every_depth(family: Family, kind: str, folder: Path, depth: float) -> None:
    with skerry.load(scenario(family, kind, folder, depth)) as world:
        stir(world, family)
        run(world, family)
        assert np.isfinite(world._engine.states).all()
        if family is SENSORS:
            reading = part_of(world, family).reading
            numbers = [] if reading is None else list(numbers_in(reading))
            if isinstance(part_of(world, family).sensor, RaySensor):  # a miss is NaN, or infinitely far
                numbers = [number for number in numbers if not (np.isnan(number) or number == np.inf)]
            assert np.isfinite(numbers).all(), reading
        if family is ACTUATORS:
            assert np.isfinite([part_of(world, family).setpoint, part_of(world, family).feedback]).all()


@of_a_robot
def test_it_survives_snapshot_and_restore(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world, skerry.load(scenario(family, kind, folder)) as other:
        stir(world, family)
        run(world, family)
        middle = world.snapshot()
        after = run(world, family)
        world.restore(middle)
        assert run(world, family) == after
        other.restore(bytes(middle))
        assert run(other, family) == after


@of_a_robot
def test_it_closes_twice(family: Family, kind: str, folder: Path) -> None:
    world = skerry.load(scenario(family, kind, folder))
    stir(world, family)
    run(world, family)
    world.close()
    world.close()


@of_a_robot
def test_the_error_for_a_misspelt_setting_suggests_the_right_one(family: Family, kind: str, folder: Path) -> None:
    source = scenario(family, kind, folder)
    fields = sorted(family.find(kind).model_fields.keys() - {"kind"})
    source["robots"]["rig"]["overrides"][family.name]["part"][f"{fields[0]}_"] = 1
    with pytest.raises(SkerryError, match=f"did you mean '{fields[0]}'"):
        skerry.load(source)


ERROR_WORDS = ("noise", "bias", "walk", "dropout", "speckle", "sigma", "drift", "clock_offset")


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS, ACOUSTICS))
def test_noise_none_turns_off_all_settings_of_errors(family: Family, kind: str, folder: Path) -> None:
    config = family.find(kind)
    errors = {name for name in config.model_fields if any(word in name for word in ERROR_WORDS)}
    assert set(config.perfect) == errors
    given = settings_of(family, kind, folder) | {"noise": "none"}
    exact = config.model_validate(given)
    assert all(getattr(exact, name) == value for name, value in config.perfect.items())
    assert not any(config.perfect.values())


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS))
def test_without_noise_readings_do_not_depend_on_the_seed(family: Family, kind: str, folder: Path) -> None:
    found = []
    for seed in (1, 2):
        with skerry.load(scenario(family, kind, folder) | {"noise": "none"}, seed=seed) as world:
            stir(world, family)
            world.advance(0.2)
            found.append(pickle.dumps(part_of(world, family).reading))
    assert found[0] == found[1]


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS))
def test_reading_a_sensor_changes_nothing_but_itself(family: Family, kind: str, folder: Path) -> None:
    states = []
    for reads in (False, True):
        with skerry.load(scenario(family, kind, folder)) as world:
            stir(world, family)
            for _ in range(7):
                world.advance(0.033)
                if reads:
                    _ = part_of(world, family).reading
            states.append(world._engine.states[0].tobytes())
    assert states[0] == states[1]


def same(one: Any, other: Any) -> bool:
    """Return whether two values of a reading are equal; NaN equals NaN."""
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray | np.generic | float):
        return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))
    return bool(one == other)


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS))
def test_each_column_has_the_values_of_the_field_in_each_reading(family: Family, kind: str, folder: Path) -> None:
    for depth in (5.0, -2.0):  # under water and in air
        with skerry.load(scenario(family, kind, folder, depth)) as world:
            stir(world, family)
            single, times = [], []
            for _ in range(8):
                world.advance(0.02)
                single.append(part_of(world, family).reading)
                times.append(world.time)
            world.reset()
            stir(world, family)
            batch = world.advance(0.16, record=["rig/part"])["rig/part"]
            assert batch.kind is part_of(world, family).sensor.reading_type()
            assert len(batch) == len(single)
            assert all(same(one, other) for one, other in zip(single, batch, strict=True))
            for row, reading in enumerate(batch):
                if reading is not None:
                    assert reading.time == times[row]
                    for field in dataclasses.fields(reading):
                        value, column = getattr(reading, field.name), getattr(batch, field.name)
                        found = tuple(column[row]) if isinstance(value, tuple) else column[row]
                        assert same(value, found), field.name
            for some in (batch.take([5, 2]), type(batch).concat([batch[:2], batch[2:3]])):
                rows = [5, 2] if len(some) == 2 else [0, 1, 2]
                assert all(same(batch[row], some[k]) for k, row in enumerate(rows))


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS))
def test_each_field_of_a_reading_has_a_unit_and_its_display_exists(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world:
        sensor = part_of(world, family).sensor
        check_reading(sensor.reading_type())
        check_display(sensor.reading_type(), part_of(world, family).mount.display, sensor)


@pytest.mark.parametrize(("family", "kind"), kinds(SENSORS))
def test_a_reading_does_not_change_after_it_was_given(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world:
        stir(world, family)
        reading = part_of(world, family).reading
        before = pickle.dumps(reading)
        world.advance(0.5)
        assert pickle.dumps(reading) == before


@pytest.mark.parametrize(("family", "kind"), kinds(ACTUATORS))
def test_an_actuator_holds_its_command_within_its_limits_and_resets(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world:
        actuator = part_of(world, family)
        low, high = actuator.limits
        assert low < high
        assert actuator.setpoint == pytest.approx(actuator.reset_value)
        for value, wanted in ((1e9, high), (-1e9, low), (0.5 * (low + high), 0.5 * (low + high))):
            actuator.command(**{actuator.keyword: value})
            world.advance(0.1)
            assert actuator.setpoint == pytest.approx(wanted)
        actuator.command(**{actuator.keyword: high})
        world.advance(20.0)
        assert actuator.feedback == pytest.approx(high, abs=0.05 * (high - low))  # a servo may sag a little
        actuator.reset()
        assert actuator.setpoint == pytest.approx(actuator.reset_value)


@pytest.mark.parametrize(("family", "kind"), kinds(ACTUATORS))
def test_an_actuator_refuses_an_invalid_command(family: Family, kind: str, folder: Path) -> None:
    with skerry.load(scenario(family, kind, folder)) as world:
        actuator = part_of(world, family)
        before = bytes(world.snapshot())
        for value in ({}, {"speed_of_light": 1.0}, {actuator.keyword: float("nan")}, {actuator.keyword: float("inf")}):
            with pytest.raises(SkerryError, match=actuator.keyword):
                actuator.command(**value)
        with pytest.raises(SkerryError, match=actuator.keyword):
            actuator.command(**{actuator.keyword: 1.0, "and": 2.0})
        assert bytes(world.snapshot()) == before


# ------------------------------------------------------------------------------------------------ the sea


def sea(family: Family, kind: str, folder: Path) -> dict[str, Any]:
    part = settings_of(family, kind, folder)
    return {"surface": part} if family is SURFACES else {"currents": {"part": part}}


@pytest.mark.parametrize(("family", "kind"), kinds(SURFACES, CURRENTS))
def test_the_sea_is_finite_everywhere_and_the_same_for_the_same_seed(family: Family, kind: str, folder: Path) -> None:
    points = [[x, y, -depth] for x in (0.0, 1e4) for y in (0.0, -3e3) for depth in (-10.0, 0.0, 1e-9, 5.0, 6000.0)]
    answers = []
    for _ in range(2):
        with skerry.load({"seed": 4, "water": sea(family, kind, folder)}) as world:
            found = []
            for seconds in (0.0, 1.0, 100.0):
                world.advance(seconds)
                sample = world.sample_water(points)
                found += [getattr(sample, field.name) for field in dataclasses.fields(sample)]
            answers.append(np.concatenate([array.ravel() for array in found]))
    assert np.isfinite(answers[0]).all()
    assert answers[0].tobytes() == answers[1].tobytes()


@pytest.mark.parametrize(("family", "kind"), kinds(SURFACES, CURRENTS))
def test_the_sea_answers_one_point_as_it_answers_many(family: Family, kind: str, folder: Path) -> None:
    points = np.random.default_rng(1).uniform(-50, 5, (130, 3))
    with skerry.load({"seed": 4, "water": sea(family, kind, folder)}) as world:
        world.advance(3.0)
        many = world.sample_water(points)
        for i in (0, 1, 64, 129):
            one = world.sample_water(points[i])
            np.testing.assert_allclose(one.velocity, many.velocity[i], rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(one.height, many.height[i], rtol=1e-12, atol=1e-15)
        assert world.sample_water(np.zeros((2, 3, 3))).velocity.shape == (2, 3, 3)
        assert world.sample_water(np.zeros((0, 3))).height.shape == (0,)
        with pytest.raises(SkerryError, match="3 coordinates"):
            world.sample_water([1.0, 2.0])


@pytest.mark.parametrize(("family", "kind"), kinds(SURFACES, CURRENTS))
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_robot_in_the_sea_stays_finite_and_continues_after_a_restore(
    family: Family, kind: str, folder: Path, depth: float
) -> None:
    robot = {"vehicle": str(folder), "pose": {"position": [0, 0, -depth]}}
    with skerry.load({"seed": 4, "water": sea(family, kind, folder), "robots": {"rig": robot}}) as world:
        world.advance(0.5)
        middle = world.snapshot()
        world.advance(0.5)
        after = bytes(world.snapshot())
        assert np.isfinite(world._engine.states).all()
        world.restore(middle)
        world.advance(0.5)
        assert bytes(world.snapshot()) == after
        world.close()
        world.close()


# ------------------------------------------------------------------------------------------------ the ground


@pytest.mark.parametrize(("family", "kind"), kinds(TERRAINS))
def test_the_ground_is_one_surface_for_all_callers(family: Family, kind: str, folder: Path) -> None:
    settings = family.find(kind).model_validate(settings_of(family, kind, folder))
    projection = Projection(GeoReference(**REFERENCE))
    ground, again = (settings.with_seed(1).build(projection) for _ in range(2))  # type: ignore[attr-defined]
    points = np.random.default_rng(2).uniform(-9.9, 9.9, (500, 2))
    sample = ground.sample(points)
    assert np.isfinite(sample.height).all()
    assert sample.height.tobytes() == again.sample(points).height.tobytes()
    np.testing.assert_allclose(np.linalg.norm(sample.normal, axis=-1), 1)
    assert (sample.normal[:, 2] > 0).all()
    assert {ground.materials[place] for place in sample.material} <= set(ground.materials)
    triangles = ground.triangles()
    assert np.isfinite(triangles.vertices).all()
    assert len(triangles.faces)
    assert ground.friction >= 0
    if isinstance(ground.contact, ContactHeightfield):
        assert np.isfinite(ground.contact.heights).all()
        assert ground.contact.heights.min() >= 0
    far = ground.sample(np.array([[1e9, 0], [np.nan, 0], [-np.inf, 3]]))
    assert (np.isfinite(far.height) == (far.material >= 0)).all()


@pytest.mark.parametrize(("family", "kind"), kinds(TERRAINS))
def test_things_come_to_rest_on_the_ground(family: Family, kind: str, folder: Path) -> None:
    crate = {"geometry": {"kind": "box", "size": [1, 1, 0.5]}, "motion": "dynamic", "mass": 800}
    crate |= {"quadratic_damping": "shape", "added_mass": "shape"}  # the water slows it down
    ground = settings_of(family, kind, folder)
    source = {"seed": 1, "reference": REFERENCE, "terrain": ground, "objects": {"crate": crate}}
    with skerry.load(source) as world:
        assert world.terrain is not None
        start = float(world.terrain.height([3.0, 3.0])) + 1.0
    crate["pose"] = {"position": [3, 3, start]}
    answers = []
    for _ in range(2):
        with skerry.load(source) as world:
            world.advance(4.0)
            assert np.isfinite(world._engine.states).all()
            place = world.objects["crate"].pose.position
            assert world.terrain is not None
            assert place[2] - float(world.terrain.height(place[:2])) == pytest.approx(0.25, abs=0.3)
            answers.append(bytes(world.snapshot()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("family", "kind"), kinds(FUNCTIONS))
def test_a_function_gives_finite_heights_that_its_seed_decides(family: Family, kind: str, folder: Path) -> None:
    settings = family.find(kind).model_validate(settings_of(family, kind, folder))
    x, y = np.linspace(-60, 60, 41), np.linspace(-30, 30, 23)
    heights = [settings.with_seed(seed).heights(x, y) for seed in (1, 1, 2)]  # type: ignore[attr-defined]
    assert heights[0].shape == (23, 41)
    assert np.isfinite(heights[0]).all()
    assert heights[0].tobytes() == heights[1].tobytes()
    seeded = "seed" in type(settings).model_fields or kind == "sum"
    assert (heights[0].tobytes() != heights[2].tobytes()) == seeded
