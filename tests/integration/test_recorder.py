"""Recordings: content, replay to the bit, and a slow disk that must not delay the world."""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer

import skerry
from skerry.commands import (
    Actuate,
    CallController,
    GiveGoal,
    Reset,
    Restore,
    SendPacket,
    StartRecording,
    StopRecording,
    SwitchSensor,
    Teleport,
)
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.interfaces.recorder import Recorder
from skerry.interfaces.recorder.command_json import command_from_text, command_to_text
from skerry.interfaces.recorder.recording_reader import ExecutedCommand, Recording
from skerry.interfaces.recorder.recording_writer import COMMANDS, FINGERPRINTS, MAX_QUEUED, MIN_SIZE, RecordingWriter
from skerry.interfaces.recorder.replay import WorldDiffers, verify
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoders.echoes import _write_clouds
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.interface import Command
from skerry.runner import Runner
from skerry.world import Snapshot
from skerry.world.frame_motions import _relate


def record(path: Path, *commands: Command, seconds: float = 0.5, **settings: object) -> None:
    """Record SAM for `seconds` before the first and after each command."""
    recorder = Recorder(path=path, fingerprint_frequency=10, **settings).build()  # type: ignore[arg-type]
    with skerry.load("sam_empty") as world, Runner(world, None, {"recorder": recorder}) as runner:
        runner.run(seconds)
        for command in commands:
            runner.inbox.put(command)
            runner.run(seconds)


def altered(source: Path, path: Path, old: bytes, new: bytes) -> Path:
    """Write a copy of a recording with `old` replaced by `new` in all messages, and return its path."""
    with source.open("rb") as file, path.open("wb") as out:
        writer = Writer(out)
        writer.start("ros2")
        seen = set()
        for found in StreamReader(file).records:
            if isinstance(found, Schema | Channel):  # they are repeated at the end of the file
                if (type(found), found.id) not in seen:
                    seen.add((type(found), found.id))
                    if isinstance(found, Schema):
                        writer.register_schema(found.name, found.encoding, found.data)
                    else:
                        writer.register_channel(found.topic, found.message_encoding, found.schema_id, found.metadata)
            elif isinstance(found, Metadata):
                writer.add_metadata(found.name, found.metadata)
            elif isinstance(found, Message):
                data = found.data.replace(old, new)
                writer.add_message(found.channel_id, found.log_time, data, found.publish_time, found.sequence)
        writer.finish()
    return path


@pytest.fixture(scope="module")
def dive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recordings") / "dive.mcap"
    record(path, Actuate("sam", "thruster1", {"rpm": 612.0}), Actuate("sam", "vbs", {"percent": 71.5}))
    return path


def test_a_recording_replays_to_the_bit(dive: Path) -> None:
    found = verify(recording := Recording(dive))
    assert found.commands == 2
    assert found.fingerprints == 16  # ten per second for 1.5 s, and one at the start
    assert recording.complete


def test_commands_are_recorded_with_their_ticks_and_all_digits(dive: Path) -> None:
    executed = [event for event in Recording(dive).events() if isinstance(event, ExecutedCommand)]
    assert [(event.tick, event.command) for event in executed] == [
        (100, Actuate("sam", "thruster1", {"rpm": 612.0})),
        (200, Actuate("sam", "vbs", {"percent": 71.5})),
    ]


def test_an_altered_command_is_detected_with_its_time(dive: Path, tmp_path: Path) -> None:
    path = altered(dive, tmp_path / "altered.mcap", b"612.0", b"612.1")
    with pytest.raises(
        WorldDiffers, match=r"differs from the recording at 0\.600 s; at 0\.500 s it was the same, with 1"
    ):
        verify(Recording(path))
    assert verify(Recording(altered(dive, tmp_path / "same.mcap", b"612.0", b"612.0"))).commands == 2


def test_a_mission_through_the_auv_interface_replays_to_the_bit(tmp_path: Path) -> None:
    """Dead reckoning, a controller that is switched on, a sensor that is switched off, a packet, and an abort."""

    def ask(method: str, **arguments: object) -> CallController:
        return CallController("sam", "autopilot", method, arguments)

    commands = [
        ask("enable", name="depth"),
        ask("aim", name="depth", value=4.0),
        ask("repeat", name="heading_deg", value=30.0, seconds=0.4),
        SwitchSensor("sam", "dvl", False),
        SendPacket("sam", "modem", "hej"),
        ask("abort"),
    ]
    record(tmp_path / "mission.mcap", *commands, seconds=0.3, ros=Ros(profile="smarc-interface"))
    assert verify(Recording(tmp_path / "mission.mcap")).commands == len(commands) + 1  # dead reckoning is engaged too


