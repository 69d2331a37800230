"""Sensors: against a truth made by hand, and a few in real worlds; their noise, their rates and their state."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from pydantic import ValidationError
from pyproj import Transformer

import skerry
from skerry.core.errors import SkerryError, UnknownName
from skerry.core.frames import Pose, Twist, inverse, multiply, quaternion_to_rpy, rotate, rpy_to_quaternion
from skerry.core.geo import GeoReference, Projection
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import SimpleSensor
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.battery import Battery
from skerry.sensors.gps import Gps
from skerry.sensors.imu import Imu
from skerry.sensors.leak import Leak
from skerry.sensors.odometry import Odometry
from skerry.sensors.pressure import ATMOSPHERE, Pressure
from skerry.world import World, build_batch
from skerry.world.sampling.mounted_sensor import MountedSensor

Array = NDArray[np.float64]
NOISE = Noise(1, "robot/sensor")
STILL = Twist(np.zeros(3), np.zeros(3))
ASKO = GeoReference(latitude_deg=58.823332, longitude_deg=17.635227)
PERFECT: dict[str, Any] = {"attitude_noise": 0.0, "gyro_noise": 0.0, "accelerometer_noise": 0.0}


@dataclass
class FakeSample:
    """Sample view whose links have pose and twist given by two functions of time."""

    moves: Callable[[float], tuple[Pose, Twist]]
    tick: int = 0
    step: float = 1 / 200
    gravity: float = 9.81
    density: float = 1025.0
    surface: float = 0.0
    projection: Projection | None = None
    terrain: Any = None
    power: float = 0.0
    joint: tuple[float, float] = (0.0, 0.0)
    places: dict[str, list[float]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def time(self) -> float:
        return self.tick * self.step

    def sample_water(self, points: Any) -> Any:
        shape = np.shape(points)[:-1]
        depth = np.maximum(self.surface - np.asarray(points)[..., 2], 0.0)
        pressure = self.density * self.gravity * depth
        return SimpleNamespace(
            height=np.full(shape, self.surface), density=np.full(shape, self.density), pressure=pressure
        )

    def surface_height(self, points: Any) -> Any:
        return self.sample_water(points).height

    def depth(self, point: Any) -> float:
        return self.surface - float(point[2])

    def water_pressure(self, point: Any) -> tuple[float, float]:
        return self.density * self.gravity * max(self.depth(point), 0.0), self.density

    def motion(self, link: str, offset: Pose | None = None) -> Array:
        return _carried(self.pose(link), self.twist(link), offset)

    def position_of(self, name: str) -> Array:
        return np.array(self.places[name])

    @property
    def joints(self) -> tuple[str, ...]:
        return ("first", "second")

    def joint_position(self, joint: str) -> float:
        return self.joint[0]

    def joint_velocity(self, joint: str) -> float:
        return self.joint[1]

    def pose(self, link: str) -> Pose:
        self.asked.append(link)
        return self.moves(self.time)[0]

    def twist(self, link: str) -> Twist:
        return self.moves(self.time)[1]


def over_ticks(sample: FakeSample, ticks: int) -> One:
    """Return the view of a fake sample; the previous one is that of a number of ticks before."""
    return One(sample, One(replace(sample, tick=sample.tick - ticks)))


def _carried(pose: Pose, twist: Twist, offset: Pose | None) -> Array:
    there = pose if offset is None else pose @ offset
    velocity = twist.linear + np.cross(twist.angular, there.position - pose.position)
    return np.concatenate([there.position, there.orientation, velocity, twist.angular])


def at(x: float, y: float, z: float, rpy_deg: tuple[float, float, float] = (0.0, 0.0, 0.0), **more: Any) -> FakeSample:
    """Return a sample view at rest."""
    pose = Pose(np.array([x, y, z]), rpy_to_quaternion(np.radians(rpy_deg)))
    return FakeSample(lambda _: (pose, STILL), **more)


ATTITUDES = [(0.0, 0.0, 0.0), (30.0, 0.0, 0.0), (0.0, -60.0, 45.0), (180.0, 0.0, 10.0), (-120.0, 89.0, 170.0)]


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a builder of worlds with 1 kg cubes with sensors, in water without forces."""
    made: list[Any] = []

    def build(robots: Mapping[str, Mapping[str, Any]], **scenario: Any) -> Any:
        hooks = scenario.pop("hooks", None)
        placed = {}
        for name, robot in robots.items():
            folder = tmp_path / f"{name}{len(made)}"
            folder.mkdir()
            (folder / "robot.urdf").write_text(
                '<robot name="cube"><link name="cube"><inertial><mass value="1"/>'
                '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
            )
            settings = {key: dict(robot.get(key, {})) for key in ("sensors", "actuators")}
            (folder / "vehicle.yaml").write_text(yaml.safe_dump(settings))
            placed[name] = {"vehicle": str(folder), "pose": robot.get("pose", {"position": [0.0, 0.0, -50.0]})}
        made.append(skerry.load({"gravity": 0.0, "robots": placed} | scenario, forces=hooks))
        return made[-1]

    yield build
    for world in made:
        world.close()


# ------------------------------------------------------------------------------------------------ IMU


@pytest.mark.parametrize("mount", [(0.0, 0.0, 0.0), (180.0, 0.0, 0.0), (10.0, 20.0, 30.0)])
@pytest.mark.parametrize("attitude", ATTITUDES)
def test_an_imu_at_rest_feels_the_ground_push_upwards(attitude, mount) -> None:
    """Specific force is a − g: +9.81 along the world's up, in the sensor's own axes, however it is turned."""
    turn = dict(zip(("roll_deg", "pitch_deg", "yaw_deg"), mount, strict=True))
    imu = Imu(link="l", frequency=10, **turn, **PERFECT)
    reading = imu.build().measure(One(at(1, 2, -3, attitude)), NOISE)[0]
    own = multiply(rpy_to_quaternion(np.radians(attitude)), rpy_to_quaternion(np.radians(mount)))
    assert reading.linear_acceleration == pytest.approx(rotate(inverse(own), [0.0, 0.0, 9.81]), abs=1e-12)
    assert reading.angular_velocity == pytest.approx([0, 0, 0], abs=1e-15)
    assert abs(np.dot(reading.orientation, own)) == pytest.approx(1.0, abs=1e-12)


def test_a_level_imu_reads_gravity_on_its_third_axis_and_one_upside_down_the_other_way() -> None:
    imu = Imu(link="l", frequency=10, **PERFECT).build()
    assert imu.measure(One(at(0, 0, 0)), NOISE)[0].linear_acceleration == pytest.approx([0, 0, 9.81])
    assert imu.measure(One(at(0, 0, 0, (180.0, 0, 0))), NOISE)[0].linear_acceleration == pytest.approx([0, 0, -9.81])
    # nose down by 30°: up is behind
    nose_down = imu.measure(One(at(0, 0, 0, (0, 30.0, 0))), NOISE)[0].linear_acceleration
    assert nose_down == pytest.approx([-9.81 * 0.5, 0, 9.81 * np.cos(np.pi / 6)])


@pytest.mark.parametrize("attitude", ATTITUDES)
def test_an_imu_without_gravity_reads_nothing_at_rest(attitude) -> None:
    imu = Imu(link="l", frequency=10, with_gravity=False, **PERFECT).build()
    assert imu.measure(One(at(0, 0, 0, attitude)), NOISE)[0].linear_acceleration == pytest.approx([0, 0, 0], abs=1e-15)


