"""Links that are fixed to each other move as one, and a law on any of them acts where that link is."""

from __future__ import annotations

import numpy as np
import pytest

HULL = {"mass": 6.0, "inertia": [0.3, 0.5, 0.4], "center": [0.05, 0.0, -0.02]}
POD = {"mass": 2.0, "inertia": [0.05, 0.07, 0.06], "center": [0.02, 0.01, 0.0]}
AT, RPY = [0.4, -0.2, 0.1], [0.3, -0.5, 0.8]
SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}
MOUNT = {"position": AT, "roll_deg": np.degrees(0.3), "pitch_deg": np.degrees(-0.5), "yaw_deg": np.degrees(0.8)}


def _laws(any_inertia):
    return {
        "added_mass": {"matrix": any_inertia(6, 12.0)},
        "damping": {"linear": any_inertia(7, 9.0), "quadratic": [3, 9, 8, 0.2, 0.4, 0.3]},
        "force_points": {"points": [[0.1, 0, 0.05], [-0.1, 0.02, 0.1]], "volume": 0.005, "custom_force": [1, 2, 3]},
        "immersion_damping": {"underwater_linear": 0.7, "underwater_angular": 1.1},
        "ballast": {"volume": 0.002, "fill": 0.7, "rate": 0.001, "gyration": [0.1, 0.05, 0.02]},
    }


@pytest.mark.parametrize("kind", ["added_mass", "damping", "force_points", "immersion_damping", "ballast"])
def test_a_law_on_a_fixed_link_acts_like_the_same_law_mounted_at_that_pose_on_its_parent(
    load, vehicle, set_velocity, motion_of, any_inertia, kind
):
    """A frame in the URDF and the same frame as a mount give equal motion; rounding of 2 s."""
    links = {"hull": HULL, "pod": POD}
    joints = {"weld": {"type": "fixed", "parent": "hull", "child": "pod", "at": AT, "rpy": RPY}}
    settings = {"kind": kind, **_laws(any_inertia)[kind]}
    ends = []
    for law in ({"link": "pod", **settings}, {"link": "hull", **MOUNT, **settings}):
        robot = {"vehicle": vehicle(links, {"law": law}, joints), "pose": SKEW}
        world = load({"robots": {"craft": robot}, "integrator": "rk4"})
        set_velocity(world, [0.4, -0.3, 0.2], [0.5, -0.7, 0.9])
        world.advance(2.0)
        ends.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


def test_a_fixed_link_adds_its_mass_and_inertia_where_it_is(load, vehicle, spatial, motion_of):
    """ν̇ = (M_hull + Hᵀ M_pod H)⁻¹ τ with the pod turned and shifted (parallel axes); a step of 1 µs: 1e-8."""
    joints = {"weld": {"type": "fixed", "parent": "hull", "child": "pod", "at": AT, "rpy": RPY}}
    wrench = np.array([1.0, -2.0, 0.5, 0.3, 0.6, -0.4])
    robot = {"vehicle": vehicle({"hull": HULL, "pod": POD}, {}, joints), "pose": SKEW}
    world = load(
        {"robots": {"craft": robot}, "gravity": 0.0, "step": "1/1000000"},
        forces={"craft/hull": lambda state: wrench},
    )
    world.advance_steps(1)
    sr, sp, sy = np.sin(RPY)
    cr, cp, cy = np.cos(RPY)
    turn = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    inertia = turn @ np.diag(POD["inertia"]) @ turn.T
    total = spatial(6.0, HULL["center"], HULL["inertia"]) + spatial(2.0, AT + turn @ POD["center"], inertia)
    assert motion_of(world, "craft")[2] * 1e6 == pytest.approx(np.linalg.solve(total, wrench), rel=1e-8)


def test_a_python_force_on_a_fixed_link_acts_in_that_links_axes_and_sees_its_motion(load, vehicle, motion_of):
    """The wrench about the pod's origin in the pod's axes, carried to the hull: τ_hull = (R f, R τ + r × R f)."""
    joints = {"weld": {"type": "fixed", "parent": "hull", "child": "pod", "at": AT, "rpy": [0.0, 0.0, np.pi / 2]}}
    path = vehicle({"hull": HULL, "pod": POD}, {}, joints)
    seen = []

    def on_pod(state):
        seen.append(state)
        return [1.0, 0.0, 0.0, 0.0, 0.2, 0.0]

    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    force = turn @ [1.0, 0.0, 0.0]
    same = np.concatenate([force, turn @ [0.0, 0.2, 0.0] + np.cross(AT, force)])
    ends = []
    for hooks in ({"craft/pod": on_pod}, {"craft/hull": lambda state: same}):
        world = load({"robots": {"craft": {"vehicle": path, "pose": SKEW}}, "gravity": 0.0}, forces=hooks)
        world.advance(0.5)
        ends.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    assert seen[0].position == pytest.approx(
        np.array(SKEW["position"]) + seen[0].rotation @ turn.T @ np.array(AT), abs=1e-12
    )
