"""Sweeps on a real Ray cluster of two nodes, one of which is lost half-way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from skerry.core.errors import SkerryError
from skerry.sweep import make_plan, run_sweep
from skerry.sweep.plan import Plan

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's own

RPM = "robots.sam.commands.thruster1.rpm"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head and a second node, each of one processor."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it would write a token into the user's home
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield cluster
    finally:
        cluster.shutdown()


def make(tmp_path: Path, **settings: Any) -> Plan:
    (tmp_path / "where.py").write_text(
        "import ray, time\n"
        "def node(run):\n"
        "    time.sleep(0.2)\n"
        "    return int(ray.get_runtime_context().get_node_id()[:8], 16) if ray.is_initialized() else 0\n"
    )
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({"scenario": "sam_empty", "duration": 2, **settings}))
    return make_plan(file)


def test_a_sweep_ends_though_a_node_is_lost_and_gives_what_one_machine_gives(cluster: Any, tmp_path: Path) -> None:
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    vary = {RPM: [0, 400, 800]}
    plan = make(tmp_path, vary=vary, repetitions=10, metrics={"y": "final(sam.y)", "node": "where:node"})
    lost = False

    def watch(done: int, failed: int) -> None:
        nonlocal lost
        if done >= 15 and not lost:
            lost = True
            cluster.remove_node(second, allow_graceful=False)

    report = run_sweep(plan, tmp_path / "ray", "ray", address=cluster.address, on_progress=watch)
    assert lost
    assert not report.failures
    assert len(report.columns["run"]) == 30
    assert len(set(report.columns["node"])) == 2  # both took part
    assert len(set(report.columns["node"][-5:])) == 1  # and one was left
    lines = (tmp_path / "ray" / "results.jsonl").read_text().splitlines()
    assert len(lines) == 30
    local = run_sweep(plan, tmp_path / "local", "local")
    assert local.columns["y"] == report.columns["y"]


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    plan = make(tmp_path, metrics={"y": "final(sam.y)"})
    with pytest.raises(SkerryError, match="cannot connect to a Ray cluster"):
        run_sweep(plan, tmp_path / "out", "ray", address="auto")
