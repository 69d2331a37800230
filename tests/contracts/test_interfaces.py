"""Contract of interfaces and ROS transports, checked for every kind."""

from pathlib import Path

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bus.transport import TRANSPORTS
from skerry.parts.interface import INTERFACES, InterfaceConfig
from skerry.runner import Runner


@pytest.mark.parametrize("kind", INTERFACES.kinds())
def test_an_interface_runs_and_closes_twice_and_changes_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the recorder writes here
    config = INTERFACES.find(kind).model_validate({"kind": kind})
    assert config.model_validate(config.model_dump(mode="json")) == config
    assert isinstance(config, InterfaceConfig)
    ends = []
    for interfaces in ({}, {"it": config.build()}):
        with skerry.load("sam_empty") as world, Runner(world, None, interfaces) as runner:
            runner.run(0.5)
            ends.append(world.fingerprint())
            for interface in interfaces.values():
                assert isinstance(interface.status, str)
                interface.close()
    assert ends[0] == ends[1]


@pytest.mark.parametrize("kind", TRANSPORTS.kinds())
def test_a_transport_without_a_peer_does_not_block_and_closes_twice(kind: str) -> None:
    if kind in {"dds", "zenoh"}:
        pytest.importorskip({"dds": "cyclonedds", "zenoh": "zenoh"}[kind])
    config = TRANSPORTS.find(kind).model_validate({"kind": kind})
    assert config.model_validate(config.model_dump(mode="json")) == config
    distribution = "noetic" if kind == "tcpros" else "humble"
    ros = Ros.model_validate({"transports": {"it": config}, "distribution": distribution}).build()
    with skerry.load("sam_empty") as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.5)
        assert world.time == 0.5
        assert ros.status
        ros.close()
