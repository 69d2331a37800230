"""SAM docks: it enters a cage that is open on one side, slowly and aligned."""

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
from skerry.gym.task_kernels import action_change

ACTIONS = 5
JOINTS = 1
DOCK = BASE_FEATURES + JOINTS  # index among the features
NOSE = 0.65  # m from SAM's origin to its nose
INSIDE = 0.4  # m that the nose must be behind the mouth
ALIGNED = 0.2  # rad
SLOW = 0.6  # m/s
WIDTH, LENGTH, WALL = 0.6, 1.2, 0.03  # m, of the cage

WALLS = {
    "floor": ([LENGTH, WIDTH, WALL], [LENGTH / 2, 0, -WIDTH / 2]),
    "roof": ([LENGTH, WIDTH, WALL], [LENGTH / 2, 0, WIDTH / 2]),
    "port": ([LENGTH, WALL, WIDTH], [LENGTH / 2, WIDTH / 2, 0]),
    "starboard": ([LENGTH, WALL, WIDTH], [LENGTH / 2, -WIDTH / 2, 0]),
    "back": ([WALL, WIDTH, WIDTH], [LENGTH, 0, 0]),
}


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    x, y, z = now[X] - now[DOCK], now[Y] - now[DOCK + 1], now[Z] - now[DOCK + 2]
    observation[0], observation[1], observation[2] = 0.2 * x, y, 2.0 * z
    observation[3], observation[4] = math.tanh(4.0 * y), math.tanh(4.0 * z)
    observation[5], observation[6] = 2.0 * now[YAW], 2.0 * now[PITCH]
    observation[7], observation[8], observation[9] = now[U], 4.0 * now[V], 4.0 * now[W]
    observation[10], observation[11], observation[12] = now[P], 4.0 * now[Q], 4.0 * now[R]
    observation[13] = now[ROLL]
    observation[14] = 35.0 * now[BASE_FEATURES] - 1.0  # batteries, from 0 to 57 mm
    for k in range(ACTIONS):
        observation[15 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    nose = now[X] - now[DOCK] + NOSE * math.cos(now[YAW])
    was = before[X] - before[DOCK] + NOSE * math.cos(before[YAW])
    y = now[Y] - now[DOCK + 1] + NOSE * math.sin(now[YAW])
    z = now[Z] - now[DOCK + 2] - NOSE * math.sin(now[PITCH])
    off = math.sqrt(y * y + z * z)
    way = nose - was if nose < INSIDE else 0.0
    outcome[REWARD] = way * (1.0 - math.tanh(2.0 * off)) - 0.01 - 0.002 * action_change(action, ACTIONS)
    straight = abs(now[YAW]) < ALIGNED and abs(now[PITCH]) < ALIGNED
    docked = nose > INSIDE and off < WIDTH / 2 and straight and now[U] < SLOW
    lost = nose > LENGTH + 1.0 or nose < -20.0 or off > 6.0 or now[Z] > -0.3 or abs(now[PITCH]) > 1.2
    outcome[TERMINATED] = 1.0 if docked or lost else 0.0
    outcome[SUCCESS] = 1.0 if docked else 0.0
    if docked:
        outcome[REWARD] += 20.0
    elif lost:
        outcome[REWARD] -= 5.0


TASK = Task(
    name="SamDocking",
    description="SAM swims into a dock, slowly and straight",
    scenario={
        "extends": "sam_empty",
        "terrain": {"kind": "flat", "depth": 20},
        "water": {"optical_type": "I"},  # clear water, for images
        "robots": {"sam": {"pose": {"position": [-10, 0, -4], "yaw_deg": 0, "heading_deg": None}}},
        "objects": {
            "dock": {
                "pose": {"position": [0, 0, -4]},
                "material": "metal",
                "colour": [0.9, 0.7, 0.1],
                "shapes": {
                    name: {"geometry": {"kind": "box", "size": size}, "position": index}
                    for name, (size, index) in WALLS.items()
                },
            }
        },
    },
    robot="sam",
    commands=(
        ActionCommand("thrust_vector_yaw", low=-0.122, high=0.122),
        ActionCommand("thrust_vector_pitch", low=-0.122, high=0.122),
        ActionCommand("lcg", low=0, high=100),
        ActionCommand("vbs", low=0, high=100),
        ActionCommand("thruster1", "thruster2", low=-600, high=600),
    ),
    observations={
        "mouth": (
            "ahead of the mouth, 5 m",
            "left of it, m",
            "above it, 0.5 m",
            "tanh of left, 0.25 m",
            "tanh of above, 0.25 m",
        ),
        "direction": ("yaw, 0.5 rad", "pitch, 0.5 rad"),
        "velocity": tuple(f"velocity, {axis}" for axis in ("ahead, m/s", "left, 0.25 m/s", "up, 0.25 m/s")),
        "rates": tuple(f"rate of {axis}" for axis in ("roll, rad/s", "pitch, 0.25 rad/s", "yaw, 0.25 rad/s")),
        "roll": ("roll, rad",),
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
    randomise={
        "robots.sam.pose.position.0": Uniform(-14, -8),
        "robots.sam.pose.position.1": Uniform(-1.5, 1.5),
        "robots.sam.pose.position.2": Uniform(-4.7, -3.3),
        "robots.sam.pose.yaw_deg": Uniform(-10, 10),
    },
    joints=("battery_joint",),
    others=("dock",),
    camera={"position": [-1.7, 0.4, 0.6], "pitch_deg": 14, "yaw_deg": -8},
)
