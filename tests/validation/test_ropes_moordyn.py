"""Ropes against MoorDyn (Hall & Goupee 2015, Ocean Engineering 104), the lumped-mass code of the mooring field.

Both codes get the same rope: diameter, mass, stiffness, damping, drag and added mass across and along, segments.
MoorDyn integrates by Runge–Kutta with short steps; Skerry uses implicit steps of 5 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import skerry
from skerry.core.frames import Pose

moordyn = pytest.importorskip("moordyn", reason="MoorDyn is in the extra `test`")

SEGMENTS, LENGTH = 20, 20.0
ANCHOR, FAIRLEAD = (0.0, 0.0, -20.0), (14.0, 0.0, -12.0)
# MoorDyn damps a slack rope against being compressed too, Skerry does not: so there is hardly any damping here.
ROPE = {
    "diameter": 0.02, "mass_per_metre": 0.6, "stiffness": 1e5, "damping": 2.0, "normal_drag": 1.2,
    "tangential_drag": 0.02, "added_mass": 1.0, "length": LENGTH, "segment_length": LENGTH / SEGMENTS,
}  # fmt: skip

INPUT = """--- MoorDyn input ---
--- LINE TYPES ---
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s) (N-m^2) (-) (-) (-) (-)
rope {diameter} {mass_per_metre} {stiffness} {damping} 0 {normal_drag} {added_mass} {tangential_drag} 0
--- POINTS ---
ID Type X Y Z Mass Volume CdA Ca
(#) (word/ID) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed {anchor} 0 0 0 0
2 Coupled {fairlead} 0 0 0 0
--- LINES ---
ID LineType AttachA AttachB UnstrLen NumSegs Outputs
(#) (name) (ID) (ID) (m) (-) (-)
1 rope 1 2 {length} {segments} -
--- OPTIONS ---
5e-4 dtM
RK4 tScheme
1025 WtrDnsty
9.81 g
100 WtrDpth
60 TmaxIC
0.2 dtIC
1e-5 threshIC
0 writeLog
--- END ---
"""
STEP = 0.001  # s between two positions of the fairlead: MoorDyn goes straight from one to the next


class MoorDynLine:
    """Rope from the anchor to the fairlead in MoorDyn, initially at rest."""

    def __init__(self, folder: Path) -> None:
        file = folder / "line.txt"
        places = {"anchor": " ".join(map(str, ANCHOR)), "fairlead": " ".join(map(str, FAIRLEAD))}
        file.write_text(INPUT.format(**ROPE, **places, segments=SEGMENTS))
        self.system = moordyn.Create(str(file))
        moordyn.SetVerbosity(self.system, moordyn.LEVEL_NONE)
        moordyn.Init(self.system, list(FAIRLEAD), [0.0, 0.0, 0.0])
        self.line = moordyn.GetLine(self.system, 1)
        self.ticks = 0

    @property
    def points(self) -> NDArray[np.float64]:
        """Return the positions of its nodes, from the anchor on."""
        return np.array([moordyn.GetLineNodePos(self.line, k) for k in range(SEGMENTS + 1)])

    def tension(self, node: int) -> float:
        """Return the tension at a node: that of the last segment at an end, the mean of two segments otherwise."""
        return float(np.linalg.norm(moordyn.GetLineNodeTen(self.line, node)))

    def release(self) -> None:
        """Release the fairlead."""
        moordyn.BreakLine(self.system, moordyn.GetPoint(self.system, 2), self.line)

    def advance(self, seconds: float, heave: Callable[[float], float] = lambda time: 0.0) -> None:
        x, y, z = FAIRLEAD
        for _ in range(round(seconds / STEP)):
            time = self.ticks * STEP
            rate = (heave(time + 1e-6) - heave(time - 1e-6)) / 2e-6
            moordyn.Step(self.system, [x, y, z + heave(time)], [0.0, 0.0, rate], time, STEP)
            self.ticks += 1


@pytest.fixture
def line(tmp_path: Path) -> Iterator[MoorDynLine]:
    made = MoorDynLine(tmp_path)
    yield made
    moordyn.Close(made.system)


def test_a_rope_hangs_as_in_moordyn(line: MoorDynLine) -> None:
    """Shape within 5 mm of 20 m and end tensions within 0.2 %: both are nearly at rest after a minute, not quite."""
    rope = {**ROPE, "start": FAIRLEAD, "end": ANCHOR}
    with skerry.load({"ropes": {"line": rope}}) as world:
        world.advance(60)
        own = world.ropes["line"]
        assert np.abs(own.points[::-1] - line.points).max() < 5e-3
        assert own.tension[0] == pytest.approx(line.tension(SEGMENTS), rel=2e-3)
        assert own.tension[-1] == pytest.approx(line.tension(0), rel=2e-3)


def test_a_rope_whose_end_is_moved_up_and_down_pulls_as_in_moordyn(line: MoorDynLine) -> None:
    """0.2 m in 4 s, growing over the first period: tension and middle in the third one.

    The pull goes up and down by 8.9 N, here and there; a lag of one step of 5 ms alone would be 0.04 N.
    """

    def heave(time: float) -> float:
        return float(0.2 * min(time / 4, 1.0) * np.sin(2 * np.pi * time / 4))

    rope = {**ROPE, "start": "ship", "end": ANCHOR}
    ship = {
        "geometry": {"kind": "sphere", "radius": 0.01}, "motion": "kinematic", "pose": {"position": FAIRLEAD}
    }  # fmt: skip
    found: list[Any] = []
    with skerry.load({"ropes": {"line": rope}, "objects": {"ship": ship}}) as world:
        world.advance(60)
        own = world.ropes["line"]
        for tick in range(2400):
            up = np.array([0.0, 0.0, heave((tick + 1) / 200)])
            world.objects["ship"].move(Pose(np.array(FAIRLEAD) + up, np.array([0.0, 0, 0, 1])))
            world.advance_steps(1)
            line.advance(1 / 200, heave)
            if tick >= 1600:
                place = own.points[SEGMENTS // 2], line.points[SEGMENTS // 2]
                found.append((own.tension[0], line.tension(SEGMENTS), np.abs(place[0] - place[1]).max()))
    mine, theirs, apart = np.array(found).T
    assert np.ptp(theirs) > 8.0
    assert np.sqrt(np.mean((mine - theirs) ** 2)) < 0.06
    assert np.ptp(mine) == pytest.approx(np.ptp(theirs), rel=0.01)
    assert apart.max() < 5e-4


def test_a_released_rope_sinks_as_in_moordyn(line: MoorDynLine) -> None:
    """The free end falls by 5.4 m in 3 s; both paths agree within 3 cm.

    Only the end is compared, because a compressed rope folds differently in the two codes.
    """
    rope = {**ROPE, "start": ANCHOR, "end": FAIRLEAD}
    with skerry.load({"ropes": {"line": rope}}) as world:
        world.advance(60)
        own = world.ropes["line"]
        own.release()
        line.release()
        for _ in range(3):
            world.advance(1.0)
            line.advance(1.0)
            assert own.end == pytest.approx(line.points[-1], abs=0.03)
        assert own.end[2] < -17.0
