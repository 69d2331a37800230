"""Actuators: commands and their limits, feedback, lag and rate, drives against closed forms, and the watchdog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

import skerry
from skerry.actuators.hinge import Hinge
from skerry.actuators.prismatic import Prismatic
from skerry.actuators.propeller import OpenWater, Propeller
from skerry.actuators.vbs import Vbs
from skerry.core.clock import Clock
from skerry.core.errors import SkerryError
from skerry.parts.watchdog import Watchdog

BODY = '<inertial><mass value="{mass}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'
HULL_MASS, PART_MASS, PART_INERTIA = 10.0, 2.0, 0.05
OMEGA = 2 * np.pi * 15.0  # of a drive, by default
SLIDE = {"kind": "prismatic", "lower": -0.02, "upper": 0.08}
TURN = {"kind": "revolute", "lower": -0.5, "upper": 0.5, "axis": "0 0 1"}
SHAFT = {"kind": "continuous"}
SCREW = {"kind": "propeller", "link": "part", "rpm_to_force": 0.01, "maximum_rpm": 1000.0}


@pytest.fixture
def craft(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A hull with one part on a joint, far under water that does nothing to it, without gravity by default."""
    made: list[Any] = []

    def build(
        joint: Mapping[str, Any],
        actuators: Mapping[str, Any],
        forces: Mapping[str, Any] | None = None,
        robot: Mapping[str, Any] | None = None,
        **scenario: Any,
    ) -> Any:
        folder = tmp_path / f"craft{len(made)}"
        folder.mkdir()
        limits = {key: joint[key] for key in ("lower", "upper", "effort", "velocity") if key in joint}
        written = " ".join(f'{key}="{value}"' for key, value in limits.items())
        (folder / "robot.urdf").write_text(
            f'<robot name="craft"><link name="hull">{BODY.format(mass=HULL_MASS, i=1.0)}</link>'
            f'<link name="part">{BODY.format(mass=PART_MASS, i=PART_INERTIA)}</link>'
            f'<joint name="joint" type="{joint["kind"]}"><parent link="hull"/><child link="part"/>'
            f'<origin xyz="{joint.get("at", "0 0 0")}" rpy="{joint.get("rpy", "0 0 0")}"/>'
            f'<axis xyz="{joint.get("axis", "1 0 0")}"/>{f"<limit {written}/>" if limits else ""}</joint></robot>'
        )
        settings = {"actuators": dict(actuators), "forces": dict(forces or {})}
        (folder / "vehicle.yaml").write_text(yaml.safe_dump(settings))
        placed = {"vehicle": str(folder), "pose": {"position": [0.0, 0.0, -50.0]}} | dict(robot or {})
        made.append(skerry.load({"gravity": 0.0, "robots": {"craft": placed}} | scenario))
        return made[-1]

    yield build
    for world in made:
        world.close()


def actuator(world: Any, name: str = "it") -> Any:
    return world.robots["craft"].actuators[name]


# ------------------------------------------------------------------------------------------------ commands


def kinds() -> list[Any]:
    vbs = {"kind": "vbs", "link": "part", "volume": 0.001, "rate": 50.0}
    return [
        pytest.param(TURN, {"kind": "hinge", "link": "part"}, "angle", (-0.5, 0.5), 0.0, id="hinge"),
        pytest.param(SLIDE, {"kind": "prismatic", "link": "part"}, "percent", (0.0, 100.0), 50.0, id="prismatic"),
        pytest.param(SLIDE, vbs, "percent", (0.0, 100.0), 50.0, id="vbs"),
        pytest.param(SHAFT, SCREW, "rpm", (-1000.0, 1000.0), 0.0, id="propeller"),
    ]


