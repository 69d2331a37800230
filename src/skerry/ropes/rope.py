"""A rope as a user holds it: where it lies, what it pulls, what it is tied to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skerry.core.config import Vector3
from skerry.core.errors import SkerryError
from skerry.parts.native_controller import index_in_userdata
from skerry.ropes import layout as at
from skerry.ropes.config import RopeConfig
from skerry.ropes.system import lay

Floats = NDArray[np.float64]
Locate = Callable[[str | Vector3, Vector3], tuple[int, Floats, Floats]]
"""Finds what a rope is to be tied to: the body, the point on it, and where that is in the world now."""

Phase = Literal["hanging", "pulley", "carrying"]
PHASES: tuple[Phase, Phase, Phase] = ("hanging", "pulley", "carrying")


class Rope:
    """A rope; its nodes go from its start to its end. Everything it is lives in the world's state."""

    def __init__(
        self,
        name: str,
        config: RopeConfig,
        memory: Floats,
        twin: Floats | None,
        segment: float,
        full_length: Callable[[], float],
        locate: Locate,
        where: Callable[[Floats], Floats],
    ) -> None:
        self.name = name
        self.config = config
        self._memory = memory
        self._twin = twin
        self._segment = segment
        self._full_length = full_length
        self._locate = locate
        self._where = where

    # -------------------------------------------------------------------------------------------- looking

    @property
    def exists(self) -> bool:
        """Whether there is such a rope now."""
        return bool(self._memory[at.COUNT] > 0)

    @property
    def points(self) -> Floats:
        """Its nodes in the world, (n, 3), m; of a rope on a hook, those of both sides."""
        return self._both(lambda row: _nodes(row, 0, 3))

    @property
    def velocities(self) -> Floats:
        """Of its nodes, (n, 3), m/s."""
        return self._both(lambda row: _nodes(row, 3, 3))

    @property
    def tension(self) -> Floats:
        """Of its segments, (n − 1,), N."""
        return self._edges(7)

    @property
    def rest_lengths(self) -> Floats:
        """Of its segments, (n − 1,), m."""
        return self._edges(6)

    @property
    def length(self) -> float:
        """Its length at rest, m: what a winch has paid out."""
        return float(self.rest_lengths.sum())

    @property
    def distance(self) -> float:
        """From its start to its end in a straight line, m."""
        points = self.points
        return 0.0 if len(points) == 0 else float(np.linalg.norm(points[-1] - points[0]))

    @property
    def taut(self) -> bool:
        """Whether it pulls at what it is tied to at its start."""
        tension = self.tension
        return bool(len(tension) and tension[0] > 0)

    @property
    def tightness(self) -> NDArray[np.bool_]:
        """Of each segment, whether the rope is tight towards the start and towards the end, (n − 1, 2).

        It is tight where the straight line is as long as the rope, within `tightness_tolerance` of it.
        """
        points, rest = self.points, self.rest_lengths
        if len(points) == 0:
            return np.zeros((0, 2), bool)
        along = np.concatenate([[0.0], np.cumsum(rest)])
        least = 1.0 - self.config.tightness_tolerance
        to_start = np.linalg.norm(points[1:] - points[0], axis=1) >= least * along[1:]
        to_end = np.linalg.norm(points[:-1] - points[-1], axis=1) >= least * (along[-1] - along[:-1])
        return np.stack([to_start, to_end], axis=1)

    @property
    def end(self) -> Floats:
        """Where its end is: the load, buoy or hook, m."""
        return self.points[-1].copy()

    @property
    def loaded(self) -> bool:
        """Whether its end is tied to something."""
        return bool(self.exists and self._memory[at.TAIL + at.BODY] >= 0)

    @property
    def phase(self) -> Phase | None:
        """Of a rope with a hook: hanging free, a pulley for another rope, or carrying what hung on that."""
        return None if self.config.hook is None else PHASES[int(self._memory[at.PHASE])]

    @property
    def events(self) -> list[tuple[float, Phase]]:
        """What its hook did: times, s, and phases, in order."""
        phase = int(self._memory[at.PHASE])
        since = self._memory[at.SINCE : at.SINCE + 3]
        return [] if self.config.hook is None else [(float(since[k]), PHASES[k]) for k in range(1, phase + 1)]

    def words(self, userdata: Floats) -> NDArray[np.int64]:
        """Where native code finds it in the world's userdata, as `skerry.parts.native_controller` has it, (ROPE,)."""
        start = index_in_userdata(userdata, self._memory)
        places = [start + at.COUNT, start + at.JOIN, start + at.TAIL + at.BODY]
        places += [start + at.NODES + column * self._capacity for column in (0, 3, 7)]
        beyond = -1
        if self._twin is not None:
            capacity = (self._twin.size - at.NODES) // at.PER_NODE
            beyond = index_in_userdata(userdata, self._twin) + at.NODES + 7 * capacity
        return np.array([*places, beyond], np.int64)

    # -------------------------------------------------------------------------------------------- tying

    def attach(self, place: str | Vector3, point: Vector3 = (0.0, 0.0, 0.0)) -> None:
        """Tie its end to a link ("robot/link"), a robot, an object, or a point of the world.

        The end is where that is now: if it lies further away than a segment, the rope is laid anew.
        """
        row = self._memory
        if self.loaded:
            raise SkerryError(f"the rope {self.name!r} is tied to something already; release it first")
        if row[at.JOIN] >= 0 or (self.phase == "pulley"):
            raise SkerryError(f"the rope {self.name!r} runs over a hook; nothing can be tied to it now")
        for numbers in (point,) if isinstance(place, str) else (place, point):
            if np.shape(numbers) != (3,) or not np.isfinite(numbers).all():
                raise SkerryError(f"the rope {self.name!r} is tied to a point of three finite numbers, not {numbers}")
        body, on_body, where = self._locate(place, point)
        head = row[at.HEAD : at.HEAD + at.END]
        start_body, start_point, start = self._locate(self.config.start, self.config.start_point)
        if not self.exists or np.linalg.norm(where - self.end) > self._segment:
            length = self.length if self.exists else self._full_length()
            self._lay(start, where, length, max(round(length / self._segment), 1))
        if head[at.BODY] < 0:
            head[:] = 0.0
            head[at.BODY], head[at.POINT : at.POINT + 3] = start_body, start_point
        tail = row[at.TAIL : at.TAIL + at.END]
        tail[:] = 0.0
        tail[at.BODY], tail[at.POINT : at.POINT + 3] = body, on_body

    def release(self) -> None:
        """Let go of what its end is tied to."""
        if not self.loaded:
            raise SkerryError(f"the rope {self.name!r} has nothing at its end to release")
        self._memory[at.TAIL : at.TAIL + at.END] = 0.0
        self._memory[at.TAIL + at.BODY] = at.NOTHING

    @property
    def bodies(self) -> tuple[int | None, int | None]:
        """The numbers of the bodies that its start and its end are tied to."""
        row = self._memory if self._memory[at.JOIN] < 0 or self._twin is None else self._twin
        head = row[at.HEAD + at.BODY] if row is self._memory else row[at.TAIL + at.BODY]
        tail = self._memory[at.TAIL + at.BODY]
        return (None if head < 0 else int(head)), (None if tail < 0 else int(tail))

    def lay_again(self) -> None:
        """Lay it from what its start is tied to, to what its end is tied to, at rest."""
        row = self._memory
        ends = [self._where(row[end : end + at.END]) for end in (at.HEAD, at.TAIL)]
        self._lay(ends[0], ends[1], self.length, int(row[at.COUNT]) - 1)
        _forget(row)

    def move(self, change: Callable[[Floats], Floats]) -> None:
        """Put all its nodes elsewhere, at rest, as when what it is tied to is put elsewhere."""
        for row in (self._memory,) if self._twin is None else (self._memory, self._twin):
            nodes = _nodes(row, 0, 3)
            nodes[:] = change(nodes)
            _nodes(row, 3, 3)[:] = 0.0
            _forget(row)

    def _lay(self, start: Floats, end: Floats, length: float, segments: int) -> None:
        try:
            lay(self._memory, self._capacity, start, end, length, segments)
        except SkerryError as error:
            raise SkerryError(f"the rope {self.name!r}: {error}") from None

    @property
    def _capacity(self) -> int:
        return (self._memory.size - at.NODES) // at.PER_NODE

    def _both(self, nodes: Callable[[Floats], Floats]) -> Floats:
        """From start to end; a rope on a hook goes on beyond it in its twin."""
        own = nodes(self._memory)[::-1].copy()
        if self._memory[at.JOIN] < 0 or self._twin is None:
            return own
        return np.concatenate([nodes(self._twin), own[1:]])

    def _edges(self, column: int) -> Floats:
        own = _nodes(self._memory, column, 1)[:-1, 0][::-1].copy()
        if self._memory[at.JOIN] < 0 or self._twin is None:
            return own
        return np.concatenate([_nodes(self._twin, column, 1)[:-1, 0], own])


def _forget(row: Floats) -> None:
    """Forget how the ends moved: what is put elsewhere was not pushed there."""
    for end in (at.HEAD, at.TAIL):
        row[end + at.KNOWN : end + at.END] = 0.0


def _nodes(row: Floats, column: int, width: int) -> Floats:
    """Some numbers of a rope's nodes, from tail to head; a view."""
    capacity = (row.size - at.NODES) // at.PER_NODE
    count = int(row[at.COUNT])
    start = at.NODES + column * capacity
    return row[start : start + width * count].reshape(count, width)