def falling(time: float) -> tuple[Pose, Twist]:
    turned = rpy_to_quaternion(np.array([0.3, 0.5, time]))
    return Pose(np.array([0, 0, -4.905 * time**2]), turned), Twist(
        np.array([0, 0, -9.81 * time]), np.array([0, 0, 1.0])
    )


def test_an_imu_in_free_fall_feels_nothing() -> None:
    """a = −g: also while it turns, and at any rate."""
    imu = Imu(link="l", frequency=10, **PERFECT).build()
    for ticks in (1, 20, 50):
        felt = imu.measure(over_ticks(FakeSample(falling, tick=77), ticks), NOISE)[0].linear_acceleration
        assert felt == pytest.approx([0, 0, 0], abs=1e-12)
    coordinate = Imu(link="l", frequency=10, with_gravity=False, **PERFECT).build()
    felt = coordinate.measure(over_ticks(FakeSample(falling, tick=77), 20), NOISE)[0].linear_acceleration
    assert np.linalg.norm(felt) == pytest.approx(9.81, rel=1e-12)


def spinning(rate: float, speed_up: float = 0.0) -> Callable[[float], tuple[Pose, Twist]]:
    def motion(time: float) -> tuple[Pose, Twist]:
        angle = rate * time + 0.5 * speed_up * time**2
        turned = rpy_to_quaternion(np.array([0.0, 0.0, angle]))
        return Pose(np.zeros(3), turned), Twist(np.zeros(3), np.array([0.0, 0.0, rate + speed_up * time]))

    return motion


@pytest.mark.parametrize("ticks", [1, 4, 10])
def test_an_imu_on_a_rotating_arm_feels_the_centripetal_force(ticks) -> None:
    """ω × (ω × r) = −ω² r.

    Its mean over a period T points along the arm of the middle of the period. It is smaller by sin(x)/x, and turned
    back by x in the axes at the end, with x = ω T/2.
    """
    rate, arm = 3.0, 0.7
    imu = Imu(link="l", frequency=10, position=(arm, 0.0, 0.0), with_gravity=False, **PERFECT).build()
    reading = imu.measure(over_ticks(FakeSample(spinning(rate), tick=40), ticks), NOISE)[0]
    x = rate * ticks / 200 / 2
    mean = -(rate**2) * arm * np.sin(x) / x
    assert reading.linear_acceleration == pytest.approx(
        [mean * np.cos(x), -mean * np.sin(x), 0.0], rel=1e-12, abs=1e-12
    )
    assert reading.angular_velocity == pytest.approx([0, 0, rate], abs=1e-12)
    assert reading.linear_velocity == pytest.approx([0.0, rate * arm, 0.0], abs=1e-12)
    assert reading.angular_acceleration == pytest.approx([0, 0, 0], abs=1e-12)


def test_an_imu_on_an_arm_that_speeds_up_feels_it_sideways() -> None:
    """ω̇ × r beside ω × (ω × r), in the axes of the sample: exactly Δ(ω × r)/T, near their values of the instant."""
    imu = Imu(link="l", frequency=10, position=(0.0, 0.4, 0.1), with_gravity=False, **PERFECT).build()
    reading = imu.measure(over_ticks(FakeSample(spinning(1.0, 2.0), tick=100), 1), NOISE)[0]
    before, rate = 1.99, 2.0
    turned = (before + rate) / 2 / 200
    expected = 200 * 0.4 * np.array([before * np.cos(turned) - rate, -before * np.sin(turned), 0.0])
    assert reading.linear_acceleration == pytest.approx(expected, abs=1e-9)
    assert expected == pytest.approx([-2.0 * 0.4, -(rate**2) * 0.4, 0.0], abs=0.02)  # to the first order in the step
    assert reading.angular_acceleration == pytest.approx([0.0, 0.0, 2.0], abs=1e-12)


def test_gravity_is_in_the_axes_of_the_orientation_of_the_same_reading() -> None:
    """While it turns too, so that a filter that subtracts gravity with that orientation finds none left."""

    def rolling(time: float) -> tuple[Pose, Twist]:
        turned = rpy_to_quaternion(np.array([2.0 * time, 0.0, 0.0]))
        return Pose(np.zeros(3), turned), Twist(np.zeros(3), np.array([2.0, 0.0, 0.0]))

    imu = Imu(link="l", frequency=10, **PERFECT).build()
    for ticks in (1, 20):
        reading = imu.measure(over_ticks(FakeSample(rolling, tick=42), ticks), NOISE)[0]
        assert rotate(reading.orientation, reading.linear_acceleration) == pytest.approx([0, 0, 9.81], abs=1e-12)


RATES = [7, 20, 30, 50, 200]


@pytest.mark.parametrize("frequency", RATES)
def test_unit_force_forwards_then_backwards_integrates_to_no_velocity(worlds, frequency) -> None:
    """The specification's accuracy test: 1 N on 1 kg for 1 s each way. Σ a T is a triangle, and ends at 0: 1e-12."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": frequency, **PERFECT}}
    screw = {"kind": "propeller", "link": "cube", "rpm_to_force": 0.01, "maximum_rpm": 100.0}
    world = worlds({"cube": {"sensors": sensors, "actuators": {"push": screw}}})
    cube = world.robots["cube"]
    velocity, before = np.zeros(3), 0.0
    for tick in range(1, 401):
        cube.actuators["push"].command(rpm=100.0 if tick <= 200 else -100.0)
        world.advance_steps(1)
        reading = cube.sensors["imu"].reading
        if reading.time != before:
            velocity += reading.linear_acceleration * (reading.time - before)
            before = reading.time
            along = reading.time if tick <= 200 else 2.0 - reading.time
            assert velocity == pytest.approx([along, 0.0, 0.0], abs=1e-12)
            assert reading.linear_velocity == pytest.approx([along, 0.0, 0.0], abs=1e-12)
    assert before == 2.0
    assert np.abs(velocity).max() < 1e-12
    assert np.abs(cube.twist.linear).max() < 1e-12
    assert cube.pose.position[0] == pytest.approx(1.0, rel=0.01)  # the place knows both pushes


@pytest.mark.parametrize("frequency", RATES)
def test_an_imu_measures_a_pulse_between_two_of_its_samples(worlds, frequency) -> None:
    """200 N for one step of 5 ms on 1 kg is 1 m/s, at whichever step it comes."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": frequency, **PERFECT}}

    def pulse(state: Any) -> list[float]:
        return [200.0 if round(state.time * 200) == steps[-1] else 0.0, 0, 0, 0, 0, 0]

    steps = [0, 3, 9, 10, 57]
    world = worlds({"cube": {"sensors": sensors}}, hooks={"cube/cube": pulse})
    while steps:
        world.reset()
        readings = world.advance(1.0, record=["cube/imu"])["cube/imu"]
        periods = np.diff(readings.time, prepend=0.0)
        assert periods @ readings.linear_acceleration == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
        steps.pop()


def tumble(state: Any) -> list[float]:
    """Return a force and a torque that change faster than a slow IMU samples."""
    t = state.time
    return [np.sin(130 * t), 0.5, np.cos(t), 0.02 * np.cos(2 * t), 0.01, 0.3 * np.sin(70 * t)]


