"""The server of the page: HTTP and a WebSocket, in a thread of its own; it outlives the worlds that it shows."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.parts.interface import Command
from skerry.scenario.loading import load_scenario, shipped_scenarios
from skerry.ui import wire
from skerry.ui.assets import Assets
from skerry.ui.events import LogTap
from skerry.ui.lease import LeaseHeld, Leases
from skerry.ui.operations import IN_REPLAY, Desk, read_operation
from skerry.ui.page import Page
from skerry.ui.scene import describe
from skerry.ui.session import Client
from skerry.ui.settings import PORT, PageSettings
from skerry.ui.state import plain

logger = logging.getLogger("skerry")

STATIC: Final = Path(__file__).parent / "static"
LONGEST: Final = 64 * 1024  # bytes of a message from a page
HEARTBEAT: Final = 15.0  # s after which a page that says nothing is asked whether it is there
MOST_CLIENTS: Final = 64
MOST_STREAMS: Final = 256  # that a page may want
MOST_WAITING: Final = 32  # operations of one page that wait to be done
PATROL: Final = 5.0  # s between two looks for clients that take nothing
MESSAGES: Final = 400.0  # a second that a page may send in the long run; one that sends more is read more slowly,
BURST: Final = 800.0  # and so many at once
DEAD_MAN: Final = 0.5  # s of silence after which held keys are let go
STATE_WAIT: Final = 1.0  # s that an answer waits for the state that follows it
WORLD_WAIT: Final = 10.0  # s that a request waits for a world that is being loaded
INTEREST: Final = 3.0  # s for which somebody who asks over HTTP counts as looking
FASTEST: Final = 30.0  # Hz at which a stream may be wanted
PORTS_TRIED: Final = 100
COOKIE: Final = "skerry_token"
OVER_HTTP: Final = "http"  # the client's name of those who have no WebSocket


class PageServer:
    """Serves pages. `show`, `hide` and `notice` are called from the simulator's thread, `close` from any."""

    def __init__(self, settings: PageSettings | None = None) -> None:
        self.settings = settings or PageSettings()
        self.token = self.settings.token or (None if self.settings.is_local else secrets.token_urlsafe(16))
        self.leases = Leases()
        self.port = 0
        self._clients: dict[str, Client] = {}
        self._transports: dict[str, asyncio.Transport | None] = {}
        self._came = 0  # clients so far
        self._page: Page | None = None
        self._state: dict[str, Any] | None = None
        self._scene: asyncio.Task[str] | None = None
        self._assets = Assets()
        self._counts: dict[str, int] = {}  # messages of each stream so far
        self._busy: set[str] = set()  # streams that are being encoded
        self._dead_men: dict[str, asyncio.TimerHandle] = {}  # by robot
        self._http_until = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._news = asyncio.Condition()
        self._shown = asyncio.Event()
        self._ready = Event()
        self._log = LogTap()
        self._thread: Thread | None = None

    # -------------------------------------------------------------------------------------------- for the terminal

    def start(self) -> None:
        """Listen, in a thread of its own."""
        listener = self._listen()
        logger.addHandler(self._log)
        self.port = listener.getsockname()[1]
        self._thread = Thread(target=self._run, args=(listener,), name="page", daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def url(self) -> str:
        """Where to point a browser."""
        host = self.settings.host
        shown = socket.gethostname() if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def status(self) -> str:
        """How it does, in a few words."""
        return f"page {self.url}, {len(self._clients)} clients"

    def close(self) -> None:
        """End the server; closing twice is harmless."""
        logger.removeHandler(self._log)
        if self._thread is None:
            if not self._loop.is_closed():
                self._loop.close()
        elif not self._loop.is_closed():
            with suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(timeout=10.0)

    def __enter__(self) -> PageServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> socket.socket:
        host, port = self.settings.host, self.settings.port
        ports = range(PORT, PORT + PORTS_TRIED) if port is None else [port]
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        problem: OSError | None = None
        for number in ports:
            try:
                return socket.create_server((host, number), family=family)
            except OSError as error:
                problem = error
        where = f"{host}:{ports[0]}" + (f" to {ports[-1]}" if len(ports) > 1 else "")
        raise SkerryError(f"the page cannot be served at {where}: {problem}; give another --port or --host")

    def _run(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            with listener:
                self._loop.run_until_complete(self._serve(listener))
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self, listener: socket.socket) -> None:
        application = web.Application(middlewares=[self._guard], client_max_size=LONGEST)
        application.router.add_get("/", self._index)
        application.router.add_get("/ws", self._talk)
        application.router.add_get("/api/scene", self._get_scene)
        application.router.add_get("/api/state", self._get_state)
        application.router.add_get("/api/scenarios", self._get_scenarios)
        application.router.add_post("/api/cmd", self._post_command)
        application.router.add_get("/assets/{name}", self._get_asset)
        application.router.add_static("/static/", STATIC)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        self._ready.set()
        while not self._over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), PATROL)
            self._drop_those_who_take_nothing()
        for task in self._tasks:
            task.cancel()
        await runner.cleanup()

    def _drop_those_who_take_nothing(self) -> None:
        for name, client in self._clients.items():
            if client.takes_nothing and (transport := self._transports[name]) is not None:
                logger.warning("page: %s takes nothing, and is let go", name)
                transport.abort()  # it would not take a farewell either

    # -------------------------------------------------------------------------------------------- for the simulator

    def show(self, page: Page) -> None:
        """Show another world."""
        self._call(lambda: self._show(page))

    def hide(self, page: Page) -> None:
        """A world is no more."""
        self._call(lambda: self._hide(page))

    def notice(self, page: Page) -> None:
        """There is something new to be seen."""
        self._call(lambda: self._take(page))

    def _call(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(action)

    def _show(self, page: Page) -> None:
        self._page, self._state = page, None
        self._shown.set()
        self._forget_drivers()
        self._assets = assets = Assets()
        self._scene = self._spawn(asyncio.to_thread(self._make_scene, page, assets))
        self._scene.add_done_callback(self._send_scene)
        self._set_needs()

    def _hide(self, page: Page) -> None:
        if page is self._page:
            self._page = None
            self._shown.clear()
            self._forget_drivers()

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
        if done is self._scene and not done.cancelled():
            if (error := done.exception()) is not None:
                logger.error("the page has no scene: %s", error)
                return
            for client in self._clients.values():
                client.show_scene(done.result())

    # -------------------------------------------------------------------------------------------- what is seen

    def _take(self, page: Page) -> None:
        sight = page.take()
        if sight is None or page is not self._page:
            return
        now = time.perf_counter()
        for event in (*sight.events, *self._log.take(sight.time)):
            self._tell(event)
        if sight.state is not None:
            self._state = plain(sight.state)
            self.show_state()
            self._spawn(self._announce())
        for name, rows in sight.rows.items():
            for when, row in rows:
                count = self._counts[name] = self._counts.get(name, 0) + 1
                for client in self._clients.values():
                    if name in client.wanted:
                        client.append(name, page.numbers[name], when, row, count)
        for name, (when, found) in sight.seen.items():
            if not any(client.is_due(name, now) for client in self._clients.values()):
                continue
            stream = page.streams[name]
            if not stream.is_slow:
                self._deliver(page, name, stream.encode(found), when, now)
            elif name not in self._busy:
                self._busy.add(name)
                self._spawn(self._encode(page, name, found, when))

    async def _encode(self, page: Page, name: str, found: Any, when: float) -> None:
        try:
            payload = await asyncio.to_thread(page.streams[name].encode, found)
            self._deliver(page, name, payload, when, time.perf_counter())
        finally:
            self._busy.discard(name)

    def _deliver(self, page: Page, name: str, payload: wire.Payload, when: float, now: float) -> None:
        if page is not self._page:
            return
        count = self._counts[name] = self._counts.get(name, 0) + 1
        data = wire.message(payload, page.numbers[name], count, when)
        for client in self._clients.values():
            if client.is_due(name, now):
                client.put(name, data, now)

    def _tell(self, event: dict[str, Any]) -> None:
        text = json.dumps({"type": "event", **plain(event)}, allow_nan=False)
        for client in self._clients.values():
            client.tell(text)

    def show_state(self) -> None:
        """Send the latest state to all, with who drives what."""
        if self._state is not None:
            state = json.dumps(self._whole_state(self._state), allow_nan=False)
            for client in self._clients.values():
                client.show_state(state)

    def _whole_state(self, state: dict[str, Any]) -> dict[str, Any]:
        robots = {name: {**robot, "lease": self.leases.holder(name)} for name, robot in state["robots"].items()}
        return {**state, "clients": len(self._clients), "robots": robots}

    async def _announce(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def next_state(self) -> None:
        """Wait until the state that follows has come, but not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STATE_WAIT), self._news:
                await self._news.wait()

    async def _shown_page(self) -> Page:
        """The world that is shown; where one follows another, wait for it."""
        if self._page is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), WORLD_WAIT)
        if self._page is None:
            raise SkerryError("there is no world now; ask again later")
        return self._page

    def _set_needs(self) -> None:
        """Tell the page what all clients together want."""
        needs: dict[str, float] = {}
        for client in self._clients.values():
            for name, hz in client.wanted.items():
                needs[name] = max(needs.get(name, 0.0), hz)
        if self._page is not None:
            self._page.want(needs, bool(self._clients) or self._loop.time() < self._http_until)

    # -------------------------------------------------------------------------------------------- driving

    def hold(self, client: str, robot: str, keys: tuple[str, ...]) -> None:
        """Hold keys of a robot down for a client, which drives it from now on; silence lets them go."""
        assert self._page is not None
        if self.leases.holder(robot) is None:
            self.leases.take(robot, client)
            self.show_state()
        self._disarm(robot)
        self._page.hold(robot, keys)
        if keys:
            self._dead_men[robot] = self._loop.call_later(DEAD_MAN, self.let_go, robot)

    def let_go(self, robot: str) -> None:
        """Let go of all keys of a robot."""
        self._disarm(robot)
        if self._page is not None and robot in self._page.held:
            self._page.hold(robot, ())
        if self.leases.release(robot, OVER_HTTP):  # nobody would notice that such a one has gone
            self.show_state()

    def _disarm(self, robot: str) -> None:
        if (timer := self._dead_men.pop(robot, None)) is not None:
            timer.cancel()

    def scenarios(self) -> dict[str, str]:
        """The scenarios that can be loaded, with what they are about."""
        return _scenarios()

    def new_recording(self, scenario: str) -> Path:
        """A name for a recording that there is no file of."""
        name = f"{scenario or 'run'}_{time.strftime('%Y%m%d_%H%M%S')}"
        paths = (
            self.settings.recordings / f"{name}{ending}.mcap" for ending in ("", *(f"_{n}" for n in range(2, 100)))
        )
        return next(path for path in paths if not path.exists())

    async def _do(self, client: str, data: Any) -> Any:
        """Do an operation; gives its result, or raises an error in words."""
        operation = read_operation(data)
        page = await self._shown_page()
        if page.is_replay and not isinstance(operation, IN_REPLAY):
            raise SkerryError("this is a recording: it can be paused, paced and sought through, but not changed")

        async def put(command: Command) -> Any:
            result = await asyncio.wrap_future(page.inbox.put(command))
            await self.next_state()
            return result

        try:
            return await operation.do(Desk(client, self, page, put))
        except asyncio.CancelledError:
            if self._over.is_set() or page is self._page:
                raise
            raise SkerryError("the world ended before it was done") from None

    # -------------------------------------------------------------------------------------------- HTTP

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Let nobody in without the token, where there is one, nor pages of others."""
        given = request.query.get("token") or request.cookies.get(COOKIE, "")
        if self.token is not None and not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="a token is needed: open the address that `skerry run` prints\n")
        if (request.path == "/ws" or request.method != "GET") and not self._is_own(request):
            raise web.HTTPForbidden(text="this origin may not speak to the simulator; see `origins`\n")
        if self.settings.is_local and not _is_local_name(request.host):
            raise web.HTTPForbidden(text="the simulator answers to this machine's own names only\n")
        response = await handler(request)
        if not response.prepared:
            response.headers["X-Content-Type-Options"] = "nosniff"
            if self.token is not None and "token" in request.query:
                response.set_cookie(COOKIE, self.token, httponly=True, samesite="Strict")
        return response

    def _is_own(self, request: web.Request) -> bool:
        """Whether it comes from the page itself, or from a program that is no browser."""
        origin = request.headers.get("Origin")
        return origin is None or origin in self.settings.origins or urlsplit(origin).netloc == request.host

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    async def _get_scene(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        assert self._scene is not None
        return web.Response(text=await asyncio.shield(self._scene), content_type="application/json")

    async def _get_state(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        is_fresh = bool(self._clients) and self._state is not None
        self._be_interested()
        if not is_fresh:
            await self.next_state()
        if self._state is None:
            raise web.HTTPServiceUnavailable(text="there is no state yet\n")
        return web.json_response(self._whole_state(self._state))

    async def _page_for_http(self) -> Page:
        try:
            return await self._shown_page()
        except SkerryError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from None

    async def _get_scenarios(self, request: web.Request) -> web.Response:
        found = await asyncio.to_thread(self.scenarios)
        return web.json_response({"scenarios": [{"name": name, "summary": text} for name, text in found.items()]})

    async def _get_asset(self, request: web.Request) -> web.Response:
        data = self._assets.get(request.match_info["name"])
        if data is None:
            raise web.HTTPNotFound(text="there is no such asset in this scene\n")
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return web.Response(body=data, content_type="application/octet-stream", headers=headers)

    async def _post_command(self, request: web.Request) -> web.Response:
        self._be_interested()
        try:
            data = await request.json()
        except (ValueError, RecursionError):
            return web.json_response({"ok": False, "error": "the body is no JSON"}, status=400)
        try:
            result = await self._do(OVER_HTTP, data)
        except SkerryError as error:
            status = 409 if isinstance(error, LeaseHeld) else 400
            return web.json_response({"ok": False, "error": str(error)}, status=status)
        return web.json_response({"ok": True, "result": plain(result)})

    def _be_interested(self) -> None:
        """Have the state read for a while, as somebody asks for it."""
        self._http_until = self._loop.time() + INTEREST
        self._set_needs()
        self._loop.call_later(INTEREST + 0.1, self._set_needs)

    # -------------------------------------------------------------------------------------------- WebSocket

    async def _talk(self, request: web.Request) -> web.WebSocketResponse:
        if len(self._clients) >= MOST_CLIENTS:
            raise web.HTTPServiceUnavailable(text=f"{MOST_CLIENTS} pages are open already\n")
        opened = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=HEARTBEAT, compress=False)
        await opened.prepare(request)
        self._came += 1
        client = Client(f"c{self._came}")
        client.reply({"type": "hello", "proto": wire.PROTOCOL, "version": __version__, "client": client.name})
        self._clients[client.name] = client
        self._transports[client.name] = request.transport
        logger.info("page: %s came from %s", client.name, request.remote)
        if self._scene is not None and self._scene.done() and self._scene.exception() is None:
            client.show_scene(self._scene.result())
        self._set_needs()
        self.show_state()
        sender = self._spawn(client.send_on(opened))
        farewell = self._spawn(self._close_at_the_end(opened))
        try:
            await self._listen_to(client, opened)
        finally:
            sender.cancel()
            farewell.cancel()
            del self._clients[client.name], self._transports[client.name]
            for robot in self.leases.of(client.name):
                self.leases.release(robot, client.name)
                self.let_go(robot)
            self._set_needs()
            self.show_state()
            logger.info("page: %s went", client.name)
        return opened

    async def _listen_to(self, client: Client, opened: web.WebSocketResponse) -> None:
        waiting: set[asyncio.Task[None]] = set()
        allowance, then = BURST, self._loop.time()
        async for message in opened:
            now = self._loop.time()
            allowance, then = min(allowance + (now - then) * MESSAGES, BURST) - 1.0, now
            if allowance < 0.0:
                await asyncio.sleep(-allowance / MESSAGES)
            await client.has_room()
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                data = json.loads(message.data)
            except (ValueError, RecursionError):
                client.reply({"type": "result", "id": None, "ok": False, "error": "this is no JSON"})
                continue
            word = data.get("op") if isinstance(data, dict) else None
            if word == "ack":
                if isinstance(count := data.get("n"), int):
                    client.acknowledge(count)
            elif word == "ping":
                if isinstance(sent := data.get("t"), int | float | None):
                    client.reply({"type": "pong", "t": sent})
            elif word == "sub":
                self._subscribe(client, data)
            elif len(waiting) >= MOST_WAITING:
                self._answer(client, data, error=f"{MOST_WAITING} operations wait already; send fewer")
            else:
                task = self._spawn(self._obey(client, data))
                waiting.add(task)
                task.add_done_callback(waiting.discard)

    def _subscribe(self, client: Client, data: dict[str, Any]) -> None:
        streams = data.get("streams")
        if not isinstance(streams, dict) or len(streams) > MOST_STREAMS:
            self._answer(
                client, data, error=f'`streams` is an object of at most {MOST_STREAMS}, as {{"pose": {{"hz": 30}}}}'
            )
            return
        wanted = {}
        for name, settings in streams.items():
            hz = settings.get("hz", FASTEST) if isinstance(settings, dict) else None
            if not isinstance(hz, int | float) or not 0 < hz < float("inf"):
                self._answer(client, data, error=f"{name[:60]!r}: `hz` is a number above 0, at most {FASTEST:g}")
                return
            wanted[name[:300]] = min(float(hz), FASTEST)
        client.subscribe(wanted)
        self._set_needs()
        self._answer(client, data)

    async def _obey(self, client: Client, data: Any) -> None:
        try:
            self._answer(client, data, result=await self._do(client.name, data))
        except SkerryError as error:
            self._answer(client, data, error=str(error))

    @staticmethod
    def _answer(client: Client, data: Any, result: Any = None, error: str | None = None) -> None:
        """Tell a client what became of what it asked; success only if it wants to know."""
        number = data.get("id") if isinstance(data, dict) else None
        if not isinstance(number, int | str):
            number = None
        if error is not None:
            client.reply({"type": "result", "id": number, "ok": False, "error": error})
        elif number is not None:
            client.reply({"type": "result", "id": number, "ok": True, "result": plain(result)})

    async def _close_at_the_end(self, opened: web.WebSocketResponse) -> None:
        await self._over.wait()
        await opened.close(code=1001, message=b"the simulator ends")

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


@cache
def _scenarios() -> dict[str, str]:
    return {name: load_scenario(name).scenario.description for name in shipped_scenarios()}


def _is_local_name(host: str) -> bool:
    """Whether a request was addressed to this machine by a name of its own; others are tricks with DNS."""
    name = urlsplit(f"//{host}").hostname or ""
    return PageSettings.model_construct(host=name).is_local
