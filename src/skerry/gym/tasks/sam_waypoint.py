"""SAM swims to a waypoint in any direction and at another depth."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.task import (
    BASE_FEATURES,
    PITCH,
    REWARD,
    ROLL,
    SUCCESS,
    TERMINATED,
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
from skerry.gym.task_kernels import action_change, to_body_axes

RANGE, BEARING, DEPTH = range(3)  # goal: m, rad left from east, m
ACTIONS = 5
THERE = 2.0  # m
SHALLOWEST, DEEPEST = -0.3, -25.0  # z, m
STEEPEST = 1.2  # rad
TOO_FAR = 80.0  # m


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    east = goal[RANGE] * math.cos(goal[BEARING]) - now[X]
    north = goal[RANGE] * math.sin(goal[BEARING]) - now[Y]
    up = -goal[DEPTH] - now[Z]
    distance = math.sqrt(east * east + north * north + up * up) + 1e-9
    ahead, left, above = to_body_axes(now, east / distance, north / distance, up / distance)
    observation[0], observation[1], observation[2] = ahead, left, above
    observation[3] = distance / 20.0
    observation[4] = 0.25 * up
    observation[5], observation[6], observation[7] = now[U], 4.0 * now[V], 4.0 * now[W]
    observation[8], observation[9], observation[10] = now[P], 4.0 * now[Q], 4.0 * now[R]
    observation[11], observation[12] = now[ROLL], 2.0 * now[PITCH]
    observation[13] = 35.0 * now[BASE_FEATURES] - 1.0  # batteries, from 0 to 57 mm
    for k in range(ACTIONS):
        observation[14 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    x, y, z = goal[RANGE] * math.cos(goal[BEARING]), goal[RANGE] * math.sin(goal[BEARING]), -goal[DEPTH]
    was = math.sqrt((x - before[X]) ** 2 + (y - before[Y]) ** 2 + (z - before[Z]) ** 2)
    distance = math.sqrt((x - now[X]) ** 2 + (y - now[Y]) ** 2 + (z - now[Z]) ** 2)
    outcome[REWARD] = 0.5 * (was - distance) - 0.01 - 0.002 * action_change(action, ACTIONS)
    there = distance < THERE
    lost = now[Z] > SHALLOWEST or now[Z] < DEEPEST or abs(now[PITCH]) > STEEPEST or distance > TOO_FAR
    outcome[TERMINATED] = 1.0 if there or lost else 0.0
    outcome[SUCCESS] = 1.0 if there else 0.0
    if there:
        outcome[REWARD] += 10.0
    elif lost:
        outcome[REWARD] -= 10.0


TASK = Task(
    name="SamWaypoint",
    description="SAM swims to a waypoint",
    scenario={"extends": "sam_empty", "terrain": {"kind": "flat", "depth": 40}},
    robot="sam",
    commands=(
        ActionCommand("thrust_vector_yaw", low=-0.122, high=0.122),
        ActionCommand("thrust_vector_pitch", low=-0.122, high=0.122),
        ActionCommand("lcg", low=0, high=100),
        ActionCommand("vbs", low=0, high=100),
        ActionCommand("thruster1", "thruster2", low=0, high=1000),
    ),
    observations={
        "waypoint": (
            *(f"direction to the waypoint, {axis}" for axis in ("ahead", "left", "up")),
            "distance to it, 20 m",
            "height to it, 4 m",
        ),
        "velocity": tuple(f"velocity, {axis}" for axis in ("ahead, m/s", "left, 0.25 m/s", "up, 0.25 m/s")),
        "rates": tuple(f"rate of {axis}" for axis in ("roll, rad/s", "pitch, 0.25 rad/s", "yaw, 0.25 rad/s")),
        "attitude": ("roll, rad", "pitch, 0.5 rad"),
        "joints": ("position of the batteries",),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=90.0,
    steps=20,
    navigation=NavigationConfig(
        position="odometry", depth="depth300", attitude="sbg_imu", turn_rate="sbg_imu", speed="dvl"
    ),
    goals={"range": Uniform(20, 40), "bearing": Uniform(-math.pi, math.pi), "depth": Uniform(2, 10)},
    randomise={
        "robots.sam.pose.position.2": Uniform(-10, -2),
        "robots.sam.pose.heading_deg": Uniform(0, 360),
    },
    joints=("battery_joint",),
)
