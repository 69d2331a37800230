"""A TCP server: each client in a thread of its own, none of which can hold up another, or the world."""

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

MOST_CLIENTS: Final = 64  # at a port; who comes then is turned away
SLOWEST: Final = 10.0  # s that a client may take to take an answer; then it is let go
MOST_PUSHED: Final = 100  # messages that wait for a client that takes none
PIECE: Final = 65_536  # bytes that are taken at once
DO_NOT_WAIT: Final = getattr(socket, "MSG_DONTWAIT", 0)  # Windows has none, and has room for what is small


class Gone(Exception):
    """The client went away, or was let go."""


class Connection:
    """One client. Its own thread receives and sends; any thread may push something small, which never blocks.

    The kernel keeps the time-outs, not Python, which would poll before each call: every call lets go of the
    interpreter, and who wants it back may have to wait for whoever runs.
    """

    def __init__(self, opened: socket.socket) -> None:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        opened.settimeout(None)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _time_out(SLOWEST))
        self._socket = opened
        self._sending = Lock()
        self._pushed: deque[bytes] = deque(maxlen=MOST_PUSHED)
        self._acknowledge_at_once()

    def wait_at_most(self, seconds: float) -> None:
        """Let `receive` return after so long a silence, too."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _time_out(seconds))

    def receive(self) -> bytes | None:
        """What came; None if nothing came in time."""
        try:
            data = self._socket.recv(PIECE)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError as error:
            raise Gone(str(error)) from None
        if not data:
            raise Gone("")
        self._acknowledge_at_once()
        return data

    def _acknowledge_at_once(self) -> None:
        """Real clients send a header and then a body, and their kernel holds the body back until the header is
        acknowledged, which ours would put off by 40 ms. Linux forgets this after a while, and whenever something is
        sent, so it is said each time; then what comes is acknowledged as soon as the thread that receives it wakes."""
        if hasattr(socket, "TCP_QUICKACK"):
            with suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def send(self, data: bytes) -> None:
        """Send an answer, in one piece."""
        with self._sending:
            try:
                self._socket.sendall(data)
            except BlockingIOError:
                raise Gone("it takes no answer") from None
            except OSError as error:
                raise Gone(str(error)) from None
        self._acknowledge_at_once()
        self._push_on()

    def push(self, data: bytes) -> None:
        """Send something small that nobody asked for, as soon as it may."""
        self._pushed.append(data)
        self._push_on()

    def _push_on(self) -> None:
        while self._pushed and self._sending.acquire(blocking=False):  # who holds it comes by here afterwards
            try:
                while self._pushed:
                    data = self._pushed.popleft()
                    if self._socket.send(data, DO_NOT_WAIT) < len(data):
                        self.shut()
            except BlockingIOError:
                self.shut()  # a client that has taken nothing for so long that its buffer is full
            except OSError:
                self._pushed.clear()
            finally:
                self._sending.release()

    def shut(self) -> None:
        """End it, from any thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Free it; only by its own thread."""
        self._socket.close()


def _time_out(seconds: float) -> bytes | int:
    """A time-out as the kernel takes it: a `timeval`, or milliseconds on Windows."""
    if os.name == "nt":
        return round(1e3 * seconds)
    return struct.pack("ll", int(seconds), int(1e6 * (seconds % 1.0)))


class Server:
    """Listens, and lets `talk` speak with each client until it returns or the client goes."""

    def __init__(self, name: str, host: str, port: int, talk: Callable[[Connection], None]) -> None:
        self.name, self._talk = name, talk
        try:
            self._listener = socket.create_server((host, port), backlog=MOST_CLIENTS)
        except OSError as error:
            raise SkerryError(
                f"okon cannot listen for {name} at {host}:{port}: {error}; give another port, or another `host`"
            ) from None
        self.port: int = self._listener.getsockname()[1]
        self._closed = Event()
        self._lock = Lock()
        self._clients: dict[Connection, Thread] = {}
        self._told = False
        self._thread = Thread(target=self._accept, name=f"okon {name}", daemon=True)
        self._thread.start()

    @property
    def clients(self) -> list[Connection]:
        """Those who are here."""
        with self._lock:
            return list(self._clients)

    def close(self) -> None:
        """Let all go; closing twice is harmless."""
        self._closed.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
        self._listener.close()
        self._thread.join(timeout=5.0)
        with self._lock:
            clients = dict(self._clients)
        for client in clients:
            client.shut()
        for thread in clients.values():
            thread.join(timeout=5.0)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                opened, address = self._listener.accept()
            except OSError:
                if self._closed.wait(0.1):  # no more files, say: that passes
                    return
                continue
            with self._lock:
                if len(self._clients) >= MOST_CLIENTS:
                    opened.close()
                    if not self._told:
                        logger.warning("okon: more than %d clients for %s; others wait", MOST_CLIENTS, self.name)
                    self._told = True
                    continue
                try:
                    client = Connection(opened)
                except OSError:
                    opened.close()
                    continue
                name = f"{self.name} {address[0]}:{address[1]}"
                thread = Thread(target=self._serve, args=(client, name), name=f"okon {name}", daemon=True)
                self._clients[client] = thread
                thread.start()

    def _serve(self, client: Connection, name: str) -> None:
        logger.info("okon: a client came: %s", name)
        why = ""
        try:
            self._talk(client)
        except Gone as gone:
            why = str(gone)
        except SkerryError as error:
            logger.warning("okon: %s is let go: %s", name, error)
        except Exception:
            logger.exception("okon: %s is let go, by a fault of Skerry's", name)
        finally:
            with self._lock:
                self._clients.pop(client, None)
            client.shut()
            client.close()
            logger.info("okon: a client went: %s%s", name, f" ({why})" if why else "")
