"""TCP server with one thread per client; a slow client delays neither other clients nor the world."""

from __future__ import annotations

import logging
import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from skerry.core.errors import SkerryError

logger = logging.getLogger("skerry")

MAX_CLIENTS: Final = 64
"""Number of clients per port; further connections are closed immediately."""
SEND_TIMEOUT: Final = 10.0
"""Time after which a client that does not read an answer is disconnected, s."""
MAX_PUSHED: Final = 100
"""Number of pushed messages that wait for a client; the oldest are dropped."""
RECEIVE_SIZE: Final = 65_536
"""Largest number of bytes that one call receives."""
DO_NOT_WAIT: Final = getattr(socket, "MSG_DONTWAIT", 0)
"""Flag of a send that does not block; Windows lacks it, but its buffers have room for small messages."""


class ClientDisconnected(Exception):
    """The client closed the connection, or was disconnected."""


class ClientConnection:
    """Connection to one client. Its thread receives and sends; other threads may push small messages without blocking.

    The timeouts are those of the kernel. With Python's own timeouts every call would poll first, and so release the
    interpreter lock once more and wait to get it back.
    """

    def __init__(self, opened: socket.socket) -> None:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        opened.settimeout(None)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _encode_timeout(SEND_TIMEOUT))
        self._socket = opened
        self._sending = Lock()
        self._pushed: deque[bytes] = deque(maxlen=MAX_PUSHED)
        self._enable_quick_ack()

    def set_receive_timeout(self, seconds: float) -> None:
        """Set the time after which `receive` returns None if no data arrives, s."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _encode_timeout(seconds))

    def receive(self) -> bytes | None:
        """Return the next received bytes, or None after the receive timeout.

        Raises:
            ClientDisconnected: The connection is closed.
        """
        try:
            data = self._socket.recv(RECEIVE_SIZE)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError as error:
            raise ClientDisconnected(str(error)) from None
        if not data:
            raise ClientDisconnected("")
        self._enable_quick_ack()
        return data

    def _enable_quick_ack(self) -> None:
        """Make the kernel acknowledge received data immediately.

        Real clients send a header and then a body. Their kernel holds the body back until the header is acknowledged,
        and our kernel would delay that by 40 ms. Linux resets the option after a while and after each send, so it is
        set again after every call.
        """
        if hasattr(socket, "TCP_QUICKACK"):
            with suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def send(self, data: bytes) -> None:
        """Send an answer in one write.

        Raises:
            ClientDisconnected: The connection is closed, or the client did not read within `SEND_TIMEOUT`.
        """
        with self._sending:
            try:
                self._socket.sendall(data)
            except BlockingIOError:
                raise ClientDisconnected("it stopped reading") from None
            except OSError as error:
                raise ClientDisconnected(str(error)) from None
        self._enable_quick_ack()
        self._send_pushed()

    def push(self, data: bytes) -> None:
        """Send a small message that is not an answer, immediately or after the answer in progress."""
        self._pushed.append(data)
        self._send_pushed()

    def _send_pushed(self) -> None:
        while self._pushed and self._sending.acquire(blocking=False):  # the holder of the lock calls this afterwards
            try:
                while self._pushed:
                    data = self._pushed.popleft()
                    if self._socket.send(data, DO_NOT_WAIT) < len(data):
                        self.shut_down()
            except BlockingIOError:
                self.shut_down()  # the client has not read for so long that the send buffer is full
            except OSError:
                self._pushed.clear()
            finally:
                self._sending.release()

    def shut_down(self) -> None:
        """End the connection; any thread may call this."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the socket; only the connection's own thread may call this."""
        self._socket.close()


def _encode_timeout(seconds: float) -> bytes | int:
    """Return a timeout in the form of the kernel: a `timeval`, or milliseconds on Windows."""
    if os.name == "nt":
        return round(1e3 * seconds)
    return struct.pack("ll", int(seconds), int(1e6 * (seconds % 1.0)))


class OkonServer:
    """Server of one port; calls `serve` for each client, in a thread of the client."""

    def __init__(self, name: str, host: str, port: int, serve: Callable[[ClientConnection], None]) -> None:
        """Start to listen.

        Args:
            name: Name of the channel, for messages.
            host: Address to listen at.
            port: Port to listen at; 0 is any free port.
            serve: Function that serves a client; the connection is closed when it returns.

        Raises:
            SkerryError: The port cannot be opened.
        """
        self.name, self._serve = name, serve
        try:
            self._listener = socket.create_server((host, port), backlog=MAX_CLIENTS)
        except OSError as error:
            raise SkerryError(
                f"okon cannot listen for {name} at {host}:{port}: {error}; set another `{name}_port` or `host`"
            ) from None
        self.port: int = self._listener.getsockname()[1]
        self._closed = Event()
        self._lock = Lock()
        self._clients: dict[ClientConnection, Thread] = {}
        self._warned = False
        self._thread = Thread(target=self._accept, name=f"okon {name}", daemon=True)
        self._thread.start()

    @property
    def clients(self) -> list[ClientConnection]:
        """Connected clients."""
        with self._lock:
            return list(self._clients)

    def close(self) -> None:
        """Disconnect all clients and stop listening; a second call has no effect."""
        self._closed.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._listener.close()
        self._thread.join(timeout=5.0)
        with self._lock:
            clients = dict(self._clients)
        for client in clients:
            client.shut_down()
        for thread in clients.values():
            thread.join(timeout=5.0)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                opened, address = self._listener.accept()
            except OSError:
                if self._closed.wait(0.1):  # a temporary error, such as too many open files, is tried again
                    return
                continue
            with self._lock:
                if len(self._clients) >= MAX_CLIENTS:
                    opened.close()
                    if not self._warned:
                        logger.warning(
                            "okon: %s has %d clients, the maximum; further clients are refused", self.name, MAX_CLIENTS
                        )
                    self._warned = True
                    continue
                try:
                    client = ClientConnection(opened)
                except OSError:
                    opened.close()
                    continue
                name = f"{self.name} {address[0]}:{address[1]}"
                thread = Thread(target=self._run_client, args=(client, name), name=f"okon {name}", daemon=True)
                self._clients[client] = thread
                thread.start()

    def _run_client(self, client: ClientConnection, name: str) -> None:
        logger.info("okon: client %s connected", name)
        reason = ""
        try:
            self._serve(client)
        except ClientDisconnected as error:
            reason = str(error)
        except SkerryError as error:
            logger.warning("okon: client %s sent invalid data; disconnected: %s", name, error)
        except Exception:
            logger.exception("okon: internal error while serving client %s; disconnected", name)
        finally:
            with self._lock:
                self._clients.pop(client, None)
            client.shut_down()
            client.close()
            logger.info("okon: client %s disconnected%s", name, f": {reason}" if reason else "")
