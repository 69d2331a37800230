"""The page's server with normal and hostile clients: real sockets, and the client of aiohttp."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import ClientResponse, ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.player import REPLAY, Player
from skerry.interfaces.recorder.recording_reader import Recording
from skerry.interfaces.recorder.replay import verify
from skerry.parts.interface import Interface
from skerry.runner import Runner
from skerry.ui import protocol
from skerry.ui.page import Page
from skerry.ui.protocol import Kind
from skerry.ui.server import MAX_MESSAGE_BYTES, MAX_PENDING, MAX_STREAMS, PageServer
from skerry.ui.session import MAX_IN_FLIGHT
from skerry.ui.settings import PageSettings
from skerry.world import World, build_world

PATIENCE = 60.0  # timeout, s; an idle machine needs much less
# SAM with small camera pictures, which are not tested here
SMALL = {"overrides": {"sensors": {"camera_front": {"width": 32, "height": 24}}}}

DRONE = {
    "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
    "robots": {"drone": {"vehicle": "quadrotor", "pose": {"position": [0, 0, 9]}}},
}


class PageRun:
    """Worlds that run in a thread with a page, one after another, as in `skerry run`."""

    def __init__(self, settings: PageSettings, interfaces: dict[str, Interface], speed: float | None) -> None:
        self.server = PageServer(settings)
        self.speed = speed
        self.interfaces = interfaces
        self.runner: Runner | None = None
        self.error: BaseException | None = None
        self.server.start()

    def run(self, world: World | None) -> None:
        try:
            while world is not None:
                page = Page(self.server)
                with world, Runner(world, self.speed, {**self.interfaces, "page": page}, make_world) as runner:
                    self.runner = runner
                    for interface in self.interfaces.values():
                        if isinstance(interface, Player):
                            interface.watch(runner)
                    page.attach_runner(runner)
                    runner.run(None)
                world = runner.successor
        except BaseException as error:
            self.error = error

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"


def make_world(source: Any, seed: int | None) -> World:
    return build_world(source, seed)


@contextmanager
def running(
    world: World | None = None,
    settings: PageSettings | None = None,
    interfaces: dict[str, Interface] | None = None,
    speed: float | None = 1.0,
) -> Iterator[PageRun]:
    run = PageRun(settings or PageSettings(port=0), interfaces or {}, speed)
    world = world or skerry.load("sam_empty", overrides={"robots": {"sam": SMALL}})
    thread = Thread(target=run.run, args=(world,))
    thread.start()
    try:
        yield run
    finally:
        while run.runner is None and run.error is None:
            thread.join(0.01)
        if run.runner is not None:
            run.runner.stop()
        thread.join()
        run.server.close()
    if run.error is not None:
        raise run.error


class WebSocketClient:
    """Client program: keeps all messages, and acknowledges the binary ones."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.texts: list[dict[str, Any]] = []
        self.messages: list[tuple[Any, ...]] = []
        self.draws = True
        self._asked = 0

    async def take(self) -> None:
        """Receive one message."""
        message = await asyncio.wait_for(self.socket.receive(), PATIENCE)
        if message.type is WSMsgType.TEXT:
            self.texts.append(json.loads(message.data))
        elif message.type is WSMsgType.BINARY:
            self.messages.append(protocol.decode(message.data))
            if self.draws:
                await self.socket.send_json({"op": "ack", "n": len(self.messages)})
        else:
            raise ConnectionError(f"{message.type.name} {message.data} {message.extra}")

    async def until(self, is_there: Callable[[], Any]) -> Any:
        """Receive messages until a condition is true, and return its value."""
        async with asyncio.timeout(PATIENCE):
            while not (found := is_there()):
                await self.take()
            return found

    def last(self, kind: str) -> dict[str, Any] | None:
        return next((text for text in reversed(self.texts) if text["type"] == kind), None)

    async def state(self, fits: Callable[[dict[str, Any]], Any] = lambda state: True) -> dict[str, Any]:
        """Return the next state for which a condition is true."""
        begin = len(self.texts)
        return await self.until(
            lambda: next((text for text in self.texts[begin:] if text["type"] == "state" and fits(text)), None)
        )

    async def ask(self, op: str, **more: Any) -> dict[str, Any]:
        """Send a request, and return the reply."""
        self._asked += 1
        number = self._asked
        await self.socket.send_json({"op": op, "id": number, **more})
        return await self.until(
            lambda: next((text for text in self.texts if text["type"] == "result" and text["id"] == number), None)
        )

    async def do(self, op: str, **more: Any) -> Any:
        """Send a request that succeeds, and return its result."""
        answer = await self.ask(op, **more)
        assert answer["ok"], answer
        return answer["result"]

    async def refused(self, op: str, **more: Any) -> str:
        """Send a request that fails, and return the error."""
        answer = await self.ask(op, **more)
        assert not answer["ok"], answer
        return str(answer["error"])

    async def events(self, kind: str) -> dict[str, Any]:
        """Return the first event of a kind."""
        return await self.until(
            lambda: next((text for text in self.texts if text["type"] == "event" and text["kind"] == kind), None)
        )


