"""The world: its time, its robots and objects, its sensors and controllers, its state, and batches of worlds."""

import gc
import json
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, Literal

import numpy as np
import pytest

import skerry
from skerry.core.config import _find_kind
from skerry.core.errors import EngineError, PhysicsDiverged, SkerryError, UnknownName
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.units import unit
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.sensor import SensorConfig, SimpleSensor
from skerry.world import World

BALL = {"kind": "sphere", "radius": 0.2}
CRATE = {"kind": "box", "size": [0.4, 0.4, 0.4]}


def torpedo(**settings: Any) -> dict[str, Any]:
    return {"vehicle": "torpedo", "pose": {"position": [0, 0, -5]}, **settings}


def scenario(**settings: Any) -> dict[str, Any]:
    return {"seed": 3, "robots": {"a": torpedo()}, **settings}


def with_sensor(**settings: Any) -> dict[str, Any]:
    return {"seed": 3, "robots": {"a": torpedo(overrides={"sensors": {"odometry": settings}})}}


@pytest.fixture
def world() -> Iterator[World]:
    with skerry.load(scenario()) as built:
        yield built


def physics(world: World) -> bytes:
    return world._engine.states[0].tobytes()


# ------------------------------------------------------------------------------------------------ time


def test_time_starts_at_zero_and_advances_in_steps(world: World) -> None:
    assert (world.time, world.tick) == (0.0, 0)
    world.advance(1.0)
    assert (world.time, world.tick) == (1.0, 200)
    world.advance_steps(3)
    assert (world.time, world.tick) == (1.015, 203)


def test_remainders_of_a_step_are_carried_over(world: World) -> None:
    for _ in range(1000):
        world.advance(0.0033)
    assert world.tick == 660
    world.advance(0.001)
    world.advance(0.001)
    assert world.tick == 660
    world.advance(0.001)
    assert world.tick == 661


def test_an_odd_step_does_not_drift() -> None:
    with skerry.load(scenario(step="7/1000")) as world:
        for _ in range(70):
            world.advance(0.1)
        assert world.tick == 1000
        assert world.time == 7.0


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), -1e-9])
def test_an_invalid_duration_is_refused_and_nothing_moves(world: World, seconds: float) -> None:
    before = bytes(world.snapshot())
    with pytest.raises(SkerryError, match="cannot advance by"):
        world.advance(seconds)
    assert bytes(world.snapshot()) == before


def test_no_time_changes_nothing(world: World) -> None:
    world.advance(0.5)
    before = bytes(world.snapshot())
    world.advance(0.0)
    world.advance_steps(0)
    assert bytes(world.snapshot()) == before


# ------------------------------------------------------------------------------------------------ robots


def test_a_robot_starts_where_the_scenario_puts_it() -> None:
    pose = {"position": [1, 2, -3], "roll_deg": 10, "pitch_deg": 20, "heading_deg": 60}
    with skerry.load({"robots": {"a": torpedo(pose=pose)}}) as world:
        found = world.robots["a"].pose
        np.testing.assert_allclose(found.position, [1, 2, -3])
        np.testing.assert_allclose(found.orientation, rpy_to_quaternion(np.radians([10, 20, 30])))
        assert not world.robots["a"].twist.linear.any()


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (lambda world: world.robots["b"], "there is no robot 'b'; known: a"),
        (lambda world: world.objects["ball"], "there is no object 'ball'; none are defined"),
        (
            lambda world: world.robots["a"].sensors["odometri"],
            "there is no sensor 'odometri'; did you mean 'odometry'?",
        ),
        (lambda world: world.robots["a"].forces["balast"], "there is no force 'balast'; did you mean 'ballast'?"),
        (lambda world: world.robots["a"].links["nose"], "there is no link 'nose'; did you mean 'nose_link'?"),
        (lambda world: world.robots["a"].actuators["x"], "there is no actuator 'x'; none are defined"),
        (
            lambda world: world.robots["a"].link_pose("bse_link"),
            "there is no link 'bse_link'; did you mean 'base_link'?",
        ),
        (lambda world: world.robots["a"].joint_position("yaw_hing"), "there is no joint 'yaw_hing'; did you mean"),
        (lambda world: world.teleport("b", Pose.identity()), "there is no robot or object 'b'; known: a"),
    ],
)
def test_an_unknown_name_is_guessed(world: World, look: Any, words: str) -> None:
    with pytest.raises(UnknownName) as caught:
        look(world)
    assert str(caught.value).startswith(words)


