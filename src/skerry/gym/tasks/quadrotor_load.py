"""The quadrotor carries a load on a rope to a position and holds it still, with its four propellers."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.task import (
    BASE_FEATURES,
    REWARD,
    SUCCESS,
    TERMINATED,
    TIME,
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
from skerry.gym.task_kernels import action_change, tilt_cosine, to_body_axes

EAST, NORTH, HEIGHT = range(3)  # goal position of the load, m
ACTIONS = 4
LOAD = BASE_FEATURES  # index among the features; velocity follows
LENGTH = 1.5  # m, rope length
NEAR, STILL = 0.3, 0.3  # m, m/s
TOO_FAR = 6.0  # m
PROPELLERS = ("front", "right", "back", "left")


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    # errors of the vehicle, above the goal position of the load, and of the load
    ahead, left, above = to_body_axes(now, goal[EAST] - now[X], goal[NORTH] - now[Y], goal[HEIGHT] + LENGTH - now[Z])
    observation[0], observation[1], observation[2] = ahead, left, above
    observation[3], observation[4], observation[5] = now[U], now[V], now[W]
    a, b, c = to_body_axes(now, 0.0, 0.0, 1.0)
    observation[6], observation[7], observation[8] = a, b, c
    observation[9], observation[10], observation[11] = now[P], now[Q], now[R]
    a, b, c = to_body_axes(now, now[LOAD] - now[X], now[LOAD + 1] - now[Y], now[LOAD + 2] - now[Z])
    observation[12], observation[13], observation[14] = a, b, c
    a, b, c = to_body_axes(now, now[LOAD + 3], now[LOAD + 4], now[LOAD + 5])
    observation[15], observation[16], observation[17] = a, b, c
    for k in range(ACTIONS):
        observation[18 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    x, y, z = now[LOAD], now[LOAD + 1], now[LOAD + 2]
    off = math.sqrt((goal[EAST] - x) ** 2 + (goal[NORTH] - y) ** 2 + (goal[HEIGHT] - z) ** 2)
    speed = math.sqrt(now[LOAD + 3] ** 2 + now[LOAD + 4] ** 2 + now[LOAD + 5] ** 2)
    turning = now[P] ** 2 + now[Q] ** 2 + now[R] ** 2
    good = 1.0 - math.tanh(0.7 * off) - 0.1 * min(speed, 3.0) - 0.02 * turning
    outcome[REWARD] = (now[TIME] - before[TIME]) * good - 0.001 * action_change(action, ACTIONS)
    lost = off > TOO_FAR or tilt_cosine(now) < 0.0 or z < 0.2
    outcome[TERMINATED] = 1.0 if lost else 0.0
    outcome[SUCCESS] = 1.0 if off < NEAR and speed < STILL else 0.0
    if lost:
        outcome[REWARD] -= 5.0


TASK = Task(
    name="QuadrotorLoad",
    description="The quadrotor carries a load on a rope to a position",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {
            "drone": {
                "vehicle": "quadrotor",
                "pose": {"position": [0, 0, 6]},
                "overrides": {"controllers": {"tracking": None}, "ropes": {"lift": None}, "actuators": {"winch": None}},
            }
        },
        "objects": {
            "load": {
                "geometry": {"kind": "sphere", "radius": 0.1},
                "motion": "dynamic",
                "mass": 0.8,
                "pose": {"position": [0, 0, 6 - LENGTH]},
                "colour": [0.9, 0.3, 0.1],
            }
        },
        "ropes": {
            "sling": {"start": "drone", "end": "load", "length": LENGTH, "diameter": 0.004, "segment_length": 0.25}
        },
    },
    robot="drone",
    commands=tuple(ActionCommand(name, low=1300, high=3740) for name in PROPELLERS),  # hovers with its load at 2520 rpm
    observations={
        "position_error": tuple(f"distance to the point above the goal, {axis}, m" for axis in ("ahead", "left", "up")),
        "velocity": tuple(f"velocity, {axis}, m/s" for axis in ("ahead", "left", "up")),
        "up": tuple(f"the world's up, {axis}" for axis in ("ahead", "left", "up")),
        "rates": tuple(f"rate of {axis}, rad/s" for axis in ("roll", "pitch", "yaw")),
        "load": tuple(f"distance to the load, {axis}, m" for axis in ("ahead", "left", "up")),
        "load_velocity": tuple(f"the load's velocity, {axis}, m/s" for axis in ("ahead", "left", "up")),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=20.0,
    steps=4,
    navigation=NavigationConfig(position="gps", attitude="imu", turn_rate="imu", speed="odometry"),
    goals={"east": Uniform(-2, 2), "north": Uniform(-2, 2), "height": Uniform(3.5, 5.5)},
    others=("load",),
    camera={"position": [-4.0, 0.0, 0.5], "pitch_deg": 15},
)
