"""Wind on the part of a body above the water: its force in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.core.errors import SkerryError

RHO_AIR = 1.225
HIGH = {"position": [0.0, 0.0, 50.0]}
LINK = {"mass": 8.0, "inertia": [0.4, 0.5, 0.6]}
AREA, COEFFICIENT = [0.5, 0.8, 1.2], [1.0, 1.1, 0.9]
FACTOR = 0.5 * RHO_AIR * np.array(AREA) * np.array(COEFFICIENT)


def _drag(**settings):
    return {"kind": "wind_drag", "link": "hull", "area": AREA, "drag_coefficient": COEFFICIENT} | settings


@pytest.fixture
def craft(load, vehicle):
    """Return a world with one free body in a wind, by default without weight and high above the water."""

    def build(wind=(0.0, 0.0, 0.0), forces=None, pose=HIGH, link=LINK, **scenario):
        winds = {"breeze": {"kind": "uniform", "velocity": list(wind)}} if isinstance(wind, tuple) else wind
        robot = {"vehicle": vehicle({"hull": link}, forces or {"air": _drag()}), "pose": pose}
        settings = {"gravity": 0.0, "integrator": "rk4"} | scenario
        water = settings.pop("water", {})
        return load({"robots": {"craft": robot}, "water": {**water, "winds": winds}, **settings})

    return build


def _velocity(world):
    moving = world.robots["craft"]
    return moving.pose.rotation @ moving.twist.linear


@pytest.mark.parametrize("axis", range(3))
def test_wind_pushes_a_body_at_rest_by_its_dynamic_pressure(craft, axis):
    """F = ½ ρ C A w² along each axis. One step of 1 µs: v = F h/m, less by 2 F h/(m w) ≈ 1e-6."""
    wind = [0.0, 0.0, 0.0]
    wind[axis] = -12.0
    world = craft(tuple(wind), step="1/1000000")
    world.advance_steps(1)
    expected = np.zeros(3)
    expected[axis] = -FACTOR[axis] * 144.0 / 8.0 * 1e-6
    assert _velocity(world) == pytest.approx(expected, rel=1e-5, abs=1e-15)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("wind", [(9.0, -4.0, 2.0), (0.0, 0.0, 0.0)])
def test_wind_pushes_nothing_that_moves_with_it(craft, set_velocity, integrator, wind):
    """v = w: no force from the start, however the body is turned; to rounding."""
    world = craft(wind, pose=HIGH | {"yaw_deg": 30.0, "pitch_deg": 20.0}, integrator=integrator)
    set_velocity(world, wind)
    world.advance(5.0)
    assert _velocity(world) == pytest.approx(wind, abs=1e-12)


def test_a_body_blown_from_rest_gains_on_the_wind_hyperbolically(craft):
    """m v̇ = k (w − v)², so v = w − w/(1 + k w t/m). RK4 at 5 ms with k w h/m = 0.002: 1e-9."""
    world = craft((10.0, 0.0, 0.0))
    for instant in np.arange(1, 6) * 2.0:
        world.advance(2.0)
        expected = 10.0 - 10.0 / (1.0 + FACTOR[0] * 10.0 * instant / 8.0)
        assert _velocity(world)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_a_falling_box_ends_at_the_speed_at_which_air_carries_its_weight(craft, integrator):
    """½ ρ C A v² = m g: v = √(m g/k) = 10.9 m/s. It nears that as exp(−2 g t/v), 2 g/v = 1.8 1/s: rounding in 25 s."""
    world = craft(gravity=9.81, integrator=integrator, pose={"position": [0, 0, 900.0]})
    world.advance(25.0)
    assert -_velocity(world)[2] == pytest.approx(np.sqrt(8.0 * 9.81 / FACTOR[2]), rel=1e-10)


def test_a_body_in_a_steady_pull_drifts_at_the_wind_and_the_root_of_the_pull(craft):
    """(v − w)² k = F along an axis: v = w + √(F/k), for a constant force F of a force point without volume."""
    pull = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 1e-12, "custom_force": [3.0, 0, 0]}
    world = craft((4.0, 0.0, 0.0), {"pull": pull, "air": _drag()}, integrator="implicitfast")
    world.advance(200.0)
    assert _velocity(world)[0] == pytest.approx(4.0 + np.sqrt(3.0 / FACTOR[0]), rel=1e-9)


def test_equal_areas_all_round_feel_the_wind_along_it_from_any_side(craft):
    """With C A alike on all axes F = k |w| w, whichever way the body is turned; 1 µs as above."""
    same = _drag(area=[0.7] * 3, drag_coefficient=[1.0] * 3)
    wind = np.array([6.0, -8.0, 3.0])
    pose = HIGH | {"roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}
    world = craft(tuple(wind), {"air": same}, pose=pose, step="1/1000000")
    world.advance_steps(1)
    expected = 0.5 * RHO_AIR * 0.7 * np.linalg.norm(wind) * wind / 8.0 * 1e-6
    assert _velocity(world) == pytest.approx(expected, rel=1e-5)


def test_wind_acts_at_its_position_and_in_the_axes_of_its_mount(craft):
    """A mast: τ = r × F, with F along the turned axes of the mount. In 1 µs it gives way by 2 F h (r²/I)/w ≈ 2e-5."""
    place = np.array([0.3, -0.2, 1.1])
    mounted = _drag(position=place.tolist(), yaw_deg=90.0, area=[0.0, 0.8, 0.0])  # its y is the link's −x
    world = craft((10.0, 5.0, 0.0), {"air": mounted}, step="1/1000000")
    world.advance_steps(1)
    force = np.array([FACTOR[1] * np.hypot(10.0, 5.0) * 10.0, 0.0, 0.0])
    assert _velocity(world) == pytest.approx(force / 8.0 * 1e-6, rel=1e-4, abs=1e-15)
    turning = world.robots["craft"].twist.angular
    assert turning == pytest.approx(np.cross(place, force) / LINK["inertia"] * 1e-6, rel=1e-4, abs=1e-15)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_air_drag_that_would_explode_explicitly_slows_the_body_steadily(craft, set_velocity, integrator):
    """With h k |v|/m = 3000 an explicit step would throw it back; here it goes down and never past zero."""
    stiff = _drag(area=[1e4, 2e4, 5e3])
    world = craft((0.0, 0.0, 0.0), {"air": stiff}, integrator=integrator, step="1/100")
    set_velocity(world, [300.0, -200.0, 100.0])
    before = np.array([300.0, 200.0, 100.0])
    for _ in range(50):
        world.advance_steps(1)
        now = _velocity(world) * [1, -1, 1]
        assert (now >= 0.0).all()
        assert (now <= before).all()
        before = now
    assert before.max() < 0.01


def test_stiff_air_drag_at_a_mast_does_not_explode(craft, set_velocity):
    """The drag only takes energy, however stiff; the rotation about the mast's top remains, within 1 % per step."""
    stiff = _drag(area=[1e4, 2e4, 5e3], position=[0.5, 0.2, 0.3])
    world = craft((0.0, 0.0, 0.0), {"air": stiff}, integrator="implicitfast", step="1/100")
    set_velocity(world, [3.0, -2.0, 1.0])
    energy = 0.5 * 8.0 * 14.0
    for _ in range(50):
        world.advance_steps(1)
        twist = world.robots["craft"].twist
        now = 4.0 * twist.linear @ twist.linear + 0.5 * twist.angular @ (np.array(LINK["inertia"]) * twist.angular)
        assert now <= energy * 1.01
        energy = min(now, energy)


