"""Reader of recordings, in the order in which they were written; an incomplete file is read up to its end."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from mcap.exceptions import EndOfFile, InvalidMagic, McapError
from mcap.records import Channel, Footer, Message, Metadata, Schema
from mcap.stream_reader import CRCValidationError, StreamReader
from zstandard import ZstdError  # a dependency of mcap

from skerry.core.errors import SkerryError
from skerry.formats.yaml_documents import parse_document
from skerry.interfaces.recorder.command_json import command_from_text
from skerry.interfaces.recorder.recording_writer import COMMANDS, FINGERPRINTS, METADATA
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.interface import Command

DAMAGE: Final = (
    *(McapError, CRCValidationError, ZstdError),
    *(struct.error, ValueError, KeyError, RuntimeError, OverflowError, MemoryError),
)
"""Errors of a damaged file: those of the reader, and those that it does not catch."""


@dataclass(frozen=True)
class RecordedMessage:
    """Message of a recording; `time` is the time of the file, ns."""

    topic: str
    type: str
    time: int
    cdr: bytes


@dataclass(frozen=True)
class ExecutedCommand:
    """Command and the tick at which it was executed."""

    tick: int
    command: Command


@dataclass(frozen=True)
class Fingerprint:
    """Fingerprint of the world at a tick."""

    tick: int
    fingerprint: str


class Recording:
    """Recording written by Skerry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.complete = False
        """Whether the file has its end; set after all messages have been read."""
        found = next((record for record in self._records() if isinstance(record, Metadata)), None)
        if found is None or found.name != METADATA:
            raise SkerryError(f"{path} is not a recording of Skerry: it contains no scenario")
        try:
            self.version: str = found.metadata["version"]
            self.seed = int(found.metadata["seed"])
            self.step = Fraction(found.metadata["step"])
            self.ros = Ros.model_validate_json(found.metadata["ros"])
            self.scenario: dict[str, Any] = parse_document(found.metadata["scenario"], str(path)).data
        except (KeyError, ValueError, ZeroDivisionError) as error:
            raise SkerryError(f"{path} is damaged: its metadata is invalid: {error}") from None
        self.codec = Codec(TypeStore(self.ros.message_paths, self.ros.distribution))

    def messages(self) -> Iterator[RecordedMessage]:
        """Yield all messages in the order in which they were written."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        self.complete = False
        for record in self._records():
            if isinstance(record, Message):
                channel = channels.get(record.channel_id)
                if channel is None or channel.schema_id not in schemas:
                    raise SkerryError(f"{self.path} is damaged: a message has an unknown channel")
                yield RecordedMessage(channel.topic, schemas[channel.schema_id].name, record.log_time, record.data)
            elif isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Footer):
                self.complete = True

    def events(self) -> Iterator[ExecutedCommand | Fingerprint]:
        """Yield commands and fingerprints in order."""
        for message in self.messages():
            if message.topic not in {COMMANDS, FINGERPRINTS}:
                continue
            text = self.codec.from_cdr(message.cdr, "std_msgs/msg/String").data
            try:
                values = json.loads(text)
                if message.topic == COMMANDS:
                    yield ExecutedCommand(int(values["tick"]), command_from_text(json.dumps(values["do"])))
                else:
                    yield Fingerprint(int(values["tick"]), str(values["fingerprint"]))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise SkerryError(
                    f"{self.path}: the message {text[:100]!r} on {message.topic} is invalid: {error}"
                ) from None

    def _records(self) -> Iterator[Any]:
        try:
            with self.path.open("rb") as file:
                try:
                    yield from StreamReader(file, validate_crcs=True).records
                except struct.error:
                    if file.read(1):  # otherwise the file ends inside the length of a record
                        raise
        except EndOfFile:  # the run was killed
            return
        except OSError as error:
            raise SkerryError(f"{self.path} cannot be read: {error.strerror}") from None
        except InvalidMagic:
            raise SkerryError(f"{self.path} is not an MCAP file") from None
        except DAMAGE as error:
            raise SkerryError(f"{self.path} is damaged: {error}") from None
