"""Files of other programs become vehicles that run; faults of the files are reported."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
import yaml

import skerry
from skerry.core.errors import FileError, SkerryError
from skerry.core.meshes import box
from skerry.formats.mesh_files import write_stl
from skerry.formats.urdf_files import read_urdf
from skerry.importers.terrain import TerrainOptions, import_terrain
from skerry.importers.urdf_text import robot_to_urdf
from skerry.importers.vehicle import import_vehicle
from skerry.scenario.vehicle import SHIPPED, shipped_vehicles

INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'
ROV = f"""<?xml version="1.0"?>
<robot name="rov">
  <link name="base_link">
    <inertial><origin xyz="0 0 -0.05"/><mass value="24"/>{INERTIA.format(0.8)}</inertial>
    <visual><geometry><mesh filename="package://rov_description/meshes/hull.stl"/></geometry></visual>
    <collision><geometry><mesh filename="package://rov_description/meshes/hull.stl"/></geometry></collision>
  </link>
  <link name="camera_link"/>
  <joint name="camera_joint" type="fixed">
    <origin xyz="0.3 0 0.1" rpy="0 0.2 0"/><parent link="base_link"/><child link="camera_link"/>
  </joint>
  <link name="arm_link">
    <inertial><mass value="1"/>{INERTIA.format(0.01)}</inertial>
    <collision><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.05 0.05"/></geometry></collision>
  </link>
  <joint name="arm_joint" type="revolute">
    <origin xyz="0.3 0 -0.1"/><parent link="base_link"/><child link="arm_link"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="0" velocity="0"/>
  </joint>
  <link name="slide_link">
    <inertial><mass value="0.5"/>{INERTIA.format(0.001)}</inertial>
  </link>
  <joint name="slide_joint" type="prismatic">
    <parent link="base_link"/><child link="slide_link"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.3" effort="50" velocity="0.1"/>
  </joint>
  <link name="propeller_link"/>
  <joint name="propeller_joint" type="continuous">
    <origin xyz="-0.3 0 0"/><parent link="base_link"/><child link="propeller_link"/><axis xyz="0 0 1"/>
  </joint>
  <gazebo reference="camera_link">
    <sensor type="camera" name="front">
      <update_rate>15</update_rate>
      <camera>
        <horizontal_fov>1.3962634</horizontal_fov><image><width>64</width><height>48</height></image>
      </camera>
      <plugin filename="libgazebo_ros_camera.so" name="driver"/>
    </sensor>
    <sensor type="sonar" name="echo"/>
  </gazebo>
  <gazebo reference="base_link"><sensor type="imu" name="imu"><update_rate>400</update_rate></sensor></gazebo>
