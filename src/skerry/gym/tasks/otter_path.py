"""Otter follows a sinusoidal path at a set speed."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.core.kernels import kernel
from skerry.gym.distributions import Uniform
from skerry.gym.task import REWARD, SUCCESS, TERMINATED, TIME, YAW, ActionCommand, R, Task, U, V, X, Y, observe, reward
from skerry.gym.task_kernels import action_change, wrap_angle

AMPLITUDE, WAVELENGTH, SPEED = range(3)  # goal: m, m, m/s
ACTIONS = 2
AHEAD = (0.0, 3.0, 6.0, 10.0)  # m to the east at which the path is observed
NEAR = 1.0  # m
TOO_FAR = 10.0  # m


@kernel
def path(goal: Any, x: float) -> Any:
    """Return north (m) and direction (rad left from east) of the sinusoidal path at an east coordinate."""
    k = 2.0 * math.pi / goal[WAVELENGTH]
    return goal[AMPLITUDE] * math.sin(k * x), math.atan(goal[AMPLITUDE] * k * math.cos(k * x))


@observe
def compute_observation(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    y, direction = path(goal, now[X])
    off = (now[Y] - y) * math.cos(direction)
    observation[0], observation[1] = math.tanh(off), 0.2 * off
    for k in range(len(AHEAD)):
        _, direction = path(goal, now[X] + AHEAD[k])
        observation[2 + k] = 2.0 * wrap_angle(direction - now[YAW])
    observation[6] = 2.0 * (goal[SPEED] - now[U])
    observation[7], observation[8], observation[9] = now[U], 4.0 * now[V], 4.0 * now[R]
    for k in range(ACTIONS):
        observation[10 + k] = action[k]


@reward
def compute_reward(before: Any, now: Any, goal: Any, action: Any, memory: Any, outcome: Any) -> None:
    y, direction = path(goal, now[X])
    off = abs(now[Y] - y) * math.cos(direction)
    along = now[U] * math.cos(now[YAW] - direction) - now[V] * math.sin(now[YAW] - direction)
    good = (1.0 - math.tanh(off)) * (1.0 - min(abs(goal[SPEED] - along) / goal[SPEED], 1.0))
    outcome[REWARD] = (now[TIME] - before[TIME]) * good - 0.001 * action_change(action, ACTIONS)
    lost = off > TOO_FAR
    outcome[TERMINATED] = 1.0 if lost else 0.0
    outcome[SUCCESS] = 1.0 if off < NEAR else 0.0
    if lost:
        outcome[REWARD] -= 5.0


TASK = Task(
    name="OtterPath",
    description="Otter follows a winding path",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {"otter": {"vehicle": "otter"}},
    },
    robot="otter",
    commands=(
        ActionCommand("propeller_port", low=-900, high=900),
        ActionCommand("propeller_starboard", low=-900, high=900),
    ),
    observations={
        "path_offset": ("tanh of the offset to the left of the path, m", "offset to the left of the path, 5 m"),
        "path_turn": tuple(f"turn to the path {way:g} m ahead, 0.5 rad" for way in AHEAD),
        "speed_error": ("speed that it lacks, 0.5 m/s",),
        "velocity": ("speed ahead, m/s", "speed to the left, 0.25 m/s"),
        "yaw_rate": ("rate of yaw, 0.25 rad/s",),
        "action": tuple(f"action {k}" for k in range(ACTIONS)),
    },
    observe=compute_observation,
    reward=compute_reward,
    seconds=60.0,
    steps=20,
    navigation=NavigationConfig(position="gps", attitude="imu", heading="compass", turn_rate="imu", speed="odometry"),
    goals={"amplitude": Uniform(0, 6), "wavelength": Uniform(40, 80), "speed": Uniform(0.8, 1.6)},
    randomise={
        "robots.otter.pose.position.1": Uniform(-3, 3),
        "robots.otter.pose.yaw_deg": Uniform(-60, 60),
    },
    camera={"position": [-5.0, 0.0, 2.5], "pitch_deg": 22},
)
