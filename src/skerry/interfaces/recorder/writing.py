"""Writes a recording: messages are gathered in batches, of which so many may wait, and a thread writes them."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Lock, Thread
from time import perf_counter
from typing import IO, Final, NamedTuple

import numpy as np
from mcap.records import Channel, Schema

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.chunks import Piece, chunks_of, warm_up
from skerry.interfaces.recorder.mcap_file import Compression, McapFile, record
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Qos, SubscriberQueue, Topic
from skerry.interfaces.ros.bus.lazy_message import LazyMessage, MessageBatch
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

logger = logging.getLogger("skerry")

METADATA: Final = "skerry"
"""The record with the scenario, the seed and the version."""
COMMANDS: Final = "/skerry/recording/commands"
FINGERPRINTS: Final = "/skerry/recording/fingerprints"

MOST_WAITING: Final = 64_000_000  # bytes of messages, each counted as what others of its topic have had, but at least
LEAST: Final = 1000  # which it takes on its way; where there were none, pictures and clouds as
BULKY: Final = 1_000_000
BATCH: Final = 16_000_000  # bytes, for which the thread is woken at once,
SMALL_BATCH: Final = 256_000  # for which it is woken
SOON: Final = 0.25  # s of wall time after the time before; and for any after
LATE: Final = 2.0  # s
MOST_CHANNELS: Final = 2**16  # as many as their numbers tell apart
CHUNK: Final = 1024 * 1024  # bytes, of the file; as the package `mcap` has it

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


class RecordingWriter(SubscriberQueue):
    """A recording that is being written; topics give it what they say, from the loop, which never waits.

    What is said gets the bus's time. A thread makes, compresses and writes many messages at a time, as it would hold
    up the loop if it ran for each. If it is too slow for too long, what comes then is left out, and counted; commands
    and fingerprints never are.
    """

    accepts_batches = True

    def __init__(self, path: Path, bus: Bus, compression: Compression, metadata: Mapping[str, str]) -> None:
        super().__init__()
        self.path = path
        self.written = 0
        self.problem = ""
        self._bus = bus
        self._time = bus.time_ns  # of the world, ns, and
        self._ahead = 0  # how far the file's is ahead of it
        self._own = {name: Topic(name, "std_msgs/msg/String", LATCHED, bus.codec) for name in (COMMANDS, FINGERPRINTS)}
        self._string = bus.codec.type("std_msgs/msg/String")
        self._lock = Lock()
        self._arrived = Condition(self._lock)
        self._batch = _Batch()
        self._batches: deque[_Batch] = deque()
        self._waiting = 0  # the weight of all that the thread has not done yet
        self._over = False
        self._sizes: dict[Topic, int] = {}  # bytes of a message, lately
        self._channels: dict[Topic, Channel] = {}
        self._head = bytearray()  # the records of those that are new
        self._counts = np.zeros(MOST_CHANNELS, np.int64)  # of messages, by channel
        self._schemas: dict[str, Schema] = {}
        try:
            self._stream: IO[bytes] = path.open("xb")
            self._file = McapFile(self._stream, compression, "ros2", f"skerry {__version__}")
            self._file.add_metadata(METADATA, metadata)
            self._stream.flush()
        except FileExistsError:
            raise SkerryError(f"there is a file {path} already; remove it, or record to another one") from None
        except OSError as error:
            raise SkerryError(f"{path} cannot be written: {error.strerror}") from None
        warm_up()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    # -------------------------------------------------------------------------------------------- in the loop

    def put(self, messages: Sequence[LazyMessage | MessageBatch]) -> None:
        """Record messages, as far as there is room."""
        weight = sum(map(self._weight, messages))
        with self._lock:
            if self._waiting + weight > MOST_WAITING:
                messages, weight = self._fitting(messages)
            self._add(messages, weight, self._bus.time_ns)

    def put_text(self, topic: str, text: str, time: int) -> None:
        """Record a command or a fingerprint of this time, ns."""
        with self._lock:
            self._add([LazyMessage(self._own[topic], self._string(text))], len(text), time)

    def _fitting(self, messages: Sequence[LazyMessage | MessageBatch]) -> tuple[list[LazyMessage | MessageBatch], int]:
        """Those for which there is room, and their weight."""
        found, weight = [], 0
        for outgoing in messages:
            more = self._weight(outgoing)
            if self._waiting + weight + more > MOST_WAITING:
                self.dropped[outgoing.topic.name] += _count(outgoing)
            else:
                found.append(outgoing)
                weight += more
        return found, weight

    def _add(self, messages: Sequence[LazyMessage | MessageBatch], weight: int, time: int) -> None:
        batch = self._batch
        batch.said.append((time, messages))
        batch.weight += weight
        self._waiting += weight
        age = perf_counter() - batch.began
        if age > LATE or (age > SOON and batch.weight > SMALL_BATCH) or batch.weight > BATCH:
            self._hand_over()

    def _weight(self, outgoing: LazyMessage | MessageBatch) -> int:
        topic = outgoing.topic
        size = self._sizes.get(topic, BULKY if topic.qos.depth == 1 else LEAST)
        return max(size, LEAST) * _count(outgoing)

    def _hand_over(self) -> None:
        self._batches.append(self._batch)
        self._batch = _Batch()
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
                while (batch := self._next()) is not None:
                    self._write(batch)
                    with self._lock:
                        self._waiting -= batch.weight
                self._file.finish(list(self._schemas.values()), list(self._channels.values()))
        except (OSError, ValueError) as error:
            self.problem = str(error)
            logger.error("%s cannot be written any more: %s; the run goes on without it", self.path, error)

    def _next(self) -> _Batch | None:
        with self._arrived:
            self._arrived.wait_for(lambda: self._batches or self._over)
            return self._batches.popleft() if self._batches else None

    def _write(self, batch: _Batch) -> None:
        """Write all messages of a batch with the file's time, in its order; those of one time as they were said."""
        pieces = list(self._pieces(batch))
        if pieces:
            for chunk in chunks_of(pieces, self._counts, CHUNK, bytes(self._head)):
                self._file.add_chunk(chunk)
                self.written += len(chunk.times)
            self._head.clear()
            self._stream.flush()

    def _pieces(self, batch: _Batch) -> Iterator[Piece]:
        """Those that are made alike together, with what was said of a topic one by one."""
        groups: dict[Hashable, list[_Said]] = {}
        turn = 0
        for now, messages in batch.said:
            # where the world goes back in time, the file goes on, as players want the order of time
            self._ahead += max(self._time - now, 0)
            self._time = now
            for outgoing in messages:
                batch_key = outgoing.batch_key if isinstance(outgoing, MessageBatch) else None
                said = _Said(outgoing, now, self._ahead, turn := turn + 1)
                groups.setdefault((outgoing.topic, self._ahead, batch_key), []).append(said)
        for group in groups.values():
            series = [said.outgoing for said in group if isinstance(said.outgoing, MessageBatch)]
            if series:
                joined = MessageBatch.joined(series)
                packed, times = joined.encode(), joined.times()
            else:
                packed = EncodedBatch.from_messages(
                    [said.outgoing.cdr_or_none for said in group if isinstance(said.outgoing, LazyMessage)]
                )
                times = np.array([said.now for said in group])
            if weight := int(packed.sizes.sum()):
                ahead = group[0].ahead
                topic = group[0].outgoing.topic
                self._sizes[topic] = weight // len(times)
                turns = [(said.turn, _count(said.outgoing)) for said in group]
                yield Piece(self._channel(topic), times + ahead, turns, packed)

    def _channel(self, topic: Topic) -> int:
        channel = self._channels.get(topic)
        if channel is None:
            schema = self._schemas.get(topic.type)
            if schema is None:
                text = self._bus.codec.definition(topic.type)
                schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=topic.type)
                self._schemas[topic.type] = schema
                self._head += record(schema)
            channel = Channel(
                id=len(self._channels) + 1,
                topic=topic.name,
                message_encoding="cdr",
                metadata={"offered_qos_profiles": _profile(topic.qos)},
                schema_id=schema.id,
            )
            self._channels[topic] = channel
            self._head += record(channel)
        return channel.id


class _Said(NamedTuple):
    """What was said at a time of the world, ns, when the file's was ahead of it by so much; and its turn in a batch."""

    outgoing: LazyMessage | MessageBatch
    now: int
    ahead: int
    turn: int


@dataclass(eq=False, slots=True)
class _Batch:
    """Messages that are made and written together, by the world's time at which they were said, ns."""

    said: list[tuple[int, Sequence[LazyMessage | MessageBatch]]] = field(default_factory=list)
    weight: int = 0
    began: float = field(default_factory=perf_counter)


def _count(outgoing: LazyMessage | MessageBatch) -> int:
    return len(outgoing) if isinstance(outgoing, MessageBatch) else 1


def _profile(qos: Qos) -> str:
    reliability, durability = (1 if qos.reliable else 2), (1 if qos.transient_local else 2)
    return _QOS.format(depth=qos.depth, reliability=reliability, durability=durability)
