"""Raw CDR over Cyclone DDS: all uses of private parts of the package `cyclonedds`, and a self-test.

The package requires messages as its own classes, whose encoding is slow. Here each topic is declared as a structure of
one octet with the name of the real type. The normalisation of the package then changes the first byte only, and its
sample keeps the whole payload. Written for version 11.0, where `pysertype.c` has this behaviour.
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

INSTALL: Final = "install it with `pip install 'skerry[ros]'`; wheels exist for Linux on x86-64, Windows and macOS"

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
# Peers that discover by multicast only, such as Fast DDS by default, are found only if we announce ourselves.
# The announcements go to each port, every half second, and never stop (by default they stop after half a minute).
PEERS: Final = """<Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>30</MaxAutoParticipantIndex><SPDPInterval>500ms</SPDPInterval>
<InitialLocatorPruneDelay>inf</InitialLocatorPruneDelay>
<Peers><Peer Address="127.0.0.1"/></Peers></Discovery>"""
# Largest possible datagrams: with smaller fragments, readers of Fast DDS lose most of a large image.
CONFIGURATION: Final = """<CycloneDDS><Domain Id="any"><General>{interfaces}
<MaxMessageSize>65500B</MaxMessageSize></General>{discovery}</Domain></CycloneDDS>"""

PARTICIPANT_DATA: Final = b"enclave=/;"
"""User data of a participant of ROS 2."""

ANY: Final = SampleState.Any | ViewState.Any | InstanceState.Any
BLOCKING: Final = 100_000_000  # ns that a reliable write may wait for a slow peer; the default of DDS
TESTED: Final = "11.0.1"  # version of cyclonedds for which this module is written
# Indices of type_id, type_map and type_info in the table of operations of a type (ddsi_sertype_ops) of that version.
TYPE_INFORMATION: Final = (8, 9, 10)
OPERATIONS: Final = 14  # size of the table of operations


class _Sample(ctypes.Structure):
    """C structure of a sample of the package: bytes and their count."""

    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


_library = ctypes.CDLL(str(library_path))
_library.dds_write.argtypes = [ctypes.c_int32, ctypes.c_void_p]
_library.dds_write.restype = ctypes.c_int32

_blobs: dict[str, Any] = {}
_bare: dict[int, Any] = {}  # tables without the operations of type information, by the address of the full table
_full: dict[int, int] = {}  # address of the full table, by the address of the bare table


@dataclass(frozen=True)
class EndpointQos:
    """Quality of service of an endpoint, and the user data that its peers receive."""

    reliable: bool = True
    transient_local: bool = False
    depth: int = 10
    user_data: bytes = b""
    receives_own: bool = True  # for readers: whether they receive messages of this participant

    def policies(self) -> Any:
        """Return the policies in the classes of the package; only XCDR1, as in ROS 2."""
        return Qos(
            Policy.Reliability.Reliable(BLOCKING) if self.reliable else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if self.transient_local else Policy.Durability.Volatile,
            Policy.History.KeepLast(self.depth),
            Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False),
            Policy.Userdata(self.user_data),
            Policy.IgnoreLocal.Nothing if self.receives_own else Policy.IgnoreLocal.Participant,
        )


class DdsWriter:
    """Writer of CDR to a topic."""

    def __init__(self, participant: Participant, topic: str, type_name: str, qos_settings: EndpointQos) -> None:
        self._topic = participant.topic(topic, type_name)
        self._writer = DataWriter(participant.entity, self._topic, qos=qos_settings.policies())
        self.guid: bytes = self._writer.guid.bytes

    def write(self, cdr: bytes) -> None:
        """Send a message. It waits at most 0.1 s for slow reliable peers, and other threads run during the wait."""
        padded = cdr + bytes(-len(cdr) % 4)
        code = _library.dds_write(self._writer._ref, ctypes.byref(_Sample(padded, len(padded))))
        if code < 0 and code != DDSException.DDS_RETCODE_TIMEOUT:
            raise OSError(f"Cyclone DDS cannot send the message: {DDSException(code)}")

    @property
    def matched(self) -> int:
        """Number of matched readers."""
        found: int = self._writer.get_publication_matched_status().current_count
        return found


class DdsReader:
    """Reader of CDR from a topic."""

    def __init__(self, participant: Participant, topic: str, type_name: str, qos_settings: EndpointQos) -> None:
        self._topic = participant.topic(topic, type_name)
        self._reader = DataReader(participant.entity, self._topic, qos=qos_settings.policies())
        self.guid: bytes = self._reader.guid.bytes
        self.condition = ReadCondition(self._reader, ANY)

    def take(self) -> list[bytes]:
        """Return the received messages and remove them from the reader."""
        found = ddspy_take(self._reader._ref, ANY, 100)
        if isinstance(found, int):
            raise OSError(f"Cyclone DDS cannot read messages: {DDSException(found)}")
        return [data for data, info in found if info.valid_data]


class Participant:
    """Participant of a domain; `network` is `loopback`, `any` or the name of a network interface."""

    def __init__(self, domain: int, network: str) -> None:
        self.domain = domain
        self._owned = _open_domain(domain, network)
        try:
            self.entity = DomainParticipant(domain, qos=Qos(Policy.Userdata(PARTICIPANT_DATA)))
        except DDSException as error:
            raise SkerryError(f"cannot create a participant in the DDS domain {domain}: {error}") from None
        self.guid: bytes = self.entity.guid.bytes
        self._guard = GuardCondition(self.entity)
        self._waits = WaitSet(self.entity)
        self._waits.attach(self._guard)
        self._types: dict[str, int] = {}  # addresses of types in Cyclone DDS, valid during the life of the participant

    def topic(self, name: str, type_name: str) -> Any:
        """Return a topic whose samples are bytes."""
        if (known := self._types.get(type_name)) is not None:
            _set_operations(known, _full.get(_operations(known), _operations(known)))
        found = Topic(self.entity, name, _blob(type_name))
        if (kind := _type_of(found)) is not None:
            self._types[type_name] = kind
            _strip_type_information(kind)
        return found

    def watch(self, reader: DdsReader) -> None:
        """End `wait` when this reader receives a message."""
        self._waits.attach(reader.condition)

    def wait(self, seconds: float) -> None:
        """Wait until a message is received, `wake` is called or the time has passed."""
        self._waits.wait(int(seconds * 1e9))
        self._guard.take()

    def wake(self) -> None:
        """End `wait`."""
        self._guard.set(True)

    def close(self) -> None:
        """Leave the domain and delete all endpoints."""
        self.entity._delete(self.entity._ref)
        if self._owned is not None:
            self._owned._delete(self._owned._ref)
            self._owned = None


def _open_domain(domain: int, network: str) -> Any:
    """Configure and return the domain; None if CYCLONEDDS_URI or other code of this process has configured it."""
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
    """Return a structure of one octet with the name of a type."""
    if type_name not in _blobs:

        def fill(names: dict[str, Any]) -> None:
            names |= {"__annotations__": {"octet": uint8}, "__module__": __name__}

        made = types.new_class("Blob", (IdlStruct,), {"typename": type_name.replace("::", ".")}, fill)
        _blobs[type_name] = dataclass(made)
    return _blobs[type_name]


def _type_of(topic: Any) -> int | None:
    """Return the address of a topic's type in Cyclone DDS; None if the version of the package is another one."""
    found = ctypes.c_void_p()
    if version("cyclonedds") != TESTED:
        return None
    if _library.dds_get_entity_sertype(ctypes.c_int32(topic._ref), ctypes.byref(found)) != 0:
        return None
    return found.value


