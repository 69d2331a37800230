"""COLLADA meshes (.dae): the triangles of a scene with its transforms, in metres. Colours are ignored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from skerry.core.meshes import Mesh, concatenate, merge_vertices, transform

Floats = NDArray[np.float64]

MAX_LEVELS = 100
"""Deepest nesting of nodes; a deeper nesting means that the references form a cycle."""


def parse_collada(data: bytes) -> Mesh:
    """Return the mesh of a COLLADA file (Khronos, COLLADA 1.4.1).

    Lengths are scaled to metres by the file's <unit>. The <up_axis> is ignored, as ROS tools do, because robot meshes
    are made for those tools.

    Raises:
        ValueError: The file is not a valid COLLADA file.
    """
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"is not well-formed XML: {error}") from None
    for element in root.iter():
        element.tag = re.sub(r"^\{.*\}", "", element.tag)  # the namespace is the version; 1.4 and 1.5 are supported
    if root.tag != "COLLADA":
        raise ValueError(f"its outermost element must be <COLLADA>, not <{root.tag}>")
    unit = root.find("asset/unit")
    metres = 1.0 if unit is None else float(unit.get("meter", 1.0))
    named = {f"#{element.get('id')}": element for element in root.iter() if element.get("id")}
    scenes = root.findall("library_visual_scenes/visual_scene")
    meshes = [mesh for scene in scenes[:1] for mesh in _meshes_below(scene, np.eye(4), named, 0)]
    if not scenes:
        meshes = [mesh for geometry in root.iter("geometry") for mesh in _geometry(geometry, named)]
    if not meshes:
        raise ValueError("has no triangles or polygons in its scene")
    return merge_vertices(transform(concatenate(meshes), scale=metres))


def _meshes_below(node: Element, pose: Floats, named: dict[str, Element], level: int) -> Iterator[Mesh]:
    """Yield the meshes of a node and of all nodes below it."""
    if level > MAX_LEVELS:
        raise ValueError(f"its nodes are nested more than {MAX_LEVELS} levels deep")
    for child in node:
        if child.tag in _TRANSFORMS:
            pose = pose @ _TRANSFORMS[child.tag](_numbers(child))
        elif child.tag == "node":
            yield from _meshes_below(child, pose, named, level + 1)
        elif child.tag in {"instance_geometry", "instance_node"}:
            target = _find(child.get("url", ""), named)
            if child.tag == "instance_node":
                yield from _meshes_below(target, pose, named, level + 1)
            else:
                for mesh in _geometry(target, named):
                    yield transform(mesh, pose[:3, 3], pose[:3, :3])


def _geometry(geometry: Element, named: dict[str, Element]) -> Iterator[Mesh]:
    mesh = geometry.find("mesh")
    for primitive in () if mesh is None else mesh:
        if primitive.tag in {"triangles", "polylist", "polygons"}:
            yield _polygons(primitive, named)


def _polygons(primitive: Element, named: dict[str, Element]) -> Mesh:
    inputs = primitive.findall("input")
    stride = 1 + max((int(item.get("offset", 0)) for item in inputs), default=0)
    vertex = next((item for item in inputs if item.get("semantic") == "VERTEX"), None)
    if vertex is None:
        raise ValueError(f"<{primitive.tag}> has no <input> of vertices")
    lists = [np.array((item.text or "").split(), np.int64) for item in primitive.findall("p")]
    corners = np.concatenate([[], *lists]).astype(np.int64)[int(vertex.get("offset", 0)) :: stride]
    if primitive.tag == "polylist":
        counts = np.array((primitive.findtext("vcount") or "").split(), np.int64)
    elif primitive.tag == "polygons":
        counts = np.array([len(item) // stride for item in lists], np.int64)
    else:
        counts = np.full(len(corners) // 3, 3)
    points = _positions(_find(vertex.get("source", ""), named), named)
    if counts.sum() != len(corners) or len(corners) == 0 or corners.min() < 0 or corners.max() >= len(points):
        raise ValueError(f"<{primitive.tag}> refers to vertices that do not exist")
    starts = np.cumsum(counts) - counts
    faces = [
        (corners[start], corners[start + k], corners[start + k + 1])
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        for k in range(1, count - 1)
    ]
    return Mesh(points, np.array(faces, np.int32).reshape(-1, 3))


def _positions(vertices: Element, named: dict[str, Element]) -> Floats:
    """Return the points (n, 3) of a <vertices> element, which refers to a <source>."""
    found = next((item for item in vertices.findall("input") if item.get("semantic") == "POSITION"), None)
    source = vertices if found is None else _find(found.get("source", ""), named)
    accessor = source.find("technique_common/accessor")
    stride = 3 if accessor is None else int(accessor.get("stride", 3))
    numbers = _numbers(source.find("float_array"))
    if stride < 3 or len(numbers) % stride or not np.isfinite(numbers).all():
        raise ValueError("has positions that are not three finite numbers")
    return np.ascontiguousarray(numbers.reshape(-1, stride)[:, :3])


def _find(url: str, named: dict[str, Element]) -> Element:
    if url not in named:
        raise ValueError(f"refers to {url!r}, which is not in the file")
    return named[url]


def _numbers(element: Element | None) -> Floats:
    return np.array([] if element is None else (element.text or "").split(), np.float64)


def _translated(numbers: Floats) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = numbers
    return pose


def _rotated(numbers: Floats) -> Floats:
    """Return the matrix of a rotation given by axis and angle in degrees, by Rodrigues' formula."""
    x, y, z = numbers[:3] / max(float(np.linalg.norm(numbers[:3])), 1e-300)
    angle = np.radians(numbers[3])
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return pose


_TRANSFORMS: dict[str, Callable[[Floats], Floats]] = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translated,
    "rotate": _rotated,
    "scale": lambda numbers: np.diag([*numbers, 1.0]),
}
