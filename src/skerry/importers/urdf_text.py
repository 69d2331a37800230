"""Conversion of a robot to URDF text that reads back equal, to the last bit of every number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isinf
from pathlib import Path
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

from skerry.formats.urdf import Colour, Inertial, Shape, UrdfJoint, UrdfLink, UrdfRobot


def robot_to_urdf(robot: UrdfRobot, meshes: Mapping[Path, str], note: str = "") -> str:
    """Return the URDF text of a robot.

    Args:
        robot: Robot to write.
        meshes: File names to write for the meshes.
        note: Comment at the start.
    """
    root = Element("robot", name=robot.name)
    if note:
        root.append(Comment(f" {note.replace('--', '—')} "))
    for name, colour in robot.materials.items():
        _colour(SubElement(root, "material", name=name), colour)
    for link in robot.links.values():
        _link(root, link, meshes)
    for joint in robot.joints.values():
        _joint(root, joint)
    indent(root)
    return f'<?xml version="1.0"?>\n{tostring(root, encoding="unicode")}\n'


def _numbers(values: Iterable[float]) -> str:
    """Return numbers as text; `repr` of a float reads back as the same float."""
    return " ".join(repr(float(value)) for value in values)


def _colour(parent: Element, colour: Colour | None) -> None:
    if colour is None:
        SubElement(parent, "texture")  # a material needs a colour or a texture; the image of the texture was not read
    else:
        SubElement(parent, "color", rgba=_numbers(colour))


def _origin(parent: Element, part: Inertial | Shape | UrdfJoint) -> None:
    SubElement(parent, "origin", xyz=_numbers(part.position), rpy=_numbers(part.rpy))


def _link(root: Element, link: UrdfLink, meshes: Mapping[Path, str]) -> None:
    element = SubElement(root, "link", name=link.name)
    if link.inertial is not None:
        inertial = SubElement(element, "inertial")
        _origin(inertial, link.inertial)
        SubElement(inertial, "mass", value=repr(link.inertial.mass))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertial.inertia
        named = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        SubElement(inertial, "inertia", {name: repr(float(value)) for name, value in named.items()})
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for shape in shapes:
            _shape(SubElement(element, tag), shape, meshes)


def _shape(element: Element, shape: Shape, meshes: Mapping[Path, str]) -> None:
    _origin(element, shape)
    geometry = SubElement(element, "geometry")
    if shape.kind == "box":
        SubElement(geometry, "box", size=_numbers(shape.size))
    elif shape.kind == "sphere":
        SubElement(geometry, "sphere", radius=repr(shape.radius))
    elif shape.kind == "mesh":
        assert shape.mesh is not None
        SubElement(geometry, "mesh", filename=meshes[shape.mesh], scale=_numbers(shape.scale))
    else:
        SubElement(geometry, shape.kind, radius=repr(shape.radius), length=repr(shape.length))
    if element.tag == "visual" and (shape.material or shape.colour is not None):
        material = SubElement(element, "material", {"name": shape.material} if shape.material else {})
        _colour(material, shape.colour)


def _joint(root: Element, joint: UrdfJoint) -> None:
    element = SubElement(root, "joint", name=joint.name, type=joint.kind)
    _origin(element, joint)
    SubElement(element, "parent", link=joint.parent)
    SubElement(element, "child", link=joint.child)
    if joint.kind == "fixed":
        return
    SubElement(element, "axis", xyz=_numbers(joint.axis))
    bounds = {} if joint.kind == "continuous" else {"lower": joint.lower, "upper": joint.upper}
    bounds |= {"effort": joint.effort, "velocity": joint.velocity}
    limits = {name: repr(float(value)) for name, value in bounds.items() if not isinf(value)}
    if limits:
        SubElement(element, "limit", limits)
    SubElement(element, "dynamics", damping=repr(joint.damping), friction=repr(joint.friction))
    if joint.mimic is not None:
        mimic = joint.mimic
        values = {"multiplier": repr(mimic.multiplier), "offset": repr(mimic.offset)}
        SubElement(element, "mimic", {"joint": mimic.joint, **values})
