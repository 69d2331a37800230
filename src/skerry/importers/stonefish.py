"""Reader of Stonefish scenarios: links, joints, simple sensors and thrusters of the only robot of a .scn file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.frames import Pose, matrix_to_quaternion, rpy_to_quaternion
from skerry.core.meshes import Mesh, box, closed_volume, cylinder, solid_inertia, sphere, transform
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Colour, Inertial, Shape, UrdfJoint, UrdfLink, UrdfRobot
from skerry.importers.gazebo import mount_settings
from skerry.importers.robot_check import check_robot
from skerry.importers.vehicle_draft import BuoyantShape, PartDraft, VehicleDraft
from skerry.importers.xml_reader import Triple, XmlVehicleReader, parse_triple, position_and_rpy

DOWN_TO_UP = np.diag([1.0, -1.0, -1.0])
"""Rotation from Stonefish's axes, forward, right, down, to Skerry's, forward, left, up."""
UNKNOWN_DENSITY = 1000.0
"""Density of a material that another file defines, kg/m³."""
SENSORS = {
    "imu": "imu",
    "gps": "gps",
    "pressure": "pressure",
    "dvl": "dvl",
    "compass": "compass",
    "odometry": "odometry",
}
_PACKAGE = re.compile(r"\$\(find ([\w-]+)\)")
_VALUE = re.compile(r"\$\((?:arg|param) \w+\)")
DRY = {"surface", "aerodynamic"}
"""Physics modes of Stonefish without hydrodynamic forces."""
THRUSTERS = {"thruster", "simple_thruster", "propeller"}


class StonefishReader(XmlVehicleReader):
    """Reader of the only robot of a scenario."""

    first_notes = ("axes converted from Stonefish's forward, right, down to forward, left, up",)

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        super().__init__(path, packages)
        self.densities = {
            m.get("name"): float(m.get("density", 1000.0)) for m in self.root.iter("material") if m.get("density")
        }
        self.colours = {
            look.get("name", ""): _colour(look)
            for look in self.root.iter("look")
            if look.get("rgb") or look.get("gray")
        }
        self.links: dict[str, UrdfLink] = {}
        self.joints: dict[str, UrdfJoint] = {}
        self.floats: dict[str, BuoyantShape] = {}

    def read(self) -> VehicleDraft:
        self.fill_placeholders()
        robots = [self.root] if self.root.tag == "robot" else self.root.findall("robot")
        computed = [e for e in self.read_elements() if any("$(" in value for value in e.attrib.values())]
        if len(robots) != 1:
            found = [robot.get("name") for robot in robots]
            self.add_fault(self.root, "must have exactly one <robot>", found, "move the vehicle to its own file")
        for element in computed[:1]:
            hint = "replace the placeholders by their values"
            self.add_fault(element, "has placeholders that only Stonefish can evaluate", hint=hint)
        self.raise_faults()
        robot = robots[0]
        for element in (*robot.findall("base_link"), *robot.findall("link")):
            self.add_link(element)
        for element in robot.findall("joint"):
            self.add_joint(element)
        self.raise_faults()
        draft = VehicleDraft(
            check_robot(UrdfRobot(robot.get("name", "robot"), self.links, self.joints, "", {}), self.path)
        )
        draft.floats = self.floats
        draft.parts += self.read_sensors(robot)
        draft.parts += self.read_thrusters(robot)
        if robot.get("fixed") == "true":
            self.notes.append("the robot is fixed in its world: set `anchored: true` in the scenario")
        outside = {child.tag for child in self.root if self.root is not robot} - {"robot", "materials", "looks"}
        self.notes += [f"<{tag}> left out: describe it in a scenario" for tag in sorted(outside)]
        draft.notes += self.notes
        return draft

    def read_elements(self) -> Iterator[Element]:
        """Return all elements except ROS topics and the robot's pose in its world, which are not imported."""
        return (e for e in self.root.iter() if not e.tag.startswith("ros_") and e.tag != "world_transform")

    def fill_placeholders(self) -> None:
        """Fill the placeholders of a file that is meant to be included by another one.

        `$(find PACKAGE)` becomes a URI. `$(arg …)` and `$(param …)` in a name, which the including file would define,
        become the name of this file.
        """
        for element in self.read_elements():
            for key, value in element.attrib.items():
                filled = _PACKAGE.sub(r"package://\1", value)
                element.set(key, _VALUE.sub(self.path.stem, filled) if key == "name" else filled)

    # -------------------------------------------------------------------------------------------- links

    def add_link(self, element: Element) -> None:
        """Add a body; the parts of a compound become links that are fixed to it."""
        name, physics = element.get("name", ""), element.get("physics", "")
        if element.get("type") != "compound":
            self.links[name] = self.read_body(element, name, physics)
            return
        self.links[name] = UrdfLink(name, None, (), ())
        for part in (*element.findall("external_part"), *element.findall("internal_part")):
            inner = f"{name}_{part.get('name')}"
            self.links[inner] = self.read_body(part, inner, physics)
            position, rpy = position_and_rpy(_convert_frame(_origin(part, "compound_transform")))
            fixed = (1.0, 0.0, 0.0), 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, None
            self.joints[f"{inner}_joint"] = UrdfJoint(f"{inner}_joint", "fixed", name, inner, position, rpy, *fixed)

    def read_body(self, element: Element, name: str, physics: str) -> UrdfLink:
        """Return a link and store its buoyant shape, as in Stonefish (docs/bodies.rst and Compound.cpp of its sources).

        Every buoyant part displaces its volume, even where parts overlap; a shell displaces the volume of its walls.
        The water flows only around external parts, buoyant or not. Only external parts collide and are visible.
        """
        physical = self.read_shape(element, element.find("physical"))
        visual = self.read_shape(element, element.find("visual")) if element.find("visual") is not None else physical
        if physical is None:
            return UrdfLink(name, None, (), ())
        inertial, volume, centre = self.read_inertial(element, physical)
        if element.get("buoyant", "true").lower() in {"true", "1"} and physics not in DRY:
            self.floats[name] = BuoyantShape(physical, volume, centre)
        if element.tag == "internal_part":
            return UrdfLink(name, inertial, (), ())
        return UrdfLink(name, inertial, (visual,) if visual else (), (physical,))

    def read_shape(self, element: Element, where: Element | None) -> Shape | None:
        kind, size = element.get("type"), element.find("dimensions")
        look = element.find("look")
        colour = None if look is None else self.colours.get(look.get("name", ""))
        if kind == "model":
            mesh = None if where is None else where.find("mesh")
            if where is None or mesh is None:
                self.add_fault(element, "is a model without <physical> and <mesh>")
                return None
            path = self.find_mesh(element, mesh.get("filename", ""), in_packages=True)
            if path is None:
                return None
            scale = float(mesh.get("scale", 1.0))
            position, rpy = position_and_rpy(_convert_shape(_origin(where)))
            return Shape("mesh", position, rpy, mesh=path, scale=(scale, scale, scale), colour=colour)
        position, rpy = position_and_rpy(_convert_shape(_origin(element)))
        if size is not None and kind == "box":
            return Shape("box", position, rpy, size=parse_triple(size.get("xyz"), "0 0 0"), colour=colour)
        if size is not None and kind in {"sphere", "cylinder"}:
            radius, length = float(size.get("radius", 0.5)), float(size.get("height", 0.0))
            return Shape(
                "sphere" if kind == "sphere" else "cylinder", position, rpy, radius=radius, length=length, colour=colour
            )
        self.notes.append(
            f"{element.get('name')}: Skerry has no counterpart for a body of type {kind!r}; it gets no shape"
        )
        return None

    def read_inertial(self, element: Element, shape: Shape) -> tuple[Inertial, float, Triple]:
        """Return inertial, volume, m³, and centre of the volume, m, of a body.

        The inertial is that of the file, or of the shape filled with its material.
        """
        mesh = _shape_mesh(shape)
        material, name = element.find("material"), element.get("name", "")
        made_of = None if material is None else material.get("name")
        density = self.densities.get(made_of, UNKNOWN_DENSITY)
        wall, size = next(element.iter("thickness"), None), element.find("dimensions")
        thickness = float(
            (wall.get("value") if wall is not None else None) or (size is not None and size.get("thickness")) or 0.0
        )
        solid = solid_inertia(mesh, density, name)
        mass, volume = solid.mass, solid.mass / density
        if thickness > 0.0:
            volume = min(thickness * _area(mesh), volume)
            mass = density * volume
            self.notes.append(
                f"{name} is a shell of {mass:.3g} kg: its inertia is that of a solid of the same mass [guess]"
            )
        if (given := element.find("mass")) is not None and float(given.get("value", -1.0)) > 0.0:
            mass = float(given.get("value", 0.0))
        elif made_of not in self.densities:
            self.notes.append(
                f"{name}: the file does not define the density of {made_of!r}; that of water is used [guess]"
            )
        volume_centre: Triple = (float(solid.centre[0]), float(solid.centre[1]), float(solid.centre[2]))
        centre, inertia = solid.centre, solid.inertia * (mass / solid.mass)
        if (centre_of_gravity := element.find("cg")) is not None:
            centre = DOWN_TO_UP @ parse_triple(centre_of_gravity.get("xyz"), "0 0 0")
        if (given := element.find("inertia")) is not None:
            inertia = np.diag(parse_triple(given.get("xyz"), "0 0 0"))
        (x, y, z), rows = centre.tolist(), inertia.tolist()
        inertial = Inertial(mass, (x, y, z), (0.0, 0.0, 0.0), (tuple(rows[0]), tuple(rows[1]), tuple(rows[2])))
        return inertial, volume, volume_centre

    # -------------------------------------------------------------------------------------------- joints

    def add_joint(self, element: Element) -> None:
        name, kind = element.get("name", ""), element.get("type")
        ends = [element.find(tag) for tag in ("parent", "child")]
        parent, child = ("" if end is None else end.get("name", "") for end in ends)
        for link in (parent, child):
            if link not in self.links:
                self.add_fault(element, "there is no such link", link)
        limits, axis = element.find("limits"), element.find("axis")
        lower, upper = (
            (-math.inf, math.inf) if limits is None else (float(limits.get("min", 0.0)), float(limits.get("max", 0.0)))
        )
        if kind not in {"fixed", "revolute", "prismatic"}:
            self.add_fault(element, "has an unsupported type", kind, "expected fixed, revolute or prismatic")
            return
        if kind == "prismatic" and limits is None:
            self.add_fault(element, "is a prismatic joint without <limits>")
        moves = (
            "continuous" if kind == "revolute" and limits is None else "revolute" if kind == "revolute" else "prismatic"
        )
        position, rpy = position_and_rpy(_convert_frame(_origin(element)))
        direction = DOWN_TO_UP @ parse_triple(None if axis is None else axis.get("xyz"), "0 0 1")
        x, y, z = (direction / max(float(np.linalg.norm(direction)), 1e-12)).tolist()
        if kind == "fixed":
            lower = upper = 0.0
        self.joints[name] = UrdfJoint(
            *(name, "fixed" if kind == "fixed" else moves, parent, child, position, rpy, (x, y, z)),  # type: ignore[arg-type]
            *(lower, upper, math.inf, math.inf, 0.0, 0.0, None),
        )

    # -------------------------------------------------------------------------------------------- parts

    def read_sensors(self, robot: Element) -> Iterable[PartDraft]:
        for element in robot.findall("sensor"):
            name, kind = element.get("name", "sensor"), element.get("type", "")
            on = element.find("link")
            link = "" if on is None else on.get("name", "")
            frequency = min(float(element.get("rate", 10.0)), 200.0)
            common = {"link": link, "frequency": int(frequency) if frequency.is_integer() else frequency}
            pose = _origin(element)
            specs = element.find("specs")
            if link not in self.links:
                self.notes.append(f"sensor {name}: there is no link {link!r}; left out")
            elif kind == "camera" and specs is not None:
                size = {"width": int(specs.get("resolution_x", 640)), "height": int(specs.get("resolution_y", 480))}
                fov = float(specs.get("horizontal_fov", 60.0))
                # Its frame is an optical frame, which `ros_camera` declares; only the axes of the link are converted.
                settings = {"kind": "camera", **common, **mount_settings(_convert_shape(pose)), "ros_camera": True}
                yield PartDraft("sensors", name, {**settings, **size, "horizontal_fov_deg": fov})
            elif kind in SENSORS:
                yield PartDraft(
                    "sensors", name, {"kind": SENSORS[kind], **common, **mount_settings(_convert_frame(pose))}
                )
                self.notes.append(f"sensor {name}: Skerry's default noise is used, not that of the file")
            else:
                self.notes.append(f"sensor {name}: Skerry has no counterpart for the type {kind!r}; left out")

    def read_thrusters(self, robot: Element) -> Iterable[PartDraft]:
        for element in robot.findall("actuator"):
            name, kind, on = element.get("name", "actuator"), element.get("type", ""), element.find("link")
            propeller = element.find("propeller")
            if kind in THRUSTERS and on is not None:
                diameter = float((None if propeller is None else propeller.get("diameter")) or 0.1)
                settings = {
                    "kind": "thruster",
                    "link": on.get("name", ""),
                    **mount_settings(_convert_frame(_origin(element))),
                }
                settings |= {"model": {"kind": "t200", "voltage": 16.0}, "lag": 0.1, "diameter": diameter}
                reason = (
                    "Position, direction and diameter of the file. Not in use: remove the # and set the thrust curve."
                )
                yield PartDraft("actuators", name, settings, reason, in_use=False)
                self.notes.append(
                    f"thruster {name}: vehicle.yaml contains it as a comment, because its thrust curve is unknown"
                )
            elif kind not in {"servo", "motor"}:  # those drive joints, which get servos of Skerry
                self.notes.append(f"actuator {name}: Skerry has no counterpart for the type {kind!r}; left out")
        self.notes += [f"comm {item.get('name')} left out" for item in robot.findall("comm")]


