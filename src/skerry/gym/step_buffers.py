"""Buffers of a control step, one row per robot, and the native functions that process all rows in one call.

Each row is processed separately, through function pointers, so that the compiler cannot vectorise across rows. A robot
among a thousand gets the same bits as a single robot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import call5, call6, floats, native, strict_kernel, words
from skerry.gym.task import BASE_FEATURES, OBJECT_FEATURES, OUTCOME, SUCCESS, TERMINATED, TIME, Task
from skerry.physics.engine import Engine
from skerry.physics.model import Model

Agents: TypeAlias = Mapping[str, tuple[float, float]]
"""Acting robots by name, each with the position (east, north) that it uses as its origin, m."""

# ------------------------------------------------------------------------------------------------ features

# layout of an agent: body, number of joints, number of other objects, origin (two floats), then their indices
BODY, JOINTS, OTHERS, ORIGIN, _, INDICES = range(6)
BODY_ROW = 13  # position, quaternion, velocity, angular velocity


@native(types.void(*[types.int64] * 5))
def fill_features(layout: int, motion: int, positions: int, time: int, now: int) -> None:
    """Compute the features of one robot from the motion of all bodies of its world and its joint positions."""
    head = words(layout, INDICES)
    joints, others = head[JOINTS], head[OTHERS]
    indices = words(layout + 8 * INDICES, joints + others)
    row = floats(motion + 8 * BODY_ROW * head[BODY], BODY_ROW)
    features = floats(now, BASE_FEATURES + joints + OBJECT_FEATURES * others)
    origin = floats(layout + 8 * ORIGIN, 2)
    x, y, z, w = row[3], row[4], row[5], row[6]
    features[TIME] = floats(time, 1)[0]
    features[1], features[2], features[3] = row[0] - origin[0], row[1] - origin[1], row[2]
    features[4] = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    features[5] = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    features[6] = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    for k in range(2):  # velocity, then angular velocity: from world axes to body axes
        a, b, c = row[7 + 3 * k], row[8 + 3 * k], row[9 + 3 * k]
        features[7 + 3 * k] = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + z * w) * b + 2 * (x * z - y * w) * c
        features[8 + 3 * k] = 2 * (x * y - z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + x * w) * c
        features[9 + 3 * k] = 2 * (x * z + y * w) * a + 2 * (y * z - x * w) * b + (1 - 2 * (x * x + y * y)) * c
    features[13], features[14], features[15], features[16] = x, y, z, w
    for k in range(joints):
        features[BASE_FEATURES + k] = floats(positions + 8 * indices[k], 1)[0]
    for k in range(others):
        other = floats(motion + 8 * BODY_ROW * indices[joints + k], BODY_ROW)
        start = BASE_FEATURES + joints + OBJECT_FEATURES * k
        features[start], features[start + 1], features[start + 2] = other[0] - origin[0], other[1] - origin[1], other[2]
        for i in range(3):
            features[start + 3 + i] = other[7 + i]


FILL, WORLDS, AGENTS, LAYOUTS, LAYOUT_STRIDE, MOTION, MOTION_STRIDE = range(7)
POSITIONS, POSITIONS_STRIDE, TIMES, TIMES_STRIDE, NOW, NOW_STRIDE, WRITER_FIELDS = range(7, 14)


@strict_kernel
def write_all_features(table: int) -> None:
    """Compute the features of all agents of all worlds of an engine."""
    t = words(table, WRITER_FIELDS)
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


class FeatureWriter:
    """Writer of the features of an engine's robots into given rows."""

    def __init__(self, engine: Engine, task: Task, agents: Agents, now: NDArray[np.float64]) -> None:
        self._layouts = np.array([_layout(engine, engine.model, task, robot) for robot in agents], np.int64)
        self._layouts.view(np.float64)[:, ORIGIN:INDICES] = list(agents.values())
        self._motion = engine.all_motion()
        self._positions, self._times = engine.part("qpos"), engine.part("time")
        self._now = now
        self._table = np.zeros(WRITER_FIELDS, np.int64)
        self._table[FILL] = fill_features.address
        self._table[WORLDS], self._table[AGENTS] = len(engine.models), len(agents)
        for index, array in (
            (LAYOUTS, self._layouts),
            (MOTION, self._motion),
            (POSITIONS, self._positions),
            (TIMES, self._times),
            (NOW, now),
        ):
            self._table[index], self._table[index + 1] = array.ctypes.data, array.strides[0]
        self._address = int(self._table.ctypes.data)

    def update(self) -> None:
        """Compute the features of all rows."""
        write_all_features(self._address)


