"""The quadrotor tracks a point on a figure of eight, with its four propellers."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.core.kernels import kernel
from skerry.gym.distributions import Uniform
from skerry.gym.task import (
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

SIZE, PERIOD, HEIGHT = range(3)  # goal: m, s, m
ACTIONS = 4
NEAR = 0.5  # m
TOO_FAR = 5.0  # m
PROPELLERS = ("front", "right", "back", "left")


@kernel
def target(goal: Any, time: float) -> Any:
    """Return reference position and velocity: Gerono's lemniscate, centred at the origin."""
    omega = 2.0 * math.pi / goal[PERIOD]
    a = goal[SIZE]
    return (
        a * math.sin(omega * time),
        0.5 * a * math.sin(2.0 * omega * time),
        a * omega * math.cos(omega * time),
        a * omega * math.cos(2.0 * omega * time),
    )


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    x, y, east, north = target(goal, now[TIME])
    ahead, left, above = to_body_axes(now, x - now[X], y - now[Y], goal[HEIGHT] - now[Z])
    observation[0], observation[1], observation[2] = ahead, left, above
    u, v, w = to_body_axes(now, east, north, 0.0)
    observation[3], observation[4], observation[5] = u - now[U], v - now[V], w - now[W]
    a, b, c = to_body_axes(now, 0.0, 0.0, 1.0)
    observation[6], observation[7], observation[8] = a, b, c
    observation[9], observation[10], observation[11] = now[P], now[Q], now[R]
    for k in range(ACTIONS):
        observation[12 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    x, y, _, _ = target(goal, now[TIME])
    off = math.sqrt((x - now[X]) ** 2 + (y - now[Y]) ** 2 + (goal[HEIGHT] - now[Z]) ** 2)
    turning = now[P] ** 2 + now[Q] ** 2 + now[R] ** 2
    outcome[REWARD] = (now[TIME] - before[TIME]) * (1.0 - math.tanh(off) - 0.02 * turning)
    outcome[REWARD] -= 0.001 * action_change(action, ACTIONS)
    lost = off > TOO_FAR or tilt_cosine(now) < 0.0 or now[Z] < 0.3
    outcome[TERMINATED] = 1.0 if lost else 0.0
    outcome[SUCCESS] = 1.0 if off < NEAR else 0.0
    if lost:
        outcome[REWARD] -= 5.0


TASK = Task(
    name="QuadrotorTracking",
    description="The quadrotor flies along a figure of eight",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {
            "drone": {
                "vehicle": "quadrotor",
                "pose": {"position": [0, 0, 5]},
                "overrides": {"controllers": {"tracking": None}, "ropes": {"lift": None}, "actuators": {"winch": None}},
            }
        },
    },
    robot="drone",
    commands=tuple(ActionCommand(name, low=1128, high=3128) for name in PROPELLERS),  # hovers at 2128 rpm
    observations={
        "position_error": tuple(f"distance to the target, {axis}, m" for axis in ("ahead", "left", "up")),
        "velocity_error": tuple(f"velocity that it lacks, {axis}, m/s" for axis in ("ahead", "left", "up")),
        "up": tuple(f"the world's up, {axis}" for axis in ("ahead", "left", "up")),
        "rates": tuple(f"rate of {axis}, rad/s" for axis in ("roll", "pitch", "yaw")),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=20.0,
    steps=4,
    navigation=NavigationConfig(position="gps", attitude="imu", turn_rate="imu", speed="odometry"),
    goals={"size": Uniform(1, 4), "period": Uniform(8, 16), "height": Uniform(4.5, 5.5)},
    randomise={
        "robots.drone.pose.position.0": Uniform(-0.5, 0.5),
        "robots.drone.pose.position.1": Uniform(-0.5, 0.5),
        "robots.drone.pose.roll_deg": Uniform(-5, 5),
        "robots.drone.pose.pitch_deg": Uniform(-5, 5),
    },
    camera={"position": [-3.0, 0.0, 1.2], "pitch_deg": 18},
)
