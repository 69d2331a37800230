"""The sea in waves and what floats in it: statistics, orbital motion, and bodies that ride or feel the waves."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.core.frames import Pose
from skerry.water import WaterConfig
from skerry.water.spectrum import jonswap, wavenumber

RHO, G = 1025.0, 9.81
REGULAR = {"kind": "waves", "spectrum": "regular", "heading_deg": 90.0}
SEA = {"kind": "waves", "height": 1.0, "period": 6.0, "heading_deg": 60.0}


def _water(**surface):
    return WaterConfig.model_validate({"surface": surface}).with_seed(1).build(G)


def _ball(z, density=RHO, **settings):
    """A ball of 0.1 m of a density, with its volume given exactly."""
    volume = 4 / 3 * np.pi * 0.1**3
    return {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "motion": "dynamic",
        "mass": density * volume,
        "volume": volume,
        "pose": {"position": [0.0, 0.0, z]},
        **settings,
    }


def _follow(world, name, seconds, step=0.05):
    """Times, places, turns and the water there."""
    times, places, turns, heights, slopes = [], [], [], [], []
    for _ in range(round(seconds / step)):
        world.advance(step)
        pose = world.objects[name].pose
        water = world.sample_water(pose.position)
        times.append(world.time)
        places.append(pose.position)
        turns.append(pose.rotation)
        heights.append(float(water.height))
        slopes.append(water.slope)
    return tuple(np.array(values) for values in (times, places, turns, heights, slopes))


def _harmonic(times, values, period):
    """The complex amplitude at a period, after a line (drift) is taken off, by least squares."""
    angle = 2 * np.pi / period * times
    columns = np.column_stack([np.cos(angle), np.sin(angle), np.ones_like(times), times])
    c, s, _, _ = np.linalg.lstsq(columns, values, rcond=None)[0]
    return complex(c, -s)


# ------------------------------------------------------------------------------------------------ statistics


@pytest.mark.parametrize("spectrum", ["jonswap", "pierson_moskowitz"])
def test_a_gauge_in_the_sea_measures_its_height_and_period(spectrum):
    """H_s = 4σ, T_z = √(m₀/m₂) of the spectrum up to the cut, by counting up-crossings (Rice 1944).

    Over 1.5 h, some 1150 waves, of a sum of 200 harmonics. Over seeds H_s then has a standard deviation of 0.8 % and
    the mean period one of 1.3 %: three of each are allowed.
    """
    water = _water(**SEA, spectrum=spectrum, components=200)
    times = np.arange(0.0, 5400.0, 0.25)
    heights = np.array([water.sample([[12.0, -7.0, 0.0]], t, need=0).height[0] for t in times])
    assert heights.mean() == pytest.approx(0.0, abs=0.01)
    assert 4 * heights.std() == pytest.approx(1.0, rel=0.025)
    rising = np.flatnonzero((heights[:-1] < 0) & (heights[1:] >= 0))
    crossing = times[rising] + 0.25 * heights[rising] / (heights[rising] - heights[rising + 1])
    f = np.linspace(0.2 / 6, 6 / 6, 100_001)
    density = jonswap(f, 1.0, 1 / 6, 3.3 if spectrum == "jonswap" else 1.0)
    expected = np.sqrt(np.trapezoid(density, f) / np.trapezoid(density * f**2, f))
    assert np.diff(crossing).mean() == pytest.approx(expected, rel=0.04)


def test_the_surface_over_an_area_has_the_spectrums_height_too():
    """Space and time give the same σ: a thousand waves over 3 km square, within 5 %."""
    points = np.random.default_rng(4).uniform(-1500, 1500, (20_000, 3))
    heights = _water(**SEA, components=200).sample(points, 100.0, need=0).height
    assert 4 * heights.std() == pytest.approx(1.0, rel=0.05)


# ------------------------------------------------------------------------------------------------ orbital motion


def test_deep_water_moves_in_circles_that_shrink_by_e_to_the_k_z():
    """|u| = a ω e^{kz}, horizontal and vertical alike (Dean & Dalrymple 1991, §4.2), below the stretched layer."""
    water = _water(**REGULAR, height=1.0, period=6.0)
    omega = 2 * np.pi / 6
    k = omega**2 / G
    for z in (-15.0, -20.0, -28.0, -60.0):
        speed = 0.5 * omega * np.exp(k * z)
        for t in np.linspace(0.0, 6.0, 9):
            u, v, w = water.sample([2.0, 1.0, z], t).velocity
            assert np.hypot(u, w) == pytest.approx(speed, rel=1e-8)
            assert v == pytest.approx(0.0, abs=1e-15)


def test_under_a_crest_water_goes_with_the_wave_and_under_a_trough_against_it():
    """u = a ω e^{kz} cos θ; the surface rises, w > 0, a quarter of a period before the crest."""
    water = _water(**REGULAR, height=1.0, period=6.0)
    crest, rising, trough = (water.sample([0.0, 0.0, -20.0], t).velocity for t in (0.0, 4.5, 3.0))
    assert crest[0] > 0
    assert trough[0] == pytest.approx(-crest[0], rel=1e-9)
    assert rising[2] == pytest.approx(crest[0], rel=1e-9)


def test_water_at_the_crest_is_not_faster_than_at_the_level_of_still_water():
    """Wheeler 1970: at the surface that is there u = a ω cos θ, where e^{kη} would give more."""
    water = _water(**REGULAR, height=3.0, period=6.0)
    for t, expected in ((0.0, 1.5 * 2 * np.pi / 6), (3.0, -1.5 * 2 * np.pi / 6)):
        height = float(water.sample([0.0, 0.0, 0.0], t).height)
        assert water.sample([0.0, 0.0, height], t).velocity[0] == pytest.approx(expected, rel=1e-10)


def test_shallow_water_sloshes_all_the_way_down_and_never_through_the_bottom():
    """kd ≪ 1: u = a ω/(kd) = a √(g/d) at all depths, w = a ω (1 + z/d) sin θ, 0 at the bottom; to (kd)²/2 = 0.4 %."""
    depth, amplitude, period = 4.0, 0.05, 45.0
    water = _water(**REGULAR, height=2 * amplitude, period=period, depth=depth)
    omega = 2 * np.pi / period
    for z in (-0.1, -1.0, -2.5, -4.0):
        u = water.sample([0.0, 0.0, z], 0.0).velocity
        assert u[0] == pytest.approx(amplitude * np.sqrt(G / depth), rel=0.006)
        w = water.sample([0.0, 0.0, z], 0.75 * period).velocity[2]
        assert w == pytest.approx(amplitude * omega * (1 + z / depth), rel=0.006, abs=1e-12)


@pytest.mark.parametrize("depth", [3.0, 8.0, 30.0])
def test_nothing_flows_through_the_bottom(depth):
    """w = 0 at z = −d, in any sea; and below it, which a body may touch, the answer is the bottom's."""
    water = _water(**SEA, depth=depth, components=64)
    points = np.random.default_rng(2).uniform([-50, -50, -depth], [50, 50, -depth], (50, 3))
    for below in (0.0, 1.0):
        found = water.sample(points - np.array([0, 0, below]), 4.0)
        assert found.velocity[:, 2] == pytest.approx(np.zeros(50), abs=1e-11)
        assert found.acceleration[:, 2] == pytest.approx(np.zeros(50), abs=1e-11)


