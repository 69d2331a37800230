"""Prepared messages of ROS: the same bytes as those of message objects, whatever the numbers are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.frame_topics import TransformEncoder
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage, MessageBatch
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import Encoder, EncoderContext, make_encoder
from skerry.interfaces.ros.messages.templates import MessageTemplate, stamp_of
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import SENSORS, SampleView, SensorConfig, SimpleSensor
from skerry.runner import Runner
from skerry.sensors.gps import GpsReading
from skerry.sensors.pressure import PressureReading

CODEC = Codec(TypeStore())
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=9)
NUMBER = st.floats(allow_nan=False)
TIMES = st.lists(st.floats(0, 2e9), min_size=1, max_size=3)


def message_of(encoded: EncodedBatch) -> bytes:
    """Return the only message of a batch."""
    (message,) = encoded.messages()
    assert message is not None
    return message


def stamps(times: Sequence[float]) -> list[dict[str, int]]:
    return [dict(zip(("sec", "nanosec"), stamp_of(time), strict=True)) for time in times]


@given(TEXT, TIMES, st.data())
def test_an_imu_is_what_its_object_is(frame: str, times: list[float], data: Any) -> None:
    fields = ("orientation", "angular_velocity", "linear_acceleration")
    paths = [*fields, *(f"{field}_covariance" for field in fields)]
    template = MessageTemplate(CODEC, CODEC.make("sensor_msgs/Imu", header={"frame_id": frame}), paths)
    drawn = data.draw(st.lists(st.lists(NUMBER, min_size=37, max_size=37), min_size=len(times), max_size=len(times)))
    numbers = np.array(drawn)
    ends = np.cumsum([4, 3, 3, 9, 9])
    columns = dict(zip(paths, np.split(numbers, ends, axis=1), strict=True))
    expected = [
        CODEC.make(
            "sensor_msgs/Imu",
            header={"stamp": stamp, "frame_id": frame},
            orientation=dict(zip("xyzw", row[:4], strict=True)),
            angular_velocity=dict(zip("xyz", row[4:7], strict=True)),
            linear_acceleration=dict(zip("xyz", row[7:10], strict=True)),
            **{path: row[10 + 9 * k : 19 + 9 * k] for k, path in enumerate(paths[3:])},
        )
        for stamp, row in zip(stamps(times), drawn, strict=True)
    ]
    assert template.fill(times, columns).messages() == [CODEC.to_cdr(message) for message in expected]


@given(TEXT, st.lists(TEXT, max_size=3), st.lists(st.integers(0, 255), min_size=1, max_size=9), TIMES, st.data())
def test_texts_bytes_and_lists_of_messages_stay(
    frame: str, names: list[str], octets: list[int], times: list[float], data: Any
) -> None:
    fields = [{"name": name, "offset": k, "datatype": 7, "count": 1} for k, name in enumerate(names)]
    values = {"fields": fields, "data": np.array(octets, np.uint8), "is_dense": True}
    example = CODEC.make("sensor_msgs/PointCloud2", header={"frame_id": frame}, **values)
    widths = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=len(times), max_size=len(times)))
    others = np.array([[(octet + k) % 256 for octet in octets] for k in range(len(times))], np.uint8)
    encoded = MessageTemplate(CODEC, example, ["width", "data"]).fill(times, {"width": widths, "data": others})
    for message, stamp, width, other in zip(encoded.messages(), stamps(times), widths, others, strict=True):
        header = {"frame_id": frame, "stamp": stamp}
        values |= {"width": width, "data": other}
        assert message == CODEC.to_cdr(CODEC.make("sensor_msgs/PointCloud2", header=header, **values))


@pytest.mark.parametrize("name", CODEC.type_store.names("msg"))
def test_every_message_can_be_prepared_with_nothing_that_changes(name: str) -> None:
    message = CODEC.make(name)
    template = MessageTemplate(CODEC, message, [])
    assert template.fill([0.0], {}).messages() == [CODEC.to_cdr(message)]
    assert template.fill([0.0, 0.0], {}).messages() == [CODEC.to_cdr(message)] * 2


def test_what_is_no_number_cannot_change() -> None:
    for path in ("frame", "header.frame_id", "orientation.q", "header"):
        with pytest.raises(SkerryError):
            MessageTemplate(CODEC, CODEC.make("sensor_msgs/Imu"), [path])
    with pytest.raises(SkerryError, match="not numbers of the same type"):
        MessageTemplate(CODEC, CODEC.make("sensor_msgs/NavSatFix"), ["status"])


@pytest.mark.parametrize("count", [1, 2])
def test_a_wrong_count_of_numbers_is_an_error(count: int) -> None:
    template = MessageTemplate(CODEC, CODEC.make("geometry_msgs/Vector3Stamped"), ["vector"])
    with pytest.raises(SkerryError, match=r"'vector' of geometry_msgs/msg/Vector3Stamped has 3 numbers per message"):
        template.fill(np.zeros(count), {"vector": np.zeros((count, 2))})


def test_one_row_that_all_messages_share_is_written_to_each() -> None:
    template = MessageTemplate(CODEC, CODEC.make("geometry_msgs/Vector3Stamped"), ["vector"])
    vector = np.array([1.0, 2.0, 3.0])
    for count in (1, 2, 5):
        found = template.fill(np.zeros(count), {"vector": shared(vector, count)}).messages()
        assert found == template.fill(np.zeros(count), {"vector": np.tile(vector, (count, 1))}).messages()
        assert found == [message_of(template.fill([0.0], {"vector": vector[None]}))] * count


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
    names = [name for parent, child, _ in found for name in (parent, child)]
    poses = np.array([numbers for _, _, numbers in found]).reshape(1, -1, 7)
    for count in (1, 1, 2):  # the second time with the template of the first
        encoded = encoder.encode([time] * count, names, np.repeat(poses, count, axis=0))
        assert encoded.messages() == [CODEC.to_cdr(expected)] * count


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


def encoder_of(kind: str, type_name: str, value: str | None = None, **settings: Any) -> Encoder:
    """Return the encoder of a sensor of this kind with default settings."""
    config = SENSORS.find(kind).model_validate({"kind": kind, "link": "base_link", "frequency": 10, **settings})
    assert isinstance(config, SensorConfig)
    reading = config.build().reading_type()
    return make_encoder(EncoderContext(CODEC, config, reading, "frame", "map", None), type_name, value)


def test_rows_without_a_reading_and_skipped_rows_are_the_same_in_a_batch_and_alone() -> None:
    times, covariance = np.array([0.1, 0.2, 0.3]), shared(np.diag([1.0, 2.0, 3.0]), 3)
    columns = {name: np.arange(3.0) for name in ("latitude_deg", "longitude_deg", "altitude", "easting", "northing")}
    zone, band = np.array([33, 33, 33]), ["V"] * 3
    valid = np.array([True, False, True])
    fixes = {"time": times, **columns, "zone": zone, "band": band, "covariance": covariance}
    pressures = {name: np.arange(3.0) for name in ("pressure", "depth", "variance")}
    saturated = np.array([False, True, False])
    cases = [
        (encoder_of("gps", "sensor_msgs/NavSatFix"), Readings(GpsReading, fixes, valid)),
        (encoder_of("gps", "sensor_msgs/NavSatFix"), Readings.none(GpsReading, 3)),
        (
            encoder_of("pressure", "sensor_msgs/FluidPressure"),
            Readings(PressureReading, {"time": times, **pressures, "saturated": saturated}),
        ),
    ]
    for encoder, readings in cases:
        each = [encoder.encode(readings.take([row]), times[row : row + 1]).message(0) for row in range(3)]
        assert encoder.encode(readings, times).messages() == each
    assert each[1] is None
    for encoder, readings in cases[:2]:
        fix = CODEC.from_cdr(encoder.encode(readings, times).message(1), "sensor_msgs/NavSatFix")
        assert fix.status.status == CODEC.constant("sensor_msgs/NavSatStatus", "STATUS_NO_FIX")
        assert fix.header.stamp.nanosec == 200_000_000


def test_every_map_of_a_sensor_fits_its_reading_and_its_message() -> None:
    maps = [(kind, name) for kind in SENSORS.kinds() for name in SENSORS.find(kind).ros]
    assert ("ctd", "smarc_msgs/CTD") in maps
    for kind, name in maps:
        encoder_of(kind, name)


@dataclass(frozen=True)
class ProbeReading:
    """Reading with values of all shapes."""

    time: float = unit("s")
    number: float | None = unit("m")
    row: Any = unit("m")
    pose: Pose = unit()

    @property
    def twice(self) -> float:
        """Twice the number."""
        return 2.0 * (self.number or 0.0)


class ProbeSensor(SimpleSensor[ProbeReading]):
    """Sensor of another package."""

    def measure_one(self, sample: SampleView, noise: Noise) -> ProbeReading | None:
        return None


def probe(fields: dict[str, str], type_name: str) -> Encoder:
    """Return the encoder of a sensor of another package with this map."""

    class Probe(SensorConfig):
        kind: Literal["probe"] = "probe"
        ros = {type_name: fields}  # noqa: RUF012

        def build(self) -> ProbeSensor:
            return ProbeSensor()

    config = Probe(link="base_link", frequency=Fraction(10))
    return make_encoder(EncoderContext(CODEC, config, ProbeReading, "frame", "map", None), type_name)


def test_a_map_may_name_properties_nested_fields_and_arrays_of_any_length() -> None:
    numbers, times = [1.0, None, 3.0], np.array([0.0, 0.1, 0.2])
    rows = [np.arange(float(length)) for length in (2, 1, 0)]
    pose = Pose(np.array([1.0, 2.0, 3.0]), Pose.identity().orientation)
    items = [ProbeReading(*each, pose) for each in zip(times.tolist(), numbers, rows, strict=True)]
    readings = Readings.of(ProbeReading, items)

    def decoded(fields: dict[str, str], type_name: str) -> list[Any]:
        found = probe(fields, type_name).encode(readings, times)
        each = [probe(fields, type_name).encode(readings.take([row]), times).message(0) for row in range(3)]
        assert found.messages() == each
        return [None if message is None else CODEC.from_cdr(message, type_name) for message in each]

    found = decoded({"data": "number"}, "std_msgs/Float64")
    assert [None if message is None else message.data for message in found] == numbers
    assert [message.data for message in decoded({"data": "twice"}, "std_msgs/Float64")] == [2.0, 0.0, 6.0]
    found = decoded({"data": "row"}, "std_msgs/Float64MultiArray")
    assert [message.data.tolist() for message in found] == [row.tolist() for row in rows]
    found = decoded({"point": "pose.position"}, "geometry_msgs/PointStamped")
    assert [(message.point.z, message.header.frame_id) for message in found] == [(3.0, "frame")] * 3


@pytest.mark.parametrize(
    ("fields", "type_name", "words"),
    [
        ({"data": "nummber"}, "std_msgs/Float64", "ProbeReading has no field 'nummber'; did you mean 'number'"),
        ({"pont": "pose.position"}, "geometry_msgs/PointStamped", "has no field 'pont'; did you mean 'point'"),
        ({"point.w": "number"}, "geometry_msgs/PointStamped", "has no field 'point.w'"),
        ({"header.frame_id": "number"}, "geometry_msgs/PointStamped", "is a string; only numbers can change"),
        ({"data": "number"}, "std_msgs/Floot64", "there is no message std_msgs/msg/Floot64"),
    ],
)
def test_a_map_that_does_not_fit_is_an_error_that_guesses(fields: dict[str, str], type_name: str, words: str) -> None:
    with pytest.raises(SkerryError, match=re.escape(words)) as error:
        probe(fields, type_name)
    assert "the sensor kind 'probe'" in str(error.value)


class StoringQueue(SubscriberQueue):
    """Queue that stores all messages, and checks that batch encoding equals single encoding."""

    accepts_batches = True

    def __init__(self) -> None:
        super().__init__()
        self.found: list[LazyMessage] = []
        self.batches: dict[Any, list[MessageBatch]] = {}

    def put(self, messages: Sequence[LazyMessage | MessageBatch]) -> None:
        for found in messages:
            if isinstance(found, MessageBatch):
                self.batches.setdefault((found.topic.name, found.batch_key), []).append(found)
                encoder, ticks, data = found._encoder, found.ticks, found._data
                each = [encoder.encode(ticks[row : row + 1], data[row : row + 1]) for row in range(len(found))]
                assert found.encode().messages() == [encoded.message(0) for encoded in each]
                own = MessageBatch(found.topic, encoder, ticks, data, found._step)
                self.found += [outgoing for outgoing in own.messages() if outgoing.exists]
            else:
                self.found.append(found)
