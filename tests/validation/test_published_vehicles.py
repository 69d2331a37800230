"""Vehicles of the literature, by their published coefficients, against closed forms and an independent integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import skerry

# REMUS 100: Prestero 2001, Verification of a Six-Degree of Freedom Simulation Model for the REMUS AUV, in the form of
# Sgarioto 2007 (DSTO-TR-1917). All in forward-right-down axes; turning them into ours by diag(1, −1, −1, 1, −1, −1)
# leaves every one of these matrices as it is, since they couple only surge, sway with yaw, and heave with pitch.
REMUS_MASS, REMUS_INERTIA = 30.48, [0.177, 3.45, 3.45]
REMUS_ADDED = np.diag([0.93, 35.5, 35.5, 0.0704, 4.88, 4.88])
REMUS_ADDED[1, 5] = REMUS_ADDED[5, 1] = -1.93
REMUS_ADDED[2, 4] = REMUS_ADDED[4, 2] = 1.93
REMUS_QUADRATIC = np.diag([0.5 * 1030 * 0.2 * 0.0285, 1310.0, 1310.0, 0.130, 188.0, 94.0])
REMUS_QUADRATIC[1, 5], REMUS_QUADRATIC[5, 1], REMUS_QUADRATIC[4, 2] = -0.632, 3.18, -3.18
REMUS_LIFT = np.zeros((6, 6))
REMUS_LIFT[1, 1], REMUS_LIFT[1, 5], REMUS_LIFT[5, 1], REMUS_LIFT[5, 5] = 28.6, -5.22, 24.0, 2.0
REMUS_LIFT[2, 2], REMUS_LIFT[2, 4], REMUS_LIFT[4, 2], REMUS_LIFT[4, 4] = 28.6, 5.22, -24.0, 2.0

# BlueROV2: Wu 2018 (standard) and von Benzon et al. 2022 (heavy), as mass, added mass, linear and quadratic damping
BLUEROV = {
    "wu": (
        11.5,
        [5.5, 12.7, 14.57, 0.12, 0.12, 0.12],
        [4.03, 6.22, 5.18, 0.07, 0.07, 0.07],
        [18.18, 21.66, 36.99, 1.55, 1.55, 1.55],
    ),
    "von_benzon": (
        13.5,
        [6.36, 7.12, 18.68, 0.189, 0.135, 0.222],
        [13.7, 0.0, 33.0, 0.0, 0.8, 0.0],
        [141.0, 217.0, 190.0, 1.19, 0.47, 1.5],
    ),
}


def body(tmp_path, mass, inertia, forces, push, integrator="rk4", step="1/200"):
    """Return a neutrally buoyant body of one link, deep under water, with a constant wrench in its own axes."""
    urdf = (
        f'<robot name="it"><link name="hull"><inertial><mass value="{mass}"/><inertia ixx="{inertia[0]}" '
        f'iyy="{inertia[1]}" izz="{inertia[2]}" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    folder = tmp_path / "it"
    folder.mkdir()
    (folder / "robot.urdf").write_text(urdf)
    (folder / "vehicle.yaml").write_text("{}")
    robot = {"vehicle": str(folder), "pose": {"position": [0, 0, -100]}, "overrides": {"forces": forces}}
    scenario = {"gravity": 0.0, "integrator": integrator, "step": step, "robots": {"it": robot}}
    return skerry.load(scenario, forces={"it/hull": lambda state: push})


def remus_forces():
    return {
        "added": {"kind": "added_mass", "link": "hull", "matrix": REMUS_ADDED.tolist()},
        "drag": {"kind": "damping", "link": "hull", "quadratic": REMUS_QUADRATIC.tolist()},
        "lift": {"kind": "lift", "link": "hull", "matrix": REMUS_LIFT.tolist()},
    }


def coriolis(mass, nu):
    """C(ν) ν for any symmetric mass matrix (Fossen 2021, eq. 3.63)."""
    momentum = mass @ nu
    return np.concatenate(
        [
            np.cross(nu[3:], momentum[:3]),
            np.cross(nu[3:], momentum[3:]) + np.cross(nu[:3], momentum[:3]),
        ]
    )


def remus_velocity(push, seconds):
    """Return the velocity of REMUS in its own axes by an independent integration of Fossen's equation."""
    mass = np.diag([REMUS_MASS] * 3 + REMUS_INERTIA) + REMUS_ADDED

    def slope(_, nu):
        drag = REMUS_QUADRATIC @ (np.abs(nu) * nu) + abs(nu[0]) * REMUS_LIFT @ nu
        return np.linalg.solve(mass, push - coriolis(mass, nu) - drag)

    return solve_ivp(slope, (0.0, seconds), np.zeros(6), rtol=1e-10, atol=1e-12).y[:, -1]


