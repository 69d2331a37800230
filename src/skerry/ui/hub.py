"""Hub of the page's server: distributes the data of the present world to the clients, and executes their requests."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from skerry.commands import HoldKeys
from skerry.core.errors import SkerryError
from skerry.parts.interface import Command
from skerry.ui import protocol
from skerry.ui.assets import Assets
from skerry.ui.drive_lock import DriveLocks
from skerry.ui.events import LogBuffer
from skerry.ui.page import Page
from skerry.ui.requests import REPLAY_REQUESTS, RequestContext, parse_request
from skerry.ui.scene import describe
from skerry.ui.session import PageClient
from skerry.ui.state import plain

logger = logging.getLogger("skerry")

STATE_TIMEOUT: Final = 1.0  # s that a reply waits for the next state
WORLD_TIMEOUT: Final = 10.0  # s that a request waits for a world that is being loaded
HTTP_INTEREST: Final = 3.0  # s for which the state is read after a request over HTTP
HTTP_CLIENT: Final = "http"  # client name of all requests over HTTP


class Hub:
    """The present world, the connected clients and the drive locks. Runs in the server's thread.

    The hub lives as long as the server, and shows one world after another.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, log: LogBuffer, recordings: Path) -> None:
        self.drive_locks = DriveLocks()
        self.clients: dict[str, PageClient] = {}
        self.page: Page | None = None
        self.state: dict[str, Any] | None = None
        self.scene: asyncio.Task[str] | None = None
        self.assets = Assets()
        self._loop, self._log, self._recordings = loop, log, recordings
        self._message_counts: dict[str, int] = {}  # messages of each stream so far
        self._encoding: set[str] = set()  # streams that are being encoded
        self._pending: set[Future[Any]] = set()  # commands that wait in the inbox
        self._http_interest_until = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._new_state = asyncio.Condition()
        self._page_shown = asyncio.Event()

    # -------------------------------------------------------------------------------------------- worlds

    def show(self, page: Page) -> None:
        """Show a world from now on."""
        self.page, self.state = page, None
        self._page_shown.set()
        self.drive_locks.clear()
        self.assets = assets = Assets()
        self.scene = self.start_task(asyncio.to_thread(self._make_scene, page, assets))
        self.scene.add_done_callback(self._send_scene)
        self.update_subscriptions()

    def hide(self, page: Page) -> None:
        """Stop showing a world that has ended, and cancel the commands that wait for it."""
        if page is self.page:
            self.page = None
            self._page_shown.clear()
            self.drive_locks.clear()
            for future in list(self._pending):
                future.cancel()

    @staticmethod
    def _make_scene(page: Page, assets: Assets) -> str:
        scene = describe(page.world, list(page.streams.values()), page.frames.names, assets)
        return json.dumps({"type": "scene", **plain(scene)}, allow_nan=False)

    def _send_scene(self, done: asyncio.Task[str]) -> None:
        if done is self.scene and not done.cancelled():
            if (error := done.exception()) is not None:
                logger.error("page: the scene could not be described, so the 3-D view stays empty: %s", error)
                return
            for client in self.clients.values():
                client.queue_scene(done.result())

    # -------------------------------------------------------------------------------------------- streams and state

    def deliver(self, page: Page) -> None:
        """Queue the new samples, events and state of the world for the clients."""
        update = page.take_update()
        if update is None or page is not self.page:
            return
        now = time.perf_counter()
        for event in (*update.events, *self._log.drain(update.time)):
            self._send_event(event)
        if update.state is not None:
            self.state = plain(update.state)
            self.send_state()
            self.start_task(self._notify_state())
        for name, rows in update.rows.items():
            for line in rows:
                count = self._message_counts[name] = self._message_counts.get(name, 0) + 1
                for client in self.clients.values():
                    if name in client.subscriptions:
                        client.queue_line(name, page.numbers[name], line, count)
        for name, (when, found) in update.samples.items():
            if not any(client.is_due(name, now) for client in self.clients.values()):
                continue
            stream = page.streams[name]
            if not stream.is_slow:
                self._deliver(page, name, stream.encode(found), when, now)
            elif name not in self._encoding:
                self._encoding.add(name)
                self.start_task(self._encode(page, name, found, when))

    async def _encode(self, page: Page, name: str, found: Any, when: float) -> None:
        try:
            payload = await asyncio.to_thread(page.streams[name].encode, found)
            self._deliver(page, name, payload, when, time.perf_counter())
        finally:
            self._encoding.discard(name)

    def _deliver(self, page: Page, name: str, payload: protocol.Payload, when: float, now: float) -> None:
        if page is not self.page:
            return
        count = self._message_counts[name] = self._message_counts.get(name, 0) + 1
        data = protocol.message(payload, page.numbers[name], count, when)
        for client in self.clients.values():
            if client.is_due(name, now):
                client.queue_message(name, data, now)

    def _send_event(self, event: dict[str, Any]) -> None:
        text = json.dumps({"type": "event", **plain(event)}, allow_nan=False)
        for client in self.clients.values():
            client.queue_event(text)

    def send_state(self) -> None:
        """Queue the latest state for all clients."""
        if self.state is not None:
            state = json.dumps(self.full_state(), allow_nan=False)
            for client in self.clients.values():
                client.queue_state(state)

    def full_state(self) -> dict[str, Any]:
        """Return the latest state with the number of clients and the holders of the drive locks."""
        state = self.state or {"robots": {}}
        robots = {name: {**robot, "lease": self.drive_locks.holder(name)} for name, robot in state["robots"].items()}
        return {**state, "clients": len(self.clients), "robots": robots}

    async def _notify_state(self) -> None:
        async with self._new_state:
            self._new_state.notify_all()

    async def wait_for_state(self) -> None:
        """Wait for the next state, for at most `STATE_TIMEOUT`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STATE_TIMEOUT), self._new_state:
                await self._new_state.wait()

    async def wait_for_page(self) -> Page:
        """Return the page of the present world, and wait if the next world is being loaded.

        Raises:
            SkerryError: No world was shown within `WORLD_TIMEOUT`.
        """
        if self.page is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._page_shown.wait(), WORLD_TIMEOUT)
        if self.page is None:
            raise SkerryError("no world is loaded at present; try again later")
        return self.page

    def update_subscriptions(self) -> None:
        """Set the subscriptions of the page to those of all clients together."""
        rates: dict[str, float] = {}
        for client in self.clients.values():
            for name, hz in client.subscriptions.items():
                rates[name] = max(rates.get(name, 0.0), hz)
        if self.page is not None:
            self.page.set_subscriptions(rates, bool(self.clients) or self._loop.time() < self._http_interest_until)

    def keep_state_fresh(self) -> None:
        """Have the state read for `HTTP_INTEREST`, because a request over HTTP has no open connection."""
        self._http_interest_until = self._loop.time() + HTTP_INTEREST
        self.update_subscriptions()
        self._loop.call_later(HTTP_INTEREST + 0.1, self.update_subscriptions)

    # -------------------------------------------------------------------------------------------- clients

    def add_client(self, client: PageClient) -> None:
        """Add a client, and queue the scene and the state for it."""
        self.clients[client.name] = client
        if self.scene is not None and self.scene.done() and self.scene.exception() is None:
            client.queue_scene(self.scene.result())
        self.update_subscriptions()
        self.send_state()

    def remove_client(self, client: PageClient) -> None:
        """Remove a client, and release the robots that it drives."""
        del self.clients[client.name]
        for robot in self.drive_locks.held_by(client.name):
            self.release_robot(robot, client.name)
        self.update_subscriptions()
        self.send_state()

    def start_task(self, work: Any) -> asyncio.Task[Any]:
        """Run a coroutine as a task that the hub cancels when it closes."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        """Cancel all tasks."""
        for task in self._tasks:
            task.cancel()

    # -------------------------------------------------------------------------------------------- driving

    def acquire_robot(self, robot: str, client: str) -> None:
        """Give the drive lock of a robot to a client that holds keys, if it is free.

        Requests over HTTP get no lock, because there is no connection whose end would release it.
        """
        if client != HTTP_CLIENT and self.drive_locks.holder(robot) is None:
            self.drive_locks.acquire(robot, client)
            self.send_state()

    def release_robot(self, robot: str, client: str) -> None:
        """Release the drive lock of a robot, if the client holds it, and the keys of the robot."""
        if self.drive_locks.release(robot, client) and self.page is not None:
            self.page.inbox.put(HoldKeys(robot, ()))

    def new_recording_path(self, scenario: str) -> Path:
        """Return a path for a new recording, at which no file exists."""
        name = f"{scenario or 'run'}_{time.strftime('%Y%m%d_%H%M%S')}"
        paths = (self._recordings / f"{name}{ending}.mcap" for ending in ("", *(f"_{n}" for n in range(2, 100))))
        return next(path for path in paths if not path.exists())

    async def execute(self, client: str, data: Any) -> Any:
        """Execute a request of a client.

        Args:
            client: Name of the client.
            data: Request, decoded from JSON.

        Returns:
            The result of the request, as data for JSON.

        Raises:
            SkerryError: The request is wrong or cannot be executed.
        """
        request = parse_request(data)
        page = await self.wait_for_page()
        if page.is_replay and not isinstance(request, REPLAY_REQUESTS):
            raise SkerryError("this is a recording: only pause, resume, step, rate and seek are possible")

        async def put(command: Command) -> Any:
            future = page.inbox.put(command)
            self._pending.add(future)
            try:
                result = await asyncio.wrap_future(future)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                raise SkerryError("the world ended before the request was executed") from None
            finally:
                self._pending.discard(future)
            await self.wait_for_state()
            return result

        return await request.execute(RequestContext(client, self, page, put))
