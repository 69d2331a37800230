"""Every shipped scenario can be shown on the page: its scene is data for JSON, and all its streams give messages."""

import json

import pytest

import skerry
from skerry.runner import Runner
from skerry.scenario.loading import shipped_scenarios
from skerry.ui.assets import Assets
from skerry.ui.page import Page
from skerry.ui.protocol import Kind, Payload
from skerry.ui.scene import describe
from skerry.ui.server import PageServer
from skerry.ui.settings import PageSettings
from skerry.ui.state import plain

# kinds that take long to measure and are tested elsewhere
SLOW = {Kind.IMAGE, Kind.CLOUD, Kind.SONAR_FAN}


@pytest.mark.parametrize("scenario", shipped_scenarios())
def test_a_scenario_has_a_scene_a_state_and_streams(scenario: str) -> None:
    server = PageServer(PageSettings(port=0))
    page = Page(server)
    with skerry.load(scenario) as world, Runner(world, None, {"page": page}) as runner:
        page.attach_runner(runner)
        before = world.fingerprint()
        page.start(world, runner.inbox)
        assets = Assets()
        streams = list(page.streams.values())
        scene = plain(describe(world, streams, page.frames.names, assets))
        json.dumps(scene, allow_nan=False)
        assert [body["id"] for body in scene["bodies"]] == list(range(len(scene["bodies"])))
        named = [shape["asset"] for body in scene["bodies"] for shape in body["shapes"] if shape["kind"] == "mesh"]
        for path in (*named, *(ground["asset"] for ground in scene["terrain"])):
            assert assets.get(path.removeprefix("/assets/"))
        assert len({stream.name for stream in streams}) == len(streams)
        assert {name for robot in scene["robots"] for sensor in robot["sensors"] for name in sensor["streams"]} <= set(
            page.streams
        )
        assert world.fingerprint() == before  # a description of the scene does not change the world
        wanted = {stream.name: 30.0 for stream in streams if stream.kind not in SLOW and "rays/" not in stream.name}
        page.set_subscriptions(wanted, has_clients=True)
        runner.run(0.2)
        update = page.take_update()
        assert update is not None and update.state is not None
        json.dumps(plain(update.state), allow_nan=False)
        assert set(update.state["robots"]) == set(world.robots)
        for name, (_, sample) in update.samples.items():
            payload = page.streams[name].encode(sample)
            assert isinstance(payload, Payload) and payload.kind is page.streams[name].kind
        assert {"pose", "tf", "ropes", "gps", "waypoints"} <= update.samples.keys()
        page.close()
    server.close()