@asynccontextmanager
async def connected(run: PageRun, **settings: Any) -> AsyncIterator[WebSocketClient]:
    async with (
        ClientSession() as session,
        session.ws_connect(f"{run.url}/ws", max_msg_size=0, **settings) as opened,
    ):
        client = WebSocketClient(opened)
        await client.until(lambda: client.last("scene"))
        yield client


def with_client(action: Callable[[WebSocketClient], Awaitable[None]], run: PageRun) -> None:
    async def both() -> None:
        async with connected(run) as client:
            await action(client)

    asyncio.run(both())


async def post(session: ClientSession, run: PageRun, body: Any, **settings: Any) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, str) else json.dumps(body)
    async with session.post(f"{run.url}/api/cmd", data=data, **settings) as answer:
        return answer.status, await answer.json()


async def get(session: ClientSession, run: PageRun, path: str, **settings: Any) -> ClientResponse:
    async with session.get(f"{run.url}{path}", **settings) as answer:
        await answer.read()
        return answer


# ------------------------------------------------------------------------------------------------ scene and streams


def test_a_client_gets_hello_scene_and_state_and_the_streams_it_wants() -> None:
    async def look(client: WebSocketClient) -> None:
        hello, scene = client.last("hello"), client.last("scene")
        assert hello and scene
        assert hello["proto"] == scene["proto"] == protocol.PROTOCOL
        assert hello["version"] == skerry.__version__
        numbers = {stream["name"]: stream["id"] for stream in scene["streams"]}
        await client.do("sub", streams={"pose": {"hz": 30}, "scalars/sam": {"hz": 10}})
        await client.until(lambda: len(client.messages) >= 10)
        kind, flags, _, _, time, payload = next(each for each in client.messages if each[2] == numbers["pose"])
        assert (kind, flags) == (Kind.POSE, 0)
        poses = np.frombuffer(payload, "<f4").reshape(-1, 7)
        assert len(poses) == len(scene["bodies"])
        (robot,) = scene["robots"]
        assert np.linalg.norm(poses[robot["body"], 3:]) == pytest.approx(1.0, abs=1e-5)
        assert {each[2] for each in client.messages} == {numbers["pose"], numbers["scalars/sam"]}
        times = [each[4] for each in client.messages if each[2] == numbers["pose"]]
        assert times == sorted(times) and time >= 0
        counts = [each[3] for each in client.messages if each[2] == numbers["pose"]]
        assert counts == sorted(set(counts))
        state = await client.state()
        assert state["you"] == hello["client"] and state["mode"] == "live" and state["clients"] == 1
        assert state["robots"]["sam"]["depth"] > 0

    with running() as run:
        with_client(look, run)


def test_nothing_is_measured_without_a_subscriber() -> None:
    async def look(client: WebSocketClient) -> None:
        await client.state()
        assert run.runner is not None
        page = run.runner.interfaces["page"]
        assert page.subscriptions == {("sam", "battery"), ("sam", "leak")}  # what every state shows
        await client.do("sub", streams={"image/sam/camera_front": {"hz": 5}})
        await client.until(lambda: client.messages)
        assert page.subscriptions >= {("sam", "camera_front")}
        assert client.messages[0][0] is Kind.IMAGE
        assert client.messages[0][5][:2] == b"\xff\xd8"  # as all JPEG files begin
        await client.do("sub", streams={})
        await client.until(lambda: page.subscriptions == {("sam", "battery"), ("sam", "leak")})

    with running() as run:
        with_client(look, run)
        assert run.runner is not None
        page = run.runner.interfaces["page"]
        for _ in range(100):
            if not page.subscriptions:
                break
            time.sleep(0.05)
        assert page.subscriptions == frozenset()


def test_lines_of_a_side_scan_come_complete_and_in_order() -> None:
    async def look(client: WebSocketClient) -> None:
        await client.do("sub", streams={"sonar/sam/sidescan": {"hz": 5}})
        await client.until(lambda: len(client.messages) >= 5)
        lines = 0
        for kind, _, _, last, _, payload in client.messages:
            assert kind is Kind.SONAR_LINES
            rows, length, _ = struct.unpack_from("<HHf", payload)
            assert length == 2000 and len(payload) == 8 + rows * length
            lines += rows
            assert last == lines  # none is missing

    with running(skerry.load("sam_in_the_bay")) as run:
        with_client(look, run)


