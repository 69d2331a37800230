"""Raw CDR over Cyclone DDS: all that is private or delicate in the wheel `cyclonedds`, and a test that it still works.

The wheel wants messages as classes of its own, which are slow to write. Here every topic is declared as a structure of
one octet under the type's right name: its normalisation then touches the first byte only, and the wheel's own kind of
sample keeps the whole payload. Written for 11.0, in which `pysertype.c` does so.
"""

from __future__ import annotations

import ctypes
import os
import time
import types
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from skerry.core.errors import SkerryError

INSTALL: Final = "install it with `pip install 'skerry[ros]'`; there are wheels for Linux on x86-64, Windows and macOS"

try:
    from cyclonedds.__library__ import library_path
    from cyclonedds._clayer import ddspy_take
    from cyclonedds.core import (
        DDSException,
        GuardCondition,
        InstanceState,
        Policy,
        Qos,
        ReadCondition,
        SampleState,
        ViewState,
        WaitSet,
    )
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.idl import IdlStruct
    from cyclonedds.idl.types import uint8
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
except ImportError as problem:
    raise SkerryError(f"the transport `dds` needs the package cyclonedds: {problem}; {INSTALL}") from None

LOOPBACK: Final = """<Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
<AllowMulticast>false</AllowMulticast>"""
# Peers whose discovery is multicast only, such as Fast DDS as it comes, are found by our own announcements alone: they
# go to every port for as long as we run (the default is to give up after half a minute), and often, as peers come late.
PEERS: Final = """<Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>30</MaxAutoParticipantIndex><SPDPInterval>500ms</SPDPInterval>
<InitialLocatorPruneDelay>inf</InitialLocatorPruneDelay>
<Peers><Peer Address="127.0.0.1"/></Peers></Discovery>"""
# The largest datagrams there are: with smaller fragments, readers of Fast DDS lose most of a large picture.
CONFIGURATION: Final = """<CycloneDDS><Domain Id="any"><General>{interfaces}
<MaxMessageSize>65500B</MaxMessageSize></General>{discovery}</Domain></CycloneDDS>"""

ANY: Final = SampleState.Any | ViewState.Any | InstanceState.Any
BLOCKING: Final = 100_000_000  # ns that a reliable write may wait for a peer that does not keep up; the default of DDS
TESTED: Final = "11.0.1"
# In the table of operations of a type (ddsi_sertype_ops) of that version: type_id, type_map, type_info.
TYPE_INFORMATION: Final = (8, 9, 10)
OPERATIONS: Final = 14


class _Sample(ctypes.Structure):
    """What the wheel's own kind of sample is in C: bytes and their number."""

    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


_library = ctypes.CDLL(str(library_path))
_library.dds_write.argtypes = [ctypes.c_int32, ctypes.c_void_p]
_library.dds_write.restype = ctypes.c_int32

_blobs: dict[str, Any] = {}
_bare: dict[int, Any] = {}  # tables of operations without those of the type's information, by the address of the full
_full: dict[int, int] = {}  # the address of the full one, by that of the bare


@dataclass(frozen=True)
class Quality:
    """Quality of service of an endpoint, and what it tells its peers about itself."""

    reliable: bool = True
    transient_local: bool = False
    depth: int = 10
    user_data: bytes = b""
    hears_itself: bool = True  # what this participant writes; of readers

    def policies(self) -> Any:
        """In the words of the wheel; XCDR1 only, as ROS 2 has it."""
        return Qos(
            Policy.Reliability.Reliable(BLOCKING) if self.reliable else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if self.transient_local else Policy.Durability.Volatile,
            Policy.SampleBuffer.KeepLast(self.depth),
            Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False),
            Policy.Userdata(self.user_data),
            Policy.IgnoreLocal.Nothing if self.hears_itself else Policy.IgnoreLocal.Participant,
        )


class RawWriter:
    """Writes CDR to a topic."""

    def __init__(self, participant: Participant, topic: str, type_name: str, quality: Quality) -> None:
        self._topic = participant.topic(topic, type_name)
        self._writer = DataWriter(participant.entity, self._topic, qos=quality.policies())
        self.guid: bytes = self._writer.guid.bytes

    def write(self, cdr: bytes) -> None:
        """Send; waits for slow reliable peers a tenth of a second at most, and lets other threads run meanwhile."""
        padded = cdr + bytes(-len(cdr) % 4)
        code = _library.dds_write(self._writer._ref, ctypes.byref(_Sample(padded, len(padded))))
        if code < 0 and code != DDSException.DDS_RETCODE_TIMEOUT:
            raise OSError(f"Cyclone DDS does not take a message: {DDSException(code)}")

    @property
    def matched(self) -> int:
        """How many readers there are."""
        found: int = self._writer.get_publication_matched_status().current_count
        return found


class RawReader:
    """Reads CDR from a topic."""

    def __init__(self, participant: Participant, topic: str, type_name: str, quality: Quality) -> None:
        self._topic = participant.topic(topic, type_name)
        self._reader = DataReader(participant.entity, self._topic, qos=quality.policies())
        self.guid: bytes = self._reader.guid.bytes
        self.condition = ReadCondition(self._reader, ANY)

    def take(self) -> list[bytes]:
        """What has come."""
        found = ddspy_take(self._reader._ref, ANY, 100)
        if isinstance(found, int):
            raise OSError(f"Cyclone DDS gives no messages: {DDSException(found)}")
        return [data for data, info in found if info.valid_data]