def test_velocity_at_a_depth_in_finite_water_is_that_of_linear_theory():
    """u = a ω cosh k(z+d)/sinh kd, w with sinh (Dean & Dalrymple 1991, eq. 4.3–4.4), below the stretched layer."""
    depth, omega = 12.0, 2 * np.pi / 4
    water = _water(**REGULAR, height=0.5, period=4.0, depth=depth)
    k = wavenumber(np.array([omega]), depth, G).item()
    for z in (-7.0, -9.0, -11.5):
        u = water.sample([0.0, 0.0, z], 0.0).velocity[0]
        w = water.sample([0.0, 0.0, z], 3.0).velocity[2]
        assert u == pytest.approx(0.25 * omega * np.cosh(k * (z + depth)) / np.sinh(k * depth), rel=1e-9)
        assert w == pytest.approx(0.25 * omega * np.sinh(k * (z + depth)) / np.sinh(k * depth), rel=1e-9)


@pytest.mark.parametrize("depth", [None, 40.0])
def test_the_flow_keeps_its_volume_and_has_no_curl(depth):
    """∇·u = 0 and ∇×u = 0 below the stretched layer, by central differences over 2 cm: error h² k³ a ω < 1e-6."""
    water = _water(**SEA, components=64, depth=depth)
    points = np.random.default_rng(6).uniform([-50, -50, -30], [50, 50, -16], (60, 3))
    h = 0.01
    gradient = np.empty((60, 3, 3))  # ∂u_i/∂x_j
    for j in range(3):
        shift = np.eye(3)[j] * h
        change = water.sample(points + shift, 2.0).velocity - water.sample(points - shift, 2.0).velocity
        gradient[:, :, j] = change / (2 * h)
    size = np.abs(gradient).max()
    assert size > 1e-3  # so that the zeros below mean something
    assert np.trace(gradient, axis1=1, axis2=2) == pytest.approx(np.zeros(60), abs=1e-6)
    assert gradient == pytest.approx(np.swapaxes(gradient, 1, 2), abs=1e-6)


