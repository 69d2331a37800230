"""SAM goes to a depth and holds it, level and in trim, with all actuators that change its depth."""

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
    TIME,
    ActionCommand,
    Q,
    Task,
    U,
    W,
    Z,
    observe,
    reward,
)
from skerry.gym.task_kernels import action_change

GOAL = 0  # depth, m
ACTIONS = 4
SHALLOWEST, DEEPEST = -0.5, -20.0  # z, m
STEEPEST = 1.2  # rad
NEAR = 0.3  # m: largest depth error that counts as success


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    error = goal[GOAL] + now[Z]
    observation[0] = math.tanh(error)
    observation[1] = 0.2 * error
    observation[2] = now[U]
    observation[3] = 4.0 * now[W]
    observation[4] = 2.0 * now[PITCH]
    observation[5] = 4.0 * now[Q]
    observation[6] = now[ROLL]
    observation[7] = 40.0 * now[BASE_FEATURES] - 1.12  # from 6 to 50 mm of travel
    observation[8] = 35.0 * now[BASE_FEATURES + 1] - 1.0  # from 0 to 57 mm
    observation[9] = 8.2 * now[BASE_FEATURES + 2]  # ±0.122 rad
    for k in range(ACTIONS):
        observation[10 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    seconds = now[TIME] - before[TIME]
    error = abs(goal[GOAL] + now[Z])
    outcome[REWARD] = seconds * (
        1.0 - math.tanh(0.5 * error) - 0.1 * now[PITCH] ** 2 - 0.05 * now[Q] ** 2
    ) - 0.001 * action_change(action, ACTIONS)
    lost = now[Z] > SHALLOWEST or now[Z] < DEEPEST or abs(now[PITCH]) > STEEPEST
    outcome[TERMINATED] = 1.0 if lost else 0.0
    if lost:
        outcome[REWARD] -= 5.0
    outcome[SUCCESS] = 1.0 if error < NEAR else 0.0


TASK = Task(
    name="SamDepth",
    description="SAM goes to a depth and holds it",
    scenario={"extends": "sam_empty", "terrain": {"kind": "flat", "depth": 40}},
    robot="sam",
    commands=(
        ActionCommand("lcg", low=0, high=100),
        ActionCommand("vbs", low=0, high=100),
        ActionCommand("thrust_vector_pitch", low=-0.122, high=0.122),
        ActionCommand("thruster1", "thruster2", low=0, high=1000),
    ),
    observations={
        "depth_error": ("tanh of the depth error, m", "depth error, 5 m"),
        "velocity": ("speed forwards, m/s", "speed upwards, 0.25 m/s"),
        "pitch": ("pitch, 0.5 rad",),
        "pitch_rate": ("rate of pitch, 0.25 rad/s",),
        "roll": ("roll, rad",),
        "joints": ("piston of the buoyancy system", "position of the batteries", "thrust vector"),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=20.0,
    steps=2,
    navigation=NavigationConfig(depth="depth300", attitude="sbg_imu", turn_rate="sbg_imu", speed="dvl"),
    goals={"depth": Uniform(2, 10)},
    randomise={
        "robots.sam.pose.position.2": Uniform(-10, -2),
        "robots.sam.pose.pitch_deg": Uniform(-10, 10),
        "robots.sam.pose.heading_deg": Uniform(0, 360),
    },
    joints=("vbs_joint", "battery_joint", "thruster_joint"),
    reward_threshold=15.0,
)