def test_the_page_lists_all_its_modules_and_serves_nothing_else(shared_run: PageRun) -> None:
    async def look() -> None:
        async with ClientSession() as session:
            text = await (await get(session, shared_run, "/")).text()
            found = re.search(r"const modules = (.*);", text)
            assert found
            modules = json.loads(found.group(1))
            assert "static/js/main.js" in modules and "static/js/panels/map.js" in modules
            answer = await get(session, shared_run, f"/{modules[-1]}")
            assert answer.status == 200 and "javascript" in answer.content_type
            for path in ("/static/nothing.js", "/static/..%2Fserver.py", "/static/js"):
                assert (await get(session, shared_run, path)).status == 404

    asyncio.run(look())


def test_the_state_has_the_level_of_a_tide() -> None:
    """A cos(2π t/T − φ), with φ a right angle: A sin(2π t/T); both sides are double precision."""
    surface = {"kind": "tide", "constituents": [{"amplitude": 0.5, "period_hours": 0.002, "phase_deg": 90}]}

    async def look(client: WebSocketClient) -> None:
        state = await client.state(lambda state: state["time"] > 0.5)
        assert state["water_level"] == pytest.approx(0.5 * np.sin(2 * np.pi * state["time"] / 7.2), abs=1e-6)

    with running(build_world({"water": {"surface": surface}, **DRONE})) as run:
        with_client(look, run)


def test_assets_are_served_under_the_hash_of_their_bytes() -> None:
    async def look() -> None:
        async with ClientSession() as session:
            scene = json.loads(await (await get(session, run, "/api/scene")).text())
            (ground,) = scene["terrain"]
            async with session.get(f"{run.url}{ground['asset']}") as answer:
                data = await answer.read()
            assert answer.status == 200
            assert ground["asset"] == f"/assets/{sha256(data).hexdigest()}.f32"
            assert len(data) == 4 * ground["rows"] * ground["columns"]
            assert "immutable" in answer.headers["Cache-Control"]
            assert (await get(session, run, "/assets/" + "0" * 64 + ".mesh")).status == 404
            assert (await get(session, run, "/static/../page.py")).status in {403, 404}
            assert (await get(session, run, "/static/%2e%2e/page.py")).status in {403, 404}

    with running(skerry.load("sam_in_the_bay")) as run:
        asyncio.run(look())


def test_the_scene_has_the_waves_of_the_physics() -> None:
    """Compare η = level + Σ a cos(kx x + ky y − ω t + φ) of the scene with `sample_water`, to single precision."""

    async def look() -> None:
        async with ClientSession() as session:
            scenes.append(json.loads(await (await get(session, run, "/api/scene")).text()))

    scenes: list[dict[str, Any]] = []
    world = skerry.load("sam_in_the_bay")
    points = np.array([[0.0, 0.0, 0.0], [31.0, -12.0, 0.0], [-90.0, 55.0, 0.0]])
    expected = world.sample_water(points).height
    with running(world) as run:
        asyncio.run(look())
    water = scenes[0]["water"]
    a, kx, ky, _, phase = np.array(water["waves"]).T
    found = water["level"] + (a * np.cos(np.outer(points[:, 0], kx) + np.outer(points[:, 1], ky) + phase)).sum(axis=1)
    assert found == pytest.approx(expected, abs=1e-6)  # at the time 0; the kernel's cosine is a polynomial


# ------------------------------------------------------------------------------------------------ driving


def test_held_keys_drive_and_a_timeout_releases_them() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("keys", robot="sam", held=["up"], seq=1)
        state = await client.state(lambda state: state["robots"]["sam"]["held"] == ["up"])
        assert state["robots"]["sam"]["lease"] == state["you"]
        state = await client.state(lambda state: state["robots"]["sam"]["actuators"]["thruster1"]["target"] == 800)
        assert state["robots"]["sam"]["control"] == "manual"
        # the client sends nothing more
        await client.state(lambda state: state["robots"]["sam"]["held"] == [])
        state = await client.state(lambda state: state["robots"]["sam"]["actuators"]["thruster1"]["target"] == 0)
        assert state["robots"]["sam"]["lease"] == state["you"]

    with running() as run:
        with_client(drive, run)


def test_held_keys_stay_down_at_full_speed() -> None:
    """The keyboard's timeout counts simulated time, and each message gives it enough of that."""

    async def drive(client: WebSocketClient) -> None:
        first = await client.state(lambda state: state["rtf"] > 1)  # the page has measured the speed
        await client.do("keys", robot="sam", held=["up"], seq=1)
        for number in range(8):
            await client.socket.send_json({"op": "keys", "robot": "sam", "held": ["up"], "seq": number})
            last = await client.state()
            assert last["robots"]["sam"]["held"] == ["up"]
        assert last["time"] - first["time"] > 0.6

    with running(speed=None) as run:
        with_client(drive, run)


