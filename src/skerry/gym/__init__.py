"""Learning: tasks as Gymnasium environments, single or vectorised, and fleets as PettingZoo environments.

Importing this package registers the environments: `import skerry.gym`, then `gymnasium.make("skerry/SamDepth-v0")`.
"""

from __future__ import annotations

from skerry.core.errors import DependencyError

try:
    import gymnasium
except ImportError as error:
    raise DependencyError("skerry.gym needs Gymnasium; run `pip install 'skerry[gym]'`") from error

from skerry.gym.distributions import Choice, LogUniform, Normal, Uniform
from skerry.gym.environment import Environment
from skerry.gym.task import ActionCommand, Scan, Task
from skerry.gym.tasks import shipped_tasks
from skerry.gym.vector import VectorEnvironment

VERSION = 0
"""Version number in all environment ids; incremented when a change makes old and new scores differ."""


def register(task: Task) -> str:
    """Register a task with Gymnasium.

    Returns:
        The environment id, for `gymnasium.make`.
    """
    name = f"skerry/{task.name}-v{VERSION}"
    gymnasium.register(
        name,
        "skerry.gym.environment:Environment",
        reward_threshold=task.reward_threshold,
        max_episode_steps=task.control_steps,
        kwargs={"task": task.name if task.name in shipped_tasks() else task},
        vector_entry_point="skerry.gym.vector:VectorEnvironment",
    )
    return name


for _task in shipped_tasks().values():
    register(_task)

__all__ = [
    "ActionCommand",
    "Choice",
    "Environment",
    "LogUniform",
    "Normal",
    "Scan",
    "Task",
    "Uniform",
    "VectorEnvironment",
    "register",
]