@pytest.mark.parametrize(("joint", "settings", "keyword", "limits", "reset"), kinds())
class TestEveryKind:
    """Behaviour common to all actuators."""

    def test_begins_at_its_reset_value_and_stays_there(self, craft, joint, settings, keyword, limits, reset) -> None:
        world = craft(joint, {"it": settings})
        it = actuator(world)
        assert it.limits == pytest.approx(limits)
        assert (it.reset_value, it.setpoint, it.feedback) == pytest.approx((reset, reset, reset), abs=1e-12)
        world.advance(1.0)
        assert (it.setpoint, it.feedback) == pytest.approx((reset, reset), abs=1e-9)

    @pytest.mark.parametrize("end", [0, 1])
    def test_a_command_beyond_the_limit_is_the_limit(self, craft, joint, settings, keyword, limits, reset, end) -> None:
        world = craft(joint, {"it": settings})
        it = actuator(world)
        it.command(**{keyword: 1e9 * (2 * end - 1)})
        assert it.setpoint == pytest.approx(limits[end])
        world.advance(5.0)
        assert it.feedback == pytest.approx(limits[end], rel=1e-6, abs=1e-6)

    def test_a_command_is_held_until_the_next_one(self, craft, joint, settings, keyword, limits, reset) -> None:
        world = craft(joint, {"it": settings})
        it = actuator(world)
        first, second = (limits[0] + share * (limits[1] - limits[0]) for share in (0.8, 0.3))
        it.command(**{keyword: first})
        world.advance(60.0)
        assert (it.setpoint, it.feedback) == pytest.approx((first, first), rel=1e-6)
        it.command(**{keyword: second})
        assert it.setpoint == pytest.approx(second)
        world.advance(5.0)
        assert it.feedback == pytest.approx(second, rel=1e-6)
        it.reset()
        world.advance(5.0)
        assert (it.setpoint, it.feedback) == pytest.approx((reset, reset), abs=1e-6)

    def test_it_survives_snapshot_and_restore(self, craft, joint, settings, keyword, limits, reset) -> None:
        """Snapshot on the way to a command; restore after another command that is not in the snapshot."""
        world = craft(joint, {"it": settings})
        it = actuator(world)
        it.command(**{keyword: 0.7 * limits[1]})
        world.advance(0.05)
        before, there = world.snapshot(), it.feedback
        world.advance(1.0)
        after = bytes(world.snapshot())
        it.command(**{keyword: limits[0]})
        world.advance(2.0)
        world.restore(before)
        assert it.setpoint == pytest.approx(0.7 * limits[1])
        assert it.feedback == there
        world.advance(1.0)
        assert bytes(world.snapshot()) == after

    def test_a_snapshot_goes_on_in_another_world(self, craft, joint, settings, keyword, limits, reset) -> None:
        worlds = [craft(joint, {"it": settings}) for _ in range(2)]
        actuator(worlds[0]).receive(**{keyword: 0.7 * limits[1]})
        worlds[0].advance(0.05)
        worlds[1].restore(worlds[0].snapshot())
        for world in worlds:
            world.advance(1.0)
        ends = [(actuator(world).setpoint, actuator(world).feedback) for world in worlds]
        assert ends[0] == ends[1]
        assert ends[0][0] == pytest.approx(reset, abs=1e-12)  # the snapshot contains the watchdog

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
    def test_a_command_that_is_not_a_number_is_refused_and_changes_nothing(
        self, craft, joint, settings, keyword, limits, reset, value
    ) -> None:
        it = actuator(craft(joint, {"it": settings}))
        for send in (it.command, it.receive):
            with pytest.raises(SkerryError, match=f"must be a number, not {keyword}="):
                send(**{keyword: value})
        assert it.setpoint == pytest.approx(reset)
        assert not it.watchdog.received_first_message

    @pytest.mark.parametrize("value", ["fast", None, [1.0], 10**400], ids=["text", "nothing", "list", "huge"])
    def test_a_command_of_another_type_is_refused_with_an_explanation(
        self, craft, joint, settings, keyword, limits, reset, value
    ) -> None:
        it = actuator(craft(joint, {"it": settings}))
        with pytest.raises(SkerryError, match=keyword):
            it.command(**{keyword: value})
        assert it.setpoint == pytest.approx(reset)

    def test_another_keyword_is_refused_with_the_right_one(
        self, craft, joint, settings, keyword, limits, reset
    ) -> None:
        it = actuator(craft(joint, {"it": settings}))
        for value in ({}, {"speed": 1.0}, {keyword: 1.0, "speed": 1.0}, {keyword[:-1]: 1.0}):
            with pytest.raises(SkerryError, match=f"commanded by `{keyword}=`"):
                it.command(**value)
        assert it.setpoint == pytest.approx(reset)

    def test_numpy_numbers_are_accepted(self, craft, joint, settings, keyword, limits, reset) -> None:
        it = actuator(craft(joint, {"it": settings}))
        it.command(**{keyword: np.float32(0.25)})
        assert it.setpoint == pytest.approx(0.25)

    def test_an_unknown_link_is_refused_with_a_guess(self, craft, joint, settings, keyword, limits, reset) -> None:
        with pytest.raises(SkerryError, match=r"there is no such link.*did you mean 'part'"):
            craft(joint, {"it": {**settings, "link": "parts"}})

    def test_commands_move_the_vehicle_equally_for_any_division_of_time(
        self, craft, joint, settings, keyword, limits, reset
    ) -> None:
        ends = []
        for steps in (200, 7):
            world = craft(joint, {"it": settings})
            actuator(world).command(**{keyword: limits[1]})
            while world.tick < 200:
                world.advance_steps(min(steps, 200 - world.tick))
            ends.append(world._engine.states.tobytes())
        assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("joint", "settings", "message"),
    [
        (SLIDE, {"kind": "hinge"}, "link 'part' has a prismatic joint above it; .* a revolute or continuous joint"),
        (TURN, {"kind": "prismatic"}, "link 'part' has a revolute joint above it; .* a prismatic joint"),
        (SHAFT, {"kind": "vbs", "volume": 0.1, "rate": 1.0}, "has a continuous joint above it; .* a prismatic joint"),
        ({"kind": "fixed"}, {"kind": "hinge"}, "has a fixed joint above it"),
        (TURN, {"kind": "hinge", "link": "hull"}, "link 'hull' has no joint above it"),
        (TURN | {"effort": 0.0}, {"kind": "hinge"}, "'joint' has an effort or velocity limit of 0"),
        (SLIDE | {"velocity": 0.0}, {"kind": "prismatic"}, "'joint' has an effort or velocity limit of 0"),
        (
            TURN | {"lower": 0.3},
            {"kind": "hinge", "maximum": 0.2},
            "`maximum` is 0.2 rad, but the range of joint 'joint' is",
        ),
        (
            TURN,
            {"kind": "hinge", "maximum": 2.0},
            "`maximum` is 2 rad, beyond the limit of joint 'joint', 0.5 rad; lower `maximum`, or raise the limit",
        ),
    ],
)
def test_a_joint_of_the_wrong_kind_is_refused_with_an_explanation(craft, joint, settings, message) -> None:
    with pytest.raises(SkerryError, match=rf"^craft.actuators.it: .*{message}"):
        craft(joint, {"it": {"link": "part"} | settings})


# ------------------------------------------------------------------------------------------------ hinge


def test_a_hinge_has_the_range_of_its_joint_also_if_it_is_one_sided(craft) -> None:
    """A flap that opens one way only: from straight to 1 rad."""
    world = craft(TURN | {"lower": 0.0, "upper": 1.0}, {"it": {"kind": "hinge", "link": "part"}})
    flap = actuator(world)
    assert flap.limits == (0.0, 1.0)
    flap.command(angle=0.9)
    world.advance(2.0)
    assert flap.feedback == pytest.approx(0.9, rel=1e-6)


def test_a_hinge_that_cannot_be_straight_begins_at_its_nearest_angle(craft) -> None:
    for reverse, expected in ((False, 0.2), (True, -0.2)):
        settings = {"kind": "hinge", "link": "part", "reverse": reverse}
        world = craft(TURN | {"lower": 0.2, "upper": 1.0}, {"it": settings})
        assert actuator(world).feedback == pytest.approx(expected)
        assert actuator(world).reset_value == pytest.approx(expected)
        world.advance(1.0)
        assert world.robots["craft"].joint_position("joint") == pytest.approx(0.2, abs=1e-6)


