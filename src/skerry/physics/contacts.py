"""Contact points and contact forces, computed from a state row alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError
from skerry.physics.mujoco import mujoco
from skerry.physics.proximity import ProximityCheck

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True)
class BodyContact:
    """Point of contact between two links; names are "owner/link", or "terrain"."""

    first: str
    second: str
    position: NDArray[np.float64]  # (3,), world frame, m
    force: NDArray[np.float64]  # (3,), world frame, N: acts on the second link; the first link gets the opposite


class ContactProbe:
    """Evaluator of contacts in its own mjData, separate from the world that is stepped."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self._data = mujoco.MjData(compiled)
        self._data.warning.number[:] = 1  # MuJoCo prints only the first of each kind; the engine logs them
        self._names = [compiled.geom(number).name.rpartition("#")[0] or "terrain" for number in range(compiled.ngeom)]
        self.proximity = ProximityCheck(compiled, [_owner(name) for name in self._names])
        self._state: NDArray[np.float64] | None = None
        self._owners: set[str] = set()  # robots and objects with a contact in that state
        self._found: list[BodyContact] | None = None  # computed when one of them is queried

    def contacts_of(self, state: NDArray[np.float64], owner: str) -> list[BodyContact]:
        """Return the contact points of a robot or object in a state row; the last state is cached.

        Collision detection comes first, because the forces of all bodies cost about ten times as much.
        """
        try:
            if self._state is None or not np.array_equal(self._state, state):
                self._detect(state)
            if owner not in self._owners:
                return []
            if self._found is None:
                mujoco.mj_forward(self._compiled, self._data)
                self._found = [self._contact_point(number) for number in range(self._data.ncon)]
        except mujoco.FatalError as error:
            self._state = None
            raise EngineError(f"MuJoCo cannot compute the contacts of {owner!r}: {error}") from None
        return [point for point in self._found if owner in (_owner(point.first), _owner(point.second))]

    def _detect(self, state: NDArray[np.float64]) -> None:
        self._state, self._found = state, None
        mujoco.mj_setState(self._compiled, self._data, self._state, STATE)
        mujoco.mj_kinematics(self._compiled, self._data)
        mujoco.mj_collision(self._compiled, self._data)
        self._owners = (
            {_owner(self._names[geom]) for geom in self._data.contact.geom.flat} if self._data.ncon else set()
        )

    def _contact_point(self, number: int) -> BodyContact:
        contact = self._data.contact[number]
        force = np.zeros(6)
        mujoco.mj_contactForce(self._compiled, self._data, number, force)
        # Rows of the frame are the axes of the contact in the world; the first row points from geom 1 to geom 2.
        in_world = force[:3] @ contact.frame.reshape(3, 3)
        position = contact.pos.copy()
        position.setflags(write=False)
        return BodyContact(self._names[contact.geom1], self._names[contact.geom2], position, in_world)


def _owner(name: str) -> str:
    return name.partition("/")[0]
