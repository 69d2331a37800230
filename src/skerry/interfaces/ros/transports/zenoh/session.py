"""A session of Zenoh that carries bytes, by the wheel `eclipse-zenoh`; what comes, comes in threads of Zenoh.

Those threads must not be held up: what is given to this module to be called there only puts things into a queue.
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

HEARTBEAT: Final = 0.5  # s, at most, between words on the last latched message, as rmw_zenoh has it
RETRY: Final = 1000  # ms between attempts to connect
PATIENCE: Final = 2.0  # s for peers when we leave
SOURCE: Final = re.compile(r"\s*at \S+\.rs:\d+\.?")  # where in Zenoh's code an error was made


def gid_of(token: str) -> bytes:
    """The number by which peers know whoever has a token: XXH3-128 of it, the lower half first."""
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


class RawWriter:
    """Writes CDR under a key."""

    def __init__(self, publisher: Any, gid: bytes, is_latched: bool) -> None:
        self._publisher, self._gid, self._is_latched = publisher, gid, is_latched
        self._numbers = count(1)

    @property
    def matched(self) -> int:
        """Whether anybody hears it; of one that is latched that cannot be told."""
        return 1 if self._is_latched else int(self._publisher.matching_status.matching)

    def write(self, cdr: bytes) -> None:
        """Send; what a connection cannot take at once is dropped there."""
        try:
            self._publisher.put(cdr, attachment=attachment_of(next(self._numbers), time.time_ns(), self._gid))
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None


class Request:
    """A call of a peer's that is to be answered."""

    def __init__(self, key: str, query: Any) -> None:
        self._key, self._query = key, query
        self.cdr = _bytes(query.payload)
        self.attachment = _bytes(query.attachment)

    def reply(self, cdr: bytes, attachment: bytes) -> None:
        """Answer."""
        with suppress(zenoh.ZError), self._query as query:  # who asked may be gone
            query.reply(self._key, cdr, attachment=attachment)

    def refuse(self, why: str) -> None:
        """Say that there is no answer; rmw_zenoh puts it into the log of who asked."""
        with suppress(zenoh.ZError), self._query as query:
            query.reply_err(why)


class ZenohSession:
    """A session; an OSError if it cannot be opened."""

    def __init__(self, mode: str, connect: Sequence[str], listen: Sequence[str], multicast: bool) -> None:
        try:
            self._session = zenoh.open(zenoh.Config.from_json5(configuration(mode, connect, listen, multicast)))
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None
        self.identity = str(self._session.zid())
        self._kept: list[Any] = []  # what ends when it is forgotten

    @property
    def neighbours(self) -> int:
        """How many routers and peers it is connected to."""
        info = self._session.info
        return len(info.routers_zid()) + len(info.peers_zid())

    def announce(self, token: str) -> None:
        """Say that something is there."""
        self._keep(lambda: self._session.liveliness().declare_token(token))

    def watch(self, tokens: str, found: Callable[[str], None]) -> None:
        """Look at the tokens of others, those that are there and those that come."""

        def take(sample: Any) -> None:
            if sample.kind == zenoh.SampleKind.PUT:
                found(str(sample.key_expr))

        handler = Callback(take, indirect=False)
        self._keep(lambda: self._session.liveliness().declare_subscriber(tokens, handler, history=True))

    def writer(self, key: str, token: str, qos: Qos) -> RawWriter:
        """Say a topic; that of a token. Those who come late to a latched one ask for what they have missed."""
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
        return RawWriter(publisher, gid_of(token), qos.transient_local)

    def read(self, key: str, take: Callable[[bytes], None]) -> None:
        """Hear what others say under a key."""
        handler = Callback(lambda sample: take(_bytes(sample.payload)), indirect=False)
        remote = zenoh.Locality.REMOTE
        self._keep(lambda: self._session.declare_subscriber(key, handler, allowed_origin=remote))

    def serve(self, key: str, take: Callable[[Request], None]) -> None:
        """Answer what is asked under a key."""
        handler = Callback(lambda query: take(Request(key, query)), indirect=False)
        self._keep(lambda: self._session.declare_queryable(key, handler, complete=True))

    def ask(
        self,
        key: str,
        cdr: bytes,
        attachment: bytes,
        timeout: float,
        answered: Callable[[bytes], None],
        ended: Callable[[str], None],
    ) -> None:
        """Ask whoever answers under a key; at the end it is told why there is no further answer."""
        refusals: list[str] = []

        def take(reply: Any) -> None:
            if reply.ok is not None:
                answered(_bytes(reply.ok.payload))
            else:
                refusals.append(_bytes(reply.err.payload).decode(errors="replace")[:200])

        def end() -> None:
            ended(refusals[0] if refusals else "nobody answers")

        try:
            self._session.get(
                key,
                Callback(take, end, indirect=False),
                target=zenoh.QueryTarget.ALL_COMPLETE,
                consolidation=zenoh.ConsolidationMode.NONE,
                timeout=timeout,
                payload=cdr,
                attachment=attachment,
            )
        except zenoh.ZError as error:
            raise OSError(reason(error)) from None

    def close(self) -> None:
        """Leave, with all that was announced; Zenoh waits ten seconds for a peer that hangs, and we do not."""
        thread = Thread(target=self._leave, name="ros Zenoh leaves", daemon=True)
        thread.start()
        thread.join(PATIENCE)

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
    """The settings of a session, as rmw_zenoh has them, in JSON; no file and no environment adds to them."""
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
        "timestamping": {"enabled": True},  # without which nothing is kept for late comers
    }
    return json.dumps(settings)


def reason(error: Exception) -> str:
    """An error of Zenoh's in its own words, without where in its code it was made."""
    return SOURCE.sub("", str(error)).strip()


def _bytes(data: Any) -> bytes:
    return b"" if data is None else data.to_bytes()
