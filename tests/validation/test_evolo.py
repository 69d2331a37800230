"""Evolo: its speeds, its roll, its turns and its height, in closed loop; waves and walls."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_matrix, quaternion_to_rpy
from skerry.scenario import load_scenario

KNOT = 1852 / 3600
AFLOAT = {"position": [0, 0, 0.408]}  # 0.506 m of keel less 0.098 m of draught
KEEL = 0.506
REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}


@pytest.fixture
def launch(load):
    """Return a world with an Evolo afloat at rest, and other settings."""

    def build(pose=AFLOAT, overrides=None, **scenario):
        boat = {"vehicle": "evolo", "pose": pose}
        if overrides:
            boat["overrides"] = overrides
        world = load({"reference": REFERENCE, "robots": {"evolo": boat}} | scenario)
        boat = world.robots["evolo"]
        return world, boat, boat.controllers.get("flight")

    return build


def _center_velocity(boat) -> np.ndarray:
    """Return the velocity of the centre of mass, in the body's axes."""
    twist = boat.twist
    return twist.linear + np.cross(twist.angular, [-0.0118, 0, -0.4595])


def _knots(boat) -> float:
    return float(_center_velocity(boat)[0]) / KNOT


def _roll(boat) -> float:
    return float(np.degrees(quaternion_to_rpy(boat.pose.orientation)[0]))


def _yaw_rate(boat) -> float:
    """Return the rate of turn about the vertical, rad/s."""
    return float((quaternion_to_matrix(boat.pose.orientation) @ boat.twist.angular)[2])


def test_the_controllers_model_is_that_of_the_vehicle() -> None:
    vehicle = load_scenario({"robots": {"a": {"vehicle": "evolo"}}, "reference": REFERENCE}).vehicles["a"]
    model = vehicle.config.controllers["flight"]
    places = {joint.child: np.array(joint.position) for joint in vehicle.robot.joints.values()}
    mass, moment, tensor = 0.0, np.zeros(3), np.zeros(3)
    for name, link in vehicle.robot.links.items():
        if (body := link.inertial) is not None:
            at = places.get(name, np.zeros(3)) + body.position
            inertia = np.diag(np.reshape(body.inertia, (3, 3)))
            inertia = inertia[[0, 2, 1]] if name == "rudder_link" else inertia
            mass, moment = mass + body.mass, moment + body.mass * at
            tensor += inertia + body.mass * (at @ at - at**2)
    center = moment / mass
    assert mass == pytest.approx(model.mass)
    assert center == pytest.approx(model.center_of_mass, abs=0.001)
    assert tensor - mass * (center @ center - center**2) == pytest.approx(model.inertia, rel=0.02)
    mast = vehicle.config.forces["mast"]
    ratio = mast.aspect_ratio
    assert (mast.position, mast.area) == (model.mast_position, model.mast_area)
    assert model.mast_lift_slope == pytest.approx(2 * np.pi * ratio / (ratio + 2), rel=1e-3)


def test_it_floats_level_and_stays_put_without_commands(launch) -> None:
    world, boat, _ = launch()
    world.advance(30.0)
    assert boat.pose.position == pytest.approx([0, 0, 0.408], abs=0.01)
    assert np.degrees(quaternion_to_rpy(boat.pose.orientation)) == pytest.approx([0, 0, 0], abs=0.5)


def test_it_takes_4_seconds_from_rest_to_8_knots(launch) -> None:
    """10 kn in 5 s (the SMaRC simulator's Evolo): 2 kn/s, so 4.0 s; a tenth for the loop's lag."""
    world, boat, flight = launch()
    flight.command(speed_kn=8)
    while _knots(boat) < 8 and world.time < 10:
        world.advance(0.02)
    assert world.time == pytest.approx(4.0, abs=0.2)
    world.advance(12.0)
    assert _knots(boat) == pytest.approx(8.0, abs=0.02)


@pytest.mark.parametrize(
    ("wish", "held"), [(-9, -3), (-2, -2), (0, 0), (3, 0), (5, 8), (8, 8), (11, 11), (13, 13), (40, 13)]
)
def test_it_is_never_steady_between_0_and_8_knots(launch, wish, held) -> None:
    """A setpoint that cannot be held becomes the nearest one that can."""
    world, boat, flight = launch()
    flight.command(speed_kn=wish)
    assert flight.speed_kn == pytest.approx(held)
    world.advance(20.0)
    assert _knots(boat) == pytest.approx(held, abs=0.05)


