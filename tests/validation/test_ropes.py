"""Ropes against closed forms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import skerry
from skerry.core.frames import Pose
from skerry.ropes.system import lay

DRY = {"surface": {"kind": "flat", "level": -1000.0}}
G = 9.81


def ball(mass: float, x: float, y: float, z: float, radius: float = 0.1) -> dict[str, Any]:
    """Return a dynamic ball."""
    return {
        "geometry": {"kind": "sphere", "radius": radius},
        "motion": "dynamic",
        "mass": mass,
        "pose": {"position": [x, y, z]},
    }


def load(**scenario: Any) -> Any:
    return skerry.load({"water": DRY, **scenario})


# ------------------------------------------------------------------------------------------------ statics


def catenary(length: float, span: float) -> float:
    """The parameter a of y = a cosh(x/a) of a given length over a given span: L = 2 a sinh(s/2a)."""
    return float(brentq(lambda a: 2 * a * np.sinh(span / 2 / a) - length, 0.05 * span, 100 * span))


def test_a_rope_between_two_points_hangs_as_a_catenary() -> None:
    """y = a cosh(x/a), end tension w √(a² + (L/2)²); 100 chords deviate from the curve by less than a millimetre."""
    rope = {
        "start": [-4, 0, -1],
        "end": [4, 0, -1],
        "length": 10,
        "segment_length": 0.1,
        "density": 1500,
        "stiffness": 1e7,
    }
    with skerry.load({"ropes": {"line": rope}}) as world:
        line = world.ropes["line"]
        world.advance(60)
        a = catenary(10, 8)
        weight = (line.config.linear_mass - 1025 * line.config.area) * G
        x, z = line.points[:, 0], line.points[:, 2]
        shape = -1 + a * np.cosh(x / a) - a * np.cosh(4 / a)
        assert np.abs(z - shape).max() < 2e-3
        assert line.tension[0] == pytest.approx(weight * np.hypot(a, 5), rel=0.01)
        middle = len(line.tension) // 2
        assert line.tension[middle] == pytest.approx(weight * a, rel=0.01)
        assert np.abs(line.velocities).max() < 2e-3


def test_a_rope_has_the_given_length() -> None:
    rope = {"start": [0, 0, 0], "length": 3.0, "segment_length": 0.17}
    with load(ropes={"line": rope}) as world:
        assert world.ropes["line"].length == pytest.approx(3.0, abs=1e-12)
        assert world.ropes["line"].distance == pytest.approx(3.0, abs=1e-12)


@pytest.mark.parametrize("mass", [0.1, 5.0, 500.0, 5000.0])
def test_a_load_stretches_a_rope_by_hookes_law(mass: float) -> None:
    """T/EA, and the tension is the weight below; from 0.1 kg to 5 t at a step of 10 ms."""
    stiffness = 2e3 * mass * G + 1e4
    rope = {"start": [0, 0, 0], "end": "load", "length": 10, "segment_length": 0.5, "stiffness": stiffness}
    with load(step="1/100", objects={"load": ball(mass, 0, 0, -10)}, ropes={"line": rope}) as world:
        line = world.ropes["line"]
        world.advance(60)
        own = line.config.linear_mass
        tension = (mass + own * 10) * G
        assert line.tension[0] == pytest.approx(tension - 0.25 * own * G, rel=1e-3)
        assert -world.objects["load"].position[2] - 10 == pytest.approx(10 * (mass + 5 * own) * G / stiffness, rel=0.01)


def test_a_stiff_rope_sags_as_a_beam() -> None:
    """Simply supported, under its own weight: 5 w L⁴/(384 E I) (Euler and Bernoulli); soft along itself."""
    rope = {
        "start": [-1, 0, 0], "end": [1, 0, 0], "length": 2, "segment_length": 0.1, "mass_per_metre": 0.5,
        "stiffness": 50, "bending_stiffness": 20, "normal_drag": 400,
    }  # fmt: skip
    with load(ropes={"bar": rope}) as world:
        world.advance(60)
        bar = world.ropes["bar"]
        assert -bar.points[:, 2].min() == pytest.approx(5 * 0.5 * G * 2**4 / (384 * 20), rel=0.03)


def test_a_light_rope_floats_and_a_heavy_one_sinks() -> None:
    rope = {"start": [0, 0, 0], "length": 2, "mass_per_metre": 0.005}
    heavy = {**rope, "mass_per_metre": 0.2, "start": [0, 1, 0]}
    with skerry.load({"ropes": {"light": rope, "heavy": heavy}}) as world:
        world.advance(20)
        assert np.abs(world.ropes["light"].points[:, 2]).max() < 0.01
        assert world.ropes["heavy"].end[2] == pytest.approx(-2.0, abs=0.01)


def test_a_current_bends_a_rope_to_the_angle_of_its_drag_and_weight() -> None:
    """A free rope in a steady current is straight: w cos φ = ½ ρ C_n d U² cos² φ… of its normal drag alone.

    Across the rope, weight w cos θ balances ½ ρ C_n d (U sin θ)², with θ the angle below the current.
    """
    rope = {"start": [0, 0, -1], "length": 5, "density": 1140, "segment_length": 0.1, "direction": [1, 0, -1]}
    water = {"currents": {"tide": {"kind": "uniform", "velocity": [0.5, 0, 0]}}}
    with skerry.load({"water": water, "ropes": {"line": rope}}) as world:
        line = world.ropes["line"]
        world.advance(120)
        weight = (line.config.linear_mass - 1025 * line.config.area) * G
        drag = 0.5 * 1025 * 1.2 * 0.01 * 0.5**2
        angle = brentq(lambda t: weight * np.cos(t) - drag * np.sin(t) ** 2, 0.01, np.pi / 2)
        way = line.points[30] - line.points[10]
        assert np.arctan2(-way[2], way[0]) == pytest.approx(angle, rel=0.01)


# ------------------------------------------------------------------------------------------------ motion


def test_a_pendulum_swings_with_its_period() -> None:
    """T = 2π √(l/g) (1 + θ²/16), of a heavy ball on a light rope; implicit Euler slows it by less than a percent."""
    theta = 0.2
    length = 5.0
    rope = {
        "start": [0, 0, 0],
        "end": "bob",
        "length": length,
        "segment_length": 1,
        "mass_per_metre": 1e-3,
        "stiffness": 1e6,
    }
    bob = ball(20, length * np.sin(theta), 0, -length * np.cos(theta), 0.05)
    with load(step="1/500", objects={"bob": bob}, ropes={"line": rope}) as world:
        times, before = [], world.objects["bob"].position[0]
        while len(times) < 4:
            world.advance(0.002)
            now = world.objects["bob"].position[0]
            if before > 0 >= now or before < 0 <= now:
                times.append(world.time)
            before = now
        period = 2 * np.mean(np.diff(times))
        assert period == pytest.approx(2 * np.pi * np.sqrt(length / G) * (1 + theta**2 / 16), rel=0.01)


def test_a_pendulum_in_water_swings_slower_by_buoyancy_and_added_mass() -> None:
    """T = 2π √(l (m + ρV/2)/((m − ρV) g)) (1 + θ²/16), of a ball (Lamb 1932, §92) without drag on a thin rope."""
    theta, length, radius, mass = 0.2, 5.0, 0.1, 20.0
    displaced = 1025 * 4 / 3 * np.pi * radius**3
    rope = {
        "start": [0, 0, -2], "end": "bob", "length": length, "segment_length": 1, "mass_per_metre": 1e-3,
        "stiffness": 1e6, "diameter": 1e-3, "normal_drag": 0, "tangential_drag": 0,
    }  # fmt: skip
    bob = ball(mass, length * np.sin(theta), 0, -2 - length * np.cos(theta), radius)
    bob |= {"volume": displaced / 1025, "added_mass": [displaced / 2] * 3 + [0.0] * 3}
    with skerry.load({"step": "1/500", "objects": {"bob": bob}, "ropes": {"line": rope}}) as world:
        times, before = [], world.objects["bob"].position[0]
        while len(times) < 3:
            world.advance(0.002)
            now = world.objects["bob"].position[0]
            if before > 0 >= now or before < 0 <= now:
                times.append(world.time)
            before = now
        wanted = 2 * np.pi * np.sqrt(length * (mass + displaced / 2) / ((mass - displaced) * G)) * (1 + theta**2 / 16)
        assert 2 * np.mean(np.diff(times)) == pytest.approx(wanted, rel=0.01)


def momentum(world: Any) -> np.ndarray[Any, Any]:
    """Return the momentum of balls and ropes; that of a node is its mass times its velocity."""
    total = np.zeros(3)
    for name, thing in world.objects.items():
        mass = world.scenario.objects[name].mass
        total += mass * world._engine.motion(0, thing.root)[7:10]
    for rope in world.ropes.values():
        if rope.exists:
            lengths = np.zeros(len(rope.points))
            lengths[:-1] += rope.rest_lengths / 2
            lengths[1:] += rope.rest_lengths / 2
            total += rope.config.linear_mass * lengths @ rope.velocities
    return total


def test_momentum_is_conserved_while_a_rope_snaps_tight_and_when_it_is_released() -> None:
    """Two balls fly apart in free space, so the only error is rounding."""
    rope = {
        "start": "a", "end": "b", "length": 2, "segment_length": 0.2, "damping": 10, "mass_per_metre": 0.05,
        "normal_drag": 0, "tangential_drag": 0,
    }  # fmt: skip
    objects = {"a": ball(3, 0, 0, 0), "b": ball(1, 1, 0, 0)}
    with load(gravity=0.0, objects=objects, ropes={"line": rope}) as world:
        world._engine.part("qvel")[0, 6:9] = [1.0, 0.3, 0.2]
        world._engine.refresh()
        world.advance_steps(1)  # the end of the rope takes on the velocity of its ball
        before, farthest = momentum(world), 0.0
        assert before == pytest.approx([1.0, 0.3, 0.2], rel=0.01)
        for _ in range(400):
            world.advance(0.01)
            farthest = max(farthest, world.ropes["line"].distance)
            assert momentum(world) == pytest.approx(before, rel=1e-6)
        assert farthest == pytest.approx(2.0, abs=0.02)
        world.ropes["line"].release()
        world.advance(1.0)
        assert momentum(world) == pytest.approx(before, rel=1e-6)


def test_momentum_is_conserved_when_a_load_is_tied_to_a_flying_rope() -> None:
    rope = {"start": "a", "length": 1, "mass_per_metre": 0.05, "normal_drag": 0, "tangential_drag": 0, "friction": 0}
    objects = {"a": ball(3, 0, 0, 0), "b": ball(1, 1.05, 0, 0, 0.01)}
    with load(gravity=0.0, objects=objects, ropes={"line": rope}) as world:
        world._engine.part("qvel")[0, 0:3] = [-0.5, 0.0, 0.1]
        world._engine.refresh()
        world.advance_steps(2)
        before = momentum(world)
        world.ropes["line"].attach("b")
        for _ in range(100):
            world.advance(0.02)
            assert momentum(world) == pytest.approx(before, rel=1e-6, abs=1e-6)
        assert world._engine.motion(0, world.objects["b"].root)[7] < -0.1  # the load is towed


def test_ropes_feel_the_water_move() -> None:
    """A long neutrally buoyant rope that is free drifts with the current."""
    rope = {"start": "float", "length": 2, "mass_per_metre": 1025 * np.pi * 0.25 * 0.01**2}
    water = {"currents": {"tide": {"kind": "uniform", "velocity": [0.3, 0.1, 0]}}}
    thing = ball(1025 * 4 / 3 * np.pi * 0.05**3, 0, 0, -2, 0.05)
    with skerry.load({"water": water, "objects": {"float": thing}, "ropes": {"line": rope}}) as world:
        world.advance(120)
        assert world.ropes["line"].velocities.mean(axis=0) == pytest.approx([0.3, 0.1, 0], abs=0.02)


# ------------------------------------------------------------------------------------------------ what it touches


def test_a_sunk_rope_lies_on_the_ground() -> None:
    """Nodes are half a diameter above the ground, and sink in by less than that."""
    rope = {"start": "stone", "length": 3, "density": 2000, "direction": [1, 0, 0], "friction": 0.5}
    stone = ball(0.3, 0, 0, -5, 0.02)
    terrain = {"kind": "flat", "z": -6}
    with skerry.load({"terrain": terrain, "objects": {"stone": stone}, "ropes": {"line": rope}}) as world:
        world.advance(30)
        low = world.ropes["line"].points[:, 2]
        assert np.all(low[3:] > -6.0)
        assert np.all(low[3:] < -6.0 + 0.006)
        assert np.abs(world.ropes["line"].velocities).max() < 1e-2


def test_a_rope_falls_over_a_bar_and_hangs_there_without_sinking_in() -> None:
    """The nodes on the bar keep off it by the rope's radius, less what the contact gives way."""
    bar = {"geometry": {"kind": "box", "size": [0.4, 2.0, 0.4]}, "motion": "static", "pose": {"position": [0, 0, 0]}}
    rope = {"start": [-0.5, 0, 0.3], "length": 2, "segment_length": 0.05, "density": 1140, "normal_drag": 100}
    with load(objects={"bar": bar}, ropes={"line": rope}) as world:
        world.advance(20)
        points = world.ropes["line"].points
        assert not (np.maximum(np.abs(points[:, 0]), np.abs(points[:, 2])) < 0.2 + 0.005 - 0.003).any()
        above = np.abs(points[:, 0]) < 0.1
        assert points[above, 2] == pytest.approx(0.205, abs=0.005)
        assert points[-1, 2] < -0.3


