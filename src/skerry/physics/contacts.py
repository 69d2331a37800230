"""Where bodies touch now, and how hard: worked out from a state alone, so that nothing of it needs to be remembered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError
from skerry.physics.mujoco import mujoco
from skerry.physics.nearness import Nearness

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True)
class Touch:
    """A point of contact; names are "owner/link", or "terrain"."""

    first: str
    second: str
    position: NDArray[np.float64]  # (3,), in the world
    force: NDArray[np.float64]  # (3,), in the world, that the second feels; the first feels its reverse


class ContactProbe:
    """Evaluates the forces of a state in memory of its own; the world that is stepped is not touched."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self._data = mujoco.MjData(compiled)
        self._data.warning.number[:] = 1  # MuJoCo prints the first of each kind; the engine has said it already
        self._names = [compiled.geom(number).name.rpartition("#")[0] or "terrain" for number in range(compiled.ngeom)]
        self.nearness = Nearness(compiled, [_owner(name) for name in self._names])
        self._state: NDArray[np.float64] | None = None
        self._owners: set[str] = set()  # who touches something in that state
        self._found: list[Touch] | None = None  # worked out when somebody of them asks

    def look(self, state: NDArray[np.float64], owner: str) -> list[Touch]:
        """The contacts of an owner in a state row; asked again about the same state, it does not work twice.

        Whether it touches anything is found out first, as the forces of all bodies cost some ten times as much.
        """
        try:
            if self._state is None or not np.array_equal(self._state, state):
                self._meet(state)
            if owner not in self._owners:
                return []
            if self._found is None:
                mujoco.mj_forward(self._compiled, self._data)
                self._found = [self._touch(number) for number in range(self._data.ncon)]
        except mujoco.FatalError as error:
            self._state = None
            raise EngineError(f"MuJoCo cannot work out the contacts: {error}") from None
        return [touch for touch in self._found if owner in (_owner(touch.first), _owner(touch.second))]

    def _meet(self, state: NDArray[np.float64]) -> None:
        self._state, self._found = state, None
        mujoco.mj_setState(self._compiled, self._data, self._state, STATE)
        mujoco.mj_kinematics(self._compiled, self._data)
        mujoco.mj_collision(self._compiled, self._data)
        self._owners = (
            {_owner(self._names[geom]) for geom in self._data.contact.geom.flat} if self._data.ncon else set()
        )

    def _touch(self, number: int) -> Touch:
        contact = self._data.contact[number]
        force = np.zeros(6)
        mujoco.mj_contactForce(self._compiled, self._data, number, force)
        # Rows of the frame are the contact's axes in the world, the first of them from the first geom to the second.
        in_world = force[:3] @ contact.frame.reshape(3, 3)
        place = contact.pos.copy()
        place.setflags(write=False)
        return Touch(self._names[contact.geom1], self._names[contact.geom2], place, in_world)


def _owner(name: str) -> str:
    return name.partition("/")[0]