def test_a_reset_and_a_restore_are_replayed(tmp_path: Path) -> None:
    path = tmp_path / "back.mcap"
    with skerry.load("sam_empty") as world:
        world.advance(0.25)
        snapshot = world.snapshot()
    record(path, Reset(), Restore(snapshot), Teleport.to("sam", Pose([1, 2, -3], [0, 0, 0, 1])), seconds=0.3)
    assert verify(Recording(path)).commands == 3
    times = [message.time for message in Recording(path).messages()]
    assert times == sorted(times)  # although the world's time went back


def test_a_recording_of_a_killed_run_is_read_up_to_its_end(dive: Path, tmp_path: Path) -> None:
    whole = dive.read_bytes()
    count = sum(1 for _ in Recording(dive).messages())
    path = tmp_path / "cut.mcap"
    found = []
    for length in (len(whole) // 4, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:length])
        recording = Recording(path)
        found.append(sum(1 for _ in recording.messages()))
        assert not recording.complete
    assert found == sorted(found)
    assert found[-1] == count


def test_a_file_that_is_not_a_recording_is_refused_with_a_reason(dive: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.mcap"
    with pytest.raises(SkerryError, match="cannot be read"):
        Recording(path)
    path.write_bytes(b"hello, this is not it")
    with pytest.raises(SkerryError, match="not an MCAP file"):
        Recording(path)
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        writer.finish()
    with pytest.raises(SkerryError, match="not a recording of Skerry"):
        Recording(path)
    data = bytearray(dive.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(SkerryError, match="damaged"):
        sum(1 for _ in Recording(path).messages())


def test_an_existing_file_is_not_overwritten(dive: Path) -> None:
    with pytest.raises(SkerryError, match="already"):
        record(dive)


@pytest.mark.parametrize(
    "command",
    [
        Actuate("sam", "thruster1", {"rpm": 0.1 + 0.2}),
        Teleport.to("sam", Pose([0.1, 1e-300, -3], [0, 0, 0, 1])),
        GiveGoal("sam", "waypoint", {"position": (1.0, 2.0, -3.0), "speed": None, "name": "α"}),
        CallController("evolo", "flight", "command", {"speed_kn": 12}),
        SwitchSensor("sam", "dvl", False),
        SendPacket("sam", "modem", "hej", None),
        Restore(Snapshot(b"\x00\xff snapshot")),
        Reset(),
    ],
)
def test_a_command_survives_encoding_and_decoding(command: Command) -> None:
    found = command_from_text(command_to_text(command))
    assert found == command


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"command": "Actuat"}', '{"command": "Actuate"}', '{"command": []}'])
def test_text_that_is_not_a_command_is_refused(text: str) -> None:
    with pytest.raises(SkerryError):
        command_from_text(text)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=8)
        | st.dictionaries(st.sampled_from(["pose", "snapshot", "robot", "part", "value"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["Actuate", "Teleport", "Reset", "Restore", "Command", "x"]),
    st.dictionaries(st.sampled_from(["robot", "actuator", "value", "name", "pose", "snapshot"]), PLAIN, max_size=4),
)
def test_a_random_command_is_refused_or_decoded(name: str, values: dict[str, object]) -> None:
    with suppress(SkerryError):
        assert isinstance(command_from_text(json.dumps({"command": name, **values})), Command)


def test_a_deeply_nested_command_is_refused() -> None:
    with pytest.raises(SkerryError):
        command_from_text("[" * 100_000)


def test_a_blocked_disk_delays_nothing_and_loses_no_command(tmp_path: Path) -> None:
    slow = threading.Event()

    class SlowCodec(Codec):
        def to_cdr(self, message: object) -> bytes:
            slow.wait()
            return super().to_cdr(message)

    bus = Bus(SlowCodec(TypeStore()))
    topic = bus.advertise("/number", "std_msgs/Int32")
    writer = RecordingWriter(tmp_path / "slow.mcap", bus, "lz4", {})
    topic.add_subscriber(writer)
    message = bus.codec.make("std_msgs/Int32", data=1)
    count = 2 * MAX_QUEUED // MIN_SIZE
    for _ in range(count):
        topic.publish(message)
    writer.put_text(COMMANDS, json.dumps({"tick": 1}), 1)
    assert writer.dropped["/number"] >= count // 2
    slow.set()
    writer.close()
    writer.close()
    assert writer.written + writer.dropped.total() == count + 1


def test_the_feedback_of_an_action_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "goto.mcap"
    settings = Ros(profile="smarc-interface")
    with skerry.load("sam_empty") as world:
        interfaces = {"ros": settings.build(), "recorder": Recorder(path=path, ros=settings).build()}
        with Runner(world, None, interfaces) as runner:
            runner.run(0.1)
            bus = interfaces["ros"].bus  # type: ignore[attr-defined]
            pose = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 30.0}}}
            server = bus.actions["/sam/ctrl/goto_waypoint"]
            message = bus.codec.make(
                server.type.goal.name, waypoint_pose=pose, goal_tolerance=2.0, speed_control_mode=1, travel_rpm=900.0
            )
            server.accept(message)
            runner.run(2.0)
    with path.open("rb") as file:
        topics = {channel.topic for _, channel, _ in make_reader(file).iter_messages()}
    assert "/sam/ctrl/goto_waypoint/_action/feedback" in topics


