"""The native work on the rows of many robots: what happens to them in a step, in one call for all.

Every row is handled by itself, through function pointers, so that no compiler makes several of them into one: a robot
among a thousand gets the very bits that it would get alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import call5, call6, floats, native, strict_kernel, words
from skerry.gym.task import OTHER, OVER, OWN, SUCCESS, TIME, VERDICT, Task
from skerry.physics.engine import Engine
from skerry.physics.model import Model

Agents: TypeAlias = Mapping[str, tuple[float, float]]
"""The robots that act, each with the place, east and north, that it takes for the world's origin."""

# ------------------------------------------------------------------------------------------------ facts

# what is known of an agent: its body, how many joints and others, its own origin (two floats), then their places
BODY, JOINTS, OTHERS, ORIGIN, _, PLACES = range(6)
BODY_ROW = 13  # position, quaternion, velocity, angular velocity


@native(types.void(*[types.int64] * 5))
def fill_facts(layout: int, motion: int, positions: int, time: int, now: int) -> None:
    """The facts of one robot, from the motion of all bodies of its world and the positions of its joints."""
    head = words(layout, PLACES)
    joints, others = head[JOINTS], head[OTHERS]
    places = words(layout + 8 * PLACES, joints + others)
    row = floats(motion + 8 * BODY_ROW * head[BODY], BODY_ROW)
    facts = floats(now, OWN + joints + OTHER * others)
    origin = floats(layout + 8 * ORIGIN, 2)
    x, y, z, w = row[3], row[4], row[5], row[6]
    facts[TIME] = floats(time, 1)[0]
    facts[1], facts[2], facts[3] = row[0] - origin[0], row[1] - origin[1], row[2]
    facts[4] = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    facts[5] = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    facts[6] = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    for k in range(2):  # velocity, then angular velocity: from the world's axes to the robot's own
        a, b, c = row[7 + 3 * k], row[8 + 3 * k], row[9 + 3 * k]
        facts[7 + 3 * k] = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + z * w) * b + 2 * (x * z - y * w) * c
        facts[8 + 3 * k] = 2 * (x * y - z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + x * w) * c
        facts[9 + 3 * k] = 2 * (x * z + y * w) * a + 2 * (y * z - x * w) * b + (1 - 2 * (x * x + y * y)) * c
    facts[13], facts[14], facts[15], facts[16] = x, y, z, w
    for k in range(joints):
        facts[OWN + k] = floats(positions + 8 * places[k], 1)[0]
    for k in range(others):
        other = floats(motion + 8 * BODY_ROW * places[joints + k], BODY_ROW)
        start = OWN + joints + OTHER * k
        facts[start], facts[start + 1], facts[start + 2] = other[0] - origin[0], other[1] - origin[1], other[2]
        for i in range(3):
            facts[start + 3 + i] = other[7 + i]


FILL, WORLDS, AGENTS, LAYOUTS, LAYOUT_STRIDE, MOTION, MOTION_STRIDE = range(7)
POSITIONS, POSITIONS_STRIDE, TIMES, TIMES_STRIDE, NOW, NOW_STRIDE, LOOK_WORDS = range(7, 14)


@strict_kernel
def look_at_all(table: int) -> None:
    """Fill the facts of all agents of all worlds of an engine."""
    t = words(table, LOOK_WORDS)
    for world in range(t[WORLDS]):
        for agent in range(t[AGENTS]):
            call5(
                t[FILL],
                t[LAYOUTS] + agent * t[LAYOUT_STRIDE],
                t[MOTION] + world * t[MOTION_STRIDE],
                t[POSITIONS] + world * t[POSITIONS_STRIDE],
                t[TIMES] + world * t[TIMES_STRIDE],
                t[NOW] + (world * t[AGENTS] + agent) * t[NOW_STRIDE],
            )


class Lookout:
    """Fills the facts of the robots of an engine into rows that belong to somebody else."""

    def __init__(self, engine: Engine, task: Task, agents: Agents, now: NDArray[np.float64]) -> None:
        self._layouts = np.array([_layout(engine, engine.model, task, robot) for robot in agents], np.int64)
        self._layouts.view(np.float64)[:, ORIGIN:PLACES] = list(agents.values())
        self._motion = engine.all_motion()
        self._positions, self._times = engine.part("qpos"), engine.part("time")
        self._now = now
        self._table = np.zeros(LOOK_WORDS, np.int64)
        self._table[FILL] = fill_facts.address
        self._table[WORLDS], self._table[AGENTS] = len(engine.models), len(agents)
        for place, array in (
            (LAYOUTS, self._layouts),
            (MOTION, self._motion),
            (POSITIONS, self._positions),
            (TIMES, self._times),
            (NOW, now),
        ):
            self._table[place], self._table[place + 1] = array.ctypes.data, array.strides[0]
        self._address = int(self._table.ctypes.data)

    def look(self) -> None:
        """Fill them."""
        look_at_all(self._address)


