"""A sensor of another package is shown on the page by the displays of its settings, without a change of the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PACKAGE = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Literal
import numpy as np
from numpy.typing import NDArray
from skerry.core.units import unit
from skerry.parts.display import Alarm, Image, Meter, Scalars, SonarFan
from skerry.parts.sensor import SensorConfig, SimpleSensor

@dataclass(frozen=True, eq=False)
class ProbeReading:
    time: float = unit("s")
    turbidity: float = unit("NTU")
    picture: NDArray[np.uint8] = unit("")
    echoes: NDArray[np.uint8] = unit("")
    angles: NDArray[np.float64] = unit("rad")
    bin_size: float = unit("cm")

class ProbeSensor(SimpleSensor[ProbeReading]):
    def measure_one(self, sample, noise):
        picture, echoes = np.full((6, 8, 3), 90, np.uint8), np.full((3, 5), 7, np.uint8)
        return ProbeReading(sample.time, 4.5, picture, echoes, np.array([0.5, 0.0, -0.5]), 20.0)

class Probe(SensorConfig):
    display = (
        Scalars(("turbidity",)),
        Image("picture"),
        SonarFan("echoes", "angles", "bin_size"),
        Meter("turbidity", maximum=10),
        Alarm("turbidity", on="Murky!", off="Clear"),
    )
    kind: Literal["probe"] = "probe"
    def build(self):
        return ProbeSensor()
"""
USE = """
import json, struct, time
import numpy as np
import simplejpeg
import skerry
from skerry.runner import Runner
from skerry.ui.assets import Assets
from skerry.ui.page import STATE_PERIOD, Page
from skerry.ui.scene import describe
from skerry.ui.server import PageServer
from skerry.ui.settings import PageSettings

part = {"kind": "probe", "link": "base_link", "frequency": 10}
page = Page(PageServer(PageSettings(port=0)))
overrides = {"robots": {"sam": {"overrides": {"sensors": {"probe": part}}}}}
with skerry.load("sam_empty", overrides=overrides) as world, Runner(world, None, {"page": page}) as runner:
    page.attach_runner(runner)
    runner.run(0.0)
    page.set_subscriptions({"image/sam/probe": 30, "sonar/sam/probe": 30, "scalars/sam": 30}, has_clients=True)
    runner.run(0.3)
    time.sleep(2 * STATE_PERIOD)  # so that the next sample has a state
    runner.run(0.3)
    update = page.take_update()
    encoded = {name: page.streams[name].encode(sample).data for name, (_, sample) in update.samples.items()}
    fields = page.streams["scalars/sam"].details
    number = fields["fields"].index("probe.turbidity")
    scene = describe(world, list(page.streams.values()), page.frames.names, Assets())
    sensor = next(each for each in scene["robots"][0]["sensors"] if each["name"] == "probe")
    fan = next(each for each in scene["streams"] if each["name"] == "sonar/sam/probe")
    print(json.dumps({
        "picture": simplejpeg.decode_jpeg(encoded["image/sam/probe"]).shape,
        "fan": struct.unpack_from("<HH4f", encoded["sonar/sam/probe"]),
        "fan_unit": fan["display"]["units"]["bin_size"],
        "value": float(np.frombuffer(encoded["scalars/sam"], "<f4")[number]),
        "unit": fields["units"][number],
        "indicators": update.state["robots"]["sam"]["indicators"]["probe.turbidity"],
        "displays": [each["kind"] for each in sensor["display"]],
        "events": [event["text"] for event in update.events if event["kind"] == "alarm"],
    }))
    page.close()
"""


def test_a_sensor_of_a_plug_in_has_its_panels(tmp_path: Path) -> None:
    (tmp_path / "my_probe.py").write_text(PACKAGE)
    info = tmp_path / "my_probe-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-probe\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[skerry.sensors]\nprobe = my_probe:Probe\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE}"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "picture": [6, 8, 3],
        "fan": [3, 5, 0.5, -0.5, 0.0, 100.0],
        "fan_unit": "cm",
        "value": 4.5,
        "unit": "NTU",
        "indicators": 4.5,
        "displays": ["scalars", "image", "sonar_fan", "meter", "alarm"],
        "events": ["sam: Murky!"],
    }
