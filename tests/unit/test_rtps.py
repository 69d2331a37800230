"""RTPS participant without sockets: two cores that exchange datagrams, lost datagrams, and invalid data."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.transports.dds.rtps import wire
from skerry.interfaces.ros.transports.dds.rtps.core import RtpsCore, Sample

A, B = ("127.0.0.1", 7410), ("127.0.0.1", 7412)


def pair() -> dict[tuple[str, int], RtpsCore]:
    return {A: RtpsCore(0, b"a" * 12, A, [B], b"enclave=/;"), B: RtpsCore(0, b"b" * 12, B, [A], b"enclave=/;")}


def exchange(cores: dict[tuple[str, int], RtpsCore], loss: float = 0.0, seconds: float = 1.0) -> None:
    """Exchange datagrams; each is lost with a probability."""
    chance = random.Random(1)
    for step in range(int(seconds / 0.05)):
        for address, core in cores.items():
            core.tick(0.05 * step)
            outgoing, core.outgoing = core.outgoing, []
            for datagram, target in outgoing:
                if chance.random() >= loss:
                    cores[target].receive(datagram, address, 0.05 * step)


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("size", [20, 150_000])
def test_all_samples_arrive_in_order_with_their_related_identity(loss: float, size: int) -> None:
    cores = pair()
    received: list[Sample] = []
    writer = cores[A].add_writer("rr/xReply", "X_", b"")
    cores[B].add_reader("rr/xReply", "X_", b"", received.append)
    exchange(cores, loss, seconds=20.0)
    assert len(cores[A].matched(writer)) == 1
    related = (b"g" * 16, 1 << 40)
    payloads = [bytes([index]) * size for index in range(10)]
    for payload in payloads:
        cores[A].write(writer, payload, wire.related_inline(related), b"b" * 12, None)
    exchange(cores, loss, seconds=60.0)
    samples = [sample for _, sample in cores[B].received]
    assert [sample.payload for sample in samples] == payloads
    assert {sample.related for sample in samples} == {related}
    assert not writer.streams[b"b" * 12].history


def test_a_participant_that_leaves_is_removed() -> None:
    cores = pair()
    exchange(cores)
    assert cores[B].peers
    cores[A].leave()
    for datagram, _ in cores[A].outgoing:
        cores[B].receive(datagram, A, 1.0)
    assert not cores[B].peers


def datagrams() -> list[bytes]:
    """Return the datagrams of discovery and of some samples."""
    cores = pair()
    found: list[bytes] = []
    writer = cores[A].add_writer("rr/xReply", "X_", b"typehash=1;")
    cores[B].add_reader("rr/xReply", "X_", b"", lambda sample: None)
    for step in range(20):
        if step == 10:
            cores[A].write(writer, bytes(130_000), wire.related_inline((b"g" * 16, 3)), b"b" * 12, None)
        for address, core in cores.items():
            core.tick(0.1 * step)
            outgoing, core.outgoing = core.outgoing, []
            for datagram, target in outgoing:
                found.append(datagram)
                cores[target].receive(datagram, address, 0.1 * step)
    return sorted(set(found), key=len)


VALID = datagrams()


@settings(max_examples=300, deadline=None)
@given(
    index=st.integers(0, len(VALID) - 1),
    changes=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=8),
    cut=st.integers(0, 2000),
)
def test_invalid_datagrams_raise_a_protocol_error_only(index: int, changes: list[tuple[int, int]], cut: int) -> None:
    cores = pair()
    exchange(cores)
    core = cores[B]
    core.add_reader("rr/xReply", "X_", b"", lambda sample: None)
    damaged = bytearray(VALID[index][: len(VALID[index]) - cut] if cut % 2 else VALID[index])
    for position, value in changes:
        if damaged:
            damaged[position % len(damaged)] = value
    for datagram in (bytes(damaged), *VALID[:5]):
        with suppress(ProtocolError):
            core.receive(datagram, A, 2.0)
    core.tick(3.0)
    assert len(core.outgoing) < 1000
