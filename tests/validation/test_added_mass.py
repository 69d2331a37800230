"""Added mass: exact acceleration, conserved energy and impulse, Kirchhoff's equations, and the water's own motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from skerry.core.frames import quaternion_to_matrix

INTEGRATORS = ("implicitfast", "euler", "rk4")
DEEP = {"position": [0.0, 0.0, -50.0]}
SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}

LINKS = {
    "hull": {"mass": 12.0, "inertia": [0.5, 0.9, 1.1], "center": [0.05, -0.02, -0.04]},
    "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.04], "center": [0.2, 0.01, 0.0]},
    "hand": {"mass": 1.0, "inertia": [0.01, 0.012, 0.008], "center": [0.1, 0.0, 0.03]},
    "weight": {"mass": 3.0, "inertia": [0.02, 0.02, 0.02], "center": [0.0, 0.02, 0.0]},
}
JOINTS = {
    "shoulder": {"parent": "hull", "child": "arm", "at": [0.4, 0.1, 0], "rpy": [0.3, -0.2, 0.5], "axis": [0, 1, 0.3]},
    "wrist": {"parent": "arm", "child": "hand", "at": [0.4, 0, 0], "rpy": [0, 0.4, 0], "axis": [0.2, 0, 1]},
    "rail": {"parent": "hull", "child": "weight", "at": [-0.2, 0, 0], "axis": [1, 0, 0], "type": "prismatic"},
}  # fmt: skip
START = {"linear": [0.4, -0.3, 0.2], "angular": [0.5, -0.7, 0.9], "joints": [1.1, -0.8, 0.1]}


def test_the_joints_of_these_tests_come_in_the_order_of_their_velocities(load, vehicle):
    """MuJoCo orders axes depth first; `START` gives the joints' velocities in that order."""
    world = load({"robots": {"craft": {"vehicle": vehicle(LINKS, {}, JOINTS), "pose": DEEP}}})
    assert list(world.robots["craft"].joints.values()) == [1, 2, 3]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 5.0, 50.0])
def test_a_sphere_accelerates_at_force_over_mass_and_added_mass(load, integrator, ratio):
    """a = (m − ρV) g / (m + m_a) (Newman 1977, ch. 4). From rest each method's first step is exact: only rounding."""
    mass, volume = 3.0, 0.001
    ball = {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "motion": "dynamic",
        "mass": mass,
        "volume": volume,
        "added_mass": [ratio * mass] * 3 + [0.0] * 3,
        "pose": DEEP,
    }
    world = load({"objects": {"ball": ball}, "integrator": integrator, "step": "1/100"})
    world.advance(0.01)
    expected = -(mass - 1025.0 * volume) * 9.81 / (mass * (1.0 + ratio))
    assert world.objects["ball"].twist.linear[2] / 0.01 == pytest.approx(expected, rel=1e-12)


def test_a_sphere_keeps_that_acceleration_with_five_times_its_mass_for_ten_seconds(load):
    """z = −½ a t² with a constant force; explicit added mass would diverge here. RK4 integrates a parabola exactly."""
    ball = {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "motion": "dynamic",
        "mass": 2.0,
        "volume": 0.001,
        "added_mass": [10.0] * 3 + [0.0] * 3,
        "pose": DEEP,
    }
    world = load({"objects": {"ball": ball}, "integrator": "rk4", "step": "1/100"})
    world.advance(10.0)
    acceleration = (2.0 - 1.025) * 9.81 / 12.0
    assert -50.0 - world.objects["ball"].pose.position[2] == pytest.approx(50.0 * acceleration, rel=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_full_added_mass_couples_all_six_accelerations(load, vehicle, any_inertia, spatial, motion_of, integrator):
    """ν̇ = (M_RB + M_A)⁻¹ τ from rest (Fossen 2021, ch. 6): a 6×6 solve, with the centre of mass off the origin."""
    added = any_inertia(1, 8.0)
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4], "center": [0.1, -0.05, 0.07]}
    force = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 0.3])
    forces = {"water": {"kind": "added_mass", "link": "hull", "matrix": added}}
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, forces), "pose": SKEW}},
            "gravity": 0.0,
            "integrator": integrator,
            "step": "1/1000000",
        },
        forces={"craft/hull": lambda state: force},
    )
    world.advance_steps(1)
    expected = np.linalg.solve(added + spatial(5.0, link["center"], link["inertia"]), force)
    # A step of 1 µs: what turning does within it is of order h² = 1e-12.
    assert motion_of(world, "craft")[2] * 1e6 == pytest.approx(expected, rel=1e-8)


