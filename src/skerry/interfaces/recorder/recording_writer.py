"""Writer of a recording: the loop collects messages in batches, and a thread encodes and writes them."""

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
from skerry.interfaces.recorder.chunks import ChannelMessages, make_chunks, warm_up
from skerry.interfaces.recorder.mcap_file import Compression, McapFile, encode_record
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Qos, SubscriberQueue, Topic
from skerry.interfaces.ros.bus.lazy_message import LazyMessage, MessageBatch
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch

logger = logging.getLogger("skerry")

METADATA: Final = "skerry"
"""Name of the metadata record with scenario, seed and version."""
COMMANDS: Final = "/skerry/recording/commands"
"""Topic of the executed commands."""
FINGERPRINTS: Final = "/skerry/recording/fingerprints"
"""Topic of the fingerprints of the world."""

MAX_QUEUED: Final = 64_000_000
"""Largest estimated size of the messages that wait for the thread, bytes; further messages are dropped."""
MIN_SIZE: Final = 1000
"""Smallest estimated size of a message, bytes; the estimate is otherwise the recent mean size of its topic."""
LARGE_SIZE: Final = 1_000_000
"""Estimated size of the first message of a topic with queue depth 1, such as images and point clouds, bytes."""
LARGE_BATCH: Final = 16_000_000
"""Size of a batch that is handed to the thread immediately, bytes."""
SMALL_BATCH: Final = 256_000
"""Size of a batch that is handed to the thread after `SMALL_BATCH_DELAY`, bytes."""
SMALL_BATCH_DELAY: Final = 0.25
"""Wall-clock time after which a batch above `SMALL_BATCH` is handed to the thread, s."""
MAX_DELAY: Final = 2.0
"""Wall-clock time after which any batch is handed to the thread, s."""
MAX_CHANNELS: Final = 2**16
"""Largest number of channels: their numbers have 16 bits."""
CHUNK_SIZE: Final = 1024 * 1024
"""Approximate largest size of a chunk, bytes; the default of the package `mcap`."""