class Participant:
    """A participant of a domain. `network` is `loopback`, `any` or an interface's name."""

    def __init__(self, domain: int, network: str) -> None:
        self.domain = domain
        self._owned = _open_domain(domain, network)
        try:
            self.entity = DomainParticipant(domain, qos=Qos(Policy.Userdata(b"enclave=/;")))
        except DDSException as error:
            raise SkerryError(f"there can be no participant in the DDS domain {domain}: {error}") from None
        self.guid: bytes = self.entity.guid.bytes
        self._guard = GuardCondition(self.entity)
        self._waits = WaitSet(self.entity)
        self._waits.attach(self._guard)
        self._types: dict[str, int] = {}  # where they are in Cyclone DDS, for as long as the participant is

    def topic(self, name: str, type_name: str) -> Any:
        """A topic whose samples are bytes."""
        if (known := self._types.get(type_name)) is not None:
            _give_operations(known, _full.get(_operations(known), _operations(known)))
        found = Topic(self.entity, name, _blob(type_name))
        if (kind := _type_of(found)) is not None:
            self._types[type_name] = kind
            _strip_type_information(kind)
        return found

    def watch(self, reader: RawReader) -> None:
        """Let waits end when it has something."""
        self._waits.attach(reader.condition)

    def wait(self, seconds: float) -> None:
        """Wait until something has come, or somebody wakes it."""
        self._waits.wait(int(seconds * 1e9))
        self._guard.take()

    def wake(self) -> None:
        """End a wait."""
        self._guard.set(True)

    def close(self) -> None:
        """Leave the domain, with all endpoints."""
        self.entity._delete(self.entity._ref)
        if self._owned is not None:
            self._owned._delete(self._owned._ref)
            self._owned = None


def _open_domain(domain: int, network: str) -> Any:
    """The domain, configured, unless somebody has done that: CYCLONEDDS_URI, or another part of this process."""
    if os.environ.get("CYCLONEDDS_URI"):
        return None
    if network == "loopback":
        text = CONFIGURATION.format(interfaces=LOOPBACK, discovery=PEERS)
    else:
        named = f'<Interfaces><NetworkInterface name="{network}"/></Interfaces>' if network != "any" else ""
        text = CONFIGURATION.format(interfaces=named, discovery="")
    try:
        return Domain(domain, text)
    except DDSException as error:
        if error.code == DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
            return None
        raise SkerryError(f"the DDS domain {domain} cannot be opened on the network {network!r}: {error}") from None


def _blob(type_name: str) -> Any:
    """A structure of one octet under a type's name."""
    if type_name not in _blobs:

        def fill(names: dict[str, Any]) -> None:
            names |= {"__annotations__": {"octet": uint8}, "__module__": __name__}

        made = types.new_class("Blob", (IdlStruct,), {"typename": type_name.replace("::", ".")}, fill)
        _blobs[type_name] = dataclass(made)
    return _blobs[type_name]


def _type_of(topic: Any) -> int | None:
    """Where Cyclone DDS has a topic's type, if the wheel is the one that this was written for."""
    found = ctypes.c_void_p()
    if version("cyclonedds") != TESTED:
        return None
    if _library.dds_get_entity_sertype(ctypes.c_int32(topic._ref), ctypes.byref(found)) != 0:
        return None
    return found.value


def _operations(kind: int) -> int:
    """Where the table of a type's operations is."""
    return ctypes.c_size_t.from_address(kind).value


def _give_operations(kind: int, table: int) -> None:
    ctypes.c_size_t.from_address(kind).value = table


def _strip_type_information(kind: int) -> None:
    """Let a type not tell what it is made of, as that is not true, and Fast DDS 3 compares it.

    It gets a copy of its table of operations without those three. Before another topic of the same type is made it
    must have its own table back: Cyclone DDS compares tables, and would keep a second type of the same name; with some
    thirty of them, its table of types grows until there is no memory left.
    """
    full = _operations(kind)
    if full not in _bare:
        table = (ctypes.c_void_p * OPERATIONS)(*(ctypes.c_void_p * OPERATIONS).from_address(full))
        for number in TYPE_INFORMATION:
            table[number] = None
        _bare[full] = table
        _full[ctypes.addressof(table)] = full
    _give_operations(kind, ctypes.addressof(_bare[full]))


def self_test(participant: Participant) -> None:
    """Send a message to ourselves; an error if it does not come back as it went."""
    name = f"skerry_self_test_{os.getpid()}"
    reader = RawReader(participant, name, "skerry::Test_", Quality())
    writer = RawWriter(participant, name, "skerry::Test_", Quality())
    sent = b"\x00\x01\x00\x00" + bytes(range(200, 237))
    writer.write(sent)
    end = time.monotonic() + 2.0
    while not (came := reader.take()) and time.monotonic() < end:
        time.sleep(0.001)
    if [data[: len(sent)] for data in came] != [sent]:
        raise SkerryError(
            f"cyclonedds {version('cyclonedds')} does not carry raw messages as {TESTED} does: {came!r:.80} came back; "
            f"{INSTALL}"
        )
