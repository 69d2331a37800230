"""Reader of SDF models: links, inertias, shapes, joints and sensors that a tree of links can represent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.errors import FileError
from skerry.core.frames import Pose, rotate
from skerry.formats.urdf import Colour, Inertial, JointKind, Shape, ShapeKind, UrdfJoint, UrdfLink, UrdfRobot
from skerry.importers.gazebo import read_pose, sensor_part
from skerry.importers.robot_check import check_robot
from skerry.importers.vehicle_draft import VehicleDraft
from skerry.importers.xml_reader import XmlVehicleReader, parse_triple, position_and_rpy

NO_LIMIT = 1e9
"""Magnitude from which a limit of a joint means none; SDF documents 1e16, files contain 1e12 and similar numbers."""


class SdfReader(XmlVehicleReader):
    """Reader of the only model of a file or of its world."""

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        super().__init__(path, packages)
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.poses: dict[str, Pose] = {}  # poses of links in the model
        self.frames: dict[str, Pose] = {}  # link frames of the URDF in the model: at the parent joints

    def read(self) -> VehicleDraft:
        model = self.find_model()
        for tag, what in (("include", "the included model"), ("model", "the nested model")):
            self.notes += [
                f"{what}, {item.get('name') or item.findtext('uri')}, left out" for item in model.findall(tag)
            ]
        self.notes += [f"plugin {item.get('filename')} left out" for item in model.iter("plugin")]
        self.links = {link.get("name", ""): link for link in model.findall("link")}
        self.joints = {joint.get("name", ""): joint for joint in model.findall("joint")}
        for name in self.links:
            self.link_pose(name, ())
        moving = self.moving_joints()
        self.frames = dict(self.poses)
        for element in moving.values():
            child = self.link_name(element, "child")
            if child in self.links:
                self.frames[child] = self.poses[child] @ read_pose(element)
        links = {name: self.read_link(name, element) for name, element in self.links.items()}
        joints = {name: joint for name, element in moving.items() if (joint := self.read_joint(name, element))}
        self.raise_faults()
        robot = UrdfRobot(model.get("name", "robot"), links, joints | self.fix_loose_links(joints), "", {})
        draft = VehicleDraft(check_robot(robot, self.path))
        for name, element in self.links.items():
            for sensor in element.findall("sensor"):
                pose = self.frames[name].inverse() @ self.poses[name] @ read_pose(sensor)
                if part := sensor_part(sensor, name, pose, self.notes):
                    draft.parts.append(part)
        draft.notes += self.notes
        return draft

    def find_model(self) -> Element:
        models = [*self.root.findall("model"), *self.root.findall("world/model")]
        if self.root.tag != "sdf" or len(models) != 1:
            found = [model.get("name") for model in models]
            hint = "move the vehicle's model to its own file"
            self.add_fault(self.root, "must be <sdf> with exactly one <model>", found, hint)
            raise FileError(str(self.path), self.faults)
        return models[0]

    # -------------------------------------------------------------------------------------------- frames

    def link_pose(self, name: str, above: tuple[str, ...]) -> Pose:
        """Return the pose of a link in the model; since SDF 1.7 it may be given relative to another link.

        Args:
            name: Name of the link.
            above: Links that are being resolved, to detect a cycle.
        """
        if name in self.poses:
            return self.poses[name]
        element = self.links[name].find("pose")
        own = read_pose(self.links[name])
        base = "" if element is None else element.get("relative_to", "")
        if base and base != "__model__":
            if base not in self.links or base in above:
                assert element is not None
                hint = "relative_to must name a link, without a cycle"
                self.add_fault(element, "is relative to an unknown frame", base, hint)
            else:
                own = self.link_pose(base, (*above, name)) @ own
        self.poses[name] = own
        return own

    def moving_joints(self) -> dict[str, Element]:
        """Return all joints except those that fix the model to the world."""
        kept = {}
        for name, joint in self.joints.items():
            if self.link_name(joint, "parent") == "world":
                self.notes.append(f"joint {name} fixes it to the world: left out; set `anchored: true` in the scenario")
            else:
                kept[name] = joint
        return kept

    def fix_loose_links(self, joints: dict[str, UrdfJoint]) -> dict[str, UrdfJoint]:
        """Return joints that fix links without joints, which Gazebo plugins would hold, to the first root link."""
        children = {joint.child for joint in joints.values()}
        parents = {joint.parent for joint in joints.values()}
        root, *others = [name for name in self.links if name not in children] or [""]
        found: dict[str, UrdfJoint] = {}
        for name in (name for name in others if name not in parents):
            position, rpy = position_and_rpy(self.frames[root].inverse() @ self.frames[name])
            unused = (1.0, 0.0, 0.0), 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, None
            found[f"{name}_joint"] = UrdfJoint(f"{name}_joint", "fixed", root, name, position, rpy, *unused)
            self.notes.append(f"link {name} has no joint: fixed to {root} [guess]")
        return found

    def link_name(self, joint: Element, tag: str) -> str:
        return (joint.findtext(tag) or "").strip()

    # -------------------------------------------------------------------------------------------- links

    def read_link(self, name: str, element: Element) -> UrdfLink:
        to_frame = self.frames[name].inverse() @ self.poses[name]
        return UrdfLink(
            name,
            self.read_inertial(element, to_frame),
            tuple(shape for item in element.findall("visual") if (shape := self.read_shape(item, to_frame))),
            tuple(shape for item in element.findall("collision") if (shape := self.read_shape(item, to_frame))),
        )

    def read_inertial(self, element: Element, to_frame: Pose) -> Inertial | None:
        inertial = element.find("inertial")
        if inertial is None:
            return None
        position, rpy = position_and_rpy(to_frame @ read_pose(inertial))
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        # SDF's defaults: a mass of 1 kg, and 1 kg m² on the diagonal.
        xx, xy, xz, yy, yz, zz = (float(inertial.findtext(f"inertia/{key}") or (key[1] == key[2])) for key in keys)
        return Inertial(
            float(inertial.findtext("mass") or 1.0), position, rpy, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        )

    def read_shape(self, element: Element, to_frame: Pose) -> Shape | None:
        position, rpy = position_and_rpy(to_frame @ read_pose(element))
        geometry = element.find("geometry")
        found = None if geometry is None or not len(geometry) else geometry[0]
        kind = "" if found is None else found.tag
        colour = _colour(element)
        if found is not None and kind == "box":
            return Shape("box", position, rpy, size=parse_triple(found.findtext("size"), "1 1 1"), colour=colour)
        if found is not None and kind in {"sphere", "cylinder", "capsule"}:
            radius, length = float(found.findtext("radius") or 0.5), float(found.findtext("length") or 0.0)
            chosen: ShapeKind = "sphere" if kind == "sphere" else "cylinder" if kind == "cylinder" else "capsule"
            return Shape(chosen, position, rpy, radius=radius, length=length, colour=colour)
        if found is not None and kind == "mesh" and found.find("submesh") is not None:
            part = found.findtext("submesh/name")
            hint = "Skerry reads only whole files; move it to its own file"
            self.notes.append(f"{element.tag} {element.get('name')}: submesh {part} left out: {hint}")
            return None
        if found is not None and kind == "mesh":
            mesh = self.find_mesh(element, found.findtext("uri") or "")
            if mesh is None:
                return None
            scale = parse_triple(found.findtext("scale"), "1 1 1")
            return Shape("mesh", position, rpy, mesh=mesh, scale=scale, colour=colour)
        self.notes.append(
            f"{element.tag} {element.get('name')}: unsupported shape {kind or 'without geometry'} left out"
        )
        return None

    # -------------------------------------------------------------------------------------------- joints

    def read_joint(self, name: str, element: Element) -> UrdfJoint | None:
        parent, child = self.link_name(element, "parent"), self.link_name(element, "child")
        unknown = [link for link in (parent, child) if link not in self.links]
        if unknown:
            self.add_fault(element, "there is no such link", unknown[0])
            return None
        position, rpy = position_and_rpy(self.frames[parent].inverse() @ self.frames[child])
        axis = element.find("axis")
        kind = self.joint_kind(element, axis)
        limits = {key: _limit(axis, key) for key in ("lower", "upper", "effort", "velocity")}
        lower, upper = (-math.inf, math.inf) if kind == "continuous" else (limits["lower"], limits["upper"])
        if kind == "fixed":
            lower = upper = 0.0
        elif kind == "prismatic" and not (math.isfinite(lower) and math.isfinite(upper)):
            self.add_fault(element, "a prismatic joint needs a lower and an upper limit")
        damping, friction = (
            float((axis.findtext(f"dynamics/{key}") if axis is not None else None) or 0.0)
            for key in ("damping", "friction")
        )
        free = [math.inf if limits[key] < 0.0 else limits[key] for key in ("effort", "velocity")]
        return UrdfJoint(
            *(name, kind, parent, child, position, rpy, self.read_axis(element, axis, child)),
            *(lower, upper, free[0], free[1], damping, friction, None),
        )

    def joint_kind(self, element: Element, axis: Element | None) -> JointKind:
        found = element.get("type")
        if found in {"revolute", "continuous"}:
            unlimited = not all(math.isfinite(_limit(axis, key)) for key in ("lower", "upper"))
            return "continuous" if found == "continuous" or unlimited else "revolute"
        if found in {"fixed", "prismatic"}:
            return "fixed" if found == "fixed" else "prismatic"
        hint = "expected revolute, continuous, prismatic or fixed"
        self.add_fault(element, "has an unsupported type", found, hint)
        return "fixed"

    def read_axis(self, element: Element, axis: Element | None, child: str) -> tuple[float, float, float]:
        """Return the axis of a joint as a unit vector in the child's frame.

        The file gives it in the model's frame up to SDF 1.4, or if it says so.
        """
        if axis is None:
            return 1.0, 0.0, 0.0
        direction = np.array(parse_triple(axis.findtext("xyz"), "0 0 1"))
        xyz = axis.find("xyz")
        old = float(self.root.get("version", "1.6")) < 1.5
        in_model = old or (axis.findtext("use_parent_model_frame") or "").strip() in {"1", "true"}
        expressed = "" if xyz is None else xyz.get("expressed_in", "")
        if in_model or expressed == "__model__":
            direction = rotate(self.frames[child].inverse().orientation, direction)
        elif expressed in self.links:
            turned = self.frames[child].inverse() @ self.poses[expressed]
            direction = rotate(turned.orientation, direction)
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            self.add_fault(element, "has an axis of length 0")
            return 1.0, 0.0, 0.0
        x, y, z = (direction / length).tolist()
        return x, y, z


def _limit(axis: Element | None, key: str) -> float:
    default = -math.inf if key == "lower" else math.inf
    text = None if axis is None else axis.findtext(f"limit/{key}")
    value = default if text is None else float(text)
    return value if abs(value) < NO_LIMIT else math.copysign(math.inf, value)


def _colour(element: Element) -> Colour | None:
    numbers = (element.findtext("material/diffuse") or "").split()
    if len(numbers) < 3:
        return None
    red, green, blue, *alpha = (min(max(float(number), 0.0), 1.0) for number in numbers)
    return red, green, blue, alpha[0] if alpha else 1.0
