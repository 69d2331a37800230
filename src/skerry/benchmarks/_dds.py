"""DDS: CPU time of publishing all topics of SAM except images to a peer, at real time. Needs the extra `ros`."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from importlib.util import find_spec

from skerry.benchmarks._goal import Goal
from skerry.benchmarks.recording import Subscriber
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.transports.dds.names import topic_of, type_of
from skerry.interfaces.ros.transports.endpoint import IMAGES
from skerry.parts.interface import Interface
from skerry.runner import Runner
from skerry.world import build_world

SECONDS = 8.0
REPEATS = 3
DOMAIN = 190

GOALS = {"ros.dds.sam_core_percent": Goal(6)}


def measure() -> dict[str, float]:
    """Return the CPU time of all threads beyond that of a run without ROS whose sensors are all measured.

    The result is a percentage of one core; it is empty if the extra is not installed.
    """
    if find_spec("cyclonedds") is None:
        return {}
    settings = Ros.model_validate({"transports": {"dds": {"kind": "dds", "domain": DOMAIN, "leave_out": IMAGES}}})
    # alternate the two runs, so that other load of the machine affects both equally
    found = [(_seconds(Subscriber()), _seconds(RosInterface(settings))) for _ in range(REPEATS)]
    without, with_ros = map(min, zip(*found, strict=True))
    return {"ros.dds.sam_core_percent": 100 * (with_ros - without) / SECONDS}


def _seconds(interface: Interface) -> float:
    with build_world("sam_in_the_bay") as world, Runner(world, 1.0, {"it": interface}) as runner:
        runner.run(0.5)
        subscriber = _start_subscriber(interface) if isinstance(interface, RosInterface) else None
        try:
            if isinstance(interface, RosInterface):
                _wait_for_subscribers(runner, interface)
            start = time.process_time()
            runner.run(SECONDS)
            return time.process_time() - start
        finally:
            if subscriber is not None:
                subscriber.communicate()


def _start_subscriber(ros: RosInterface) -> subprocess.Popen[str]:
    """Start another process that subscribes to all topics until its input is closed."""
    topics = [[name, topic.type] for name, topic in _sent_topics(ros).items()]
    code = "from skerry.benchmarks._dds import subscribe; subscribe()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(topics) + "\n")
    process.stdin.flush()
    return process


def _sent_topics(ros: RosInterface) -> dict[str, Topic]:
    config = ros.config.transports["dds"]
    return {name: topic for name, topic in ros.bus.topics.items() if config.carries(name)}


def _wait_for_subscribers(runner: Runner, ros: RosInterface) -> None:
    end = time.monotonic() + 30.0
    while not all(topic.has_subscribers for topic in _sent_topics(ros).values()):
        if time.monotonic() > end:
            raise SkerryError("the subscriber process of the benchmark did not connect within 30 s")
        runner.run(0.5)


def subscribe() -> None:
    """Read all topics that the first line of standard input names, until standard input ends."""
    from skerry.interfaces.ros.transports.dds.cyclone import DdsReader, EndpointQos, Participant

    participant = Participant(DOMAIN, "loopback")
    readers = [
        DdsReader(participant, topic_of(name), type_of(kind), EndpointQos(depth=100))
        for name, kind in json.loads(sys.stdin.readline())
    ]
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        for reader in readers:
            reader.take()