def tumbling(worlds: Any, frequency: int, **scenario: Any) -> Any:
    """Return a world with a cube that tumbles in gravity, with an IMU and odometry off its centre."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": frequency, "position": [0.3, -0.2, 0.1], **PERFECT}}
    sensors["truth"] = {"kind": "odometry", "link": "cube", "frequency": frequency, "position": [0.3, -0.2, 0.1]}
    return worlds({"cube": {"sensors": sensors}}, gravity=9.81, hooks={"cube/cube": tumble}, **scenario)


def summed(readings: Any, start: float) -> tuple[Array, Array]:
    """Return the sums of the accelerations of an IMU in the world, without gravity, times the periods."""
    periods = np.diff(readings.time, prepend=start)
    linear = rotate(readings.orientation, readings.linear_acceleration) - [0.0, 0.0, 9.81]
    angular = rotate(readings.orientation, readings.angular_acceleration)
    return periods @ linear, periods @ angular


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("frequency", RATES)
def test_the_sum_of_the_readings_is_the_change_of_velocity_also_while_it_turns(worlds, frequency, integrator) -> None:
    """Σ (R f − g ẑ) T = Δv at the sensor's own place, with the orientation R of each reading: rounding, 1e-9."""
    world = tumbling(worlds, frequency, integrator=integrator)
    found = world.advance(2.0, record=["cube/imu", "cube/truth"])
    truth = found["cube/truth"][-1]
    linear, angular = summed(found["cube/imu"], 0.0)
    assert linear == pytest.approx(rotate(truth.pose.orientation, truth.twist.linear), abs=1e-9)
    assert angular == pytest.approx(rotate(truth.pose.orientation, truth.twist.angular), abs=1e-9)
    assert np.linalg.norm(truth.twist.angular) > 0.1
    assert found["cube/imu"].linear_velocity[-1] == pytest.approx(truth.twist.linear, abs=1e-12)
    assert found["cube/imu"].angular_velocity[-1] == pytest.approx(truth.twist.angular, abs=1e-12)  # of the instant


def test_an_imu_keeps_its_previous_sample_over_stops_snapshots_changes_and_readers(worlds) -> None:
    """The readings are those of an undisturbed run, bit by bit, however the world is advanced and read."""
    expected = tumbling(worlds, 20).advance(1.0, record=["cube/imu"])["cube/imu"]
    world = tumbling(worlds, 20)
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "static", "pose": {"position": [0, 50, -50]}}

    def restore() -> None:
        kept = world.snapshot()
        world.advance(0.2)
        world.restore(kept)

    disturbances: list[Callable[[], object]] = [
        lambda: None,
        lambda: world.robots["cube"].sensors["imu"].reading,
        restore,
        lambda: world.advance(0.0, record=["cube/imu"]),
        lambda: world.spawn("ball", ball),
        lambda: world.delete("ball"),
    ]
    found = []
    for number in range(40):  # every second stop is at a due tick
        world.advance_steps(5)
        disturbances[number % 6]()
        reading = world.robots["cube"].sensors["imu"].reading
        if number % 2:
            found.append(reading)
    assert [reading.time for reading in found] == pytest.approx(expected.time)
    for one, other in zip(found, expected, strict=True):
        assert pickle.dumps(one) == pickle.dumps(other)
    world.reset()
    again = world.advance(1.0, record=["cube/imu"])["cube/imu"]
    assert np.array_equal(again.linear_acceleration, expected.linear_acceleration)


def test_the_imu_of_a_robot_that_was_added_starts_at_rest(worlds) -> None:
    """The sum of its readings is its change of velocity since it was added."""
    other = tumbling(worlds, 20)
    world = worlds(
        {"cube": {"sensors": {"truth": {"kind": "odometry", "link": "cube", "frequency": 70}}}}, gravity=9.81
    )
    world.advance_steps(13)
    world.spawn("late", {"vehicle": other.scenario.robots["cube"].vehicle, "pose": {"position": [0, 9, 900]}})
    found = world.advance(1.0, record=["late/imu", "late/truth"])
    truth = found["late/truth"][-1]
    linear, _ = summed(found["late/imu"], 0.05)
    assert found["late/imu"].time[0] == 0.1
    assert linear == pytest.approx(rotate(truth.pose.orientation, truth.twist.linear), abs=1e-9)
    assert np.linalg.norm(linear) > 9.0


def test_an_unread_imu_keeps_its_previous_sample_while_a_fast_sensor_fills_the_buffer(worlds) -> None:
    """1500 steps are more samples than the buffer holds; the world then stops between two samples of the IMU."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": 20, **PERFECT}}
    sensors["fast"] = {"kind": "odometry", "link": "cube", "frequency": 200}
    screw = {"kind": "propeller", "link": "cube", "rpm_to_force": 0.01, "maximum_rpm": 100.0}
    world = worlds({"cube": {"sensors": sensors, "actuators": {"push": screw}}})
    world.robots["cube"].actuators["push"].command(rpm=100.0)
    world.robots["cube"].sensors["fast"].deliver = lambda ticks, readings: None
    for steps in (*range(1000, 1040), 1500):
        world.advance_steps(steps)
        felt = world.robots["cube"].sensors["imu"].reading.linear_acceleration
        assert felt == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


def test_a_real_cube_on_a_rotating_arm_feels_the_centripetal_force(worlds) -> None:
    """Torque-free spin: −ω² r sin(x)/x turned by x, as by hand; the spin itself is kept to rounding."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": 200, "position": [0.5, 0, 0], **PERFECT}}
    world = worlds({"cube": {"sensors": sensors}})
    world._engine.part("qvel")[0, 5] = 2.0
    world._engine.refresh()
    world.advance(3.0)
    reading = world.robots["cube"].sensors["imu"].reading
    x = 2.0 / 200 / 2
    mean = -2.0 * np.sin(x) / x
    assert reading.linear_acceleration == pytest.approx([mean * np.cos(x), -mean * np.sin(x), 0], abs=1e-9)
    assert reading.angular_velocity == pytest.approx([0, 0, 2.0], abs=1e-9)


def test_a_real_cube_in_free_fall_feels_nothing_and_one_held_up_feels_its_weight(worlds) -> None:
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": 200, **PERFECT}}
    robot = {"sensors": sensors, "pose": {"position": [0, 0, 500.0], "roll_deg": 40.0, "pitch_deg": -20.0}}
    world = worlds({"cube": robot}, gravity=9.81)
    world.advance(1.0)
    assert world.robots["cube"].sensors["imu"].reading.linear_acceleration == pytest.approx([0, 0, 0], abs=1e-9)

    def hold(state: Any) -> Any:
        return np.concatenate([state.rotation.T @ [0.0, 0.0, 9.81], np.zeros(3)])

    held = worlds({"cube": robot}, gravity=9.81, hooks={"cube/cube": hold})
    for steps in (0, 1, 50):  # also before the first step
        held.advance_steps(steps)
        reading = held.robots["cube"].sensors["imu"].reading
        up = rotate(inverse(reading.orientation), [0.0, 0.0, 9.81])
        assert reading.linear_acceleration == pytest.approx(up, abs=1e-9)


def _imu_readings(count: int, step: float = 1 / 200, seed: int = 1, **settings: float) -> tuple[Array, Array, Array]:
    """Errors of force, rate and attitude (small angles), (count, 3) each."""
    imu = Imu(link="l", frequency=10, **(PERFECT | settings)).build()
    noise, sample = Noise(seed, "a/imu"), at(0, 0, 0, step=step)
    rows = []
    for tick in range(count):
        sample.tick = tick
        reading = imu.measure(One(sample), noise)[0]
        rows.append(
            [
                reading.linear_acceleration - [0, 0, 9.81],
                reading.angular_velocity,
                quaternion_to_rpy(reading.orientation),
            ]
        )
    force, rate, attitude = np.moveaxis(np.array(rows), 1, 0)
    return force, rate, attitude


