"""DDS: what it costs to say all of SAM's topics but pictures to a peer, at real time. Needs the extra `ros`."""

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
    """CPU time of all threads over that of a run whose sensors are measured for nobody; nothing without the extra."""
    if find_spec("cyclonedds") is None:
        return {}
    settings = Ros.model_validate({"transports": {"dds": {"kind": "dds", "domain": DOMAIN, "leave_out": IMAGES}}})
    # by turns, so that whatever else the machine does is the same for both
    found = [(_seconds(Subscriber()), _seconds(RosInterface(settings))) for _ in range(REPEATS)]
    without, said = map(min, zip(*found, strict=True))
    return {"ros.dds.sam_core_percent": 100 * (said - without) / SECONDS}


def _seconds(interface: Interface) -> float:
    with build_world("sam_in_the_bay") as world, Runner(world, 1.0, {"it": interface}) as runner:
        runner.run(0.5)
        listener = _start_listener(interface) if isinstance(interface, RosInterface) else None
        try:
            if isinstance(interface, RosInterface):
                _wait_for_takers(runner, interface)
            start = time.process_time()
            runner.run(SECONDS)
            return time.process_time() - start
        finally:
            if listener is not None:
                listener.communicate()


def _start_listener(ros: RosInterface) -> subprocess.Popen[str]:
    """Another process, which takes everything, until its input is closed."""
    topics = [[name, topic.type] for name, topic in _carried(ros).items()]
    code = "from skerry.benchmarks._dds import listen; listen()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(topics) + "\n")
    process.stdin.flush()
    return process


def _carried(ros: RosInterface) -> dict[str, Topic]:
    config = ros.config.transports["dds"]
    return {name: topic for name, topic in ros.bus.topics.items() if config.carries(name)}


def _wait_for_takers(runner: Runner, ros: RosInterface) -> None:
    end = time.monotonic() + 30.0
    while not all(topic.taken for topic in _carried(ros).values()):
        if time.monotonic() > end:
            raise SkerryError("the listener of the benchmark does not come")
        runner.run(0.5)


def listen() -> None:
    """Take all topics that the first line of the input names, until the input ends."""
    from skerry.interfaces.ros.transports.dds.cyclone import Participant, Quality, RawReader

    participant = Participant(DOMAIN, "loopback")
    readers = [
        RawReader(participant, topic_of(name), type_of(kind), Quality(depth=100))
        for name, kind in json.loads(sys.stdin.readline())
    ]
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        for reader in readers:
            reader.take()
