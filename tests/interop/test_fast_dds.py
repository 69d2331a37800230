"""DDS with Fast DDS, the middleware that ROS 2 has unless one chooses another: Debian's library, and a peer in C++.

The peer has default settings: it discovers by multicast, which loopback does not have. ROS 2 itself is not tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.transports.dds.names import type_of
from skerry.runner import Runner

pytest.importorskip("cyclonedds")

PACKAGES = "g++ libfastrtps-dev"
SOURCE = Path(__file__).parent / "fast_dds" / "peer.cpp"
DOMAIN = 20 + (os.getpid() + 100) % 200  # so that runs beside each other do not meet
SCENARIO = {
    "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
    "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
}

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or not Path("/usr/include/fastdds/dds/domain/DomainParticipant.hpp").exists(),
    reason=f"needs Fast DDS of Debian: apt-get install {PACKAGES}",
)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fast_dds") / "peer"
    subprocess.run(["g++", "-std=c++17", str(SOURCE), "-o", str(program), "-lfastrtps", "-lfastcdr"], check=True)
    return program


@pytest.fixture(scope="module")
def ros() -> Iterator[RosInterface]:
    """SAM at real time, with all its topics on DDS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CYCLONEDDS_URI", raising=False)
        interface = Ros(transports={"dds": {"kind": "dds", "domain": DOMAIN}}).build()
        assert isinstance(interface, RosInterface)
        with skerry.load(SCENARIO) as world, Runner(world, 1.0, {"ros": interface}) as runner:
            thread = threading.Thread(target=runner.run, args=(600.0,))
            thread.start()
            yield interface
            runner.stop()
            thread.join()


def type_said(ros: RosInterface, topic: str) -> str:
    """Return the messages of a topic after the run has begun."""
    end = time.monotonic() + 60.0
    while topic not in ros.bus.topics and time.monotonic() < end:
        time.sleep(0.05)
    return ros.bus.topics[topic].type


def start(peer: Path, what: str, topic: str, kind: str, reliability: str, last: str) -> subprocess.Popen[str]:
    """The peer, for a minute at most."""
    arguments = [str(peer), what, f"rt{topic}", type_of(kind), reliability, "60", last]
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize(
    ("topic", "reliability", "count"),
    [
        ("/sam/core/imu", "reliable", 10),
        ("/sam/core/imu", "best_effort", 10),
        ("/clock", "best_effort", 100),
        ("/tf_static", "latched", 1),
        ("/sam/payload/cam_down/image_raw", "reliable", 2),
    ],
)
def test_fast_dds_hears_our_topics_whole(
    peer: Path, ros: RosInterface, topic: str, reliability: str, count: int
) -> None:
    kind = type_said(ros, topic)
    heard = start(peer, "hear", topic, kind, reliability, str(count))
    messages = [ros.bus.codec.from_cdr(bytes.fromhex(line), kind) for line in heard.communicate(timeout=90)[0].split()]
    assert heard.returncode == 0
    assert len(messages) == count
    if topic == "/clock":
        times = [message.clock.sec + 1e-9 * message.clock.nanosec for message in messages]
        assert times == sorted(times)
        assert times[-1] - times[0] == pytest.approx(
            0.99, abs=0.02
        )  # a hundred at 100 Hz; one step is 5 ms, two may lack
    elif topic == "/tf_static":
        assert "utm_ned" in {transform.header.frame_id for transform in messages[0].transforms}
    else:
        assert {message.header.frame_id.partition("/")[0] for message in messages} == {"sam"}


def test_we_hear_what_fast_dds_says(peer: Path, ros: RosInterface) -> None:
    command = ros.bus.codec.make("smarc_msgs/ThrusterRPM", rpm=700)
    said = start(
        peer, "say", "/sam/core/thruster1_cmd", command.__msgtype__, "reliable", ros.bus.codec.to_cdr(command).hex()
    )
    kind = type_said(ros, "/sam/core/thruster1_fb")
    try:
        end = time.monotonic() + 20.0
        while time.monotonic() < end:
            heard = start(peer, "hear", "/sam/core/thruster1_fb", kind, "reliable", "1")
            line = heard.communicate(timeout=90)[0].strip()
            if line and ros.bus.codec.from_cdr(bytes.fromhex(line), kind).rpm.rpm >= 695:
                return
        pytest.fail("the thruster does not turn")
    finally:
        said.kill()
        said.communicate()
