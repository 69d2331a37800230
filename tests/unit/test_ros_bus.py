"""The bus: messages are made for subscribers only, and a slow subscriber never delays the simulation."""

import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from skerry.core.errors import SkerryError, UnknownName
from skerry.interfaces.ros.bus.bus import LATCHED, LATEST, Bus, Qos, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import MessageBatch, MessageEncoder
from skerry.interfaces.ros.bus.transport import TRANSPORTS
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.type_store import TypeStore


class CountingCodec(Codec):
    """Counts how often a message is encoded."""

    encoded = 0

    def to_cdr(self, message: Message) -> bytes:
        self.encoded += 1
        return super().to_cdr(message)


@pytest.fixture
def bus() -> Bus:
    return Bus(CountingCodec(TypeStore()))


def number(bus: Bus, value: int) -> Message:
    return bus.codec.make("std_msgs/Int32", data=value)


def test_a_message_is_encoded_once_for_all_who_take_it_and_not_before(bus: Bus) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32")
    boxes = [SubscriberQueue(), SubscriberQueue()]
    for box in boxes:
        topic.add_subscriber(box)
    topic.publish(number(bus, 5))
    assert bus.codec.encoded == 0  # type: ignore[attr-defined]
    taken = [box.drain(0)[0] for box in boxes]
    assert taken[0].cdr == taken[1].cdr
    assert taken[0].json == {"data": 5}
    assert taken[0].ros1 == b"\x05\x00\x00\x00"
    assert bus.codec.encoded == 1  # type: ignore[attr-defined]  # ROS 1 has it from the CDR


def test_who_is_slow_loses_the_oldest_and_order_is_kept(bus: Bus) -> None:
    many = bus.advertise("/many", "std_msgs/Int32", Qos(depth=3))
    latest = bus.advertise("/latest", "std_msgs/Int32", LATEST)
    box = SubscriberQueue()
    bus.set_subscriptions(box, ["/many", "/latest"])
    for value in range(5):
        many.publish(number(bus, value))
        latest.publish(number(bus, value))
    found = [(out.topic.name, out.message.data) for out in box.drain(0)]
    assert [value for name, value in found if name == "/many"] == [2, 3, 4]
    assert [value for name, value in found if name == "/latest"] == [4]
    assert found[-1] == ("/latest", 4)  # in the order in which they were said
    assert box.dropped == {"/many": 2, "/latest": 4}
    assert box.drain(0) == []


def test_who_comes_late_gets_what_was_latched(bus: Bus) -> None:
    topic = bus.advertise("/static", "std_msgs/Int32", LATCHED)
    topic.publish(number(bus, 1))
    topic.publish(number(bus, 2))
    box = SubscriberQueue()
    bus.set_subscriptions(box, ["/static"])
    assert [out.message.data for out in box.drain(0)] == [2]
    bus.set_subscriptions(box, [])
    topic.publish(number(bus, 3))
    assert box.drain(0) == []


def test_a_wait_ends_when_something_comes_or_somebody_wakes_it(bus: Bus) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32")
    box = SubscriberQueue()
    topic.add_subscriber(box)
    thread = threading.Thread(target=lambda: topic.publish(number(bus, 1)))
    thread.start()
    assert len(box.drain(30)) == 1
    thread.join()
    box.wake()
    assert box.drain(30) == []


def test_what_is_made_when_it_is_taken_is_made_once_and_may_be_nothing(bus: Bus) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32")
    boxes = [SubscriberQueue(), SubscriberQueue()]
    for box in boxes:
        topic.add_subscriber(box)
    made: list[int] = []

    class Making(MessageEncoder):
        def encode(self, ticks: Sequence[int], data: list[int]) -> EncodedBatch:
            made.append(data)
            messages = [bus.codec.to_cdr(number(bus, value)) if value % 2 else None for value in data]
            return EncodedBatch.from_messages(messages)

    topic.publish_batch(Making(), range(4), [0, 1, 2, 3], Fraction(1, 100))
    assert made == []
    assert [[out.message.data for out in box.drain(0)] for box in boxes] == [[1, 3], [1, 3]]
    assert made == [[0, 1, 2, 3]]


