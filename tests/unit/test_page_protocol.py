"""Binary messages and assets of the page as literal bytes, and their sizes."""

import struct
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.meshes import box
from skerry.ui import protocol
from skerry.ui.assets import Assets
from skerry.ui.protocol import Kind, Payload, SonarLine

DOCS = Path(__file__).parents[2] / "docs" / "page_protocol.md"


def test_a_message_is_a_header_of_16_bytes_and_its_payload() -> None:
    data = protocol.message(Payload(Kind.IMAGE, b"\xff\xd8", 0), 0x0102, 7, 1.5)
    assert data == bytes.fromhex("03 00 0201 07000000 000000000000f83f ffd8")
    assert protocol.decode(data) == (Kind.IMAGE, 0, 0x0102, 7, 1.5, b"\xff\xd8")


def test_numbers_of_messages_wrap_round() -> None:
    assert protocol.decode(protocol.message(Payload(Kind.POSE, b""), 0, 2**32 + 3, 0.0))[3] == 3


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (protocol.poses([[1, 2, 3, 0, 0, 0, 1]]), struct.pack("<7f", 1, 2, 3, 0, 0, 0, 1)),
        (protocol.scalars([1.5, float("nan")]), struct.pack("<2f", 1.5, float("nan"))),
        (protocol.segments(np.ones((1, 2, 3))), struct.pack("<I6f", 1, *[1.0] * 6)),
        (
            protocol.segments(np.ones((1, 2, 3)), np.array([[1, 2, 3, 4]], np.uint8)),
            struct.pack("<I6f4B", 1, *[1.0] * 6, 1, 2, 3, 4),
        ),
        (protocol.particles([[1, 2, 3]], [0.25]), struct.pack("<I4f", 1, 1, 2, 3, 0.25)),
        (
            protocol.sonar_lines([SonarLine(0.0, 50.0, np.array(row, np.uint8)) for row in ([1, 2, 3], [4, 5, 6])]),
            struct.pack("<HHf6B", 2, 3, 50.0, 1, 2, 3, 4, 5, 6),
        ),
        (
            protocol.sonar_fan(np.array([[1, 2, 3], [4, 5, 6]], np.uint8), (0.5, -0.5), (0.0, 20.0)),
            struct.pack("<HH4f6B", 2, 3, 0.5, -0.5, 0.0, 20.0, 1, 2, 3, 4, 5, 6),
        ),
        (protocol.transforms([(1, 2, [1, 2, 3, 0, 0, 0, 1])]), struct.pack("<HH7f", 1, 2, 1, 2, 3, 0, 0, 0, 1)),
    ],
)
def test_payloads_are_these_bytes(payload: Payload, expected: bytes) -> None:
    assert payload.data == expected
    assert payload.flags == (payload.kind is Kind.SEGMENTS and len(expected) > 28)


@given(st.lists(st.tuples(*[st.floats(-5000, 5000, width=32)] * 3), max_size=50))
def test_a_cloud_comes_back_within_its_scale(points: list[tuple[float, float, float]]) -> None:
    given_points = np.array(points, np.float32).reshape(-1, 3)
    payload = protocol.cloud(given_points, np.full(len(points), 9, np.uint8))
    scale, count, *origin = struct.unpack_from("<fI3f", payload.data)
    assert count == len(points)
    assert len(payload.data) == 20 + 7 * count
    found = np.frombuffer(payload.data, "<i2", 3 * count, 20).reshape(-1, 3) * scale + origin
    # half a step of rounding, and the single precision of the origin
    assert found == pytest.approx(given_points, abs=0.5 * scale + 2e-3)
    assert payload.flags == protocol.EXTRA


def test_empty_payloads_can_be_sent() -> None:
    assert protocol.cloud(np.zeros((0, 3))).data[4:8] == bytes(4)
    assert protocol.segments([], np.zeros((0, 4), np.uint8)).data == bytes(4)
    assert protocol.particles([], []).data == bytes(4)
    assert protocol.transforms([]).data == b""


def test_the_messages_of_the_benchmark_have_their_expected_sizes() -> None:
    assert len(protocol.message(protocol.poses(np.zeros((200, 7))), 0, 0, 0.0)) == 5616
    assert len(protocol.message(protocol.cloud(np.zeros((50_000, 3))), 0, 0, 0.0)) == 300_036


def test_the_documentation_has_the_layout_of_every_kind() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for kind, layout in protocol.LAYOUTS.items():
        assert f"| {kind.value} {kind.name} | {layout} |" in text


def test_a_mesh_is_counts_vertices_colours_and_triangles() -> None:
    assets = Assets()
    mesh = box([1, 2, 3])
    path = assets.add_mesh(mesh)
    data = assets.get(path.removeprefix("/assets/"))
    assert data is not None
    assert path == f"/assets/{sha256(data).hexdigest()}.mesh"
    vertices, triangles = struct.unpack_from("<II", data)
    assert (vertices, triangles) == (len(mesh.vertices), len(mesh.faces))
    places = np.frombuffer(data, "<f4", 3 * vertices, 8).reshape(-1, 3)
    assert places == pytest.approx(mesh.vertices)
    assert set(data[8 + 12 * vertices : 8 + 16 * vertices]) == {255}
    assert (np.frombuffer(data, "<u4", 3 * triangles, 8 + 16 * vertices).reshape(-1, 3) == mesh.faces).all()
    assert assets.add_mesh(mesh) == path
    assert assets.get("nothing") is None
