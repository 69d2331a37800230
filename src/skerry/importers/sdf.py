"""SDF models: links, inertias, shapes, joints and sensors, as far as a tree of links can say them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.errors import FileError
from skerry.core.frames import Pose, rotate
from skerry.formats.urdf import Colour, Inertial, JointKind, Shape, ShapeKind, UrdfJoint, UrdfLink, UrdfRobot
from skerry.importers.draft import Draft
from skerry.importers.gazebo import pose_of, sensor_part
from skerry.importers.reader import Reader, place_of, three
from skerry.importers.tree_check import checked

ENDLESS = 1e9
"""SDF writes 1e16 where a joint has no limit; people write 1e12, or so."""


class SdfReader(Reader):
    """The one model of a file, or of its one world."""

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        super().__init__(path, packages)
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.poses: dict[str, Pose] = {}  # of links, in the model
        self.frames: dict[str, Pose] = {}  # where a URDF's link frame must be: at the joint above it

    def read(self) -> Draft:
        model = self.model()
        for tag, what in (("include", "the model that it includes"), ("model", "the model inside of it")):
            self.notes += [
                f"{what}, {item.get('name') or item.findtext('uri')}, left out" for item in model.findall(tag)
            ]
        self.notes += [f"plugin {item.get('filename')} left out" for item in model.iter("plugin")]
        self.links = {link.get("name", ""): link for link in model.findall("link")}
        self.joints = {joint.get("name", ""): joint for joint in model.findall("joint")}
        for name in self.links:
            self.pose_of_link(name, ())
        moving = self.moving_joints()
        self.frames = dict(self.poses)
        for element in moving.values():
            child = self.end(element, "child")
            if child in self.links:
                self.frames[child] = self.poses[child] @ pose_of(element)
        links = {name: self.link(name, element) for name, element in self.links.items()}
        joints = {name: joint for name, element in moving.items() if (joint := self.joint(name, element))}
        self.refuse_any()
        robot = UrdfRobot(model.get("name", "robot"), links, joints | self.fixings(joints), "", {})
        draft = Draft(checked(robot, self.path))
        for name, element in self.links.items():
            for sensor in element.findall("sensor"):
                place = self.frames[name].inverse() @ self.poses[name] @ pose_of(sensor)
                if part := sensor_part(sensor, name, place, self.notes):
                    draft.parts.append(part)
        draft.notes += self.notes
        return draft

    def model(self) -> Element:
        models = [*self.root.findall("model"), *self.root.findall("world/model")]
        if self.root.tag != "sdf" or len(models) != 1:
            found = [model.get("name") for model in models]
            hint = "keep the one that is the vehicle in a file of its own"
            self.fault(self.root, "must be <sdf> with exactly one <model>", found, hint)
            raise FileError(str(self.path), self.faults)
        return models[0]

    # -------------------------------------------------------------------------------------------- frames

    def pose_of_link(self, name: str, above: tuple[str, ...]) -> Pose:
        """A link's pose in the model; since SDF 1.7 it may be told relative to another link."""
        if name in self.poses:
            return self.poses[name]
        element = self.links[name].find("pose")
        own = pose_of(self.links[name])
        base = "" if element is None else element.get("relative_to", "")
        if base and base != "__model__":
            if base not in self.links or base in above:
                assert element is not None
                hint = "only links are understood here, and not themselves in a circle"
                self.fault(element, "is relative to what is no link", base, hint)
            else:
                own = self.pose_of_link(base, (*above, name)) @ own
        self.poses[name] = own
        return own

    def moving_joints(self) -> dict[str, Element]:
        """All joints but those that hold the model to the world."""
        kept = {}
        for name, joint in self.joints.items():
            if self.end(joint, "parent") == "world":
                self.notes.append(f"joint {name} holds it to the world: left out; a scenario says `anchored: true`")
            else:
                kept[name] = joint
        return kept

    def fixings(self, joints: dict[str, UrdfJoint]) -> dict[str, UrdfJoint]:
        """Joints that hold loose links, which plugins of Gazebo's would hold, to the first link that has no parent."""
        children = {joint.child for joint in joints.values()}
        parents = {joint.parent for joint in joints.values()}
        root, *others = [name for name in self.links if name not in children] or [""]
        found: dict[str, UrdfJoint] = {}
        for name in (name for name in others if name not in parents):
            position, rpy = place_of(self.frames[root].inverse() @ self.frames[name])
            still = (1.0, 0.0, 0.0), 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, None
            found[f"{name}_joint"] = UrdfJoint(f"{name}_joint", "fixed", root, name, position, rpy, *still)
            self.notes.append(f"link {name} hangs on no joint: fixed to {root} [guess]")
        return found

    def end(self, joint: Element, tag: str) -> str:
        return (joint.findtext(tag) or "").strip()

    # -------------------------------------------------------------------------------------------- links

    def link(self, name: str, element: Element) -> UrdfLink:
        to_frame = self.frames[name].inverse() @ self.poses[name]
        return UrdfLink(
            name,
            self.inertial(element, to_frame),
            tuple(shape for item in element.findall("visual") if (shape := self.shape(item, to_frame))),
            tuple(shape for item in element.findall("collision") if (shape := self.shape(item, to_frame))),
        )

    def inertial(self, element: Element, to_frame: Pose) -> Inertial | None:
        inertial = element.find("inertial")
        if inertial is None:
            return None
        position, rpy = place_of(to_frame @ pose_of(inertial))
        words = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        # SDF's own defaults: a kilogram, and one on the diagonal.
        xx, xy, xz, yy, yz, zz = (float(inertial.findtext(f"inertia/{word}") or (word[1] == word[2])) for word in words)
        return Inertial(
            float(inertial.findtext("mass") or 1.0), position, rpy, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        )

    def shape(self, element: Element, to_frame: Pose) -> Shape | None:
        position, rpy = place_of(to_frame @ pose_of(element))
        geometry = element.find("geometry")
        found = None if geometry is None or not len(geometry) else geometry[0]
        kind = "" if found is None else found.tag
        colour = _colour(element)
        if found is not None and kind == "box":
            return Shape("box", position, rpy, size=three(found.findtext("size"), "1 1 1"), colour=colour)
        if found is not None and kind in {"sphere", "cylinder", "capsule"}:
            radius, length = float(found.findtext("radius") or 0.5), float(found.findtext("length") or 0.0)
            chosen: ShapeKind = "sphere" if kind == "sphere" else "cylinder" if kind == "cylinder" else "capsule"
            return Shape(chosen, position, rpy, radius=radius, length=length, colour=colour)
        if found is not None and kind == "mesh" and found.find("submesh") is not None:
            part = found.findtext("submesh/name")
            hint = "Skerry takes whole files; put it into a file of its own"
            self.notes.append(f"{element.tag} {element.get('name')}: a part of a mesh, {part}, left out: {hint}")
            return None
        if found is not None and kind == "mesh":
            mesh = self.mesh(element, found.findtext("uri") or "")
            if mesh is None:
                return None
            scale = three(found.findtext("scale"), "1 1 1")
            return Shape("mesh", position, rpy, mesh=mesh, scale=scale, colour=colour)
        self.notes.append(f"{element.tag} {element.get('name')}: a shape of {kind or 'no'} kind, left out")
        return None

    # -------------------------------------------------------------------------------------------- joints

    def joint(self, name: str, element: Element) -> UrdfJoint | None:
        parent, child = self.end(element, "parent"), self.end(element, "child")
        unknown = [link for link in (parent, child) if link not in self.links]
        if unknown:
            self.fault(element, "there is no such link", unknown[0])
            return None
        position, rpy = place_of(self.frames[parent].inverse() @ self.frames[child])
        axis = element.find("axis")
        kind = self.joint_kind(element, axis)
        limits = {word: _limit(axis, word) for word in ("lower", "upper", "effort", "velocity")}
        lower, upper = (-math.inf, math.inf) if kind == "continuous" else (limits["lower"], limits["upper"])
        if kind == "fixed":
            lower = upper = 0.0
        elif kind == "prismatic" and not (math.isfinite(lower) and math.isfinite(upper)):
            self.fault(element, "a prismatic joint needs a lower and an upper limit")
        damping, friction = (
            float((axis.findtext(f"dynamics/{word}") if axis is not None else None) or 0.0)
            for word in ("damping", "friction")
        )
        free = [math.inf if limits[word] < 0.0 else limits[word] for word in ("effort", "velocity")]
        return UrdfJoint(
            *(name, kind, parent, child, position, rpy, self.axis(element, axis, child)),
            *(lower, upper, free[0], free[1], damping, friction, None),
        )

    def joint_kind(self, element: Element, axis: Element | None) -> JointKind:
        found = element.get("type")
        if found in {"revolute", "continuous"}:
            endless = not all(math.isfinite(_limit(axis, word)) for word in ("lower", "upper"))
            return "continuous" if found == "continuous" or endless else "revolute"
        if found in {"fixed", "prismatic"}:
            return "fixed" if found == "fixed" else "prismatic"
        hint = "revolute, continuous, prismatic and fixed are"
        self.fault(element, "is of a type that is not understood", found, hint)
        return "fixed"

    def axis(self, element: Element, axis: Element | None, child: str) -> tuple[float, float, float]:
        """In the link's frame, of length 1; up to SDF 1.4, or where it says so, it is given in the model's frame."""
        if axis is None:
            return 1.0, 0.0, 0.0
        direction = np.array(three(axis.findtext("xyz"), "0 0 1"))
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
            self.fault(element, "its axis must not be zero")
            return 1.0, 0.0, 0.0
        x, y, z = (direction / length).tolist()
        return x, y, z


def _limit(axis: Element | None, word: str) -> float:
    otherwise = -math.inf if word == "lower" else math.inf
    text = None if axis is None else axis.findtext(f"limit/{word}")
    value = otherwise if text is None else float(text)
    return value if abs(value) < ENDLESS else math.copysign(math.inf, value)


def _colour(element: Element) -> Colour | None:
    words = (element.findtext("material/diffuse") or "").split()
    if len(words) < 3:
        return None
    red, green, blue, *alpha = (min(max(float(word), 0.0), 1.0) for word in words)
    return red, green, blue, alpha[0] if alpha else 1.0
