"""Strict reader of URDF files: links, joints, inertia and geometry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import hypot, inf, nan
from pathlib import Path
from typing import get_args
from urllib.parse import unquote
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.config import Vector3
from skerry.core.errors import did_you_mean
from skerry.formats.urdf import Colour, Inertial, JointKind, Mimic, Shape, ShapeKind, UrdfJoint, UrdfLink, UrdfRobot
from skerry.formats.urdf_elements import (
    FINITE,
    FRACTION,
    MASS,
    NOT_NEGATIVE,
    NOT_ZERO,
    POSITIVE,
    UPPER_LIMIT,
    UrdfElements,
)
from skerry.formats.xml_files import read_xml

ROUNDING = 1e-15  # rounding error of the length of a unit vector after a division and a square root


Preprocessor = Callable[[Element], None]


def read_urdf(
    path: Path, packages: Mapping[str, Path] | None = None, preprocess: Preprocessor | None = None
) -> UrdfRobot:
    """Read a URDF file.

    A mesh `package://name/rest` is searched in `packages`, then in folders called `name` from the file's folder
    upwards, and last in the file's folder itself.

    Args:
        path: Path of the file.
        packages: Folders of ROS packages by name.
        preprocess: Function that may change the root element before it is checked.

    Raises:
        FileError: The file has faults; the error lists all of them.
    """
    return _UrdfReader(path, packages or {}).read(preprocess)


class _UrdfReader(UrdfElements):
    """Reader of one file. A number that is already reported as a fault causes no further faults."""

    def __init__(self, path: Path, packages: Mapping[str, Path]) -> None:
        super().__init__(path)
        self.folder = path.absolute().parent
        self.packages = packages
        self.colours: dict[Element, Colour | None] = {}
        self.materials: dict[str, Colour | None] = {}

    def read(self, preprocess: Preprocessor | None) -> UrdfRobot:
        root, self.lines = read_xml(self.path)
        self.locations[root] = ""
        if root.tag != "robot":
            self.fault(root, "a URDF's outermost element must be <robot>", found=root.tag)
        elif any(element.tag.startswith("xacro:") for element in root.iter()):
            hint = f"expand it first: xacro {self.path.name} > robot.urdf"
            self.fault(root, "is a xacro file, not a URDF", hint=hint)
        self.raise_faults()
        self.locations[root] = "robot"
        if preprocess is not None:
            preprocess(root)
        self.check_names(root)
        name = self.name(root)
        self.read_materials(root)
        link_elements, joint_elements = self.named(root, "link"), self.named(root, "joint")
        links = {key: self.link(key, element) for key, element in link_elements.items()}
        joints = {key: self.joint(key, element) for key, element in joint_elements.items()}
        for key, element in joint_elements.items():
            self.check_mimic(element, joints[key], joints)
        top = self.check_tree(root, link_elements, joint_elements, joints)
        self.raise_faults()
        return UrdfRobot(name, links, joints, top, self.materials)

    # -------------------------------------------------------------------------------------------- links

    def read_materials(self, root: Element) -> None:
        """Read the materials of the robot, and those that visuals define."""
        own = self.named(root, "material")
        inside = [element for element in root.iterfind("link/visual/material") if len(element)]
        for element in (*own.values(), *inside):
            self.colours[element] = self.colour(element)
            if element.get("name"):
                self.materials.setdefault(element.get("name", ""), self.colours[element])

    def colour(self, element: Element) -> Colour | None:
        colour = self.only(element, "color")
        if colour is not None:
            red, green, blue, alpha = self.numbers(colour, "rgba", 4, FRACTION)
            return red, green, blue, alpha
        if element.find("texture") is None:
            self.fault(element, "has no <color>")
        return None

    def link(self, name: str, element: Element) -> UrdfLink:
        inertial = self.only(element, "inertial")
        return UrdfLink(
            name,
            None if inertial is None else self.inertial(inertial),
            tuple(map(self.shape, element.findall("visual"))),
            tuple(map(self.shape, element.findall("collision"))),
        )

    def inertial(self, element: Element) -> Inertial:
        mass_element, inertia_element = self.required(element, "mass"), self.required(element, "inertia")
        mass = nan if mass_element is None else self.number(mass_element, "value", MASS)
        inertia = ((nan, nan, nan),) * 3
        if inertia_element is not None:
            names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            xx, xy, xz, yy, yz, zz = [self.number(inertia_element, name) for name in names]
            inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
            self.check_inertia(inertia_element, inertia)
        return Inertial(mass, *self.origin(element), inertia)

    def check_inertia(self, element: Element, inertia: tuple[Vector3, Vector3, Vector3]) -> None:
        if not np.isfinite(inertia).all():
            return
        a, b, c = np.linalg.eigvalsh(inertia).tolist()
        problem = ""
        if a <= 0:
            problem = "all principal moments must be above 0"
        elif a + b < c * (1 - 1e-9):
            problem = "no principal moment may exceed the sum of the other two"
        if problem:
            moments = [float(f"{moment:.6g}") for moment in (a, b, c)]
            self.fault(element, f"is physically impossible: {problem}", found=moments)

    def shape(self, element: Element) -> Shape:
        position, rpy = self.origin(element)
        material = self.only(element, "material") if element.tag == "visual" else None
        name, colour = "", None
        if material is not None:
            name = material.get("name", "")
            colour = self.colours[material] if material in self.colours else self.materials.get(name)
            if material not in self.colours and name not in self.materials:
                hint = did_you_mean(name, self.materials)
                self.fault(material, "there is no such material", found=name, hint=hint)
        plain = Shape("box", position, rpy, material=name, colour=colour)
        geometry = self.required(element, "geometry")
        if geometry is None:
            return plain
        shapes = [child for child in geometry if child.tag in get_args(ShapeKind)]
        if len(shapes) != 1:
            found, hint = [child.tag for child in geometry], f"known: {', '.join(get_args(ShapeKind))}"
            self.fault(geometry, "must contain exactly one shape", found=found, hint=hint)
            return plain
        shape = shapes[0]
        if shape.tag == "box":
            return replace(plain, size=self.vector(shape, "size", POSITIVE))
        if shape.tag == "mesh":
            scale = self.vector(shape, "scale", NOT_ZERO, (1.0, 1.0, 1.0))
            return replace(plain, kind="mesh", mesh=self.mesh(shape), scale=scale)
        radius = self.number(shape, "radius", POSITIVE)
        if shape.tag == "sphere":
            return replace(plain, kind="sphere", radius=radius)
        length = self.number(shape, "length", POSITIVE)
        kind: ShapeKind = "cylinder" if shape.tag == "cylinder" else "capsule"
        return replace(plain, kind=kind, radius=radius, length=length)

    def mesh(self, element: Element) -> Path | None:
        name = element.get("filename", "").strip()
        scheme, separator, rest = name.partition("://")
        if not name:
            self.fault(element, "is missing", "filename")
            return None
        if separator and scheme not in ("file", "package"):
            hint = "write a path relative to this file, file:// or package://"
            self.fault(element, "has an unsupported URL scheme", "filename", name, hint)
            return None
        if scheme == "package" and separator:
            tried = list(self.package_paths(rest))
        else:
            tried = [self.folder / (unquote(rest) if separator else name)]
        for path in tried:
            if path.is_file():
                return path
        hint = f"searched {', '.join(map(str, tried))}"
        self.fault(element, "there is no such mesh file", "filename", name, hint)
        return None

    def package_paths(self, name: str) -> Iterator[Path]:
        package, _, rest = name.partition("/")
        if package in self.packages:
            yield self.packages[package] / rest
        for folder in (self.folder, *self.folder.parents):
            if (folder / package).is_dir():
                yield folder / package / rest
        yield self.folder / rest

    # -------------------------------------------------------------------------------------------- joints

    def joint(self, name: str, element: Element) -> UrdfJoint:
        kind = self.joint_kind(element)
        damping = friction = 0.0
        dynamics = self.only(element, "dynamics")
        if dynamics is not None:
            damping = self.number(dynamics, "damping", NOT_NEGATIVE, 0.0)
            friction = self.number(dynamics, "friction", NOT_NEGATIVE, 0.0)
        return UrdfJoint(
            name,
            kind,
            self.end(element, "parent"),
            self.end(element, "child"),
            *self.origin(element),
            # Exporters write "0 0 0" for the axis of fixed joints, which nothing uses.
            self.axis(element) if kind != "fixed" else (1.0, 0.0, 0.0),
            *self.limits(element, kind),
            damping,
            friction,
            self.mimic(element),
        )

    def joint_kind(self, element: Element) -> JointKind:
        found = element.get("type")
        known: tuple[JointKind, ...] = get_args(JointKind)
        for kind in known:
            if found == kind:
                return kind
        problem, hint = "unknown type of joint", did_you_mean(found or "", known)
        if found == "floating":
            problem = "floating joints are not supported"
            hint = "the root link of a robot moves freely without a joint: remove this joint and its parent"
        elif found == "planar":
            problem = "planar joints are not supported"
            hint = "use two prismatic joints and a continuous joint instead"
        self.fault(element, "is missing" if found is None else problem, "type", found, hint)
        return "fixed"  # a fixed joint needs no further checks

    def end(self, element: Element, tag: str) -> str:
        end = self.required(element, tag)
        if end is None:
            return ""
        if not end.get("link"):
            self.fault(end, "is missing", "link")
        return end.get("link", "")

    def axis(self, element: Element) -> Vector3:
        axis = self.only(element, "axis")
        if axis is None:
            return 1.0, 0.0, 0.0
        x, y, z = self.vector(axis, "xyz")
        length = hypot(x, y, z)
        if length == 0:
            self.fault(axis, "must not be zero", "xyz", axis.get("xyz"))
            return nan, nan, nan
        if abs(length - 1.0) < ROUNDING:
            return (
                x,
                y,
                z,
            )  # another division would change the last bits, so that a written file would not read back equal
        return x / length, y / length, z / length

    def limits(self, element: Element, kind: JointKind) -> tuple[float, float, float, float]:
        """Return the lower, upper, effort and velocity limits of a joint."""
        limit = self.only(element, "limit")
        if kind == "fixed":
            return 0.0, 0.0, inf, inf
        if limit is None:
            if kind != "continuous":
                hint = "for a revolute joint without limits use the type continuous" if kind == "revolute" else ""
                self.fault(element, f"is missing; a {kind} joint needs limits", "limit", hint=hint)
            return -inf, inf, inf, inf
        lower, upper = -inf, inf
        if kind != "continuous":
            lower, upper = self.number(limit, "lower", FINITE, 0.0), self.number(limit, "upper", FINITE, 0.0)
            if "lower" not in limit.attrib and "upper" not in limit.attrib:
                self.fault(limit, "has neither lower nor upper, so the joint could not move")
            if lower > upper:
                self.fault(limit, "lower must not be above upper", found=[lower, upper])
        return (
            lower,
            upper,
            self.number(limit, "effort", UPPER_LIMIT, inf),
            self.number(limit, "velocity", UPPER_LIMIT, inf),
        )

    def mimic(self, element: Element) -> Mimic | None:
        mimic = self.only(element, "mimic")
        if mimic is None:
            return None
        multiplier = self.number(mimic, "multiplier", FINITE, 1.0)
        return Mimic(mimic.get("joint", ""), multiplier, self.number(mimic, "offset", FINITE, 0.0))

    def check_mimic(self, element: Element, joint: UrdfJoint, joints: dict[str, UrdfJoint]) -> None:
        mimic = element.find("mimic")
        if mimic is None or joint.mimic is None:
            return
        followed, seen = joint.mimic.joint, set[str]()
        if followed not in joints:
            hint = did_you_mean(followed, joints)
            self.fault(mimic, "there is no such joint", "joint", followed, hint)
        while followed in joints and followed not in seen:
            seen.add(followed)
            onward = joints[followed].mimic
            followed = onward.joint if onward else ""
        if joint.name in seen:
            self.fault(mimic, "must not mimic itself, directly or through other joints", "joint", joint.mimic.joint)

    def check_tree(
        self,
        root: Element,
        links: dict[str, Element],
        elements: dict[str, Element],
        joints: dict[str, UrdfJoint],
    ) -> str:
        """Return the name of the root link, after checking that all links are connected to it."""
        if not links:
            self.fault(root, "has no links")
            return ""
        carriers: dict[str, UrdfJoint] = {}
        valid = True
        for name, joint in joints.items():
            for tag, link in (("parent", joint.parent), ("child", joint.child)):
                end = elements[name].find(tag)
                valid = valid and link in links
                if end is not None and link and link not in links:
                    self.fault(end, "there is no such link", found=link, hint=did_you_mean(link, links))
                elif end is not None and tag == "child" and link in carriers:
                    valid, first = False, carriers[link].name
                    problem = f'link "{link}" is already the child of joint "{first}"'
                    self.fault(end, problem, hint="a link has exactly one parent")
            carriers.setdefault(joint.child, joint)
        if not valid:
            return ""  # a link without its joint would look like a second root
        roots = [link for link in links if link not in carriers]
        if len(roots) > 1:
            hint = "all links but one must be the child of a joint"
            self.fault(root, "has several root links", found=roots, hint=hint)
            return ""
        reached, waiting = set[str](), list(roots)
        while waiting:
            link = waiting.pop()
            reached.add(link)
            waiting += [joint.child for joint in joints.values() if joint.parent == link]
        lost = [link for link in links if link not in reached]
        if lost:
            hint = "make one of them the root, or the child of another link"
            self.fault(links[lost[0]], "these links form a cycle of joints", found=lost, hint=hint)
        return "" if lost else roots[0]
