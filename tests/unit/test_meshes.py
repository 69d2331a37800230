"""Meshes: reading of files, error messages, and solids compared with closed formulas."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from skerry.core.errors import FileError, SkerryError
from skerry.core.meshes import (
    Mesh,
    box,
    capsule,
    centroid,
    closed_volume,
    concatenate,
    contains,
    cylinder,
    flip,
    is_closed,
    is_inside_out,
    merge_vertices,
    open_edges,
    solid_inertia,
    sphere,
    transform,
    volume,
)
from skerry.formats.mesh_files import MAX_FAULTS, read_mesh, write_stl

TETRAHEDRON = """
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""

ASCII = """solid made by hand
  facet normal 0 0 -1
    outer loop
      vertex 0 0 0
      vertex 0 1 0
      vertex 1 0 0
    endloop
  endfacet
  facet normal 0 0 1
    outer loop
      vertex 0 0 0
      vertex 1 0 0
      vertex -0.0 1e0 0
    endloop
  endfacet
endsolid made by hand
"""


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_mesh(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def rotation(vector: tuple[float, float, float]) -> NDArray[np.float64]:
    """Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle == 0:
        return np.eye(3)
    x, y, z = np.array(vector) / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned: NDArray[np.float64] = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return turned


def corners(mesh: Mesh) -> NDArray[np.float64]:
    return mesh.vertices[mesh.faces]


# ------------------------------------------------------------------------------------------------ STL


def test_binary_stl_comes_back_as_it_was_written_and_merged(tmp_path: Path) -> None:
    cube = box((1.0, 2.0, 3.0))
    path = tmp_path / "cube.STL"
    write_stl(path, cube)
    back = read_mesh(path)
    assert len(back.vertices) == 8
    assert back.vertices.dtype == np.float64
    assert back.faces.dtype == np.int32
    assert np.array_equal(corners(back), corners(cube))
    assert is_closed(back)


def test_writing_the_same_mesh_gives_the_same_bytes_with_unit_normals(tmp_path: Path) -> None:
    write_stl(tmp_path / "a.stl", sphere(2.0))
    write_stl(tmp_path / "b.stl", sphere(2.0))
    data = (tmp_path / "a.stl").read_bytes()
    assert data == (tmp_path / "b.stl").read_bytes()
    assert not data.startswith(b"solid")
    nx, ny, nz, x, y, z = struct.unpack("<6f", data[84:108])
    assert np.hypot(np.hypot(nx, ny), nz) == pytest.approx(1, abs=1e-6)
    assert nx * x + ny * y + nz * z > 0


def test_a_face_without_area_is_written_with_no_normal(tmp_path: Path) -> None:
    write_stl(tmp_path / "line.stl", Mesh(np.diag([1.0, 0.0, 0.0]), np.array([[0, 1, 2]], dtype=np.int32)))
    assert struct.unpack("<3f", (tmp_path / "line.stl").read_bytes()[84:96]) == (0, 0, 0)


def test_writing_into_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot be written: No such file"):
        write_stl(tmp_path / "none" / "a.stl", box((1, 1, 1)))


def test_ascii_stl_is_read_and_equal_vertices_become_one(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, "a.stl", ASCII))
    assert mesh.vertices.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 1]]


def test_ascii_stl_in_capitals_and_with_windows_line_ends_is_read(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, "a.stl", ASCII.upper().replace("\n", "\r\n")))
    assert len(mesh.faces) == 2


def test_a_binary_stl_whose_header_starts_with_solid_is_still_binary(tmp_path: Path) -> None:
    write_stl(tmp_path / "a.stl", box((1, 1, 1)))
    data = (tmp_path / "a.stl").read_bytes()
    assert len(read_mesh(written(tmp_path, "b.stl", b"solid facet".ljust(80) + data[80:])).faces) == 12


def test_a_sliver_that_uses_a_vertex_twice_is_dropped(tmp_path: Path) -> None:
    sliver = "facet\nvertex 0 0 0\nvertex 0 0 0\nvertex 1 0 0\nendfacet\n"
    mesh = read_mesh(written(tmp_path, "a.stl", ASCII.replace("endsolid", sliver + "endsolid")))
    assert len(mesh.faces) == 2


def test_a_truncated_binary_stl_is_refused_with_both_lengths(tmp_path: Path) -> None:
    write_stl(tmp_path / "a.stl", box((1, 1, 1)))
    data = (tmp_path / "a.stl").read_bytes()
    message = refusal(written(tmp_path, "b.stl", data[:-7]))
    assert "is truncated or not an STL file: 12 triangles need 684 bytes, the file has 677" in message
    assert "the file has 685" in refusal(written(tmp_path, "b.stl", data + b"\n"))
    assert "is too short for an STL file: it has 40 bytes" in refusal(written(tmp_path, "c.stl", data[:40]))


def test_a_binary_stl_with_a_vertex_that_is_not_finite_names_the_triangle(tmp_path: Path) -> None:
    path = tmp_path / "a.stl"
    mesh = box((1, 1, 1))
    mesh.vertices[mesh.faces[5, 0]] = np.nan
    write_stl(path, mesh)
    message = refusal(path)
    assert f"{(mesh.faces == mesh.faces[5, 0]).sum()} faults" in message
    assert "triangle 6: a vertex is not finite (found [nan, nan, nan])" in message


def test_an_ascii_stl_that_ends_inside_a_facet_names_the_line_of_that_facet(tmp_path: Path) -> None:
    text = "\n".join(ASCII.split("\n")[:12])
    assert "line 9: facet: has no endfacet; the file is truncated" in refusal(written(tmp_path, "a.stl", text))


def test_an_ascii_stl_with_a_facet_of_two_vertices_names_the_line(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, "a.stl", ASCII.replace("      vertex 0 1 0\n", "")))
    assert "line 7: facet: facet, three vertices and endfacet must follow each other" in message
    assert "'endfacet'" in message


@pytest.mark.parametrize("bad", ["vertex 0 1", "vertex 0 one 0", "vertex 0 nan 0"])
def test_an_ascii_stl_with_a_bad_vertex_names_the_line_and_shows_it(tmp_path: Path, bad: str) -> None:
    message = refusal(written(tmp_path, "a.stl", ASCII.replace("vertex 0 1 0", bad)))
    assert f"line 5: vertex: must be three finite numbers (found '{bad}')" in message


# ------------------------------------------------------------------------------------------------ OBJ


def test_an_obj_is_read_and_what_is_not_a_vertex_or_face_is_ignored(tmp_path: Path) -> None:
    text = "# c\no thing\nmtllib x.mtl\nvn 0 0 1\nvt 0 0\ns off\n" + TETRAHEDRON
    mesh = read_mesh(written(tmp_path, "a.obj", text))
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert mesh.faces.tolist() == [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    assert mesh.face_materials is None
    assert mesh.materials == ()
    assert volume(mesh) == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "face",
    [
        "f 1 2 3",
        "f 1/7 2/8 3/9",
        "f 1/7/4 2/8/4 3/9/4",
        "f 1//4 2//5 3//6",
        "f -4 -3 -2",
        "  f\t1\t2 3  # the base",
        "f 1 \\\n2 \\\r\n 3",
    ],
)
def test_every_way_to_write_a_face_gives_the_same_triangle(tmp_path: Path, face: str) -> None:
    vertices = "v 0 0 0 0.5 0.5 0.5\nv 1 0 0 1\n  v 0 1 0 # here\nv 0 0 1\n"
    mesh = read_mesh(written(tmp_path, "a.obj", f"{vertices}{face}\nf 1 2 4"))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 1, 3]]
    assert mesh.vertices[1].tolist() == [1, 0, 0]


def test_a_negative_index_counts_back_from_its_own_line(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf -3 -2 -1\n"
    assert read_mesh(written(tmp_path, "a.obj", text)).faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_polygons_become_fans_in_the_order_of_the_file(tmp_path: Path) -> None:
    vertices = "".join(f"v {np.cos(a)} {np.sin(a)} 0\n" for a in np.arange(5) * 2 * np.pi / 5)
    mesh = read_mesh(written(tmp_path, "a.obj", vertices + "f 1 2 3\nf 1 2 3 4 5\nf 2 3 4 5\n"))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 3, 4], [1, 2, 3], [1, 3, 4]]


def test_usemtl_gives_each_triangle_its_material(tmp_path: Path) -> None:
    text = (
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nusemtl wet sand\nf 1 2 3 4\n"
        "usemtl rock#2\nf 1 2 3\nusemtl wet sand\nf 2 3 4\n"
    )
    mesh = read_mesh(written(tmp_path, "a.obj", text))
    assert mesh.materials == ("wet sand", "rock#2")
    assert mesh.face_materials is not None
    assert mesh.face_materials.tolist() == [-1, 0, 0, 1, 0]


def test_all_faults_of_an_obj_are_reported_together_with_their_lines(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, "a.obj", "v 0 0 0\nv 1 x 0\nv 0 1\nv inf 0 0\nf 1 2 3\nf 1 2\n"))
    assert "4 faults" in message
    assert "line 2: vertex: must be three finite numbers (found 'v 1 x 0')" in message
    assert "line 3: vertex: must be three finite numbers (found 'v 0 1')" in message
    assert "line 4: vertex: must be three finite numbers (found 'v inf 0 0')" in message
    assert "line 6: face: must have at least three vertices (found 'f 1 2')" in message


def test_face_indices_out_of_range_are_named_as_they_were_written(tmp_path: Path) -> None:
    faces = "f 1 2 9/1\nf 0 1 2\nf -5 1 2\nf 1 b/2 -\nv 5 5 5\n"
    message = refusal(written(tmp_path, "a.obj", TETRAHEDRON + faces))
    assert "5 faults" in message
    assert "line 10: face: there is no such vertex; the file has 5 (found '9/1')" in message
    assert "line 11: face: there is no such vertex; the file has 5 (found '0')" in message
    assert "line 12: face: there is no such vertex; the file has 5 (found '-5')" in message
    assert "line 13: face: is not a vertex number (found 'b/2')" in message
    assert "line 13: face: is not a vertex number (found '-')" in message


def test_a_blank_that_is_not_ascii_does_not_separate_words(tmp_path: Path) -> None:
    assert "line 2: vertex: must be three" in refusal(written(tmp_path, "a.obj", "v 0 0 0\nv 1 2\xa03\n"))
    assert "line 3: face: is not a vertex number" in refusal(
        written(tmp_path, "b.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 1\x01 2\n")
    )


def test_line_numbers_hold_after_a_continued_line(tmp_path: Path) -> None:
    assert "line 12:" in refusal(written(tmp_path, "a.obj", TETRAHEDRON + "f 1 \\\n2 3\nf 1 2 9\n"))


def test_a_file_that_is_wrong_throughout_shows_only_the_first_faults(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, "a.obj", "v x\n" * 100))
    assert message.count("three finite numbers") == MAX_FAULTS
    assert "and 80 more faults" in message


@pytest.mark.parametrize("name", ["a.obj", "b.stl"])
def test_a_file_without_faces_is_refused(tmp_path: Path, name: str) -> None:
    content = b"v 0 0 0\n" if name == "a.obj" else b"\0" * 84
    assert "has no faces" in refusal(written(tmp_path, name, content))


def test_an_empty_obj_is_refused(tmp_path: Path) -> None:
    assert "has no faces" in refusal(written(tmp_path, "a.obj", ""))


@pytest.mark.parametrize("name", ["hull.ply", "hull.gltf", "hull"])
def test_other_formats_are_refused_with_the_formats_that_are_read(tmp_path: Path, name: str) -> None:
    message = refusal(written(tmp_path, name, "x"))
    assert "STL, OBJ and COLLADA" in message
    assert "convert it" in message


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none.stl")
    (tmp_path / "folder.obj").mkdir()
    assert "cannot be read" in refusal(tmp_path / "folder.obj")


# ------------------------------------------------------------------------------------------------ solids

PRIMITIVES = [
    box((1.0, 2.0, 3.0)),
    sphere(1.5),
    sphere(0.2, segments=5),
    cylinder(0.5, 2.0),
    capsule(0.5, 2.0),
    capsule(0.3, 1.0, segments=6),
]


@pytest.mark.parametrize("mesh", PRIMITIVES)
def test_primitives_are_closed_and_look_outwards(mesh: Mesh) -> None:
    assert open_edges(mesh) == 0
    assert is_closed(mesh)
    assert not is_inside_out(mesh)
    normals = np.cross(corners(mesh)[:, 1] - corners(mesh)[:, 0], corners(mesh)[:, 2] - corners(mesh)[:, 0])
    assert (np.einsum("fi,fi->f", normals, corners(mesh).mean(axis=1)) > 0).all()
    assert centroid(mesh) == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_box_has_the_volume_and_inertia_of_the_closed_form() -> None:
    """I = m (b² + c²)/12 about each axis of a box."""
    mass, centre, inertia = solid_inertia(transform(box((1.0, 2.0, 3.0)), (100, -50, 7)), 1000.0)
    assert mass == pytest.approx(6000)
    assert centre == pytest.approx([100, -50, 7])
    assert inertia == pytest.approx(np.diag([6000 * 13 / 12, 6000 * 10 / 12, 6000 * 5 / 12]), abs=1e-8)


def test_a_cylinder_has_the_volume_and_inertia_of_its_prism() -> None:
    """A regular n-gon has the area n/2 R² sin(2π/n) and the polar moment A R² (2 + cos(2π/n))/6."""
    r, h, n = 0.5, 2.0, 12
    mass, _, inertia = solid_inertia(cylinder(r, h, segments=n), 1025.0)
    area = n / 2 * r**2 * np.sin(2 * np.pi / n)
    along = mass * r**2 * (2 + np.cos(2 * np.pi / n)) / 6
    across = along / 2 + mass * h**2 / 12
    assert mass == pytest.approx(1025 * area * h)
    assert inertia == pytest.approx(np.diag([across, across, along]), abs=1e-9)


def test_a_tetrahedron_whose_centre_is_not_amid_its_corners_has_the_closed_form() -> None:
    """Over the unit tetrahedron ∫x² = 1/60 and ∫xy = 1/120; its centre is at 1/4 and its volume 1/6."""
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    mesh = Mesh(vertices, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32))
    mass, centre, inertia = solid_inertia(mesh, 1.0)
    assert mass == pytest.approx(1 / 6)
    assert centre == pytest.approx([0.25, 0.25, 0.25])
    assert np.diag(inertia) == pytest.approx(2 / 60 - 2 / 6 / 16)
    assert inertia[[0, 0, 1], [1, 2, 2]] == pytest.approx(1 / 6 / 16 - 1 / 120)


def test_a_sphere_nears_its_closed_form_with_the_square_of_the_segments() -> None:
    """V = 4/3 π r³ and I = 2/5 m r²."""
    errors = []
    for segments in (16, 32, 64):
        mesh = sphere(2.0, segments)
        mass, _, inertia = solid_inertia(mesh, 3.0)
        exact = 3 * 4 / 3 * np.pi * 8
        errors.append(1 - mass / exact)
        assert np.diag(inertia) == pytest.approx(0.4 * exact * 4, rel=3 * errors[-1])
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.05)


def test_a_capsule_is_a_cylinder_and_a_sphere() -> None:
    """V = π r² l + 4/3 π r³, and the ends stand at l/2 + r."""
    mesh = capsule(0.5, 2.0, segments=128)
    assert volume(mesh) == pytest.approx(np.pi * 0.25 * 2 + 4 / 3 * np.pi * 0.125, rel=2e-3)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([1, 1, 3])


def test_an_inside_out_mesh_has_a_positive_volume_and_is_flagged() -> None:
    mesh = transform(box((1.0, 2.0, 3.0)), (5, 5, 5))
    turned = flip(mesh)
    assert is_closed(turned)
    assert is_inside_out(turned)
    assert volume(turned) == pytest.approx(6)
    mass, centre, inertia = solid_inertia(turned, 10.0)
    assert mass == pytest.approx(60)
    assert centre == pytest.approx([5, 5, 5])
    assert inertia == pytest.approx(solid_inertia(mesh, 10.0).inertia)


def test_an_open_mesh_says_how_open_it_is_and_what_to_do() -> None:
    cube = box((1, 1, 1))
    torn = Mesh(cube.vertices, cube.faces[1:])
    assert open_edges(torn) == 3
    assert not is_closed(torn)
    with pytest.raises(SkerryError, match=r"mesh 'hull' is open: 3 of its edges .* fill holes"):
        closed_volume(torn, "hull")
    with pytest.raises(SkerryError, match="'keel' is open"):
        solid_inertia(torn, 1.0, "keel")


def test_a_face_turned_the_wrong_way_opens_its_three_edges() -> None:
    cube = box((1, 1, 1))
    faces = cube.faces.copy()
    faces[4] = faces[4, ::-1]
    assert open_edges(Mesh(cube.vertices, faces)) == 3


def test_an_edge_with_four_faces_is_not_that_of_a_closed_mesh() -> None:
    pair = concatenate([box((1, 1, 1)), transform(box((1, 1, 1)), (1, 1, 0))])
    assert is_closed(pair)
    assert open_edges(merge_vertices(pair)) == 1


def test_a_closed_mesh_without_thickness_has_no_volume() -> None:
    flat = box((1, 1, 0))
    with pytest.raises(SkerryError, match="'plate' is closed but flat"):
        closed_volume(flat, "plate")


def test_closed_volume_gives_the_volume() -> None:
    assert closed_volume(box((1, 2, 3)), "cube") == pytest.approx(6)


# ------------------------------------------------------------------------------------------------ changes

vectors = st.tuples(*[st.floats(-10, 10)] * 3)
scales = st.tuples(*[st.floats(0.1, 10) | st.floats(-10, -0.1)] * 3)
A_FEW = settings(max_examples=25)
"""Identities of smooth functions need few examples each."""


@A_FEW
@given(vectors, vectors, scales)
def test_transformed_solids_keep_their_outside_and_scale_their_volume(
    position: tuple[float, float, float], turn: tuple[float, float, float], scale: tuple[float, float, float]
) -> None:
    cube = transform(box((1, 2, 3)), (0.5, 0, 0))
    mesh = transform(cube, position, rotation(turn), scale)
    assert is_closed(mesh)
    assert not is_inside_out(mesh)
    assert volume(mesh) == pytest.approx(6 * abs(np.prod(scale)))
    expected = rotation(turn) @ (np.array([0.5, 0, 0]) * scale) + position
    assert centroid(mesh) == pytest.approx(expected, abs=1e-9)


@A_FEW
@given(vectors, vectors)
def test_inertia_turns_with_the_mesh_and_does_not_depend_on_its_position(
    position: tuple[float, float, float], turn: tuple[float, float, float]
) -> None:
    cube = box((1, 2, 3))
    matrix = rotation(turn)
    inertia = solid_inertia(transform(cube, position, matrix), 2.0).inertia
    assert inertia == pytest.approx(matrix @ solid_inertia(cube, 2.0).inertia @ matrix.T, abs=1e-9)


def test_transform_scales_along_the_meshs_own_axes_before_it_turns() -> None:
    quarter = rotation((0, 0, np.pi / 2))
    mesh = transform(box((1, 1, 1)), rotation=quarter, scale=(4, 2, 1))
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([2, 4, 1])


def test_concatenate_joins_the_faces_and_the_materials_by_name() -> None:
    one = np.zeros(12, dtype=np.int32)
    steel, plain, both = box((1, 1, 1)), box((2, 1, 1)), box((3, 1, 1))
    steel = Mesh(steel.vertices, steel.faces, one, ("steel",))
    both = Mesh(
        both.vertices,
        both.faces,
        np.where(np.arange(12) < 6, np.arange(12) % 2, -1).astype(np.int32),
        ("foam", "steel"),
    )
    mesh = concatenate([steel, plain, both])
    assert volume(mesh) == pytest.approx(6)
    assert mesh.faces.dtype == np.int32
    assert mesh.materials == ("steel", "foam")
    assert mesh.face_materials is not None
    assert mesh.face_materials.tolist() == [0] * 12 + [-1] * 12 + [1, 0] * 3 + [-1] * 6
    assert concatenate([plain, plain]).face_materials is None


def test_merging_keeps_the_order_in_which_vertices_first_come() -> None:
    vertices = np.array([[3.0, 0, 0], [1, 0, 0], [3, 0, 0], [2, 0, 0], [-0.0, 0, 0], [0, 0, 0]])
    mesh = merge_vertices(Mesh(vertices, np.array([[0, 1, 2], [3, 4, 5]], dtype=np.int32)))
    assert mesh.vertices[:, 0].tolist() == [3, 1, 2, 0]
    assert mesh.faces.tolist() == [[0, 1, 0], [2, 3, 3]]
    assert mesh.faces.dtype == np.int32


def test_points_inside_a_closed_mesh_are_distinguished_from_points_outside() -> None:
    points = np.array([[0.0, 0.0, 0.0], [0.4, -0.9, 1.4], [0.6, 0.0, 0.0], [0.0, 0.0, -1.6], [5.0, 5.0, 5.0]])
    cube = box((1.0, 2.0, 3.0))
    assert contains(cube, points).tolist() == [True, True, False, False, False]
    assert contains(flip(cube), points).tolist() == [True, True, False, False, False]


# ------------------------------------------------------------------------------------------------ COLLADA

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimetre" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="block"><mesh>
    <source id="places"><float_array id="numbers" count="24">
      -1 -2 -3  1 -2 -3  1 2 -3  -1 2 -3  -1 -2 3  1 -2 3  1 2 3  -1 2 3</float_array>
      <technique_common><accessor source="#numbers" count="8" stride="3"/></technique_common></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    <polylist count="5"><input semantic="VERTEX" source="#corners" offset="0"/>
      <input semantic="NORMAL" source="#n" offset="1"/>
      <vcount>4 4 4 4 4</vcount>
      <p>0 0 3 0 2 0 1 0  4 0 5 0 6 0 7 0  0 0 1 0 5 0 4 0  2 0 3 0 7 0 6 0  1 0 2 0 6 0 5 0</p></polylist>
    <triangles count="2"><input semantic="VERTEX" source="#corners" offset="0"/><p>0 4 7 0 7 3</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene">
    <node><translate>100 0 0</translate><rotate>0 0 1 90</rotate>
      <node><scale>10 1 1</scale><instance_geometry url="#block"/></node></node>
  </visual_scene></library_visual_scenes>
</COLLADA>
"""


def test_a_collada_scene_is_read_with_its_transforms_and_in_metres(tmp_path: Path) -> None:
    """A block of 2 × 4 × 6 mm, ten times as long along x, then turned by 90° about z, then 100 mm to the right."""
    (tmp_path / "block.dae").write_text(DAE)
    mesh = read_mesh(tmp_path / "block.dae")
    assert is_closed(mesh) and not is_inside_out(mesh)
    assert volume(mesh) == pytest.approx(0.020 * 0.004 * 0.006)
    assert mesh.vertices.min(axis=0) == pytest.approx([0.098, -0.010, -0.003])
    assert mesh.vertices.max(axis=0) == pytest.approx([0.102, 0.010, 0.003])


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("#block", "#blok", "refers to '#blok'"),
        ("<vcount>4 4 4 4 4</vcount>", "<vcount>4 4 4 4 5</vcount>", "vertices that do not exist"),
        ("<p>0 4 7 0 7 3</p>", "<p>0 4 7 0 7 8</p>", "vertices that do not exist"),
        ("</COLLADA>", "", "not well-formed"),
        ("-1 -2 -3 ", "-1 -2 x ", "valid COLLADA"),
    ],
)
def test_a_collada_file_that_is_not_sound_is_refused(before: str, after: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.dae").write_text(DAE.replace(before, after, 1))
    with pytest.raises(FileError, match=words):
        read_mesh(tmp_path / "bad.dae")
