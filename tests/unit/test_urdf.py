"""URDF: the content of a file, and the message of every fault with its location and line."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from skerry.core.errors import FileError
from skerry.formats.urdf import Mimic, Shape, UrdfRobot, children, joint_order
from skerry.formats.urdf_files import read_urdf

ROBOT = """<?xml version="1.0"?>
<robot name="ship" xmlns:drake="http://drake.mit.edu">
  <material name="hull/red"><color rgba="1 0 0 1"/></material>
  <link name="base_link">
    <inertial>
      <origin xyz="0.1 0 -0.2" rpy="0 0 1.5"/>
      <mass value="12.5"/>
      <inertia ixx="1" ixy="0.1" ixz="0" iyy="2" iyz="0" izz="2.5"/>
    </inertial>
    <visual>
      <origin xyz="1 2 3"/>
      <geometry><mesh filename="meshes/hull.stl" scale="0.001 0.001 -0.001"/></geometry>
      <material name="hull/red"/>
    </visual>
    <visual>
      <geometry><box size="1 2 3"/></geometry>
      <material name="grey"><color rgba="0.5 0.5 0.5 0.9"/></material>
    </visual>
    <collision><geometry><cylinder radius="0.1" length="1.5"/></geometry></collision>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
    <collision>
      <geometry><capsule radius="0.2" length="1"/></geometry>
      <drake:proximity_properties/>
    </collision>
  </link>
  <link name="mast"/>
  <link name="rudder"><visual><geometry><box size="1 1 1"/></geometry><material name="grey"/></visual></link>
  <link name="radar"/>
  <link name="winch"/>
  <joint name="rudder_joint" type="revolute">
    <origin xyz="-2 0 0" rpy="0 0.5 0"/>
    <parent link="base_link"/>
    <child link="rudder"/>
    <axis xyz="3 0 -4"/>
    <limit lower="-0.5" upper="0.6" effort="inf" velocity="2"/>
    <dynamics damping="0.3" friction="0.1"/>
  </joint>
  <joint name="radar_joint" type="continuous">
    <parent link="mast"/> <child link="radar"/>
    <mimic joint="rudder_joint" multiplier="2" offset="-0.1"/>
  </joint>
  <joint name="mast_joint" type="fixed">
    <parent link="base_link"/> <child link="mast"/> <axis xyz="0 0 0"/>
  </joint>
  <joint name="winch_joint" type="prismatic">
    <parent link="mast"/> <child link="winch"/> <axis xyz="0 1 0"/>
    <limit upper="3"/>
  </joint>
  <gazebo><link nonsense="1"/></gazebo>