def _layout(engine: Engine, model: Model, task: Task, robot: str) -> list[int]:
    joints = [engine.joint_addresses[model.joints[robot][name]][0] for name in task.joints]
    others = [model.roots[name] for name in task.others]
    return [model.roots[robot], len(joints), len(others), 0, 0, *joints, *others]


# ------------------------------------------------------------------------------------------------ actions and verdicts


@strict_kernel
def take_actions(given: Any, actions: Any) -> bool:
    """Take the actions of a step, and keep those of the one before behind them; say whether all are numbers."""
    rows, count = given.shape
    sound = True
    for i in range(rows):
        for j in range(count):
            actions[i, count + j] = actions[i, j]
            value = float(given[i, j])
            sound = sound and math.isfinite(value)
            actions[i, j] = min(max(value, -1.0), 1.0)
    return sound


JUDGE, OBSERVE, BEFORE, TRUE, SEEN, FACTS_STRIDE, GOALS, GOALS_STRIDE = range(8)
ACTIONS, ACTIONS_STRIDE, MEMORIES, MEMORIES_STRIDE, VERDICTS, SCRATCH, JUDGE_WORDS = range(8, 15)

FARTHEST = 10.0
"""What an observation is at most, either way: tasks scale them to about 1."""


@strict_kernel
def judge_all(table: int, rows: Any, judged: bool, observations: Any) -> None:
    """Judge the step of these rows, unless they have just begun, and write what is seen of them."""
    t = words(table, JUDGE_WORDS)
    count = observations.shape[1]
    scratch = floats(t[SCRATCH], count)
    for i in rows:
        goal = t[GOALS] + i * t[GOALS_STRIDE]
        action = t[ACTIONS] + i * t[ACTIONS_STRIDE]
        memory = t[MEMORIES] + i * t[MEMORIES_STRIDE]
        facts = i * t[FACTS_STRIDE]
        if judged:
            verdict = t[VERDICTS] + 8 * VERDICT * i
            call6(t[JUDGE], t[BEFORE] + facts, t[TRUE] + facts, goal, action, memory, verdict)
        call5(t[OBSERVE], t[SEEN] + facts, goal, action, memory, t[SCRATCH])
        for k in range(count):
            observations[i, k] = min(max(scratch[k], -FARTHEST), FARTHEST)


class Ledger:
    """All numbers that the rules of a task read and write, a row for each robot."""

    def __init__(self, task: Task, rows: int, separate: bool) -> None:
        self.task = task
        self.before, self.now = np.zeros((rows, task.facts)), np.zeros((rows, task.facts))
        self.seen = np.zeros((rows, task.facts)) if separate else self.now
        self.goals = np.zeros((rows, max(len(task.goals), 1)))
        self.actions = np.zeros((rows, 2 * len(task.commands)))
        self.memories = np.zeros((rows, max(task.memory, 1)))
        self.verdicts = np.zeros((rows, VERDICT))
        self._scratch = np.zeros(len(task.observations))
        self._table = np.zeros(JUDGE_WORDS, np.int64)
        self._table[JUDGE], self._table[OBSERVE] = task.judge.address, task.observe.address
        self._table[BEFORE], self._table[TRUE] = self.before.ctypes.data, self.now.ctypes.data
        self._table[SEEN], self._table[FACTS_STRIDE] = self.seen.ctypes.data, self.now.strides[0]
        for place, array in ((GOALS, self.goals), (ACTIONS, self.actions), (MEMORIES, self.memories)):
            self._table[place], self._table[place + 1] = array.ctypes.data, array.strides[0]
        self._table[VERDICTS], self._table[SCRATCH] = self.verdicts.ctypes.data, self._scratch.ctypes.data
        self._address = int(self._table.ctypes.data)

    def begin(self, row: int, goal: list[float]) -> None:
        """Clear a row for a new episode."""
        self.goals[row, : len(goal)] = goal
        self.actions[row] = self.memories[row] = self.verdicts[row] = 0.0

    def judge(self, rows: NDArray[np.int64], observations: NDArray[np.float32]) -> None:
        """Judge the step of some rows, and write what is seen of them."""
        judge_all(self._address, rows, True, observations)

    def observe(self, rows: NDArray[np.int64], observations: NDArray[np.float32]) -> None:
        """Write what is seen of some rows."""
        judge_all(self._address, rows, False, observations)

    def over(self) -> NDArray[np.bool_]:
        """Whose episode has come to its end."""
        return self.verdicts[:, OVER] != 0.0

    def success(self) -> NDArray[np.bool_]:
        """Who has done what was to be done."""
        return self.verdicts[:, SUCCESS] != 0.0
