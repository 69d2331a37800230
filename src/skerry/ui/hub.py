"""What all pages see of a world, and what they may do with it; lives in the server's thread, and outlives worlds."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from skerry.core.errors import SkerryError
from skerry.parts.interface import Command
from skerry.ui import protocol as wire
from skerry.ui.assets import Assets
from skerry.ui.drive_lock import Leases
from skerry.ui.events import LogTap
from skerry.ui.page import Page
from skerry.ui.requests import IN_REPLAY, Desk, read_operation
from skerry.ui.scene import describe
from skerry.ui.session import Client
from skerry.ui.state import plain

logger = logging.getLogger("skerry")

DEAD_MAN: Final = 0.5  # s of silence after which held keys are let go
STATE_WAIT: Final = 1.0  # s that an answer waits for the state that follows it
WORLD_WAIT: Final = 10.0  # s that a request waits for a world that is being loaded
INTEREST: Final = 3.0  # s for which somebody who asks over HTTP counts as looking
OVER_HTTP: Final = "http"  # the client's name of those who have no WebSocket


class Stage:
    """The world that is shown now, the clients that look at it, and who of them drives."""

    def __init__(self, loop: asyncio.AbstractEventLoop, log: LogTap, recordings: Path) -> None:
        self.leases = Leases()
        self.clients: dict[str, Client] = {}
        self.page: Page | None = None
        self.state: dict[str, Any] | None = None
        self.scene: asyncio.Task[str] | None = None
        self.assets = Assets()
        self._loop, self._log, self._recordings = loop, log, recordings
        self._counts: dict[str, int] = {}  # messages of each stream so far
        self._busy: set[str] = set()  # streams that are being encoded
        self._dead_men: dict[str, asyncio.TimerHandle] = {}  # by robot
        self._promises: set[Future[Any]] = set()  # commands that wait to be done
        self._http_until = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._news = asyncio.Condition()
        self._shown = asyncio.Event()

    # -------------------------------------------------------------------------------------------- worlds

    def show(self, page: Page) -> None:
        """Show another world."""
        self.page, self.state = page, None
        self._shown.set()
        self._forget_drivers()
        self.assets = assets = Assets()
        self.scene = self.spawn(asyncio.to_thread(self._make_scene, page, assets))
        self.scene.add_done_callback(self._send_scene)
        self.set_needs()

    def hide(self, page: Page) -> None:
        """A world is no more; nobody will do what was asked of it."""
        if page is self.page:
            self.page = None
            self._shown.clear()
            self._forget_drivers()
            for promise in list(self._promises):
                promise.cancel()

    def _forget_drivers(self) -> None:
        self.leases.clear()
        for timer in self._dead_men.values():
            timer.cancel()
        self._dead_men.clear()

    @staticmethod
    def _make_scene(page: Page, assets: Assets) -> str:
        scene = describe(page.world, list(page.streams.values()), page.frames.names, assets)
        return json.dumps({"type": "scene", **plain(scene)}, allow_nan=False)

    def _send_scene(self, done: asyncio.Task[str]) -> None:
        if done is self.scene and not done.cancelled():
            if (error := done.exception()) is not None:
                logger.error("the page has no scene: %s", error)
                return
            for client in self.clients.values():
                client.show_scene(done.result())

    # -------------------------------------------------------------------------------------------- what is seen

    def take(self, page: Page) -> None:
        """Pass on what was seen of the world since."""
        sight = page.take()
        if sight is None or page is not self.page:
            return
        now = time.perf_counter()
        for event in (*sight.events, *self._log.take(sight.time)):
            self._tell(event)
        if sight.state is not None:
            self.state = plain(sight.state)
            self.show_state()
            self.spawn(self._announce())
        for name, rows in sight.rows.items():
            for when, row in rows:
                count = self._counts[name] = self._counts.get(name, 0) + 1
                for client in self.clients.values():
                    if name in client.subscriptions:
                        client.append(name, page.numbers[name], when, row, count)
        for name, (when, found) in sight.seen.items():
            if not any(client.is_due(name, now) for client in self.clients.values()):
                continue
            stream = page.streams[name]
            if not stream.is_slow:
                self._deliver(page, name, stream.encode(found), when, now)
            elif name not in self._busy:
                self._busy.add(name)
                self.spawn(self._encode(page, name, found, when))

    async def _encode(self, page: Page, name: str, found: Any, when: float) -> None:
        try:
            payload = await asyncio.to_thread(page.streams[name].encode, found)
            self._deliver(page, name, payload, when, time.perf_counter())
        finally:
            self._busy.discard(name)

    def _deliver(self, page: Page, name: str, payload: wire.Payload, when: float, now: float) -> None:
        if page is not self.page:
            return
        count = self._counts[name] = self._counts.get(name, 0) + 1
        data = wire.message(payload, page.numbers[name], count, when)
        for client in self.clients.values():
            if client.is_due(name, now):
                client.put(name, data, now)

    def _tell(self, event: dict[str, Any]) -> None:
        text = json.dumps({"type": "event", **plain(event)}, allow_nan=False)
        for client in self.clients.values():
            client.tell(text)

    def show_state(self) -> None:
        """Send the latest state to all, with who drives what."""
        if self.state is not None:
            state = json.dumps(self.whole_state(), allow_nan=False)
            for client in self.clients.values():
                client.show_state(state)

    def whole_state(self) -> dict[str, Any]:
        """The latest state, with who looks and who drives."""
        state = self.state or {"robots": {}}
        robots = {name: {**robot, "lease": self.leases.holder(name)} for name, robot in state["robots"].items()}
        return {**state, "clients": len(self.clients), "robots": robots}

    async def _announce(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def next_state(self) -> None:
        """Wait until the state that follows has come, but not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STATE_WAIT), self._news:
                await self._news.wait()

    async def shown_page(self) -> Page:
        """The world that is shown; where one follows another, wait for it."""
        if self.page is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), WORLD_WAIT)
        if self.page is None:
            raise SkerryError("there is no world now; ask again later")
        return self.page

    def set_needs(self) -> None:
        """Tell the page what all clients together want."""
        needs: dict[str, float] = {}
        for client in self.clients.values():
            for name, hz in client.subscriptions.items():
                needs[name] = max(needs.get(name, 0.0), hz)
        if self.page is not None:
            self.page.want(needs, bool(self.clients) or self._loop.time() < self._http_until)

    def be_interested(self) -> None:
        """Have the state read for a while, as somebody asks for it."""
        self._http_until = self._loop.time() + INTEREST
        self.set_needs()
        self._loop.call_later(INTEREST + 0.1, self.set_needs)

    # -------------------------------------------------------------------------------------------- clients

    def join(self, client: Client) -> None:
        """Show a client what there is."""
        self.clients[client.name] = client
        if self.scene is not None and self.scene.done() and self.scene.exception() is None:
            client.show_scene(self.scene.result())
        self.set_needs()
        self.show_state()

    def leave(self, client: Client) -> None:
        """Let a client go; what it held down comes up."""
        del self.clients[client.name]
        for robot in self.leases.of(client.name):
            self.leases.release(robot, client.name)
            self.let_go(robot)
        self.set_needs()
        self.show_state()

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """Do something beside."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        """End what is being done beside."""
        for task in self._tasks:
            task.cancel()

    # -------------------------------------------------------------------------------------------- driving

    def hold(self, client: str, robot: str, keys: tuple[str, ...]) -> None:
        """Hold keys of a robot down for a client, which drives it from now on; silence lets them go."""
        assert self.page is not None
        if self.leases.holder(robot) is None:
            self.leases.take(robot, client)
            self.show_state()
        self._disarm(robot)
        self.page.hold(robot, keys)
        if keys:
            self._dead_men[robot] = self._loop.call_later(DEAD_MAN, self.let_go, robot)

    def let_go(self, robot: str) -> None:
        """Let go of all keys of a robot."""
        self._disarm(robot)
        if self.page is not None and robot in self.page.held:
            self.page.hold(robot, ())
        if self.leases.release(robot, OVER_HTTP):  # nobody would notice that such a one has gone
            self.show_state()

    def _disarm(self, robot: str) -> None:
        if (timer := self._dead_men.pop(robot, None)) is not None:
            timer.cancel()

    def new_recording(self, scenario: str) -> Path:
        """A name for a recording that there is no file of."""
        name = f"{scenario or 'run'}_{time.strftime('%Y%m%d_%H%M%S')}"
        paths = (self._recordings / f"{name}{ending}.mcap" for ending in ("", *(f"_{n}" for n in range(2, 100))))
        return next(path for path in paths if not path.exists())

    async def do(self, client: str, data: Any) -> Any:
        """Do an operation; gives its result, or raises an error in words."""
        operation = read_operation(data)
        page = await self.shown_page()
        if page.is_replay and not isinstance(operation, IN_REPLAY):
            raise SkerryError("this is a recording: it can be paused, paced and sought through, but not changed")

        async def put(command: Command) -> Any:
            promise = page.inbox.put(command)
            self._promises.add(promise)
            try:
                result = await asyncio.wrap_future(promise)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                raise SkerryError("the world ended before it was done") from None
            finally:
                self._promises.discard(promise)
            await self.next_state()
            return result

        return await operation.do(Desk(client, self, page, put))