</robot>
"""


def package(folder: Path) -> Path:
    """Write a ROS package with the ROV and return the path of its URDF."""
    home = folder / "src" / "rov_description"
    (home / "meshes").mkdir(parents=True)
    (home / "urdf").mkdir()
    write_stl(home / "meshes" / "hull.stl", box((0.6, 0.3, 0.14)))
    (home / "urdf" / "rov.urdf").write_text(ROV)
    return home / "urdf" / "rov.urdf"


def test_a_urdf_becomes_a_vehicle_that_floats_moves_and_sees(tmp_path: Path) -> None:
    """The hull is scaled for neutral buoyancy; its weight is 5 cm below its buoyancy, so it stays upright."""
    imported = import_vehicle(package(tmp_path), out=tmp_path / "rov")
    assert (tmp_path / "rov" / "meshes" / "hull.stl").is_file()
    robots = {"rov": {"vehicle": str(tmp_path / "rov"), "pose": {"position": [0, 0, -5]}}}
    with skerry.load({"robots": robots}) as world:
        rov = world.robots["rov"]
        rov.actuators["arm"].command(angle=0.5)
        world.advance(5.0)
        assert rov.actuators["arm"].feedback == pytest.approx(0.5, abs=0.02)
        assert rov.pose.position[2] == pytest.approx(-5.0, abs=0.1)
        assert rov.pose.rotation[2, 2] > 0.9
        assert rov.sensors["front"].reading.image.shape == (48, 64, 3)
        assert np.isfinite(rov.sensors["imu"].reading.angular_velocity).all()
        assert set(rov.actuators) == {"arm", "slide"}
        assert set(rov.forces) >= {"buoyancy", "added_mass", "damping", "arm_buoyancy"}
    text = " ".join(imported.notes)
    for part in ("scaled by", "propeller_joint", "effort and velocity of 0", "echo", "400 Hz", "propeller_link moves"):
        assert part in text


def test_every_estimate_has_its_likely_error_beside_it(tmp_path: Path) -> None:
    import_vehicle(package(tmp_path), out=tmp_path / "rov")
    text = (tmp_path / "rov" / "vehicle.yaml").read_text()
    assert text.count("Likely error") == 6  # buoyancy, added mass and drag, of hull and arm
    assert "# propeller:" in text
    assert "pitch_deg: -90.0" in text  # a thruster pushes along x, and this shaft is along z


def test_packages_are_found_in_the_given_folders(tmp_path: Path) -> None:
    package(tmp_path)
    alone = tmp_path / "elsewhere" / "rov.urdf"
    alone.parent.mkdir()
    alone.write_text(ROV)
    with pytest.raises(FileError, match=r"there is no such mesh file.*hull\.stl"):
        import_vehicle(alone, out=tmp_path / "rov")
    assert not (tmp_path / "rov").exists()
    imported = import_vehicle(alone, out=tmp_path / "rov", packages=[tmp_path / "src"])
    assert imported.folder == tmp_path / "rov"


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rov").mkdir()
    (tmp_path / "rov" / "vehicle.yaml").write_text("mine")
    with pytest.raises(SkerryError, match="already exists"):
        import_vehicle(package(tmp_path), out=tmp_path / "rov")
    assert (tmp_path / "rov" / "vehicle.yaml").read_text() == "mine"


def test_a_xacro_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    file = tmp_path / "rov.urdf.xacro"
    file.write_text(
        '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r"><xacro:property name="a" value="1"/></robot>'
    )
    with pytest.raises(FileError, match=r"xacro rov\.urdf\.xacro > robot\.urdf"):
        import_vehicle(file)


def test_a_loop_of_links_is_named(tmp_path: Path) -> None:
    loop = '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
    for number, (parent, child) in enumerate((("a", "b"), ("b", "c"), ("c", "b"))):
        loop += f'<joint name="j{number}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
    (tmp_path / "loop.urdf").write_text(loop + "</robot>")
    with pytest.raises(FileError, match='link "b" is already the child of joint "j0"'):
        import_vehicle(tmp_path / "loop.urdf")


def test_a_terrain_file_is_refused_with_the_right_command(tmp_path: Path) -> None:
    (tmp_path / "hull.stl").write_text("")
    with pytest.raises(FileError, match="import-terrain"):
        import_vehicle(tmp_path / "hull.stl")


@pytest.mark.parametrize("name", shipped_vehicles())
def test_a_written_urdf_reads_back_equal(name: str, tmp_path: Path) -> None:
    robot = read_urdf(SHIPPED / name / "robot.urdf")
    shapes = [shape for link in robot.links.values() for shape in (*link.visuals, *link.collisions)]
    (tmp_path / "robot.urdf").write_text(
        robot_to_urdf(robot, {s.mesh: str(s.mesh) for s in shapes if s.mesh is not None})
    )
    assert read_urdf(tmp_path / "robot.urdf") == robot


@pytest.mark.parametrize("name", ["bluerov2", "lolo", "remus100", "sam", "torpedo"])
def test_a_submersible_imported_as_neutral_stays_where_it_is_and_level(name: str, tmp_path: Path) -> None:
    """Only the URDF is imported, without its vehicle.yaml: buoyancy equals the weight to six digits and lies above it.

    A tenth of a metre in 20 s is more than the rest, 1e-6 of the weight, and swinging batteries cause.
    """
    imported = import_vehicle(SHIPPED / name / "robot.urdf", out=tmp_path / name, neutral=True)
    assert "neutral buoyancy" in " ".join(imported.notes)
    robots = {"it": {"vehicle": str(imported.folder), "pose": {"position": [0, 0, -5]}}}
    with skerry.load({"robots": robots}) as world:
        world.advance(20.0)
        assert np.linalg.norm(world.robots["it"].pose.position - [0, 0, -5]) < 0.1
        assert world.robots["it"].pose.rotation[2, 2] > 0.99


# ------------------------------------------------------------------------------------------------ SDF

SDF = """<?xml version="1.0"?>
<sdf version="1.7"><model name="boat">
  <link name="hull">
    <pose>1 0 0.2 0 0 0</pose>
    <inertial><mass>50</mass><inertia><ixx>4</ixx><iyy>9</iyy><izz>10</izz></inertia></inertial>
    <collision name="c"><geometry><box><size>2 0.8 0.4</size></box></geometry></collision>
    <visual name="v">
      <geometry><plane/></geometry>
    </visual>
    <sensor name="eye" type="camera"><pose>0.5 0 0.3 0 0 1.5707963</pose><update_rate>5</update_rate>
      <camera><horizontal_fov>1</horizontal_fov><image><width>32</width><height>24</height></image></camera></sensor>
  </link>
  <link name="rudder">
    <pose>-0.1 0 0 0 0 0</pose>
    <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
  </link>
  <joint name="rudder_joint" type="revolute"><parent>hull</parent><child>rudder</child>
    <pose>0.1 0 0 0 0 0</pose>
    <axis><xyz>0 0 1</xyz><limit><lower>-0.5</lower><upper>0.5</upper></limit></axis></joint>
  <plugin filename="gz-sim-thruster-system" name="t"/>
