"""Triangle meshes: read from STL and OBJ, built from primitives, measured as solids, written as STL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import Fault, FileError, SkerryError

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Places = NDArray[np.intp]

MOST_FAULTS = 20
"""A broken file of a million lines may have a million faults; this many are worth reading."""

STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles; seen from outside, the corners of a face run anticlockwise."""

    vertices: Floats  # (n, 3), metres
    faces: Indices  # (m, 3), rows of `vertices`
    face_materials: Indices | None = None  # (m,), places in `materials`, −1 for a face that has none
    materials: tuple[str, ...] = ()


class SolidInertia(NamedTuple):
    """The mass of a solid, its centre, and its inertia about that centre in the mesh's axes."""

    mass: float
    centre: Floats
    inertia: Floats


# ------------------------------------------------------------------------------------------------ reading


def read_mesh(path: Path) -> Mesh:
    """Read a binary STL, ASCII STL or OBJ file; raise `FileError` in words if it is not sound."""
    readers = {".stl": _read_stl, ".obj": _read_obj}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        problem = "is not of a format that Skerry reads, which are STL and OBJ"
        hint = "convert it to one of them, for example with Blender, MeshLab or assimp"
        raise FileError(str(path), [Fault("", problem, path.suffix, hint=hint)])
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(str(path), [Fault("", "there is no such file")]) from None
    except OSError as error:
        raise FileError(str(path), [Fault("", f"cannot be read: {error.strerror}")]) from None
    mesh = reader(path, data)
    if not len(mesh.faces):
        _refuse(path, [Fault("", "has no faces")])
    return mesh


def _read_stl(path: Path, data: bytes) -> Mesh:
    """Layouts: 3D Systems, StereoLithography Interface Specification (1989)."""
    count = int.from_bytes(data[80:84], "little")
    expected = 84 + 50 * count
    if len(data) == expected:
        triangles = np.frombuffer(data, STL_TRIANGLE, count, offset=84)
        corners = triangles["corners"].reshape(-1, 3).astype(np.float64)
        for row in np.flatnonzero(~np.isfinite(corners).all(axis=1)):
            problem = f"a vertex of triangle {row // 3 + 1} is not finite"
            _refuse(path, [Fault("", problem, corners[row].tolist())])
    # A binary header may start with "solid" too, hence the length comes first and the word second.
    elif data[:512].lstrip()[:5].lower() == b"solid" and b"facet" in data[:1000].lower():
        corners = _read_ascii_corners(path, data)
    elif len(data) < 84:
        _refuse(path, [Fault("", f"is too short for an STL file, {len(data)} bytes")])
    else:
        found = f"{count} triangles take {expected} bytes, it has {len(data)}"
        _refuse(path, [Fault("", f"is truncated or not an STL file: {found}")])
    faces = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    return _without_slivers(merge_vertices(Mesh(corners, faces)))


