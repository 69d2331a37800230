"""HTTP and WebSocket server of the page. It runs in its own thread and shows one world after another."""

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
from skerry.ui import protocol
from skerry.ui.drive_lock import DriveLockHeld
from skerry.ui.events import LogBuffer
from skerry.ui.frame_writer import WebSocketFrameWriter
from skerry.ui.hub import HTTP_CLIENT, Hub
from skerry.ui.page import Page
from skerry.ui.session import PageClient
from skerry.ui.settings import PORT, PageSettings
from skerry.ui.state import plain

logger = logging.getLogger("skerry")

STATIC: Final = Path(__file__).parent / "static"
MAX_MESSAGE_BYTES: Final = 64 * 1024  # size of a message from a client
HEARTBEAT: Final = 15.0  # s between two WebSocket pings to a silent client
MAX_CLIENTS: Final = 64  # connected clients
MAX_STREAMS: Final = 256  # streams that a client may subscribe to
MAX_PENDING: Final = 32  # requests of one client that wait to be executed
STALL_CHECK_PERIOD: Final = 5.0  # s between two checks for clients that have stopped reading
MESSAGE_RATE: Final = 400.0  # messages per second that a client may send; the server reads at most at this rate
MESSAGE_BURST: Final = 800.0  # messages that a client may send at once before `MESSAGE_RATE` limits it
MAX_RATE: Final = 30.0  # Hz at which a client may subscribe to a stream
PORTS_TRIED: Final = 100  # ports from the default one up
COOKIE: Final = "skerry_token"


