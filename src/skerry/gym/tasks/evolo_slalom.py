"""Evolo flies a slalom: it passes each mark on the required side and detects the marks with its lidar."""

from __future__ import annotations

from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.task import (
    BASE_FEATURES,
    OBJECT_FEATURES,
    REWARD,
    ROLL,
    SUCCESS,
    TERMINATED,
    YAW,
    ActionCommand,
    R,
    Scan,
    Task,
    U,
    X,
    Y,
    observe,
    reward,
)
from skerry.gym.task_kernels import action_change

FIRST_SIDE = 0  # goal: < 0 passes the first mark on its port side, > 0 on starboard
MARKS = 5
SPACING = 40.0  # m
RADIUS = 0.4  # m
ACTIONS = 2
NEXT = 0  # memory: number of the next mark
RANGE = 60.0  # m
SECTORS = 36
FIRST, LAST = 9, 27  # sectors ahead, from starboard to port
SCAN = BASE_FEATURES + OBJECT_FEATURES * MARKS  # index among the features
CLEAR = 1.0  # m from the centre of a mark; nearer is a collision
TOO_WIDE = 25.0  # m


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    side = 1.0 if goal[FIRST_SIDE] > 0.0 else -1.0
    if memory[NEXT] % 2.0 == 1.0:
        side = -side
    observation[0] = side
    observation[1], observation[2], observation[3] = 0.1 * now[Y], now[YAW], 4.0 * now[ROLL]
    observation[4], observation[5] = 0.2 * now[U], 2.0 * now[R]
    for k in range(FIRST, LAST):
        observation[6 + k - FIRST] = 1.0 - now[SCAN + k] / RANGE
    for k in range(ACTIONS):
        observation[6 + LAST - FIRST + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    outcome[REWARD] = 0.05 * (now[X] - before[X]) - 0.01 * action_change(action, ACTIONS)
    outcome[TERMINATED] = outcome[SUCCESS] = 0.0
    number = int(memory[NEXT])
    mark = BASE_FEATURES + OBJECT_FEATURES * number
    side = 1.0 if (goal[FIRST_SIDE] > 0.0) == (number % 2 == 0) else -1.0
    for k in range(MARKS):
        x, y = now[X] - now[BASE_FEATURES + OBJECT_FEATURES * k], now[Y] - now[BASE_FEATURES + OBJECT_FEATURES * k + 1]
        if x * x + y * y < CLEAR * CLEAR:
            outcome[TERMINATED] = 1.0
    wrong = False
    if now[X] > now[mark]:
        wrong = (now[Y] - now[mark + 1]) * side < CLEAR
        memory[NEXT] += 1.0
        outcome[REWARD] += 0.0 if wrong else 5.0
    if wrong or abs(now[Y]) > TOO_WIDE or now[X] < -60.0:
        outcome[TERMINATED] = 1.0
    if outcome[TERMINATED] > 0.0:
        outcome[REWARD] -= 5.0
    elif memory[NEXT] >= MARKS:
        outcome[TERMINATED] = outcome[SUCCESS] = 1.0


NAMES = tuple(f"mark_{k + 1}" for k in range(MARKS))

TASK = Task(
    name="EvoloSlalom",
    description="Evolo flies a slalom past marks that its lidar sees",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {"evolo": {"vehicle": "evolo", "pose": {"position": [-40, 0, 0.408]}}},
        "objects": {
            name: {
                "geometry": {"kind": "cylinder", "radius": RADIUS, "length": 5},
                "pose": {"position": [20 + SPACING * k, 0, 0]},
                "material": "plastic",
                "colour": [0.9, 0.2, 0.1],
            }
            for k, name in enumerate(NAMES)
        },
    },
    robot="evolo",
    commands=(
        ActionCommand("flight.roll_deg", low=-13, high=13),
        ActionCommand("flight.speed_kn", low=8, high=13),
    ),
    observations={
        "side": ("side on which to pass the next mark: 1 is north of it",),
        "north": ("position north, 10 m",),
        "attitude": ("yaw, rad", "roll, 0.25 rad"),
        "speed": ("speed ahead, 5 m/s",),
        "yaw_rate": ("rate of yaw, 0.5 rad/s",),
        "scan": tuple(f"nearness in sector {k}, from starboard to port" for k in range(LAST - FIRST)),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=80.0,
    steps=20,
    navigation=NavigationConfig(position="gps", attitude="imu", turn_rate="imu", speed="odometry"),
    goals={"first_side": Uniform(-1, 1)},
    randomise={f"objects.{name}.pose.position.1": Uniform(-4, 4) for name in NAMES},
    others=NAMES,
    scan=Scan("lidar", SECTORS, RANGE, dict.fromkeys(NAMES, RADIUS)),
    memory=1,
    camera={"position": [-7.0, 0.0, 2.0], "pitch_deg": 12},
)