@pytest.mark.parametrize("depth", [None, 40.0])
def test_the_acceleration_is_the_rate_of_change_of_the_velocity(depth):
    """u̇ = ∂u/∂t below the stretched layer; central differences over 2 ms: error h² a ω⁴ < 1e-6."""
    water = _water(**SEA, components=64, depth=depth)
    points = np.random.default_rng(6).uniform([-50, -50, -30], [50, 50, -16], (60, 3))
    change = (water.sample(points, 5.001).velocity - water.sample(points, 4.999).velocity) / 0.002
    found = water.sample(points, 5.0).acceleration
    assert np.abs(found).max() > 1e-2
    assert found == pytest.approx(change, abs=1e-6)


def test_the_slope_is_that_of_the_surface():
    """∂η/∂x and ∂η/∂y by central differences over 2 mm: error h² k³ a and rounding, < 1e-6."""
    water = _water(**SEA, components=64)
    points = np.random.default_rng(6).uniform(-50, 50, (60, 3))
    slope = water.sample(points, 5.0).slope
    for j in range(2):
        shift = np.eye(3)[j] * 1e-3
        change = water.sample(points + shift, 5.0).height - water.sample(points - shift, 5.0).height
        assert slope[:, j] == pytest.approx(change / 2e-3, abs=1e-6)


# ------------------------------------------------------------------------------------------------ bodies


@pytest.mark.parametrize("period", [4.0, 8.0])
def test_a_small_float_rides_a_long_wave(load, period):
    """Heave follows the surface with ratio 1 and no lag: the ball is 1/125 of the wave's length or less.

    Its own heave has a period of 0.6 s, so that drag and inertia add less than (0.6/4)²: within 1 % and 1°. It swings
    to and fro by the orbit's radius a, within the 5 % that steepness adds, and drifts no faster than the
    water's particles at the surface, a² ω k (Stokes 1847).
    """
    length = G * period**2 / (2 * np.pi)
    height = 0.02 * length
    ball = _ball(0.0, 0.5 * RHO, linear_damping=[2.0, 2.0, 20.0, 0.05, 0.05, 0.05])
    world = load({"objects": {"ball": ball}, "water": {"surface": {**REGULAR, "height": height, "period": period}}})
    times, places, _, heights, _ = _follow(world, "ball", 50.0)
    late = times > 50.0 - 4 * period
    ratio = _harmonic(times[late], places[late, 2], period) / _harmonic(times[late], heights[late], period)
    assert abs(ratio) == pytest.approx(1.0, abs=0.01)
    assert np.degrees(np.angle(ratio)) == pytest.approx(0.0, abs=1.0)
    surge = abs(_harmonic(times[late], places[late, 0], period))
    assert surge == pytest.approx(0.5 * height, rel=0.05)
    drift = np.polyfit(times[late], places[late, 0], 1)[0]
    omega, k = 2 * np.pi / period, 2 * np.pi / length
    assert abs(drift) < 1.5 * (0.5 * height) ** 2 * omega * k
    assert places[:, 1] == pytest.approx(np.zeros(len(times)), abs=1e-3)  # nothing across the waves


def test_a_raft_lies_in_the_slope_of_a_long_wave(load):
    """The deck is parallel to the surface: pitch = slope within 2 % and 2°, for a raft of 1/160 of the wavelength."""
    raft = {
        "geometry": {"kind": "box", "size": [0.6, 0.6, 0.1]},
        "motion": "dynamic",
        "mass": 0.5 * RHO * 0.036,
        "linear_damping": [5.0, 5.0, 60.0, 2.0, 2.0, 2.0],
    }
    world = load({"objects": {"raft": raft}, "water": {"surface": {**REGULAR, "height": 1.0, "period": 8.0}}})
    times, _, turns, _, slopes = _follow(world, "raft", 48.0)
    late = times > 24.0
    tilt = -turns[:, 0, 2] / turns[:, 2, 2]
    ratio = _harmonic(times[late], tilt[late], 8.0) / _harmonic(times[late], slopes[late, 0], 8.0)
    assert abs(ratio) == pytest.approx(1.0, abs=0.02)
    assert np.degrees(np.angle(ratio)) == pytest.approx(0.0, abs=2.0)
    assert np.abs(slopes[:, 0]).max() == pytest.approx(0.5 * (2 * np.pi / 8) ** 2 / G, rel=0.01)