def test_added_mass_may_be_given_about_another_point_and_in_other_axes(load, vehicle, any_inertia, spatial, motion_of):
    """M_A at the origin = Hᵀ diag(R, R) M_A diag(R, R)ᵀ H, with H the shift to the point (Fossen 2021, ch. 3)."""
    given = any_inertia(2, 8.0)
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4]}
    place, rpy = np.array([0.3, -0.2, 0.1]), [30.0, -20.0, 50.0]
    law = {
        "kind": "added_mass",
        "link": "hull",
        "matrix": given,
        "position": place,
        "roll_deg": rpy[0],
        "pitch_deg": rpy[1],
        "yaw_deg": rpy[2],
    }
    force = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 0.3])
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, {"water": law}), "pose": SKEW}},
            "gravity": 0.0,
            "step": "1/1000000",
        },
        forces={"craft/hull": lambda state: force},
    )
    world.advance_steps(1)
    turn = Rotation.from_euler("xyz", rpy, degrees=True).as_matrix()
    both = np.kron(np.eye(2), turn)
    # velocity at the point: v + ω × r
    shift = np.eye(6)
    shift[:3, 3:] = np.column_stack([np.cross(axis, place) for axis in np.eye(3)])
    total = shift.T @ both @ given @ both.T @ shift + spatial(5.0, [0, 0, 0], link["inertia"])
    assert motion_of(world, "craft")[2] * 1e6 == pytest.approx(np.linalg.solve(total, force), rel=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_isotropic_added_mass_on_every_link_moves_a_chain_as_heavier_links_do(
    load, vehicle, set_velocity, motion_of, integrator
):
    """m_a at a link's centre of mass gives ½ (m + m_a) v²: the same energy, so the same motion; rounding of 2 s."""
    extra = {"hull": 20.0, "arm": 4.0, "hand": 5.0, "weight": 1.5}
    heavier = {name: {**link, "mass": link["mass"] + extra[name]} for name, link in LINKS.items()}
    water = {
        name: {
            "kind": "added_mass",
            "link": name,
            "matrix": [extra[name]] * 3 + [0.0] * 3,
            "position": LINKS[name]["center"],
        }
        for name in LINKS
    }
    ends = []
    for links, forces in ((LINKS, water), (heavier, {})):
        world = load(
            {
                "robots": {"craft": {"vehicle": vehicle(links, forces, JOINTS), "pose": SKEW}},
                "gravity": 0.0,
                "integrator": integrator,
                "step": "1/500",
            }
        )
        set_velocity(world, **START)
        world.advance(2.0)
        ends.append([np.concatenate([p, r.ravel(), v]) for p, r, v in (motion_of(world, "craft", n) for n in LINKS)])
    assert np.array(ends[0]) == pytest.approx(np.array(ends[1]), abs=1e-11)


def _water_on_every_link(any_inertia):
    return {
        name: {"kind": "added_mass", "link": name, "matrix": any_inertia(10 + number, 2.0 * LINKS[name]["mass"])}
        for number, name in enumerate(LINKS)
    }


def _energies(world, motion_of, spatial, any_inertia):
    """Kinetic energy of the rigid links, and of the water that they carry along."""
    rigid = water = 0.0
    for number, (name, link) in enumerate(LINKS.items()):
        v = motion_of(world, "craft", name)[2]
        rigid += 0.5 * v @ spatial(link["mass"], link["center"], link["inertia"]) @ v
        water += 0.5 * v @ any_inertia(10 + number, 2.0 * link["mass"]) @ v
    return rigid, water


def test_the_energy_of_a_chain_with_any_added_mass_on_every_link_is_conserved(
    load, vehicle, set_velocity, motion_of, spatial, any_inertia
):
    """T = Σ ½ νᵀ (M_RB + M_A) ν is constant without forces (Lamb 1932, ch. VI).

    RK4 at 1 ms keeps it to some 1e-12 in 3 s. That the rigid links' own energy changes by much shows that
    the chain does move.
    """
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle(LINKS, _water_on_every_link(any_inertia), JOINTS), "pose": SKEW}},
            "gravity": 0.0,
            "integrator": "rk4",
            "step": "1/1000",
        }
    )
    set_velocity(world, **START)
    first = _energies(world, motion_of, spatial, any_inertia)
    exchanged = 0.0
    for _ in range(6):
        world.advance(0.5)
        now = _energies(world, motion_of, spatial, any_inertia)
        assert sum(now) == pytest.approx(sum(first), rel=1e-9)
        exchanged = max(exchanged, abs(now[0] - first[0]) / first[0])
    assert exchanged > 0.02