def test_a_hinge_never_drives_its_joint_against_the_stop(craft) -> None:
    """A command beyond the joint's range ends at the stop, and so does the joint."""
    world = craft(TURN, {"it": {"kind": "hinge", "link": "part"}})
    actuator(world).command(angle=2.0)
    world.advance(3.0)
    assert actuator(world).setpoint == pytest.approx(0.5)
    assert world.robots["craft"].joint_position("joint") == pytest.approx(0.5, abs=1e-6)


def test_a_hinge_may_have_a_maximum_below_its_joints(craft) -> None:
    world = craft(TURN, {"it": {"kind": "hinge", "link": "part", "maximum": 0.1}})
    actuator(world).command(angle=-2.0)
    world.advance(3.0)
    assert world.robots["craft"].joint_position("joint") == pytest.approx(-0.1, abs=1e-6)


def test_a_reversed_hinge_turns_the_other_way_and_reads_as_commanded(craft) -> None:
    world = craft(TURN | {"lower": -0.2}, {"it": {"kind": "hinge", "link": "part", "reverse": True}})
    hinge = actuator(world)
    assert hinge.limits == pytest.approx((-0.5, 0.2))
    hinge.command(angle=0.15)
    world.advance(2.0)
    assert world.robots["craft"].joint_position("joint") == pytest.approx(-0.15, rel=1e-6)
    assert (hinge.setpoint, hinge.feedback) == pytest.approx((0.15, 0.15), rel=1e-6)


def test_a_hinge_on_a_continuous_joint_has_no_limit(craft) -> None:
    world = craft(SHAFT, {"it": {"kind": "hinge", "link": "part"}})
    actuator(world).command(angle=20.0)
    world.advance(2.0)
    assert actuator(world).feedback == pytest.approx(20.0, rel=1e-6)


# ------------------------------------------------------------------------------------------------ slides and tanks


def test_a_slides_percentage_runs_from_the_lower_to_the_upper_limit(craft) -> None:
    world = craft(SLIDE, {"it": {"kind": "prismatic", "link": "part", "reset_value": 30.0}})
    robot, slide = world.robots["craft"], actuator(world)
    assert robot.joint_position("joint") == pytest.approx(0.01)
    for percent, travel in ((0.0, -0.02), (25.0, 0.005), (100.0, 0.08)):
        slide.command(percent=percent)
        world.advance(2.0)
        assert robot.joint_position("joint") == pytest.approx(travel, abs=1e-8)
    slide.reset()
    world.advance(2.0)
    assert slide.feedback == pytest.approx(30.0)


@pytest.mark.parametrize("value", [-0.1, 100.1])
@pytest.mark.parametrize("kind", [Prismatic, Vbs])
def test_a_reset_value_beyond_the_travel_is_refused(kind, value) -> None:
    more = {"volume": 0.1, "rate": 1.0} if kind is Vbs else {}
    with pytest.raises(ValidationError, match="reset_value"):
        kind(link="part", reset_value=value, **more)


def test_a_tank_fills_at_its_rate_with_the_configured_fluid(craft) -> None:
    """7 % of a litre per second; 800 kg/m³ if given, otherwise 1025 kg/m³ of the sea; the piston moves with it."""
    for density, kilograms in ((None, 1.025), (800.0, 0.8)):
        settings = {"kind": "vbs", "link": "part", "volume": 0.001, "rate": 7.0, "density": density}
        world = craft(SLIDE, {"it": settings})
        tank = actuator(world)
        assert tank.water == pytest.approx(0.5 * kilograms)
        tank.command(percent=100.0)
        world.advance(4.0)
        assert tank.feedback == pytest.approx(78.0, abs=1e-9)
        assert tank.water == pytest.approx(0.78 * kilograms)
        # a drive follows a ramp of speed v behind by 2 ζ v/ω
        lag = 2 * 0.1 * 0.07 / OMEGA
        assert world.robots["craft"].joint_position("joint") == pytest.approx(-0.02 + 0.078 - lag, abs=1e-4)
        world.advance(10.0)
        assert (tank.feedback, tank.water) == pytest.approx((100.0, kilograms), rel=1e-12)


def test_a_tank_weighs_what_it_holds(craft) -> None:
    """(m + m_w) a = lift − (m + m_w) g with the lift of the half-full vehicle; 1 %, as the piston tilts it a little."""
    lift = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": "neutral"}
    settings = {"kind": "vbs", "link": "part", "volume": 0.001, "rate": 1000.0}
    for percent in (0.0, 50.0, 100.0):
        world = craft(SLIDE | {"lower": -0.01, "upper": 0.01}, {"it": settings}, {"lift": lift}, gravity=9.81)
        actuator(world).command(percent=percent)
        world.advance(0.1)  # the tank reaches its fill after 50 ms
        speed = world.robots["craft"].twist.linear[2]
        world.advance(0.05)
        water = 1.025 * percent / 100
        expected = 9.81 * (0.5125 - water) / (HULL_MASS + PART_MASS + water)
        assert (world.robots["craft"].twist.linear[2] - speed) / 0.05 == pytest.approx(expected, rel=0.01, abs=1e-9)


@pytest.mark.parametrize("rpy", ["0 0 0", "0 0 1.5707963267948966", "0.4 -1.1 2.0"])
def test_the_position_of_a_tank_is_in_the_frame_of_its_link(craft, rpy) -> None:
    """The origin of the joint, and from there the offset in the axes of the link: turned as the joint is."""
    from skerry.core.frames import rotate, rpy_to_quaternion

    settings = {"kind": "vbs", "link": "part", "volume": 0.001, "rate": 1.0, "position": [0.3, -0.1, 0.2]}
    world = craft(SLIDE | {"at": "1 2 3", "rpy": rpy}, {"it": settings})
    turn = rpy_to_quaternion(np.array([float(value) for value in rpy.split()]))
    expected = np.array([1.0, 2.0, 3.0]) + rotate(turn, [0.3, -0.1, 0.2])
    assert actuator(world).laws[1][1].constants[36:39] == pytest.approx(expected, abs=1e-12)