@pytest.mark.parametrize("wet", [{}, {"added_mass": [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]}])
@pytest.mark.parametrize("z", [-3.0, -8.0, -15.0])
def test_a_neutral_body_goes_round_with_the_water_and_less_so_deeper(load, set_velocity, z, wet):
    """Froude–Krylov's force ρ V u̇ on a mass ρ V, and (1 + C_a) of both with added mass: it moves as the water does.

    So its orbit has the radius a e^{kz}. The orbit itself, up to 8 cm, takes the body to other depths: k a = 1 %.
    """
    ball = _ball(z, linear_damping=[1.0] * 6, **wet)
    world = load({"objects": {"ball": ball}, "water": {"surface": {**REGULAR, "height": 0.2, "period": 6.0}}})
    set_velocity(world, world.sample_water([0.0, 0.0, z]).velocity)
    times, places, _, _, _ = _follow(world, "ball", 12.0)
    radius = 0.1 * np.exp((2 * np.pi / 6) ** 2 / G * z)
    assert abs(_harmonic(times, places[:, 2], 6.0)) == pytest.approx(radius, rel=0.04)
    assert abs(_harmonic(times, places[:, 0], 6.0)) == pytest.approx(radius, rel=0.04)


def test_a_held_body_feels_the_pressure_of_the_wave(load, vehicle):
    """F = ρ V (g + u̇): Froude and Krylov's force on a body that is small to the wave, at its points; to 1e-9."""
    law = {"kind": "force_points", "link": "hull", "points": [[0.3, 0, 0], [-0.3, 0, 0]], "volume": 0.02}
    path = vehicle({"hull": {"mass": 20.0, "inertia": [1, 1, 1]}}, {"points": law})
    robot = {"vehicle": path, "pose": {"position": [4.0, 1.0, -2.0]}, "anchored": True}
    world = load({"robots": {"craft": robot}, "water": {"surface": {**SEA, "seed": 2}}})
    for _ in range(5):
        before = world.time
        world.advance_steps(1)
        sample = world.water.sample([[4.3, 1.0, -2.0], [3.7, 1.0, -2.0]], before)
        expected = RHO * 0.01 * (sample.acceleration + np.array([0.0, 0.0, G]))
        assert world.robots["craft"].forces["points"].forces == pytest.approx(expected, rel=1e-9)
        world.advance(0.7)