class PageServer:
    """Server of the page. `hub` holds the present world and the clients.

    `show`, `hide` and `notify` are called in the simulator's thread, and `close` in any thread.
    """

    def __init__(self, settings: PageSettings | None = None) -> None:
        self.settings = settings or PageSettings()
        self.token = self.settings.token or (None if self.settings.is_local else secrets.token_urlsafe(16))
        self.port = 0
        self._transports: dict[str, asyncio.Transport] = {}
        self._clients_so_far = 0  # number of clients since the start, for their names
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._ready = Event()
        self._log = LogBuffer()
        self.hub = Hub(self._loop, self._log, self.settings.recordings)
        self._thread: Thread | None = None

    # -------------------------------------------------------------------------------------------- start and end

    def start(self) -> None:
        """Open the port, and start the server's thread.

        Raises:
            SkerryError: The port is in use, or the address does not belong to this machine.
        """
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
        """Address for a browser, with the access token if there is one."""
        host = self.settings.host
        shown = socket.gethostname() if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def status(self) -> str:
        """Address and number of connected browsers, as text."""
        count = len(self.hub.clients)
        return f"{self.url}, {count} {'browser' if count == 1 else 'browsers'}"

    def close(self) -> None:
        """Stop the server. A second call has no effect."""
        logger.removeHandler(self._log)
        if self._thread is None:
            if not self._loop.is_closed():
                self._loop.close()
        elif not self._loop.is_closed():
            with suppress(RuntimeError):  # the loop has ended in the meantime
                self._loop.call_soon_threadsafe(self._closing.set)
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
        application = web.Application(middlewares=[self._guard], client_max_size=MAX_MESSAGE_BYTES)
        application.router.add_get("/", self._index)
        application.router.add_get("/ws", self._websocket)
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
        while not self._closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), STALL_CHECK_PERIOD)
            self._disconnect_stalled_clients()
        self.hub.close()
        await runner.cleanup()

    def _disconnect_stalled_clients(self) -> None:
        for name, client in self.hub.clients.items():
            if client.is_stalled:
                logger.warning("page: client %s stopped reading; disconnected", name)
                self._transports[name].abort()  # the client would not read a close frame either

    # -------------------------------------------------------------------------------------------- simulator's thread

    def show(self, page: Page) -> None:
        """Show a world from now on."""
        self._call(lambda: self.hub.show(page))

    def hide(self, page: Page) -> None:
        """Stop showing a world that has ended."""
        self._call(lambda: self.hub.hide(page))

    def notify(self, page: Page) -> None:
        """Have the hub deliver the new samples of a page."""
        self._call(lambda: self.hub.deliver(page))

    def _call(self, action: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(action)

    # -------------------------------------------------------------------------------------------- HTTP

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse requests without the access token, from other origins, or under a foreign host name."""
        given = request.query.get("token") or request.cookies.get(COOKIE, "")
        if self.token is not None and not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="the token is missing or wrong; open the address that `skerry run` prints\n")
        if (request.path == "/ws" or request.method != "GET") and not self._has_allowed_origin(request):
            raise web.HTTPForbidden(text="this origin may not connect; add it to the setting `origins`\n")
        if self.settings.is_local and not _is_local_name(request.host):
            raise web.HTTPForbidden(text="wrong host name; use localhost or 127.0.0.1\n")
        response = await handler(request)
        if not response.prepared:
            response.headers["X-Content-Type-Options"] = "nosniff"
            if self.token is not None and "token" in request.query:
                response.set_cookie(COOKIE, self.token, httponly=True, samesite="Strict")
        return response

    def _has_allowed_origin(self, request: web.Request) -> bool:
        """Return whether a request comes from an allowed web page, or from a program that sends no origin."""
        origin = request.headers.get("Origin")
        return origin is None or origin in self.settings.origins or urlsplit(origin).netloc == request.host

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text=_index_html(), content_type="text/html", headers={"Cache-Control": "no-cache"})

    async def _get_static(self, request: web.Request) -> web.StreamResponse:
        """Return a static file of the page; compressed if the server can be reached over a network."""
        path = (STATIC / request.match_info["path"]).resolve()
        if not path.is_relative_to(STATIC.resolve()) or not path.is_file():
            raise web.HTTPNotFound(text="no such file\n")
        response = web.FileResponse(path, headers={"Cache-Control": "no-cache"})
        if not self.settings.is_local:
            response.enable_compression()
        return response

    async def _get_scene(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        assert self.hub.scene is not None
        return web.Response(text=await asyncio.shield(self.hub.scene), content_type="application/json")

    async def _get_state(self, request: web.Request) -> web.Response:
        await self._page_for_http()
        is_fresh = bool(self.hub.clients) and self.hub.state is not None
        self.hub.keep_state_fresh()
        if not is_fresh:
            await self.hub.wait_for_state()
        if self.hub.state is None:
            raise web.HTTPServiceUnavailable(text="the state has not been read yet; try again\n")
        return web.json_response(self.hub.full_state())

    async def _page_for_http(self) -> Page:
        try:
            return await self.hub.wait_for_page()
        except SkerryError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from None

    async def _get_scenarios(self, request: web.Request) -> web.Response:
        found = await asyncio.to_thread(describe_shipped_scenarios)
        return web.json_response({"scenarios": [{"name": name, "summary": text} for name, text in found.items()]})

    async def _get_asset(self, request: web.Request) -> web.Response:
        data = self.hub.assets.get(request.match_info["name"])
        if data is None:
            raise web.HTTPNotFound(text="the present scene has no such asset; reload the page\n")
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return web.Response(body=data, content_type="application/octet-stream", headers=headers)

    async def _post_command(self, request: web.Request) -> web.Response:
        self.hub.keep_state_fresh()
        try:
            data = await request.json()
        except (ValueError, RecursionError):
            return web.json_response({"ok": False, "error": "the body is not valid JSON"}, status=400)
        try:
            result = await self.hub.execute(HTTP_CLIENT, data)
        except SkerryError as error:
            status = 409 if isinstance(error, DriveLockHeld) else 400
            return web.json_response({"ok": False, "error": str(error)}, status=status)
        return web.json_response({"ok": True, "result": plain(result)})

    # -------------------------------------------------------------------------------------------- WebSocket

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        if len(self.hub.clients) >= MAX_CLIENTS:
            raise web.HTTPServiceUnavailable(text=f"{MAX_CLIENTS} clients are connected already; close a page\n")
        opened = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES, heartbeat=HEARTBEAT, compress=False)
        await opened.prepare(request)
        self._clients_so_far += 1
        client = PageClient(f"c{self._clients_so_far}")
        client.queue_reply({"type": "hello", "proto": protocol.PROTOCOL, "version": __version__, "client": client.name})
        transport = request.transport
        assert transport is not None
        self._transports[client.name] = transport
        self.hub.add_client(client)
        logger.info("page: client %s connected from %s", client.name, request.remote)
        sender = self.hub.start_task(client.run_sender(WebSocketFrameWriter(opened, transport)))
        closer = self.hub.start_task(self._close_on_shutdown(opened))
        try:
            await self._receive(client, opened)
        finally:
            sender.cancel()
            closer.cancel()
            del self._transports[client.name]
            self.hub.remove_client(client)
            logger.info("page: client %s disconnected", client.name)
        return opened

    async def _receive(self, client: PageClient, opened: web.WebSocketResponse) -> None:
        waiting: set[asyncio.Task[None]] = set()
        allowance, then = MESSAGE_BURST, self._loop.time()
        async for message in opened:
            now = self._loop.time()
            allowance, then = min(allowance + (now - then) * MESSAGE_RATE, MESSAGE_BURST) - 1.0, now
            if allowance < 0.0:
                await asyncio.sleep(-allowance / MESSAGE_RATE)
            await client.wait_for_room()
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                data = json.loads(message.data)
            except (ValueError, RecursionError):
                client.queue_reply(
                    {"type": "result", "id": None, "ok": False, "error": "the message is not valid JSON"}
                )
                continue
            op = data.get("op") if isinstance(data, dict) else None
            if op == "ack":
                if isinstance(count := data.get("n"), int):
                    client.acknowledge(count)
            elif op == "ping":
                if isinstance(sent := data.get("t"), int | float | None):
                    client.queue_reply({"type": "pong", "t": sent})
            elif op == "sub":
                self._subscribe(client, data)
            elif len(waiting) >= MAX_PENDING:
                self._reply(client, data, error=f"{MAX_PENDING} requests are pending already; send fewer")
            else:
                task = self.hub.start_task(self._execute(client, data))
                waiting.add(task)
                task.add_done_callback(waiting.discard)

    def _subscribe(self, client: PageClient, data: dict[str, Any]) -> None:
        streams = data.get("streams")
        if not isinstance(streams, dict) or len(streams) > MAX_STREAMS:
            expected = f'an object of at most {MAX_STREAMS} streams, as {{"pose": {{"hz": 30}}}}'
            self._reply(client, data, error=f"sub: `streams` must be {expected}")
            return
        rates = {}
        for name, settings in streams.items():
            hz = settings.get("hz", MAX_RATE) if isinstance(settings, dict) else None
            if not isinstance(hz, int | float) or not 0 < hz < float("inf"):
                self._reply(
                    client, data, error=f"sub: {name[:60]!r}: `hz` must be a number above 0, at most {MAX_RATE:g}"
                )
                return
            rates[name[:300]] = min(float(hz), MAX_RATE)
        client.subscribe(rates)
        self.hub.update_subscriptions()
        self._reply(client, data)

    async def _execute(self, client: PageClient, data: Any) -> None:
        try:
            self._reply(client, data, result=await self.hub.execute(client.name, data))
        except SkerryError as error:
            self._reply(client, data, error=str(error))

    @staticmethod
    def _reply(client: PageClient, data: Any, result: Any = None, error: str | None = None) -> None:
        """Queue the reply to a request. Success is reported only if the request has an `id`."""
        number = data.get("id") if isinstance(data, dict) else None
        if not isinstance(number, int | str):
            number = None
        if error is not None:
            client.queue_reply({"type": "result", "id": number, "ok": False, "error": error})
        elif number is not None:
            client.queue_reply({"type": "result", "id": number, "ok": True, "result": plain(result)})

    async def _close_on_shutdown(self, opened: web.WebSocketResponse) -> None:
        await self._closing.wait()
        await opened.close(code=1001, message=b"the simulator has stopped")


def _index_html() -> str:
    """Return index.html with the list of the page's modules, for the browser to load them in parallel."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    files = [*(STATIC / "js").rglob("*.js"), *(STATIC / "vendor").glob("three*.js")]
    modules = sorted(path.relative_to(STATIC.parent).as_posix() for path in files)
    return text.replace("const modules = [];", f"const modules = {json.dumps(modules)};", 1)


def _is_local_name(host: str) -> bool:
    """Return whether a host name is a name of the loopback interface; other names can come from DNS rebinding."""
    name = urlsplit(f"//{host}").hostname or ""
    return PageSettings.model_construct(host=name).is_local
