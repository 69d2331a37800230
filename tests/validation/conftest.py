"""What the physical tests are built with: worlds, vehicles of any links, initial velocities, and link motions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

import skerry
from skerry.core.frames import quaternion_to_matrix

Array = NDArray[np.float64]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Physics writes no files: whatever a test leaves in its folder of work (MuJoCo's log, say) is a fault."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def load() -> Iterator[Callable[..., skerry.world.World]]:
    """Builds worlds as `skerry.load` does, and closes them after the test."""
    made: list[Any] = []

    def build(scenario: Mapping[str, Any], **options: Any) -> Any:
        made.append(skerry.load(scenario, **options))
        return made[-1]

    yield build
    for world in made:
        world.close()


def _inertial(link: Mapping[str, Any]) -> str:
    if "mass" not in link:
        return ""
    inertia = np.array(link["inertia"], np.float64)
    inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    places = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    values = " ".join(f'{n}="{inertia[p].item()!r}"' for n, p in zip(names, places, strict=True))
    at = " ".join(repr(float(v)) for v in link.get("center", (0, 0, 0)))
    mass = float(link["mass"])
    return f'<inertial><origin xyz="{at}"/><mass value="{mass!r}"/><inertia {values}/></inertial>'


def _link(name: str, link: Mapping[str, Any]) -> str:
    geometry = link.get("collision", "")
    collision = f"<collision><geometry>{geometry}</geometry></collision>" if geometry else ""
    return f'<link name="{name}">{_inertial(link)}{collision}</link>'


def _joint(name: str, joint: Mapping[str, Any]) -> str:
    at, turn, axis = (
        " ".join(repr(float(v)) for v in joint.get(key, usual))
        for key, usual in (("at", (0, 0, 0)), ("rpy", (0, 0, 0)), ("axis", (1, 0, 0)))
    )
    kind = joint.get("type", "continuous")
    low, high = joint.get("range", (-1e3, 1e3))
    limit = (
        f'<limit lower="{low}" upper="{high}" effort="1e6" velocity="1e6"/>'
        if kind in {"revolute", "prismatic"}
        else ""
    )
    moving = (
        "" if kind == "fixed" else f'<axis xyz="{axis}"/><dynamics damping="{joint.get("damping", 0.0)!r}"/>{limit}'
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{joint["parent"]}"/><child link="{joint["child"]}"/>'
        f'<origin xyz="{at}" rpy="{turn}"/>{moving}</joint>'
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value


@pytest.fixture
def vehicle(tmp_path: Path) -> Callable[..., str]:
    """Writes a vehicle folder and returns its path.

    A link is {mass, inertia, center, collision}; a joint {type, parent, child, at, rpy, axis, damping, range}.
    """
    made: list[Path] = []

    def write(
        links: Mapping[str, Mapping[str, Any]],
        forces: Mapping[str, Any] | None = None,
        joints: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> str:
        folder = tmp_path / f"vehicle{len(made)}"
        folder.mkdir()
        made.append(folder)
        parts = [_link(name, link) for name, link in links.items()]
        parts += [_joint(name, joint) for name, joint in (joints or {}).items()]
        (folder / "robot.urdf").write_text(f'<robot name="craft">{"".join(parts)}</robot>')
        (folder / "vehicle.yaml").write_text(yaml.safe_dump({"forces": _plain(forces or {})}, sort_keys=False))
        return str(folder)

    return write


@pytest.fixture
def set_velocity() -> Callable[..., None]:
    """Gives the first tree of a world a velocity: of its origin in the world's axes, turning in its own, joints'."""

    def give(
        world: Any,
        linear: Sequence[float] = (0, 0, 0),
        angular: Sequence[float] = (0, 0, 0),
        joints: Sequence[float] = (),
    ) -> None:
        values = [*linear, *angular, *joints]
        world._engine.part("qvel")[0, : len(values)] = values
        world._engine.refresh()

    return give


@pytest.fixture
def motion_of() -> Callable[..., tuple[Array, Array, Array]]:
    """Return a function that gives position, rotation matrix (3×3) and body-frame velocity (6) of a link."""

    def look(world: Any, name: str, link: str | None = None) -> tuple[Array, Array, Array]:
        tree = dict.get(world.robots, name) or world.objects[name]
        body = tree.root if link is None else tree.links[link].body
        row = world._engine.motion(0, body)
        turn = quaternion_to_matrix(row[3:7])
        return row[:3].copy(), turn, np.concatenate([turn.T @ row[7:10], turn.T @ row[10:13]])

    return look


@pytest.fixture
def spatial() -> Callable[..., Array]:
    """The 6×6 inertia about a link's origin of a mass at a place (Fossen 2021, ch. 3), written out on its own here."""

    def matrix(mass: float, center: Sequence[float], inertia: Any) -> Array:
        own = np.array(inertia, np.float64)
        own = np.diag(own) if own.ndim == 1 else own
        x, y, z = center
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], np.float64)
        return np.block([[mass * np.eye(3), -mass * cross], [mass * cross, own - mass * cross @ cross]])

    return matrix


@pytest.fixture
def any_inertia() -> Callable[..., Array]:
    """A symmetric, positive 6×6 with no zero in it; another for every number."""

    def matrix(number: int, size: float = 1.0) -> Array:
        random = np.random.default_rng(number)
        root = random.normal(size=(6, 6))
        scale = np.diag([1, 1, 1, 0.3, 0.3, 0.3])
        return size * scale @ (root @ root.T / 6 + 0.2 * np.eye(6)) @ scale

    return matrix
