"""The quadrotor and its tracking controller: hover, tracking, wind, turns, ditching, all in closed loop."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.control.tracking.spline import Spline
from skerry.control.tracking.tracking_law import allocate_thrusts
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_matrix, quaternion_to_rpy
from skerry.scenario import load_scenario

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}
PROPELLERS = ("front", "right", "back", "left")


@pytest.fixture
def fly(load):
    """Return a world with a quadrotor, by default 10 m up, and other settings."""

    def build(pose=None, overrides=None, robots=None, **scenario):
        drone = {"vehicle": "quadrotor", "pose": pose or {"position": [0, 0, 10]}}
        if overrides:
            drone["overrides"] = overrides
        return load({"reference": REFERENCE, "robots": {"drone": drone} | (robots or {})} | scenario)

    return build


def _lemniscate(half_length: float, speed: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A figure of eight (Gerono's) at a constant speed: 400 times and positions of one round, end included."""
    phase = np.linspace(0.0, 2.0 * np.pi, 20001)
    curve = half_length * np.column_stack([np.cos(phase), np.sin(2 * phase) / 2])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    marks = np.linspace(0.0, way[-1], 401)
    points = np.column_stack([np.interp(marks, way, curve[:, 0]), np.interp(marks, way, curve[:, 1])])
    points = np.column_stack([points, np.full(401, height)])
    points[-1] = points[0]
    return marks / speed, points


def test_the_controllers_model_is_that_of_the_vehicle() -> None:
    vehicle = load_scenario({"robots": {"a": {"vehicle": "quadrotor"}}, "reference": REFERENCE}).vehicles["a"]
    model = vehicle.config.controllers["tracking"]
    inertial = [link.inertial for link in vehicle.robot.links.values() if link.inertial is not None]
    (body,) = inertial
    assert body.mass == pytest.approx(model.mass)
    assert np.diag(np.reshape(body.inertia, (3, 3))) == pytest.approx(model.inertia)


def test_without_commands_it_hovers_where_it_starts(fly) -> None:
    world = fly({"position": [3, -2, 10], "yaw_deg": 30})
    drone = world.robots["drone"]
    world.advance(20.0)
    assert drone.pose.position == pytest.approx([3, -2, 10], abs=1e-3)  # the rope's weight is known within grams
    assert np.degrees(quaternion_to_rpy(drone.pose.orientation)) == pytest.approx([0, 0, 30], abs=1e-4)


def test_its_propellers_alone_carry_its_weight_by_default(fly) -> None:
    """T = m g/4 = 10.64 N each, 2128 rpm; without a controller it then drifts off only by what rounding leaves."""
    world = fly(overrides={"controllers": {"tracking": None}, "ropes": {"lift": None}})
    drone = world.robots["drone"]
    assert drone.actuators["front"].feedback == pytest.approx(4.34 * world.scenario.gravity / 4 / 0.005, rel=1e-6)
    world.advance(5.0)
    assert drone.pose.position == pytest.approx([0, 0, 10], abs=1e-6)


def test_four_propellers_lift_a_sam_with_as_much_again_to_steer(fly) -> None:
    world = fly()
    most = sum(p.limits[1] * p.thrust_per_rpm for n, p in world.robots["drone"].actuators.items() if n != "winch")
    assert most == pytest.approx(300.0)
    assert most > 1.5 * (4.34 + 15.0) * 9.81


def test_a_step_of_three_metres_is_flown_without_ringing(fly) -> None:
    """The position loop is critically damped at 2.8 rad/s: there within 3 s, at most a tenth beyond."""
    world = fly()
    drone = world.robots["drone"]
    drone.controllers["tracking"].go_to([3, 0, 10])
    furthest = 0.0
    for _ in range(60):
        world.advance(0.05)
        furthest = max(furthest, drone.pose.position[0])
    assert furthest < 3.3
    assert drone.pose.position == pytest.approx([3, 0, 10], abs=0.05)
    world.advance(5.0)
    assert drone.pose.position == pytest.approx([3, 0, 10], abs=0.005)


def test_it_turns_to_a_heading_with_the_yaw_torque_that_it_has(fly) -> None:
    """c = 8e-4 N m/N gives 0.25 rad/s² at hover: a quarter turn takes seconds, and disturbs the position by nothing."""
    world = fly()
    drone = world.robots["drone"]
    drone.controllers["tracking"].go_to([0, 0, 10], yaw_deg=90)
    yaws = []
    for _ in range(140):
        world.advance(0.1)
        yaws.append(np.degrees(quaternion_to_rpy(drone.pose.orientation)[2]))
        assert drone.pose.position == pytest.approx([0, 0, 10], abs=0.02)
    assert max(yaws) < 93
    assert yaws[-1] == pytest.approx(90, abs=1)


