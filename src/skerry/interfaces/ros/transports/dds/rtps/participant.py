"""Sockets and the thread of an RTPS participant."""

from __future__ import annotations

import logging
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import Final

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.transports.dds.rtps.core import Address, Peer, Reader, RtpsCore, Sample, Writer
from skerry.interfaces.ros.transports.dds.rtps.wire import Identity, related_inline

logger = logging.getLogger("skerry")

# Ports of RTPS 2.3, section 9.6.2.
BASE_PORT, DOMAIN_GAIN, PARTICIPANT_GAIN, UNICAST_OFFSET = 7400, 250, 2, 10
MULTICAST: Final = "239.255.0.1"
MAX_INDEX: Final = 30  # participants per machine that are searched, as in the settings of Cyclone DDS
BUFFER: Final = 4_000_000  # B, size of the socket's buffers, if the system permits it
PERIOD: Final = 0.05  # s between checks of the time
GET_ADDRESS: Final = {"linux": 0x8915, "darwin": 0xC0206921}
"""Number of the system call SIOCGIFADDR, which returns the address of a network interface, by platform."""


class RtpsParticipant:
    """Participant of a domain; `network` is `loopback`, `any` or the name of a network interface."""

    def __init__(self, domain: int, network: str, user_data: bytes) -> None:
        host = _host(network)
        is_loopback = network == "loopback"
        self._sockets = [_unicast_socket(domain, "127.0.0.1" if is_loopback else "")]
        self._socket = self._sockets[0]
        first = BASE_PORT + DOMAIN_GAIN * domain
        targets: list[Address] = [(MULTICAST, first)]
        if is_loopback:
            ports = (first + UNICAST_OFFSET + PARTICIPANT_GAIN * index for index in range(MAX_INDEX + 1))
            targets = [(host, port) for port in ports]
        else:
            self._sockets.append(_multicast_socket(first, host))
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(host))
        self._core = RtpsCore(domain, os.urandom(12), (host, self._socket.getsockname()[1]), targets, user_data)
        self._lock = Lock()
        self._warned: set[str] = set()
        self._wake, self._woken = socket.socketpair()
        self._over = False
        self._thread = Thread(target=self._work, name="ros DDS services", daemon=True)
        self._thread.start()

    @property
    def prefix(self) -> bytes:
        """First 12 bytes of the GUIDs of this participant."""
        return self._core.prefix

    def add_writer(self, topic: str, type_name: str, user_data: bytes) -> tuple[Writer, bytes]:
        """Add a writer, and return it and its GUID."""
        with self._lock:
            writer = self._core.add_writer(topic, type_name, user_data)
            self._flush()
            return writer, self._core.guid(writer)

    def add_reader(
        self, topic: str, type_name: str, user_data: bytes, callback: Callable[[Sample], None]
    ) -> tuple[Reader, bytes]:
        """Add a reader, and return it and its GUID; `callback` is called in the thread of this participant."""
        with self._lock:
            reader = self._core.add_reader(topic, type_name, user_data, callback)
            self._flush()
            return reader, self._core.guid(reader)

    def matched(self, writer: Writer) -> list[Peer]:
        """Return the participants with readers of a writer."""
        with self._lock:
            return self._core.matched(writer)

    def write(self, writer: Writer, cdr: bytes, prefix: bytes, related: Identity | None = None) -> int:
        """Send a sample to the readers of one participant.

        Args:
            writer: Writer of the sample.
            cdr: Payload.
            prefix: Prefix of the participant's GUIDs.
            related: Identity of the related sample, sent as an inline parameter.

        Returns:
            Number of the sample.
        """
        with self._lock:
            peer = self._core.peers.get(prefix)
            inline = b"" if related is None else related_inline(related)
            number = self._core.write(writer, cdr, inline, prefix, None if peer is None else peer.default)
            self._flush()
            return number

    def new_user_data(self) -> list[bytes]:
        """Return the user data of endpoints that were discovered since the last call."""
        with self._lock:
            found, self._core.user_data_of_endpoints = self._core.user_data_of_endpoints, []
            return found

    def close(self) -> None:
        """Leave the domain."""
        self._over = True
        self._wake.send(b"\0")
        self._thread.join(timeout=5.0)
        with self._lock:
            self._core.leave()
            self._flush()
        for each in (*self._sockets, self._wake, self._woken):
            each.close()

    def _work(self) -> None:
        while not self._over:
            ready, _, _ = select.select([*self._sockets, self._woken], [], [], PERIOD)
            with self._lock:
                for each in ready:
                    if each is not self._woken:
                        self._receive(each)
                self._core.tick(time.monotonic())
                self._flush()
                received, self._core.received = self._core.received, []
            for callback, sample in received:
                callback(sample)

    def _receive(self, ready: socket.socket) -> None:
        for _ in range(100):
            try:
                datagram, sender = ready.recvfrom(65536)
            except BlockingIOError:
                return
            except OSError:  # a peer has closed its port
                continue
            try:
                self._core.receive(datagram, sender[:2], time.monotonic())
            except ProtocolError as error:
                if sender[0] not in self._warned and len(self._warned) < 100:
                    self._warned.add(sender[0])
                    logger.warning("DDS peer %s sent invalid data, which is ignored: %s", sender[0], error)

    def _flush(self) -> None:
        outgoing, self._core.outgoing = self._core.outgoing, []
        for datagram, address in outgoing:
            try:
                self._socket.sendto(datagram, address)
            except OSError:  # the buffer is full or the peer is gone; the protocol repeats what is needed
                continue


def _host(network: str) -> str:
    """Return the own address in a network."""
    if network == "loopback":
        return "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        if network != "any" and sys.platform in GET_ADDRESS:
            import fcntl

            request = struct.pack("256s", network.encode()[:15])
            try:
                return socket.inet_ntoa(fcntl.ioctl(probe.fileno(), GET_ADDRESS[sys.platform], request)[20:24])
            except OSError as error:
                raise SkerryError(f"the network interface {network!r} has no IPv4 address: {error}") from None
        try:
            probe.connect((MULTICAST, 9))  # sends nothing; it selects the interface
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _unicast_socket(domain: int, host: str) -> socket.socket:
    """Return a socket on the first free port of the domain's participants."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        made.setsockopt(socket.SOL_SOCKET, option, BUFFER)
    first = BASE_PORT + DOMAIN_GAIN * domain + UNICAST_OFFSET
    for port in [*(first + PARTICIPANT_GAIN * index for index in range(MAX_INDEX + 1)), 0]:
        try:
            made.bind((host, port))
            return made
        except (OSError, OverflowError):
            continue
    made.close()
    raise SkerryError(f"no UDP port is free for the DDS domain {domain}")


def _multicast_socket(port: int, host: str) -> socket.socket:
    """Return a socket that receives the announcements of participants."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(("", port))
    made.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(MULTICAST) + socket.inet_aton(host))
    return made