def test_a_recording_that_fails_ends_the_run_and_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "failed.mcap"
    with skerry.load("sam_empty") as world:
        recorder = Recorder(path=path).build()
        with Runner(world, None, {"recorder": recorder}) as runner:
            runner.run(0.5)
            bus, writer = recorder._bus, recorder._writer
            assert bus is not None
            assert writer is not None
            topic = bus.advertise("/odd", "std_msgs/Int32")
            topic.type = "odd_msgs/msg/Unknown"  # cannot be described
            topic.add_subscriber(writer)
            topic.publish(bus.codec.make("std_msgs/Int32", data=1))
            with pytest.raises(SkerryError, match=r"failed.mcap failed: there is no message odd_msgs"):
                for _ in range(100):
                    runner.run(0.5)
                    sleep(0.02)
    with path.open("rb") as file:
        assert make_reader(file).get_summary() is not None


def test_recorded_messages_equal_the_sent_ones_and_are_encoded_once(tmp_path: Path) -> None:
    ros = Ros().build()
    assert isinstance(ros, RosInterface)
    recorder = Recorder(path=tmp_path / "both.mcap", leave_out=("*cam*", "*image*")).build()
    sent: dict[str, list[bytes]] = defaultdict(list)

    class Peer(SubscriberQueue):
        def put(self, messages: Sequence[LazyMessage]) -> None:
            for outgoing in messages:
                sent[outgoing.topic.name].append(outgoing.cdr)

    with (
        skerry.load("sam_in_the_bay") as world,
        Runner(world, None, {"recorder": recorder, "ros": ros}) as runner,
    ):
        runner.run(0.0)
        ros.bus.set_subscriptions(Peer(), ["/clock", "/tf", "/sam/core/imu", "/sam/core/dvl", "/sam/payload/sidescan"])
        before = {name: ros.bus.topics[name].sent for name in ros.bus.topics}
        runner.run(1.0)
        published = {name: ros.bus.topics[name].sent - before[name] for name in sent}
    assert {name: len(found) for name, found in sent.items()} == published
    recorded: dict[str, list[bytes]] = defaultdict(list)
    for message in Recording(tmp_path / "both.mcap").messages():
        recorded[message.topic].append(message.cdr)
    for name, found in sent.items():
        assert recorded[name][-len(found) :] == found
    assert len(sent["/clock"]) == 100
    assert verify(Recording(tmp_path / "both.mcap")).fingerprints == 2


def test_a_recording_started_beside_a_node_contains_each_topic_once_and_leaves_the_node_working(
    tmp_path: Path,
) -> None:
    """The page starts recordings this way. The second recording shows that the first released its subscriptions."""
    ros, peer = Ros().build(), SubscriberQueue()
    assert isinstance(ros, RosInterface)
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.1)
        ros.bus.set_subscriptions(peer, ["/sam/core/imu"])
        runner.run(0.3)
        for path in (tmp_path / "first.mcap", tmp_path / "second.mcap"):
            started = runner.inbox.put(StartRecording(str(path)))
            runner.run(0.0)
            before = {name: topic.sent for name, topic in ros.bus.topics.items()}
            runner.inbox.put(Actuate("sam", "thruster1", {"rpm": 300.0}))
            runner.run(1.0)
            published = {name: topic.sent - before[name] for name, topic in ros.bus.topics.items()}
            assert started.result() is None
            stopped = runner.inbox.put(StopRecording())
            runner.run(0.1)
            assert stopped.result() is None
            with path.open("rb") as file:
                summary = make_reader(file).get_summary()
            assert summary is not None
            assert summary.statistics is not None
            counts = Counter(channel.topic for channel in summary.channels.values())
            assert max(counts.values()) == 1
            own = {COMMANDS, FINGERPRINTS, "/tf_static"}
            expected = {name for name, count in published.items() if count} - {"/clock"} | own
            assert counts.keys() == expected
            for number, channel in summary.channels.items():
                if channel.topic not in own:
                    assert summary.statistics.channel_message_counts[number] == published[channel.topic], channel.topic
            assert verify(Recording(path)).commands >= 2  # the snapshot, and the command of the thruster
            # the node continues to publish only for its peer
            assert runner.interfaces == {"ros": ros}
            assert ros.subscriptions == {("sam", "imu")}
            peer.drain(0)
            runner.run(0.5)
            assert [outgoing.topic.name for outgoing in peer.drain(0)] == ["/sam/core/imu"] * 5