def test_held_keys_stay_down_while_the_run_is_paused() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("pause")
        await client.do("keys", robot="sam", held=["up"], seq=1)
        await asyncio.sleep(1.0)
        assert (await client.state())["robots"]["sam"]["held"] == ["up"]
        await client.do("resume")
        await client.state(lambda state: state["robots"]["sam"]["held"] == [])

    with running() as run:
        with_client(drive, run)


def test_keys_over_http_are_released_by_the_same_timeout_and_take_no_drive_lock() -> None:
    async def drive() -> None:
        async with connected(run) as watcher, ClientSession() as session:
            status, _ = await post(session, run, {"op": "keys", "robot": "sam", "held": ["up"]})
            assert status == 200
            state = await watcher.state(lambda state: state["robots"]["sam"]["held"] == ["up"])
            assert state["robots"]["sam"]["lease"] is None
            await watcher.state(lambda state: state["robots"]["sam"]["held"] == [])

    with running() as run:
        asyncio.run(drive())


def test_a_disconnected_client_releases_its_keys_and_its_drive_lock() -> None:
    async def drive() -> None:
        async with connected(run) as watcher:
            async with connected(run) as driver:
                await driver.do("keys", robot="sam", held=["up"], seq=1)
                await watcher.state(lambda state: state["robots"]["sam"]["held"] == ["up"])
            state = await watcher.state(lambda state: state["robots"]["sam"]["held"] == [])
            state = await watcher.state(lambda state: state["robots"]["sam"]["lease"] is None)
            assert state["clients"] == 1

    with running() as run:
        asyncio.run(drive())


def test_one_client_drives_and_others_watch() -> None:
    async def drive() -> None:
        async with connected(run) as first, connected(run) as second, ClientSession() as session:
            await first.do("lease", robot="sam", take=True)
            holder = (first.last("hello") or {})["client"]
            assert holder in await second.refused("keys", robot="sam", held=["up"], seq=1)
            for op, more in (
                ("source", {"source": "external"}),
                ("actuate", {"actuator": "vbs", "value": {"percent": 1}}),
                ("stop", {}),
                ("leak", {}),
            ):
                assert holder in await second.refused(op, robot="sam", **more)
            status, answer = await post(session, run, {"op": "stop", "robot": "sam"})
            assert status == 409 and holder in answer["error"]
            await second.do("pause")  # the run is everybody's
            await second.do("resume")
            await first.do("lease", robot="sam", take=False)
            await second.do("actuate", robot="sam", actuator="vbs", value={"percent": 70})
            state = await second.state(lambda state: state["robots"]["sam"]["actuators"]["vbs"]["target"] == 70)
            assert state["robots"]["sam"]["control"] == "manual" or state["robots"]["sam"]["control"] == "mixed"

    with running() as run:
        asyncio.run(drive())


def test_the_simulator_ignores_keys_and_sliders_while_another_source_has_control() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("source", robot="sam", source="external")
        state = await client.state()
        assert state["robots"]["sam"]["control"] == "external"
        await client.do("keys", robot="sam", held=["up"], seq=1)
        state = await client.state(lambda state: state["robots"]["sam"]["held"] == ["up"])
        assert state["robots"]["sam"]["actuators"]["thruster1"]["target"] == 0
        words = await client.refused("actuate", robot="sam", actuator="thruster1", value={"rpm": 500})
        assert "external has control" in words
        await client.do("source", robot="sam", source="manual")
        await client.do("actuate", robot="sam", actuator="thruster1", value={"rpm": 500})
        state = await client.state(lambda state: state["robots"]["sam"]["actuators"]["thruster1"]["value"] > 100)
        assert state["robots"]["sam"]["control"] == "manual"
        assert "no controller" in await client.refused("source", robot="sam", source="controller/autopilt")
        await client.do("source", robot="sam", source="controller/autopilot")
        await client.events("control")
        await client.do("stop", robot="sam")
        state = await client.state()
        assert state["robots"]["sam"]["actuators"]["thruster1"]["target"] == 0
        assert state["robots"]["sam"]["control"] == "manual"

    with running() as run:
        with_client(drive, run)


