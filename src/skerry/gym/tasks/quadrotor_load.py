"""The quadrotor brings a load on a rope to a place and lets it hang there still, by its four propellers alone."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.rules import in_own_axes, restlessness, upright
from skerry.gym.task import OVER, OWN, REWARD, SUCCESS, TIME, Command, P, Q, R, Task, U, V, W, X, Y, Z, judge, observe

EAST, NORTH, HEIGHT = range(3)  # of the goal, of the load: m
ACTIONS = 4
LOAD = OWN  # its place among the facts; its velocity is behind it
LENGTH = 1.5  # m, of the rope
NEAR, STILL = 0.3, 0.3  # m, m/s
TOO_FAR = 6.0  # m
PROPELLERS = ("front", "right", "back", "left")


@observe
def see(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    # of the vehicle to where it would hang the load, and of the load below it
    ahead, left, above = in_own_axes(now, goal[EAST] - now[X], goal[NORTH] - now[Y], goal[HEIGHT] + LENGTH - now[Z])
    observation[0], observation[1], observation[2] = ahead, left, above
    observation[3], observation[4], observation[5] = now[U], now[V], now[W]
    a, b, c = in_own_axes(now, 0.0, 0.0, 1.0)
    observation[6], observation[7], observation[8] = a, b, c
    observation[9], observation[10], observation[11] = now[P], now[Q], now[R]
    a, b, c = in_own_axes(now, now[LOAD] - now[X], now[LOAD + 1] - now[Y], now[LOAD + 2] - now[Z])
    observation[12], observation[13], observation[14] = a, b, c
    a, b, c = in_own_axes(now, now[LOAD + 3], now[LOAD + 4], now[LOAD + 5])
    observation[15], observation[16], observation[17] = a, b, c
    for k in range(ACTIONS):
        observation[18 + k] = action[k]


@judge
def rate(before: Any, now: Any, goal: Any, action: Any, memory: Any, verdict: Any) -> None:
    x, y, z = now[LOAD], now[LOAD + 1], now[LOAD + 2]
    off = math.sqrt((goal[EAST] - x) ** 2 + (goal[NORTH] - y) ** 2 + (goal[HEIGHT] - z) ** 2)
    speed = math.sqrt(now[LOAD + 3] ** 2 + now[LOAD + 4] ** 2 + now[LOAD + 5] ** 2)
    turning = now[P] ** 2 + now[Q] ** 2 + now[R] ** 2
    good = 1.0 - math.tanh(0.7 * off) - 0.1 * min(speed, 3.0) - 0.02 * turning
    verdict[REWARD] = (now[TIME] - before[TIME]) * good - 0.001 * restlessness(action, ACTIONS)
    lost = off > TOO_FAR or upright(now) < 0.0 or z < 0.2
    verdict[OVER] = 1.0 if lost else 0.0
    verdict[SUCCESS] = 1.0 if off < NEAR and speed < STILL else 0.0
    if lost:
        verdict[REWARD] -= 5.0


TASK = Task(
    name="QuadrotorLoad",
    description="The quadrotor brings a load on a rope to a place",
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
    commands=tuple(Command(name, low=1300, high=3740) for name in PROPELLERS),  # 2520 rpm carry it with its load
    observations=(
        *(f"way to above the place, {axis}, m" for axis in ("ahead", "left", "up")),
        *(f"velocity, {axis}, m/s" for axis in ("ahead", "left", "up")),
        *(f"the world's up, {axis}" for axis in ("ahead", "left", "up")),
        *(f"rate of {axis}, rad/s" for axis in ("roll", "pitch", "yaw")),
        *(f"way to the load, {axis}, m" for axis in ("ahead", "left", "up")),
        *(f"the load's velocity, {axis}, m/s" for axis in ("ahead", "left", "up")),
        *(f"action {k}" for k in range(ACTIONS)),
    ),
    observe=see,
    judge=rate,
    seconds=20.0,
    steps=4,
    navigation=NavigationConfig(position="gps", attitude="imu", turn_rate="imu", speed="odometry"),
    goals={"east": Uniform(-2, 2), "north": Uniform(-2, 2), "height": Uniform(3.5, 5.5)},
    others=("load",),
    camera={"position": [-4.0, 0.0, 0.5], "pitch_deg": 15},
)