def test_a_rope_that_lies_on_a_body_presses_it_down() -> None:
    """The board carries the part of the rope's weight that its end does not carry, and passes it to its own ropes."""
    board = {
        "geometry": {"kind": "box", "size": [3.0, 1.0, 0.1]}, "motion": "dynamic", "mass": 20.0,
        "pose": {"position": [0, 0, 0]},
    }  # fmt: skip
    hang = {"length": 2.0, "stiffness": 1e6, "end": "board", "mass_per_metre": 0.01, "segment_length": 0.5}
    hangs = {
        f"hang{k}": {**hang, "start": [x, y, 2.05], "end_point": [x, y, 0.05]}
        for k, (x, y) in enumerate([(-1.4, -0.4), (-1.4, 0.4), (1.4, -0.4), (1.4, 0.4)])
    }
    lie = {"start": [-1.2, 0, 0.3], "length": 2.2, "mass_per_metre": 2.0, "normal_drag": 100}

    def borne(world: Any) -> float:
        return float(sum(world.ropes[name].tension[-1] for name in hangs))

    with load(objects={"board": board}, ropes=hangs) as world:
        world.advance(10)
        alone = borne(world)
        assert alone == pytest.approx(20 * G, rel=0.01)
    with load(objects={"board": board}, ropes={**hangs, "lie": lie}) as world:
        world.advance(10)
        line = world.ropes["lie"]
        way = line.points[0] - line.points[1]
        held = line.tension[0] * way[2] / np.linalg.norm(way) + 0.05 * 2.0 * G
        assert borne(world) - alone == pytest.approx(2.0 * 2.2 * G - held, rel=0.05)
        assert borne(world) - alone > 15.0


