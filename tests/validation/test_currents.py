"""Bodies in currents that vary in space and time."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError

BALL = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0, "volume": 0.0}


def _ball(position, **settings):
    return BALL | {"pose": {"position": list(position)}} | settings


@pytest.fixture
def vortex(tmp_path):
    """Settings of a current on a grid that turns about the z axis at Ω, within 20 m: u = Ω (−y, x)."""

    def write(rate, **settings):
        line = np.linspace(-20.0, 20.0, 21)
        y, x = np.meshgrid(line, line, indexing="ij")
        np.savez(tmp_path / "vortex.npz", x=line, y=line, u=-rate * y, v=rate * x)
        return {"kind": "grid", "file": str(tmp_path / "vortex.npz"), "outside": "clamp"} | settings

    return write


def test_a_body_in_a_vortex_on_a_grid_follows_it(load, vortex):
    """m r̈ = −D (ṙ − u), u = Ω ẑ × r: solutions exp(λt) of r = x + iy with m λ² + D (λ − iΩ) = 0.

    A ball released with the slow root's velocity λ r stays on it: it goes round at Im λ ≈ Ω and drifts outwards at
    Re λ ≈ m Ω²/D, being thrown out. A grid is exact for this field; RK4 at 5 ms: 1e-8 of 10 m in 1.5 turns.
    """
    rate, mass, drag = 0.1, 4.0, 8.0
    world = load(
        {
            "objects": {"ball": _ball([10.0, 0.0, -5.0], linear_damping=[drag] * 3 + [0.0] * 3)},
            "water": {"currents": {"vortex": vortex(rate)}},
            "gravity": 0.0,
            "integrator": "rk4",
        }
    )
    slow = max(np.roots([mass, drag, -1j * rate * drag]), key=lambda root: root.real)
    start = slow * 10.0
    world._engine.part("qvel")[0, :2] = start.real, start.imag
    world._engine.refresh()
    for instant in np.arange(1, 10) * 10.0:
        world.advance(10.0)
        expected = 10.0 * np.exp(slow * instant)
        found = world.objects["ball"].pose.position
        assert found == pytest.approx([expected.real, expected.imag, -5.0], abs=1e-7)
    assert slow.imag == pytest.approx(rate, rel=0.01)
    assert 10.0 < abs(expected) < 20.0


def test_a_light_body_stays_on_its_circle_in_a_vortex(load, vortex):
    """With D/m = 800 1/s it drifts by the fraction Ω² m/D = 1.25e-5 of its radius a second: 0.08 % in 63 s."""
    world = load(
        {
            "objects": {"ball": _ball([10.0, 0.0, -5.0], linear_damping=[3200.0] * 3 + [0.0] * 3)},
            "water": {"currents": {"vortex": vortex(0.1)}},
            "gravity": 0.0,
        }
    )
    world.advance(2 * np.pi / 0.1)
    assert np.hypot(*world.objects["ball"].pose.position[:2]) == pytest.approx(10.0, rel=3e-3)  # and ½ h Ω² t
    assert world.objects["ball"].pose.position[1] == pytest.approx(0.0, abs=0.02)


CURRENTS = {
    "uniform": {"velocity": [0.3, -0.2, 0.1]},
    "profile": {"depths": [0, 10], "velocities": [[1, 0, 0.2], [0, 1, 0]]},
    "shear": {"velocity": [0.1, 0.2, 0.0], "gradient": [0.05, 0, 0]},
    "gauss_markov": {"sigma": [0.1, 0.2, 0.3], "correlation_time": 20, "mean": [0.5, 0, 0]},
    "grid": {},
}


@pytest.mark.parametrize("kind", CURRENTS)
@pytest.mark.parametrize("inside", [True, False])
def test_forces_feel_the_current_that_python_sees(load, vortex, kind, inside):
    """An implicit step from rest gives v = h D u/(m + h D), from which u follows to rounding; 0 outside the volume."""
    volume = {"kind": "sphere", "center": [6.0, 2.0, -4.0], "radius": 1.0 if inside else 0.5}
    current = vortex(0.1) if kind == "grid" else {"kind": kind, **CURRENTS[kind]}
    drag, step = 30.0, 1 / 50
    world = load(
        {
            "objects": {"ball": _ball([6.5, 2.5, -4.0], linear_damping=[drag] * 3 + [0.0] * 3)},
            "water": {"currents": {"it": {**current, "volume": volume}}},
            "gravity": 0.0,
            "step": "1/50",
        }
    )
    seen = world.sample_water([6.5, 2.5, -4.0]).velocity
    world.advance_steps(1)
    felt = world.objects["ball"].twist.linear * (BALL["mass"] + step * drag) / (step * drag)
    assert felt == pytest.approx(seen, abs=1e-13)
    assert seen.any() == inside


def test_overlapping_currents_carry_a_body_with_their_sum(load):
    """Drag ends when the body moves with the flow: in both boxes u₁ + u₂, further on u₂ alone; exp(−D t/m) is 0."""
    boxes = [{"kind": "box", "center": [c, 0, -5], "size": [20, 20, 10]} for c in (0.0, 8.0)]
    speeds = [[0.5, 0.0, 0.0], [0.25, 0.0, 0.0]]
    currents = {
        str(number): {"kind": "uniform", "velocity": speed, "volume": volume}
        for number, (speed, volume) in enumerate(zip(speeds, boxes, strict=True))
    }
    world = load(
        {
            "objects": {"ball": _ball([0.0, 0.0, -5.0], linear_damping=[20.0] * 3 + [0.0] * 3)},
            "water": {"currents": currents},
            "gravity": 0.0,
        }
    )
    world.advance(10.0)
    assert world.objects["ball"].twist.linear[0] == pytest.approx(0.75, abs=1e-12)
    world.advance(20.0)
    assert 10.0 < world.objects["ball"].pose.position[0] < 18.0
    assert world.objects["ball"].twist.linear[0] == pytest.approx(0.25, abs=1e-12)


def test_a_neutral_body_goes_with_a_current_that_changes_all_over(load, set_velocity):
    """A body of the water's density is pushed by ρ V u̇ as the water it replaces (Froude–Krylov), with no drag at all.

    So it keeps u(t) if it begins with it. RK4 at 10 ms with ω up to 0.8 rad/s: (h ω)⁴/120 ≈ 1e-11 of 1 m/s.
    """
    rho, radius = 1025.0, 0.2
    volume = 4 / 3 * np.pi * radius**3
    ball = {"geometry": {"kind": "sphere", "radius": radius}, "motion": "dynamic", "mass": rho * volume}
    ball |= {"volume": volume, "pose": {"position": [0, 0, -20]}}
    current = {"kind": "gauss_markov", "sigma": [0.3, 0.2, 0.1], "correlation_time": 50.0, "mean": [0.5, 0, 0]}
    world = load(
        {"objects": {"ball": ball}, "water": {"currents": {"it": current}}, "integrator": "rk4", "step": "1/100"}
    )
    set_velocity(world, world.sample_water([0, 0, -20]).velocity)
    for _ in range(5):
        world.advance(10.0)
        moving = world.objects["ball"]
        seen = world.sample_water(moving.pose.position).velocity
        assert moving.pose.rotation @ moving.twist.linear == pytest.approx(seen, abs=1e-9)


# ------------------------------------------------------------------------------------------------ refusing


def test_a_robot_that_leaves_a_grid_that_refuses_ends_the_advance_with_its_name(load, vehicle, vortex):
    """At 1 m/s it crosses x = 20 m; the world stays at the last step before the grid would be evaluated outside."""
    drag = {"kind": "damping", "link": "hull", "linear": [1e3] * 6}
    path = vehicle({"hull": {"mass": 5.0, "inertia": [0.3, 0.5, 0.4]}}, {"drag": drag})
    push = {"kind": "uniform", "velocity": [1.0, 0, 0]}
    world = load(
        {
            "robots": {"craft": {"vehicle": path, "pose": {"position": [18, 0, -5]}}},
            "objects": {"pier": {"geometry": {"kind": "box", "size": [1, 1, 1]}, "pose": {"position": [99, 0, 0]}}},
            "water": {"currents": {"push": push, "vortex": vortex(0.0, outside="refuse")}},
            "gravity": 0.0,
        }
    )
    with pytest.raises(
        SkerryError, match=r"the robot 'craft' at \(20\.\d+, .* is outside the grid of water.currents.v"
    ):
        world.advance(5.0)
    assert 20.0 < world.robots["craft"].pose.position[0] < 20.0 + 1.0 / 200 + 1e-9
    assert world.time == pytest.approx(2.0, abs=0.02)


def test_watching_a_grid_that_refuses_does_not_change_the_motion(load, vortex):
    """The bytes equal those with `outside: clamp`, whose steps run in one native call."""
    found = []
    for outside in ("refuse", "clamp"):
        world = load(
            {
                "objects": {"ball": _ball([5.0, 0.0, -5.0], linear_damping=[8.0] * 3 + [0.0] * 3)},
                "water": {"currents": {"vortex": vortex(0.1, outside=outside)}},
                "gravity": 0.0,
            }
        )
        world.advance(5.0)
        found.append(world.objects["ball"].pose.position.tobytes())
    assert found[0] == found[1]


def test_a_batch_takes_no_grid_that_refuses(vortex):
    scenario = {
        "water": {"currents": {"vortex": vortex(0.1, outside="refuse")}},
        "objects": {"ball": _ball([0, 0, -5])},
    }
    with pytest.raises(SkerryError, match="outside: clamp"):
        skerry.load_batch(scenario, seeds=[0, 1])