def test_requests_send_a_robot_to_a_waypoint_trigger_a_leak_send_text_and_teleport() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("waypoint", robot="sam", position=[40, 10, -5], tolerance=3)
        state = await client.state(lambda state: state["robots"]["sam"]["waypoint"])
        assert state["robots"]["sam"]["waypoint"] == {"position": [40, 10, -5], "tolerance": 3}
        assert state["robots"]["sam"]["control"] == "controller"
        assert state["robots"]["sam"]["controller"] == "autopilot"
        await client.do("sub", streams={"waypoints": {"hz": 10}})
        await client.until(lambda: client.messages)
        await client.do("leak", robot="sam")
        await client.state(lambda state: state["robots"]["sam"]["indicators"]["leak.leaked"] is True)
        await client.events("alarm")
        await client.do("acoustic", robot="sam", transceiver="modem", text="hello")
        event = await client.events("acoustic")
        assert (event["source"], event["text"], event["bytes"]) == ("sam/modem", "hello", 5)
        await client.do("teleport", name="sam", position=[1, 2, -7])
        state = await client.state(lambda state: state["robots"]["sam"]["position"][2] < -6)
        assert "there is no robot or object" in await client.refused("teleport", name="sma", position=[0, 0, 0])

    with running() as run:
        with_client(drive, run)


def test_a_winch_is_wound_from_the_page() -> None:
    async def drive(client: WebSocketClient) -> None:
        scene = client.last("scene")
        assert scene
        robot = next(robot for robot in scene["robots"] if robot["winches"])
        name, winch = robot["name"], robot["winches"][0]["name"]
        await client.do("source", robot=name, source="manual")
        await client.do("winch", robot=name, winch=winch, target=1.5, speed=0.7)
        await client.state(lambda state: state["robots"][name]["winches"][winch]["target"] == pytest.approx(1.5))
        assert "target" in await client.refused("winch", robot=name, winch=winch)
        await client.do("winch", robot=name, winch=winch, release=True)
        await client.do("sub", streams={"ropes": {"hz": 10}})
        await client.until(lambda: client.messages)
        kind, flags, _, _, _, payload = client.messages[0]
        assert (kind, flags) == (Kind.SEGMENTS, protocol.EXTRA)
        assert len(payload) == 4 + struct.unpack_from("<I", payload)[0] * 28

    with running(skerry.load(DRONE)) as run:
        with_client(drive, run)


# ------------------------------------------------------------------------------------------------ the run


def test_pause_step_speed_reset_and_snapshots() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("pause")
        state = await client.state()
        assert state["paused"]
        again = await client.state()
        assert again["tick"] == state["tick"]
        await client.do("step", n=7)
        await client.state(lambda found: found["tick"] == state["tick"] + 7 and found["paused"])
        await client.do("snapshot", name="here")
        assert (await client.state())["snapshots"] == ["here"]
        await client.do("rate", x=5)
        await client.do("resume")
        await client.state(lambda found: found["tick"] > state["tick"] + 100 and found["rate"] == 5)
        await client.do("rate", x=None)
        await client.state(lambda found: found["rate"] is None)
        await client.do("rate", x=1)
        await client.do("pause")
        await client.do("restore", name="here")
        assert (await client.state())["tick"] == state["tick"] + 7
        assert "did you mean 'here'" in await client.refused("restore", name="hree")
        await client.do("reset", seed=None)
        assert (await client.state())["tick"] == 0

    with running() as run:
        with_client(drive, run)


def test_another_seed_and_another_scenario_are_shown_without_a_new_connection() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.do("lease", robot="sam", take=True)
        scenes = sum(text["type"] == "scene" for text in client.texts)
        await client.do("reset", seed=77)
        await client.until(lambda: sum(text["type"] == "scene" for text in client.texts) > scenes)
        assert (client.last("scene") or {})["seed"] == 77
        state = await client.state(lambda state: state["seed"] == 77)
        assert state["robots"]["sam"]["lease"] is None
        assert "did you mean 'torpedo_in_still_water'" in await client.refused("scenario", load="torpedo_in_stil_water")
        await client.do("scenario", load="torpedo_in_still_water")
        await client.until(lambda: (client.last("scene") or {})["scenario"] == "torpedo_in_still_water")
        state = await client.state(lambda state: state["scenario"] == "torpedo_in_still_water")
        assert list(state["robots"]) == ["torpedo"]
        await client.do("sub", streams={"pose": {"hz": 30}})
        before = len(client.messages)
        await client.until(lambda: len(client.messages) > before + 3)

    with running() as run:
        with_client(drive, run)