def test_the_impulse_of_a_chain_and_its_water_is_conserved(
    load, vehicle, set_velocity, motion_of, spatial, any_inertia
):
    """Σ R p and Σ (x × R p + R h) with (p, h) = (M_RB + M_A) ν are constant without forces (Lamb 1932, ch. VI)."""
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle(LINKS, _water_on_every_link(any_inertia), JOINTS), "pose": SKEW}},
            "gravity": 0.0,
            "integrator": "rk4",
            "step": "1/1000",
        }
    )
    set_velocity(world, **START)

    def impulse():
        linear, angular = np.zeros(3), np.zeros(3)
        for number, (name, link) in enumerate(LINKS.items()):
            x, turn, v = motion_of(world, "craft", name)
            own = spatial(link["mass"], link["center"], link["inertia"])
            p, h = np.split((own + any_inertia(10 + number, 2.0 * link["mass"])) @ v, 2)
            linear += turn @ p
            # about the start instead of the distant origin, which would multiply rounding errors by 50
            angular += np.cross(x - [1.0, -2.0, -50.0], turn @ p) + turn @ h
        return np.concatenate([linear, angular])

    first = impulse()
    world.advance(3.0)
    # RK4 at 1 ms, as for the energy.
    assert impulse() == pytest.approx(first, abs=1e-9 * np.linalg.norm(first))


@pytest.mark.parametrize("current", [(0.0, 0.0, 0.0), (0.7, -0.4, 0.2)])
def test_a_body_follows_kirchhoffs_equations_also_in_a_current(
    load, vehicle, set_velocity, any_inertia, spatial, current
):
    """ṗ = p × ω, ḣ = h × ω + p × v in the frame that moves with the water (Lamb 1932, ch. VI), solved by scipy.

    In that frame a uniform current is still water. RK4 at 5 ms was observed to be within 1e-8 m after 5 s; the
    tolerance is 1e-6 m.
    """
    added = any_inertia(3, 10.0)
    link = {"mass": 6.0, "inertia": [0.3, 0.6, 0.5], "center": [0.08, -0.03, 0.05]}
    total = added + spatial(link["mass"], link["center"], link["inertia"])
    law = {"kind": "added_mass", "link": "hull", "matrix": added}
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, {"water": law}), "pose": SKEW}},
            "gravity": 0.0,
            "integrator": "rk4",
            "step": "1/200",
            "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
        }
    )
    linear, angular = np.array([0.5, -0.3, 0.4]), np.array([0.8, -0.6, 1.0])
    start = world.robots["craft"].pose
    set_velocity(world, linear, angular)
    turn = Rotation.from_quat(start.orientation)
    momentum = total @ np.concatenate([turn.inv().apply(linear - np.array(current)), angular])

    def rates(t, y):
        p, h, q = y[3:6], y[6:9], Rotation.from_quat(y[9:13])
        v, w = np.split(np.linalg.solve(total, y[3:9]), 2)
        x, yy, z, s = y[9:13]
        turning = 0.5 * np.array(
            [
                s * w[0] + yy * w[2] - z * w[1],
                s * w[1] + z * w[0] - x * w[2],
                s * w[2] + x * w[1] - yy * w[0],
                -x * w[0] - yy * w[1] - z * w[2],
            ]
        )
        return np.concatenate([q.apply(v), np.cross(p, w), np.cross(h, w) + np.cross(p, v), turning])

    y0 = np.concatenate([start.position, momentum, start.orientation])
    end = solve_ivp(rates, (0, 5), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    world.advance(5.0)
    pose = world.robots["craft"].pose
    assert pose.position == pytest.approx(end[:3] + 5.0 * np.array(current), abs=1e-6)
    assert pose.rotation == pytest.approx(Rotation.from_quat(end[9:]).as_matrix(), abs=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_motion_relative_to_a_uniform_current_equals_motion_in_still_water(
    load, vehicle, set_velocity, any_inertia, motion_of, integrator
):
    """Galileo: x(t) in the current = x(t) in still water + u t, with added mass, drag, lift and joints; rounding."""
    u = np.array([0.8, -0.5, 0.1])
    forces = _water_on_every_link(any_inertia) | {
        "drag": {"kind": "damping", "link": "hull", "linear": [2, 3, 4, 1, 1, 1], "quadratic": [5, 6, 7, 1, 2, 3]},
        "arm_drag": {"kind": "damping", "link": "arm", "quadratic": [1, 5, 5, 0, 0.1, 0.1], "position": [0.2, 0, 0]},
        "still": {"kind": "immersion_damping", "link": "hand", "underwater_linear": 0.3, "underwater_angular": 0.2},
        "float": {"kind": "force_points", "link": "hull", "points": [[0.1, 0, 0.1], [-0.1, 0, 0.1]], "volume": 0.0175},
    }  # fmt: skip
    ends = []
    for stream in (np.zeros(3), u):
        world = load(
            {
                "robots": {"craft": {"vehicle": vehicle(LINKS, forces, JOINTS), "pose": SKEW}},
                "integrator": integrator,
                "step": "1/500",
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": stream.tolist()}}},
            }
        )
        set_velocity(world, np.array(START["linear"]) + stream, START["angular"], START["joints"])
        world.advance(2.0)
        motions = [motion_of(world, "craft", name) for name in LINKS]
        ends.append(
            [np.concatenate([x - 2.0 * stream, r.ravel(), r @ v[:3] - stream, r @ v[3:]]) for x, r, v in motions]
        )
    assert np.array(ends[0]) == pytest.approx(np.array(ends[1]), abs=1e-10)


def test_a_body_that_moves_with_accelerating_water_feels_no_force(load, vehicle, any_inertia, motion_of):
    """ν_r = 0 and ν̇_r = 0: neither added mass nor drag acts, whatever its attitude; only rounding."""
    forces = {
        "water": {"kind": "added_mass", "link": "hull", "matrix": any_inertia(4, 30.0)},
        "drag": {"kind": "damping", "link": "hull", "linear": [9] * 6, "quadratic": [50] * 6},
    }
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4], "center": [0.1, 0.05, 0.0]}
    u = [0.6, -0.2, 0.3]
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, forces), "pose": SKEW}},
            "gravity": 0.0,
            "water": {"currents": {"stream": {"kind": "uniform", "velocity": u}}},
        }
    )
    world._engine.part("qvel")[0, :3] = u
    world._engine.refresh()
    world.advance(10.0)
    x, turn, v = motion_of(world, "craft")
    assert turn @ v[:3] == pytest.approx(u, abs=1e-12)
    assert v[3:] == pytest.approx(np.zeros(3), abs=1e-12)
    assert x == pytest.approx(np.array(SKEW["position"]) + 10.0 * np.array(u), abs=1e-11)