</model></sdf>
"""


def test_an_sdf_becomes_a_vehicle(tmp_path: Path) -> None:
    """Link frames move to their parent joints, as URDF requires: here from x = −0.1 m to 0, 1 m behind the hull."""
    (tmp_path / "boat.sdf").write_text(SDF)
    imported = import_vehicle(tmp_path / "boat.sdf", out=tmp_path / "boat")
    robot = read_urdf(tmp_path / "boat" / "robot.urdf")
    joint = robot.joints["rudder_joint"]
    assert joint.position == pytest.approx((-1.0, 0.0, -0.2))
    assert (joint.lower, joint.upper) == (-0.5, 0.5)
    inertial = robot.links["rudder"].inertial
    assert inertial is not None
    assert inertial.position == pytest.approx((-0.1, 0.0, 0.0))
    assert "plane" in " ".join(imported.notes)
    assert "gz-sim-thruster-system" in " ".join(imported.notes)
    with skerry.load(
        {"robots": {"boat": {"vehicle": str(tmp_path / "boat"), "pose": {"position": [0, 0, 0]}}}}
    ) as world:
        world.advance(10.0)
        boat = world.robots["boat"]
        # 51 kg on 1.6 m² of 1025 kg/m³ sink in by 31 mm; the box reaches 0.2 m below its middle.
        assert boat.pose.position[2] == pytest.approx(0.2 - 0.031, abs=0.03)
        assert boat.sensors["eye"].reading.image.shape == (24, 32, 3)


def test_variants_of_real_sdf_files_are_supported(tmp_path: Path) -> None:
    """Poses in degrees and as quaternions (SDF 1.9), 1e12 for no limit, links held by a plugin, submeshes."""
    changed = SDF.replace("<pose>0.1 0 0 0 0 0</pose>", '<pose degrees="true">0.1 0 0 0 0 90</pose>')
    changed = changed.replace("<lower>-0.5</lower><upper>0.5</upper>", "<lower>-1e12</lower><upper>1e12</upper>")
    changed = changed.replace("<plane/>", "<mesh><uri>hull.dae</uri><submesh><name>Keel</name></submesh></mesh>")
    weight = """<link name="weight">
      <pose rotation_format="quat_xyzw">1 0 0 0.70710678 0 0 0.70710678</pose>
      <inertial><mass>1</mass></inertial></link></model>"""
    (tmp_path / "boat.sdf").write_text(changed.replace("</model>", weight))
    imported = import_vehicle(tmp_path / "boat.sdf", out=tmp_path / "boat")
    robot = read_urdf(tmp_path / "boat" / "robot.urdf")
    joint = robot.joints["rudder_joint"]
    assert joint.kind == "continuous"
    assert joint.rpy == pytest.approx((0.0, 0.0, np.pi / 2))
    held = robot.joints["weight_joint"]
    assert (held.kind, held.parent) == ("fixed", "hull")
    assert held.position == pytest.approx((0.0, 0.0, -0.2))
    assert held.rpy == pytest.approx((np.pi / 2, 0.0, 0.0))
    assert robot.links["hull"].visuals == ()
    notes = " ".join(imported.notes)
    assert "weight has no joint" in notes
    assert "submesh Keel left out" in notes


def test_a_missing_mesh_and_a_bad_number_of_an_sdf_are_named(tmp_path: Path) -> None:
    mesh = "<mesh><uri>model://boat/meshes/hull.stl</uri></mesh>"
    (tmp_path / "a.sdf").write_text(SDF.replace("<box><size>2 0.8 0.4</size></box>", mesh))
    with pytest.raises(FileError, match=r'collision "c": there is no such mesh file.*hull\.stl'):
        import_vehicle(tmp_path / "a.sdf")
    (tmp_path / "b.sdf").write_text(SDF.replace("<mass>50</mass>", "<mass>heavy</mass>"))
    with pytest.raises(FileError, match="heavy"):
        import_vehicle(tmp_path / "b.sdf")


# ------------------------------------------------------------------------------------------------ faults of real files


def test_faults_that_other_programs_tolerate_in_a_urdf_are_repaired_with_a_note(tmp_path: Path) -> None:
    """Public files have frames of mass 0, joints without limits, `$(optenv)` of xacro and impossible inertias."""
    odd = '<inertia ixx="0.1" iyy="0.2" izz="0.4" ixy="0" ixz="0" iyz="0"/>'
    text = ROV.replace(
        '<link name="camera_link"/>',
        f"""<link name="camera_link">
      <inertial><mass value="0.0"/>{INERTIA.format(0)}</inertial></link>""",
    )
    text = text.replace('lower="-1" upper="1"', "").replace("0.3 0 0.1", "$(optenv CAMERA_XYZ 0.3 0 0.1)")
    text = text.replace(INERTIA.format(0.8), odd)
    urdf = package(tmp_path)
    urdf.write_text(text)
    imported = import_vehicle(urdf, out=tmp_path / "rov")
    robot = read_urdf(tmp_path / "rov" / "robot.urdf")
    assert robot.links["camera_link"].inertial is None
    assert robot.joints["camera_joint"].position == (0.3, 0.0, 0.1)
    assert robot.joints["arm_joint"].kind == "continuous"
    base = robot.links["base_link"].inertial
    assert base is not None
    assert np.linalg.eigvalsh(base.inertia) == pytest.approx([0.2, 0.2, 0.4])
    notes = "\n".join(imported.notes)
    for part in (
        "camera_link: a mass of 0",
        "arm_joint: a revolute",
        "camera_joint: the default of",
        "base_link: no body can have",
    ):
        assert part in notes


def test_an_impossible_inertia_is_refused_in_a_vehicle_that_is_not_imported(tmp_path: Path) -> None:
    """Only imported files are repaired."""
    (tmp_path / "own.urdf").write_text(
        '<robot name="own"><link name="base_link"><inertial><mass value="0"/>'
        f"{INERTIA.format(1)}</inertial></link></robot>"
    )
    with pytest.raises(FileError, match="above 0"):
        read_urdf(tmp_path / "own.urdf")


def test_an_imported_vehicle_may_be_named_like_a_shipped_one(tmp_path: Path) -> None:
    import_vehicle(package(tmp_path), out=tmp_path / "husky")
    (tmp_path / "a.yaml").write_text("robots: {it: {vehicle: ./husky}}")
    with skerry.load(tmp_path / "a.yaml") as world:
        assert "propeller_link" in world.robots["it"].links


def test_a_full_disk_is_reported_when_a_vehicle_is_written(tmp_path: Path) -> None:
    """A limit of 10 bytes per file makes a write fail as a full disk does."""
    urdf = package(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(SkerryError, match=r"rov cannot be written: .*it is incomplete"):
            import_vehicle(urdf, out=tmp_path / "rov")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ------------------------------------------------------------------------------------------------ Stonefish

SCN = """<scenario>
  <environment><ocean/></environment>
  <materials><material name="Neutral" density="1000.0"/></materials>
  <looks><look name="yellow" rgb="1.0 0.9 0.0"/></looks>
  <robot name="Glider" fixed="false">
    <base_link name="Vehicle" type="compound" physics="submerged">
      <external_part name="Hull" type="cylinder" physics="submerged" buoyant="true">
        <dimensions radius="0.1" height="1.0"/><origin rpy="0 1.5707963 0" xyz="0 0 0"/>
        <material name="Neutral"/><look name="yellow"/><compound_transform xyz="0 0 0" rpy="0 0 0"/>
      </external_part>
      <internal_part name="Battery" type="box" physics="submerged" buoyant="false">
        <dimensions xyz="0.2 0.1 0.05"/><origin xyz="0 0 0" rpy="0 0 0"/>
        <material name="Neutral"/><mass value="2.0"/><compound_transform xyz="0.1 0.02 0.06" rpy="0 0 0"/>
      </internal_part>
    </base_link>
    <link name="Fin" type="box" physics="submerged">
      <dimensions xyz="0.1 0.3 0.02"/><origin xyz="0 0 0" rpy="0 0 0"/><material name="Neutral"/>
    </link>
    <joint name="FinJoint" type="revolute"><parent name="Vehicle"/><child name="Fin"/>
      <origin xyz="-0.4 0.1 0.05" rpy="0 0 0"/><axis xyz="0 1 0"/><limits min="-0.4" max="0.2"/></joint>
    <actuator name="Surge" type="thruster"><link name="Vehicle"/><origin xyz="-0.5 0 0" rpy="0 0 0"/>
      <propeller diameter="0.18" right="true"/></actuator>
    <sensor name="imu" type="imu" rate="20"><link name="Vehicle"/><origin xyz="0 0 0.05" rpy="0 0 0"/></sensor>
    <sensor name="odd" type="profiler"><link name="Vehicle"/></sensor>
    <world_transform xyz="0 0 1" rpy="0 0 0"/>
  </robot>