def test_a_spawned_robot_is_shown_and_a_deleted_one_is_not() -> None:
    async def drive(client: WebSocketClient) -> None:
        await client.until(lambda: client.last("scene") is not None)
        await client.do("spawn", name="buoy", settings={"prop": "buoy_port", "mooring": None})
        await client.do("spawn", name="second", settings={"vehicle": "sam", "pose": {"position": [0, 10, -5]}})
        await client.until(
            lambda: [robot["name"] for robot in (client.last("scene") or {})["robots"]] == ["sam", "second"]
        )
        await client.state(lambda state: list(state["robots"]) == ["sam", "second"])
        await client.do("sub", streams={"pose": {"hz": 30}, "scalars/second": {"hz": 10}})
        before = len(client.messages)
        await client.until(lambda: len(client.messages) > before + 3)
        assert "already" in await client.refused("spawn", name="sam", settings={"vehicle": "sam"})
        await client.do("delete", name="second")
        await client.state(lambda state: list(state["robots"]) == ["sam"])
        await client.do("reset")
        await client.until(lambda: not any(each["name"] == "buoy" for each in (client.last("scene") or {})["objects"]))

    with running() as run:
        with_client(drive, run)


def test_a_recording_begun_on_the_page_can_be_verified_and_sought_through(tmp_path: Path) -> None:
    paths: list[Path] = []

    async def record(client: WebSocketClient) -> None:
        await client.do("actuate", robot="sam", actuator="vbs", value={"percent": 90})
        await client.state(lambda state: state["time"] > 0.3)
        path = (await client.do("rec", on=True))["path"]
        paths.append(Path(path))
        assert "already records" in await client.refused("rec", on=True)
        await client.do("keys", robot="sam", held=["up"], seq=1)
        state = await client.state(lambda state: state["recording"] and state["recording"]["seconds"] > 1.2)
        assert state["recording"]["path"] == path
        await client.do("teleport", name="sam", position=[3, 4, -9])
        await client.state(lambda state: state["recording"]["seconds"] > 1.6)
        await client.do("rec", on=False)
        await client.state(lambda state: state["recording"] is None)
        assert "no recording is running" in await client.refused("rec", on=False)

    async def replay(client: WebSocketClient) -> None:
        state = await client.state()
        assert state["mode"] == "replay"
        end = state["replay"]["end"]
        assert 0.9 < end < 3
        await client.do("pause")
        await client.do("seek", t=end)
        late = await client.state(lambda state: state["replay"]["t"] == pytest.approx(end))
        assert late["robots"]["sam"]["position"][2] < -8
        await client.do("seek", t=0)
        early = await client.state(lambda state: state["replay"]["t"] == 0)
        assert early["robots"]["sam"]["position"][2] > -8
        assert early["robots"]["sam"]["actuators"]["vbs"]["target"] == 90  # as it was before the recording began
        await client.do("seek", t=end)
        again = await client.state(lambda state: state["replay"]["t"] == pytest.approx(end))
        assert again["robots"]["sam"]["position"] == late["robots"]["sam"]["position"]
        assert "this is a recording" in await client.refused("teleport", name="sam", position=[0, 0, 0])
        await client.do("seek", t=0)
        await client.do("rate", x=None)
        await client.do("resume")
        await client.state(lambda state: state["paused"] and state["replay"]["t"] == pytest.approx(end))

    with running(settings=PageSettings(port=0, recordings=tmp_path)) as run:
        with_client(record, run)
    found = verify(Recording(paths[0]))
    assert found.fingerprints >= 2
    player = Player(Recording(paths[0]))
    world = build_world({**player.recording.scenario, "interfaces": {}})
    with running(world, interfaces={REPLAY: player}) as run:
        with_client(replay, run)


# ------------------------------------------------------------------------------------------------ over HTTP