def test_imu_noise_has_the_configured_spread_and_reports_it() -> None:
    """1500 values per axis: 4 σ of their spread are 7.5 %; nothing is shared between axes or quantities."""
    sizes = {"accelerometer_noise": 0.02, "gyro_noise": 0.003, "attitude_noise": 0.001}
    errors = np.hstack(_imu_readings(1500, **sizes))
    spread = np.repeat([0.02, 0.003, 0.001], 3)
    assert errors.std(axis=0) == pytest.approx(spread, rel=0.075)
    assert np.abs(errors.mean(axis=0) / spread).max() < 4 / np.sqrt(1500)
    shared = np.corrcoef(errors.T) - np.eye(9)
    assert np.abs(shared).max() < 5 / np.sqrt(1500)
    assert np.abs(np.corrcoef(errors[1:, 0], errors[:-1, 0])[0, 1]) < 4 / np.sqrt(1500)
    reading = Imu(link="l", frequency=10, **sizes).build().measure(One(at(0, 0, 0)), NOISE)[0]
    assert reading.linear_acceleration_covariance == pytest.approx(np.eye(3) * 4e-4)
    assert reading.angular_velocity_covariance == pytest.approx(np.eye(3) * 9e-6)
    assert reading.orientation_covariance == pytest.approx(np.eye(3) * 1e-6)


def test_an_imus_starting_bias_is_constant_in_a_run_and_spread_over_runs() -> None:
    """200 seeds × 6 values: 4 σ of their spread are 8 %."""
    biases = []
    for seed in range(200):
        force, rate, _ = _imu_readings(2, seed=seed, accelerometer_bias=0.05, gyro_bias=0.01)
        assert (force[0] == force[1]).all()
        assert (rate[0] == rate[1]).all()
        biases.append(np.concatenate([force[0], rate[0]]))
    found = np.array(biases) / np.repeat([0.05, 0.01], 3)
    assert found.std() == pytest.approx(1.0, rel=0.08)
    assert np.abs(found.mean(axis=0)).max() < 4 / np.sqrt(200)
    assert np.abs(np.corrcoef(found.T) - np.eye(6)).max() < 4.5 / np.sqrt(200)


@pytest.mark.parametrize("step", [1 / 200, 1 / 50])
def test_an_imus_bias_walks_with_the_square_root_of_time(step) -> None:
    """σ √t at any step: after 4 s twice what it is after 1 s; 250 seeds × 3 axes know it to 10 % at 4 σ."""
    early, late, rates = [], [], []
    for seed in range(250):
        imu = Imu(link="l", frequency=10, accelerometer_walk=0.1, gyro_walk=0.02, **PERFECT).build()
        noise, sample = Noise(seed, "a/imu"), at(0, 0, 0, step=step)
        for seconds, into in ((1.0, early), (4.0, late)):
            sample.tick = round(seconds / step)
            reading = imu.measure(One(sample), noise)[0]
            into.append(reading.linear_acceleration - [0, 0, 9.81])
        rates.append(reading.angular_velocity)
    assert np.std(early) == pytest.approx(0.1, rel=0.1)
    assert np.std(late) == pytest.approx(0.2, rel=0.1)
    assert np.std(rates) == pytest.approx(0.04, rel=0.1)
    assert abs(np.corrcoef(np.ravel(late), np.ravel(rates))[0, 1]) < 4 / np.sqrt(750)
    # the increments after 1 s are new
    assert abs(np.corrcoef(np.ravel(early), np.ravel(late) - np.ravel(early))[0, 1]) < 4 / np.sqrt(750)


# ------------------------------------------------------------------------------------------------ pressure


def test_pressure_is_the_weight_of_the_water_above() -> None:
    """ρ g d, with 101325 Pa of air or without; 199391.5 Pa ten metres down in fresh water at standard gravity."""
    fresh: dict[str, Any] = {"density": 1000.0, "gravity": 9.80665}
    reading = Pressure(link="l", frequency=10, noise=0.0).build().measure(One(at(3, 4, -10.0, **fresh)), NOISE)[0]
    assert reading.pressure == pytest.approx(199391.5, rel=1e-15)
    assert reading.depth == pytest.approx(10.0, rel=1e-14)
    assert not reading.saturated
    sensor = Pressure(link="l", frequency=10, noise=0.0, include_atmosphere=False).build()
    assert sensor.measure(One(at(0, 0, -10.0, **fresh)), NOISE)[0].pressure == pytest.approx(98066.5, rel=1e-15)
    assert sensor.measure(One(at(0, 0, -2.5)), NOISE)[0].pressure == 1025.0 * 9.81 * 2.5


def test_depth_counts_from_the_surface_wherever_it_is() -> None:
    """Waves and tides move the surface: 3 m under one that stands at +1.5 m."""
    sensor = Pressure(link="l", frequency=10, noise=0.0, include_atmosphere=False).build()
    assert sensor.measure(One(at(0, 0, -1.5, surface=1.5)), NOISE)[0].depth == pytest.approx(3.0)


def test_above_the_water_there_is_only_air() -> None:
    """No negative depth: the original went below the pressure of the air there."""
    for height in (0.0, 0.1, 50.0):
        reading = Pressure(link="l", frequency=10, noise=0.0).build().measure(One(at(0, 0, height)), NOISE)[0]
        assert (reading.pressure, reading.depth, reading.saturated) == (ATMOSPHERE, 0.0, False)


@pytest.mark.parametrize(("depth", "seen", "saturated"), [(19.9, 19.9, False), (20.0, 20.0, False), (25.0, 20.0, True)])
def test_pressure_saturates_at_the_greatest_depth(depth, seen, saturated) -> None:
    """The reading is the maximum without noise, and the reading is marked as saturated."""
    reading = (
        Pressure(link="l", frequency=10, noise=0.0, max_depth=20.0).build().measure(One(at(0, 0, -depth)), NOISE)[0]
    )
    assert reading.pressure == pytest.approx(ATMOSPHERE + 1025.0 * 9.81 * seen, rel=1e-14)
    assert reading.depth == pytest.approx(seen)
    assert reading.saturated == saturated


def test_pressure_noise_has_the_configured_spread() -> None:
    sensor, sample = Pressure(link="l", frequency=10, noise=7.0).build(), at(0, 0, -5.0)
    errors = []
    for tick in range(1500):
        sample.tick = tick
        reading = sensor.measure(One(sample), NOISE)[0]
        errors.append(reading.pressure - ATMOSPHERE - 1025.0 * 9.81 * 5.0)
        assert reading.depth * 1025.0 * 9.81 == pytest.approx(reading.pressure - ATMOSPHERE, rel=1e-12)
    assert np.std(errors) == pytest.approx(7.0, rel=0.075)
    assert abs(np.mean(errors)) < 4 * 7.0 / np.sqrt(1500)
    assert reading.variance == 49.0


