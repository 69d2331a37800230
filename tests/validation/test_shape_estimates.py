"""Estimates of importers from shapes: volumes, moments, added mass and drag, against formulas and published values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skerry.core.meshes import Mesh, capsule
from skerry.formats.mesh_files import write_stl
from skerry.formats.urdf import Inertial, Shape, UrdfJoint, UrdfLink, UrdfRobot
from skerry.importers.hydrodynamics import suggest_hydrodynamics
from skerry.importers.solids import Solid, measure_solids
from skerry.physics.shapes import Ellipsoid

ALONG_X = (0.0, np.pi / 2, 0.0)
SEA = 1025.0


def robot_of(*shapes: Shape, mass: float = 10.0) -> UrdfRobot:
    inertial = Inertial(mass, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)))
    return UrdfRobot("it", {"base": UrdfLink("base", inertial, (), shapes)}, {}, "base", {})


def solid_of(*shapes: Shape) -> Solid:
    return measure_solids(robot_of(*shapes))["base"]


def test_the_volume_of_two_boxes_that_overlap_is_that_of_their_union() -> None:
    """1 × 1 × 1 and the same moved by 0.5: 1.5 m³. Cells of 1/27 of the box are on the edge: 2 %."""
    box = Shape("box", size=(1.0, 1.0, 1.0))
    assert solid_of(box, replace(box, position=(0.5, 0.0, 0.0))).volume == pytest.approx(1.5, rel=0.02)


def test_shapes_alone_are_measured_exactly() -> None:
    """π r² L, 4/3 π r³, and both together, whatever the cells."""
    rod, ball = np.pi * 0.1**2 * 1.2, 4 / 3 * np.pi * 0.1**3
    assert solid_of(Shape("cylinder", radius=0.1, length=1.2)).volume == pytest.approx(rod, rel=1e-12)
    assert solid_of(Shape("sphere", radius=0.1)).volume == pytest.approx(ball, rel=1e-12)
    assert solid_of(Shape("capsule", radius=0.1, length=1.2, rpy=ALONG_X)).volume == pytest.approx(
        rod + ball, rel=1e-12
    )


def test_a_mesh_with_a_hole_still_has_a_volume(tmp_path: Path) -> None:
    """A capsule with one of its faces missing, by winding numbers; cells: 4 %."""
    whole = capsule(0.2, 0.6)
    write_stl(tmp_path / "open.stl", Mesh(whole.vertices, whole.faces[:-1]))
    solid = solid_of(Shape("mesh", mesh=tmp_path / "open.stl"))
    assert "with holes" in solid.source
    assert solid.volume == pytest.approx(np.pi * 0.2**2 * 0.6 + 4 / 3 * np.pi * 0.2**3, rel=0.04)


def test_shadows_and_sweeps_of_a_box_are_its_faces() -> None:
    """Areas b c; turning about z by ∫|y|³ dA over the face along x and ∫|x|³ dA over that along y: a⁴ c/32 each.

    27 cells a side: 1 % of the areas, and of the fourth power 2 %.
    """
    a, b, c = 1.2, 0.6, 0.3
    solid = solid_of(Shape("box", size=(a, b, c)))
    assert solid.projected_areas == pytest.approx([b * c, a * c, a * b], rel=0.01)
    assert solid.turning_integrals[2] == pytest.approx((a**4 * c + b**4 * c) / 32, rel=0.02)
    assert solid.turning_integrals[0] == pytest.approx((b**4 * a + c**4 * a) / 32, rel=0.02)


def test_force_points_have_the_centre_and_the_mean_squares_of_the_volume() -> None:
    """A box about (0.3, 0, 0.1) has a²/12 along each side; cells make that 0.2 % less, and 0.1 mm is rounded off."""
    size = np.array([2.0, 0.8, 0.4])
    shape = Shape("box", size=(2.0, 0.8, 0.4), position=(0.3, 0.0, 0.1))
    robot = robot_of(shape, mass=100.0)
    parts = {part.name: part.settings for part in suggest_hydrodynamics(robot, measure_solids(robot), [])}
    points = np.array(parts["buoyancy"]["points"])
    assert points.mean(axis=0) == pytest.approx([0.3, 0.0, 0.1], abs=1e-3)
    assert points.var(axis=0) == pytest.approx(size**2 / 12, rel=0.01)
    assert parts["buoyancy"]["volume"] == pytest.approx(0.64)


def test_the_ellipsoid_of_a_ball_is_the_ball() -> None:
    """Half of what it displaces (Lamb 1932, §92): the spread of a ball of cells is within 1 % of r²/5."""
    robot = robot_of(Shape("sphere", radius=0.5), mass=2000.0)
    parts = {part.name: part.settings for part in suggest_hydrodynamics(robot, measure_solids(robot), [])}
    matrix = Ellipsoid(**parts["added_mass"]["ellipsoid"]).added_mass(SEA, 0.0)
    assert np.diag(matrix)[:3] == pytest.approx([0.5 * SEA * 4 / 3 * np.pi * 0.5**3] * 3, rel=0.02)


@pytest.mark.parametrize(("ratio", "published"), [(1.0, 0.68), (2.0, 0.36), (3.0, 0.24)])
def test_the_added_mass_of_blocks_is_as_far_off_as_is_written_beside_it(ratio: float, published: float) -> None:
    """Square blocks along their axis, by what they displace (DNV-RP-C205, table D-2): documented as 30–60 % low.

    DNVGL-RP-N103, table A-2, has the same.
    25 % and 65 % leave room for the published values' own last digit.
    """
    robot = robot_of(Shape("box", size=(ratio, 1.0, 1.0)), mass=5000.0)
    parts = {part.name: part.settings for part in suggest_hydrodynamics(robot, measure_solids(robot), [])}
    along = Ellipsoid(**parts["added_mass"]["ellipsoid"]).added_mass(SEA, 0.0)[0, 0]
    assert 0.35 < along / (published * SEA * ratio) < 0.75


def test_a_slender_hull_is_found_whichever_way_it_lies() -> None:
    """A cylinder along y: strip theory with x along it. Its spread is L²/12 along and r²/4 across, of cells to 2 %."""
    robot = robot_of(Shape("cylinder", radius=0.1, length=1.5, rpy=(np.pi / 2, 0.0, 0.0)), mass=48.0)
    parts = {part.name: part.settings for part in suggest_hydrodynamics(robot, measure_solids(robot), [])}
    damping = parts["damping"]
    assert damping["slender"] == {
        "length": pytest.approx(1.5, rel=0.02),
        "diameter": pytest.approx(0.2, rel=0.03),
    }
    assert abs(damping["yaw_deg"]) == pytest.approx(90.0)


def test_a_vehicle_near_neutral_is_made_neutral_and_a_boat_is_not() -> None:
    block = Shape("box", size=(1.0, 0.5, 0.4))  # 205 kg of sea water
    for mass, volume in ((190.0, 190.0 / SEA), (60.0, 0.2)):
        robot, notes = robot_of(block, mass=mass), list[str]()
        parts = suggest_hydrodynamics(robot, measure_solids(robot), notes)
        assert parts[0].settings["volume"] == pytest.approx(volume, rel=1e-4)
        assert notes


def test_a_vehicle_whose_weight_is_off_the_middle_is_trimmed_level() -> None:
    """CB over CM: the points' mean is where the weight is along x and y; they are written to 0.1 mm.

    Beyond a quarter of the hull it is refused, and a centre of mass above the centre of buoyancy is reported.
    """
    block = Shape("box", size=(1.0, 0.5, 0.4))
    for x, words in ((0.1, "floats level"), (0.4, "will not float level")):
        robot, notes = robot_of(block, mass=200.0), list[str]()
        inertial = robot.links["base"].inertial
        assert inertial is not None
        moved = replace(robot.links["base"], inertial=replace(inertial, position=(x, 0.0, -0.05 if x < 0.2 else 0.0)))
        robot = replace(robot, links={"base": moved})
        points = np.array(suggest_hydrodynamics(robot, measure_solids(robot), notes)[0].settings["points"])
        assert points.mean(axis=0)[:2] == pytest.approx([x if x < 0.2 else 0.0, 0.0], abs=2e-4)
        assert words in " ".join(notes)
        assert ("it may capsize" in " ".join(notes)) == (x > 0.2)


def test_links_that_are_fixed_are_one_solid_in_the_frame_of_the_one_that_carries_them() -> None:
    """A box 1 m ahead of an empty base: its centre is at x = 1.5 m; half a cell off at most."""
    base = robot_of().links["base"]
    tool = UrdfLink("tool", None, (), (Shape("box", position=(0.5, 0.0, 0.0), size=(0.2, 0.2, 0.2)),))
    rigid = UrdfJoint(
        "j", "fixed", "base", "tool", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0, 0), 0, 0, np.inf, np.inf, 0, 0, None
    )
    solids = measure_solids(UrdfRobot("it", {"base": base, "tool": tool}, {"j": rigid}, "base", {}))
    assert list(solids) == ["base"]
    assert solids["base"].centre == pytest.approx([1.5, 0.0, 0.0], abs=0.005)
