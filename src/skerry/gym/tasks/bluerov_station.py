"""BlueROV2 holds its position and heading in an unknown current."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.task import (
    PITCH,
    REWARD,
    ROLL,
    SUCCESS,
    TERMINATED,
    TIME,
    YAW,
    ActionCommand,
    P,
    Q,
    R,
    Task,
    U,
    V,
    W,
    X,
    Y,
    Z,
    observe,
    reward,
)
from skerry.gym.task_kernels import action_change, to_body_axes, wrap_angle

DEPTH, HEADING = 0, 1  # goal: m, rad left from east; the goal position is the origin
ACTIONS = 6
NEAR = 0.3  # m
TOO_FAR = 8.0  # m


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    ahead, left, above = to_body_axes(now, -now[X], -now[Y], -goal[DEPTH] - now[Z])
    observation[0], observation[1], observation[2] = ahead, left, above
    turn = wrap_angle(goal[HEADING] - now[YAW])
    observation[3], observation[4] = math.sin(turn), math.cos(turn)
    observation[5], observation[6] = 2.0 * now[ROLL], 2.0 * now[PITCH]
    observation[7], observation[8], observation[9] = 2.0 * now[U], 2.0 * now[V], 2.0 * now[W]
    observation[10], observation[11], observation[12] = now[P], now[Q], now[R]
    for k in range(ACTIONS):
        observation[13 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    off = math.sqrt(now[X] ** 2 + now[Y] ** 2 + (now[Z] + goal[DEPTH]) ** 2)
    turned = 1.0 - math.cos(goal[HEADING] - now[YAW])
    good = 1.0 - math.tanh(off) - 0.2 * turned - 0.05 * (now[P] ** 2 + now[Q] ** 2 + now[R] ** 2)
    outcome[REWARD] = (now[TIME] - before[TIME]) * good - 0.001 * action_change(action, ACTIONS)
    lost = off > TOO_FAR or now[Z] > 0.0
    outcome[TERMINATED] = 1.0 if lost else 0.0
    outcome[SUCCESS] = 1.0 if off < NEAR else 0.0
    if lost:
        outcome[REWARD] -= 5.0


THRUSTERS = ("front_right", "front_left", "rear_right", "rear_left", "vertical_right", "vertical_left")

TASK = Task(
    name="BluerovStation",
    description="BlueROV2 holds its position and heading in a current",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 20},
        "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.2, 0, 0]}}},
        "robots": {"rov": {"vehicle": "bluerov2", "pose": {"position": [0, 0, -5]}}},
    },
    robot="rov",
    commands=tuple(ActionCommand(name, low=-0.6, high=0.6) for name in THRUSTERS),
    observations={
        "position_error": tuple(f"distance to the goal position, {axis}, m" for axis in ("ahead", "left", "up")),
        "heading_error": ("sine of the turn to its heading", "cosine of it"),
        "attitude": ("roll, 0.5 rad", "pitch, 0.5 rad"),
        "velocity": tuple(f"velocity, {axis}, 0.5 m/s" for axis in ("ahead", "left", "up")),
        "rates": tuple(f"rate of {axis}, rad/s" for axis in ("roll", "pitch", "yaw")),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=30.0,
    steps=10,
    navigation=NavigationConfig(
        position="odometry", depth="pressure", attitude="imu", heading="compass", turn_rate="imu", speed="dvl"
    ),
    goals={"depth": Uniform(4, 6), "heading": Uniform(-math.pi, math.pi)},
    randomise={
        "water.currents.tide.velocity.0": Uniform(-0.4, 0.4),
        "water.currents.tide.velocity.1": Uniform(-0.4, 0.4),
        "robots.rov.pose.position.0": Uniform(-1.5, 1.5),
        "robots.rov.pose.position.1": Uniform(-1.5, 1.5),
        "robots.rov.pose.yaw_deg": Uniform(-180, 180),
    },
    camera={"position": [-2.0, 0.0, 0.8], "pitch_deg": 15},
)