# Quality of service as rosbag2 of Humble writes it; the long times mean infinite.
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
    """Subscriber queue that writes published messages to a recording; the loop never waits for it.

    Messages get the time of the bus. A thread encodes, compresses and writes many messages at a time, because it would
    delay the loop if it ran for each message. If the thread is too slow, further messages are dropped and counted.
    Commands and fingerprints are never dropped.
    """

    accepts_batches = True

    def __init__(self, path: Path, bus: Bus, compression: Compression, metadata: Mapping[str, str]) -> None:
        super().__init__()
        self.path = path
        self.written = 0
        self.problem = ""
        self._bus = bus
        self._time = bus.time_ns  # time of the world, ns
        self._shift = 0  # difference of the file's time to the world's, ns
        self._own = {name: Topic(name, "std_msgs/msg/String", LATCHED, bus.codec) for name in (COMMANDS, FINGERPRINTS)}
        self._string = bus.codec.type("std_msgs/msg/String")
        self._lock = Lock()
        self._arrived = Condition(self._lock)
        self._batch = _Batch()
        self._batches: deque[_Batch] = deque()
        self._queued = 0  # estimated size of all messages that the thread has not written, bytes
        self._closed = False
        self._sizes: dict[Topic, int] = {}  # recent mean size of a message, bytes
        self._channels: dict[Topic, Channel] = {}
        self._head = bytearray()  # records of new schemas and channels
        self._counts = np.zeros(MAX_CHANNELS, np.int64)  # number of messages by channel
        self._schemas: dict[str, Schema] = {}
        try:
            self._stream: IO[bytes] = path.open("xb")
            self._file = McapFile(self._stream, compression, "ros2", f"skerry {__version__}")
            self._file.add_metadata(METADATA, metadata)
            self._stream.flush()
        except FileExistsError:
            raise SkerryError(f"the file {path} already exists; remove it, or record to another one") from None
        except OSError as error:
            raise SkerryError(f"the recording {path} cannot be written: {error.strerror}") from None
        warm_up()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    # -------------------------------------------------------------------------------------------- simulation loop

    def put(self, messages: Sequence[LazyMessage | MessageBatch]) -> None:
        """Queue messages to record; drop those that exceed `MAX_QUEUED`."""
        size = sum(map(self._estimate_size, messages))
        with self._lock:
            if self._queued + size > MAX_QUEUED:
                messages, size = self._select_fitting(messages)
            self._add(messages, size, self._bus.time_ns)

    def put_text(self, topic: str, text: str, time: int) -> None:
        """Queue a command or a fingerprint of a time, ns."""
        with self._lock:
            self._add([LazyMessage(self._own[topic], self._string(text))], len(text), time)

    def _select_fitting(
        self, messages: Sequence[LazyMessage | MessageBatch]
    ) -> tuple[list[LazyMessage | MessageBatch], int]:
        """Return the messages that fit into the queue, and their estimated size, bytes; count the others as dropped."""
        found, size = [], 0
        for message in messages:
            more = self._estimate_size(message)
            if self._queued + size + more > MAX_QUEUED:
                self.dropped[message.topic.name] += _count(message)
            else:
                found.append(message)
                size += more
        return found, size

    def _add(self, messages: Sequence[LazyMessage | MessageBatch], size: int, time: int) -> None:
        batch = self._batch
        batch.published.append((time, messages))
        batch.size += size
        self._queued += size
        age = perf_counter() - batch.began
        if age > MAX_DELAY or (age > SMALL_BATCH_DELAY and batch.size > SMALL_BATCH) or batch.size > LARGE_BATCH:
            self._hand_over()

    def _estimate_size(self, message: LazyMessage | MessageBatch) -> int:
        topic = message.topic
        size = self._sizes.get(topic, LARGE_SIZE if topic.qos.depth == 1 else MIN_SIZE)
        return max(size, MIN_SIZE) * _count(message)

    def _hand_over(self) -> None:
        self._batches.append(self._batch)
        self._batch = _Batch()
        self._arrived.notify()

    def close(self) -> None:
        """Write all queued messages and the end of the file; a second call has no effect."""
        with self._arrived:
            self._closed = True
            self._hand_over()
        self._thread.join()

    # -------------------------------------------------------------------------------------------- in the thread

    def _run(self) -> None:
        try:
            with self._stream:
                try:
                    while (batch := self._next()) is not None:
                        self._write(batch)
                        with self._lock:
                            self._queued -= batch.size
                finally:
                    self._file.finish(list(self._schemas.values()), list(self._channels.values()))
        except Exception as error:  # also a mistake in an encoder: `publish` of the recorder reports it
            self.problem = f"{error}" or type(error).__name__
            logger.error("recording %s: writing failed: %s; the file ends before that", self.path, self.problem)

    def _next(self) -> _Batch | None:
        with self._arrived:
            self._arrived.wait_for(lambda: self._batches or self._closed)
            return self._batches.popleft() if self._batches else None

    def _write(self, batch: _Batch) -> None:
        """Write all messages of a batch in the order of the file's time; equal times keep the order of publication."""
        groups = list(self._encode(batch))
        if groups:
            for chunk in make_chunks(groups, self._counts, CHUNK_SIZE, bytes(self._head)):
                self._file.add_chunk(chunk)
                self.written += len(chunk.times)
            self._head.clear()
            self._stream.flush()

    def _encode(self, batch: _Batch) -> Iterator[ChannelMessages]:
        """Encode the messages of a batch: message batches with equal keys together, single messages by topic."""
        groups: dict[Hashable, list[_Published]] = {}
        number = 0
        for now, messages in batch.published:
            # When the world's time goes back, the file's time continues, because players need messages in order.
            self._shift += max(self._time - now, 0)
            self._time = now
            for message in messages:
                batch_key = message.batch_key if isinstance(message, MessageBatch) else None
                published = _Published(message, now, self._shift, number := number + 1)
                groups.setdefault((message.topic, self._shift, batch_key), []).append(published)
        for group in groups.values():
            batches = [entry.message for entry in group if isinstance(entry.message, MessageBatch)]
            if batches:
                joined = MessageBatch.joined(batches)
                encoded, times = joined.encode(), joined.times()
            else:
                encoded = EncodedBatch.from_messages(
                    [entry.message.cdr_or_none for entry in group if isinstance(entry.message, LazyMessage)]
                )
                times = np.array([entry.now for entry in group])
            if size := int(encoded.sizes.sum()):
                shift = group[0].shift
                topic = group[0].message.topic
                self._sizes[topic] = size // len(times)
                order = [(entry.number, _count(entry.message)) for entry in group]
                yield ChannelMessages(self._channel(topic), times + shift, order, encoded)

    def _channel(self, topic: Topic) -> int:
        channel = self._channels.get(topic)
        if channel is None:
            schema = self._schemas.get(topic.type)
            if schema is None:
                text = self._bus.codec.definition(topic.type)
                schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=topic.type)
                self._schemas[topic.type] = schema
                self._head += encode_record(schema)
            channel = Channel(
                id=len(self._channels) + 1,
                topic=topic.name,
                message_encoding="cdr",
                metadata={"offered_qos_profiles": _profile(topic.qos)},
                schema_id=schema.id,
            )
            self._channels[topic] = channel
            self._head += encode_record(channel)
        return channel.id


class _Published(NamedTuple):
    """Published message or message batch."""

    message: LazyMessage | MessageBatch
    now: int
    """Time of the world, ns."""
    shift: int
    """Difference of the file's time to the world's, ns."""
    number: int
    """Sequence number in its batch."""


@dataclass(eq=False, slots=True)
class _Batch:
    """Messages that are encoded and written together, with the time of the world at their publication, ns."""

    published: list[tuple[int, Sequence[LazyMessage | MessageBatch]]] = field(default_factory=list)
    size: int = 0
    began: float = field(default_factory=perf_counter)


def _count(message: LazyMessage | MessageBatch) -> int:
    return len(message) if isinstance(message, MessageBatch) else 1


def _profile(qos: Qos) -> str:
    reliability, durability = (1 if qos.reliable else 2), (1 if qos.transient_local else 2)
    return _QOS.format(depth=qos.depth, reliability=reliability, durability=durability)
