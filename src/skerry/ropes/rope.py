"""Rope in the public API: positions, tensions and attachments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skerry.core.config import Vector3
from skerry.core.errors import SkerryError
from skerry.parts.native_controller import index_in_userdata
from skerry.ropes import layout as at
from skerry.ropes.config import RopeConfig
from skerry.ropes.pulley import Pulley
from skerry.ropes.system import lay, lay_over_pulley, tie

Floats = NDArray[np.float64]
Locate = Callable[[str | Vector3, Vector3], tuple[int, Floats, Floats]]
"""Function that returns the body number, the point on the body, and its current position in the world."""

Phase = Literal["hanging", "pulley", "carrying"]
PHASES: tuple[Phase, Phase, Phase] = ("hanging", "pulley", "carrying")


@dataclass(frozen=True, eq=False)
class RopeBinding:
    """Settings of a rope in one world, and its memory in the engine of that world."""

    config: RopeConfig
    memory: Floats  # live view of its state
    spare: Floats | None  # live view of the state of the part beyond a hook or pulley; None if it has none
    segment: float  # nominal length of a segment, m
    full_length: Callable[[], float]  # returns the length of a rope that is to be laid, m
    locate: Locate  # finds an attachment
    end_position: Callable[[Floats], Floats]  # returns the current position of a tied end from its state


class Rope:
    """Rope of a world, with nodes from its start to its end. Its whole state is part of the world's state.

    Args:
        name: name of the rope.
        binding: its settings and memory.
    """

    def __init__(self, name: str, binding: RopeBinding) -> None:
        self.name = name
        self._binding = binding

    def bind(self, binding: RopeBinding) -> None:
        """Continue with the settings and the memory of a rebuilt world."""
        self._binding = binding

    @property
    def config(self) -> RopeConfig:
        """Settings of the rope."""
        return self._binding.config

    @property
    def _memory(self) -> Floats:
        return self._binding.memory

    @property
    def _spare(self) -> Floats | None:
        return self._binding.spare

    def __repr__(self) -> str:
        if not self.exists:
            return f"<Rope {self.name}: does not exist now>"
        status = "taut" if self.taut else "slack"
        return f"<Rope {self.name}: {self.length:.4g} m, {status}{', end tied' if self.loaded else ''}>"

    # -------------------------------------------------------------------------------------------- state

    @property
    def exists(self) -> bool:
        """Whether the rope exists now."""
        return bool(self._memory[at.COUNT] > 0)

    @property
    def points(self) -> Floats:
        """Positions of its nodes in the world, (n, 3), m; a rope over a hook or pulley includes both sides."""
        return self._node_values(lambda row: _nodes(row, 0, 3))

    @property
    def velocities(self) -> Floats:
        """Velocities of its nodes, (n, 3), m/s."""
        return self._node_values(lambda row: _nodes(row, 3, 3))

    @property
    def tension(self) -> Floats:
        """Tensions of its segments, (n − 1,), N."""
        return self._edge_values(7)

    @property
    def rest_lengths(self) -> Floats:
        """Rest lengths of its segments, (n − 1,), m."""
        return self._edge_values(6)

    @property
    def length(self) -> float:
        """Length at rest, m; for a rope on a winch the length paid out."""
        return float(self.rest_lengths.sum())

    @property
    def distance(self) -> float:
        """Straight distance from its start to its end, m."""
        points = self.points
        return 0.0 if len(points) == 0 else float(np.linalg.norm(points[-1] - points[0]))

    @property
    def taut(self) -> bool:
        """Whether the rope has tension at its start."""
        tension = self.tension
        return bool(len(tension) and tension[0] > 0)

    @property
    def tightness(self) -> NDArray[np.bool_]:
        """Whether the rope is tight from each segment to the start, and to the end, (n − 1, 2).

        It is tight if the straight line is as long as the rope, within `tightness_tolerance`.
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
        """Position of its end, which may have a load, buoy or hook, (3,), m.

        Raises:
            SkerryError: the rope does not exist now.
        """
        if not self.exists:
            taken = "a hook has caught it, and the part up to its load belongs to the rope of the hook now"
            reason = taken if self.config.setup_on_start else "`attach` creates it"
            raise SkerryError(f"the rope {self.name!r} does not exist now, so it has no end: {reason}")
        return self.points[-1].copy()

    @property
    def pulley(self) -> Pulley | None:
        """Pulley that it runs over, with the limits, distances and tensions of both sides; None without one."""
        if self.config.pulley is None or self._spare is None or not self.exists:
            return None
        return Pulley.of(self._spare, self._memory)

    @property
    def broken(self) -> tuple[Literal["start", "end"], ...]:
        """Ends that have broken off because the tension there reached `maximum_force`."""
        row, beyond = self._memory, self._spare
        ends: list[Literal["start", "end"]] = []
        if row[at.BROKEN] == 1.0 or (beyond is not None and beyond[at.BROKEN] == 2.0):
            ends.append("start")
        if row[at.BROKEN] == 2.0:
            ends.append("end")
        return tuple(ends)

    @property
    def loaded(self) -> bool:
        """Whether its end is tied."""
        return bool(self.exists and self._memory[at.TAIL + at.BODY] >= 0)

    @property
    def phase(self) -> Phase | None:
        """Phase of a rope with a hook: "hanging" free, "pulley" for a caught rope, or "carrying" its load."""
        return None if self.config.hook is None else PHASES[int(self._memory[at.PHASE])]

    @property
    def events(self) -> list[tuple[float, Phase]]:
        """Times, s, at which its hook entered a phase, with the phases, in order."""
        phase = int(self._memory[at.PHASE])
        since = self._memory[at.PHASE_TIMES : at.PHASE_TIMES + 3]
        return [] if self.config.hook is None else [(float(since[k]), PHASES[k]) for k in range(1, phase + 1)]

    def native_indices(self, userdata: Floats) -> NDArray[np.int64]:
        """Return the indices in userdata by which native controllers read the rope, (ROPE,).

        The order is that of `skerry.parts.native_controller`.
        """
        start = index_in_userdata(userdata, self._memory)
        indices = [start + at.COUNT, start + at.HOOK_ROPE, start + at.TAIL + at.BODY]
        indices += [start + at.NODES + column * self._capacity for column in (0, 3, 7)]
        beyond = -1
        if self._spare is not None:
            capacity = (self._spare.size - at.NODES) // at.PER_NODE
            beyond = index_in_userdata(userdata, self._spare) + at.NODES + 7 * capacity
        return np.array([*indices, beyond], np.int64)

    # -------------------------------------------------------------------------------------------- tying

    def attach(self, target: str | Vector3, point: Vector3 = (0.0, 0.0, 0.0)) -> None:
        """Tie its end to a link, a robot, an object, or a point of the world.

        If the end is farther from the target than a segment, the whole rope is laid again at rest.

        Args:
            target: "robot/link", a robot, an object, or a point of the world, m.
            point: point on the target, in its frame, m.

        Raises:
            SkerryError: the end is tied already, runs over a hook, or cannot reach the target.
        """
        row = self._memory
        if self.loaded:
            raise SkerryError(f"the end of the rope {self.name!r} is tied already; release it first")
        pulley = self.config.pulley
        if (row[at.HOOK_ROPE] >= 0 and pulley is None) or self.phase == "pulley":
            raise SkerryError(f"the rope {self.name!r} runs over a hook; it cannot be tied now")
        for numbers in (point,) if isinstance(target, str) else (target, point):
            if np.shape(numbers) != (3,) or not np.isfinite(numbers).all():
                raise SkerryError(f"the rope {self.name!r} needs a point of three finite numbers, not {numbers}")
        body, on_body, end_position = self._binding.locate(target, point)
        start_body, start_point, start = self._binding.locate(self.config.start, self.config.start_point)
        if not self.exists or np.linalg.norm(end_position - self.end) > self._binding.segment:
            length = self.length if self.exists else self._binding.full_length()
            self._lay(start, end_position, length, max(round(length / self._binding.segment), 1))
        head, head_row = (at.HEAD, row) if pulley is None or self._spare is None else (at.TAIL, self._spare)
        if head_row[head + at.BODY] < 0:
            tie(head_row, head, start_body, start_point)
        tie(row, at.TAIL, body, on_body)
        row[at.BROKEN] = 0.0

    def release(self) -> None:
        """Untie its end.

        Raises:
            SkerryError: the end is not tied.
        """
        if not self.loaded:
            raise SkerryError(f"the end of the rope {self.name!r} is not tied, so it cannot be released")
        self._memory[at.TAIL : at.TAIL + at.END] = 0.0
        self._memory[at.TAIL + at.BODY] = at.NO_INDEX

    @property
    def bodies(self) -> list[int]:
        """Body numbers that its start, its end and its pulley are tied to."""
        ends = [row[end + at.BODY] for row in self._rows for end in (at.HEAD, at.TAIL)]
        return [int(body) for body in ends if body >= 0]

    def lay_again(self) -> None:
        """Lay the rope again, at rest, between the current positions of its tied ends."""
        row = self._memory
        start = row[at.HEAD :] if self.config.pulley is None or self._spare is None else self._spare[at.TAIL :]
        ends = [self._binding.end_position(end[: at.END]) for end in (start, row[at.TAIL :])]
        self._lay(ends[0], ends[1], self.length, int(row[at.COUNT]) - 1)
        for side in self._rows:
            _clear_end_motion(side)

    def move(self, change: Callable[[Floats], Floats]) -> None:
        """Move all nodes by a function of positions, (n, 3), at rest, because the bodies at its ends were moved."""
        for row in self._rows:
            nodes = _nodes(row, 0, 3)
            nodes[:] = change(nodes)
            _nodes(row, 3, 3)[:] = 0.0
            _clear_end_motion(row)

    @property
    def _rows(self) -> tuple[Floats, ...]:
        """States of its sides that exist now."""
        return (self._memory,) if self._memory[at.HOOK_ROPE] < 0 or self._spare is None else (self._memory, self._spare)

    def _lay(self, start: Floats, end: Floats, length: float, segments: int) -> None:
        pulley = self.config.pulley
        try:
            if pulley is not None and self._spare is not None:
                at_pulley = self._binding.locate(pulley.at, pulley.point)[2]
                lay_over_pulley(self._memory, self._spare, start, at_pulley, end, length, self._binding.segment)
            else:
                lay(self._memory, start, end, length, segments)
        except SkerryError as error:
            raise SkerryError(f"the rope {self.name!r}: {error}") from None

    @property
    def _capacity(self) -> int:
        return (self._memory.size - at.NODES) // at.PER_NODE

    def _node_values(self, nodes: Callable[[Floats], Floats]) -> Floats:
        """Return values of all nodes from start to end; beyond a hook they come from the spare rope."""
        own = nodes(self._memory)[::-1].copy()
        if self._memory[at.HOOK_ROPE] < 0 or self._spare is None:
            return own
        return np.concatenate([nodes(self._spare), own[1:]])

    def _edge_values(self, column: int) -> Floats:
        own = _nodes(self._memory, column, 1)[:-1, 0][::-1].copy()
        if self._memory[at.HOOK_ROPE] < 0 or self._spare is None:
            return own
        return np.concatenate([_nodes(self._spare, column, 1)[:-1, 0], own])


def _clear_end_motion(row: Floats) -> None:
    """Clear the stored motion of the ends, so that a teleport does not count as an acceleration."""
    for end in (at.HEAD, at.TAIL):
        row[end + at.INERTIA_KNOWN : end + at.END] = 0.0


def _nodes(row: Floats, column: int, width: int) -> Floats:
    """Return a view (count, width) of a section of a rope's nodes, from tail to head."""
    capacity = (row.size - at.NODES) // at.PER_NODE
    count = int(row[at.COUNT])
    start = at.NODES + column * capacity
    return row[start : start + width * count].reshape(count, width)