</robot>
"""


def robot_of(folder: Path, text: str = ROBOT) -> UrdfRobot:
    (folder / "meshes").mkdir(exist_ok=True)
    (folder / "meshes" / "hull.stl").touch()
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return read_urdf(path)


def refusal(folder: Path, text: str) -> FileError:
    with pytest.raises(FileError) as caught:
        robot_of(folder, text)
    return caught.value


def changed(*changes: tuple[str, str]) -> str:
    text = ROBOT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def only_fault(folder: Path, *changes: tuple[str, str]) -> str:
    error = refusal(folder, changed(*changes))
    assert len(error.faults) == 1, str(error)
    return str(error.faults[0])


def link_with(inside: str) -> str:
    return f'<robot name="r">\n<link name="a">\n{inside}\n</link>\n</robot>'


# ------------------------------------------------------------------------------------------------ content


def test_links_hold_their_inertia(tmp_path: Path) -> None:
    inertial = robot_of(tmp_path).links["base_link"].inertial
    assert inertial is not None
    assert inertial.mass == 12.5
    assert inertial.position == (0.1, 0, -0.2)
    assert inertial.rpy == (0, 0, 1.5)
    assert inertial.inertia == ((1, 0.1, 0), (0.1, 2, 0), (0, 0, 2.5))
    assert robot_of(tmp_path).links["mast"].inertial is None


def test_links_hold_their_shapes_with_materials_from_anywhere_in_the_file(tmp_path: Path) -> None:
    robot = robot_of(tmp_path)
    hull, deck = robot.links["base_link"].visuals
    assert hull == Shape(
        "mesh",
        position=(1, 2, 3),
        mesh=tmp_path / "meshes" / "hull.stl",
        scale=(0.001, 0.001, -0.001),
        material="hull/red",
        colour=(1, 0, 0, 1),
    )
    assert deck == Shape("box", size=(1, 2, 3), material="grey", colour=(0.5, 0.5, 0.5, 0.9))
    assert robot.links["rudder"].visuals[0].colour == (0.5, 0.5, 0.5, 0.9)
    assert robot.links["base_link"].collisions == (
        Shape("cylinder", radius=0.1, length=1.5),
        Shape("sphere", radius=0.2),
        Shape("capsule", radius=0.2, length=1),
    )
    assert robot.materials == {"hull/red": (1, 0, 0, 1), "grey": (0.5, 0.5, 0.5, 0.9)}


def test_joints_hold_their_frame_axis_limits_and_losses(tmp_path: Path) -> None:
    robot = robot_of(tmp_path)
    joint = robot.joints["rudder_joint"]
    assert (joint.kind, joint.parent, joint.child) == ("revolute", "base_link", "rudder")
    assert (joint.position, joint.rpy, joint.axis) == ((-2, 0, 0), (0, 0.5, 0), (0.6, 0, -0.8))
    assert (joint.lower, joint.upper, joint.effort, joint.velocity) == (-0.5, 0.6, inf, 2)
    assert (joint.damping, joint.friction, joint.mimic) == (0.3, 0.1, None)


def test_limits_that_a_file_leaves_out_are_those_of_the_joints_kind(tmp_path: Path) -> None:
    joints = robot_of(tmp_path).joints
    radar, winch, mast = joints["radar_joint"], joints["winch_joint"], joints["mast_joint"]
    assert (radar.lower, radar.upper, radar.effort, radar.axis) == (-inf, inf, inf, (1, 0, 0))
    assert radar.mimic == Mimic("rudder_joint", 2, -0.1)
    assert (winch.lower, winch.upper, winch.velocity) == (0, 3, inf)
    assert (mast.lower, mast.upper) == (0, 0)


def test_joints_are_ordered_depth_first_from_the_root(tmp_path: Path) -> None:
    robot = robot_of(tmp_path)
    assert robot.name == "ship"
    assert robot.root == "base_link"
    assert [joint.name for joint in children(robot, "base_link")] == ["rudder_joint", "mast_joint"]
    assert children(robot, "radar") == ()
    assert [joint.name for joint in joint_order(robot)] == [
        "rudder_joint",
        "mast_joint",
        "radar_joint",
        "winch_joint",
    ]


def test_a_textured_material_needs_no_colour(tmp_path: Path) -> None:
    text = changed(('<color rgba="1 0 0 1"/>', '<texture filename="x.png"/>'))
    assert robot_of(tmp_path, text).materials["hull/red"] is None


def test_an_expanded_xacro_file_with_its_namespace_still_declared_is_read(tmp_path: Path) -> None:
    text = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/></robot>'
    assert robot_of(tmp_path, text).root == "a"


# ------------------------------------------------------------------------------------------------ mesh files


def test_meshes_are_found_in_a_package_that_holds_the_urdf(tmp_path: Path) -> None:
    (tmp_path / "ship_description" / "urdf").mkdir(parents=True)
    (tmp_path / "ship_description" / "hull.stl").touch()
    text = changed(("meshes/hull.stl", "package://ship_description/hull.stl"))
    robot = robot_of(tmp_path / "ship_description" / "urdf", text)
    assert robot.links["base_link"].visuals[0].mesh == tmp_path / "ship_description" / "hull.stl"


def test_meshes_are_found_in_a_package_beside_that_of_the_urdf(tmp_path: Path) -> None:
    (tmp_path / "ship" / "urdf").mkdir(parents=True)
    (tmp_path / "ship_meshes").mkdir()
    (tmp_path / "ship_meshes" / "hull.stl").touch()
    text = changed(("meshes/hull.stl", "package://ship_meshes/hull.stl"))
    robot = robot_of(tmp_path / "ship" / "urdf", text)
    assert robot.links["base_link"].visuals[0].mesh == tmp_path / "ship_meshes" / "hull.stl"


def test_meshes_are_found_in_packages_that_are_given_and_these_come_first(tmp_path: Path) -> None:
    for folder in ("given", "ship"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hull.stl").touch()
    (tmp_path / "r.urdf").write_text(
        link_with('<visual><geometry><mesh filename="package://ship/hull.stl"/></geometry></visual>')
    )
    robot = read_urdf(tmp_path / "r.urdf", packages={"ship": tmp_path / "given"})
    assert robot.links["a"].visuals[0].mesh == tmp_path / "given" / "hull.stl"


def test_meshes_of_an_unknown_package_are_searched_beside_the_urdf(tmp_path: Path) -> None:
    text = changed(("meshes/hull.stl", "package://nowhere_to_be_found/meshes/hull.stl"))
    assert robot_of(tmp_path, text).links["base_link"].visuals[0].mesh == tmp_path / "meshes" / "hull.stl"


def test_meshes_may_be_given_as_file_addresses(tmp_path: Path) -> None:
    (tmp_path / "my hull.stl").touch()
    text = changed(("meshes/hull.stl", f"file://{tmp_path}/my%20hull.stl"))
    assert robot_of(tmp_path, text).links["base_link"].visuals[0].mesh == tmp_path / "my hull.stl"


def test_a_missing_mesh_lists_the_searched_paths(tmp_path: Path) -> None:
    (tmp_path / "ship").mkdir()
    text = only_fault(tmp_path, ("meshes/hull.stl", "package://ship/hull.stl"))
    assert text == (
        'line 12: link "base_link" / visual 1 / geometry / mesh / filename: there is no such mesh file '
        f"(found 'package://ship/hull.stl'); searched {tmp_path}/ship/hull.stl, {tmp_path}/hull.stl"
    )
    assert f"searched {tmp_path}/hull.dae" in only_fault(tmp_path, ("meshes/hull.stl", "hull.dae"))


@pytest.mark.parametrize(("name", "text"), [("http://a.org/hull.stl", "unsupported URL"), ("", "filename: is missing")])
def test_a_mesh_that_is_no_file_is_a_fault(tmp_path: Path, name: str, text: str) -> None:
    assert text in only_fault(tmp_path, ("meshes/hull.stl", name))


# ------------------------------------------------------------------------------------------------ the file


def test_a_missing_file_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.urdf: there is no such file"):
        read_urdf(tmp_path / "none.urdf")
    with pytest.raises(FileError, match="cannot be read"):
        read_urdf(tmp_path)


def test_malformed_xml_names_the_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, '<robot name="r">\n<link name="a">\n</robot>')
    assert str(error.faults[0]) == "line 3: is not well-formed XML: mismatched tag"
    assert "no element found" in str(refusal(tmp_path, ""))


def test_an_unknown_encoding_is_a_fault_with_a_message(tmp_path: Path) -> None:
    assert "encoding" in str(refusal(tmp_path, '<?xml version="1.0" encoding="martian"?><robot/>'))
    assert "encoding" in str(refusal(tmp_path, '<?xml version="1.0" encoding="gb2312"?><robot/>'))


def test_a_file_that_describes_no_robot_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, "<sdf/>")
    assert str(error.faults[0]) == "line 1: a URDF's outermost element must be <robot> (found 'sdf')"
    assert "robot: has no links" in str(refusal(tmp_path, '<robot name="r"/>'))
    assert "robot: has no name" in str(refusal(tmp_path, '<robot><link name="a"/></robot>'))


def test_a_xacro_file_is_to_be_expanded_first(tmp_path: Path) -> None:
    text = '<robot name="r" xmlns:xacro="http://x"><link name="a"/>\n<xacro:macro name="m"/></robot>'
    error = refusal(tmp_path, text)
    assert "is a xacro file, not a URDF; expand it first: xacro robot.urdf > robot.urdf" in str(error)


def test_all_faults_are_reported_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    error = refusal(
        tmp_path,
        changed(
            ('<parent link="base_link"/>', '<parent link="base"/>'),
            ('value="12.5"', 'value="-1"'),
            ('size="1 2 3"', 'size="1 2"'),
            ("3 0 -4", "0 0 0"),
            ("meshes/hull.stl", "gone.stl"),
        ),
    )
    assert [fault.line for fault in error.faults] == [7, 12, 16, 32, 34]
    assert "robot.urdf: 5 faults\n  - line 7: " in str(error)


# ------------------------------------------------------------------------------------------------ links


@pytest.mark.parametrize("mass", ["0", "-3", "nan", "inf", "heavy", "1 2", ""])
def test_a_mass_must_be_a_number_above_zero(tmp_path: Path, mass: str) -> None:
    assert only_fault(tmp_path, ('value="12.5"', f'value="{mass}"')) == (
        f'line 7: link "base_link" / inertial / mass / value: must be a number above 0 (found {mass!r}); '
        "a link without mass has no <inertial> at all"
    )


def test_an_inertial_must_have_mass_and_inertia(tmp_path: Path) -> None:
    text = str(refusal(tmp_path, link_with("<inertial/>")))
    assert 'line 3: link "a" / inertial / mass: is missing' in text
    assert 'line 3: link "a" / inertial / inertia: is missing' in text
    assert only_fault(tmp_path, ('ixy="0.1" ', "")) == (
        'line 8: link "base_link" / inertial / inertia / ixy: is missing'
    )


@pytest.mark.parametrize(
    ("old", "new", "words", "moments"),
    [
        ('ixx="1"', 'ixx="-1"', "all principal moments must be above 0", "[-1.0"),
        ('ixx="1" ixy="0.1"', 'ixx="0" ixy="0"', "all principal moments must be above 0", "[0.0, 2.0, 2.5]"),
        ('ixy="0.1"', 'ixy="3"', "all principal moments must be above 0", "[-1.5"),
        ('izz="2.5"', 'izz="4"', "no principal moment may exceed the sum of the other two", "[0.990"),
    ],
)
def test_an_inertia_that_no_body_can_have_is_called_impossible(
    tmp_path: Path, old: str, new: str, words: str, moments: str
) -> None:
    text = only_fault(tmp_path, (old, new))
    assert text.startswith('line 8: link "base_link" / inertial / inertia: is physically impossible: ' + words)
    assert f"(found {moments}" in text


def test_the_inertia_of_a_flat_plate_is_at_the_limit_and_allowed(tmp_path: Path) -> None:
    """A thin plate in its plane has I_z = I_x + I_y; rounding (0.1 + 0.7 < 0.8) must not refuse it."""
    text = changed(('ixx="1" ixy="0.1"', 'ixx="0.1" ixy="0"'), ('iyy="2"', 'iyy="0.7"'), ('izz="2.5"', 'izz="0.8"'))
    assert robot_of(tmp_path, text).links["base_link"].inertial is not None


@pytest.mark.parametrize(
    ("shape", "place", "words"),
    [
        ('<box size="1 0 1"/>', "box / size", "must be 3 numbers above 0 (found '1 0 1')"),
        ('<box size="1 1"/>', "box / size", "must be 3 numbers above 0 (found '1 1')"),
        ("<box/>", "box / size", "is missing"),
        ('<sphere radius="-1"/>', "sphere / radius", "must be a number above 0 (found '-1')"),
        ('<cylinder radius="1"/>', "cylinder / length", "is missing"),
        ('<capsule radius="x" length="1"/>', "capsule / radius", "must be a number above 0 (found 'x')"),
    ],
)
def test_the_measures_of_a_shape_must_be_there_and_positive(tmp_path: Path, shape: str, place: str, words: str) -> None:
    error = refusal(tmp_path, link_with(f"<collision><geometry>{shape}</geometry></collision>"))
    assert [str(fault) for fault in error.faults] == [f'line 3: link "a" / collision / geometry / {place}: {words}']


def test_a_mesh_scale_must_be_three_numbers_other_than_zero(tmp_path: Path) -> None:
    text = only_fault(tmp_path, ("0.001 0.001 -0.001", "1 0 1"))
    assert "visual 1 / geometry / mesh / scale: must be 3 numbers other than 0 (found '1 0 1')" in text
    assert "(found '0.001')" in only_fault(tmp_path, ("0.001 0.001 -0.001", "0.001"))


@pytest.mark.parametrize(
    "inside",
    [
        "<geometry/>",
        "<geometry><cone/></geometry>",
        '<geometry><box size="1 1 1"/><sphere radius="1"/></geometry>',
    ],
)
def test_a_geometry_holds_exactly_one_shape(tmp_path: Path, inside: str) -> None:
    text = str(refusal(tmp_path, link_with(f"<visual>{inside}</visual>")))
    assert 'link "a" / visual / geometry: must contain exactly one shape' in text
    assert "known: box, sphere, cylinder, capsule, mesh" in text


def test_a_visual_without_geometry_is_a_fault(tmp_path: Path) -> None:
    assert 'line 3: link "a" / visual / geometry: is missing' in str(refusal(tmp_path, link_with("<visual/>")))


def test_an_origin_must_be_three_finite_numbers(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ('rpy="0 0 1.5"', 'rpy="0 0 ${pi}"')) == (
        "line 6: link \"base_link\" / inertial / origin / rpy: must be 3 finite numbers (found '0 0 ${pi}')"
    )
    assert "visual 1 / origin / xyz: must be 3 finite" in only_fault(tmp_path, ("1 2 3", "1 nan 3"))


def test_colours_are_four_numbers_from_zero_to_one(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ('rgba="1 0 0 1"', 'rgba="255 0 0 1"')) == (
        "line 3: material \"hull/red\" / color / rgba: must be 4 numbers from 0 to 1 (found '255 0 0 1')"
    )
    assert "visual 2 / material / color / rgba" in only_fault(tmp_path, ("0.5 0.5 0.5 0.9", "0.5 0.5"))
    assert 'material "hull/red": has no <color>' in only_fault(tmp_path, ('<color rgba="1 0 0 1"/>', ""))


def test_an_unknown_material_is_guessed(tmp_path: Path) -> None:
    text = only_fault(tmp_path, ('<material name="grey"/>', '<material name="gray"/>'))
    assert "link \"rudder\" / visual / material: there is no such material (found 'gray')" in text
    assert "did you mean 'grey'?" in text


# ------------------------------------------------------------------------------------------------ names


def test_names_must_be_given_and_hold_no_slash(tmp_path: Path) -> None:
    error = refusal(tmp_path, '<robot name="r/s">\n<link name="a/b"/>\n<link/>\n</robot>')
    assert [str(fault) for fault in error.faults] == [
        "line 1: robot: a name must not contain '/' (found 'r/s')",
        "line 2: link \"a/b\": a name must not contain '/' (found 'a/b')",
        'line 3: link "": has no name',
    ]


def test_names_given_twice_show_both_lines(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ('<link name="radar"/>', '<link name="radar"/>\n<link name="radar"/>')) == (
        'line 29: link "radar": given twice, first on line 28'
    )
    text = only_fault(tmp_path, ("</robot>", '<joint name="mast_joint"/></robot>'))
    assert text == 'line 50: joint "mast_joint": given twice, first on line 42'


def test_an_element_given_twice_is_a_fault(tmp_path: Path) -> None:
    mass = '<mass value="12.5"/>'
    assert only_fault(tmp_path, (mass, f"{mass}\n{mass}")) == (
        'line 8: link "base_link" / inertial / mass 2: given twice, first on line 7'
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('<origin xyz="1', '<orgin xyz="1', "link \"base_link\" / visual 1 / orgin: unknown name 'orgin'"),
        ('upper="3"', 'upper="3" lowre="1"', "joint \"winch_joint\" / limit: unknown name 'lowre'"),
        (
            '<link name="mast"/>',
            '<link name="mast"><visul/></link>',
            "link \"mast\" / visul: unknown name 'visul'",
        ),
    ],
)
def test_misspelt_names_are_reported(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = only_fault(tmp_path, (old, new))
    assert expected in text
    assert "did you mean" in text


# ------------------------------------------------------------------------------------------------ joints


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "floating",
            "floating joints are not supported (found 'floating'); the root link of a robot moves freely",
        ),
        ("planar", "planar joints are not supported (found 'planar'); use two prismatic joints"),
        ("revolut", "unknown type of joint (found 'revolut'); did you mean 'revolute'?"),
    ],
)
def test_joints_of_other_types_are_refused_with_a_message(tmp_path: Path, kind: str, words: str) -> None:
    text = only_fault(tmp_path, ('type="revolute"', f'type="{kind}"'))
    assert text.startswith(f'line 30: joint "rudder_joint" / type: {words}')


def test_a_joint_without_a_type_lists_the_types(tmp_path: Path) -> None:
    text = only_fault(tmp_path, (' type="revolute"', ""))
    assert text == ('line 30: joint "rudder_joint" / type: is missing; known: continuous, fixed, prismatic, revolute')


def test_an_axis_must_not_be_zero(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ("3 0 -4", "0 0 0")) == (
        "line 34: joint \"rudder_joint\" / axis / xyz: must not be zero (found '0 0 0')"
    )
    assert "axis / xyz: must be 3 finite numbers" in only_fault(tmp_path, ("3 0 -4", "0 1"))


def test_joints_that_need_limits_must_have_them(tmp_path: Path) -> None:
    text = only_fault(tmp_path, ('<limit lower="-0.5" upper="0.6" effort="inf" velocity="2"/>', ""))
    assert 'line 30: joint "rudder_joint" / limit: is missing; a revolute joint needs limits' in text
    assert "continuous" in text
    assert "a prismatic joint needs limits" in only_fault(tmp_path, ('<limit upper="3"/>', ""))
    assert "has neither lower nor upper" in only_fault(tmp_path, ('<limit upper="3"/>', '<limit effort="1"/>'))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('lower="-0.5"', 'lower="0.7"', "limit: lower must not be above upper (found [0.7, 0.6])"),
        ('lower="-0.5"', 'lower="-inf"', "limit / lower: must be a finite number (found '-inf')"),
        (
            'velocity="2"',
            'velocity="-2"',
            "limit / velocity: must be a number of at least 0, or inf (found '-2')",
        ),
        (
            'effort="inf"',
            'effort="nan"',
            "limit / effort: must be a number of at least 0, or inf (found 'nan')",
        ),
        ('damping="0.3"', 'damping="-1"', "dynamics / damping: must be a number of at least 0 (found '-1')"),
    ],
)
def test_limits_and_losses_must_make_sense(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert only_fault(tmp_path, (old, new)).endswith(f'joint "rudder_joint" / {expected}')


def test_unknown_links_are_guessed_and_raise_no_further_faults(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ('<child link="rudder"/>', '<child link="ruder"/>')) == (
        "line 33: joint \"rudder_joint\" / child: there is no such link (found 'ruder'); did you mean 'rudder'?"
    )
    text = only_fault(tmp_path, ('<parent link="mast"/>', '<parent link="mst"/>'))
    assert "joint \"radar_joint\" / parent: there is no such link (found 'mst'); did you mean 'mast'?" in text


def test_a_joint_must_name_both_its_links(tmp_path: Path) -> None:
    assert only_fault(tmp_path, ('<child link="rudder"/>', "")) == ('line 30: joint "rudder_joint" / child: is missing')
    assert "/ child / link: is missing" in only_fault(tmp_path, ('<child link="rudder"/>', "<child/>"))


def test_a_link_with_two_parents_names_both_joints(tmp_path: Path) -> None:
    text = only_fault(tmp_path, ('<child link="winch"/>', '<child link="rudder"/>'))
    assert 'joint "winch_joint" / child: link "rudder" is already the child of joint "rudder_joint"' in text


def test_several_roots_are_listed(tmp_path: Path) -> None:
    text = only_fault(tmp_path, ('<link name="mast"/>', '<link name="mast"/><link name="buoy"/>'))
    assert text.startswith("line 2: robot: has several root links (found ['base_link', 'buoy'])")


def test_a_circle_of_links_is_shown(tmp_path: Path) -> None:
    text = only_fault(
        tmp_path,
        ('type="fixed">\n    <parent link="base_link"/>', 'type="fixed">\n    <parent link="winch"/>'),
    )
    assert "these links form a cycle of joints (found ['mast', 'radar', 'winch'])" in text
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint>'
    error = refusal(tmp_path, f'<robot name="r"><link name="a"/>{joint}</robot>')
    assert "form a cycle of joints (found ['a'])" in str(error)


def test_a_mimic_must_follow_another_joint(tmp_path: Path) -> None:
    old = '<mimic joint="rudder_joint"'
    text = only_fault(tmp_path, (old, '<mimic joint="ruder_joint"'))
    assert "joint \"radar_joint\" / mimic / joint: there is no such joint (found 'ruder_joint')" in text
    assert "did you mean 'rudder_joint'?" in text
    assert "mimic / joint: must not mimic itself" in only_fault(tmp_path, (old, '<mimic joint="radar_joint"'))


def test_mimics_in_a_circle_are_all_named(tmp_path: Path) -> None:
    text = changed(('<axis xyz="3 0 -4"/>', '<axis xyz="3 0 -4"/><mimic joint="radar_joint"/>'))
    error = refusal(tmp_path, text)
    assert [fault.location for fault in error.faults] == [
        'joint "rudder_joint" / mimic / joint',
        'joint "radar_joint" / mimic / joint',
    ]
