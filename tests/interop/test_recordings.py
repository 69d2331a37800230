"""Recordings in the readers `mcap`, `mcap-ros2-support` and `rosbags`, and republication to a client."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from pathlib import Path

import aiohttp
import pytest
import yaml
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader

import skerry
from skerry.interfaces.recorder import Recorder
from skerry.interfaces.recorder.recording_reader import Recording
from skerry.interfaces.recorder.replay import republish
from skerry.runner import Runner


@pytest.fixture(scope="module")
def dive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recordings") / "dive.mcap"
    with (
        skerry.load("sam_in_the_bay") as world,
        Runner(world, None, {"recorder": Recorder(path=path).build()}) as runner,
    ):
        runner.run(3.0)
    return path


def test_the_reader_of_mcap_finds_all_topics_by_its_index(dive: Path) -> None:
    with dive.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        topics = {channel.topic: channel for channel in summary.channels.values()}
        assert {"/sam/core/imu", "/sam/payload/sidescan", "/sam/mbes/map_gt/bathy_points", "/tf"} <= topics.keys()
        assert not any("image" in topic or topic == "/clock" for topic in topics)
        counts = summary.statistics.channel_message_counts
        assert counts[topics["/sam/core/imu"].id] == 31
        assert sum(1 for _ in reader.iter_messages()) == summary.statistics.message_count
        names = [record.name for record in reader.iter_metadata()]
        assert names == ["skerry"]


def as_bag(recording: Path, folder: Path) -> Path:
    """Write a ROS 2 bag of a recording with the metadata that `ros2 bag reindex` would write, and return its folder."""
    with recording.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    counts, times = summary.statistics.channel_message_counts, summary.statistics
    topics = [
        {
            "message_count": counts.get(number, 0),
            "topic_metadata": {
                "name": channel.topic,
                "type": summary.schemas[channel.schema_id].name,
                "serialization_format": "cdr",
                "offered_qos_profiles": "",
            },
        }
        for number, channel in summary.channels.items()
    ]
    description = {
        "version": 5,
        "storage_identifier": "mcap",
        "relative_file_paths": [recording.name],
        "starting_time": {"nanoseconds_since_epoch": times.message_start_time},
        "duration": {"nanoseconds": times.message_end_time - times.message_start_time},
        "message_count": times.message_count,
        "compression_format": "",
        "compression_mode": "",
        "topics_with_message_count": topics,
    }
    folder.mkdir()
    (folder / recording.name).write_bytes(recording.read_bytes())
    (folder / "metadata.yaml").write_text(yaml.safe_dump({"rosbag2_bagfile_information": description}))
    return folder


def test_rosbags_decodes_every_message_by_the_definitions_in_the_file(dive: Path, tmp_path: Path) -> None:
    with AnyReader([as_bag(dive, tmp_path / "bag")]) as reader:
        found = {connection.topic for connection in reader.connections}
        count = 0
        for connection, time, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            count += 1
            if connection.topic == "/sam/core/imu":
                stamp = message.header.stamp
                assert stamp.sec + stamp.nanosec / 1e9 == pytest.approx(
                    time / 1e9, abs=1e-6
                )  # to the precision of floats
                assert message.header.frame_id == "sam/imu_link_gt"
        assert count == reader.message_count
        assert len(found) > 15


def test_mcap_ros2_support_decodes_every_message(dive: Path) -> None:
    decoder = pytest.importorskip("mcap_ros2.decoder", reason="needs mcap-ros2-support")
    with dive.open("rb") as file:
        reader = make_reader(file, decoder_factories=[decoder.DecoderFactory()])
        topics = set()
        for _, channel, raw, message in reader.iter_decoded_messages():
            topics.add(channel.topic)
            if channel.topic == "/sam/core/dvl":
                assert len(message.beams) == 4
                assert message.beams[0].pose.header.frame_id == "sam/dvl_link_gt"
            elif channel.topic == "/sam/mbes/map_gt/bathy_points":
                assert message.width * message.point_step == len(message.data)
            assert raw.log_time <= 3_000_000_000
    assert len(topics) > 15


def test_a_recording_is_republished_to_a_client_of_rosbridge(dive: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    stopped = threading.Event()
    settings = {"rosbridge": {"port": port}}
    recording = Recording(dive)
    thread = threading.Thread(target=lambda: republish(recording, ["rosbridge"], 0.5, stopped, settings=settings))
    thread.start()

    async def listen() -> dict[str, list[object]]:
        received: dict[str, list[object]] = {"/sam/core/imu": [], "/tf_static": [], "/clock": []}
        async with aiohttp.ClientSession() as session:
            for _ in range(200):
                try:
                    opened = await session.ws_connect(f"ws://127.0.0.1:{port}")
                    break
                except aiohttp.ClientConnectorError:
                    await asyncio.sleep(0.05)
            for topic in received:
                await opened.send_str(json.dumps({"op": "subscribe", "topic": topic}))
            while not all(received.values()):
                message = json.loads((await opened.receive(timeout=30)).data)
                received[message["topic"]].append(message["msg"])
            await opened.close()
        return received

    try:
        received = asyncio.run(listen())
    finally:
        stopped.set()
        thread.join()
    assert received["/sam/core/imu"][0]["header"]["frame_id"] == "sam/imu_link_gt"  # type: ignore[index]
