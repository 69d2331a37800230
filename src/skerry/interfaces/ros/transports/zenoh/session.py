"""Zenoh session that sends and receives bytes, with the package `eclipse-zenoh`.

Callbacks run in threads of Zenoh, which must not block. A callback that is passed to this module therefore only puts a
job into a queue.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from threading import Thread
from typing import Any, Final

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Qos
from skerry.interfaces.ros.transports.zenoh.names import attachment_of

try:
    import xxhash
    import zenoh
    from zenoh.ext import CacheConfig, MissDetectionConfig, declare_advanced_publisher
    from zenoh.handlers import Callback
except ImportError as problem:
    raise SkerryError(
        f"the transport `zenoh` needs the packages eclipse-zenoh and xxhash: {problem}; install them with "
        "`pip install 'skerry[zenoh]'`"
    ) from None

HEARTBEAT: Final = 0.5  # s; longest time between heartbeats of a latched topic, as in rmw_zenoh
RETRY: Final = 1000  # ms between attempts to connect
CLOSE_TIMEOUT: Final = 2.0  # s to wait for peers when the session is closed
CODE_LOCATION: Final = re.compile(r"\s*at \S+\.rs:\d+\.?")  # location in the code of Zenoh in an error message


def gid_of(token: str) -> bytes:
    """Return the global id of the entity with this token: XXH3-128 of the token, lower half first."""
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


class ZenohWriter:
    """Writer of CDR under a key."""

    def __init__(self, publisher: Any, gid: bytes, is_latched: bool) -> None:
        self._publisher, self._gid, self._is_latched = publisher, gid, is_latched
        self._numbers = count(1)

    @property
    def matched(self) -> int:
        """1 if there is a subscriber or the topic is latched, which has no such information; otherwise 0."""
        return 1 if self._is_latched else int(self._publisher.matching_status.matching)

    def write(self, cdr: bytes) -> None:
        """Send a message; it is dropped if a connection cannot accept it immediately."""
        try:
            self._publisher.put(cdr, attachment=attachment_of(next(self._numbers), time.time_ns(), self._gid))
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None


class ZenohQuery:
    """Call of a peer that waits for a response."""

    def __init__(self, key: str, query: Any) -> None:
        self._key, self._query = key, query
        self.cdr = _bytes(query.payload)
        self.attachment = _bytes(query.attachment)

    def reply(self, cdr: bytes, attachment: bytes) -> None:
        """Send the response."""
        with suppress(zenoh.ZError), self._query as query:  # the peer may have disconnected
            query.reply(self._key, cdr, attachment=attachment)

    def refuse(self, reason: str) -> None:
        """Send an error, which rmw_zenoh writes to the log of the peer."""
        with suppress(zenoh.ZError), self._query as query:
            query.reply_err(reason)


class ZenohSession:
    """Zenoh session; the constructor raises OSError if it cannot be opened."""

    def __init__(self, mode: str, connect: Sequence[str], listen: Sequence[str], multicast: bool) -> None:
        try:
            self._session = zenoh.open(zenoh.Config.from_json5(configuration(mode, connect, listen, multicast)))
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None
        self.identity = str(self._session.zid())
        self._kept: list[Any] = []  # declarations, which end when they are deleted

    @property
    def neighbours(self) -> int:
        """Number of connected routers and peers."""
        info = self._session.info
        return len(info.routers_zid()) + len(info.peers_zid())

    def announce(self, token: str) -> None:
        """Declare a liveliness token."""
        self._keep(lambda: self._session.liveliness().declare_token(token))

    def watch(self, tokens: str, found: Callable[[str], None]) -> None:
        """Call `found` with each existing and each new token of peers that matches a key expression."""

        def on_sample(sample: Any) -> None:
            if sample.kind == zenoh.SampleKind.PUT:
                found(str(sample.key_expr))

        handler = Callback(on_sample, indirect=False)
        self._keep(lambda: self._session.liveliness().declare_subscriber(tokens, handler, history=True))

    def writer(self, key: str, token: str, qos: Qos) -> ZenohWriter:
        """Return a new writer of a topic; late subscribers of a latched topic query the messages that they missed."""
        options = {
            "congestion_control": zenoh.CongestionControl.DROP,
            "reliability": zenoh.Reliability.RELIABLE if qos.reliable else zenoh.Reliability.BEST_EFFORT,
        }

        def declare() -> Any:
            if not qos.transient_local:
                return self._session.declare_publisher(key, allowed_destination=zenoh.Locality.REMOTE, **options)
            missed = MissDetectionConfig(sporadic_heartbeat=HEARTBEAT) if qos.reliable else None
            return declare_advanced_publisher(
                self._session,
                key,
                cache=CacheConfig(max_samples=qos.depth),
                publisher_detection=True,
                sample_miss_detection=missed,
                **options,
            )

        publisher = self._keep(declare)
        self.announce(token)
        return ZenohWriter(publisher, gid_of(token), qos.transient_local)

    def subscribe(self, key: str, callback: Callable[[bytes], None]) -> None:
        """Subscribe to the messages of peers under a key."""
        handler = Callback(lambda sample: callback(_bytes(sample.payload)), indirect=False)
        remote = zenoh.Locality.REMOTE
        self._keep(lambda: self._session.declare_subscriber(key, handler, allowed_origin=remote))

    def serve(self, key: str, callback: Callable[[ZenohQuery], None]) -> None:
        """Pass the queries of peers under a key to `callback`."""
        handler = Callback(lambda query: callback(ZenohQuery(key, query)), indirect=False)
        self._keep(lambda: self._session.declare_queryable(key, handler, complete=True))

    def call(
        self,
        key: str,
        cdr: bytes,
        attachment: bytes,
        timeout: float,
        on_response: Callable[[bytes], None],
        on_end: Callable[[str], None],
    ) -> None:
        """Call the service under a key.

        Args:
            key: Key of the service.
            cdr: Request.
            attachment: Attachment of the request.
            timeout: Time to wait for a response, s.
            on_response: Function that is called with each response.
            on_end: Function that is called at the end, with the reason why there is no further response.
        """
        refusals: list[str] = []

        def on_reply(reply: Any) -> None:
            if reply.ok is not None:
                on_response(_bytes(reply.ok.payload))
            else:
                refusals.append(_bytes(reply.err.payload).decode(errors="replace")[:200])

        def end() -> None:
            on_end(refusals[0] if refusals else "no peer responds")

        try:
            self._session.get(
                key,
                Callback(on_reply, end, indirect=False),
                target=zenoh.QueryTarget.ALL_COMPLETE,
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=timeout,
                payload=cdr,
                attachment=attachment,
            )
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None

    def close(self) -> None:
        """Close the session; Zenoh would wait ten seconds for a peer that hangs, but this waits less."""
        thread = Thread(target=self._leave, name="ros Zenoh leaves", daemon=True)
        thread.start()
        thread.join(CLOSE_TIMEOUT)

    def _leave(self) -> None:
        with suppress(zenoh.ZError):
            self._session.close()
        self._kept.clear()

    def _keep(self, declare: Callable[[], Any]) -> Any:
        try:
            made = declare()
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None
        self._kept.append(made)
        return made


def configuration(mode: str, connect: Sequence[str], listen: Sequence[str], multicast: bool) -> str:
    """Return the settings of a session as JSON, equal to those of rmw_zenoh; files and environment are not used."""
    gossip = {
        "enabled": True,
        "target": {"router": ["router", "peer"], "peer": ["router"]},
        "autoconnect": {"router": [], "peer": ["router", "peer"]},
        "autoconnect_strategy": {"peer": {"to_router": "always", "to_peer": "greater-zid"}},
    }
    settings = {
        "mode": mode,
        "connect": {
            "endpoints": list(connect),
            "timeout_ms": {"router": -1, "peer": -1, "client": 0},
            "exit_on_failure": {"router": False, "peer": False, "client": True},
            "retry": {"period_init_ms": RETRY, "period_max_ms": RETRY, "period_increase_factor": 1},
        },
        "listen": {"endpoints": list(listen)},
        "scouting": {"delay": 0, "multicast": {"enabled": multicast}, "gossip": gossip},
        "timestamping": {"enabled": True},  # required to store messages for late subscribers
    }
    return json.dumps(settings)


def reason(error: Exception) -> str:
    """Return the message of a Zenoh error without the location in the code of Zenoh."""
    return CODE_LOCATION.sub("", str(error)).strip()


def _bytes(data: Any) -> bytes:
    return b"" if data is None else data.to_bytes()