def test_pressure_is_that_at_the_position_of_the_sensor() -> None:
    """0.4 m above the link while it is level, and 0.4 m below it while it is upside down."""
    sensor = Pressure(link="l", frequency=10, noise=0.0, position=(0.0, 0.0, 0.4)).build()
    assert sensor.measure(One(at(0, 0, -3.0)), NOISE)[0].depth == pytest.approx(2.6)
    assert sensor.measure(One(at(0, 0, -3.0, (180.0, 0.0, 0.0))), NOISE)[0].depth == pytest.approx(3.4)


def test_pressure_without_gravity_is_that_of_the_air() -> None:
    reading = Pressure(link="l", frequency=10, noise=0.0).build().measure(One(at(0, 0, -3.0, gravity=0.0)), NOISE)[0]
    assert (reading.pressure, reading.depth) == (ATMOSPHERE, 0.0)


# ------------------------------------------------------------------------------------------------ GPS


def earth(**settings: Any) -> Projection:
    return Projection(GeoReference(**settings) if settings else ASKO)


@pytest.mark.parametrize(
    ("height", "surface", "fix"), [(0.01, 0.0, True), (-0.01, 0.0, False), (0.5, 1.0, False), (-0.5, -1.0, True)]
)
def test_gps_is_silent_under_water(height, surface, fix) -> None:
    reading = (
        Gps(link="l", frequency=1).build().measure(One(at(0, 0, height, surface=surface, projection=earth())), NOISE)[0]
    )
    assert (reading is not None) == fix


def test_the_antenna_counts_not_the_link() -> None:
    """An antenna 0.2 m above a link that is 0.1 m under; rolled over, it is under too."""
    gps = Gps(link="l", frequency=1, position=(0.0, 0.0, 0.2)).build()
    assert gps.measure(One(at(0, 0, -0.1, projection=earth())), NOISE)[0] is not None
    assert gps.measure(One(at(0, 0, -0.1, (180.0, 0.0, 0.0), projection=earth())), NOISE)[0] is None


@pytest.mark.parametrize(
    ("reference", "epsg", "zone"),
    [
        ({"latitude_deg": 58.823332, "longitude_deg": 17.635227}, 32633, (33, "V")),
        ({"latitude_deg": -33.85, "longitude_deg": 151.25, "altitude": 12.0}, 32756, (56, "H")),
        ({"latitude_deg": 0.0, "longitude_deg": -179.9}, 32601, (1, "N")),
    ],
)
def test_a_fix_is_where_proj_says(reference, epsg, zone) -> None:
    """EPSG's own definition of the zone, from pyproj: millimetres of easting and northing, 1e-8° (1 mm)."""
    sample = at(1234.5, -678.9, 3.0, projection=earth(**reference))
    reading = Gps(link="l", frequency=1, noise=0.0, vertical_noise=0.0).build().measure(One(sample), NOISE)[0]
    to_utm = Transformer.from_crs("EPSG:4326", f"EPSG:{epsg}", always_xy=True)
    easting, northing = to_utm.transform(reference["longitude_deg"], reference["latitude_deg"])
    assert (reading.easting, reading.northing) == pytest.approx((easting + 1234.5, northing - 678.9), abs=1e-3)
    longitude, latitude = to_utm.transform(easting + 1234.5, northing - 678.9, direction="INVERSE")
    assert (reading.latitude_deg, reading.longitude_deg) == pytest.approx((latitude, longitude), abs=1e-8)
    assert reading.altitude == pytest.approx(reference.get("altitude", 0.0) + 3.0)
    assert (reading.zone, reading.band) == zone


def test_gps_noise_has_the_configured_spread() -> None:
    gps, sample = Gps(link="l", frequency=1, noise=0.5, vertical_noise=2.0).build(), at(0, 0, 1.0, projection=earth())
    fixes = []
    for tick in range(1000):
        sample.tick = tick
        reading = gps.measure(One(sample), NOISE)[0]
        assert reading is not None
        fixes.append([reading.easting, reading.northing, reading.altitude])
    errors = np.array(fixes) - earth().to_utm(np.array([0, 0, 1.0]))
    assert errors.std(axis=0) == pytest.approx([0.5, 0.5, 2.0], rel=0.09)
    assert np.abs(np.corrcoef(errors.T) - np.eye(3)).max() < 4 / np.sqrt(1000)
    assert reading.covariance == pytest.approx(np.diag([0.25, 0.25, 4.0]))


def test_latitude_longitude_and_utm_of_a_fix_agree() -> None:
    reading = Gps(link="l", frequency=1).build().measure(One(at(5.0, 6.0, 1.0, projection=earth())), NOISE)[0]
    assert reading is not None
    there = earth().to_utm(earth().from_geodetic([reading.latitude_deg, reading.longitude_deg, reading.altitude]))
    assert there == pytest.approx([reading.easting, reading.northing, reading.altitude], abs=1e-6)


def test_gps_without_a_reference_is_an_error_with_a_message(worlds) -> None:
    with pytest.raises(SkerryError, match="reference"):
        Gps(link="l", frequency=1).build().measure(One(at(0, 0, 1.0)), NOISE)[0]
    sensors = {"gps": {"kind": "gps", "link": "cube", "frequency": 1}}
    with pytest.raises(SkerryError, match="reference"):  # at load, otherwise at the first reading
        assert worlds({"cube": {"sensors": sensors}}).robots["cube"].sensors["gps"].reading


def test_a_diving_vehicle_loses_its_fix_and_finds_it_again() -> None:
    with skerry.load("sam_empty") as world:
        gps = world.robots["sam"].sensors["gps"]
        assert gps.reading is None
        assert not gps.has_new_data
        world.teleport("sam", Pose(np.array([10.0, 20.0, 0.5]), np.array([0.0, 0, 0, 1])))
        world.advance(0.1)
        assert gps.has_new_data
        assert gps.reading.zone == 33
        world.teleport("sam", Pose(np.array([10.0, 20.0, -5.0]), np.array([0.0, 0, 0, 1])))
        world.advance(0.1)
        assert gps.reading is None


# ------------------------------------------------------------------------------------------------ battery and leak


def test_a_battery_runs_down_as_its_golden_values_say() -> None:
    """95 % at 0.4 % a minute: 94.6 % and 24.973 V after a minute, 21 V + 4.2 V × 94.6 %."""
    battery = Battery(link="l", frequency=10, discharge_percent_per_minute=0.4).build()
    first = battery.measure(One(at(0, 0, 0)), NOISE)[0]
    assert (first.percent, first.voltage) == pytest.approx((95.0, 24.99))
    later = battery.measure(One(at(0, 0, 0, tick=12000)), NOISE)[0]
    assert later.percent == pytest.approx(94.6, rel=1e-14)
    assert later.voltage == pytest.approx(24.9732, rel=1e-14)
    assert round(later.voltage, 3) == 24.973


def test_a_battery_is_empty_at_last_and_never_below() -> None:
    battery = Battery(link="l", frequency=10, start_percent=1.0, discharge_percent_per_minute=2.0).build()
    assert battery.measure(One(at(0, 0, 0)), NOISE)[0].percent == 1.0
    assert battery.measure(One(at(0, 0, 0, tick=6000)), NOISE)[0].percent == pytest.approx(0.0, abs=1e-12)
    for tick in (6001, 10**9):
        reading = battery.measure(One(at(0, 0, 0, tick=tick)), NOISE)[0]
        assert (reading.percent, reading.voltage) == (0.0, 21.0)


