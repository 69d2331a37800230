"""Evolo flies a slalom: past each mark on the side that is asked for; it finds the marks by its lidar."""

from __future__ import annotations

from typing import Any

from skerry.control.loops.navigation import NavigationConfig
from skerry.gym.distributions import Uniform
from skerry.gym.rules import restlessness
from skerry.gym.task import (
    OTHER,
    OVER,
    OWN,
    REWARD,
    ROLL,
    SUCCESS,
    YAW,
    Command,
    R,
    Scan,
    Task,
    U,
    X,
    Y,
    judge,
    observe,
)

FIRST_SIDE = 0  # of the goal: below 0 the first mark is to be left to port, above to starboard
MARKS = 5
SPACING = 40.0  # m
RADIUS = 0.4  # m
ACTIONS = 2
NEXT = 0  # of the memory: the number of the next mark
RANGE = 60.0  # m
SECTORS = 36
FIRST, LAST = 9, 27  # sectors that look ahead, from starboard to port
SCAN = OWN + OTHER * MARKS  # its place among the facts
CLEAR = 1.0  # m from a mark's middle: nearer is a collision
TOO_WIDE = 25.0  # m


@observe
def see(now: Any, goal: Any, action: Any, memory: Any, observation: Any) -> None:
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


@judge
def rate(before: Any, now: Any, goal: Any, action: Any, memory: Any, verdict: Any) -> None:
    verdict[REWARD] = 0.05 * (now[X] - before[X]) - 0.01 * restlessness(action, ACTIONS)
    verdict[OVER] = verdict[SUCCESS] = 0.0
    number = int(memory[NEXT])
    mark = OWN + OTHER * number
    side = 1.0 if (goal[FIRST_SIDE] > 0.0) == (number % 2 == 0) else -1.0
    for k in range(MARKS):
        x, y = now[X] - now[OWN + OTHER * k], now[Y] - now[OWN + OTHER * k + 1]
        if x * x + y * y < CLEAR * CLEAR:
            verdict[OVER] = 1.0
    wrong = False
    if now[X] > now[mark]:
        wrong = (now[Y] - now[mark + 1]) * side < CLEAR
        memory[NEXT] += 1.0
        verdict[REWARD] += 0.0 if wrong else 5.0
    if wrong or abs(now[Y]) > TOO_WIDE or now[X] < -60.0:
        verdict[OVER] = 1.0
    if verdict[OVER] > 0.0:
        verdict[REWARD] -= 5.0
    elif memory[NEXT] >= MARKS:
        verdict[OVER] = verdict[SUCCESS] = 1.0


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
        Command("flight.roll_deg", low=-13, high=13),
        Command("flight.speed_kn", low=8, high=13),
    ),
    observations=(
        "side on which to pass the next mark: 1 is north of it",
        "place to the north, 10 m",
        "yaw, rad",
        "roll, 0.25 rad",
        "speed ahead, 5 m/s",
        "rate of yaw, 0.5 rad/s",
        *(f"nearness in sector {k}, from starboard to port" for k in range(LAST - FIRST)),
        *(f"action {k}" for k in range(ACTIONS)),
    ),
    observe=see,
    judge=rate,
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
