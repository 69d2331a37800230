"""Command map: linear functions from actions to numbers in the engine's userdata.

An actuator writes its command into the state of its laws. If that is a linear function of the command, which is tested
when an environment is created, one native call writes the commands of all worlds. Both backends use this map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.kernels import strict_kernel
from skerry.gym.task import Task
from skerry.parts.actuator import Actuator
from skerry.physics.model import Model
from skerry.world.robot import Robot

TEST_ACTIONS = np.linspace(-1.0, 1.0, 9)
"""Actions at which linearity is tested."""
LINE_ERROR = 1e-9  # largest relative deviation from a line, due to rounding


@strict_kernel
def write_commands(indices: Any, lines: Any, actions: Any, agents: int, worlds: Any, userdata: Any) -> None:
    """Write the actions of all agents of these worlds.

    Args:
        indices: Agent, action and userdata index of each written number, (n, 3).
        lines: Offset and slope of each written number, (n, 2).
        actions: Actions of all rows.
        agents: Number of agents per world.
        worlds: Indices of the worlds.
        userdata: Userdata of all worlds, (worlds, size).
    """
    for world in worlds:
        for k in range(indices.shape[0]):
            action = actions[world * agents + indices[k, 0], indices[k, 1]]
            userdata[world, indices[k, 2]] = lines[k, 0] + lines[k, 1] * action


class CommandMap:
    """Linear command functions of all agents of one world structure."""

    def __init__(self, task: Task, robots: list[Robot]) -> None:
        model = robots[0].engine.model
        indices: list[tuple[int, int, int]] = []
        lines: list[tuple[float, float]] = []
        for agent, robot in enumerate(robots):
            for number, command in enumerate(task.commands):
                for name in command.actuators:
                    found = _lines(robot.actuators[name], model, command.low, command.high, f"{robot.name}/{name}")
                    indices += [(agent, number, index) for index in found]
                    lines += list(found.values())
        self._places = np.array(indices, np.int64).reshape(-1, 3)
        self._lines = np.array(lines, np.float64).reshape(-1, 2)
        self._agents = len(robots)

    def write(self, actions: NDArray[np.float64], worlds: NDArray[np.int64], userdata: NDArray[np.float64]) -> None:
        """Write the commands of the given worlds."""
        write_commands(self._places, self._lines, actions, self._agents, worlds, userdata)


def _lines(actuator: Actuator, model: Model, low: float, high: float, name: str) -> dict[int, tuple[float, float]]:
    """Return, by userdata index, the value at action 0 and the slope of each number that a command changes."""
    if low < actuator.limits[0] or high > actuator.limits[1]:
        raise SkerryError(f"{name} accepts {actuator.keyword} from {actuator.limits[0]:g} to {actuator.limits[1]:g}, "
                          f"not from {low:g} to {high:g}")  # fmt: skip
    starts = {id(model.laws[owner][part]): start for (owner, part), (start, _) in model.law_slots.items()}
    laws = [law for _, law in actuator.laws]
    kept = [law.memory for law in laws]
    written = []
    for action in TEST_ACTIONS:
        for law in laws:
            law.memory = law.initial_state.copy()
        actuator.set_initial(**{actuator.keyword: float(0.5 * (low + high) + 0.5 * (high - low) * action)})
        written.append([law.memory for law in laws])
    for law, memory in zip(laws, kept, strict=True):
        law.memory = memory
    found = {}
    for number, law in enumerate(laws):
        values = np.array([memories[number] for memories in written])
        for index in np.flatnonzero((values != law.initial_state).any(axis=0)):
            column = values[:, index]
            middle, slope = float(column[len(TEST_ACTIONS) // 2]), float(0.5 * (column[-1] - column[0]))
            if np.abs(column - (middle + slope * TEST_ACTIONS)).max() > LINE_ERROR * max(np.abs(column).max(), 1e-300):
                raise SkerryError(
                    f"{name}: the effect of a command from {low:g} to {high:g} is not linear, but an action must be; "
                    "choose a narrower range"
                )
            found[starts[id(law)] + int(index)] = (middle, slope)
    return found
