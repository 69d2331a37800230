"""Stonefish scenarios: the one robot of a .scn file, its links, joints, sensors and thrusters, where simple."""

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
from skerry.importers.draft import Draft, Float, Part
from skerry.importers.gazebo import mount
from skerry.importers.reader import Reader, place_of, three
from skerry.importers.tree_check import checked

DOWN_TO_UP = np.diag([1.0, -1.0, -1.0])
"""Stonefish's axes are forward, right, down; Skerry's are forward, left, up."""
Place = tuple[float, float, float]
UNKNOWN_DENSITY = 1000.0  # kg/m³, of a material that another file describes
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
"""Modes of Stonefish's in which a body feels no water."""
THRUSTERS = {"thruster", "simple_thruster", "propeller"}


class StonefishReader(Reader):
    """The one robot of a scenario."""

    first_notes = ("axes turned from Stonefish's forward, right, down to forward, left, up",)

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        super().__init__(path, packages)
        self.densities = {
            m.get("name"): float(m.get("density", 1000.0)) for m in self.root.iter("material") if m.get("density")
        }
        self.looks = {
            look.get("name", ""): _colour(look)
            for look in self.root.iter("look")
            if look.get("rgb") or look.get("gray")
        }
        self.links: dict[str, UrdfLink] = {}
        self.joints: dict[str, UrdfJoint] = {}
        self.floats: dict[str, Float] = {}

    def read(self) -> Draft:
        self.fill_in()
        robots = [self.root] if self.root.tag == "robot" else self.root.findall("robot")
        computed = [e for e in self.read_elements() if any("$(" in value for value in e.attrib.values())]
        if len(robots) != 1:
            found = [robot.get("name") for robot in robots]
            self.fault(self.root, "must have exactly one <robot>", found, "keep the vehicle in a file of its own")
        for element in computed[:1]:
            hint = "write the values in their place"
            self.fault(element, "has values that Stonefish would have to work out", hint=hint)
        self.refuse_any()
        robot = robots[0]
        for element in (*robot.findall("base_link"), *robot.findall("link")):
            self.link(element)
        for element in robot.findall("joint"):
            self.joint(element)
        self.refuse_any()
        draft = Draft(checked(UrdfRobot(robot.get("name", "robot"), self.links, self.joints, "", {}), self.path))
        draft.floats = self.floats
        draft.parts += self.sensors(robot)
        draft.parts += self.thrusters(robot)
        if robot.get("fixed") == "true":
            self.notes.append("it is fixed in its world: a scenario says `anchored: true`")
        outside = {child.tag for child in self.root if self.root is not robot} - {"robot", "materials", "looks"}
        self.notes += [f"<{tag}> left out: a scenario of Skerry's says that" for tag in sorted(outside)]
        draft.notes += self.notes
        return draft

    def read_elements(self) -> Iterator[Element]:
        """All but what speaks of topics and of the robot's place in its world, which are not taken."""
        return (e for e in self.root.iter() if not e.tag.startswith("ros_") and e.tag != "world_transform")

    def fill_in(self) -> None:
        """A file that others include leaves names and packages open: the first are its own, the second are looked for.

        What `$(arg …)` or `$(param …)` stands for in a name, the including file says; here it is the file's name.
        """
        for element in self.read_elements():
            for word, value in element.attrib.items():
                filled = _PACKAGE.sub(r"package://\1", value)
                element.set(word, _VALUE.sub(self.path.stem, filled) if word == "name" else filled)

    # -------------------------------------------------------------------------------------------- links

    def link(self, element: Element) -> None:
        """A body; the parts of a compound become links that are fixed to it."""
        name, physics = element.get("name", ""), element.get("physics", "")
        if element.get("type") != "compound":
            self.links[name] = self.body(element, name, physics)
            return
        self.links[name] = UrdfLink(name, None, (), ())
        for part in (*element.findall("external_part"), *element.findall("internal_part")):
            inner = f"{name}_{part.get('name')}"
            self.links[inner] = self.body(part, inner, physics)
            place, rpy = place_of(_turned(_origin(part, "compound_transform")))
            fixed = (1.0, 0.0, 0.0), 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, None
            self.joints[f"{inner}_joint"] = UrdfJoint(f"{inner}_joint", "fixed", name, inner, place, rpy, *fixed)

    def body(self, element: Element, name: str, physics: str) -> UrdfLink:
        """A link and what it displaces, as Stonefish has it (docs/bodies.rst and Compound.cpp of its sources).

        All that is buoyant displaces its volume, also where parts overlap; a shell that of its walls. The water flows
        around external parts alone, whether they are buoyant or not, and only those are touched and seen.
        """
        physical = self.shape(element, element.find("physical"))
        visual = self.shape(element, element.find("visual")) if element.find("visual") is not None else physical
        if physical is None:
            return UrdfLink(name, None, (), ())
        inertial, volume, centre = self.substance(element, physical)
        if element.get("buoyant", "true").lower() in {"true", "1"} and physics not in DRY:
            self.floats[name] = Float(physical, volume, centre)
        if element.tag == "internal_part":
            return UrdfLink(name, inertial, (), ())
        return UrdfLink(name, inertial, (visual,) if visual else (), (physical,))

    def shape(self, element: Element, where: Element | None) -> Shape | None:
        kind, size = element.get("type"), element.find("dimensions")
        look = element.find("look")
        colour = None if look is None else self.looks.get(look.get("name", ""))
        if kind == "model":
            mesh = None if where is None else where.find("mesh")
            if where is None or mesh is None:
                self.fault(element, "a model needs <physical> with a <mesh>")
                return None
            path = self.mesh(element, mesh.get("filename", ""), in_packages=True)
            if path is None:
                return None
            scale = float(mesh.get("scale", 1.0))
            place, rpy = place_of(_turned_shape(_origin(where)))
            return Shape("mesh", place, rpy, mesh=path, scale=(scale, scale, scale), colour=colour)
        place, rpy = place_of(_turned_shape(_origin(element)))
        if size is not None and kind == "box":
            return Shape("box", place, rpy, size=three(size.get("xyz"), "0 0 0"), colour=colour)
        if size is not None and kind in {"sphere", "cylinder"}:
            radius, length = float(size.get("radius", 0.5)), float(size.get("height", 0.0))
            return Shape(
                "sphere" if kind == "sphere" else "cylinder", place, rpy, radius=radius, length=length, colour=colour
            )
        self.notes.append(f"{element.get('name')}: a body of type {kind!r} has no counterpart; it has no shape")
        return None

    def substance(self, element: Element, shape: Shape) -> tuple[Inertial, float, Place]:
        """Its inertia, as the file gives it or of the shape filled with its material, its volume and that's centre."""
        mesh = _mesh_of(shape)
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
                f"{name} is a shell of {mass:.3g} kg: its inertia is that of a solid of this mass [guess]"
            )
        if (given := element.find("mass")) is not None and float(given.get("value", -1.0)) > 0.0:
            mass = float(given.get("value", 0.0))
        elif made_of not in self.densities:
            self.notes.append(f"{name}: the file does not say what {made_of!r} weighs; as water [guess]")
        middle: Place = (float(solid.centre[0]), float(solid.centre[1]), float(solid.centre[2]))
        centre, inertia = solid.centre, solid.inertia * (mass / solid.mass)
        if (centre_of_gravity := element.find("cg")) is not None:
            centre = DOWN_TO_UP @ three(centre_of_gravity.get("xyz"), "0 0 0")
        if (given := element.find("inertia")) is not None:
            inertia = np.diag(three(given.get("xyz"), "0 0 0"))
        (x, y, z), rows = centre.tolist(), inertia.tolist()
        inertial = Inertial(mass, (x, y, z), (0.0, 0.0, 0.0), (tuple(rows[0]), tuple(rows[1]), tuple(rows[2])))
        return inertial, volume, middle

    # -------------------------------------------------------------------------------------------- joints

    def joint(self, element: Element) -> None:
        name, kind = element.get("name", ""), element.get("type")
        ends = [element.find(tag) for tag in ("parent", "child")]
        parent, child = ("" if end is None else end.get("name", "") for end in ends)
        for link in (parent, child):
            if link not in self.links:
                self.fault(element, "there is no such link", link)
        limits, axis = element.find("limits"), element.find("axis")
        lower, upper = (
            (-math.inf, math.inf) if limits is None else (float(limits.get("min", 0.0)), float(limits.get("max", 0.0)))
        )
        if kind not in {"fixed", "revolute", "prismatic"}:
            self.fault(element, "is of a type that is not understood", kind, "fixed, revolute and prismatic are")
            return
        if kind == "prismatic" and limits is None:
            self.fault(element, "a prismatic joint needs <limits>")
        moves = (
            "continuous" if kind == "revolute" and limits is None else "revolute" if kind == "revolute" else "prismatic"
        )
        place, rpy = place_of(_turned(_origin(element)))
        direction = DOWN_TO_UP @ three(None if axis is None else axis.get("xyz"), "0 0 1")
        x, y, z = (direction / max(float(np.linalg.norm(direction)), 1e-12)).tolist()
        if kind == "fixed":
            lower = upper = 0.0
        self.joints[name] = UrdfJoint(
            *(name, "fixed" if kind == "fixed" else moves, parent, child, place, rpy, (x, y, z)),  # type: ignore[arg-type]
            *(lower, upper, math.inf, math.inf, 0.0, 0.0, None),
        )

    # -------------------------------------------------------------------------------------------- parts

    def sensors(self, robot: Element) -> Iterable[Part]:
        for element in robot.findall("sensor"):
            name, kind = element.get("name", "sensor"), element.get("type", "")
            on = element.find("link")
            link = "" if on is None else on.get("name", "")
            frequency = min(float(element.get("rate", 10.0)), 200.0)
            common = {"link": link, "frequency": int(frequency) if frequency.is_integer() else frequency}
            pose = _origin(element)
            specs = element.find("specs")
            if link not in self.links:
                self.notes.append(f"sensor {name}: sits on {link!r}, which is no link; left out")
            elif kind == "camera" and specs is not None:
                size = {"width": int(specs.get("resolution_x", 640)), "height": int(specs.get("resolution_y", 480))}
                fov = float(specs.get("horizontal_fov", 60.0))
                # Its frame is an optical one, which Skerry knows as such; only the link's axes have turned.
                settings = {"kind": "camera", **common, **mount(_turned_shape(pose)), "ros_camera": True}
                yield Part("sensors", name, {**settings, **size, "horizontal_fov_deg": fov})
            elif kind in SENSORS:
                yield Part("sensors", name, {"kind": SENSORS[kind], **common, **mount(_turned(pose))})
                self.notes.append(f"sensor {name}: its noise is Skerry's own, not that of the file")
            else:
                self.notes.append(f"sensor {name}: Skerry has nothing simple for the type {kind!r}; left out")

    def thrusters(self, robot: Element) -> Iterable[Part]:
        for element in robot.findall("actuator"):
            name, kind, on = element.get("name", "actuator"), element.get("type", ""), element.find("link")
            propeller = element.find("propeller")
            if kind in THRUSTERS and on is not None:
                diameter = float((None if propeller is None else propeller.get("diameter")) or 0.1)
                settings = {"kind": "thruster", "link": on.get("name", ""), **mount(_turned(_origin(element)))}
                settings |= {"model": {"kind": "t200", "voltage": 16.0}, "lag": 0.1, "diameter": diameter}
                reason = (
                    "Place, direction, diameter: the file's. Not in use: take away the # and give its thrust curve."
                )
                yield Part("actuators", name, settings, reason, in_use=False)
                self.notes.append(f"thruster {name}: suggested in vehicle.yaml, not in use until it has a thrust curve")
            elif kind not in {"servo", "motor"}:  # those drive joints, which all have a servo of Skerry's
                self.notes.append(f"actuator {name}: left out; Skerry has nothing simple for the type {kind!r}")
        self.notes += [f"comm {item.get('name')} left out" for item in robot.findall("comm")]


# ------------------------------------------------------------------------------------------------ numbers


def _origin(element: Element, tag: str = "origin") -> Pose:
    origin = element.find(tag)
    if origin is None:
        return Pose.identity()
    return Pose(np.array(three(origin.get("xyz"), "0 0 0")), rpy_to_quaternion(three(origin.get("rpy"), "0 0 0")))


def _turned(pose: Pose) -> Pose:
    """A frame in a frame, both turned to forward, left, up."""
    return Pose(DOWN_TO_UP @ pose.position, matrix_to_quaternion(DOWN_TO_UP @ pose.rotation @ DOWN_TO_UP))


def _turned_shape(pose: Pose) -> Pose:
    """The place of a shape, which keeps its own axes, in a frame that is turned."""
    return Pose(DOWN_TO_UP @ pose.position, matrix_to_quaternion(DOWN_TO_UP @ pose.rotation))


def _colour(look: Element) -> Colour:
    words = (look.get("rgb") or " ".join([look.get("gray", "0.5")] * 3)).split()
    red, green, blue = (min(max(float(word), 0.0), 1.0) for word in words[:3])
    return red, green, blue, 1.0


def _mesh_of(shape: Shape) -> Mesh:
    """A shape as triangles, in its link's frame."""
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