# ------------------------------------------------------------------------------------------------ wet and dry

SIZE = 0.6
CELLS = (np.arange(6) + 0.5) / 6 * SIZE - SIZE / 2
CUBE = {
    "kind": "force_points",
    "link": "hull",
    "points": [[x, y, z] for x in CELLS for y in CELLS for z in CELLS],
    "volume": SIZE**3,
    "depth_before_submerged": 0.05,
    "height_before_dry": 0.05,
}


@pytest.mark.parametrize("z, share", [(0.31, 1.0), (0.15, 0.75), (0.0, 0.5), (-0.15, 0.25), (-0.3, 0.0), (-9.0, 0.0)])
@pytest.mark.parametrize("mast", [0.0, 0.4])
def test_wind_acts_by_the_share_above_the_water(craft, z, share, mast):
    """F = s ½ ρ C A w² for a cube at any draught, also where the point that it acts at is wet; 1 µs as above."""
    forces = {"hull": CUBE, "air": _drag(position=[0, 0, mast])}
    world = craft((10.0, 0.0, 0.0), forces, {"position": [0, 0, z]}, step="1/1000000")
    world.advance_steps(1)
    assert _velocity(world)[0] == pytest.approx(share * FACTOR[0] * 100.0 / 8.0 * 1e-6, rel=1e-5, abs=1e-16)