def test_a_battery_is_the_same_however_seldom_it_is_read() -> None:
    """Charge is a function of time, not of readings."""
    readings = []
    for cuts in (1, 60):
        with skerry.load("sam_empty") as world:
            battery = world.robots["sam"].sensors["battery"]
            for _ in range(cuts):
                world.advance(60.0 / cuts)
                readings.append(battery.reading)
    assert readings[0] == readings[-1]
    assert readings[0].percent == pytest.approx(94.6)


def test_battery_settings_that_make_no_sense_are_refused() -> None:
    for settings in ({"start_percent": 101.0}, {"min_voltage": 26.0}, {"discharge_percent_per_minute": -1.0}):
        with pytest.raises(ValidationError):
            Battery(link="l", frequency=10, **settings)


def test_a_leak_counts_its_alarm_readings() -> None:
    leak = Leak(link="l", frequency=7).build()
    assert [leak.measure(One(at(0, 0, 0)), NOISE)[0].leak_count for _ in range(3)] == [0, 0, 0]
    leak.leaked = True
    readings = [leak.measure(One(at(0, 0, 0)), NOISE)[0] for _ in range(3)]
    assert [(reading.leaked, reading.leak_count) for reading in readings] == [(True, 1), (True, 2), (True, 3)]
    leak.leaked = False
    assert leak.measure(One(at(0, 0, 0)), NOISE)[0].leak_count == 3
    assert Leak(link="l", frequency=7, leaked=True).build().measure(One(at(0, 0, 0)), NOISE)[0].leaked


def test_a_leak_survives_snapshot_and_restore() -> None:
    """7 Hz: seven readings a second after the leak."""
    with skerry.load("sam_empty") as world:
        leak = world.robots["sam"].sensors["leak"]
        leak.trigger()
        assert leak.reading.leak_count == 0  # the reading of the start came before the leak
        world.advance(1.0)
        assert leak.reading.leak_count == 7
        before = world.snapshot()
        world.advance(2.0)
        leak.sensor.leaked = False
        assert leak.reading.leak_count == 21
        world.restore(before)
        assert leak.sensor.leaked
        assert leak.reading.leak_count == 7
        world.advance(1.0)
        assert (leak.reading.leak_count, leak.reading.leaked) == (14, True)


# ------------------------------------------------------------------------------------------------ odometry