def test_one_command_stops_it_from_full_speed(launch) -> None:
    """13 kn at 2 kn/s are 6.5 s; the hull then brakes the rest."""
    world, boat, flight = launch()
    flight.command(speed_kn=13)
    world.advance(12.0)
    flight.command(speed_kn=0)
    world.advance(9.0)
    assert abs(_knots(boat)) < 0.5
    world.advance(20.0)
    assert abs(_knots(boat)) < 0.05
    assert boat.pose.position[2] == pytest.approx(0.408, abs=0.01)


@pytest.mark.parametrize("speed", [8, 10, 13])
@pytest.mark.parametrize("side", [1, -1])
def test_it_rolls_to_13_degrees_in_half_a_second(launch, speed, side) -> None:
    """25°/s (the SMaRC simulator's Evolo): 0.52 s; the servos' lag lets it swing over by less than 2°."""
    world, boat, flight = launch()
    flight.command(speed_kn=speed)
    world.advance(15.0)
    start = world.time
    flight.command(roll_deg=side * 13)
    while abs(_roll(boat)) < 12.9 and world.time < start + 2:
        world.advance(0.01)
    assert world.time - start == pytest.approx(0.52, abs=0.06)
    rolls = []
    for _ in range(100):
        world.advance(0.02)
        rolls.append(abs(_roll(boat)))
    assert max(rolls) < 15
    assert rolls[-1] == pytest.approx(13, abs=0.1)


@pytest.mark.parametrize(("speed", "roll"), [(8, 13), (10, 13), (10, -13), (13, 13), (13, 5)])
def test_it_turns_at_the_rate_of_a_coordinated_turn_within_1_percent(launch, speed, roll) -> None:
    """ψ̇ = g tan φ/V, V being that of the centre of mass: 25.2°/s at 10 kn and 13°; starboard down turns right."""
    world, boat, flight = launch()
    flight.command(speed_kn=speed)
    world.advance(15.0)
    flight.command(roll_deg=roll)
    world.advance(15.0)
    expected = -world.scenario.gravity * np.tan(np.radians(roll)) / (speed * KNOT)
    assert _yaw_rate(boat) == pytest.approx(expected, rel=0.01)
    velocity = _center_velocity(boat)
    assert abs(velocity[1]) < 0.02 * velocity[0]  # the boat does not slip


def test_it_does_not_roll_unless_it_foils(launch) -> None:
    """The setpoint is stored, applies once the foiling speed is reached, and ends below that speed."""
    world, boat, flight = launch()
    flight.command(roll_deg=13)
    world.advance(3.0)
    assert abs(_roll(boat)) < 0.5
    flight.command(speed_kn=8)
    fastest_level = 0.0
    while world.time < 12:
        world.advance(0.05)
        if _knots(boat) < 7.3:
            fastest_level = max(fastest_level, abs(_roll(boat)))
    assert fastest_level < 2
    assert _roll(boat) == pytest.approx(13, abs=0.2)
    flight.command(speed_kn=0)
    world.advance(6.0)
    assert abs(_roll(boat)) < 1


def test_its_keel_rides_higher_with_speed_up_to_35_cm(launch) -> None:
    """From a draught of 0.098 m afloat to 0.35 m above the water at 8 kn, and so on to 13 kn."""
    world, boat, flight = launch()
    flight.command(speed_kn=8)
    heights = []
    for _ in range(8):
        world.advance(0.5)
        heights.append(boat.pose.position[2] - KEEL)
    assert (np.diff(heights[1:]) > 0).all()
    for speed in (8, 10, 13):
        flight.command(speed_kn=speed)
        world.advance(15.0)
        assert boat.pose.position[2] - KEEL == pytest.approx(0.35, abs=0.02)


def test_it_keeps_flying_in_waves_and_moves_with_them(launch) -> None:
    """Regular waves of 0.3 m height and 4 s move the boat, but it keeps its speed and stays upright."""
    waves = {"kind": "waves", "spectrum": "regular", "height": 0.3, "period": 4, "heading_deg": 270}
    world, boat, flight = launch(water={"surface": waves})
    flight.command(speed_kn=10)
    world.advance(12.0)
    heights, speeds = [], []
    for _ in range(100):
        world.advance(0.1)
        heights.append(boat.pose.position[2])
        speeds.append(_knots(boat))
        roll, pitch, _ = np.degrees(quaternion_to_rpy(boat.pose.orientation))
        assert abs(roll) < 10
        assert abs(pitch) < 15
    assert np.mean(speeds) == pytest.approx(10, abs=0.5)
    assert np.ptp(heights) > 0.02


