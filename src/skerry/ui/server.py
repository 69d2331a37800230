"""The server of the page: HTTP and a WebSocket, in a thread of its own; it outlives the worlds that it shows."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web

from skerry import __version__
from skerry.core.errors import SkerryError
from skerry.scenario.loading import describe_shipped_scenarios
from skerry.ui import protocol as wire
from skerry.ui.drive_lock import LeaseHeld
from skerry.ui.events import LogTap
from skerry.ui.frame_writer import Outlet
from skerry.ui.hub import OVER_HTTP, Stage
from skerry.ui.page import Page
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
FASTEST: Final = 30.0  # Hz at which a stream may be wanted
PORTS_TRIED: Final = 100
COOKIE: Final = "skerry_token"


class PageServer:
    """Serves pages; `stage` is what they see.

    `show`, `hide` and `notice` are called from the simulator's thread, `close` from any.
    """

    def __init__(self, settings: PageSettings | None = None) -> None:
        self.settings = settings or PageSettings()
        self.token = self.settings.token or (None if self.settings.is_local else secrets.token_urlsafe(16))
        self.port = 0
        self._transports: dict[str, asyncio.Transport] = {}
        self._came = 0  # clients so far
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ready = Event()
        self._log = LogTap()
        self.stage = Stage(self._loop, self._log, self.settings.recordings)
        self._thread: Thread | None = None

    # -------------------------------------------------------------------------------------------- for the terminal

    def start(self) -> None:
        """Listen, in a thread of its own."""
        try:
            listener = self._listen()
        except SkerryError:
            self._loop.close()
            raise
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
        count = len(self.stage.clients)
        return f"{self.url}, {count} {'browser' if count == 1 else 'browsers'}"

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
        application.router.add_get("/static/{path:.+}", self._get_static)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        self._ready.set()
        while not self._over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), PATROL)
            self._drop_those_who_take_nothing()
        self.stage.close()
        await runner.cleanup()

    def _drop_those_who_take_nothing(self) -> None:
        for name, client in self.stage.clients.items():
            if client.takes_nothing:
                logger.warning("page: %s takes nothing, and is let go", name)
                self._transports[name].abort()  # it would not take a farewell either

    # -------------------------------------------------------------------------------------------- for the simulator

    def show(self, page: Page) -> None:
        """Show another world."""
        self._call(lambda: self.stage.show(page))

    def hide(self, page: Page) -> None:
        """A world is no more."""
        self._call(lambda: self.stage.hide(page))

    def notice(self, page: Page) -> None:
        """There is something new to be seen."""
        self._call(lambda: self.stage.take(page))

    def _call(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(action)

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
        return web.Response(text=_skeleton(), content_type="text/html", headers={"Cache-Control": "no-cache"})

    async def _get_static(self, request: web.Request) -> web.StreamResponse:
        """A file of the page: as it is for browsers of this machine, compressed where it goes over a network."""
        path = (STATIC / request.match_info["path"]).resolve()
        if not path.is_relative_to(STATIC.resolve()) or not path.is_file():
            raise web.HTTPNotFound(text="the page has no such file\n")
        response = web.FileResponse(path, headers={"Cache-Control": "no-cache"})
        if not self.settings.is_local:
            response.enable_compression()
        return response

    async def _get_scene(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        assert self.stage.scene is not None
        return web.Response(text=await asyncio.shield(self.stage.scene), content_type="application/json")

    async def _get_state(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        is_fresh = bool(self.stage.clients) and self.stage.state is not None
        self.stage.be_interested()
        if not is_fresh:
            await self.stage.next_state()
        if self.stage.state is None:
            raise web.HTTPServiceUnavailable(text="there is no state yet\n")
        return web.json_response(self.stage.whole_state())

    async def _page_for_http(self) -> Page:
        try:
            return await self.stage.shown_page()
        except SkerryError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from None

    async def _get_scenarios(self, request: web.Request) -> web.Response:
        found = await asyncio.to_thread(describe_shipped_scenarios)
        return web.json_response({"scenarios": [{"name": name, "summary": text} for name, text in found.items()]})

    async def _get_asset(self, request: web.Request) -> web.Response:
        data = self.stage.assets.get(request.match_info["name"])
        if data is None:
            raise web.HTTPNotFound(text="there is no such asset in this scene\n")
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return web.Response(body=data, content_type="application/octet-stream", headers=headers)

    async def _post_command(self, request: web.Request) -> web.Response:
        self.stage.be_interested()
        try:
            data = await request.json()
        except (ValueError, RecursionError):
            return web.json_response({"ok": False, "error": "the body is no JSON"}, status=400)
        try:
            result = await self.stage.do(OVER_HTTP, data)
        except SkerryError as error:
            status = 409 if isinstance(error, LeaseHeld) else 400
            return web.json_response({"ok": False, "error": str(error)}, status=status)
        return web.json_response({"ok": True, "result": plain(result)})

    # -------------------------------------------------------------------------------------------- WebSocket

    async def _talk(self, request: web.Request) -> web.WebSocketResponse:
        if len(self.stage.clients) >= MOST_CLIENTS:
            raise web.HTTPServiceUnavailable(text=f"{MOST_CLIENTS} pages are open already\n")
        opened = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=HEARTBEAT, compress=False)
        await opened.prepare(request)
        self._came += 1
        client = Client(f"c{self._came}")
        client.reply({"type": "hello", "proto": wire.PROTOCOL, "version": __version__, "client": client.name})
        transport = request.transport
        assert transport is not None
        self._transports[client.name] = transport
        self.stage.join(client)
        logger.info("page: %s came from %s", client.name, request.remote)
        sender = self.stage.spawn(client.send_on(Outlet(opened, transport)))
        farewell = self.stage.spawn(self._close_at_the_end(opened))
        try:
            await self._listen_to(client, opened)
        finally:
            sender.cancel()
            farewell.cancel()
            del self._transports[client.name]
            self.stage.leave(client)
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
                task = self.stage.spawn(self._obey(client, data))
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
        self.stage.set_needs()
        self._answer(client, data)

    async def _obey(self, client: Client, data: Any) -> None:
        try:
            self._answer(client, data, result=await self.stage.do(client.name, data))
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


def _skeleton() -> str:
    """index.html, with the names of the modules that every page needs."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    files = [*(STATIC / "js").rglob("*.js"), *(STATIC / "vendor").glob("three*.js")]
    modules = sorted(path.relative_to(STATIC.parent).as_posix() for path in files)
    return text.replace("const modules = [];", f"const modules = {json.dumps(modules)};", 1)


def _is_local_name(host: str) -> bool:
    """Whether a request was addressed to this machine by a name of its own; others are tricks with DNS."""
    name = urlsplit(f"//{host}").hostname or ""
    return PageSettings.model_construct(host=name).is_local