</scenario>
"""


def test_a_stonefish_robot_becomes_a_vehicle_with_z_up(tmp_path: Path) -> None:
    (tmp_path / "glider.scn").write_text(SCN)
    imported = import_vehicle(tmp_path / "glider.scn", out=tmp_path / "glider")
    robot = read_urdf(tmp_path / "glider" / "robot.urdf")
    assert robot.joints["Vehicle_Battery_joint"].position == pytest.approx((0.1, -0.02, -0.06))
    fin = robot.joints["FinJoint"]
    assert fin.position == pytest.approx((-0.4, -0.1, -0.05))
    assert fin.axis == pytest.approx((0.0, -1.0, 0.0))
    assert (fin.lower, fin.upper) == (-0.4, 0.2)
    hull = robot.links["Vehicle_Hull"].inertial
    assert hull is not None
    assert hull.mass == pytest.approx(1000.0 * np.pi * 0.1**2, rel=0.01)  # a prism of 32 sides is 0.6 % less
    text = (tmp_path / "glider" / "vehicle.yaml").read_text()
    assert "# Surge:" in text and "diameter: 0.18" in text
    for part in ("profiler", "<environment>", "forward, left, up"):
        assert part in " ".join(imported.notes)


def test_a_stonefish_robot_displaces_the_volume_of_its_buoyant_parts(tmp_path: Path) -> None:
    """Stonefish's documentation, "Dynamic bodies": a body that is not buoyant has no buoyancy, a shell is its walls.

    A flooded hull, foam inside it, and a shell: (0.3·0.2·0.1 + 6·0.2²·0.002) m³ are buoyant. The volume of a box and
    the area of its walls are exact.
    """
    parts = """
      <external_part name="Hull" type="cylinder" buoyant="false">
        <dimensions radius="0.2" height="1.0"/><origin rpy="0 1.5707963 0" xyz="0 0 0"/><material name="Neutral"/>
        <compound_transform xyz="0 0 0" rpy="0 0 0"/><mass value="8.0"/>
      </external_part>
      <internal_part name="Foam" type="box">
        <dimensions xyz="0.3 0.2 0.1"/><origin xyz="0 0 0" rpy="0 0 0"/><material name="Neutral"/>
        <compound_transform xyz="0.1 0 -0.1" rpy="0 0 0"/><mass value="1.0"/>
      </internal_part>
      <external_part name="Shell" type="box" buoyant="true">
        <dimensions xyz="0.2 0.2 0.2" thickness="0.002"/><origin xyz="0 0 0" rpy="0 0 0"/><material name="Neutral"/>
        <compound_transform xyz="0 0 0.3" rpy="0 0 0"/>
      </external_part>
    </base_link>"""
    start, end = SCN.index("<external_part"), SCN.index("</base_link>") + len("</base_link>")
    (tmp_path / "glider.scn").write_text(SCN[:start] + parts + SCN[end:])
    imported = import_vehicle(tmp_path / "glider.scn", out=tmp_path / "glider")
    forces = yaml.safe_load((tmp_path / "glider" / "vehicle.yaml").read_text())["forces"]
    foam, shell = 0.3 * 0.2 * 0.1, 6 * 0.2**2 * 0.002
    assert forces["buoyancy"]["volume"] == pytest.approx(foam + shell, rel=1e-5)
    centre = np.mean(forces["buoyancy"]["points"], axis=0)
    expected = [0.1 * foam / (foam + shell), 0.0, (0.1 * foam - 0.3 * shell) / (foam + shell)]
    assert centre == pytest.approx(expected, abs=2e-4)  # points are written to 0.1 mm
    assert forces["added_mass"]["ellipsoid"]["volume"] > 0.9 * np.pi * 0.2**2  # the water flows around the hull
    robot = read_urdf(tmp_path / "glider" / "robot.urdf")
    assert robot.links["Vehicle_Foam"].collisions == ()
    assert "the file gives it a displacement" in " ".join(imported.notes)


def test_a_stonefish_robot_that_is_meant_to_be_included_is_imported_alone(tmp_path: Path) -> None:
    """Name, materials and pose come from the including file, meshes from packages."""
    start, end = SCN.index("<robot"), SCN.index("</scenario>")
    text = SCN[start:end].replace('"Glider"', '"$(arg robot_name)"').replace('xyz="0 0 1"', 'xyz="$(arg place)"')
    text = text.replace('rate="20">', 'rate="20"><ros_publisher topic="/$(param robot_name)/imu"/>')
    fin = """<physical><mesh filename="$(find glider_parts)/meshes/fin.stl" scale="0.1"/></physical>"""
    text = text.replace(
        'type="box" physics="submerged">\n      <dimensions xyz="0.1 0.3 0.02"/>', f'type="model">{fin}'
    )
    (tmp_path / "tested.scn").write_text(text)
    (tmp_path / "parts/meshes").mkdir(parents=True)
    (tmp_path / "parts/package.xml").write_text("<package><name>glider_parts</name></package>")
    write_stl(tmp_path / "parts/meshes/fin.stl", box((1.0, 3.0, 0.2)))
    imported = import_vehicle(tmp_path / "tested.scn", out=tmp_path / "tested", packages=[tmp_path / "parts"])
    robot = read_urdf(tmp_path / "tested" / "robot.urdf")
    assert robot.name == "tested"
    fin_link = robot.links["Fin"].inertial
    assert fin_link is not None
    assert fin_link.mass == pytest.approx(0.1 * 0.3 * 0.02 * 1000.0)
    assert "does not define the density of 'Neutral'" in " ".join(imported.notes)


def test_placeholders_of_stonefish_are_refused(tmp_path: Path) -> None:
    (tmp_path / "glider.scn").write_text(SCN.replace('radius="0.1"', 'radius="$(arg radius)"'))
    with pytest.raises(FileError, match="placeholders"):
        import_vehicle(tmp_path / "glider.scn")


# ------------------------------------------------------------------------------------------------ terrain


def test_an_array_becomes_terrain_in_metres(tmp_path: Path) -> None:
    """A plane, which bilinear resampling keeps: −10 m in the middle, a rise of 1:20 to the east."""
    columns = np.tile(-10.0 + 0.1 * (np.arange(41) - 20.0), (21, 1))  # every 2 m
    np.save(tmp_path / "slope.npy", columns)
    imported = import_terrain(tmp_path / "slope.npy", tmp_path / "slope", TerrainOptions(cell=2.0, resolution=1.0))
    assert imported.folder == tmp_path / "slope"
    with skerry.load(tmp_path / "slope" / "terrain.yaml") as world:
        assert world.terrain is not None
        assert world.terrain.extent == pytest.approx((-41.0, -21.0, 41.0, 21.0), abs=1e-3)
        assert world.terrain.height([[0.0, 0.0], [20.0, 5.0], [-30.0, -10.0]]) == pytest.approx(
            [-10, -9, -11.5], abs=1e-3
        )


def test_a_survey_becomes_terrain_around_its_centre(tmp_path: Path) -> None:
    x, y = np.arange(700_000.0, 700_200.0, 2.0), np.arange(6_578_000.0, 6_578_100.0, 2.0)
    depths = 12.0 + 0.01 * np.add.outer(y - y.mean(), np.zeros_like(x))
    np.savez(tmp_path / "survey.npz", heights=depths, x=x, y=y, crs="EPSG:32633")
    import_terrain(tmp_path / "survey.npz", tmp_path / "bay", TerrainOptions(positive="down", vertical_offset=0.5))
    with skerry.load(tmp_path / "bay" / "terrain.yaml") as world:
        assert world.terrain is not None
        assert world.terrain.height([[0.0, 0.0], [0.0, 30.0]]) == pytest.approx([-11.5, -11.8], abs=0.01)
        assert world.scenario.reference is not None


def test_a_mesh_becomes_a_heightfield(tmp_path: Path) -> None:
    write_stl(tmp_path / "block.stl", box((4000.0, 2000.0, 1000.0)))  # mm
    import_terrain(tmp_path / "block.stl", tmp_path / "block", TerrainOptions(scale=0.001, vertical_offset=-5.0))
    with skerry.load(tmp_path / "block" / "terrain.yaml") as world:
        assert world.terrain is not None
        assert world.terrain.extent == pytest.approx((-2.0, -1.0, 2.0, 1.0))
        assert world.terrain.height([1.0, 0.5]) == pytest.approx(-4.5)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("a.npy", {}, "--cell"), ("a.laz", {}, "must be one of"), ("a.tif", {}, "there is no such file")],
)
def test_an_unreadable_terrain_file_is_refused(
    name: str, options: dict[str, float], words: str, tmp_path: Path
) -> None:
    if name == "a.npy":
        np.save(tmp_path / name, np.zeros((4, 4)))
    with pytest.raises(FileError, match=words):
        import_terrain(tmp_path / name, tmp_path / "out", TerrainOptions.model_validate(options))