def test_what_cannot_be_made_is_left_out_and_told_once(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32")
    box = SubscriberQueue()
    topic.add_subscriber(box)

    class Failing(MessageEncoder):
        def encode(self, ticks: Sequence[int], data: list[int]) -> EncodedBatch:
            if 2 in data:
                raise ValueError("no")
            return EncodedBatch.from_messages([bus.codec.to_cdr(number(bus, value)) for value in data])

    topic.publish_batch(Failing(), range(3), [2, 2, 2], Fraction(1, 100))
    topic.publish_batch(Failing(), range(3), [1, 2, 3], Fraction(1, 100))
    topic.publish(number(bus, 5))
    assert [out.message.data for out in box.drain(0)] == [1, 3, 5]
    assert [record.getMessage() for record in caplog.records] == [
        "/a: a message could not be encoded; it is skipped, and later failures are not logged"
    ]


def test_a_batch_is_encoded_once_by_many_threads(bus: Bus) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32")
    made: list[int] = []

    class Slow(MessageEncoder):
        def encode(self, ticks: Sequence[int], data: list[int]) -> EncodedBatch:
            made.append(1)
            threading.Event().wait(0.05)
            return EncodedBatch.from_messages([bus.codec.to_cdr(number(bus, value)) for value in data])

    batch = MessageBatch(topic, Slow(), range(3), [1, 2, 3], Fraction(1, 100))
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append([out.cdr for out in batch.messages() if out.exists]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert found == [batch.encode().messages()] * 4


def test_what_is_said_together_is_handed_over_together_and_in_order(bus: Bus) -> None:
    topics = [bus.advertise(name, "std_msgs/Int32") for name in ("/a", "/b")]
    told: list[int] = []
    box = SubscriberQueue(lambda: told.append(1))
    bus.set_subscriptions(box, ["/a", "/b"])
    with bus.dispatcher.hold():
        for value in range(6):
            topics[value % 2].publish(number(bus, value))
        assert box.drain(0) == []
    assert [out.message.data for out in box.drain(0)] == [0, 1, 2, 3, 4, 5]
    assert told == [1]


def test_nothing_is_left_waiting_by_a_thread_that_speaks_while_others_are_held(bus: Bus) -> None:
    topic = bus.advertise("/a", "std_msgs/Int32", Qos(depth=10_000))
    box = SubscriberQueue()
    bus.set_subscriptions(box, ["/a"])

    def speak() -> None:
        for value in range(2000):
            topic.publish(number(bus, value))

    thread = threading.Thread(target=speak)
    thread.start()
    while thread.is_alive():
        with bus.dispatcher.hold():
            pass
    thread.join()
    assert [out.message.data for out in box.drain(0)] == list(range(2000))


def test_a_topic_has_one_type(bus: Bus) -> None:
    assert bus.advertise("/a", "std_msgs/Int32") is bus.advertise("/a", "std_msgs/msg/Int32")
    with pytest.raises(SkerryError, match="already"):
        bus.advertise("/a", "std_msgs/Float64")
    bus.subscribe("/b", "std_msgs/Int32", lambda message: None)
    with pytest.raises(SkerryError, match="already"):
        bus.subscribe("/b", "std_msgs/Float64", lambda message: None)
    bus.add_service("/c", "std_srvs/Trigger", lambda request: None)
    with pytest.raises(SkerryError, match="already"):
        bus.add_service("/c", "std_srvs/Trigger", lambda request: None)


def test_several_may_listen_and_one_that_fails_does_not_stop_the_others(bus: Bus) -> None:
    heard: list[int] = []

    def fail(message: Message) -> None:
        raise SkerryError("no")

    bus.subscribe("/a", "std_msgs/Int32", fail)
    bus.subscribe("/a", "std_msgs/Int32", lambda message: heard.append(message.data))
    bus.on_message("/a", number(bus, 7))
    assert heard == [7]
    assert bus.subscribed_type("/a") == "std_msgs/msg/Int32"
    with pytest.raises(UnknownName, match="/a"):
        bus.on_message("/aa", number(bus, 7))
    with pytest.raises(UnknownName):
        bus.call("/nothing", number(bus, 7)).result()


def test_an_unknown_transport_of_a_plug_in_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRANSPORTS, "_find", lambda kind: None)
    with pytest.raises(UnknownName, match=r'pip install "skerry\[ros1\]"'):
        TRANSPORTS.find("tcpros")
    with pytest.raises(UnknownName, match="did you mean 'endpoint'"):
        TRANSPORTS.find("endpont")