def _read_ascii_corners(path: Path, data: bytes) -> Floats:
    text = _index(data.lower() + b"\n")
    letter, fourth = text.letters[text.head], text.letters[np.minimum(text.head + 3, len(text.letters) - 1)]
    facet, vertex = letter == ord("f"), letter == ord("v")
    events = facet + 2 * vertex + 3 * ((letter == ord("e")) & (fourth == ord("f")))
    lines = text.filled[events > 0]
    events = events[events > 0]
    wrong = np.flatnonzero(events != np.resize([1, 2, 2, 2, 3], len(events)))
    if len(wrong):
        problem = "facet, three vertices and endfacet must follow each other"
        _refuse(path, [Fault("facet", problem, text.line(lines[wrong[0]]), int(lines[wrong[0]]) + 1)])
    if len(events) % 5:
        line = int(lines[len(events) // 5 * 5]) + 1
        _refuse(path, [Fault("facet", "has no endfacet; the file is truncated", line=line)])
    faults: list[Fault] = []
    corners = _vertices(text, lines[events == 2], faults)
    _refuse_any(path, faults)
    return corners


def _read_obj(path: Path, data: bytes) -> Mesh:
    """Statements `v`, `f` and `usemtl`: Wavefront, Advanced Visualizer Manual, appendix B1."""
    text = _index(_plain_lines(data))
    letter, alone = text.letters[text.head], text.blank[text.head + 1]
    vertex_lines = text.filled[(letter == ord("v")) & alone]
    face_lines = text.filled[(letter == ord("f")) & alone]

    faults: list[Fault] = []
    vertices = _vertices(text, vertex_lines, faults)
    sizes = np.diff(text.first)[face_lines] - 1
    faults += [
        Fault("face", "must have at least three vertices", text.line(line), line + 1)
        for line in face_lines[sizes < 3].tolist()
    ]
    _refuse_any(path, faults)

    face, step = _spread(sizes)
    word = text.first[face_lines][face] + 1 + step
    index, sound = _leading_integers(text, text.words[word])
    vertices_before = np.searchsorted(vertex_lines, face_lines)
    # A negative index counts back from where it stands in the file.
    place = np.where(index > 0, index - 1, vertices_before[face] + index)
    there = (index != 0) & (place >= 0) & (place < len(vertices))
    for corner in np.flatnonzero(~sound | ~there).tolist():
        line = int(face_lines[face[corner]])
        missing = f"there is no such vertex among the {len(vertices)}"
        problem = missing if sound[corner] else "is not a vertex number"
        faults.append(Fault("face", problem, text.word(word[corner]), line + 1))
    _refuse_any(path, faults)

    materials: dict[str, int] = {}
    material_lines, uses = list[int](), list[int]()
    for line in text.filled[letter == ord("u")].tolist():
        keyword, *name = text.line(line).split(maxsplit=1)
        if keyword == "usemtl":
            material_lines.append(line)
            uses.append(materials.setdefault(name[0] if name else "", len(materials)))
    use = np.searchsorted(np.array(material_lines), face_lines) - 1  # −1, the last, before the first usemtl
    polygon, step = _spread(sizes - 2)
    corner = (np.cumsum(sizes) - sizes)[polygon]
    return _without_slivers(
        Mesh(
            vertices,
            place[np.stack([corner, corner + step + 1, corner + step + 2], axis=1)].astype(np.int32),
            np.array([*uses, -1], dtype=np.int32)[use][polygon] if materials else None,
            tuple(materials),
        )
    )


class _Text(NamedTuple):
    """A text that ends in a newline, and where its words and lines are; lines count from 0."""

    text: bytes
    letters: NDArray[np.uint8]
    blank: NDArray[np.bool_]  # whether each letter is one at which bytes.split splits
    words: Places  # the place of each word, and the end of the text
    lines: Places  # the place of each line, and the end of the text
    first: Places  # the first word of each line, and the count of words
    filled: Places  # the lines that have words
    head: Places  # the places of their first words

    def line(self, number: int) -> str:
        return self.text[self.lines[number] : self.lines[number + 1]].decode(errors="replace").strip()

    def word(self, number: int) -> str:
        return self.text[self.words[number] : self.words[number + 1]].decode(errors="replace").strip()


def _index(text: bytes) -> _Text:
    letters = np.frombuffer(text, np.uint8)
    blank = (letters == ord(" ")) | (letters - np.uint8(9) < 5)  # 9 to 13 are the tab and the line ends
    starts = ~blank
    starts[1:] &= blank[:-1]
    words = np.append(np.flatnonzero(starts), len(text))
    lines = np.append(0, np.flatnonzero(letters == ord("\n")) + 1)
    first = np.searchsorted(words, lines)
    filled = np.flatnonzero(np.diff(first))
    return _Text(text, letters, blank, words, lines, first, filled, words[first[filled]])


def _plain_lines(data: bytes) -> bytes:
    """OBJ text without comments, and with continued `v` and `f` lines joined; line numbers stay the same."""

    def drop(match: re.Match[bytes]) -> bytes:
        starts_word = match.start() == 0 or data[match.start() - 1 : match.start()].isspace()
        return b"" if starts_word else match[0]

    def join(match: re.Match[bytes]) -> bytes:
        return re.sub(rb"\\\r?\n", b" ", match[0]) + b"\n" * match[0].count(b"\n")

    if b"\\\n" in data or b"\\\r\n" in data:
        data = re.sub(rb"(?m)^[ \t]*[vf]\s(?:[^\n]*\\\r?\n)+[^\n]*", join, data)
    return re.sub(rb"#[^\n]*", drop, data) + b"\n"


def _leading_integers(text: _Text, at: Places) -> tuple[Places, NDArray[np.bool_]]:
    """The numbers that start at these places and end at a slash or a blank, and whether each is one."""
    letters = text.letters
    negative = letters[at] == ord("-")
    start = at + negative
    at, value = start, np.zeros_like(start)
    for _ in range(10):
        digit = letters[at] - np.uint8(ord("0"))  # what is no digit wraps round to more than 9
        value = np.where(digit <= 9, 10 * value + digit, value)
        at = at + (digit <= 9)
    sound = (at > start) & ((letters[at] == ord("/")) | text.blank[at])
    return np.where(negative, -value, value), sound


def _spread(sizes: Places) -> tuple[Places, Places]:
    """The members of groups of these sizes: the group of each, and its place in the group."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]


def _vertices(text: _Text, lines: Places, faults: list[Fault]) -> Floats:
    """The three numbers after the first word of each line; OBJ allows a weight or a colour after them."""
    first = text.first[lines]
    if (text.first[lines + 1] - first >= 4).all():
        starts = text.words[first + 1]
        ends = np.minimum(text.words[np.minimum(first + 4, len(text.words) - 1)], text.lines[lines + 1])
        numbers = b" ".join(
            [text.text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        ).split()
        with suppress(ValueError):
            vertices = np.array(list(map(float, numbers))).reshape(-1, 3)
            if np.isfinite(vertices).all():
                return vertices
    for line in lines.tolist():
        words = text.text[text.lines[line] : text.lines[line + 1]].split()[1:4]
        if len(words) < 3 or not all(map(_is_finite_number, words)):
            faults.append(Fault("vertex", "must be three finite numbers", text.line(line), line + 1))
    return np.zeros((0, 3))


def _is_finite_number(word: bytes) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def _refuse_any(path: Path, faults: list[Fault]) -> None:
    if faults:
        _refuse(path, faults)


def _refuse(path: Path, faults: list[Fault]) -> NoReturn:
    shown = sorted(faults, key=lambda fault: fault.line or 0)[:MOST_FAULTS]
    if len(faults) > MOST_FAULTS:
        shown.append(Fault("", f"and {len(faults) - MOST_FAULTS} more of the same sort"))
    raise FileError(str(path), shown) from None


def _without_slivers(mesh: Mesh) -> Mesh:
    """Drop faces that use a vertex twice: they have no area, and their edges would hide the true topology."""
    a, b, c = mesh.faces.T
    keep = (a != b) & (b != c) & (c != a)
    materials = None if mesh.face_materials is None else mesh.face_materials[keep]
    return replace(mesh, faces=mesh.faces[keep], face_materials=materials)


# ------------------------------------------------------------------------------------------------ writing


def write_stl(path: Path, mesh: Mesh) -> None:
    """Write a binary STL; the same mesh always gives the same bytes."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    np.divide(normals, lengths, out=normals, where=lengths > 0)
    triangles = np.zeros(len(corners), STL_TRIANGLE)
    triangles["normal"], triangles["corners"] = normals, corners
    header = b"binary STL, metres".ljust(80, b"\0") + len(corners).to_bytes(4, "little")
    try:
        path.write_bytes(header + triangles.tobytes())
    except OSError as error:
        raise FileError(str(path), [Fault("", f"cannot be written: {error.strerror}")]) from None


# ------------------------------------------------------------------------------------------------ changing


def merge_vertices(mesh: Mesh) -> Mesh:
    """Make one vertex of all that are exactly equal; they keep the order in which they first come."""
    points = mesh.vertices + 0.0  # −0.0 becomes 0.0
    order = np.lexsort(points.T)
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    group = np.empty(len(points), dtype=np.int64)
    group[order] = np.cumsum(starts) - 1
    first = order[starts]  # lexsort is stable: the first of equal points leads its group
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return replace(mesh, vertices=points[np.sort(first)], faces=rank[group][mesh.faces])


def flip(mesh: Mesh) -> Mesh:
    """Turn a mesh inside out."""
    return replace(mesh, faces=np.ascontiguousarray(mesh.faces[:, ::-1]))


def transform(
    mesh: Mesh, position: ArrayLike = (0, 0, 0), rotation: ArrayLike | None = None, scale: ArrayLike = 1.0
) -> Mesh:
    """Scale along the mesh's axes, rotate by a 3×3 matrix, then move; a mirrored mesh keeps its outside."""
    matrix = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
    matrix = matrix * np.asarray(scale, dtype=np.float64)
    moved = replace(mesh, vertices=mesh.vertices @ matrix.T + np.asarray(position, dtype=np.float64))
    return flip(moved) if np.linalg.det(matrix) < 0 else moved


def concatenate(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one; materials of the same name become one."""
    offsets = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    materials: dict[str, int] = {}
    columns = []
    for mesh in meshes:
        # The last entry answers to −1, the face without a material.
        places = [materials.setdefault(name, len(materials)) for name in mesh.materials] + [-1]
        own = np.full(len(mesh.faces), -1) if mesh.face_materials is None else mesh.face_materials
        columns.append(np.array(places, dtype=np.int32)[own])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate(
            [mesh.faces + np.int32(offset) for mesh, offset in zip(meshes, offsets, strict=False)]
        ),
        np.concatenate(columns) if materials else None,
        tuple(materials),
    )


# ------------------------------------------------------------------------------------------------ measuring


def open_edges(mesh: Mesh) -> int:
    """How many edges are not shared by exactly two faces that run through them in opposite directions."""
    start = mesh.faces.astype(np.int64).ravel()
    end = np.roll(mesh.faces, -1, axis=1).astype(np.int64).ravel()
    key = np.minimum(start, end) * len(mesh.vertices) + np.maximum(start, end)
    edges, edge, count = np.unique(key, return_inverse=True, return_counts=True)
    direction = np.bincount(edge, weights=np.where(start < end, 1.0, -1.0), minlength=len(edges))
    return int(((count != 2) | (direction != 0)).sum())


def is_closed(mesh: Mesh) -> bool:
    """Whether the mesh is the whole surface of a solid."""
    return len(mesh.faces) > 0 and open_edges(mesh) == 0


def is_inside_out(mesh: Mesh) -> bool:
    """Whether the faces of a closed mesh look inwards; `flip` sets that right."""
    return _signed_volume(mesh) < 0


def volume(mesh: Mesh) -> float:
    """The volume that a closed mesh encloses, positive also where it is inside out; an open mesh has none."""
    return abs(_signed_volume(mesh))


def closed_volume(mesh: Mesh, name: str) -> float:
    """The volume of a mesh that must be closed; raise `SkerryError` that says what to do if it is not."""
    count = open_edges(mesh)
    if count or not len(mesh.faces):
        raise SkerryError(
            f"the mesh {name!r} is open: {count} of its edges are not shared by exactly two faces that agree "
            "which side is out, so it encloses no volume; merge its doubled vertices, fill its holes and "
            "make its normals agree (in Blender: Merge by Distance, Fill, Recalculate Outside), "
            "or use a box, sphere, cylinder or capsule in its place"
        )
    enclosed = volume(mesh)
    if enclosed <= 1e-12 * np.ptp(mesh.vertices, axis=0).max() ** 3:
        raise SkerryError(f"the mesh {name!r} is closed but flat: it encloses no volume; give it a thickness")
    return enclosed


def contains(mesh: Mesh, points: Floats) -> NDArray[np.bool_]:
    """Which of the points (n, 3) lie inside a closed mesh: those around which its faces fill the whole solid angle.

    The solid angle of a triangle is after van Oosterom & Strackee 1983, IEEE Trans. Biomed. Eng. 30, eq. 8.
    """
    corners = mesh.vertices[mesh.faces]
    inside = np.empty(len(points), np.bool_)
    for i, point in enumerate(points):
        a, b, c = np.moveaxis(corners - point, 1, 0)
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        dots = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        angles = 2.0 * np.arctan2((a * np.cross(b, c)).sum(1), dots)
        inside[i] = abs(angles.sum()) > 2.0 * np.pi
    return inside


def centroid(mesh: Mesh) -> Floats:
    """The centre of the volume that a closed mesh encloses."""
    return solid_inertia(mesh, 1.0).centre


def solid_inertia(mesh: Mesh, density: float, name: str = "solid") -> SolidInertia:
    """Mass, centre and inertia of a closed mesh filled evenly; the name is for the error if it is not closed.

    By the divergence theorem a solid is the sum of the signed tetrahedra between a fixed point and its faces.
    With that point as origin and corners a, b, c, s = a + b + c, d = a · (b × c), a tetrahedron has
    ∫dV = d/6, ∫x dV = d s/24 and ∫x xᵀ dV = d (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/120 (Blow and Binstock,
    "How to find the inertia tensor (or other mass properties) of a 3D solid body represented by a triangle
    mesh", 2004).
    """
    closed_volume(mesh, name)
    origin, corners, d = _tetrahedra(mesh)
    s = corners.sum(axis=1)
    signed = d.sum() / 6  # negative where the mesh is inside out, and so are the moments: the sign cancels
    centre = d @ s / 24 / signed
    moment = np.einsum("f,fki,fkj->ij", d, corners, corners) + np.einsum("f,fi,fj->ij", d, s, s)
    spread = moment / 120 / signed - np.outer(centre, centre)  # mean of x xᵀ about the centre
    mass = density * abs(float(signed))
    return SolidInertia(mass, origin + centre, mass * (np.trace(spread) * np.eye(3) - spread))


def _signed_volume(mesh: Mesh) -> float:
    return float(_tetrahedra(mesh)[2].sum()) / 6


def _tetrahedra(mesh: Mesh) -> tuple[Floats, Floats, Floats]:
    """A point amid the mesh (so that little cancels), each face's corners seen from it, and a · (b × c)."""
    origin = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
    corners = (mesh.vertices - origin)[mesh.faces]
    return origin, corners, np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))


# ------------------------------------------------------------------------------------------------ primitives


def box(size: Sequence[float]) -> Mesh:
    """A box about the origin, with its full lengths along x, y and z."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    return Mesh(corners * np.asarray(size, dtype=np.float64), faces)


def sphere(radius: float, segments: int = 32) -> Mesh:
    """A sphere about the origin with its vertices on the surface, `segments` of them round the equator."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)[1:-1]
    return _revolve(radius * np.cos(latitude), radius * np.sin(latitude), -radius, radius, segments)


def cylinder(radius: float, length: float, segments: int = 32) -> Mesh:
    """A cylinder about the origin along z, as a prism with its edges on the surface."""
    half = length / 2
    return _revolve(np.full(2, radius), np.array([-half, half]), -half, half, segments)


def capsule(radius: float, length: float, segments: int = 32) -> Mesh:
    """A cylinder of this length about the origin along z, with a half sphere added at each end."""
    latitude = np.linspace(0, np.pi / 2, segments // 4 + 1)[:-1]
    radii, heights = radius * np.cos(latitude), length / 2 + radius * np.sin(latitude)
    end = length / 2 + radius
    return _revolve(
        np.concatenate([radii[::-1], radii]), np.concatenate([-heights[::-1], heights]), -end, end, segments
    )


def _revolve(radii: Floats, heights: Floats, bottom: float, top: float, segments: int) -> Mesh:
    """Rings about z from the lowest to the highest, closed by a vertex on the axis at each end."""
    angle = np.arange(segments) * (2 * np.pi / segments)
    x, y = np.outer(radii, np.cos(angle)), np.outer(radii, np.sin(angle))
    z = np.repeat(heights[:, None], segments, axis=1)
    rings = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    here = 1 + np.arange(len(rings)).reshape(-1, segments)
    beside = np.roll(here, -1, axis=1)
    last = np.full(segments, len(rings) + 1)
    faces = [
        np.stack([np.zeros_like(here[0]), beside[0], here[0]], axis=1),
        np.stack([here[:-1], beside[:-1], beside[1:]], axis=-1).reshape(-1, 3),
        np.stack([here[:-1], beside[1:], here[1:]], axis=-1).reshape(-1, 3),
        np.stack([last, here[-1], beside[-1]], axis=1),
    ]
    vertices = np.concatenate([[[0, 0, bottom]], rings, [[0, 0, top]]])
    return Mesh(vertices, np.concatenate(faces).astype(np.int32))
