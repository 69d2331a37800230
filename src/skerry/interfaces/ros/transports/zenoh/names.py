"""How ROS 2 names things on Zenoh, after rmw_zenoh_cpp, and what goes along with messages and calls there.

Its `docs/design.md` and `rmw_zenoh_cpp/src/detail`, since 0.1.2 of Humble, 0.2.4 of Jazzy and
0.6.0 of Kilted; attachments were others before.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from skerry.interfaces.ros.bus.bus import Qos
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import BadMessage
from skerry.interfaces.ros.messages.type_store import Vocabulary
from skerry.interfaces.ros.transports.dds.names import type_of

Kind: TypeAlias = Literal["NN", "MP", "MS", "SS", "SC"]
"""Of what a token tells: a node, who says and who hears a topic, who offers and who calls a service."""
KINDS: Final[dict[str, Kind]] = {"NN": "NN", "MP": "MP", "MS": "MS", "SS": "SS", "SC": "SC"}

SPACE: Final = "@ros2_lv"
NO_HASH: Final = "TypeHashNotSupported"
"""What Humble has in the place of a type's hash."""
GID_BYTES: Final = 16  # in Humble too, whatever its rmw says
DEFAULT_DEPTH: Final = 42
NODE_PARTS: Final = 9
ENTITY_PARTS: Final = 13  # at least; what supports buffers, since 0.10.5, tells more at the end


@dataclass(frozen=True)
class Named:
    """A topic or a service as peers tell it apart: all three must be the same."""

    name: str
    type: str  # as on DDS; that of a service is without `Request_`
    hash: str

    @classmethod
    def of(cls, vocabulary: Vocabulary, name: str, type_name: str) -> Named:
        """One of ours."""
        has_hashes = vocabulary.distribution != "humble"
        return cls(name, type_of(type_name), vocabulary.hash(type_name) if has_hashes else NO_HASH)

    def key(self, domain: int) -> str:
        """What its messages or calls go under."""
        return f"{domain}/{self.name.strip('/')}/{self.type}/{self.hash}"


@dataclass(frozen=True)
class Token:
    """What says that something is there, for as long as its session is."""

    domain: int
    session: str
    number: int
    """Of the thing in its session; that of the only node is 0."""
    kind: Kind
    node: str = NODE
    named: Named | None = None
    quality: str = ""

    def __str__(self) -> str:
        namespace, _, name = self.node.rpartition("/")
        parts = [SPACE, self.domain, self.session, 0, self.number, self.kind, "%", _mangled(namespace or "/"), name]
        if (named := self.named) is not None:
            parts += [_mangled(named.name), named.type, named.hash, self.quality]
        return "/".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> Token:
        """The token of a peer."""
        parts = text.split("/")
        if len(parts) < NODE_PARTS or parts[0] != SPACE or not all(parts):
            raise BadMessage(f"{text[:100]!r} is no token of a thing of ROS 2")
        _, domain, session, _, number, word, _, namespace, name = parts[:NODE_PARTS]
        if not (_is_number(domain) and _is_number(number)):
            raise BadMessage(f"{text[:100]!r} has no numbers where a token of ROS 2 has them")
        kind = KINDS.get(word)
        node = f"{_demangled(namespace).rstrip('/')}/{name}"
        if kind == "NN":
            return cls(int(domain), session, int(number), kind, node)
        if kind is None or len(parts) < ENTITY_PARTS:
            raise BadMessage(f"{text[:100]!r} tells of nothing that is known")
        topic, type_name, type_hash, quality = parts[NODE_PARTS:ENTITY_PARTS]
        named = Named(_demangled(topic), _demangled(type_name), _demangled(type_hash))
        return cls(int(domain), session, int(number), kind, node, named, quality)


def tokens_of(domain: int) -> str:
    """The tokens of everything in a domain."""
    return f"{SPACE}/{domain}/**"


def quality_of(qos: Qos) -> str:
    """What differs from the defaults, which are reliable, volatile and the last 42; the rest is never set."""
    reliability = "" if qos.reliable else "2"
    durability = "1" if qos.transient_local else ""
    depth = "" if qos.depth == DEFAULT_DEPTH else str(qos.depth)
    return f"{reliability}:{durability}:,{depth}:,:,:,,"


def attachment_of(number: int, time: int, gid: bytes) -> bytes:
    """What goes along with a message or a call: its number, when it was sent (ns since 1970), and by whom."""
    return struct.pack("<qqB", number, time, len(gid)) + gid


def read_attachment(data: bytes) -> tuple[int, bytes]:
    """The number of a call and who asks, which its answer must repeat."""
    if len(data) != 17 + GID_BYTES or data[16] != GID_BYTES:
        raise BadMessage(f"{len(data)} bytes do not say which call this is; rmw_zenoh has 33 since April 2025")
    (number,) = struct.unpack_from("<q", data)
    return number, data[17:]


def _mangled(name: str) -> str:
    return name.replace("/", "%")


def _demangled(name: str) -> str:
    return name.replace("%", "/")


def _is_number(text: str) -> bool:
    return len(text) < 20 and text.isascii() and text.isdecimal()
