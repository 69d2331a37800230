"""Prepared messages of ROS: the same bytes as those of message objects, whatever the numbers are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.frame_topics import TransformEncoder
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage, MessageBatch
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoders import TemplateEncoder
from skerry.interfaces.ros.messages.templates import compile_template, stamp_of
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.sensor import ReadingColumns, Readings
from skerry.runner import Runner
from skerry.sensors.gps import GpsReading
from skerry.sensors.pressure import PressureReading
from skerry.world.frame_tree import Transform

CODEC = Codec(TypeStore())
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=9)
NUMBER = st.floats(allow_nan=False)
SEC = st.integers(-(2**31), 2**31 - 1)
NANOSEC = st.integers(0, 2**32 - 1)


@given(TEXT, SEC, NANOSEC, st.lists(NUMBER, min_size=37, max_size=37))
def test_an_imu_is_what_its_object_is(frame: str, sec: int, nanosec: int, numbers: list[float]) -> None:
    fields = ("orientation", "angular_velocity", "linear_acceleration")
    paths = [*fields, *(f"{field}_covariance" for field in fields)]
    fill = compile_template(CODEC, CODEC.make("sensor_msgs/Imu", header={"frame_id": frame}), paths)
    q, w, a = numbers[:4], numbers[4:7], numbers[7:10]
    expected = CODEC.make(
        "sensor_msgs/Imu",
        header={"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": frame},
        orientation=dict(zip("xyzw", q, strict=True)),
        angular_velocity=dict(zip("xyz", w, strict=True)),
        linear_acceleration=dict(zip("xyz", a, strict=True)),
        **{path: numbers[10 + 9 * k : 19 + 9 * k] for k, path in enumerate(paths[3:])},
    )
    assert fill(sec, nanosec, *numbers) == CODEC.to_cdr(expected)


@given(TEXT, st.lists(TEXT, max_size=3), st.lists(st.integers(0, 255), max_size=9), st.data())
def test_texts_bytes_and_lists_of_messages_stay(frame: str, names: list[str], octets: list[int], data: Any) -> None:
    fields = [{"name": name, "offset": k, "datatype": 7, "count": 1} for k, name in enumerate(names)]
    values = {"fields": fields, "data": np.array(octets, np.uint8), "is_dense": True, "header": {"frame_id": frame}}
    fill = compile_template(CODEC, CODEC.make("sensor_msgs/PointCloud2", **values), ["width", "data"])
    width, other = (
        data.draw(st.integers(0, 2**32 - 1)),
        data.draw(st.binary(min_size=len(octets), max_size=len(octets))),
    )
    values |= {"width": width, "data": np.frombuffer(other, np.uint8)}
    values["header"] = {"frame_id": frame, "stamp": {"sec": 5, "nanosec": 6}}
    assert fill(5, 6, width, other) == CODEC.to_cdr(CODEC.make("sensor_msgs/PointCloud2", **values))


@pytest.mark.parametrize("name", CODEC.type_store.names("msg"))
def test_every_message_can_be_prepared_with_nothing_that_changes(name: str) -> None:
    message = CODEC.make(name)
    assert compile_template(CODEC, message, [])(0, 0) == CODEC.to_cdr(message)


def test_what_is_no_number_cannot_change() -> None:
    for path in ("frame", "header.frame_id", "orientation.q"):
        with pytest.raises(SkerryError):
            compile_template(CODEC, CODEC.make("sensor_msgs/Imu"), [path])


def test_a_wrong_count_of_numbers_is_an_error() -> None:
    fill = compile_template(CODEC, CODEC.make("geometry_msgs/Vector3"), ["x", "y"])
    with pytest.raises(TypeError):
        fill(0, 0, 1.0)


def test_stamps_are_the_nearest_nanosecond() -> None:
    assert stamp_of(0.1 + 0.2) == (0, 300_000_000)
    assert stamp_of(12.999999999999) == (13, 0)


@given(st.lists(st.tuples(TEXT, TEXT, st.lists(NUMBER, min_size=7, max_size=7)), max_size=4), st.floats(0, 1e6))
def test_transforms_are_what_their_objects_are(found: list[tuple[str, str, list[float]]], time: float) -> None:
    encoder = TransformEncoder(CODEC)
    sec, nanosec = stamp_of(time)
    expected = CODEC.make(
        "tf2_msgs/TFMessage",
        transforms=[
            {
                "header": {"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": parent},
                "child_frame_id": child,
                "transform": {
                    "translation": dict(zip("xyz", numbers[:3], strict=True)),
                    "rotation": dict(zip("xyzw", numbers[3:], strict=True)),
                },
            }
            for parent, child, numbers in found
        ],
    )
    transforms = [Transform(parent, child, Pose.of(numbers)) for parent, child, numbers in found]
    for _ in range(2):  # the second time with the template of the first
        assert encoder.encode_transforms(time, transforms) == CODEC.to_cdr(expected)


@pytest.mark.parametrize("scenario", ["sam_in_the_bay", "drone_recovers_sam", "evolo_slalom"])
def test_rosbags_encodes_each_published_message_to_the_same_bytes(scenario: str) -> None:
    """Each message of a run, except images: the general encoder returns the published bytes for its object."""
    queue = StoringQueue()
    ros = Ros().build()
    assert isinstance(ros, RosInterface)
    with skerry.load(scenario) as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.0)
        taken = [name for name in ros.bus.topics if "image" not in name and "cam" not in name]
        ros.bus.set_subscriptions(queue, taken)
        runner.run(0.3)
        ros.bus.set_subscriptions(queue, [name for name in taken if name != "/clock"])  # for which the world stops
        runner.run(0.3)
    assert {name.rpartition("/")[2] for name in queue.batch_encoded} >= BATCH_ENCODED[scenario]
    codec = ros.bus.codec
    assert len({outgoing.topic.name for outgoing in queue.found}) > 3
    for batches in queue.batches.values():
        assert MessageBatch.joined(batches).encode().messages() == [
            message for batch in batches for message in batch.encode().messages()
        ]
    assert max(map(len, queue.batches.values())) > 1
    for outgoing in queue.found:
        name = outgoing.topic.type
        again = bytes(codec._store.serialize_cdr(codec.from_cdr(outgoing.cdr, name), name, little_endian=True))
        assert again == outgoing.cdr, outgoing.topic.name


BATCH_ENCODED = {
    "sam_in_the_bay": {
        *{"Imu", "FluidPressure", "FloatStamped", "MagneticField", "CTD", "Odometry", "GeoPoint", "DVL", "Sidescan"},
        *{"PointCloud2", "BatteryState", "Leak", "TFMessage", "ThrusterFeedback", "PercentStamped"},
    },
    "drone_recovers_sam": {"FluidPressure", "BatteryState"},
    "evolo_slalom": {"Imu", "Odometry", "GeoPoint", "TFMessage"},
}


def test_missing_and_skipped_readings_are_the_same_in_a_batch() -> None:
    ros = Ros().build()
    assert isinstance(ros, RosInterface)
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.0)
        encoders = {name: ros.schedule.sensors["sam", name][0].encode_reading for name in ("gps", "depth20")}
        covariance = np.diag([1.0, 2.0, 3.0])
        ticks, step = [1, 2, 3], 0.1
        times, valid = [tick * step for tick in ticks], np.array([True, False, True])
        fixes = ReadingColumns(
            {"covariance": covariance},
            time=times,
            latitude_deg=np.array([58.0, 59.0, 60.0]),
            longitude_deg=np.array([17.0, 18.0, 19.0]),
            altitude=np.array([0.5, 1.5, 2.5]),
        )

        def fix(k: int) -> GpsReading:
            place = fixes.latitude_deg[k], fixes.longitude_deg[k], fixes.altitude[k]
            return GpsReading(times[k], *place, 0.0, 0.0, 33, "V", covariance)

        pressures = ReadingColumns(
            {"variance": 25.0},
            time=times,
            pressure=np.array([1e5, 2e5, 3e5]),
            saturated=np.array([False, True, False]),
        )

        def pressure(k: int) -> PressureReading:
            return PressureReading(times[k], pressures.pressure[k], 0.0, 25.0, bool(pressures.saturated[k]))

        rows = {
            "gps": Readings(3, fix, lambda: fixes, valid),
            "depth20": Readings(3, pressure, lambda: pressures),
        }
        for name, found in rows.items():
            encode = encoders[name]
            assert isinstance(encode, TemplateEncoder)
            each = [encode(reading, time) for reading, time in zip(found, times, strict=True)]
            assert encode.encode_batch(found, ticks, step).messages() == each
        assert each[1] is None
        nothing = Readings(2, fix, valid=np.zeros(2, bool))
        encode = encoders["gps"]
        assert isinstance(encode, TemplateEncoder)
        assert encode.encode_batch(nothing, ticks[:2], step).messages() == [encode(None, 0.1), encode(None, 0.2)]


class StoringQueue(SubscriberQueue):
    """Queue that stores all messages, and checks that batch encoding equals single encoding."""

    accepts_batches = True

    def __init__(self) -> None:
        super().__init__()
        self.found: list[LazyMessage] = []
        self.batch_encoded: set[str] = set()
        self.batches: dict[Any, list[MessageBatch]] = {}

    def put(self, messages: Sequence[LazyMessage | MessageBatch]) -> None:
        for found in messages:
            if isinstance(found, MessageBatch):
                if found._encoder.encode_batch(found._ticks, found._data) is not None:
                    self.batch_encoded.add(found.topic.type)
                self.batches.setdefault((found.topic.name, found.batch_key), []).append(
                    MessageBatch(found.topic, found._encoder, found._ticks, found._data, found._step)
                )
                encoded = found.encode().messages()
                each = found.messages()
                assert encoded == [outgoing.cdr if outgoing.exists else None for outgoing in each]
                self.found += [outgoing for outgoing in each if outgoing.exists]
            else:
                self.found.append(found)