# ------------------------------------------------------------------------------------------------ winch, pulley, hook


def crane(tmp_path: Any, **rope: Any) -> str:
    """Return a vehicle with a winch, fixed in the air or heavy."""
    folder = tmp_path / "crane"
    folder.mkdir(exist_ok=True)
    (folder / "robot.urdf").write_text(
        '<robot name="crane"><link name="base_link"><inertial><mass value="50"/>'
        '<inertia ixx="5" iyy="5" izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    settings = {"start": "base_link", "winch": "winch", "direction": [0, 0, -1], **rope}
    (folder / "vehicle.yaml").write_text(
        json.dumps(
            {
                "actuators": {
                    "winch": {
                        "kind": "winch", "link": "base_link", "rope_length": 10, "target_length": 2, "speed": 0.5,
                        "expected_frequency": None,
                    }
                },
                "ropes": {"lift": settings},
            }
        )
    )  # fmt: skip
    return str(folder)


def test_a_winch_pays_out_and_takes_in_at_its_speed_and_lifts_with_the_right_force(tmp_path: Any) -> None:
    """L' = ±s until the target; hoisted at a steady speed, a load pulls with its weight, m g."""
    vehicle = crane(tmp_path, stiffness=1e6, mass_per_metre=0.01)
    robots = {"crane": {"vehicle": vehicle, "anchored": True, "pose": {"position": [0, 0, 20]}}}
    with load(robots=robots, objects={"load": ball(5, 0, 0, 18, 0.05)}) as world:
        winch, rope = world.robots["crane"].actuators["winch"], world.robots["crane"].ropes["lift"]
        assert rope.length == pytest.approx(2.0)
        rope.attach("load")
        world.advance(5)
        assert world.objects["load"].position[2] == pytest.approx(18.0, abs=2e-3)
        winch.command(length=6.0)
        world.advance(4.0)
        assert winch.length == pytest.approx(4.0, abs=1e-9)
        assert winch.rate == pytest.approx(0.5)
        assert rope.length == pytest.approx(4.0, abs=1e-9)
        world.advance(8.0)
        assert winch.length == pytest.approx(6.0, abs=1e-9)
        assert winch.rate == 0.0
        assert world.objects["load"].position[2] == pytest.approx(14.0, abs=5e-3)
        winch.command(length=0.0)  # longer than the rope on the drum
        world.advance(3.0)
        height = world.objects["load"].position[2]
        tensions = []
        for _ in range(100):
            world.advance(0.02)
            tensions.append(rope.tension[0])
        assert world.objects["load"].position[2] - height == pytest.approx(1.0, abs=0.01)
        assert np.mean(tensions) == pytest.approx((5 + 0.01 * 3.5) * G, rel=0.01)
        world.advance(20)
        assert winch.length == pytest.approx(0.1, abs=1e-9)
        rope.release()
        world.advance(0.5)
        fallen = 20 - 0.1 - world.objects["load"].position[2]
        assert fallen == pytest.approx(0.5 * G * 0.5**2, rel=0.02)


@pytest.mark.parametrize(("left", "right"), [(2.0, 2.0), (3.0, 2.0), (1.0, 2.0)])
def test_a_rope_over_a_hook_runs_as_over_a_pulley(left: float, right: float) -> None:
    """Atwood: a = g (m₁ − m₂)/(m₁ + m₂ + m of the sheave); both sides always add up to the rope.

    The hook's own rope bears 4 m₁ m₂ g/(m₁ + m₂), and the hook. Implicit Euler's lag leaves a percent or two.
    """
    hook = {
        "start": [0, 0, 10], "length": 1, "direction": [0, 0, -1], "stiffness": 1e6, "damping": 1e3,
        "hook": {"mass": 0.2, "pulley_drag": 0.0, "pulley_mass": 0.02},
    }  # fmt: skip
    rope = {
        "start": "right", "length": 4, "buoy": {"mass": left, "radius": 0.02}, "mass_per_metre": 0.001,
        "direction": [-1, 0, 0], "stiffness": 1e5, "damping": 1e2, "segment_length": 0.2,
    }  # fmt: skip
    objects = {"right": ball(right, 2.0, 0, 8.99, 0.02)}
    with load(step="1/1000", objects=objects, ropes={"crane": hook, "line": rope}) as world:
        crane_rope, line = world.ropes["crane"], world.ropes["line"]
        world.advance(0.002)
        assert crane_rope.phase == "pulley"
        top = crane_rope.end - np.array([0, 0, 0.105])  # where the rope hangs in the ring of the hook
        # put both weights where they hang straight down
        world.objects["right"].move(Pose(top + np.array([0.1, 0, -1.997]), np.array([0.0, 0, 0, 1])))
        for memory, side in ((line._memory, -0.1), (line._spare, 0.1)):
            lay(memory, top, top + np.array([side, 0, -1.997]), 2.0, 10)
        world.advance(0.3)  # wait until the bounce is over
        start, speed = line.points[-1][2], line.velocities[-1][2]
        forces = []
        for _ in range(40):
            world.advance(0.01)
            forces.append(crane_rope.tension[0])
            assert line.length == pytest.approx(4.0, abs=1e-9)
        wanted = -G * (left - right) / (left + right + 0.02)
        found = 2 * (line.points[-1][2] - start - speed * 0.4) / 0.4**2
        assert found == pytest.approx(wanted, rel=0.03, abs=0.02)
        assert np.mean(forces) == pytest.approx(4 * left * right * G / (left + right) + 0.2 * G, rel=0.03)


def test_a_hook_catches_a_rope_hoists_it_and_ends_by_carrying_the_load(tmp_path: Any) -> None:
    """The phases hanging, pulley and carrying, bit-equal after a restore."""
    vehicle = crane(tmp_path, stiffness=1e5, mass_per_metre=0.02, hook={"mass": 0.2})
    robots = {"crane": {"vehicle": vehicle, "anchored": True, "pose": {"position": [0.5, 0, 3]}}}
    line = {"start": "load", "length": 2, "buoy": {"mass": 0.1}, "mass_per_metre": 0.005, "direction": [1, 0, 0]}
    load_ball = ball(0.97 * 1025 * 4 / 3 * np.pi * 0.1**3, -0.5, 0, -0.02, 0.1)
    scenario = {"robots": robots, "objects": {"load": load_ball}, "ropes": {"line": line}}
    with skerry.load(scenario) as world:
        winch, lift = world.robots["crane"].actuators["winch"], world.robots["crane"].ropes["lift"]
        line_rope = world.ropes["line"]
        assert lift.phase == "hanging"
        winch.command(length=3.05, speed=0.3)
        world.advance(8)
        assert lift.phase == "pulley"
        assert line_rope.length == pytest.approx(2.0, abs=1e-6)
        before = world.snapshot()
        winch.command(length=0.5)
        world.advance(15)
        end = world.objects["load"].position
        assert lift.phase == "carrying"
        assert [phase for _, phase in lift.events] == ["pulley", "carrying"]
        assert not line_rope.exists
        assert lift.loaded
        weight = world.scenario.objects["load"].mass * G
        winch.command(length=1.0)
        world.advance(16)
        assert world.objects["load"].position[2] > 0.5
        # The load still swings. In 4 s the momentum changes by less than 0.4 m/s × m, 1 % of the impulse of the weight.
        upward = []
        for _ in range(400):
            world.advance(0.01)
            edge = lift.points[-2] - lift.points[-1]
            upward.append(lift.tension[-1] * edge[2] / np.linalg.norm(edge))
        assert np.mean(upward) == pytest.approx(weight, rel=0.02)
        lift.release()
        world.advance(3)
        assert world.objects["load"].position[2] < 0.2
        world.restore(before)
        assert lift.phase == "pulley"
        winch.command(length=0.5)
        world.advance(15)
        assert np.array_equal(world.objects["load"].position, end)
