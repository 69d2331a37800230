"""Writes a recording: messages wait in a queue that has an end, and a thread encodes and writes them."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final, Literal

from mcap.writer import CompressionType, Writer

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus import LATCHED, Bus, Outbox, Outgoing, Qos, Topic

logger = logging.getLogger("skerry")

METADATA: Final = "skerry"
"""The record with the scenario, the seed and the version."""
COMMANDS: Final = "/skerry/recording/commands"
FINGERPRINTS: Final = "/skerry/recording/fingerprints"

MOST_WAITING: Final = 20_000  # messages; of pictures and clouds, each counts as many as BULKY
BULKY: Final = 100
CHUNK: Final = 256 * 1024  # bytes; what a run that is killed loses at most, beside what the system has not written yet

_COMPRESSIONS: Final = {"zstd": CompressionType.ZSTD, "lz4": CompressionType.LZ4, "none": CompressionType.NONE}

# the quality of service as rosbag2 of Humble writes it; the long times mean for ever
_QOS: Final = """- history: 1
  depth: {depth}
  reliability: {reliability}
  durability: {durability}
  deadline: {{sec: 9223372036, nsec: 854775807}}
  lifespan: {{sec: 9223372036, nsec: 854775807}}
  liveliness: 1
  liveliness_lease_duration: {{sec: 9223372036, nsec: 854775807}}
  avoid_ros_namespace_conventions: false
"""


class RecordingWriter(Outbox):
    """A recording that is being written; topics give it what they say, from the loop, which never waits.

    What is said gets `now`, in ns, as its time. If the disk is too slow for too long, what comes then is left out, and
    counted; commands and fingerprints never are.
    """

    def __init__(
        self, path: Path, bus: Bus, compression: Literal["zstd", "lz4", "none"], metadata: Mapping[str, str]
    ) -> None:
        super().__init__()
        self.path = path
        self.now = 0
        self.written = 0
        self.problem = ""
        self._bus = bus
        self._own = {name: Topic(name, "std_msgs/msg/String", LATCHED, bus.codec) for name in (COMMANDS, FINGERPRINTS)}
        self._string = bus.codec.type("std_msgs/msg/String")
        self._waiting: deque[tuple[int, Outgoing]] = deque()
        self._weight = 0
        self._over = False
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        try:
            self._file: IO[bytes] = path.open("xb")
        except FileExistsError:
            raise SkerryError(f"there is a file {path} already; remove it, or record to another one") from None
        except OSError as error:
            raise SkerryError(f"{path} cannot be written: {error.strerror}") from None
        self._writer: Any = Writer(self._file, chunk_size=CHUNK, compression=_COMPRESSIONS[compression])
        self._writer.start(profile="ros2", library=f"skerry {__version__}")
        self._writer.add_metadata(METADATA, dict(metadata))
        self._file.flush()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def put(self, outgoing: Outgoing) -> None:
        """Record a message, if there is room."""
        weight = _weight(outgoing)
        with self._arrived:
            if self._weight + weight > MOST_WAITING:
                self.dropped[outgoing.topic.name] += 1
                return
            self._weight += weight
            self._add(outgoing)

    def put_text(self, topic: str, text: str) -> None:
        """Record a command or a fingerprint."""
        outgoing = Outgoing(self._own[topic], self._string(text), self._bus.codec)
        with self._arrived:
            self._weight += _weight(outgoing)
            self._add(outgoing)

    def _add(self, outgoing: Outgoing) -> None:
        self._waiting.append((self.now, outgoing))
        if len(self._waiting) == 1:
            self._arrived.notify()

    def close(self) -> None:
        """Write what waits, and end the file; closing twice is harmless."""
        with self._arrived:
            self._over = True
            self._arrived.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._file:
                while self._write_some():
                    self._file.flush()
                self._writer.finish()
        except (OSError, ValueError) as error:
            self.problem = str(error)
            logger.error("%s cannot be written any more: %s; the run goes on without it", self.path, error)

    def _write_some(self) -> bool:
        """Write what waits; says whether there will be more."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._over)
            waiting, self._waiting = self._waiting, deque()
            self._weight = 0
            over = self._over
        for now, outgoing in waiting:
            self._write(now, outgoing)
        return not over

    def _write(self, now: int, outgoing: Outgoing) -> None:
        topic = outgoing.topic
        channel = self._channels.get(topic.name)
        if channel is None:
            channel = self._channels[topic.name] = self._register(topic)
        self._counts[topic.name] += 1
        self._writer.add_message(channel, now, outgoing.cdr, now, self._counts[topic.name])
        self.written += 1

    def _register(self, topic: Topic) -> int:
        if topic.type not in self._schemas:
            text = self._bus.codec.definition(topic.type)
            self._schemas[topic.type] = self._writer.register_schema(topic.type, "ros2msg", text.encode())
        return self._writer.register_channel(
            topic.name, "cdr", self._schemas[topic.type], {"offered_qos_profiles": _profile(topic.qos)}
        )


def _weight(outgoing: Outgoing) -> int:
    return BULKY if outgoing.topic.qos.depth == 1 else 1


def _profile(qos: Qos) -> str:
    reliability, durability = (1 if qos.reliable else 2), (1 if qos.transient_local else 2)
    return _QOS.format(depth=qos.depth, reliability=reliability, durability=durability)
