"""Floating and hanging in the water: draught, trim, and the periods of heave, roll and pitch in closed form."""

from __future__ import annotations

import numpy as np
import pytest

RHO, G = 1025.0, 9.81
LENGTH, BEAM, HEIGHT = 1.0, 0.8, 0.4
ACROSS, ALONG = (2, 40, 20), (40, 2, 20)  # numbers of cells: fine where it matters
MASS = 0.5 * RHO * LENGTH * BEAM * HEIGHT
# Upright at half depth, with the centre of mass at the middle of the box (naval architects' K is the keel):
# BM = I/∇ = B²/12T, BG = ¼ H, GM = BM − BG (Rawson & Tupper, Basic Ship Theory, 2001, ch. 4).
METACENTRE = BEAM**2 / (12.0 * 0.5 * HEIGHT)
GM = METACENTRE - 0.25 * HEIGHT


def _inertia(mass: float) -> list[float]:
    squares = LENGTH**2, BEAM**2, HEIGHT**2
    return [mass * (sum(squares) - own) / 12.0 for own in squares]


@pytest.fixture
def barge(load, vehicle):
    """Return a barge of half the water's density, filled with cells; `center` is the centre of mass from its middle."""

    def build(center=(0.0, 0.0, 0.0), damping=None, integrator="rk4", step="1/200", pose=None, cells=ACROSS):
        sides = zip((LENGTH, BEAM, HEIGHT), cells, strict=True)
        axes = [(np.arange(count) + 0.5) * side / count - 0.5 * side for side, count in sides]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        half = 0.5 * HEIGHT / cells[2]
        forces = {
            "buoyancy": {
                "kind": "force_points",
                "link": "hull",
                "points": points,
                "volume": LENGTH * BEAM * HEIGHT,
                "depth_before_submerged": half,
                "height_before_dry": half,
            }
        }
        if damping is not None:
            forces["damping"] = {"kind": "damping", "link": "hull", "linear": damping}
        hull = {"mass": MASS, "inertia": _inertia(MASS), "center": center}
        return load(
            {
                "robots": {"barge": {"vehicle": vehicle({"hull": hull}, forces), "pose": pose or {}}},
                "integrator": integrator,
                "step": step,
            }
        )

    return build


def _period(times, values):
    """Return the mean period from zero crossings, interpolated linearly between samples."""
    values = np.array(values)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    crossings = times[at] + (times[1] - times[0]) * values[at] / (values[at] - values[at + 1])
    return 2.0 * (crossings[-1] - crossings[0]) / (len(crossings) - 1)


def _swing(world, look, seconds, step=0.005):
    values = [look()]
    for _ in range(round(seconds / step)):
        world.advance(step)
        values.append(look())
    return _period(np.arange(len(values)) * step, values)