def test_a_wall_stops_it_and_its_contact_sensor_reports_it(launch) -> None:
    """At any speed the contact sensor detects the wall, and the boat stays in front of it."""
    wall = {"geometry": {"kind": "box", "size": [2, 60, 12]}, "pose": {"position": [61, 0, 0]}, "material": "concrete"}
    world, boat, flight = launch(objects={"wall": wall})
    flight.command(speed_kn=13)
    touched = False
    for _ in range(750):
        world.advance(0.02)
        reading = boat.sensors["collisions"].reading
        if reading is not None and reading.touching:
            touched = True
            assert {contact.other for contact in reading.contacts} == {"wall"}
        assert boat.pose.position[0] < 60
    assert touched
    assert np.isfinite(world._engine.states).all()


def test_its_lidar_has_16_channels_and_others_can_be_chosen(launch) -> None:
    quay = {"geometry": {"kind": "box", "size": [2, 60, 30]}, "pose": {"position": [20, 0, 0]}}
    for name, channels in (("lidar", 16), ("lidar_32", 32), ("lidar_128", 128)):
        chosen = {"alternatives": {"lidar": {"active": name}}, "sensors": {name: {"columns": 360}}}
        _, boat, _ = launch(overrides=chosen, objects={"quay": quay})
        rings = boat.sensors[name].reading.ring
        assert 0.6 * channels <= rings.max() < channels
        assert [part for part, sensor in boat.sensors.items() if "lidar" in part and sensor.on] == [name]


def test_port_and_starboard_are_alike(launch) -> None:
    """The torque of the propeller, the only asymmetry, is switched off here."""
    ends = []
    for side in (1, -1):
        world, boat, flight = launch(overrides={"actuators": {"propeller": {"torque_per_thrust": 0}}})
        flight.command(speed_kn=10)
        world.advance(8.0)
        flight.command(roll_deg=side * 13)
        world.advance(3.0)
        ends.append(boat.pose.position * [1, side, 1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_its_state_is_in_the_snapshot(launch) -> None:
    world, _, flight = launch()
    other, _, _ = launch()
    flight.command(speed_kn=10, roll_deg=5)
    world.advance(6.0)
    middle = world.snapshot()
    other.restore(bytes(middle))
    for each in (world, other):
        each.advance(2.0)
    assert bytes(world.snapshot()) == bytes(other.snapshot())


def test_a_command_that_is_not_a_number_is_refused(launch) -> None:
    _, _, flight = launch()
    for wrong in ({"speed_kn": np.nan}, {"roll_deg": np.inf}, {"speed_kn": "fast"}):
        with pytest.raises(SkerryError, match=r"speed_kn|roll_deg"):
            flight.command(**wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_commands_for_a_minute_leave_it_finite_and_slow(launch, seed) -> None:
    """Every actuator anywhere within its limits, changed each second; energy stays bounded."""
    world, robot, _ = launch(seed=seed, overrides={"controllers": {"flight": None}})
    random = np.random.default_rng(seed)
    for _ in range(60):
        for actuator in robot.actuators.values():
            actuator.command(**{actuator.keyword: random.uniform(*actuator.limits)})
        world.advance(1.0)
        assert np.isfinite(world._engine.states).all()
        assert np.linalg.norm(robot.twist.linear) < 15


def test_in_a_current_it_turns_as_in_still_water(launch) -> None:
    """Speed is that through the water, and so is the turn; the circle drifts with the current."""
    world, boat, flight = launch(water={"currents": {"tide": {"kind": "uniform", "velocity": [0.4, -0.6, 0]}}})
    flight.command(speed_kn=10, roll_deg=13)
    world.advance(25.0)
    expected = -world.scenario.gravity * np.tan(np.radians(13)) / (10 * KNOT)
    assert _yaw_rate(boat) == pytest.approx(expected, rel=0.01)
    start, turn = boat.pose.position[:2], 2 * np.pi / abs(_yaw_rate(boat))
    world.advance(turn)
    assert (boat.pose.position[:2] - start) / turn == pytest.approx([0.4, -0.6], abs=0.03)