def test_a_teleported_robot_is_at_rest_where_it_was_put(world: World) -> None:
    robot = world.robots["a"]
    world.advance(0.2)
    world._engine.part("qvel")[0, :] = 0.3
    world.advance(0.2)
    assert np.abs(robot.twist.linear).max() > 0.05
    bent = robot.joint_position("battery_hinge")
    assert bent != 0
    pose = Pose(np.array([10.0, -4.0, -20.0]), rpy_to_quaternion([0.1, 0.2, 0.3]))
    world.teleport("a", pose)
    np.testing.assert_allclose(robot.pose.position, pose.position)
    np.testing.assert_allclose(robot.pose.orientation, pose.orientation)
    assert not robot.twist.linear.any()
    assert not robot.twist.angular.any()
    assert robot.joint_velocity("battery_hinge") == 0
    assert robot.joint_position("battery_hinge") == bent
    world.advance_steps(1)
    np.testing.assert_allclose(robot.pose.position, pose.position, atol=1e-3)


def test_teleporting_one_robot_leaves_the_others_alone() -> None:
    robots = {"a": torpedo(), "b": torpedo(pose={"position": [5, 5, -5]})}
    with skerry.load({"robots": robots}) as world:
        world._engine.part("qvel")[0, :] = 0.2
        world.advance(0.1)
        before = world.robots["b"].pose.position.copy(), world.robots["b"].twist.linear.copy()
        world.teleport("a", Pose(np.array([50.0, 0.0, -5.0]), np.array([0.0, 0.0, 0.0, 1.0])))
        np.testing.assert_array_equal(world.robots["b"].pose.position, before[0])
        np.testing.assert_allclose(world.robots["b"].twist.linear, before[1])


@pytest.mark.parametrize("position", [[np.nan, 0, 0], [0, np.inf, 0]])
def test_nothing_is_teleported_to_nowhere(world: World, position: list[float]) -> None:
    before = physics(world)
    with pytest.raises(SkerryError, match="not finite"):
        world.teleport("a", Pose(np.array(position), np.array([0.0, 0.0, 0.0, 1.0])))
    assert physics(world) == before


@pytest.mark.parametrize(
    ("position", "velocity"), [([0, 6.5e6, 0], (0, 0, 0)), ([6.5e5, 0, 0], (0, 0, 0)), ([0, 0, -5], (0, 0, 2000))]
)
def test_nothing_is_teleported_beyond_the_bounds_of_the_physics(
    world: World, position: list[float], velocity: tuple[float, float, float]
) -> None:
    before = physics(world)
    with pytest.raises(SkerryError, match="within 500 km of the world's origin"):
        world.teleport("a", Pose(position, [0, 0, 0, 1]), velocity)
    assert physics(world) == before


def test_a_robot_at_the_largest_distance_still_moves(world: World) -> None:
    world.teleport("a", Pose([-5e5, 5e5, -5], [0, 0, 0, 1]), (1, 0, 0))
    world.advance(1.0)
    np.testing.assert_allclose(world.robots["a"].pose.position, [-5e5, 5e5, -5], atol=1.5)


def test_an_anchored_robot_stays_and_cannot_be_moved() -> None:
    with skerry.load({"robots": {"a": torpedo(anchored=True)}}) as world:
        world.advance(2.0)
        np.testing.assert_array_equal(world.robots["a"].pose.position, [0, 0, -5])
        with pytest.raises(SkerryError, match="'a/base_link' is fixed to the world and cannot be moved"):
            world.teleport("a", Pose.identity())


def test_a_world_without_robots_advances() -> None:
    with skerry.load({}) as world:
        world.advance(1.0)
        assert world.time == 1.0


# ------------------------------------------------------------------------------------------------ objects