# ------------------------------------------------------------------------------------------------ numbers


def _origin(element: Element, tag: str = "origin") -> Pose:
    origin = element.find(tag)
    if origin is None:
        return Pose.identity()
    return Pose(
        np.array(parse_triple(origin.get("xyz"), "0 0 0")), rpy_to_quaternion(parse_triple(origin.get("rpy"), "0 0 0"))
    )


def _convert_frame(pose: Pose) -> Pose:
    """Convert the pose of a frame in another frame; the axes of both are converted."""
    return Pose(DOWN_TO_UP @ pose.position, matrix_to_quaternion(DOWN_TO_UP @ pose.rotation @ DOWN_TO_UP))


def _convert_shape(pose: Pose) -> Pose:
    """Convert the pose of a shape in a frame; only the axes of the frame are converted."""
    return Pose(DOWN_TO_UP @ pose.position, matrix_to_quaternion(DOWN_TO_UP @ pose.rotation))


def _colour(look: Element) -> Colour:
    numbers = (look.get("rgb") or " ".join([look.get("gray", "0.5")] * 3)).split()
    red, green, blue = (min(max(float(number), 0.0), 1.0) for number in numbers[:3])
    return red, green, blue, 1.0


def _shape_mesh(shape: Shape) -> Mesh:
    """Return the triangles of a shape in its link's frame."""
    if shape.kind == "mesh":
        assert shape.mesh is not None
        own = read_mesh(shape.mesh)
        closed_volume(own, str(shape.mesh))
    elif shape.kind == "box":
        own = box(shape.size)
    else:
        own = sphere(shape.radius) if shape.kind == "sphere" else cylinder(shape.radius, shape.length)
    pose = Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
    return transform(own, pose.position, pose.rotation, shape.scale)


def _area(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
