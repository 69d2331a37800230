"""JavaScript of the page without drawing: decoder, waves, camera, ground. Needs Node."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

import skerry
from skerry.ui import protocol
from skerry.ui.protocol import Payload, SonarLine
from skerry.water import WaterConfig

HERE = Path(__file__).parent / "page"
STATIC = Path(skerry.__file__).parent / "ui/static"
NODE = shutil.which("node")
GRAVITY = 9.81

POINTS = np.array([[0.0, 0, 0], [65, 0, -2], [1.5, 0.25, 3]])
LINES = [[[0, 0, 0], [1, 2, 3]], [[4, 5, 6], [7, 8, 9]]]
SHADES = np.array([[255, 0, 0, 255], [0, 255, 0, 128]], np.uint8)
# in the order of protocol_golden.json
MESSAGES: list[Payload] = [
    protocol.poses([[1, 2, 3, 0, 0, 0, 1], [-0.5, 0, 4, 0, 0, 1, 0]]),
    protocol.cloud(POINTS, np.array([1, 2, 255], np.uint8)),
    protocol.cloud(np.zeros((0, 3))),
    protocol.image(b"\xff\xd8\xff\xd9"),
    protocol.sonar_lines([SonarLine(0.0, 50.0, np.array(row, np.uint8)) for row in ([1, 2, 3, 4], [5, 6, 7, 8])]),
    protocol.sonar_fan(np.arange(6, dtype=np.uint8).reshape(2, 3), (0.5, -0.5), (0.0, 20.0)),
    protocol.segments(LINES, SHADES),
    protocol.segments(LINES[:1]),
    protocol.particles([[1, 2, 3], [4, 5, 6]], [0.25, 0.5]),
    protocol.scalars([1.5, -2.0]),
    protocol.transforms([(0, 1, [1, 2, 3, 0, 0, 0, 1]), (1, 2, [0, 0, 0.5, 0, 0, 1, 0])]),
    protocol.particles([[1, 2, 3], [4, 5, 6]], [0.25, 0.5], SHADES),
]


def run_node(*files: str, **environment: str) -> None:
    """Run the test runner of Node on files of `page/`."""
    if NODE is None:
        pytest.skip("Node is not installed; it is needed only to test the page's modules")
    done = subprocess.run(
        [NODE, "--test", *(str(HERE / file) for file in files)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_encoded_messages_are_the_golden_bytes_of_the_page_tests() -> None:
    golden = json.loads((HERE / "protocol_golden.json").read_text())
    for number, (row, payload) in enumerate(zip(golden, MESSAGES, strict=True)):
        assert protocol.message(payload, number, 7, 12.5).hex() == row["hex"], row["name"]


def test_the_page_decodes_what_the_server_encodes() -> None:
    run_node("protocol.test.mjs")


def test_the_page_computes_poses_cameras_ground_and_frames() -> None:
    run_node("scene.test.mjs", "overlays.test.mjs", "store.test.mjs")


def test_the_page_computes_the_same_waves_as_the_physics(tmp_path: Path) -> None:
    surface = {"kind": "waves", "height": 1.2, "period": 5, "heading_deg": 30, "components": 32, "seed": 3}
    water = WaterConfig.model_validate({"optical_type": "3C", "surface": surface}).build(GRAVITY)
    waves = water.waves
    assert waves is not None
    table = np.column_stack([waves.amplitude, waves.wavenumber, waves.frequency, waves.phase])
    random = np.random.default_rng(1)
    places = random.uniform(-300, 300, (40, 2))
    times = random.uniform(0, 3600, 40)
    heights = [
        float(water.sample([*place, 0.0], float(time)).height) for place, time in zip(places, times, strict=True)
    ]
    optics = water.optics
    file = tmp_path / "sea.json"
    file.write_text(
        json.dumps(
            {
                "water": {
                    "level": 0.0,
                    "waves": table.tolist(),
                    "absorption": optics.absorption.tolist(),
                    "scattering": optics.scattering.tolist(),
                },
                "samples": [
                    {"x": x, "y": y, "time": time, "height": height}
                    for (x, y), time, height in zip(places.tolist(), times.tolist(), heights, strict=True)
                ],
                "optics": {
                    "daylight": optics.diffuse_attenuation.tolist(),
                    "returned": (optics.backscatter / (optics.absorption + optics.backscatter)).tolist(),
                },
            }
        )
    )
    run_node("sea.test.mjs", SEA=str(file))


def test_vendored_files_are_those_of_their_packages() -> None:
    vendor = STATIC / "vendor"
    listed = {}
    for package in json.loads((vendor / "VERSIONS.json").read_text()).values():
        listed |= package["sha256"]
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in vendor.iterdir()}
    assert {name: digest for name, digest in found.items() if name not in ("VERSIONS.json", "LICENSES.md")} == listed


def test_the_page_is_small_enough_for_a_slow_link() -> None:
    """All files of the page together are below 0.8 MB, compressed by zlib at its default level, as by servers."""
    loaded = [file for file in STATIC.rglob("*") if file.suffix in (".js", ".css", ".html", ".svg")]
    assert sum(len(zlib.compress(file.read_bytes())) for file in loaded) < 800_000


def test_the_page_loads_nothing_from_other_servers() -> None:
    own = [file for file in STATIC.rglob("*") if file.suffix in (".js", ".css", ".html") and "vendor" not in file.parts]
    assert own
    for file in own:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text, file
