"""Mesh files: reads STL, OBJ and COLLADA, writes STL."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import Fault, FileError
from skerry.core.meshes import Floats, Mesh, merge_vertices
from skerry.formats.collada import parse_collada

Positions = NDArray[np.intp]

MAX_FAULTS = 20
"""Most faults of a file that an error lists; a damaged file of a million lines can have a million faults."""

STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


# ------------------------------------------------------------------------------------------------ reading


def read_mesh(path: Path) -> Mesh:
    """Read a binary STL, ASCII STL, OBJ or COLLADA file.

    Raises:
        FileError: The file cannot be read or is not valid.
    """
    readers = {".stl": _read_stl, ".obj": _read_obj, ".dae": _read_dae}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        problem = "has an unknown mesh format; supported are STL, OBJ and COLLADA"
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
        _raise_faults(path, [Fault("", "has no faces")])
    return mesh


def _read_stl(path: Path, data: bytes) -> Mesh:
    """Read an STL file (3D Systems, StereoLithography Interface Specification, 1989)."""
    count = int.from_bytes(data[80:84], "little")
    expected = 84 + 50 * count
    if len(data) == expected:
        triangles = np.frombuffer(data, STL_TRIANGLE, count, offset=84)
        corners: NDArray[np.float64] = triangles["corners"].reshape(-1, 3).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(corners).all(axis=1)).tolist()
        _raise_any(
            path,
            [Fault(f"triangle {row // 3 + 1}", "a vertex is not finite", corners[row].tolist()) for row in bad],
        )
    # A binary header may start with "solid" too, so the length is checked first.
    elif data[:512].lstrip()[:5].lower() == b"solid" and b"facet" in data[:1000].lower():
        corners = _read_ascii_corners(path, data)
    elif len(data) < 84:
        _raise_faults(
            path, [Fault("", f"is too short for an STL file: it has {len(data)} bytes, the header alone needs 84")]
        )
    else:
        found = f"{count} triangles need {expected} bytes, the file has {len(data)}"
        _raise_faults(path, [Fault("", f"is truncated or not an STL file: {found}")])
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
        _raise_faults(path, [Fault("facet", problem, text.line(lines[wrong[0]]), int(lines[wrong[0]]) + 1)])
    if len(events) % 5:
        line = int(lines[len(events) // 5 * 5]) + 1
        _raise_faults(path, [Fault("facet", "has no endfacet; the file is truncated", line=line)])
    faults: list[Fault] = []
    corners = _vertices(text, lines[events == 2], faults)
    _raise_any(path, faults)
    return corners


def _read_obj(path: Path, data: bytes) -> Mesh:
    """Read the statements `v`, `f` and `usemtl` of an OBJ file (Wavefront, Advanced Visualizer Manual, appendix B1)."""
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
    _raise_any(path, faults)

    face, step = _spread(sizes)
    word = text.first[face_lines][face] + 1 + step
    index, is_number = _leading_integers(text, text.words[word])
    vertices_before = np.searchsorted(vertex_lines, face_lines)
    # A negative index counts backwards from the last vertex above the face.
    vertex_index = np.where(index > 0, index - 1, vertices_before[face] + index)
    exists = (index != 0) & (vertex_index >= 0) & (vertex_index < len(vertices))
    for corner in np.flatnonzero(~is_number | ~exists).tolist():
        line = int(face_lines[face[corner]])
        missing = f"there is no such vertex; the file has {len(vertices)}"
        problem = missing if is_number[corner] else "is not a vertex number"
        faults.append(Fault("face", problem, text.word(word[corner]), line + 1))
    _raise_any(path, faults)

    materials: dict[str, int] = {}
    material_lines, uses = list[int](), list[int]()
    for line in text.filled[letter == ord("u")].tolist():
        keyword, *name = text.line(line).split(maxsplit=1)
        if keyword == "usemtl":
            material_lines.append(line)
            uses.append(materials.setdefault(name[0] if name else "", len(materials)))
    use = np.searchsorted(np.array(material_lines), face_lines) - 1  # −1 before the first usemtl
    polygon, step = _spread(sizes - 2)
    corner = (np.cumsum(sizes) - sizes)[polygon]
    return _without_slivers(
        Mesh(
            vertices,
            vertex_index[np.stack([corner, corner + step + 1, corner + step + 2], axis=1)].astype(np.int32),
            np.array([*uses, -1], dtype=np.int32)[use][polygon] if materials else None,
            tuple(materials),
        )
    )


def _read_dae(path: Path, data: bytes) -> Mesh:
    try:
        return _without_slivers(parse_collada(data))
    except ValueError as error:
        _raise_faults(path, [Fault("", f"is not a valid COLLADA file: {error}")])


class _IndexedText(NamedTuple):
    """Text that ends in a newline, with the positions of its words and lines; lines count from 0."""

    text: bytes
    letters: NDArray[np.uint8]
    blank: NDArray[np.bool_]  # whether each byte is whitespace for bytes.split
    words: Positions  # position of each word, and the end of the text
    lines: Positions  # position of each line, and the end of the text
    first: Positions  # index of the first word of each line, and the number of words
    filled: Positions  # lines that are not blank
    head: Positions  # positions of the first words of the lines that are not blank

    def line(self, number: int) -> str:
        return self.text[self.lines[number] : self.lines[number + 1]].decode(errors="replace").strip()

    def word(self, number: int) -> str:
        return self.text[self.words[number] : self.words[number + 1]].decode(errors="replace").strip()


def _index(text: bytes) -> _IndexedText:
    letters = np.frombuffer(text, np.uint8)
    blank = (letters == ord(" ")) | (letters - np.uint8(9) < 5)  # 9 to 13 are the tab and the line ends
    starts = ~blank
    starts[1:] &= blank[:-1]
    words = np.append(np.flatnonzero(starts), len(text))
    lines = np.append(0, np.flatnonzero(letters == ord("\n")) + 1)
    first = np.searchsorted(words, lines)
    filled = np.flatnonzero(np.diff(first))
    return _IndexedText(text, letters, blank, words, lines, first, filled, words[first[filled]])


def _plain_lines(data: bytes) -> bytes:
    """Return OBJ text without comments and with continued `v` and `f` lines joined; line numbers do not change."""

    def drop(match: re.Match[bytes]) -> bytes:
        starts_word = match.start() == 0 or data[match.start() - 1 : match.start()].isspace()
        return b"" if starts_word else match[0]

    def join(match: re.Match[bytes]) -> bytes:
        return re.sub(rb"\\\r?\n", b" ", match[0]) + b"\n" * match[0].count(b"\n")

    if b"\\\n" in data or b"\\\r\n" in data:
        data = re.sub(rb"(?m)^[ \t]*[vf]\s(?:[^\n]*\\\r?\n)+[^\n]*", join, data)
    return re.sub(rb"#[^\n]*", drop, data) + b"\n"


def _leading_integers(text: _IndexedText, at: Positions) -> tuple[Positions, NDArray[np.bool_]]:
    """Return the integers that start at these positions and end at a slash or whitespace, and which are valid."""
    letters = text.letters
    negative = letters[at] == ord("-")
    start = at + negative
    at, value = start, np.zeros_like(start)
    for _ in range(10):
        digit = letters[at] - np.uint8(ord("0"))  # other characters wrap around to more than 9
        value = np.where(digit <= 9, 10 * value + digit, value)
        at = at + (digit <= 9)
    is_number = (at > start) & ((letters[at] == ord("/")) | text.blank[at])
    return np.where(negative, -value, value), is_number


def _spread(sizes: Positions) -> tuple[Positions, Positions]:
    """Return for each member of groups of these sizes the index of its group and its index in the group."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]


def _vertices(text: _IndexedText, lines: Positions, faults: list[Fault]) -> Floats:
    """Return the three numbers after the first word of each line. OBJ allows a weight or a colour after them."""
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


def _raise_any(path: Path, faults: list[Fault]) -> None:
    if faults:
        _raise_faults(path, faults)


def _raise_faults(path: Path, faults: list[Fault]) -> NoReturn:
    shown = sorted(faults, key=lambda fault: fault.line or 0)[:MAX_FAULTS]
    if len(faults) > MAX_FAULTS:
        shown.append(Fault("", f"and {len(faults) - MAX_FAULTS} more faults"))
    raise FileError(str(path), shown) from None


def _without_slivers(mesh: Mesh) -> Mesh:
    """Return the mesh without faces that use a vertex twice; these have no area and break the closed-mesh check."""
    a, b, c = mesh.faces.T
    keep = (a != b) & (b != c) & (c != a)
    materials = None if mesh.face_materials is None else mesh.face_materials[keep]
    return replace(mesh, faces=mesh.faces[keep], face_materials=materials)


# ------------------------------------------------------------------------------------------------ writing


def write_stl(path: Path, mesh: Mesh) -> None:
    """Write a binary STL file; the same mesh always gives the same bytes."""
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
