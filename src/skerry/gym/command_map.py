"""What commands write: the straight lines by which actions become numbers in the engine's userdata.

An actuator writes its command into the states of its laws. Where that is a straight line, which is tried out when an
environment is made, the commands of all worlds are written natively at once. Both kinds of stage write them so.
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

TRIED = np.linspace(-1.0, 1.0, 9)
"""Actions at which a line is tried."""
LINE_ERROR = 1e-9  # of the numbers' own size, by which rounding may take them off a line


@strict_kernel
def write_commands(places: Any, lines: Any, actions: Any, agents: int, worlds: Any, userdata: Any) -> None:
    """Write the actions of all agents of these worlds; each place is agent, number of the action, place in userdata."""
    for world in worlds:
        for k in range(places.shape[0]):
            action = actions[world * agents + places[k, 0], places[k, 1]]
            userdata[world, places[k, 2]] = lines[k, 0] + lines[k, 1] * action


class CommandMap:
    """The lines of all agents of a world of one structure."""

    def __init__(self, task: Task, robots: list[Robot]) -> None:
        model = robots[0].engine.model
        places: list[tuple[int, int, int]] = []
        lines: list[tuple[float, float]] = []
        for agent, robot in enumerate(robots):
            for number, command in enumerate(task.commands):
                for name in command.actuators:
                    found = _lines(robot.actuators[name], model, command.low, command.high, f"{robot.name}/{name}")
                    places += [(agent, number, place) for place in found]
                    lines += list(found.values())
        self._places = np.array(places, np.int64).reshape(-1, 3)
        self._lines = np.array(lines, np.float64).reshape(-1, 2)
        self._agents = len(robots)

    def write(self, actions: NDArray[np.float64], worlds: NDArray[np.int64], userdata: NDArray[np.float64]) -> None:
        """Command the robots of some worlds."""
        write_commands(self._places, self._lines, actions, self._agents, worlds, userdata)


def _lines(actuator: Actuator, model: Model, low: float, high: float, name: str) -> dict[int, tuple[float, float]]:
    """The numbers of userdata that a command changes, each with its value at action 0 and its slope."""
    if low < actuator.limits[0] or high > actuator.limits[1]:
        raise SkerryError(f"{name} takes {actuator.keyword} from {actuator.limits[0]:g} to {actuator.limits[1]:g}, "
                          f"not from {low:g} to {high:g}")  # fmt: skip
    starts = {id(model.laws[owner][part]): start for (owner, part), (start, _) in model.law_slots.items()}
    laws = [law for _, law in actuator.laws]
    kept = [law.memory for law in laws]
    tried = []
    for action in TRIED:
        for law in laws:
            law.memory = law.initial_state.copy()
        actuator.set_initial(**{actuator.keyword: float(0.5 * (low + high) + 0.5 * (high - low) * action)})
        tried.append([law.memory for law in laws])
    for law, memory in zip(laws, kept, strict=True):
        law.memory = memory
    found = {}
    for number, law in enumerate(laws):
        values = np.array([memories[number] for memories in tried])
        for place in np.flatnonzero((values != law.initial_state).any(axis=0)):
            column = values[:, place]
            middle, slope = float(column[len(TRIED) // 2]), float(0.5 * (column[-1] - column[0]))
            if np.abs(column - (middle + slope * TRIED)).max() > LINE_ERROR * max(np.abs(column).max(), 1e-300):
                raise SkerryError(
                    f"{name}: what a command from {low:g} to {high:g} does is no straight line, as an action needs it; "
                    "give a narrower range"
                )
            found[starts[id(law)] + int(place)] = (middle, slope)
    return found