def test_a_recording_without_an_interface_ros_uses_its_own_node_and_stops(tmp_path: Path) -> None:
    with skerry.load("sam_empty") as world, Runner(world, None, {}) as runner:
        runner.run(0.2)
        runner.inbox.put(StartRecording(str(tmp_path / "it.mcap")))
        runner.run(0.5)
        again = runner.inbox.put(StartRecording(str(tmp_path / "other.mcap")))
        runner.inbox.put(StopRecording())
        runner.run(0.1)
        with pytest.raises(SkerryError, match="already records"):
            again.result()
        nothing = runner.inbox.put(StopRecording())
        runner.run(0.1)
        with pytest.raises(SkerryError, match="no recording is running"):
            nothing.result()
        assert not runner.interfaces
    found = Counter(message.topic for message in Recording(tmp_path / "it.mcap").messages())
    assert found["/sam/core/imu"] == 6  # the first reading at 0.25 s, and then every tenth of a second
    assert found["/tf_static"] == 1
    assert verify(Recording(tmp_path / "it.mcap")).seconds == pytest.approx(0.7, abs=0.01)


def test_a_node_with_other_settings_is_not_recorded(tmp_path: Path) -> None:
    """The recorder uses its own node in this case."""
    ros = Ros().build()
    recorder = Recorder(path=tmp_path / "own.mcap", ros=Ros(frame_suffix="_mine")).build()
    with skerry.load("sam_empty") as world, Runner(world, None, {"ros": ros, "recorder": recorder}) as runner:
        runner.run(0.2)
    found = [message for message in Recording(tmp_path / "own.mcap").messages() if message.topic == "/tf"]
    assert b"sam/base_link_mine" in found[0].cdr


@given(
    offset=st.integers(0, 10_000),
    value=st.integers(0, 255),
    change=st.sampled_from(["cut", "flip", "insert", "length"]),
)
def test_a_damaged_recording_is_read_up_to_the_damage_or_refused(
    dive: Path, tmp_path_factory: pytest.TempPathFactory, offset: int, value: int, change: str
) -> None:
    data = bytearray(dive.read_bytes())
    offset %= len(data)
    match change:
        case "cut":
            del data[offset:]
        case "flip":
            data[offset] = value
        case "insert":
            data[offset:offset] = bytes([value]) * 3
        case "length":  # a length of 2 GB at any offset
            data[offset : offset + 8] = (2**31).to_bytes(8, "little")
    path = tmp_path_factory.getbasetemp() / "damaged.mcap"
    path.write_bytes(data)
    with suppress(SkerryError):
        for _ in Recording(path).events():
            pass


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_every_compression_is_read_by_the_package_mcap(tmp_path: Path, compression: str) -> None:
    record(tmp_path / "it.mcap", compression=compression)
    with (tmp_path / "it.mcap").open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        counts = {
            channel.topic: summary.statistics.channel_message_counts[channel.id]
            for channel in summary.channels.values()
        }
        found = Counter(channel.topic for _, channel, _ in reader.iter_messages())
    assert found == counts
    assert sum(counts.values()) == summary.statistics.message_count
    index = summary.chunk_indexes[0]
    assert index.message_index_offsets.keys() == {channel.id for channel in summary.channels.values()}


def test_encoders_are_compiled_before_the_run(tmp_path: Path) -> None:
    """The run compiles no further signatures."""
    recorder = Recorder(path=tmp_path / "a.mcap").build()
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"recorder": recorder}) as runner:
        runner.run(0.0)
        before = _write_clouds.signatures, _relate.signatures
        assert [len(found) for found in before] == [1, 1]
        runner.run(1.0)
        recorder.close()
        assert (_write_clouds.signatures, _relate.signatures) == before