def test_odometry_is_the_pose_and_velocity_of_its_own_frame() -> None:
    """p = p_l + R r, v = v_l + ω × R r, all in the mount's axes: against matrices written out."""
    rpy, mount, arm = np.array([0.3, -0.5, 1.1]), np.array([10.0, -20.0, 120.0]), np.array([0.4, -0.3, 0.2])
    linear, angular = np.array([1.0, -2.0, 0.5]), np.array([0.2, 0.7, -0.4])
    pose = Pose(np.array([5.0, 6.0, -7.0]), rpy_to_quaternion(rpy))
    sensor = Odometry(
        link="l", frequency=10, position=tuple(arm), roll_deg=mount[0], pitch_deg=mount[1], yaw_deg=mount[2]
    ).build()
    reading = sensor.measure(One(FakeSample(lambda _: (pose, Twist(linear, angular)))), NOISE)[0]

    def matrix(roll: float, pitch: float, yaw: float) -> Array:
        (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
        about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        return about_z @ about_y @ about_x

    link = matrix(*rpy)
    own = link @ matrix(*np.radians(mount))
    assert reading.pose.position == pytest.approx(np.array([5.0, 6.0, -7.0]) + link @ arm, abs=1e-12)
    assert reading.pose.rotation == pytest.approx(own, abs=1e-12)
    assert reading.twist.linear == pytest.approx(own.T @ (linear + np.cross(angular, link @ arm)), abs=1e-12)
    assert reading.twist.angular == pytest.approx(own.T @ angular, abs=1e-12)


def test_odometry_of_a_robot_agrees_with_the_robot() -> None:
    """At the root it is pose and twist themselves; at a fixed link, and on a moving one, what rigid bodies say."""
    extra = {
        "at_gps": {"kind": "odometry", "link": "gps_link", "frequency": 200},
        "at_battery": {"kind": "odometry", "link": "battery_link", "frequency": 200},
        "at_prop": {"kind": "odometry", "link": "front_prop_link", "frequency": 200},
    }
    overrides = {"robots": {"sam": {"overrides": {"sensors": extra | {"odometry": {"frequency": 200}}}}}}
    with skerry.load("sam_empty", overrides=overrides) as world:
        sam = world.robots["sam"]
        for name in ("thruster1", "thruster2"):
            sam.actuators[name].command(rpm=900.0)
        sam.actuators["thrust_vector_yaw"].command(angle=0.1)
        sam.actuators["lcg"].command(percent=100.0)
        world.advance(2.0)
        root = sam.sensors["odometry"].reading
        assert (root.pose.position == sam.pose.position).all()
        assert root.twist.linear == pytest.approx(sam.twist.linear, abs=1e-12)
        fixed = sam.sensors["at_gps"].reading
        arm = np.array([0.528, 0.0, 0.071])
        assert fixed.twist.linear == pytest.approx(sam.twist.linear + np.cross(sam.twist.angular, arm), abs=1e-12)
        moving = sam.sensors["at_battery"].reading
        arm = np.array([-0.08 + sam.joint_position("battery_joint"), 0.0, 0.0])
        slide = np.array([sam.joint_velocity("battery_joint"), 0.0, 0.0])
        rigid = sam.twist.linear + np.cross(sam.twist.angular, arm)
        assert moving.twist.linear == pytest.approx(rigid + slide, abs=1e-12)
        assert slide[0] > 0.005
        yaw = sam.joint_position("thruster_yaw_joint")
        turned = quaternion_to_rpy(
            multiply(inverse(sam.pose.orientation), sam.sensors["at_prop"].reading.pose.orientation)
        )
        assert turned[2] == pytest.approx(yaw, abs=1e-6)


# ------------------------------------------------------------------------------------------------ noise


NOISY = ("imu", "sbg_imu", "depth20", "depth300")


def _readings(
    seed: int | None = None, overrides: Any = None, names: Any = NOISY, steps: Any = (200,)
) -> dict[str, Any]:
    """Readings of SAM's sensors at 1 s, each as bytes, read in the order and at the times given."""
    sensors = {} if overrides is None else {"robots": {"sam": {"overrides": {"sensors": overrides}}}}
    with skerry.load("sam_empty", seed=seed, overrides=sensors) as world:
        found = world.robots["sam"].sensors
        for count in steps:
            for name in names:
                assert found[name].reading is not None
            world.advance_steps(count)
        return {name: pickle.dumps(found[name].reading) for name in names}


def test_the_same_seed_gives_the_same_noise_and_another_another() -> None:
    first = _readings(seed=5)
    assert _readings(seed=5) == first
    assert all(value != first[name] for name, value in _readings(seed=6).items())


def test_adding_or_removing_a_sensor_leaves_the_others_noise_unchanged() -> None:
    more = {f"extra{k}": {"kind": "imu", "link": "imu_link", "frequency": 200} for k in range(3)}
    first = _readings()
    assert _readings(overrides=more) == first
    assert _readings(overrides={"battery": None, "gps": None}) == first
    with skerry.load("sam_empty", overrides={"robots": {"sam": {"overrides": {"sensors": more}}}}) as world:
        found = world.robots["sam"].sensors
        readings = [found[name].reading.linear_acceleration for name in ("imu", *more)]
        assert len({reading.tobytes() for reading in readings}) == 4  # though all sit at one place


def test_noise_does_not_depend_on_the_time_or_order_of_readings() -> None:
    first = _readings()
    assert _readings(names=tuple(reversed(NOISY))) == first
    assert _readings(steps=[1] * 200) == first
    assert _readings(steps=[3, 50, 147]) == first
    for name in NOISY:
        assert _readings(names=(name,)) == {name: first[name]}
        with skerry.load("sam_empty") as world:  # no earlier reading
            world.advance(1.0)
            assert pickle.dumps(world.robots["sam"].sensors[name].reading) == first[name]


def test_reading_sensors_does_not_disturb_the_world() -> None:
    """The same bytes of state with every sensor read at every step as with none."""
    states = []
    for read in (False, True):
        with skerry.load("sam_empty") as world:
            sam = world.robots["sam"]
            sam.actuators["thruster1"].command(rpm=700.0)
            for _ in range(100):
                for sensor in sam.sensors.values() if read else ():
                    assert sensor.reading is not None or sensor is sam.sensors["gps"]
                world.advance_steps(1)
            states.append(world._engine.states.tobytes())
    assert states[0] == states[1]


def test_two_robots_of_one_kind_have_noise_of_their_own(worlds) -> None:
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": 10}}
    world = worlds({"one": {"sensors": sensors}, "two": {"sensors": sensors}})
    one, two = (world.robots[name].sensors["imu"].reading.linear_acceleration for name in ("one", "two"))
    assert (one != two).all()


# ------------------------------------------------------------------------------------------------ rates and state


def test_thirty_hertz_at_two_hundred_steps_is_thirty_readings_in_every_second(worlds) -> None:
    """Due when the whole part of t × 30 grows: 30 per second, none of them more than a step late."""
    world = worlds({"cube": {"sensors": {"truth": {"kind": "odometry", "link": "cube", "frequency": 30}}}})
    sensor = world.robots["cube"].sensors["truth"]
    times = [sensor.reading.time]
    for _ in range(2000):
        world.advance_steps(1)
        if sensor.reading.time != times[-1]:
            times.append(sensor.reading.time)
    taken = np.array(times)
    assert taken[0] == 0.0
    for second in range(10):
        assert np.count_nonzero((taken > second) & (taken <= second + 1)) == 30
    lateness = taken - np.arange(301) / 30
    assert (lateness > -1e-12).all()
    assert lateness.max() < 1 / 200


@dataclass(frozen=True)
class Count:
    """Number of the measurement."""

    time: float = unit("s")
    number: int = unit("")


class Counting(SimpleSensor[Count]):
    """Sensor that counts its measurements; `silent` makes it measure nothing."""

    execution = "batch"

    def __init__(self, silent: bool = False) -> None:
        self.calls, self.silent = 0, silent

    def measure_one(self, sample: Any, noise: Noise) -> Count | None:
        self.calls += 1
        return None if self.silent else Count(sample.time, self.calls)


@pytest.fixture
def sam() -> Iterator[World]:
    with skerry.load("sam_empty") as world:
        yield world


def counting(world: World, name: str = "imu") -> tuple[MountedSensor[Count], Counting]:
    """Replace a sensor (20 Hz) of SAM by one that counts."""
    mounted = world.robots["sam"].sensors[name]
    mounted.sensor = sensor = Counting()
    return mounted, sensor


@pytest.mark.parametrize("execution", ["batch", "now"])
def test_a_reading_is_that_of_the_latest_due_tick_and_is_measured_once(sam: World, execution: str) -> None:
    it, sensor = counting(sam)
    sensor.execution = execution  # type: ignore[assignment]
    assert (it.reading, it.reading, sensor.calls) == (Count(0.0, 1), Count(0.0, 1), 1)
    sam.advance_steps(9)
    assert it.reading == Count(0.0, 1)
    sam.advance_steps(8)  # 85 ms; due at 50 ms
    assert (it.reading, it.reading, sensor.calls) == (Count(0.05, 2), Count(0.05, 2), 2)
    sam.advance(1.0)  # many due ticks: only the latest is measured
    assert (it.reading, sensor.calls) == (Count(1.05, 3), 3)


def test_a_reading_is_the_same_whenever_it_is_requested(sam: World) -> None:
    """Whether the world stopped at its due tick or passed it, and whether other readings were requested before."""
    found = set()
    for stops, read in (([219], False), ([210, 9], True), ([213, 6], True), ([1] * 219, False), ([1] * 219, True)):
        sam.reset()
        parts = sam.robots["sam"].sensors
        sam.robots["sam"].actuators["thruster1"].command(rpm=900.0)
        for steps in stops:
            sam.advance_steps(steps)
            if read:
                assert parts["imu"].reading is not None
        found.add(pickle.dumps({name: part.reading for name, part in parts.items() if "camera" not in name}))
    assert len(found) == 1


def test_has_new_data_is_true_when_a_reading_was_due_since_the_last_one_was_read(sam: World) -> None:
    it, sensor = counting(sam)
    assert it.has_new_data
    assert it.reading is not None
    assert not it.has_new_data
    sam.advance_steps(9)
    assert not it.has_new_data
    sam.advance_steps(1)
    assert it.has_new_data
    assert it.has_new_data  # until it is read
    assert it.reading is not None
    assert not it.has_new_data
    sam.advance(0.05)
    it.on = False
    assert not it.has_new_data
    it.on, sensor.silent = True, True
    sam.advance(0.05)
    assert not it.has_new_data  # nothing was measured
    sensor.silent = False
    sam.advance(0.05)
    assert it.has_new_data


def test_has_new_data_can_be_polled_without_reading(sam: World) -> None:
    it, sensor = counting(sam)
    for _ in range(3):
        assert it.has_new_data
        sam.advance(0.05)
    assert sensor.calls <= 3
    times = []
    for _ in range(100):
        sam.advance_steps(1)
        if it.has_new_data:
            times.append(it.reading.time)
    assert times == pytest.approx(0.15 + 0.05 * np.arange(11))


def test_a_sensor_is_measured_only_where_its_readings_are_used(sam: World) -> None:
    it, sensor = counting(sam)
    _, unused = counting(sam, "odometry")
    assert it.reading is not None
    sam.advance(1.0)
    assert (sensor.calls, unused.calls) == (1, 0)
    recorded = sam.advance(1.0, record=["sam/imu"])
    assert (len(recorded["sam/imu"]), sensor.calls, unused.calls) == (20, 21, 0)
    assert recorded["sam/imu"].time == pytest.approx(1.0 + 0.05 * np.arange(1, 21))
    sam.advance(1.0)
    assert sensor.calls == 21


def test_a_stateful_sensor_does_not_depend_on_its_readers(sam: World) -> None:
    """Leak count and energy: those of a run in which nothing was read."""

    def run(read: bool) -> tuple[str, bytes]:
        sam.reset()
        parts = sam.robots["sam"].sensors
        parts["leak"].trigger()
        for _ in range(20):
            sam.advance(0.1)
            if read:
                assert all(part.reading is not None for name, part in parts.items() if name in ("leak", "battery"))
        return sam.fingerprint(), sam.snapshot().data

    first = run(read=False)
    assert sam.robots["sam"].sensors["leak"].reading.leak_count == 14
    assert run(read=True) == first


def test_a_first_reading_is_that_of_a_due_tick_and_not_of_the_time_of_access() -> None:
    sam = {"pose": {"position": [0, 0, 1]}, "anchored": True, "overrides": {"sensors": {"gps": {"frequency": 1}}}}
    with skerry.load({"extends": "sam_empty", "robots": {"sam": sam}}) as world:
        world.advance(0.75)
        assert world.robots["sam"].sensors["gps"].reading.time == 0.0
        world.advance(0.75)
        assert world.robots["sam"].sensors["gps"].reading.time == 1.0


def test_a_world_that_continues_a_state_of_a_batch_has_readings_on_schedule() -> None:
    with build_batch("sam_empty", [1]) as batch, skerry.load("sam_empty", seed=1) as world:
        batch.advance(0.33)
        world.load_state(batch.state(0))
        sensors = world.robots["sam"].sensors
        assert (sensors["depth300"].reading.time, sensors["imu"].reading.time) == (0.32, 0.3)
        world.advance(0.1)
        assert sensors["imu"].reading.linear_acceleration == pytest.approx([0, 0, 9.81], abs=0.1)


def test_a_robot_that_is_added_counts_its_leaks_whether_or_not_it_is_read(sam: World) -> None:
    leaking = {"vehicle": "sam", "overrides": {"sensors": {"leak": {"leaked": True}}}}
    counts = []
    for read in (False, True):
        sam.reset()
        sam.advance(0.33)
        sam.spawn("second", {**leaking, "pose": {"position": [0, 10, -5]}})
        if read:
            assert sam.robots["second"].sensors["leak"].reading.leak_count == 1
        sam.advance(1.0)
        counts.append(sam.robots["second"].sensors["leak"].reading.leak_count)
        sam.delete("second")
    assert counts == [8, 8]


def test_a_sensor_that_returns_the_wrong_number_of_readings_is_an_error_with_its_name(sam: World) -> None:
    it, sensor = counting(sam)
    sensor.measure = lambda view, noise: Readings.of(Count, [Count(0.0, 1), Count(0.0, 2)])  # type: ignore[method-assign]
    with pytest.raises(SkerryError, match=r"sam/imu: `Counting.measure` returned 2 readings for 1 samples"):
        _ = it.reading


def test_recorded_readings_are_those_that_a_callback_gets(sam: World) -> None:
    got: list[int] = []
    sam.robots["sam"].sensors["dvl"].deliver = lambda ticks, readings: got.extend(ticks)
    recorded = sam.advance(1.0, record=["sam/dvl", "sam/imu", "sam/dvl"])
    assert list(recorded) == ["sam/dvl", "sam/imu"]
    assert len(recorded["sam/dvl"]) == len(got)
    assert "sam/imu (20)" in repr(recorded)
    with pytest.raises(UnknownName, match="did you mean 'sam/imu'"):
        recorded["sam/imo"]
    with pytest.raises(UnknownName, match="did you mean 'dvl'"):
        sam.advance(1.0, record=["sam/dlv"])


def test_readings_survive_snapshot_and_restore_bit_by_bit() -> None:
    """Between two due times too: the reading is the earlier one, and the next comes when it is due."""
    with skerry.load("sam_empty") as world, skerry.load("sam_empty") as other:
        sam = world.robots["sam"]
        sam.actuators["thruster1"].command(rpm=700.0)
        for sensor in sam.sensors.values():
            assert sensor.reading is not None or sensor is sam.sensors["gps"]
        world.advance(0.5)
        world.advance_steps(3)
        before = world.snapshot()
        now = {name: pickle.dumps(sensor.reading) for name, sensor in sam.sensors.items()}
        world.advance(0.43)
        later = {name: pickle.dumps(sensor.reading) for name, sensor in sam.sensors.items()}
        for again in (world, other):
            again.restore(before)
            found = again.robots["sam"].sensors
            assert {name: pickle.dumps(sensor.reading) for name, sensor in found.items()} == now
            again.advance(0.43)
            assert {name: pickle.dumps(sensor.reading) for name, sensor in found.items()} == later


def test_teleporting_one_robot_does_not_change_the_readings_of_another(worlds) -> None:
    """The last step of the other robot keeps its acceleration."""
    sensors = {"imu": {"kind": "imu", "link": "cube", "frequency": 200, **PERFECT}}
    screw = {"kind": "propeller", "link": "cube", "rpm_to_force": 0.01, "maximum_rpm": 100.0}
    world = worlds({"one": {"sensors": sensors, "actuators": {"push": screw}}, "two": {}})
    world.robots["one"].actuators["push"].command(rpm=100.0)
    world.advance_steps(10)
    world.teleport("two", Pose(np.array([50.0, 0, 0]), np.array([0.0, 0, 0, 1])))
    assert world.robots["one"].sensors["imu"].reading.linear_acceleration == pytest.approx([1.0, 0, 0], abs=1e-9)


def test_a_snapshot_is_data_and_runs_no_code(sam: World, tmp_path, monkeypatch) -> None:
    """A snapshot may come from a stranger: one that names a function is refused before the function is called."""
    (tmp_path / "stranger.py").write_text("raise SystemExit('code of a snapshot was run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    for text in (b"cskerry.core.config\nimport_module\n(Vstranger\ntR.", b"cnumpy.testing\nrundocs\n(Vstranger\ntR."):
        it, _ = counting(sam)
        with pytest.raises(pickle.UnpicklingError, match="must not name"):
            it.set_state(text)


# ------------------------------------------------------------------------------------------------ a user's own


PACKAGE = """
from dataclasses import dataclass
from typing import Literal
import numpy as np
from skerry.core.units import unit
from skerry.parts.sensor import SensorConfig, SimpleSensor

@dataclass(frozen=True)
class TemperatureReading:
    time: float = unit("s")
    celsius: float = unit("°C")

class TemperatureSensor(SimpleSensor[TemperatureReading]):
    def __init__(self, config, offset):
        self.config, self.offset = config, offset
    def measure_one(self, sample, noise):
        depth = -float((sample.pose(self.config.link) @ self.offset).position[2])
        return TemperatureReading(sample.time, 15.0 - 0.1 * depth + self.config.noise * noise.normal(sample.tick))

class Temperature(SensorConfig):
    kind: Literal["temperature"] = "temperature"
    noise: float = 0.0
    def build(self):
        return TemperatureSensor(self, self.offset())
"""
USE = """
import skerry
from skerry.parts.sensor import SENSORS
assert "temperature" in SENSORS.kinds() and "imu" in SENSORS.kinds()
part = {"kind": "temperature", "link": "base_link", "frequency": 5, "position": [0, 0, 0.5]}
sensors = {"exact": part, "rough": part | {"noise": 0.1}}
with skerry.load("sam_empty", overrides={"robots": {"sam": {"overrides": {"sensors": sensors}}}}) as world:
    found = world.robots["sam"].sensors
    print(found["exact"].reading.celsius, abs(found["rough"].reading.celsius - 14.85) < 1.0)
    before = world.snapshot()
    world.advance(1.0)
    print(round(found["exact"].reading.time, 6), found["rough"].has_new_data)
    world.restore(before)
    print(found["exact"].reading.time)
"""


def test_a_new_sensor_in_a_users_own_package_is_found_by_its_kind(tmp_path) -> None:
    """A new sensor needs one file and an entry point, and no change in Skerry."""
    (tmp_path / "my_parts.py").write_text(PACKAGE)
    info = tmp_path / "my_parts-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-parts\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[skerry.sensors]\ntemperature = my_parts:Temperature\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE}"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["14.85", "True", "1.0", "True", "0.0"]