SHAPES = {
    "box": ({"kind": "box", "size": [0.6, 0.5, 0.4]}, 0.6 * 0.5 * 0.4, 0.4),
    "sphere": ({"kind": "sphere", "radius": 0.3}, 4 / 3 * np.pi * 0.3**3, 0.6),
    "cylinder": ({"kind": "cylinder", "radius": 0.3, "length": 0.4}, np.pi * 0.3**2 * 0.4, 0.4),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_of_half_the_waters_density_floats_at_half_depth(load, shape):
    """Archimedes: ρ V/2 = m, so the middle of a body that is the same above and below comes to the water's surface."""
    geometry, volume, _ = SHAPES[shape]
    body = {
        "geometry": geometry,
        "motion": "dynamic",
        "mass": 0.5 * RHO * volume,
        "linear_damping": [200.0, 200.0, 200.0, 50.0, 50.0, 50.0],
        "pose": {"position": [0.0, 0.0, 0.15]},
    }
    world = load({"objects": {"body": body}, "step": "1/100"})
    world.advance(30.0)
    # damped for more than 20 time constants
    assert world.objects["body"].pose.position[2] == pytest.approx(0.0, abs=1e-6)
    assert world.objects["body"].pose.rotation[2, 2] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("share", [0.2, 0.35, 0.81])
@pytest.mark.parametrize("level", [0.0, -3.5])
def test_the_draught_of_a_box_is_its_relative_density_times_its_height(load, share, level):
    """T = H m/(ρ V) (Archimedes), at any level of the water: cells with linear ramps resolve it exactly."""
    size = [0.9, 0.8, 0.3]
    body = {
        "geometry": {"kind": "box", "size": size},
        "motion": "dynamic",
        "mass": share * RHO * float(np.prod(size)),
        "linear_damping": [200.0, 200.0, 600.0, 50.0, 50.0, 50.0],
        "pose": {"position": [0.0, 0.0, level]},
    }
    world = load({"objects": {"body": body}, "step": "1/100", "water": {"surface": {"kind": "flat", "level": level}}})
    world.advance(40.0)
    depth_of_keel = level - (world.objects["body"].pose.position[2] - 0.15)
    assert depth_of_keel == pytest.approx(share * 0.3, abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_deep_under_water_is_lifted_by_the_weight_of_the_water_it_displaces(load, shape):
    """F = ρ V g with the exact volume of the shape, not that of its mesh or cells: a = (ρV − m) g/m, to rounding."""
    geometry, volume, _ = SHAPES[shape]
    body = {"geometry": geometry, "motion": "dynamic", "mass": 30.0, "pose": {"position": [0.0, 0.0, -30.0]}}
    world = load({"objects": {"body": body}, "step": "1/200"})
    world.advance_steps(1)
    expected = (RHO * volume - 30.0) * G / 30.0
    assert world.objects["body"].twist.linear[2] * 200.0 == pytest.approx(expected, rel=1e-12)


def test_buoyancy_scales_with_density_and_gravity(load):
    """F = ρ V g in a lake of 997 kg/m³ on a planet of 3.7 m/s²; one step, to rounding."""
    body = {
        "geometry": {"kind": "box", "size": [0.5, 0.4, 0.3]},
        "motion": "dynamic",
        "mass": 40.0,
        "pose": {"position": [0.0, 0.0, -30.0]},
    }
    world = load({"objects": {"body": body}, "gravity": 3.7, "water": {"density": 997.0}, "step": "1/200"})
    world.advance_steps(1)
    expected = (997.0 * 0.06 - 40.0) * 3.7 / 40.0
    assert world.objects["body"].twist.linear[2] * 200.0 == pytest.approx(expected, rel=1e-12)


def test_a_floating_box_heaves_with_the_period_of_its_waterplane(barge):
    """T = 2π √(m / ρ g A) without added mass (Newman 1977, ch. 6); a wall-sided body's spring is linear: 1e-5."""
    world = barge(pose={"position": [0.0, 0.0, 0.02]})
    found = _swing(world, lambda: world.robots["barge"].pose.position[2], 6.0)
    assert found == pytest.approx(2 * np.pi * np.sqrt(MASS / (RHO * G * LENGTH * BEAM)), rel=1e-5)


def test_heaving_without_drag_does_not_decay(barge):
    """Nothing takes energy: RK4 at 5 ms keeps the amplitude to 1e-5 over 10 periods."""
    world = barge(pose={"position": [0.0, 0.0, 0.02]})
    highest = []
    for _ in range(10):
        heights = []
        for _ in range(180):
            world.advance_steps(1)
            heights.append(world.robots["barge"].pose.position[2])
        highest.append(max(heights))
    # the highest of samples at 5 ms is at most (ω h/2)²/2 = 1.5e-4 of the amplitude below the true one
    assert highest == pytest.approx([0.02] * 10, rel=2e-4)


def test_a_floating_box_rolls_with_the_period_of_its_metacentric_height(barge):
    """T = 2π √(I / m g GM) for small angles without added mass (Rawson & Tupper, ch. 12).

    40 cells across lack 1/40² of BM, which is 1.6 GM: 5e-4 in T; the rest is the finite angle.
    """
    world = barge(pose={"roll_deg": 0.5})
    found = _swing(world, lambda: world.robots["barge"].pose.orientation[0], 8.0)
    assert found == pytest.approx(2 * np.pi * np.sqrt(_inertia(MASS)[0] / (MASS * G * GM)), rel=1e-3)


def test_a_floating_box_pitches_with_the_period_of_its_longitudinal_metacentric_height(barge):
    """The same along the length: BM_L = L²/12T; 40 cells along lack 1/40² of it, 5e-4 in T."""
    along = LENGTH**2 / (12.0 * 0.5 * HEIGHT) - 0.25 * HEIGHT
    world = barge(pose={"pitch_deg": 0.3}, cells=ALONG)
    found = _swing(world, lambda: world.robots["barge"].pose.orientation[1], 8.0)
    assert found == pytest.approx(2 * np.pi * np.sqrt(_inertia(MASS)[1] / (MASS * G * along)), rel=1e-3)


def test_a_plain_object_rolls_with_that_period_too(load, set_velocity):
    """An object box is filled with some 216 cells, here 11 across: BM lacks 1/11², hence 1 % in T."""
    size = [0.4, 0.8, 0.2]
    body = {
        "geometry": {"kind": "box", "size": size},
        "motion": "dynamic",
        "mass": 0.5 * RHO * float(np.prod(size)),
        "pose": {"roll_deg": 0.3},
    }
    world = load({"objects": {"body": body}, "integrator": "rk4"})
    found = _swing(world, lambda: world.objects["body"].pose.orientation[0], 6.0)
    height = size[1] ** 2 / (12.0 * 0.5 * size[2]) - 0.25 * size[2]
    expected = 2 * np.pi * np.sqrt((size[1] ** 2 + size[2] ** 2) / 12.0 / (G * height))
    assert found == pytest.approx(expected, rel=0.012)


@pytest.mark.parametrize("offset", [0.005, 0.02, -0.04])
def test_an_off_centre_mass_heels_a_box_by_the_wall_sided_formula(barge, offset):
    """d = tan φ (GM + ½ BM tan² φ), exact until deck or bilge cross the water (Rawson & Tupper, ch. 4).

    BM lacks 1/40² of itself; with BM/GM = 1.6 that is 1e-3 of the angle.
    """
    world = barge(center=(0.0, offset, 0.0), damping=[300.0, 300.0, 1500.0, 60.0, 60.0, 60.0], step="1/100")
    world.advance(15.0)
    turn = world.robots["barge"].pose.rotation
    slope = -turn[2, 1] / turn[2, 2]  # positive with port (+y) down
    assert slope * (GM + 0.5 * METACENTRE * slope**2) == pytest.approx(offset, rel=3e-3)
    assert turn[2, 0] == pytest.approx(0.0, abs=1e-9)


def test_a_mass_in_the_bow_trims_a_box_nose_down(barge):
    """x_G = tan θ (GM_L + ½ BM_L tan² θ), θ is FLU's pitch, positive nose down."""
    world = barge(center=(0.02, 0.0, 0.0), damping=[300.0, 300.0, 1500.0, 60.0, 60.0, 60.0], step="1/100", cells=ALONG)
    world.advance(15.0)
    turn = world.robots["barge"].pose.rotation
    slope = -turn[2, 0] / turn[2, 2]
    metacentre = LENGTH**2 / (12.0 * 0.5 * HEIGHT)
    assert slope * (metacentre - 0.25 * HEIGHT + 0.5 * metacentre * slope**2) == pytest.approx(0.02, rel=3e-3)


def test_a_box_whose_metacentre_is_below_its_centre_of_mass_capsizes(barge):
    """GM < 0: upright is not stable, and the box lolls over (Rawson & Tupper, ch. 4: the angle of loll)."""
    high = METACENTRE - 0.25 * HEIGHT + 0.02
    world = barge(center=(0.0, 0.0, high), damping=[300.0, 300.0, 1500.0, 30.0, 60.0, 60.0], pose={"roll_deg": 0.1})
    world.advance(15.0)
    assert world.robots["barge"].pose.rotation[2, 2] < np.cos(np.radians(10.0))


def test_a_neutral_body_swings_under_water_about_its_centre_of_mass(load):
    """T = 2π √(I_G / m g BG): weight and buoyancy are a couple; the centre of mass stays. 0.5° adds θ²/16 = 5e-6."""
    size, below = [0.5, 0.4, 0.3], 0.04
    volume = float(np.prod(size))
    body = {
        "geometry": {"kind": "box", "size": size},
        "motion": "dynamic",
        "mass": RHO * volume,
        "center_of_mass": [0.0, 0.0, -below],
        "pose": {"position": [0.0, 0.0, -20.0], "roll_deg": 0.5},
    }
    world = load({"objects": {"body": body}, "integrator": "rk4"})
    start = world.objects["body"].pose.transform([0.0, 0.0, -below])
    found = _swing(world, lambda: world.objects["body"].pose.orientation[0], 8.0)
    expected = 2 * np.pi * np.sqrt((size[1] ** 2 + size[2] ** 2) / 12.0 / (G * below))
    assert found == pytest.approx(expected, rel=2e-5)
    assert world.objects["body"].pose.transform([0.0, 0.0, -below]) == pytest.approx(start, abs=1e-9)


def test_the_centre_of_volume_of_an_object_can_be_set(load):
    """The torque of buoyancy is ρ V g times its arm to the centre of mass: ω̇ = ρ V g x / I, one step, to rounding."""
    body = {
        "geometry": {"kind": "box", "size": [0.5, 0.4, 0.3]},
        "motion": "dynamic",
        "mass": 50.0,
        "center_of_volume": [0.03, 0.0, 0.0],
        "pose": {"position": [0.0, 0.0, -20.0]},
    }
    world = load({"objects": {"body": body}, "step": "1/200"})
    world.advance_steps(1)
    inertia = 50.0 * (0.5**2 + 0.3**2) / 12.0
    expected = -RHO * 0.06 * G * 0.03 / inertia  # lift ahead of the centre raises the nose: negative pitch in FLU
    assert world.objects["body"].twist.angular[1] * 200.0 == pytest.approx(expected, rel=1e-11)
