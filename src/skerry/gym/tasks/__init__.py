"""Shipped tasks, one file each; the file `sam_depth.py` holds the task SamDepth."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from skerry.core.errors import UnknownName, did_you_mean
from skerry.gym.task import Task


@cache
def shipped_tasks() -> dict[str, Task]:
    """Return all shipped tasks by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {module.TASK.name: module.TASK for module in modules}


def find_task(name: str) -> Task:
    """Return a shipped task by name.

    Raises:
        UnknownName: If there is no such task; the message suggests a name.
    """
    tasks = shipped_tasks()
    if name not in tasks:
        raise UnknownName(f"there is no task {name!r}; {did_you_mean(name, tasks)}")
    return tasks[name]