def _layout(engine: Engine, model: Model, task: Task, robot: str) -> list[int]:
    joints = [engine.joint_addresses[model.joints[robot][name]][0] for name in task.joints]
    others = [model.roots[name] for name in task.others]
    return [model.roots[robot], len(joints), len(others), 0, 0, *joints, *others]


# ------------------------------------------------------------------------------------------------ actions and outcomes


@strict_kernel
def store_actions(given: Any, actions: Any) -> bool:
    """Store the actions of a step, clipped to ±1, and move the previous ones to the second half of each row.

    Returns:
        Whether all given actions are finite.
    """
    rows, count = given.shape
    sound = True
    for i in range(rows):
        for j in range(count):
            actions[i, count + j] = actions[i, j]
            value = float(given[i, j])
            sound = sound and math.isfinite(value)
            actions[i, j] = min(max(value, -1.0), 1.0)
    return sound


REWARD_FUNCTION, OBSERVE, BEFORE, CURRENT, OBSERVED, FEATURES_STRIDE, GOALS, GOALS_STRIDE = range(8)
ACTIONS, ACTIONS_STRIDE, MEMORIES, MEMORIES_STRIDE, OUTCOMES, SCRATCH, EVALUATION_FIELDS = range(8, 15)

MAX_OBSERVATION = 10.0
"""Largest absolute value of an observation; tasks scale observations to about 1."""


@strict_kernel
def evaluate_all(table: int, rows: Any, with_reward: bool, observations: Any) -> None:
    """Compute the outcome of a step, if `with_reward`, and the observations of the given rows."""
    t = words(table, EVALUATION_FIELDS)
    count = observations.shape[1]
    scratch = floats(t[SCRATCH], count)
    for i in rows:
        goal = t[GOALS] + i * t[GOALS_STRIDE]
        action = t[ACTIONS] + i * t[ACTIONS_STRIDE]
        memory = t[MEMORIES] + i * t[MEMORIES_STRIDE]
        features = i * t[FEATURES_STRIDE]
        if with_reward:
            outcome = t[OUTCOMES] + 8 * OUTCOME * i
            call6(t[REWARD_FUNCTION], t[BEFORE] + features, t[CURRENT] + features, goal, action, memory, outcome)
        call5(t[OBSERVE], t[OBSERVED] + features, goal, action, memory, t[SCRATCH])
        for k in range(count):
            observations[i, k] = min(max(scratch[k], -MAX_OBSERVATION), MAX_OBSERVATION)


class StepBuffers:
    """Arrays that a task's functions read and write, one row per robot."""

    def __init__(self, task: Task, rows: int, separate: bool) -> None:
        self.task = task
        self.before, self.now = np.zeros((rows, task.features)), np.zeros((rows, task.features))
        self.observed = np.zeros((rows, task.features)) if separate else self.now
        self.goals = np.zeros((rows, max(len(task.goals), 1)))
        self.actions = np.zeros((rows, 2 * len(task.commands)))
        self.memories = np.zeros((rows, max(task.memory, 1)))
        self.outcomes = np.zeros((rows, OUTCOME))
        self._scratch = np.zeros(task.observation_size)
        self._table = np.zeros(EVALUATION_FIELDS, np.int64)
        self._table[REWARD_FUNCTION], self._table[OBSERVE] = task.reward.address, task.observe.address
        self._table[BEFORE], self._table[CURRENT] = self.before.ctypes.data, self.now.ctypes.data
        self._table[OBSERVED], self._table[FEATURES_STRIDE] = self.observed.ctypes.data, self.now.strides[0]
        for index, array in ((GOALS, self.goals), (ACTIONS, self.actions), (MEMORIES, self.memories)):
            self._table[index], self._table[index + 1] = array.ctypes.data, array.strides[0]
        self._table[OUTCOMES], self._table[SCRATCH] = self.outcomes.ctypes.data, self._scratch.ctypes.data
        self._address = int(self._table.ctypes.data)

    def reset(self, row: int, goal: list[float]) -> None:
        """Clear a row for a new episode."""
        self.goals[row, : len(goal)] = goal
        self.actions[row] = self.memories[row] = self.outcomes[row] = 0.0

    def evaluate(self, rows: NDArray[np.int64], observations: NDArray[np.float32]) -> None:
        """Compute the outcomes and the observations of the given rows."""
        evaluate_all(self._address, rows, True, observations)

    def observe(self, rows: NDArray[np.int64], observations: NDArray[np.float32]) -> None:
        """Compute the observations of the given rows."""
        evaluate_all(self._address, rows, False, observations)

    def terminated(self) -> NDArray[np.bool_]:
        """Return which rows have reached a terminal state."""
        return self.outcomes[:, TERMINATED] != 0.0

    def success(self) -> NDArray[np.bool_]:
        """Return which rows have reached the goal."""
        return self.outcomes[:, SUCCESS] != 0.0
