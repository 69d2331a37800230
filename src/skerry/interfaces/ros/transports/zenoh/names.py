"""Names of ROS 2 entities on Zenoh, as in rmw_zenoh_cpp, and the attachments of messages and calls.

The sources are its `docs/design.md` and `rmw_zenoh_cpp/src/detail`, since version 0.1.2 of Humble, 0.2.4 of Jazzy and
0.6.0 of Kilted; earlier versions have other attachments.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from skerry.interfaces.ros.bus.bus import Qos
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import BadMessage
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.dds.names import type_of

EntityKind: TypeAlias = Literal["NN", "MP", "MS", "SS", "SC"]
"""Kind of an entity: node, publisher, subscriber, service server or service client."""
KINDS: Final[dict[str, EntityKind]] = {"NN": "NN", "MP": "MP", "MS": "MS", "SS": "SS", "SC": "SC"}

TOKEN_PREFIX: Final = "@ros2_lv"
NO_HASH: Final = "TypeHashNotSupported"
"""Text that Humble uses instead of a type hash."""
GID_BYTES: Final = 16  # in all distributions
DEFAULT_DEPTH: Final = 42
NODE_PARTS: Final = 9  # parts of the token of a node
ENTITY_PARTS: Final = 13  # parts of other tokens; since 0.10.5 some have further parts at the end


@dataclass(frozen=True)
class EntityName:
    """Identity of a topic or service; entities match if name, type and hash are equal."""

    name: str
    type: str  # as on DDS; for a service without `Request_`
    hash: str

    @classmethod
    def of(cls, type_store: TypeStore, name: str, type_name: str) -> EntityName:
        """Return the identity of an entity of the simulator."""
        has_hashes = type_store.distribution != "humble"
        return cls(name, type_of(type_name), type_store.hash(type_name) if has_hashes else NO_HASH)

    def key(self, domain: int) -> str:
        """Return the Zenoh key of its messages or calls."""
        return f"{domain}/{self.name.strip('/')}/{self.type}/{self.hash}"


@dataclass(frozen=True)
class LivelinessToken:
    """Liveliness token, which announces an entity during the life of its session."""

    domain: int
    session: str
    number: int
    """Number of the entity in its session; the node has the number 0."""
    kind: EntityKind
    node: str = NODE
    named: EntityName | None = None
    quality: str = ""

    def __str__(self) -> str:
        namespace, _, name = self.node.rpartition("/")
        parts = [
            TOKEN_PREFIX,
            self.domain,
            self.session,
            0,
            self.number,
            self.kind,
            "%",
            _mangle(namespace or "/"),
            name,
        ]
        if (named := self.named) is not None:
            parts += [_mangle(named.name), named.type, named.hash, self.quality]
        return "/".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> LivelinessToken:
        """Parse the token of a peer."""
        parts = text.split("/")
        if len(parts) < NODE_PARTS or parts[0] != TOKEN_PREFIX or not all(parts):
            raise BadMessage(f"{text[:100]!r} is not a ROS 2 liveliness token")
        _, domain, session, _, number, kind_name, _, namespace, name = parts[:NODE_PARTS]
        if not (_is_number(domain) and _is_number(number)):
            raise BadMessage(
                f"{text[:100]!r} is not a ROS 2 liveliness token: the domain and the number must be integers"
            )
        kind = KINDS.get(kind_name)
        node = f"{_demangle(namespace).rstrip('/')}/{name}"
        if kind == "NN":
            return cls(int(domain), session, int(number), kind, node)
        if kind is None or len(parts) < ENTITY_PARTS:
            raise BadMessage(f"{text[:100]!r} is a liveliness token of an unknown kind")
        topic, type_name, type_hash, quality = parts[NODE_PARTS:ENTITY_PARTS]
        named = EntityName(_demangle(topic), _demangle(type_name), _demangle(type_hash))
        return cls(int(domain), session, int(number), kind, node, named, quality)


def tokens_of(domain: int) -> str:
    """Return the key expression of all tokens in a domain."""
    return f"{TOKEN_PREFIX}/{domain}/**"


def quality_of(qos: Qos) -> str:
    """Return the quality of service as text; defaults (reliable, volatile, depth 42) are left empty."""
    reliability = "" if qos.reliable else "2"
    durability = "1" if qos.transient_local else ""
    depth = "" if qos.depth == DEFAULT_DEPTH else str(qos.depth)
    return f"{reliability}:{durability}:,{depth}:,:,:,,"


def attachment_of(number: int, time: int, gid: bytes) -> bytes:
    """Return the attachment of a message or call: its number, the time it was sent (ns since 1970), and the sender."""
    return struct.pack("<qqB", number, time, len(gid)) + gid


def read_attachment(data: bytes) -> tuple[int, bytes]:
    """Return the number and the sender of a call, which the response must repeat."""
    if len(data) != 17 + GID_BYTES or data[16] != GID_BYTES:
        raise BadMessage(
            f"the attachment of the call has {len(data)} bytes and is not that of rmw_zenoh since April 2025, which "
            f"has {17 + GID_BYTES} bytes with a GID of {GID_BYTES}"
        )
    (number,) = struct.unpack_from("<q", data)
    return number, data[17:]


def _mangle(name: str) -> str:
    return name.replace("/", "%")


def _demangle(name: str) -> str:
    return name.replace("%", "/")


def _is_number(text: str) -> bool:
    return len(text) < 20 and text.isascii() and text.isdecimal()