@pytest.mark.parametrize("half_length", [5.0, 8.0])
def test_it_tracks_a_lemniscate_at_3_m_per_s_within_35_cm_rms(fly, half_length) -> None:
    """Lee's controller tracks any smooth trajectory exactly but for motor lag, sampling and the drag of the air."""
    times, points = _lemniscate(half_length, 3.0, 10.0)
    world = fly({"position": points[0].tolist()})
    drone = world.robots["drone"]
    drone.controllers["tracking"].fly(times, points, repeat=True)
    errors, speeds = [], []
    world.advance(3.0)
    for _ in range(round(2 * times[-1] / 0.05)):
        world.advance(0.05)
        errors.append(np.linalg.norm(drone.pose.position - drone.controllers["tracking"].target))
        speeds.append(np.linalg.norm(drone.twist.linear))
    assert np.mean(speeds) == pytest.approx(3.0, abs=0.1)
    assert np.sqrt(np.mean(np.square(errors))) < 0.35


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_holds_station_in_5_m_per_s_of_wind_with_gusts_within_half_a_metre(fly, seed) -> None:
    """Drag is ½ ρ C A V², 0.6 N at 5 m/s: over m k_x of 35 N/m that is 2 cm; gusts of 1.5 m/s rms change it by half."""
    gusts = {"kind": "gauss_markov", "sigma": [1.5, 1.5, 0.5], "correlation_time": 3}
    wind = {"kind": "uniform", "velocity": [4, 3, 0]}
    world = fly(seed=seed, water={"winds": {"mean": wind, "gusts": gusts}})
    drone = world.robots["drone"]
    furthest = 0.0
    for _ in range(600):
        world.advance(0.1)
        furthest = max(furthest, float(np.linalg.norm(drone.pose.position - [0, 0, 10])))
    assert 0.001 < furthest < 0.5


def test_it_follows_another_robot_by_name(fly) -> None:
    """A SAM that runs at the surface, from 3 m above it; the target's velocity is fed forward."""
    full = {"rpm": 500}
    sam = {"vehicle": "sam", "pose": {"position": [0, 0, -0.1]}, "commands": {"thruster1": full, "thruster2": full}}
    world = fly({"position": [0, 0, 3]}, robots={"sam": sam})
    drone = world.robots["drone"]
    drone.controllers["tracking"].follow("sam", offset=[0, 0, 3])
    world.advance(20.0)
    ahead = world.robots["sam"].pose.position
    assert np.linalg.norm(ahead[:2]) > 5
    assert drone.pose.position == pytest.approx(ahead + np.array([0, 0, 3]), abs=0.15)


def test_an_unknown_target_is_an_error_at_load(fly) -> None:
    with pytest.raises(SkerryError, match="did you mean 'drone'"):
        fly(overrides={"controllers": {"tracking": {"target": "dron"}}})


def test_an_unknown_propeller_is_an_error_at_load(fly) -> None:
    with pytest.raises(SkerryError, match="there is no such actuator"):
        fly(overrides={"controllers": {"tracking": {"propellers": ["front", "right", "back", "lift"]}}})


def test_its_state_is_in_the_snapshot(fly) -> None:
    times, points = _lemniscate(5.0, 3.0, 10.0)
    ends = []
    world = fly()
    for other in (world, fly()):
        if other is world:
            world.robots["drone"].controllers["tracking"].fly(times, points, repeat=True, yaw_deg=45)
            world.advance(2.0)
            middle = world.snapshot()
        other.restore(bytes(middle))
        other.advance(2.0)
        ends.append(bytes(other.snapshot()))
    world.restore(middle)
    world.advance(2.0)
    assert ends[0] == ends[1] == bytes(world.snapshot())


@pytest.mark.parametrize(
    "pose",
    [
        {"position": [0, 0, 8]},
        {"position": [0, 0, 3], "roll_deg": 170},
        {"position": [0, 0, -4], "pitch_deg": 60},
        {"position": [0, 0, 0.05], "roll_deg": 30},
    ],
)
def test_it_ditches_and_floats_the_frame_awash(fly, pose) -> None:
    """With its motors off, it falls or rises to the surface and comes to rest; it never turns faster than 20 rad/s."""
    world = fly(pose, overrides={"controllers": {"tracking": None}})
    drone = world.robots["drone"]
    for name in PROPELLERS:
        drone.actuators[name].command(rpm=0)
    for _ in range(200):
        world.advance(0.1)
        assert np.linalg.norm(drone.twist.angular) < 20
        assert np.linalg.norm(drone.twist.linear) < 15
    assert drone.pose.position[2] == pytest.approx(0.0, abs=0.06)
    assert np.linalg.norm(drone.twist.linear) < 0.05


def test_it_survives_waves_with_its_controller_at_work(fly) -> None:
    """Propellers under water give no thrust, whatever the controller commands: the state stays finite and calm."""
    waves = {"kind": "waves", "height": 1, "period": 5, "heading_deg": 0}
    world = fly({"position": [0, 0, 0], "roll_deg": 40}, water={"surface": waves})
    drone = world.robots["drone"]
    drone.controllers["tracking"].go_to([0, 0, -1])
    for _ in range(100):
        world.advance(0.2)
        assert np.isfinite(world._engine.states).all()
        assert np.linalg.norm(drone.twist.linear) < 20


