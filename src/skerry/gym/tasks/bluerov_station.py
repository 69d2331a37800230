"""BlueROV2 keeps its place and heading in a current that nobody tells it of."""

from __future__ import annotations

import math
from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.rules import in_own_axes, restlessness, wrapped
from skerry.gym.task import (
    OVER,
    PITCH,
    REWARD,
    ROLL,
    SUCCESS,
    TIME,
    YAW,
    Command,
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
    judge,
    observe,
)

DEPTH, HEADING = 0, 1  # of the goal: m, rad left from east; its place is the world's origin
ACTIONS = 6
NEAR = 0.3  # m
TOO_FAR = 8.0  # m


@observe
def see(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
    ahead, left, above = in_own_axes(now, -now[X], -now[Y], -goal[DEPTH] - now[Z])
    observation[0], observation[1], observation[2] = ahead, left, above
    turn = wrapped(goal[HEADING] - now[YAW])
    observation[3], observation[4] = math.sin(turn), math.cos(turn)
    observation[5], observation[6] = 2.0 * now[ROLL], 2.0 * now[PITCH]
    observation[7], observation[8], observation[9] = 2.0 * now[U], 2.0 * now[V], 2.0 * now[W]
    observation[10], observation[11], observation[12] = now[P], now[Q], now[R]
    for k in range(ACTIONS):
        observation[13 + k] = action[k]


@judge
def rate(before: Any, now: Any, goal: Any, action: Any, memory: Any, verdict: Any) -> None:
    off = math.sqrt(now[X] ** 2 + now[Y] ** 2 + (now[Z] + goal[DEPTH]) ** 2)
    turned = 1.0 - math.cos(goal[HEADING] - now[YAW])
    good = 1.0 - math.tanh(off) - 0.2 * turned - 0.05 * (now[P] ** 2 + now[Q] ** 2 + now[R] ** 2)
    verdict[REWARD] = (now[TIME] - before[TIME]) * good - 0.001 * restlessness(action, ACTIONS)
    lost = off > TOO_FAR or now[Z] > 0.0
    verdict[OVER] = 1.0 if lost else 0.0
    verdict[SUCCESS] = 1.0 if off < NEAR else 0.0
    if lost:
        verdict[REWARD] -= 5.0


THRUSTERS = ("front_right", "front_left", "rear_right", "rear_left", "vertical_right", "vertical_left")

TASK = Task(
    name="BluerovStation",
    description="BlueROV2 keeps its place and heading in a current",
    scenario={
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 20},
        "water": {"currents": {"tide": {"kind": "uniform", "velocity": [0.2, 0, 0]}}},
        "robots": {"rov": {"vehicle": "bluerov2", "pose": {"position": [0, 0, -5]}}},
    },
    robot="rov",
    commands=tuple(Command(name, low=-0.6, high=0.6) for name in THRUSTERS),
    observations=(
        *(f"way to its place, {axis}, m" for axis in ("ahead", "left", "up")),
        "sine of the turn to its heading",
        "cosine of it",
        "roll, 0.5 rad",
        "pitch, 0.5 rad",
        *(f"velocity, {axis}, 0.5 m/s" for axis in ("ahead", "left", "up")),
        *(f"rate of {axis}, rad/s" for axis in ("roll", "pitch", "yaw")),
        *(f"action {k}" for k in range(ACTIONS)),
    ),
    observe=see,
    judge=rate,
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
