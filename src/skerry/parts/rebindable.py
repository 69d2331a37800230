"""References that stay valid after a rebuild of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self


class Rebindable:
    """Base class of objects that callers may hold while the world is built again: world, robots, ropes and parts.

    A rebuild creates a new object for each old one. `rebind` joins the two: from then on they are two references to one
    state. Only subclasses of this class can be rebound, and only by `World`.
    """

    def rebind(self, successor: Self) -> None:
        """Take over the state of `successor`, and make both objects share it.

        The shared state is the attribute dictionary of this object. Objects of earlier rebuilds share that dictionary
        too, so their references stay valid as well.
        """
        shared, values = self.__dict__, dict(successor.__dict__)
        shared.clear()
        shared.update(values)
        object.__setattr__(successor, "__dict__", shared)


def rebind_all(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Rebind each object of `old` to the object of the same name in `new`, if there is one."""
    for name in old.keys() & new.keys():
        old[name].rebind(new[name])