def test_a_kinematic_object_goes_where_it_is_moved_and_stays_there() -> None:
    thing = {"geometry": CRATE, "motion": "kinematic", "pose": {"position": [0, 0, 3]}}
    with skerry.load({"objects": {"crate": thing}}) as world:
        world.advance(1.0)
        np.testing.assert_array_equal(world.objects["crate"].pose.position, [0, 0, 3])
        pose = Pose(np.array([4.0, 5.0, 6.0]), rpy_to_quaternion([0, 0, 1.0]))
        world.objects["crate"].move(pose)
        np.testing.assert_allclose(world.objects["crate"].pose.position, [4, 5, 6])
        world.advance(1.0)
        np.testing.assert_allclose(world.objects["crate"].pose.position, [4, 5, 6])
        np.testing.assert_allclose(world.objects["crate"].pose.orientation, pose.orientation)
        world.teleport("crate", Pose.identity())
        np.testing.assert_allclose(world.objects["crate"].pose.position, 0)


def test_a_moved_kinematic_object_pushes_others_aside() -> None:
    objects = {
        "wall": {
            "geometry": {"kind": "box", "size": [1, 4, 4]},
            "motion": "kinematic",
            "pose": {"position": [9, 0, 0]},
        },
        "ball": {"geometry": BALL, "motion": "dynamic", "mass": 1, "volume": 0, "pose": {"position": [0, 0, 0]}},
    }
    with skerry.load({"objects": objects, "gravity": 0}) as world:
        world.objects["wall"].move(Pose(np.array([0.65, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])))
        world.advance(0.5)
        assert world.objects["ball"].pose.position[0] < -0.03


def test_a_static_object_refuses_to_move() -> None:
    with skerry.load({"objects": {"quay": {"geometry": CRATE}}}) as world:
        with pytest.raises(SkerryError, match="fixed to the world and cannot be moved"):
            world.objects["quay"].move(Pose.identity())
        with pytest.raises(SkerryError, match="fixed to the world and cannot be moved"):
            world.teleport("quay", Pose.identity())