@pytest.mark.parametrize("spectrum", ["regular", "jonswap"])
def test_in_waves_of_no_height_a_body_moves_as_in_still_water(load, spectrum):
    """To rounding: the force points also add ρ V u̇ = 0."""
    ends = []
    for surface in ({"kind": "flat"}, {**SEA, "spectrum": spectrum, "height": 0.0}):
        ball = _ball(0.03, 0.5 * RHO, linear_damping=[1.0] * 6, added_mass=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        world = load({"objects": {"ball": ball}, "water": {"surface": surface}})
        world.advance(3.0)
        ends.append(world.objects["ball"].pose.position)
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_a_float_rises_and_falls_with_the_tide(load):
    """z = A cos(2πt/T): so slow that it floats as in still water; 1 mm is the drag's lag, d A ω/(ρ g A_w) and less."""
    tide = {"kind": "tide", "constituents": [{"amplitude": 0.5, "period_hours": 1 / 60}]}
    ball = _ball(0.5, 0.5 * RHO, linear_damping=[2.0, 2.0, 5.0, 0.05, 0.05, 0.05])
    world = load({"objects": {"ball": ball}, "water": {"surface": tide}})
    times, places, _, heights, _ = _follow(world, "ball", 60.0, 0.25)
    late = times > 5.0
    assert heights == pytest.approx(0.5 * np.cos(2 * np.pi * times / 60), abs=1e-11)
    offset = places[late, 2] - heights[late]
    assert np.ptp(offset) < 2 * 0.002
    assert abs(offset.mean()) < 0.005  # the ball's cells do not halve exactly at its middle


# ------------------------------------------------------------------------------------------------ one sea for all


def test_sensors_and_buoyancy_see_the_same_sea_at_the_same_instant(load, vehicle, tmp_path):
    """A pressure sensor reads the wave's own pressure, a GPS is silent just where z < η, points float by the same η."""
    law = {
        "kind": "force_points",
        "link": "hull",
        "points": [[0, 0, 0]],
        "volume": 0.02,
        "depth_before_submerged": 10.0,
    }
    path = vehicle({"hull": {"mass": 20.0, "inertia": [1, 1, 1]}}, {"points": law})
    place = np.array([7.0, -3.0, 0.1])
    sensors = {
        "pressure": {"kind": "pressure", "link": "hull", "frequency": 20, "noise": 0.0},
        "gps": {"kind": "gps", "link": "hull", "frequency": 20, "noise": 0.0, "vertical_noise": 0.0},
    }
    robot = {"vehicle": path, "pose": {"position": place.tolist()}, "anchored": True, "overrides": {"sensors": sensors}}
    scenario = {
        "robots": {"craft": robot},
        "water": {"surface": {**SEA, "seed": 9}},
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
    }
    world = load(scenario)
    craft = world.robots["craft"]
    seen = set()
    for _ in range(60):
        world.advance(0.25)
        now = world.sample_water(place)
        height = float(now.height)
        assert craft.sensors["pressure"].reading.depth == pytest.approx(float(now.pressure) / (RHO * G), abs=1e-9)
        under = place[2] < height
        assert (craft.sensors["gps"].reading is None) == under
        seen.add(under)
        before = world.water.sample(place, world.time - 1 / 200)
        share = min(max(float(before.height) - place[2], 0.0) / 10.0, 1.0)
        lift = RHO * 0.02 * share * (G + before.acceleration[2])
        assert craft.forces["points"].forces[0, 2] == pytest.approx(lift, abs=1e-9)
    assert seen == {True, False}


def _floating(seed=None, **surface):
    ball = _ball(0.0, 0.5 * RHO, linear_damping=[1.0] * 6)
    whole = {"objects": {"ball": ball}, "water": {"surface": {**SEA, **surface}}}
    return whole if seed is None else {**whole, "seed": seed}


def test_the_scenarios_seed_makes_the_sea_unless_it_has_its_own(load):
    worlds = [load(_floating(), seed=seed) for seed in (1, 1, 2)]
    phases = [world.water.waves.phase for world in worlds]
    assert np.array_equal(phases[0], phases[1])
    assert not np.array_equal(phases[0], phases[2])
    own = [load({**_floating(), "water": {"surface": {**SEA, "seed": 1}}}, seed=seed) for seed in (3, 4)]
    for world in own:
        assert np.array_equal(world.water.waves.phase, phases[0])


def test_worlds_of_a_batch_have_seas_of_their_own_as_if_alone():
    """Bit for bit."""
    with skerry.load_batch(_floating(), [1, 2, 1]) as batch:
        batch.advance(3.0)
        states = [batch.state(world) for world in range(3)]
    assert states[0] == states[2]
    assert states[0] != states[1]
    for seed, state in ((1, states[0]), (2, states[1])):
        with skerry.load(_floating(), seed=seed) as alone:
            alone.advance(3.0)
            assert alone._engine.states[0].tobytes() == state


def test_a_world_in_waves_goes_on_from_a_snapshot_bit_for_bit(load):
    world = load(_floating(seed=4))
    world.advance(2.0)
    before = world.snapshot()
    world.advance(2.0)
    after = bytes(world.snapshot())
    world.restore(before)
    world.advance(2.0)
    assert bytes(world.snapshot()) == after
    other = load(_floating(seed=4))
    other.restore(before)
    other.advance(2.0)
    assert bytes(other.snapshot()) == after


def test_a_body_lifted_out_of_the_waves_feels_nothing_of_them(load):
    """v = −g t."""
    world = load(_floating(seed=4))
    world.teleport("ball", Pose(np.array([0.0, 0.0, 20.0]), np.array([0.0, 0.0, 0.0, 1.0])))
    world.advance(1.0)
    assert world.objects["ball"].twist.linear == pytest.approx([0.0, 0.0, -G], abs=1e-10)