def test_at_its_trim_value_a_tank_makes_the_vehicle_neutrally_buoyant_for_any_start(craft) -> None:
    lift = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": "neutral"}
    settings = {"kind": "vbs", "link": "part", "volume": 0.001, "rate": 1000.0, "reset_value": 0.0, "trim_value": 80.0}
    world = craft(SLIDE | {"lower": -0.01, "upper": 0.01}, {"it": settings}, {"lift": lift}, gravity=9.81)
    world.advance_steps(1)
    speed = 9.81 * 0.82 / (HULL_MASS + PART_MASS) / 200
    assert world.robots["craft"].twist.linear[2] == pytest.approx(speed, rel=0.01)
    assert Vbs(link="part", volume=0.001, rate=1.0, reset_value=30.0).trim_ballast(1000.0) == pytest.approx(0.3)
    assert Vbs(link="part", volume=0.001, rate=1.0, trim_value=0.0).trim_ballast(1000.0) == 0.0


def test_a_neutral_volume_carries_the_tanks_of_forces_too(craft) -> None:
    """`volume: neutral` makes the vehicle neutrally buoyant: the water at the start counts as part of its weight."""
    lift = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": "neutral"}
    tank = {"kind": "ballast", "link": "hull", "volume": 0.01, "rate": 0.001, "fill": 0.5}
    world = craft(SLIDE, {}, {"lift": lift, "tank": tank}, gravity=9.81)
    world.advance(2.0)
    assert world.robots["craft"].pose.position[2] == pytest.approx(-50.0, abs=1e-6)


# ------------------------------------------------------------------------------------------------ drives