def test_wind_in_the_water_and_currents_in_the_air_do_nothing(craft):
    """A body without force points is all dry or all wet, as its origin is: wind counts above, current below."""
    both = {"air": _drag(), "water": {"kind": "damping", "link": "hull", "linear": [5.0] * 3 + [0.0] * 3}}
    water = {"currents": {"stream": {"kind": "uniform", "velocity": [0.0, 1.0, 0.0]}}}
    for height, expected in ((2.0, [FACTOR[0] * 100.0, 0, 0]), (-2.0, [0, 5.0, 0])):
        world = craft((10.0, 0, 0), both, {"position": [0, 0, height]}, step="1/1000000", water=water)
        world.advance_steps(1)
        assert _velocity(world) == pytest.approx(np.array(expected) / 8.0 * 1e-6, rel=1e-5, abs=1e-16)


def test_a_floating_box_drifts_where_wind_and_water_agree(craft):
    """Half afloat: k_a (w − v)²/2 = k_w v²/2, so v = w/(1 + √(k_w/k_a)). Within 1 s of 1/e; 1e-6 for what heaves."""
    rho = 1025.0
    link = {"mass": 0.5 * rho * SIZE**3, "inertia": [6.6, 6.6, 6.6], "center": [0, 0, -0.2]}
    forces = {
        "hull": CUBE,
        "water": {
            "kind": "damping",
            "link": "hull",
            "quadratic": [180.0, 180, 180, 5, 5, 5],
            "linear": [0, 0, 900, 90, 90, 90],
        },
        "air": _drag(),
    }
    world = craft((15.0, 0, 0), forces, {"position": [0, 0, 0]}, link, gravity=9.81, integrator="implicitfast")
    world.advance(120.0)
    assert world.robots["craft"].pose.position[2] == pytest.approx(0.0, abs=1e-6)
    expected = 15.0 / (1.0 + np.sqrt(180.0 / FACTOR[0]))
    assert _velocity(world)[0] == pytest.approx(expected, rel=1e-6)


# ------------------------------------------------------------------------------------------------ the wind as a field


def test_a_body_feels_the_wind_that_python_sees_where_it_is(craft):
    """A wind that grows with height, in a box: v = F h/m with w from the profile at 30 m and at the mast 5 m higher."""
    winds = {
        "gust": {"kind": "profile", "heights": [0, 50], "velocities": [[0, 0, 0], [20, 0, 0]]},
        "hall": {
            "kind": "uniform",
            "velocity": [1, 0, 0],
            "volume": {"kind": "box", "center": [0, 0, 30], "size": [9, 9, 9]},
        },
    }
    heavy = LINK | {"inertia": [100.0, 100.0, 100.0]}  # so that the mast does not turn
    for mast, wind in ((0.0, 13.0), (5.0, 14.0)):
        world = craft(winds, {"air": _drag(position=[0, 0, mast])}, {"position": [0, 0, 30]}, heavy, step="1/1000000")
        assert world.sample_wind([0, 0, 30 + mast])[0] == pytest.approx(wind, rel=1e-14)
        world.advance_steps(1)
        assert _velocity(world)[0] == pytest.approx(FACTOR[0] * wind**2 / 8.0 * 1e-6, rel=1e-5)


def test_a_world_without_wind_has_still_air(craft, set_velocity):
    """v = v₀/(1 + k v₀ t/m) in air at rest; RK4 at 5 ms: 1e-9."""
    world = craft({})
    assert world.sample_wind([0, 0, 10]).tolist() == [0.0, 0.0, 0.0]
    set_velocity(world, [5.0, 0, 0])
    world.advance(4.0)
    assert _velocity(world)[0] == pytest.approx(5.0 / (1.0 + FACTOR[0] * 5.0 * 4.0 / 8.0), rel=1e-8)


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"area": [-1.0, 1, 1]}, "greater than or equal to 0"),
        ({"drag_coefficient": [1.0, 1.0]}, "needs 3 values"),
        ({"air_density": 0}, "greater than 0"),
        ({"link": "hul"}, "there is no such link"),
    ],
)
def test_bad_settings_of_wind_drag_are_refused(craft, settings, problem):
    with pytest.raises(SkerryError, match=problem):
        craft((1.0, 0, 0), {"air": _drag(**settings)})