def test_an_object_is_not_moved_to_nowhere() -> None:
    nowhere = Pose(np.array([np.nan, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    thing = {"geometry": CRATE, "motion": "kinematic"}
    with skerry.load({"objects": {"crate": thing}}) as world, pytest.raises(SkerryError, match="not finite"):
        world.objects["crate"].move(nowhere)


def test_friction_decides_whether_an_object_slides() -> None:
    slope = {"kind": "heightfield", "size": [40, 40], "shape": [41, 41], "function": {"kind": "slope", "slope_deg": 15}}
    slope["level"], slope["friction"] = 10, 0.0
    away = []
    for friction in (0.05, 1.0):
        crate = {"geometry": CRATE, "motion": "dynamic", "mass": 30, "friction": friction}
        crate["pose"] = {"position": [0, 0, 10.25], "roll_deg": 15}
        with skerry.load({"objects": {"crate": crate}, "terrain": slope}) as world:
            world.advance(2.0)
            away.append(float(np.hypot(*world.objects["crate"].pose.position[:2])))
    assert away[0] > 2.0
    assert away[1] < 0.2


def test_dynamic_objects_float_or_sink_by_their_mass_and_volume() -> None:
    volume = 4 / 3 * np.pi * 0.2**3
    objects = {
        name: {"geometry": BALL, "motion": "dynamic", "mass": mass, "linear_damping": [30, 30, 30, 1, 1, 1], **extra}
        for name, mass, extra in (
            ("light", 0.3 * 1025 * volume, {"pose": {"position": [0, 0, -2]}}),
            ("heavy", 2.0 * 1025 * volume, {"pose": {"position": [5, 0, -2]}}),
            ("swollen", 2.0 * 1025 * volume, {"pose": {"position": [9, 0, -2]}, "volume": 3 * volume}),
        )
    }
    with skerry.load({"objects": objects, "terrain": {"kind": "flat", "depth": 8}}) as world:
        world.advance(20.0)
        heights = {name: thing.pose.position[2] for name, thing in world.objects.items()}
    assert abs(heights["light"]) < 0.2
    assert heights["heavy"] == pytest.approx(-7.8, abs=0.02)
    assert abs(heights["swollen"]) < 0.25


# ------------------------------------------------------------------------------------------------ sensors


def test_a_sensor_is_read_at_its_due_ticks() -> None:
    with skerry.load(with_sensor(frequency=10)) as world:
        sensor = world.robots["a"].sensors["odometry"]
        assert sensor.reading.time == 0.0
        times = []
        for _ in range(100):
            world.advance_steps(7)
            times.append(sensor.reading.time)
        assert all(time == pytest.approx(round(10 * time) / 10) for time in times)
        assert times == sorted(times)
        assert all(0 <= 0.035 * (i + 1) - time < 0.1 + 1e-9 for i, time in enumerate(times))


def test_a_sensor_of_an_odd_rate_does_not_drift() -> None:
    with skerry.load(with_sensor(frequency="100/3")) as world:
        sensor = world.robots["a"].sensors["odometry"]
        assert sensor.reading.time == 0.0
        seen = set()
        for _ in range(600):
            world.advance_steps(1)
            seen.add(sensor.reading.time)
        assert len(seen) == 101  # the one at the start, and 100 in 3 s
        assert max(seen) == 3.0


def test_a_sensor_without_subscribers_is_not_measured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sensor = world.robots["a"].sensors["odometry"]
    calls = []
    measure = sensor.sensor.measure
    monkeypatch.setattr(sensor.sensor, "measure", lambda view, noise: calls.extend(view.times) or measure(view, noise))
    world.advance(1.0)
    assert calls == []
    assert sensor.reading.time == 1.0
    assert sensor.reading.time == 1.0
    assert calls == [1.0]
    world.advance(0.5)
    assert calls == [1.0]
    assert sensor.reading.time == 1.5
    assert calls == [1.0, 1.5]


def test_a_reading_has_the_kinematics_of_its_tick(world: World) -> None:
    world._engine.part("qvel")[0, 0] = 1.0
    world.advance(1.0)
    robot = world.robots["a"]
    reading = robot.sensors["odometry"].reading
    np.testing.assert_array_equal(reading.pose.position, robot.pose.position)
    np.testing.assert_allclose(reading.twist.linear, robot.twist.linear, atol=1e-15)
    kept = reading.pose.position.copy()
    world.advance(0.05)
    np.testing.assert_array_equal(reading.pose.position, kept)
    np.testing.assert_array_equal(robot.sensors["odometry"].reading.pose.position, kept)
    world.advance(0.05)
    assert robot.sensors["odometry"].reading.pose.position[0] > kept[0]


# ------------------------------------------------------------------------------------------------ kinds of a test


class Log(Controller):
    """Controller that records its ticks and readings; its state is the number of calls."""

    def __init__(self) -> None:
        self.count = 0
        self.acts: list[tuple[int, float]] = []

    def act(self, truth: Any, sensors: Any, actuators: Any) -> None:
        self.count += 1
        self.acts.append((truth.tick, sensors["odometry"].reading.time))

    def state(self) -> bytes:
        return json.dumps(self.count).encode()

    def set_state(self, state: bytes) -> None:
        self.count = json.loads(state)


class LogConfig(ControllerConfig):
    kind: Literal["log_of_a_test"] = "log_of_a_test"

    def build(self) -> Log:
        return Log()


@dataclass(frozen=True)
class Throw:
    """Throw of a dice."""

    time: float = unit("s")
    value: float = unit("")


class Dice(SimpleSensor[Throw]):
    """Sensor of pure noise; every third reading is None."""

    def measure_one(self, sample: Any, noise: Any) -> Throw | None:
        return None if sample.tick % 3 == 2 else Throw(sample.time, float(noise.normal(sample.tick)))


class DiceConfig(SensorConfig):
    kind: Literal["dice_of_a_test"] = "dice_of_a_test"

    def build(self) -> Dice:
        return Dice()


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register two kinds as if each were a file of its package."""
    for package, kind, config in (("control", "log_of_a_test", LogConfig), ("sensors", "dice_of_a_test", DiceConfig)):
        module = ModuleType(f"skerry.{package}.{kind}")
        module.Config = config  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    _find_kind.cache_clear()
    yield
    _find_kind.cache_clear()


def with_log(frequency: object) -> dict[str, Any]:
    overrides = {"controllers": {"log": {"kind": "log_of_a_test", "frequency": frequency}}}
    return {"robots": {"a": torpedo(overrides=overrides)}}


@pytest.mark.usefixtures("kinds")
def test_a_controller_acts_at_its_rate_in_any_division_of_time() -> None:
    pieces = ([1.0], [0.05] * 20, [0.033] * 30 + [0.01], [0.004, 0.1, 0.396, 0.5])
    for piece in pieces:
        with skerry.load(with_log(40)) as world:
            for seconds in piece:
                world.advance(seconds)
            log = world.robots["a"].controllers["log"]
            assert [tick for tick, _ in log.acts] == list(range(0, 200, 5))


@pytest.mark.usefixtures("kinds")
def test_a_controller_sees_the_readings_of_its_tick() -> None:
    with skerry.load(with_log(20)) as world:
        world.advance(1.0)
        acts = world.robots["a"].controllers["log"].acts
    assert [time for _, time in acts] == pytest.approx([tick // 20 / 10 for tick, _ in acts])


@pytest.mark.usefixtures("kinds")
def test_a_controllers_state_is_part_of_a_snapshot() -> None:
    with skerry.load(with_log(10)) as world:
        world.advance(1.0)
        before = world.snapshot()
        world.advance(1.0)
        log = world.robots["a"].controllers["log"]
        assert log.count == 20
        world.restore(before)
        assert log.count == 10


@pytest.mark.usefixtures("kinds")
def test_a_controller_faster_than_the_step_is_refused_with_its_path() -> None:
    with pytest.raises(
        SkerryError, match=r"robots\.a\.overrides\.controllers\.log\.frequency: is faster than the step"
    ):
        skerry.load(with_log(201))


def with_dice(**names: Any) -> dict[str, Any]:
    sensors = {name: {"kind": "dice_of_a_test", "link": "base_link", "frequency": 200} for name in names}
    return {"seed": 5, "robots": {"a": torpedo(overrides={"sensors": sensors})}}


@pytest.mark.usefixtures("kinds")
def test_noise_depends_on_seed_and_name_and_not_on_others() -> None:
    def throws(source: dict[str, Any], name: str, seed: int = 5, others: tuple[str, ...] = ()) -> list[Any]:
        with skerry.load(source, seed=seed) as world:
            found = []
            for _ in range(30):
                for other in others:
                    _ = world.robots["a"].sensors[other].reading
                found.append(world.robots["a"].sensors[name].reading)
                world.advance_steps(1)
            return found

    alone = throws(with_dice(x=1), "x")
    assert throws(with_dice(y=1, x=1, z=1), "x", others=("z", "y")) == alone
    assert throws(with_dice(x=1, y=1), "y") != alone
    assert throws(with_dice(x=1), "x", seed=6) != alone
    assert alone[2] is None
    assert alone[5] is None
    assert len({value for value in alone if value is not None}) == 20


# ------------------------------------------------------------------------------------------------ state


def test_a_restored_world_is_where_and_when_it_was(world: World) -> None:
    world._engine.part("qvel")[0, :] = 0.1
    world.advance(0.7031)
    sensor = world.robots["a"].sensors["odometry"]
    reading = sensor.reading
    before = world.snapshot()
    pose, time = world.robots["a"].pose, world.time
    world.advance(2.0)
    later = bytes(world.snapshot())
    world.restore(before)
    assert world.time == time
    np.testing.assert_array_equal(world.robots["a"].pose.position, pose.position)
    assert sensor.reading.time == reading.time
    assert bytes(world.snapshot()) == bytes(before)
    world.advance(2.0)
    assert bytes(world.snapshot()) == later


def test_a_snapshot_restores_in_another_world_of_the_same_scenario(world: World) -> None:
    world.advance(0.5)
    snapshot = bytes(world.snapshot())
    world.advance(1.0)
    with skerry.load(scenario()) as other:
        other.restore(snapshot)
        other.advance(1.0)
        assert bytes(other.snapshot()) == bytes(world.snapshot())


@pytest.mark.parametrize(
    "other",
    [
        {"robots": {}},
        {"robots": {"b": torpedo()}},
        {"robots": {"a": torpedo(), "b": torpedo(pose={"position": [5, 0, -5]})}},
        {"robots": {"a": torpedo(anchored=True)}},
        {"robots": {"a": torpedo(overrides={"forces": {"ballast": None}})}},
        {"robots": {"a": torpedo(overrides={"sensors": {"odometry": None}})}},
        {"robots": {"a": torpedo()}, "objects": {"ball": {"geometry": BALL, "motion": "dynamic", "mass": 1}}},
        {"robots": {"a": torpedo()}, "step": "1/100"},
    ],
)
def test_a_snapshot_of_another_structure_is_refused(world: World, other: dict[str, Any]) -> None:
    with skerry.load(other) as stranger:
        before = bytes(stranger.snapshot())
        with pytest.raises(SkerryError, match="the snapshot is of a world with other robots, links or parts"):
            stranger.restore(world.snapshot())
        assert bytes(stranger.snapshot()) == before


def damaged(data: bytes) -> list[bytes]:
    head = len(b"skerry snapshot 1\n")
    return [
        *(data[:size] for size in (0, 5, head, head + 4, head + 8, head + 20, len(data) // 2, len(data) - 1)),
        *(b"", b"nonsense", b"\x00" * 500),
        *(data + b"x", data[:head] + b"\xff" * 8 + data[head + 8 :], data[:head] + b"\x00" * 8 + data[head + 8 :]),
        data[: head + 8] + b"[1, 2]" + data[head + 14 :],
        data[:-10] + b"\x00" * 10,
    ]


def test_a_damaged_snapshot_is_refused_with_a_message_and_changes_nothing(world: World) -> None:
    _ = world.robots["a"].sensors["odometry"].reading
    world.advance(0.5)
    before = bytes(world.snapshot())
    for data in damaged(before):
        with pytest.raises(SkerryError, match="snapshot"):
            world.restore(data)
        assert bytes(world.snapshot()) == before


def test_bytes_that_are_not_a_snapshot_are_refused(world: World) -> None:
    for data in (b"", b"nonsense", b"\x00" * 500):
        with pytest.raises(SkerryError, match="this is not a snapshot of a Skerry world"):
            world.restore(data)


def test_a_snapshot_is_data_and_not_code(world: World) -> None:
    import pickle

    class Evil:
        def __reduce__(self) -> Any:
            return exec, ("raise SystemExit('code ran')",)

    with pytest.raises(pickle.UnpicklingError, match="must not name"):
        world.robots["a"].sensors["odometry"].set_state(pickle.dumps(Evil()))


def test_closing_twice_is_harmless_and_a_closed_world_says_so() -> None:
    world = skerry.load(scenario())
    world.advance(0.5)
    position = world.robots["a"].pose.position.copy()
    ballast = world.robots["a"].forces["ballast"]
    world.close()
    world.close()
    with pytest.raises(EngineError, match="this world is closed"):
        world.advance(0.1)
    np.testing.assert_array_equal(world.robots["a"].pose.position, position)
    assert ballast.mass > 0


def test_a_diverged_world_names_the_body_and_stays_at_its_last_valid_state(world: World) -> None:
    world.advance(0.1)
    world._engine.part("qvel")[0, 0] = 1e12
    with pytest.raises(PhysicsDiverged, match="body 'a/base_link'") as caught:
        world.advance(1.0)
    assert caught.value.step == 21
    assert np.isfinite(world._engine.states).all()


# ------------------------------------------------------------------------------------------------ forces in Python


def test_a_python_force_acts_and_its_errors_come_to_the_caller() -> None:
    def push(state: Any) -> list[float]:
        if state.time > 0.5:
            raise ValueError("enough")
        return [50.0, 0, 0, 0, 0, 0]

    with skerry.load(scenario(), forces={"a/base_link": push}) as world:
        world.advance(0.4)
        assert world.robots["a"].pose.position[0] > 0.05
        with pytest.raises(ValueError, match="enough"):
            world.advance(1.0)
        assert world.time == pytest.approx(0.5, abs=0.006)
    with pytest.raises(SkerryError, match=r"forces: there is no link 'a/bas_link'; did you mean 'a/base_link'\?"):
        skerry.load(scenario(), forces={"a/bas_link": push})


# ------------------------------------------------------------------------------------------------ batches


def test_worlds_of_a_batch_differ_by_seed_and_overrides() -> None:
    layers = [None, {"gravity": 5.0}, {"robots": {"a": {"pose": {"position": [1, 2, -50]}}}}]
    with skerry.load_batch(scenario(), [1, 2, 3], layers) as batch:
        assert len(batch) == 3
        assert [world.seed for world in batch.scenarios] == [1, 2, 3]
        np.testing.assert_allclose(batch.robots["a"].position, [[0, 0, -5], [0, 0, -5], [1, 2, -50]])
        batch.advance(1.0)
        assert batch.time == 1.0
        assert not batch.failures
        assert batch.state(0) != batch.state(1)
        assert batch.robots["a"].velocity.shape == (3, 3)
        np.testing.assert_allclose(np.linalg.norm(batch.robots["a"].orientation, axis=1), 1)


def test_random_ground_differs_by_seed_in_a_batch() -> None:
    ground = {"kind": "heightfield", "size": [20, 20], "resolution": 1, "function": {"kind": "hills", "amplitude": 3}}
    crate = {"geometry": CRATE, "motion": "dynamic", "mass": 50, "pose": {"position": [0, 0, 5]}}
    source = {"terrain": {**ground, "level": 3}, "objects": {"crate": crate}}
    with skerry.load_batch(source, [1, 1, 2]) as batch:
        batch.advance(3.0)
        heights = batch.objects["crate"].position[:, 2]
        assert heights[0] == heights[1]
        assert heights[0] != heights[2]


def test_a_batch_restores_a_snapshot() -> None:
    with skerry.load_batch(scenario(), [1, 2]) as batch:
        batch._engine.part("qvel")[:, 0] = 0.5
        batch.advance(0.5)
        before = batch.snapshot()
        batch.advance(1.0)
        after = [batch.state(i) for i in range(2)]
        batch.restore(before)
        batch.advance(1.0)
        assert [batch.state(i) for i in range(2)] == after
        with pytest.raises(SkerryError, match="shape"):
            batch.restore(before[:1])


def test_a_batch_restores_its_time_too() -> None:
    with skerry.load_batch(scenario(), [1, 2]) as batch:
        batch.advance(0.5)
        before = batch.snapshot()
        batch.advance(1.0)
        batch.restore(before)
        assert batch.time == 0.5


def test_a_world_that_fails_leaves_the_others_running() -> None:
    with skerry.load_batch(scenario(), [1, 2, 3]) as batch:
        batch._engine.part("qvel")[1, 0] = 1e12
        batch.advance(1.0)
        assert list(batch.failures) == [1]
        assert isinstance(batch.failures[1], PhysicsDiverged)
        batch.advance(1.0)
        assert batch.state(0) == batch.state(2)
        with skerry.load(scenario(), seed=1) as alone:
            alone.advance(2.0)
            assert physics(alone) == batch.state(0)


@pytest.mark.parametrize(
    "layer",
    [
        {"robots": {"b": torpedo(pose={"position": [9, 9, -9]})}},
        {"robots": {"a": {"overrides": {"forces": {"ballast": None}}}}},
        {"step": "1/100"},
        {"objects": {"ball": {"geometry": BALL, "motion": "dynamic", "mass": 1}}},
        {"robots": {"a": {"anchored": True}}},
    ],
)
def test_worlds_of_another_structure_are_refused(layer: dict[str, Any]) -> None:
    with pytest.raises(SkerryError, match="world 1 of the batch differs from world 0"):
        skerry.load_batch(scenario(), [1, 2], [None, layer])


def test_a_batch_of_nothing_or_of_uneven_lists_is_refused() -> None:
    with pytest.raises(SkerryError, match="at least one seed"):
        skerry.load_batch(scenario(), [])
    with pytest.raises(SkerryError, match="a batch of 2 seeds needs 2 overrides, not 1"):
        skerry.load_batch(scenario(), [1, 2], [None])


def test_a_closed_batch_says_so() -> None:
    batch = skerry.load_batch(scenario(), [1])
    batch.close()
    batch.close()
    with pytest.raises(EngineError, match="closed"):
        batch.advance(1.0)


def test_the_step_of_a_world_is_exact() -> None:
    with skerry.load(scenario(step=Fraction(1, 300))) as world:
        world.advance(1.0)
        assert world.tick == 300
        assert world.time == 1.0


def test_a_world_without_references_is_freed() -> None:
    """Laws refer to the engine's memory and the engine to the laws; this cycle must not keep them alive."""
    world = skerry.load("sam_empty")
    _ = world.robots["sam"].sensors["dvl"].reading
    world.advance(0.1)
    engine = weakref.ref(world._engine)
    world.close()
    del world, _
    gc.collect()
    assert engine() is None