def _step_response(craft, step: str, seconds: float, robot: Mapping[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    world = craft(SLIDE, {"it": {"kind": "prismatic", "link": "part", "reset_value": 20.0}}, robot=robot, step=step)
    actuator(world).command(percent=20.1)
    count = round(seconds / float(Fraction(step)))
    positions = np.zeros(count + 1)
    for k in range(1, count + 1):
        world.advance_steps(1)
        positions[k] = world.robots["craft"].joint_position("joint")
    return world, np.arange(count + 1) * float(Fraction(step)), positions / 1e-4


@pytest.mark.parametrize("anchored", [False, True])
def test_a_small_step_is_answered_as_by_a_critically_damped_loop(craft, anchored) -> None:
    """x = 1 − (1 + ω t) e^(−ω t), whatever else moves along: a free hull or a held one.

    The drive is of first order in the step, with an error of up to 0.3 ω h: 0.003 at 0.1 ms.
    """
    _, times, positions = _step_response(craft, "1/10000", 0.1, {"anchored": anchored})
    expected = 1 - (1 + OMEGA * times) * np.exp(-OMEGA * times)
    assert np.abs(positions[1:] - expected[1:]).max() < 0.3 * OMEGA * 1e-4


def test_a_drive_makes_exactly_implicit_eulers_steps(craft) -> None:
    """(1 + 2 ζ ω h + (ω h)²) v' = v + h ω² (1 − x), x' = x + h v'; at 5 ms, where ω h is a half. Rounding: 1e-9."""
    _, _, positions = _step_response(craft, "1/200", 0.3, {})
    x, v, h = 0.0, 0.0, 1 / 200
    for position in positions[1:]:
        v = (v + h * OMEGA**2 * (1 - x)) / (1 + 2 * OMEGA * h + (OMEGA * h) ** 2)
        x += h * v
        assert position == pytest.approx(x, abs=1e-9)
    assert positions.max() <= 1.0 + 1e-9  # no overshoot


@pytest.mark.parametrize(("frequency", "ratio"), [(3.0, 0.4), (40.0, 2.0)])
def test_a_drive_has_the_configured_frequency_and_damping(craft, frequency, ratio) -> None:
    """ẍ + 2 ζ ω ẋ + ω² x = ω², solved by its eigenvalues; first order in the step."""
    settings = {"kind": "prismatic", "link": "part", "reset_value": 20.0}
    settings |= {"frequency_hz": frequency, "damping_ratio": ratio, "armature": 5.0}
    world = craft(SLIDE, {"it": settings}, step="1/20000")
    actuator(world).command(percent=20.1)
    omega = 2 * np.pi * frequency
    roots = np.roots([1.0, 2 * ratio * omega, omega**2]).astype(complex)
    for _ in range(20):
        world.advance(0.15 / frequency)
        t = world.time
        ramp = (roots[1] * np.exp(roots[0] * t) - roots[0] * np.exp(roots[1] * t)) / (roots[0] - roots[1])
        here = world.robots["craft"].joint_position("joint") / 1e-4
        assert here == pytest.approx(1 + ramp.real, abs=omega / 20000 * 0.5)


def test_a_drive_goes_no_faster_than_its_joint(craft) -> None:
    """A ramp of 0.02 m/s, followed behind by 2 ζ v/ω once the start is over; at the end it stands still."""
    world = craft(SLIDE | {"velocity": 0.02}, {"it": {"kind": "prismatic", "link": "part", "reset_value": 0.0}})
    actuator(world).command(percent=100.0)
    speeds = []
    for _ in range(1200):
        world.advance_steps(1)
        speeds.append(world.robots["craft"].joint_velocity("joint"))
    assert max(speeds) == pytest.approx(0.02, rel=1e-6)
    assert world.robots["craft"].joint_position("joint") == pytest.approx(0.08, abs=1e-9)
    assert np.sum(speeds) / 200 == pytest.approx(0.1, rel=1e-9)
    assert np.count_nonzero(np.array(speeds) > 0.019) == pytest.approx(1000, abs=15)  # 0.1 m at 0.02 m/s


@pytest.mark.parametrize("armature", [0.0, 3.0])
def test_a_drive_gives_way_to_a_load_as_its_stiffness_says(craft, armature) -> None:
    """Held up against its weight: m g/((m + armature) ω²) below the target, 1.1 mm for a bare 15 Hz."""
    upright = SLIDE | {"axis": "0 0 1"}
    settings = {"kind": "prismatic", "link": "part", "armature": armature}
    world = craft(upright, {"it": settings}, robot={"anchored": True}, gravity=9.81)
    world.advance(2.0)
    sag = 9.81 * PART_MASS / (PART_MASS + armature) / OMEGA**2
    assert world.robots["craft"].joint_position("joint") == pytest.approx(0.03 - sag, abs=1e-9)
    assert actuator(world).feedback == pytest.approx(50.0 - 1000 * sag, abs=1e-6)


def test_a_drive_pulls_no_harder_than_its_joints_effort(craft) -> None:
    """12 N against a weight of 19.62 N: it falls with g − F/m; 25 N hold it."""
    for effort, holds in ((12.0, False), (25.0, True)):
        upright = SLIDE | {"axis": "0 0 1", "lower": -100.0, "upper": 100.0, "effort": effort}
        settings = {"kind": "prismatic", "link": "part"}
        world = craft(upright, {"it": settings}, robot={"anchored": True}, gravity=9.81)
        world.advance(1.0)
        speed = world.robots["craft"].joint_velocity("joint")
        world.advance(1.0)
        gained = world.robots["craft"].joint_velocity("joint") - speed
        assert gained == pytest.approx(0.0 if holds else effort / PART_MASS - 9.81, abs=1e-9)


@pytest.mark.parametrize("step", ["1/200", "1/50", "1/20", "1/10"])
def test_a_drive_that_never_needs_its_whole_force_is_not_stopped_by_its_limit(craft, step) -> None:
    """40 N, and 12 kg to be moved at 8.6 mm/s: any step of it needs a few newtons. The limit applies to the
    force that acts, not to the pull before the implicit correction; otherwise a long step swings between the limits."""
    joint = SLIDE | {"effort": 40.0, "velocity": 0.0086}
    settings = {"kind": "prismatic", "link": "part", "armature": 10.0}
    world = craft(joint, {"it": settings}, step=step)
    for percent, travel in ((100.0, 0.08), (0.0, -0.02)):
        actuator(world).command(percent=percent)
        for _ in range(150):
            world.advance(0.1)
            assert -0.0201 < world.robots["craft"].joint_position("joint") < 0.0801
            assert abs(world.robots["craft"].joint_velocity("joint")) < 0.0087
        assert world.robots["craft"].joint_position("joint") == pytest.approx(travel, abs=1e-6)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_moving_a_weight_inside_moves_no_centre_of_mass(craft, integrator) -> None:
    """No outside force: m₁ x₁ + m₂ x₂ stays; the hull goes back by m₂/(m₁ + m₂) of the travel. Rounding: 1e-12."""
    world = craft(SLIDE, {"it": {"kind": "prismatic", "link": "part", "reset_value": 0.0}}, integrator=integrator)
    robot = world.robots["craft"]

    def center() -> np.ndarray:
        part, hull = robot.link_pose("part").position, robot.pose.position
        return (HULL_MASS * hull + PART_MASS * part) / (HULL_MASS + PART_MASS)

    start = center()
    actuator(world).command(percent=100.0)
    for _ in range(100):
        world.advance(0.01)
        assert center() == pytest.approx(start, abs=1e-12)
    assert robot.pose.position[0] == pytest.approx(-0.1 * PART_MASS / (HULL_MASS + PART_MASS), abs=1e-6)
    world.advance(1.0)
    assert np.abs(robot.twist.linear).max() < 1e-9


def test_a_weight_that_moves_off_the_middle_turns_the_hull_but_not_the_whole(craft) -> None:
    """Angular momentum is nil too: the hull yields, and stops when the weight does. First order in the step: 1e-5."""
    aside = SLIDE | {"at": "0 0.5 0", "velocity": 0.2}
    world = craft(aside, {"it": {"kind": "prismatic", "link": "part", "reset_value": 0.0}}, step="1/1000")
    robot = world.robots["craft"]
    parts = ((HULL_MASS, "hull"), (PART_MASS, "part"))
    start = sum(m * robot.link_pose(link).position for m, link in parts)
    actuator(world).command(percent=100.0)
    world.advance(0.3)
    assert robot.twist.angular[2] != 0.0
    world.advance(1.5)
    end = sum(m * robot.link_pose(link).position for m, link in parts)
    assert end / (HULL_MASS + PART_MASS) == pytest.approx(start / (HULL_MASS + PART_MASS), abs=1e-5)
    assert np.abs(robot.twist.angular).max() < 1e-5
    # dθ = y μ dx/(I + μ (x² + y²)) with μ the reduced mass: the area law
    reduced = HULL_MASS * PART_MASS / (HULL_MASS + PART_MASS)
    x = np.linspace(-0.02, 0.08, 100_001)
    slope = reduced * 0.5 / (1.0 + PART_INERTIA + reduced * (x**2 + 0.25))
    turned = 2 * np.arctan2(robot.pose.orientation[2], robot.pose.orientation[3])
    assert turned == pytest.approx(np.trapezoid(slope, x), rel=1e-3)


def test_a_hinge_and_a_propeller_may_share_a_link(craft) -> None:
    """An azimuth thruster: the hinge turns the link, and the propeller pushes along it, whatever way it points."""
    world = craft(TURN | {"at": "-1 0 0"}, {"it": {"kind": "hinge", "link": "part"}, "screw": SCREW})
    actuator(world).command(angle=0.4)
    actuator(world, "screw").command(rpm=100.0)
    world.advance(0.5)
    assert world.robots["craft"].joint_position("joint") == pytest.approx(0.4, rel=1e-3)
    assert world.robots["craft"].twist.angular[2] < 0.0


def test_two_actuators_on_one_joint_are_refused(craft) -> None:
    """Their drives would pull against each other."""
    slide = {"kind": "prismatic", "link": "part"}
    with pytest.raises(SkerryError, match="joint"):
        craft(SLIDE, {"it": slide, "other": slide})


# ------------------------------------------------------------------------------------------------ propellers


CURVE = {
    "diameter": 0.2,
    "thrust_at_rest": 0.45,
    "torque_at_rest": 0.07,
    "thrust_at_most": 0.15,
    "torque_at_most": 0.03,
    "largest_advance": 0.6,
    "inflow": 0.9,
}


def test_a_shaft_follows_with_an_exact_first_order_lag(craft) -> None:
    """n = N (1 − e^(−t/τ)), exact at every step and for any step: 1e-12."""
    for step in ("1/200", "1/50"):
        world = craft(SHAFT, {"it": SCREW | {"lag": 0.3}}, step=step)
        actuator(world).command(rpm=800.0)
        for _ in range(20):
            world.advance(0.06)
            assert actuator(world).feedback == pytest.approx(800.0 * (1 - np.exp(-world.time / 0.3)), rel=1e-12)
            assert actuator(world).setpoint == 800.0


def test_a_shaft_without_lag_follows_immediately(craft) -> None:
    world = craft(SHAFT, {"it": SCREW})
    actuator(world).command(rpm=800.0)
    world.advance_steps(1)
    assert actuator(world).feedback == 800.0


def test_a_shaft_changes_no_faster_than_its_rate(craft) -> None:
    """100 rpm a second, down as well as up, also through zero."""
    world = craft(SHAFT, {"it": SCREW | {"rate": 100.0}})
    screw = actuator(world)
    screw.command(rpm=150.0)
    world.advance(1.0)
    assert screw.feedback == pytest.approx(100.0, rel=1e-12)
    world.advance(1.0)
    assert screw.feedback == pytest.approx(150.0, rel=1e-12)
    screw.command(rpm=-150.0)
    world.advance(2.0)
    assert screw.feedback == pytest.approx(-50.0, rel=1e-12)


def test_a_command_below_the_smallest_rpm_counts_as_zero(craft) -> None:
    screw = actuator(craft(SHAFT, {"it": SCREW | {"minimum_rpm": 50.0}}))
    for rpm, wanted in ((49.9, 0.0), (50.0, 50.0), (-49.9, 0.0), (-50.0, -50.0), (0.0, 0.0)):
        screw.command(rpm=rpm)
        assert screw.setpoint == wanted


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("rpm", "share"), [(400.0, 1.0), (-400.0, 0.6)])
def test_linear_thrust_pushes_and_turns_the_hull(craft, reverse, rpm, share) -> None:
    """T = k rpm (less backwards), Q = c T; the hull feels −Q, or +Q from a propeller that turns the other way."""
    settings = SCREW | {"torque_per_thrust": 0.05, "reverse_efficiency": 0.6, "reverse": reverse}
    world = craft(SHAFT, {"it": settings})
    actuator(world).command(rpm=rpm)
    world.advance(0.5)
    thrust = 0.01 * rpm * share
    assert actuator(world).thrust == pytest.approx(thrust, rel=1e-12)
    assert actuator(world).torque == pytest.approx(0.05 * thrust, rel=1e-12)
    twist = world.robots["craft"].twist
    assert twist.linear == pytest.approx([0.5 * thrust / (HULL_MASS + PART_MASS), 0.0, 0.0], rel=1e-9, abs=1e-12)
    turn = -0.05 * thrust * (-1 if reverse else 1) * 0.5 / (1.0 + PART_INERTIA)
    assert twist.angular == pytest.approx([turn, 0.0, 0.0], rel=1e-9, abs=1e-12)


def test_thrust_acts_at_the_position_of_the_propeller_along_its_mount(craft) -> None:
    """τ = r × T: one at y = 0.4 that points up gives a moment about x. 1e-8: the body's axes turn in the step."""
    settings = SCREW | {"link": "hull", "position": [0.0, 0.4, 0.0], "pitch_deg": -90.0}
    world = craft({"kind": "fixed"}, {"it": settings})
    actuator(world).command(rpm=100.0)
    world.advance_steps(1)
    twist = world.robots["craft"].twist
    assert twist.linear == pytest.approx([0.0, 0.0, 1.0 / 12 / 200], rel=1e-9, abs=1e-8)
    assert twist.angular == pytest.approx([0.4 / (1.0 + PART_INERTIA) / 200, 0.0, 0.0], rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("speed", [-1.0, 0.0, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("rpm", [600.0, -600.0])
def test_thrust_falls_with_advance_along_the_open_water_line(craft, rpm, speed) -> None:
    """K = K₀ + (K_max − K₀) J/J_max with J = 0.9 u/(n D), in a stream past a held hull; backwards as at rest."""
    stream = {"currents": {"stream": {"kind": "uniform", "velocity": [-speed, 0.0, 0.0]}}}
    settings = {"kind": "propeller", "link": "part", "maximum_rpm": 1000.0, "reverse_efficiency": 0.3}
    world = craft(SHAFT, {"it": settings | {"open_water": CURVE}}, robot={"anchored": True}, water=stream)
    actuator(world).command(rpm=rpm)
    world.advance_steps(2)
    n = rpm / 60
    advance = 0.9 * max(speed, 0.0) / (n * 0.2) if n > 0 else 0.0
    thrust = 1025.0 * 0.2**4 * n * abs(n) * (0.45 + (0.15 - 0.45) / 0.6 * advance)
    torque = 1025.0 * 0.2**5 * n * abs(n) * (0.07 + (0.03 - 0.07) / 0.6 * advance)
    share = 1.0 if n > 0 else 0.3
    assert actuator(world).thrust == pytest.approx(share * thrust, rel=1e-12)
    assert actuator(world).torque == pytest.approx(share * torque, rel=1e-12)


@pytest.mark.parametrize(("medium", "shares"), [("water", [0.0, 0.25, 0.5, 1.0]), ("air", [1.0, 0.75, 0.5, 0.0])])
def test_a_propeller_works_in_its_own_medium(craft, medium, shares) -> None:
    """Fraction of a disc of 0.4 m: 1 m above the surface, 0.1 m above it, at it, and 1 m below it."""
    found = []
    for height in (1.0, 0.1, 0.0, -1.0):
        robot = {"anchored": True, "pose": {"position": [0.0, 0.0, height]}}
        world = craft(SHAFT, {"it": SCREW | {"medium": medium, "diameter": 0.4}}, robot=robot)
        actuator(world).command(rpm=100.0)
        world.advance(0.1)
        found.append(actuator(world).thrust)
    assert found == pytest.approx(shares, abs=1e-12)


def test_a_hovering_vehicle_begins_and_resets_at_the_rpm_that_carries_it(craft) -> None:
    """rpm = m g/n/k: four propellers that point up hold 12 kg; it falls less than a nanometre in 10 s."""
    names = {"fl": (1, 1), "fr": (1, -1), "bl": (-1, 1), "br": (-1, -1)}
    screws = {
        name: SCREW
        | {"link": "hull", "position": [0.2 * x, 0.2 * y, 0.0], "pitch_deg": -90.0, "medium": "air"}
        | {"hover_default": True, "maximum_rpm": 1e5, "lag": 0.05}
        for name, (x, y) in names.items()
    }
    robot = {"pose": {"position": [0.0, 0.0, 30.0]}}
    world = craft({"kind": "fixed"}, screws, robot=robot, gravity=9.81)
    rpm = 12.0 * 9.81 / 4 / 0.01
    for name in names:
        it = actuator(world, name)
        assert (it.reset_value, it.setpoint, it.feedback) == pytest.approx((rpm, rpm, rpm), rel=1e-12)
    world.advance(10.0)
    assert world.robots["craft"].pose.position == pytest.approx([0.0, 0.0, 30.0], abs=1e-9)
    actuator(world, "fl").command(rpm=0.0)
    actuator(world, "fl").reset()
    assert actuator(world, "fl").setpoint == pytest.approx(rpm)


def test_a_hover_beyond_the_propellers_is_refused(craft) -> None:
    settings = SCREW | {"hover_default": True, "num_propellers": 1}
    with pytest.raises(
        SkerryError, match=r"needs 1[0-9]* rpm to carry 12 kg with 1 propellers, but `maximum_rpm` is 1000"
    ):
        craft(SHAFT, {"it": settings}, gravity=9.81)


def test_the_shaft_rotates_for_display(craft) -> None:
    """60 rpm are one revolution per second; with `reverse` it rotates the other way."""
    for reverse, expected in ((False, np.pi / 2), (True, 1.5 * np.pi)):
        world = craft(SHAFT, {"it": SCREW | {"reverse": reverse}})
        actuator(world).command(rpm=60.0)
        world.advance(3.25)
        assert actuator(world).angle == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "either `rpm_to_force` or `open_water`"),
        ({"rpm_to_force": 0.1, "open_water": CURVE}, "either `rpm_to_force` or `open_water`"),
        ({"open_water": CURVE, "hover_default": True}, "`hover_default` needs `rpm_to_force`"),
        ({"open_water": CURVE, "medium": "air"}, "`open_water` needs `medium: water`"),
        ({"open_water": CURVE, "torque_per_thrust": 0.1}, "are for `rpm_to_force`"),
        ({"open_water": CURVE, "diameter": 0.3}, "are for `rpm_to_force`"),
        ({"rpm_to_force": 0.1, "minimum_rpm": 2e3}, "must not be above `maximum_rpm`"),
        ({"rpm_to_force": -0.1}, "greater than 0"),
        ({"rpm_to_force": 0.1, "num_propellers": 0}, "greater than or equal to 1"),
    ],
)
def test_propeller_settings_that_contradict_each_other_are_refused(settings, message) -> None:
    with pytest.raises(ValidationError, match=message):
        Propeller(link="part", maximum_rpm=1000.0, **settings)


@pytest.mark.parametrize(
    "config",
    [
        Hinge(link="part", maximum=0.1),
        Prismatic(link="part", reset_value=10.0),
        Vbs(link="part", volume=0.1, rate=3.0),
        Propeller(link="part", rpm_to_force=0.1, maximum_rpm=1e3),
        Propeller(link="part", open_water=OpenWater(**CURVE), maximum_rpm=1e3, expected_frequency=None),
    ],
)
def test_settings_come_back_equal_from_their_own_dump(config) -> None:
    assert type(config).model_validate(config.model_dump(mode="json")) == config


# ------------------------------------------------------------------------------------------------ watchdog


def watched(expected: str | float | None = 2, step: Fraction = Fraction(1, 200)) -> tuple[Watchdog, Clock]:
    clock = Clock(step)
    watchdog = Watchdog(None if expected is None else Fraction(expected))
    watchdog.bind(clock)
    return watchdog, clock


def resets_within(watchdog: Watchdog, clock: Clock, ticks: int) -> list[int]:
    """Return the ticks at which the watchdog resets within the next `ticks` ticks."""
    found = []
    for _ in range(ticks):
        clock.advance(1)
        if watchdog.check_timeout():
            found.append(clock.tick)
    return found


def test_a_watchdog_does_nothing_before_the_first_message() -> None:
    watchdog, clock = watched()
    assert resets_within(watchdog, clock, 2000) == []
    assert not (watchdog.received_first_message or watchdog.resetting)
    assert (watchdog.received_frequency, watchdog.deadline()) == (0.0, None)


@pytest.mark.parametrize(
    ("expected", "step", "ticks"),
    [
        (2, Fraction(1, 200), 101),  # silence of 0.5 s is just allowed; longer is not
        (10, Fraction(1, 200), 21),
        (3, Fraction(1, 200), 67),  # 66.67 steps
        ("1/10", Fraction(1, 50), 501),
        (200, Fraction(1, 200), 2),
        (1000, Fraction(1, 200), 1),
        (2, Fraction(7, 1000), 72),  # 71.43 steps
    ],
)
def test_silence_longer_than_the_period_resets_once_at_the_right_tick(expected, step, ticks) -> None:
    watchdog, clock = watched(expected, step)
    clock.advance(37)
    watchdog.on_message()
    assert watchdog.deadline() == 37 + ticks
    assert resets_within(watchdog, clock, 5 * ticks + 10) == [37 + ticks]
    assert watchdog.resetting
    assert watchdog.received_first_message
    assert watchdog.deadline() is None


def test_a_message_in_time_keeps_the_watchdog_quiet() -> None:
    watchdog, clock = watched()
    for _ in range(20):
        watchdog.on_message()
        assert resets_within(watchdog, clock, 100) == []  # just in time
    assert resets_within(watchdog, clock, 1) == [2001]


def test_a_message_after_a_reset_restarts_the_watchdog() -> None:
    watchdog, clock = watched()
    watchdog.on_message()
    resets_within(watchdog, clock, 150)
    watchdog.on_message()
    assert not watchdog.resetting
    assert resets_within(watchdog, clock, 200) == [251]


def test_an_internal_command_stops_the_watchdog_until_the_next_message() -> None:
    watchdog, clock = watched()
    watchdog.on_message()
    resets_within(watchdog, clock, 50)
    watchdog.release()
    assert resets_within(watchdog, clock, 1000) == []
    assert not watchdog.resetting
    assert watchdog.received_first_message
    watchdog.on_message()
    resets_within(watchdog, clock, 150)
    assert watchdog.resetting
    watchdog.release()
    assert not watchdog.resetting


def test_a_watchdog_without_a_frequency_never_resets_but_measures_the_rate() -> None:
    watchdog, clock = watched(None)
    watchdog.on_message()
    assert resets_within(watchdog, clock, 1000) == []
    assert watchdog.received_first_message
    assert watchdog.received_frequency == pytest.approx(0.2)


def test_the_received_frequency_is_one_over_the_silence() -> None:
    watchdog, clock = watched()
    watchdog.on_message()
    assert watchdog.received_frequency == float("inf")
    clock.advance(20)
    assert watchdog.received_frequency == pytest.approx(10.0)
    clock.advance(380)
    assert watchdog.received_frequency == pytest.approx(0.5)


def test_the_state_of_a_watchdog_is_restored() -> None:
    watchdog, clock = watched()
    for ticks in (0, 60, 150):
        watchdog.on_message()
        resets_within(watchdog, clock, ticks)
        twin = Watchdog(Fraction(2))
        twin.bind(clock)
        twin.set_state(watchdog.state())
        read = [(d.resetting, d.received_first_message, d.received_frequency, d.deadline()) for d in (watchdog, twin)]
        assert read[0] == read[1]


@pytest.mark.parametrize("cuts", [[1000], [1] * 1000, [100, 1, 899], [101, 899], [99, 3, 7, 891]])
def test_silence_resets_an_actuator_at_the_same_tick_for_any_division_of_time(craft, cuts) -> None:
    """2 Hz at steps of 5 ms: rpm from the message for 101 steps, and the reset value from then on."""
    world = craft(SHAFT, {"it": SCREW})
    screw = actuator(world)
    world.advance_steps(40)
    screw.receive(rpm=300.0)
    for steps in cuts:
        world.advance_steps(steps)
        silent = world.tick - 40
        assert screw.setpoint == (300.0 if silent <= 100 else 0.0)
        assert screw.watchdog.resetting == (silent > 100)
    thrust_steps = 101
    speed = 3.0 / 12 * thrust_steps / 200
    assert world.robots["craft"].twist.linear[0] == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize(("joint", "settings", "keyword", "limits", "reset"), kinds())
def test_silence_resets_every_kind_of_actuator(craft, joint, settings, keyword, limits, reset) -> None:
    world = craft(joint, {"it": settings})
    actuator(world).receive(**{keyword: limits[1]})
    world.advance(0.5)
    assert actuator(world).setpoint == pytest.approx(limits[1])
    world.advance(3.0)
    assert actuator(world).setpoint == pytest.approx(reset, abs=1e-12)
    assert actuator(world).feedback == pytest.approx(reset, abs=1e-6)


def test_a_stream_of_messages_holds_the_command_and_its_end_does_not(craft) -> None:
    world = craft(SHAFT, {"it": SCREW | {"expected_frequency": 10}})
    screw = actuator(world)
    for _ in range(30):
        screw.receive(rpm=300.0)
        world.advance(0.1)
        assert (screw.setpoint, screw.watchdog.resetting) == (300.0, False)
    world.advance(0.005)
    assert (screw.setpoint, screw.watchdog.resetting) == (0.0, True)


def test_commands_of_the_api_are_never_reset(craft) -> None:
    """This also holds after messages: the last source that commands keeps the actuator."""
    world = craft(SHAFT, {"it": SCREW})
    screw = actuator(world)
    screw.command(rpm=100.0)
    world.advance(5.0)
    assert screw.setpoint == 100.0
    screw.receive(rpm=200.0)
    world.advance(0.2)
    screw.command(rpm=300.0)
    world.advance(5.0)
    assert (screw.setpoint, screw.watchdog.resetting) == (300.0, False)


def test_an_actuator_without_an_expected_frequency_is_never_reset(craft) -> None:
    world = craft(SHAFT, {"it": SCREW | {"expected_frequency": None}})
    actuator(world).receive(rpm=100.0)
    world.advance(10.0)
    assert actuator(world).setpoint == 100.0


def test_each_actuator_has_a_watchdog_of_its_own(craft) -> None:
    world = craft(SHAFT, {"it": SCREW, "other": SCREW | {"expected_frequency": 5}})
    actuator(world).receive(rpm=100.0)
    actuator(world, "other").receive(rpm=100.0)
    world.advance(0.3)
    assert (actuator(world).setpoint, actuator(world, "other").setpoint) == (100.0, 0.0)
    world.advance(0.3)
    assert (actuator(world).setpoint, actuator(world, "other").setpoint) == (0.0, 0.0)


def test_a_restored_world_resets_at_the_same_tick(craft) -> None:
    world = craft(SHAFT, {"it": SCREW})
    screw = actuator(world)
    screw.receive(rpm=300.0)
    world.advance_steps(60)
    before = world.snapshot()
    world.advance_steps(100)
    assert screw.watchdog.resetting
    world.restore(before)
    assert not screw.watchdog.resetting
    assert screw.watchdog.received_frequency == pytest.approx(200 / 60)
    world.advance_steps(40)
    assert screw.setpoint == 300.0
    world.advance_steps(1)
    assert screw.setpoint == 0.0