def test_the_same_is_done_over_http() -> None:
    async def drive() -> None:
        async with ClientSession() as session:
            status, answer = await post(session, run, {"op": "pause"})
            assert (status, answer["ok"]) == (200, True)
            state = json.loads(await (await get(session, run, "/api/state")).text())
            assert state["paused"] is True and state["clients"] == 0
            status, _ = await post(
                session, run, {"op": "actuate", "robot": "sam", "actuator": "vbs", "value": {"percent": 12}}
            )
            assert status == 200
            state = json.loads(await (await get(session, run, "/api/state")).text())
            assert state["robots"]["sam"]["actuators"]["vbs"]["target"] == 12
            names = json.loads(await (await get(session, run, "/api/scenarios")).text())["scenarios"]
            assert {"name": "demo"}.items() <= next(each for each in names if each["name"] == "demo").items()
            assert (await get(session, run, "/")).status == 200

    with running() as run:
        asyncio.run(drive())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("no json", "not valid JSON"),
        ("[1]", "an object with an `op`"),
        ('{"op": 5}', "an object with an `op`"),
        ('{"op": "pauze"}', "did you mean 'pause'"),
        ('{"op": "pause", "now": 1}', "now"),
        ('{"op": "step", "n": 0}', "n"),
        ('{"op": "step", "n": true}', "n"),
        ('{"op": "step", "n": 1000000000}', "n"),
        ('{"op": "rate", "x": -1}', "x"),
        ('{"op": "rate", "x": NaN}', "x"),
        ('{"op": "rate", "x": 1e999}', "x"),
        ('{"op": "stop", "robot": "sma"}', "did you mean 'sam'"),
        ('{"op": "keys", "robot": "sam", "held": ["nokey"]}', "nokey"),
        ('{"op": "keys", "robot": "sam", "held": "up"}', "held"),
        ('{"op": "actuate", "robot": "sam", "actuator": "vbs", "value": {"rpm": 5}}', "percent"),
        ('{"op": "actuate", "robot": "sam", "actuator": "vbs", "value": {"percent": "5"}}', "value"),
        ('{"op": "teleport", "name": "sam", "position": [1, 2]}', "position"),
        ('{"op": "teleport", "name": "sam", "position": [0, 0, 0], "orientation": [0, 0, 0, 0]}', "quaternion"),
        ('{"op": "source", "robot": "sam", "source": "somebody"}', "source"),
        ('{"op": "scenario", "load": "../../etc/passwd"}', "no scenario"),
        ('{"op": "seek", "t": 1}', "not a replay"),
        ('{"op": "winch", "robot": "sam", "winch": "vbs", "target": 1}', "percent"),
    ],
)
def test_a_wrong_request_is_refused_with_an_explanation(body: str, expected: str, shared_run: PageRun) -> None:
    async def drive() -> None:
        async with ClientSession() as session:
            status, answer = await post(session, shared_run, body)
            assert status == 400 and answer["ok"] is False
            assert expected in answer["error"]
            assert "Traceback" not in answer["error"]

    asyncio.run(drive())


@pytest.fixture(scope="module")
def shared_run() -> Iterator[PageRun]:
    with running() as run:
        yield run


# ------------------------------------------------------------------------------------------------ access


def test_other_sites_may_neither_connect_nor_post(shared_run: PageRun) -> None:
    async def drive() -> None:
        async with ClientSession() as session:
            for origin in ("http://evil.example", "http://127.0.0.1:1", "null", "file://"):
                headers = {"Origin": origin}
                with pytest.raises(WSServerHandshakeError) as refused:
                    await session.ws_connect(f"{shared_run.url}/ws", headers=headers)
                assert refused.value.status == 403
                async with session.post(f"{shared_run.url}/api/cmd", data='{"op": "pause"}', headers=headers) as answer:
                    assert answer.status == 403
            own = {"Origin": shared_run.url}
            assert (await post(session, shared_run, {"op": "resume"}, headers=own))[0] == 200
            # a foreign host name that resolves to this machine
            headers = {"Host": f"evil.example:{shared_run.server.port}"}
            assert (await get(session, shared_run, "/api/state", headers=headers)).status == 403

    asyncio.run(drive())


def test_other_hosts_need_the_token() -> None:
    async def drive() -> None:
        async with ClientSession() as session:
            for path in ("/", "/api/state", "/api/scene", "/static/js/main.js"):
                assert (await get(session, run, path)).status == 403
            with pytest.raises(WSServerHandshakeError):
                await session.ws_connect(f"{run.url}/ws?token=wrong")
            assert (await session.post(f"{run.url}/api/cmd", data='{"op": "pause"}')).status == 403
        async with ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            answer = await get(session, run, f"/?token={run.server.token}")
            assert answer.status == 200
            assert "HttpOnly" in answer.headers["Set-Cookie"]
            assert (await get(session, run, "/api/scene")).status == 200  # by the cookie
            module = await get(session, run, "/static/js/main.js")
            assert module.headers["Content-Encoding"] in {"gzip", "deflate"}  # it goes over a network
            async with session.ws_connect(f"{run.url}/ws") as opened:
                assert json.loads((await opened.receive()).data)["type"] == "hello"

    with running(settings=PageSettings(host="0.0.0.0", port=0)) as run:
        assert run.server.token is not None and run.server.token in run.server.url
        asyncio.run(drive())


def test_the_default_port_is_the_next_free_one_and_a_given_port_must_be_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SkerryError, match="give another --port"):
            PageServer(PageSettings(port=port)).start()
    with PageServer() as first, PageServer() as second:
        assert second.port > first.port >= 8080


# ------------------------------------------------------------------------------------------------ hostile and slow


