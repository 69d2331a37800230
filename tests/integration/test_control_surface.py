"""Control surfaces and fins: coefficients, settings, commands and faults."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

import skerry
from skerry.actuators.control_surface import ControlSurface
from skerry.core.errors import SkerryError
from skerry.physics.laws.fin import Fin, lift_and_drag

BODY = '<inertial><mass value="{mass}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = (
    f'<robot name="craft"><link name="hull">{BODY.format(mass=10, i=1)}</link>'
    f'<link name="rudder">{BODY.format(mass=0.2, i=0.001)}</link>'
    '<joint name="stock" type="revolute"><parent link="hull"/><child link="rudder"/><origin xyz="-0.5 0 0"/>'
    '<axis xyz="0 0 1"/><limit lower="-0.5" upper="0.4" effort="50" velocity="5"/></joint></robot>'
)
RUDDER = {"kind": "control_surface", "link": "rudder", "roll_deg": 90.0, "area": 0.01, "aspect_ratio": 2.0}
SCREW = {"kind": "propeller", "link": "hull", "rpm_to_force": 0.02, "maximum_rpm": 1000.0, "diameter": 0.15}


@pytest.fixture
def craft(tmp_path):
    """Return a function that builds a hull with a rudder on a hinge, far under water."""
    (tmp_path / "robot.urdf").write_text(URDF)
    (tmp_path / "vehicle.yaml").write_text("{}")
    made = []

    def build(forces=None, **actuators):
        robot = {
            "vehicle": str(tmp_path),
            "pose": {"position": [0, 0, -50]},
            "overrides": {"actuators": actuators, "forces": forces or {}},
        }
        made.append(skerry.load({"gravity": 0.0, "robots": {"craft": robot}}))
        return made[-1]

    yield build
    for world in made:
        world.close()


def coefficients(**settings):
    fin = Fin(link="hull", **({"area": 0.01, "aspect_ratio": 2.0} | settings))
    constants = fin.law_at(fin.offset(), 1025.0).constants
    return lambda degrees: lift_and_drag(constants, np.radians(degrees))


# ------------------------------------------------------------------------------------------------ coefficients


def test_lift_rises_by_the_slope_of_its_aspect_ratio():
    """2 π Λ/(Λ + 2): π for Λ = 2."""
    assert coefficients()(10.0)[0] == pytest.approx(np.pi * np.radians(10.0))
    assert coefficients(lift_slope=4.0)(10.0)[0] == pytest.approx(4.0 * np.radians(10.0))


def test_drag_is_a_parabola_of_lift_until_the_stall():
    at = coefficients(drag=0.02, efficiency=0.8)
    for degrees in (0.0, 4.0, -9.0, 14.9):
        lift, drag = at(degrees)
        assert drag == pytest.approx(0.02 + lift**2 / (np.pi * 0.8 * 2.0))


def test_lift_and_drag_have_no_step_at_the_stall_nor_anywhere_else():
    """Over 1e-4 degrees, 1.7e-6 rad, with slopes below 10 per rad."""
    at = coefficients(stall_deg=12.0)
    for edge in (12.0, 90.0, -12.0, -90.0):
        assert at(edge - 5e-5) == pytest.approx(at(edge + 5e-5), abs=2e-5)
    values = np.array([at(x) for x in np.linspace(-180, 180, 3601)])
    assert np.abs(np.diff(values, axis=0)).max() < 0.02
    assert values[0] == pytest.approx(values[-1], abs=1e-12)


def test_lift_falls_beyond_the_stall_and_a_fin_across_the_flow_is_a_plate():
    at = coefficients()
    assert at(25.0)[0] < at(15.0)[0]
    assert at(90.0) == pytest.approx((0.0, 1.11 + 0.018 * 2.0), abs=1e-12)
    assert coefficients(broadside_drag=2.0)(90.0)[1] == pytest.approx(2.0)
    # From behind, the force is across the plate only: C_L sin α = C_D cos α turned into its axes.
    lift, drag = at(130.0)
    assert lift * np.sin(np.radians(130)) - drag * np.cos(np.radians(130)) == pytest.approx(0.0, abs=1e-12)


def test_both_sides_of_a_fin_are_equal():
    at = coefficients()
    for degrees in (3.0, 15.0, 40.0, 95.0, 170.0):
        lift, drag = at(degrees)
        assert at(-degrees) == pytest.approx((-lift, drag))


def test_drag_never_gives_energy():
    at = coefficients(drag=0.0)
    assert min(at(x)[1] for x in np.linspace(-180, 180, 721)) >= 0.0


# ------------------------------------------------------------------------------------------------ settings and commands


@pytest.mark.parametrize(
    "settings",
    [
        {"area": 0.0},
        {"aspect_ratio": -1.0},
        {"stall_deg": 46.0},
        {"efficiency": 1.1},
        {"drag": -0.1},
        {"lift_slope": 0.0},
    ],
)
def test_a_wrong_shape_is_refused(settings):
    with pytest.raises(ValidationError):
        ControlSurface.model_validate(RUDDER | settings)


def test_it_is_commanded_like_a_hinge(craft):
    world = craft(it=RUDDER | {"maximum": 0.45})
    it = world.robots["craft"].actuators["it"]
    assert it.limits == pytest.approx((-0.45, 0.4))
    assert (it.setpoint, it.feedback) == (0.0, 0.0)
    it.command(angle=0.3)
    world.advance(1.0)
    assert (it.setpoint, it.feedback) == pytest.approx((0.3, 0.3), abs=1e-6)
    assert world.robots["craft"].joint_position("stock") == pytest.approx(0.3, abs=1e-6)
    before = world.snapshot()
    world.advance(0.5)
    after = bytes(world.snapshot())
    world.restore(before)
    world.advance(0.5)
    assert bytes(world.snapshot()) == after


def test_reversed_it_turns_the_other_way_than_commanded(craft):
    world = craft(it=RUDDER | {"reverse": True})
    it = world.robots["craft"].actuators["it"]
    it.command(angle=0.3)
    world.advance(1.0)
    assert it.feedback == pytest.approx(0.3, abs=1e-6)
    assert world.robots["craft"].joint_position("stock") == pytest.approx(-0.3, abs=1e-6)


def test_it_needs_a_joint_that_turns(craft):
    with pytest.raises(SkerryError, match="revolute"):
        craft(it=RUDDER | {"link": "hull"})


def test_an_unknown_propeller_is_refused_with_a_guess(craft):
    with pytest.raises(SkerryError, match=r"actuators\.it\.1.*'scrow'.*did you mean.*screw"):
        craft(screw=SCREW, it=RUDDER | {"in_wash_of": "scrow"})


def test_a_wash_needs_a_propeller_in_water(craft):
    for screw in (SCREW | {"medium": "air"}, {"kind": "hinge", "link": "rudder"}):
        with pytest.raises(SkerryError, match="has no propeller in water"):
            craft(screw=screw, forces={"keel": RUDDER | {"kind": "fin", "link": "hull", "in_wash_of": "screw"}})