def _operations(kind: int) -> int:
    """Return the address of a type's table of operations."""
    return ctypes.c_size_t.from_address(kind).value


def _set_operations(kind: int, table: int) -> None:
    ctypes.c_size_t.from_address(kind).value = table


def _strip_type_information(kind: int) -> None:
    """Remove the type information of a type, because it is wrong and Fast DDS 3 compares it.

    The type gets a copy of its table of operations without these three operations. Its own table must be restored
    before another topic of the same type is created. Cyclone DDS compares the tables and would otherwise add a second
    type of the same name; with about thirty of them its table of types grows without limit.
    """
    full = _operations(kind)
    if full not in _bare:
        table = (ctypes.c_void_p * OPERATIONS)(*(ctypes.c_void_p * OPERATIONS).from_address(full))
        for number in TYPE_INFORMATION:
            table[number] = None
        _bare[full] = table
        _full[ctypes.addressof(table)] = full
    _set_operations(kind, ctypes.addressof(_bare[full]))


def self_test(participant: Participant) -> None:
    """Send a message to this participant, and raise SkerryError if it is not received unchanged."""
    name = f"skerry_self_test_{os.getpid()}"
    qos = EndpointQos(user_data=b"typehash=RIHS01_" + b"0" * 64 + b";")  # peers warn of topics without a hash
    reader = DdsReader(participant, name, "skerry::Test_", qos)
    writer = DdsWriter(participant, name, "skerry::Test_", qos)
    sent = b"\x00\x01\x00\x00" + bytes(range(200, 237))
    writer.write(sent)
    end = time.monotonic() + 2.0
    while not (received := reader.take()) and time.monotonic() < end:
        time.sleep(0.001)
    if [data[: len(sent)] for data in received] != [sent]:
        raise SkerryError(
            f"cyclonedds {version('cyclonedds')} cannot send raw messages as {TESTED} does: the self-test received "
            f"{received!r:.80}; "
            f"{INSTALL}"
        )