def test_messages_in_flight_are_limited_by_acknowledgements() -> None:
    async def look(client: WebSocketClient) -> None:
        client.draws = False
        await client.do("sub", streams={"pose": {"hz": 30}})
        await client.until(lambda: len(client.messages) == MAX_IN_FLIGHT)
        last = client.messages[-1][4]
        for _ in range(4):
            await client.state(lambda state: state["time"] > last + 0.5)  # text goes on
        assert len(client.messages) == MAX_IN_FLIGHT
        await client.socket.send_json({"op": "ack", "n": MAX_IN_FLIGHT})
        await client.until(lambda: len(client.messages) > MAX_IN_FLIGHT)
        # what was seen meanwhile is gone
        assert client.messages[-1][3] > MAX_IN_FLIGHT + 1
        assert client.messages[-1][4] > last + 0.4
        # a client cannot acknowledge messages that were not sent
        await client.socket.send_json({"op": "ack", "n": 10**9})
        await client.socket.send_json({"op": "ack", "n": -5})
        count = len(client.messages)
        await client.state()
        await client.state()
        assert len(client.messages) - count <= 2 * MAX_IN_FLIGHT

    with running() as run:
        with_client(look, run)


def test_a_client_that_reads_nothing_delays_no_other_client_and_uses_no_more_memory() -> None:
    async def drive() -> None:
        async with connected(run) as good:
            reader, writer = await asyncio.open_connection("127.0.0.1", run.server.port, limit=1024)
            writer.write(
                f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{run.server.port}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            ask = b'{"op": "pause_", "id": 1}'
            frame = bytes([0x81, 0x80 | len(ask), 0, 0, 0, 0]) + ask
            await good.state(lambda state: state["clients"] == 2)
            for _ in range(2000):
                writer.write(frame)
            bad = next(
                client
                for name, client in run.server.hub.clients.items()
                if name != (good.last("hello") or {})["client"]
            )
            for _ in range(10):
                await good.state()
                assert len(bad._replies) <= 300
                assert len(bad._events) <= 200
            await good.do("pause")
            writer.close()
            await good.state(lambda state: state["clients"] == 1)
            del reader

    with running() as run:
        asyncio.run(drive())


def test_messages_that_are_too_long_end_the_connection_and_nothing_else() -> None:
    async def drive() -> None:
        async with connected(run) as good:
            async with connected(run) as bad:
                with pytest.raises((ConnectionError, aiohttp.ClientError)):
                    await bad.socket.send_str("x" * (MAX_MESSAGE_BYTES + 1))
                    while True:
                        await bad.take()
            await good.state(lambda state: state["clients"] == 1)
            async with ClientSession() as session:
                data = json.dumps({"op": "pause", "id": "x" * (MAX_MESSAGE_BYTES + 1)})
                async with session.post(f"{run.url}/api/cmd", data=data) as answer:
                    assert answer.status == 413

    with running() as run:
        asyncio.run(drive())


def test_invalid_messages_get_an_error_and_do_not_stop_the_server() -> None:
    async def drive(client: WebSocketClient) -> None:
        for text in ("", "{", "[]", "null", '"x"', '{"op": {}}', '{"op": "ack", "n": "x"}', '{"op": "ping", "t": []}'):
            await client.socket.send_str(text)
        await client.socket.send_str("[" * 30_000)
        await client.socket.send_bytes(b"\x00" * 100)
        for streams in (
            [],
            {"pose": 5},
            {"pose": {"hz": 0}},
            {"pose": {"hz": "x"}},
            {str(n): {} for n in range(MAX_STREAMS + 1)},
        ):
            assert "hz" in await client.refused("sub", streams=streams)
        await client.do("sub", streams={"no/such": {"hz": 5}, "pose": {"hz": 1e9}})
        await client.until(lambda: len(client.messages) > 3)
        await client.socket.send_json({"op": "ping", "t": 7})
        await client.until(lambda: {"type": "pong", "t": 7} in client.texts)

    with running() as run:
        with_client(drive, run)


def test_a_flood_of_requests_is_limited_and_the_world_continues() -> None:
    async def drive(client: WebSocketClient) -> None:
        assert run.runner is not None
        for number in range(MAX_PENDING + 200):
            await client.socket.send_json({"op": "snapshot", "name": f"{number}", "id": number})
        answers = await client.until(
            lambda: (
                (found := [text for text in client.texts if text["type"] == "result"])
                and len(found) >= MAX_PENDING + 200
                and found
            )
        )
        assert any(
            "send fewer" in answer.get("error", "") or "kept already" in answer.get("error", "") for answer in answers
        )
        state = await client.state()
        assert len(state["snapshots"]) <= 16
        await client.state(lambda later: later["tick"] > state["tick"])

    with running() as run:
        with_client(drive, run)


def test_the_server_closes_while_clients_are_connected() -> None:
    async def drive() -> None:
        async with connected(run) as client:
            await asyncio.to_thread(run.server.close)
            with pytest.raises(ConnectionError):
                while True:
                    await client.take()

    with running() as run:
        asyncio.run(drive())