def test_remus_reaches_the_steady_speed_of_its_thrust_and_drag(tmp_path) -> None:
    """T = ½ ρ C_D A u²: 9.17 N are 1.77 m/s. Reached within 1e-6 after 60 s, the time constant being 3 s."""
    thrust = 9.17
    with body(tmp_path, REMUS_MASS, REMUS_INERTIA, remus_forces(), [thrust, 0, 0, 0, 0, 0]) as world:
        world.advance(60.0)
        speed = world.robots["it"].twist.linear[0]
    assert speed == pytest.approx(np.sqrt(thrust / REMUS_QUADRATIC[0, 0]), rel=1e-6)
    assert speed == pytest.approx(1.767, abs=1e-3)


@pytest.mark.parametrize("integrator", ["rk4", "implicitfast"])
def test_remus_turns_as_an_independent_integration_says(tmp_path, integrator) -> None:
    """A thrust and a yawing moment, as of a rudder, for 20 s: a transient into a steady turn.

    RK4 at 5 ms is the same to 1e-6; the first-order method to 1 %.
    """
    push = np.array([9.17, 0.0, 0.0, 0.0, 0.0, 2.0])
    with body(tmp_path, REMUS_MASS, REMUS_INERTIA, remus_forces(), push, integrator) as world:
        world.advance(20.0)
        twist = world.robots["it"].twist
        found = np.concatenate([twist.linear, twist.angular])
    wanted = remus_velocity(push, 20.0)
    assert abs(wanted[5]) > 0.05  # the vehicle does turn
    assert found == pytest.approx(wanted, abs=1e-6 if integrator == "rk4" else 0.01)


@pytest.mark.parametrize("name", BLUEROV)
@pytest.mark.parametrize("axis", range(6))
def test_bluerov_reaches_the_terminal_speed_of_its_damping(tmp_path, name, axis) -> None:
    """d u + q u² = F has the root (−d + √(d² + 4 q F))/2q; both published sets, along and about every axis."""
    mass, added, linear, quadratic = BLUEROV[name]
    forces = {
        "added": {"kind": "added_mass", "link": "hull", "matrix": added},
        "drag": {"kind": "damping", "link": "hull", "linear": linear, "quadratic": quadratic},
    }
    push = np.zeros(6)
    push[axis] = 30.0 if axis < 3 else 1.0
    with body(tmp_path, mass, [0.2, 0.2, 0.2], forces, push, "implicitfast") as world:
        world.advance(60.0)
        twist = world.robots["it"].twist
        found = np.concatenate([twist.linear, twist.angular])[axis]
    d, q = linear[axis], quadratic[axis]
    assert found == pytest.approx((-d + np.sqrt(d * d + 4 * q * push[axis])) / (2 * q), rel=1e-6)


def test_the_two_sets_of_bluerov_differ_by_almost_three_in_top_speed(tmp_path) -> None:
    """At 85 N of surge, the two published vehicles are 2.05 and 0.73 m/s fast: a factor of 2.8, as is known of them."""
    speeds = []
    for mass, added, linear, quadratic in BLUEROV.values():
        forces = {
            "added": {"kind": "added_mass", "link": "hull", "matrix": added},
            "drag": {"kind": "damping", "link": "hull", "linear": linear, "quadratic": quadratic},
        }
        folder = tmp_path / str(mass)
        folder.mkdir()
        with body(folder, mass, [0.2, 0.2, 0.2], forces, [85.0, 0, 0, 0, 0, 0], "implicitfast") as world:
            world.advance(30.0)
            speeds.append(world.robots["it"].twist.linear[0])
    assert speeds[0] / speeds[1] == pytest.approx(2.8, abs=0.1)