def test_it_takes_off_from_the_water(fly) -> None:
    """Afloat and level its propellers, 0.38 m wide and awash, have half their thrust: 150 N, enough to rise."""
    world = fly({"position": [0, 0, 0]})
    drone = world.robots["drone"]
    drone.controllers["tracking"].go_to([0, 0, 5])
    world.advance(8.0)
    assert drone.pose.position == pytest.approx([0, 0, 5], abs=0.05)


def test_a_released_controller_leaves_the_propellers_alone(fly) -> None:
    world = fly()
    drone = world.robots["drone"]
    drone.controllers["tracking"].release()
    drone.actuators["front"].command(rpm=0)
    world.advance(0.5)
    assert drone.actuators["front"].setpoint == 0
    assert drone.controllers["tracking"].idle
    drone.controllers["tracking"].engage()
    assert not drone.controllers["tracking"].idle


def test_its_downwash_acts_on_bodies_below(fly) -> None:
    """A cone of at most 0.1 N below each propeller: a ball of 1 kg, 2 m below, is in all four, and falls 8 mm more."""
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 1.0}
    places = {"below": [0.315, 0, 8], "beside": [9, 0, 8]}
    world = fly(objects={name: ball | {"pose": {"position": place}} for name, place in places.items()})
    world.advance(0.2)
    below, beside = (world.objects[name].pose.position[2] for name in places)
    assert beside - below == pytest.approx(0.5 * 0.4 * 0.2**2, rel=0.1)


def test_thrust_roll_and_pitch_have_priority_over_yaw() -> None:
    """A plus of arm d and torque coefficient c (Lee 2010, eq. 1); yaw gets the remaining range, the rest is exact."""
    d, c = 0.315, 8.004e-4
    matrix = np.array([[1, 1, 1, 1], [0, -d, 0, d], [-d, 0, d, 0], [c, -c, c, -c]])
    thrusts = allocate_thrusts(np.array([40.0, 0.5, -0.3, 1.0]), np.linalg.inv(matrix), np.full(4, 75.0))
    assert (matrix @ thrusts)[:3] == pytest.approx([40.0, 0.5, -0.3])
    assert 0 < (matrix @ thrusts)[3] < 1.0
    assert thrusts.min() >= 0
    assert (allocate_thrusts(np.array([900.0, 3, 0, 0]), np.linalg.inv(matrix), np.full(4, 75.0)) <= 75.0).all()


def test_a_trajectory_passes_its_points_and_closes_smoothly() -> None:
    times, points = _lemniscate(5.0, 3.0, 10.0)
    spline = Spline(times, points, repeat=True)
    assert spline.at(times[7])[0] == pytest.approx(points[7])
    assert spline.at(times[-1] - 1e-9)[:3] == pytest.approx(spline.at(times[-1] + 1e-9)[:3], abs=1e-5)
    step = 1e-5
    rate = (spline.at(1.0 + step)[:3] - spline.at(1.0 - step)[:3]) / (2 * step)
    assert rate == pytest.approx(spline.at(1.0)[1:4], abs=1e-3)
    with pytest.raises(SkerryError, match="ascending order"):
        Spline([0, 1, 1], np.zeros((3, 3)), repeat=False)


def test_desired_rates_are_those_of_the_desired_attitude(fly) -> None:
    """Along a circle it leans inwards by atan(v²/(r g)), all the way round: the attitude follows without a lag."""
    radius, speed = 6.0, 4.0
    phase = np.linspace(0, 2 * np.pi, 101)
    points = np.column_stack([radius * np.cos(phase), radius * np.sin(phase), np.full(101, 10.0)])
    points[-1] = points[0]
    world = fly({"position": [radius, 0, 10]}, overrides={"forces": {"air": None}})
    drone = world.robots["drone"]
    drone.controllers["tracking"].fly(phase * radius / speed, points, repeat=True)
    world.advance(2 * np.pi * radius / speed)
    lean = np.degrees(np.arctan2(speed**2 / radius, world.scenario.gravity))
    for _ in range(20):
        world.advance(0.2)
        up = quaternion_to_matrix(drone.pose.orientation)[:, 2]
        inwards = -drone.pose.position[:2] / np.linalg.norm(drone.pose.position[:2])
        assert np.degrees(np.arctan2(up[:2] @ inwards, up[2])) == pytest.approx(lean, abs=1.0)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_commands_for_a_minute_leave_it_finite_and_slow(fly, seed) -> None:
    """Every actuator anywhere within its limits, changed each second; energy stays bounded."""
    world = fly(seed=seed, overrides={"controllers": {"tracking": None}})
    robot = world.robots["drone"]
    random = np.random.default_rng(seed)
    for _ in range(60):
        for actuator in robot.actuators.values():
            actuator.command(**{actuator.keyword: random.uniform(*actuator.limits)})
        world.advance(1.0)
        assert np.isfinite(world._engine.states).all()
        assert np.linalg.norm(robot.twist.linear) < 60