def test_a_half_immersed_body_carries_half_its_added_mass(load):
    """a = (½ ρV − m) g / (m + ½ m_a): a box at the surface with its middle at water level, from rest; exact."""
    box = {
        "geometry": {"kind": "box", "size": [0.6, 0.6, 0.6]},
        "motion": "dynamic",
        "mass": 50.0,
        "added_mass": [80.0, 80.0, 80.0, 0, 0, 0],
    }
    world = load({"objects": {"box": box}, "step": "1/200"})
    world.advance_steps(1)
    expected = (0.5 * 1025.0 * 0.216 - 50.0) * 9.81 / (50.0 + 40.0)
    assert world.objects["box"].twist.linear[2] * 200.0 == pytest.approx(expected, rel=1e-12)


def test_the_munk_moment_turns_a_slender_body_across_its_path(load, vehicle, motion_of, set_velocity):
    """N = (X_u̇ − Y_v̇) u v per unit of yaw inertia, from the start (Munk 1924, NACA report 184), its sign included."""
    forces = {"water": {"kind": "added_mass", "link": "hull", "matrix": [1.0, 20.0, 20.0, 0.0, 2.0, 2.0]}}
    link = {"mass": 20.0, "inertia": [0.1, 2.0, 2.0]}
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, forces), "pose": DEEP}},
            "gravity": 0.0,
            "step": "1/1000000",
        }
    )
    u, v = 1.5, 0.2
    set_velocity(world, [u, v, 0.0])
    world.advance_steps(1)
    # ḣ_z = −(u p_y − v p_x) = −(Y − X) u v: moving to port (v > 0), the nose turns to starboard, across the path
    expected = -(20.0 - 1.0) * u * v / (2.0 + 2.0)
    assert motion_of(world, "craft")[2][5] * 1e6 == pytest.approx(expected, rel=1e-6)


def test_the_pose_in_these_tests_equals_the_public_pose(load, motion_of):
    """`motion_of` reads the engine's arrays, which must equal `pose` and `twist`."""
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 3.0, "pose": SKEW}
    world = load({"objects": {"ball": ball}})
    world.advance(0.5)
    x, turn, v = motion_of(world, "ball")
    thing = world.objects["ball"]
    assert np.array_equal(x, thing.pose.position)
    assert np.array_equal(turn, quaternion_to_matrix(thing.pose.orientation))
    assert v == pytest.approx(np.concatenate([thing.twist.linear, thing.twist.angular]), abs=1e-15)
