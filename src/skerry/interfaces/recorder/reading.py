"""Reads recordings, also of runs that were killed: in the order in which they were written, as far as they go."""

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
from zstandard import ZstdError  # which mcap needs

import skerry.interfaces.recorder.commands  # noqa: F401  that its commands are known by name
from skerry.core.errors import SkerryError
from skerry.formats.yaml_documents import parse_document
from skerry.interfaces.recorder.command_json import command_from_text
from skerry.interfaces.recorder.writing import COMMANDS, FINGERPRINTS, METADATA
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.interface import Command

DAMAGE: Final = (
    *(McapError, CRCValidationError, ZstdError),  # of those who read
    *(struct.error, ValueError, KeyError, RuntimeError, OverflowError, MemoryError),  # which they let through
)


@dataclass(frozen=True)
class Recorded:
    """A message of a recording; `time` in ns of the run."""

    topic: str
    type: str
    time: int
    cdr: bytes


@dataclass(frozen=True)
class Done:
    """A command that was done at a tick."""

    tick: int
    command: Command


@dataclass(frozen=True)
class Fingerprint:
    """What the world's fingerprint was at a tick."""

    tick: int
    fingerprint: str


class Recording:
    """A recording that Skerry wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.complete = False
        """Whether the file has its end, once its messages have been read."""
        found = next((record for record in self._records() if isinstance(record, Metadata)), None)
        if found is None or found.name != METADATA:
            raise SkerryError(f"{path} is not a recording that Skerry made: it has no scenario at its beginning")
        try:
            self.version: str = found.metadata["version"]
            self.seed = int(found.metadata["seed"])
            self.step = Fraction(found.metadata["step"])
            self.ros = Ros.model_validate_json(found.metadata["ros"])
            self.scenario: dict[str, Any] = parse_document(found.metadata["scenario"], str(path)).data
        except (KeyError, ValueError, ZeroDivisionError) as error:
            raise SkerryError(f"{path} is damaged: what is said of the run makes no sense: {error}") from None
        self.codec = Codec(TypeStore(self.ros.message_paths, self.ros.distribution))

    def messages(self) -> Iterator[Recorded]:
        """All messages, in the order in which they were written."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        self.complete = False
        for record in self._records():
            if isinstance(record, Message):
                channel = channels.get(record.channel_id)
                if channel is None or channel.schema_id not in schemas:
                    raise SkerryError(f"{self.path} is damaged: a message is of no channel")
                yield Recorded(channel.topic, schemas[channel.schema_id].name, record.log_time, record.data)
            elif isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Footer):
                self.complete = True

    def course(self) -> Iterator[Done | Fingerprint]:
        """The commands and the fingerprints, in order."""
        for message in self.messages():
            if message.topic not in {COMMANDS, FINGERPRINTS}:
                continue
            text = self.codec.from_cdr(message.cdr, "std_msgs/msg/String").data
            try:
                values = json.loads(text)
                if message.topic == COMMANDS:
                    yield Done(int(values["tick"]), command_from_text(json.dumps(values["do"])))
                else:
                    yield Fingerprint(int(values["tick"]), str(values["fingerprint"]))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise SkerryError(f"{self.path}: {text[:100]!r} on {message.topic} makes no sense: {error}") from None

    def _records(self) -> Iterator[Any]:
        try:
            with self.path.open("rb") as file:
                try:
                    yield from StreamReader(file, validate_crcs=True).records
                except struct.error:
                    if file.read(1):  # else the file ends within a record's length
                        raise
        except EndOfFile:  # the run was killed
            return
        except OSError as error:
            raise SkerryError(f"{self.path} cannot be read: {error.strerror}") from None
        except InvalidMagic:
            raise SkerryError(f"{self.path} is no MCAP file") from None
        except DAMAGE as error:
            raise SkerryError(f"{self.path} is damaged: {error}") from None
