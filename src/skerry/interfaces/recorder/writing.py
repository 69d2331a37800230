"""Writes a recording: messages are gathered in chunks, of which so many may wait, and a thread writes them."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import IO, Any, Final

from mcap.records import Channel, Schema

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.mcap_file import HEAD, MESSAGE, MESSAGE_OPCODE, Compression, McapFile, record
from skerry.interfaces.ros.bus import LATCHED, Bus, Outbox, Outgoing, Qos, Topic

logger = logging.getLogger("skerry")

METADATA: Final = "skerry"
"""The record with the scenario, the seed and the version."""
COMMANDS: Final = "/skerry/recording/commands"
FINGERPRINTS: Final = "/skerry/recording/fingerprints"

MOST_WAITING: Final = 20_000  # messages; of pictures and clouds, each counts as many as BULKY
BULKY: Final = 100
MOST_UNENCODED: Final = 1000  # the same, in a chunk, of messages whose size is not known yet
CHUNK: Final = 256 * 1024  # bytes; what a run that is killed loses at most, beside what the system has not written yet

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

    What is said gets the bus's time. Bytes of messages are gathered as they come; a thread compresses and
    writes a chunk of them at a time, as it would hold up the loop if it ran for each. If the disk is too slow for too
    long, what comes then is left out, and counted; commands and fingerprints never are.
    """

    def __init__(self, path: Path, bus: Bus, compression: Compression, metadata: Mapping[str, str]) -> None:
        super().__init__()
        self.path = path
        self.written = 0
        self.problem = ""
        self._bus = bus
        self._time = self._now = bus.now  # the world's, and the file's, ns
        self._own = {name: Topic(name, "std_msgs/msg/String", LATCHED, bus.codec) for name in (COMMANDS, FINGERPRINTS)}
        self._string = bus.codec.type("std_msgs/msg/String")
        self._lock = Lock()
        self._arrived = Condition(self._lock)
        self._chunk = _Chunk()
        self._full: deque[_Chunk] = deque()
        self._waiting = 0  # the weight of those
        self._over = False
        self._lines: dict[Topic, _Line] = {}
        self._schemas: dict[str, Schema] = {}
        try:
            self._stream: IO[bytes] = path.open("xb")
        except FileExistsError:
            raise SkerryError(f"there is a file {path} already; remove it, or record to another one") from None
        except OSError as error:
            raise SkerryError(f"{path} cannot be written: {error.strerror}") from None
        self._file = McapFile(self._stream, compression, "ros2", f"skerry {__version__}")
        self._file.add_metadata(METADATA, metadata)
        self._stream.flush()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    # -------------------------------------------------------------------------------------------- in the loop

    def add(self, outgoing: Outgoing) -> None:
        """Record a message, if there is room."""
        topic = outgoing.topic
        with self._lock:
            line = self._lines.get(topic) or self._register(topic)
            if self._waiting + self._chunk.weight + line.weight > MOST_WAITING:
                self.dropped[topic.name] += 1
            else:
                self._add(outgoing, line, self._bus.now)

    def tell(self) -> None:
        """Nothing: it goes on when a chunk is full."""

    def put_text(self, topic: str, text: str, time: int) -> None:
        """Record a command or a fingerprint of this time, ns."""
        own = self._own[topic]
        with self._lock:
            self._add(Outgoing(own, self._string(text)), self._lines.get(own) or self._register(own), time)

    def _add(self, outgoing: Outgoing, line: _Line, time: int) -> None:
        if time != self._time:  # where the world goes back, the file goes on, as players want the order of time
            self._now += max(time - self._time, 0)
            self._time = time
        chunk, cdr, now = self._chunk, outgoing.encoded, self._now
        line.count += 1
        chunk.weight += line.weight
        if cdr is not None:
            length = len(cdr)
            chunk.size += length
            chunk.records.append(MESSAGE.pack(MESSAGE_OPCODE, HEAD + length, line.channel, line.count, now, now) + cdr)
        else:
            chunk.unencoded += line.weight
            chunk.records.append(partial(_encode, outgoing, line.channel, line.count, now))
        if chunk.size > CHUNK or chunk.unencoded > MOST_UNENCODED:
            self._hand_over()

    def _register(self, topic: Topic) -> _Line:
        schema = self._schemas.get(topic.type)
        if schema is None:
            text = self._bus.codec.definition(topic.type)
            schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=topic.type)
            self._schemas[topic.type] = schema
            self._chunk.records.append(record(schema))
        number = len(self._lines) + 1
        line = self._lines[topic] = _Line(number, BULKY if topic.qos.depth == 1 else 1)
        self._chunk.records.append(record(_channel(topic, number, schema.id)))
        return line

    def _hand_over(self) -> None:
        self._waiting += self._chunk.weight
        self._full.append(self._chunk)
        self._chunk = _Chunk()
        self._arrived.notify()

    def close(self) -> None:
        """Write what waits, and end the file; closing twice is harmless."""
        with self._arrived:
            self._over = True
            self._hand_over()
        self._thread.join()

    # -------------------------------------------------------------------------------------------- in the thread

    def _run(self) -> None:
        try:
            with self._stream:
                while (chunk := self._next()) is not None:
                    self._write(chunk)
                    self._stream.flush()
                self._finish()
        except (OSError, ValueError) as error:
            self.problem = str(error)
            logger.error("%s cannot be written any more: %s; the run goes on without it", self.path, error)

    def _next(self) -> _Chunk | None:
        with self._arrived:
            self._arrived.wait_for(lambda: self._full or self._over)
            return self._full.popleft() if self._full else None

    def _write(self, chunk: _Chunk) -> None:
        self.written += self._file.add_chunk([found if type(found) is bytes else found() for found in chunk.records])
        with self._lock:
            self._waiting -= chunk.weight

    def _finish(self) -> None:
        channels = [_channel(topic, line.channel, self._schemas[topic.type].id) for topic, line in self._lines.items()]
        self._file.finish(list(self._schemas.values()), channels)


@dataclass(eq=False, slots=True)
class _Line:
    """A topic in the file: its channel's number, what a message of it weighs, and how many there were."""

    channel: int
    weight: int
    count: int = 0


@dataclass(eq=False, slots=True)
class _Chunk:
    """Records that are written together: bytes, or what will give them."""

    records: list[Any] = field(default_factory=list)
    size: int = 0  # bytes of messages that are encoded
    weight: int = 0
    unencoded: int = 0  # of that weight


def _encode(outgoing: Outgoing, channel: int, sequence: int, now: int) -> bytes:
    return MESSAGE.pack(MESSAGE_OPCODE, HEAD + len(outgoing.cdr), channel, sequence, now, now) + outgoing.cdr


def _channel(topic: Topic, number: int, schema: int) -> Channel:
    qos = {"offered_qos_profiles": _profile(topic.qos)}
    return Channel(id=number, topic=topic.name, message_encoding="cdr", metadata=qos, schema_id=schema)


def _profile(qos: Qos) -> str:
    reliability, durability = (1 if qos.reliable else 2), (1 if qos.transient_local else 2)
    return _QOS.format(depth=qos.depth, reliability=reliability, durability=durability)
