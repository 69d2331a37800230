"""Transforms as the bytes of a tf2_msgs/TFMessage: their names are encoded once, and their numbers every time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.publishers import NotingOutlet
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.interfaces.ros.messages.encoders import stacked
from skerry.interfaces.ros.messages.templates import Form, stamp_of
from skerry.parts.observer import PastSamples
from skerry.parts.sensor import ReadingColumns, Readings
from skerry.world.frame_tree import FrameSnapshot, FrameTree, Transform


class TransformWriter:
    """Writes the transforms of one topic, which mostly are the same ones with other numbers."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._form: _Form | None = None  # of the latest names; one piece, as several threads may write

    def write(self, time: float, names: list[str], numbers: list[float]) -> bytes:
        """The message of an instant, s, of parents and children by turns and the seven numbers of each pose."""
        return self._form_of(names).form.one(*stamp_of(time), *numbers)

    def write_many(self, times: Sequence[float], names: list[str], numbers: NDArray[np.float64]) -> Packed:
        """The messages of many instants, s, in which the same frames have these numbers, (instants, frames, 7)."""
        form = self._form_of(names)
        return form.form.many.fill(times, {path: numbers[:, number] for number, path in enumerate(form.paths)})

    def write_all(self, time: float, transforms: Iterable[Transform]) -> bytes:
        """The message of an instant, s, of transforms as objects."""
        names: list[str] = []
        numbers: list[float] = []
        for parent, child, pose in transforms:
            names += parent, child
            numbers += [*pose.position.tolist(), *pose.orientation.tolist()]
        return self.write(time, names, numbers)

    def _form_of(self, names: list[str]) -> _Form:
        form = self._form
        if form is None or names != form.names:
            pairs = list(zip(names[::2], names[1::2], strict=True))
            transforms = [{"header": {"frame_id": parent}, "child_frame_id": child} for parent, child in pairs]
            message = self._codec.make("tf2_msgs/TFMessage", transforms=transforms)
            paths = [f"transforms.{number}.transform" for number in range(len(pairs))]
            form = self._form = _Form(names, paths, Form.of(self._codec, message, paths))
        return form


@dataclass(frozen=True, eq=False)
class _Form:
    """How the transforms between some frames are written, in one message or in many."""

    names: list[str]
    paths: list[str]
    form: Form


class TransformOutlet(NotingOutlet):
    """Says where frames are that may change."""

    def __init__(self, topic: Topic, rate: Rate, frames: FrameTree, step: Fraction) -> None:
        super().__init__(topic, rate, step)
        self._frames = frames
        self._writer = TransformWriter(topic.codec)

    @property
    def looks_back(self) -> bool:
        """Yes, unless there is among them where robots believe that they are."""
        return not self._frames.has_estimates

    @property
    def reads_the_past(self) -> bool:
        """Yes, unless there are ropes among them, which must be seen."""
        return not self._frames.has_dynamic_frames

    def look_at(self, past: PastSamples) -> Readings[FrameSnapshot]:
        motions = past.motions()
        moving, names = self._frames.moving, self._frames.moving_names
        columns = ReadingColumns({"moving": moving, "names": names}, motion=motions)
        return Readings(
            len(motions),
            lambda row: FrameSnapshot(moving, motions[row], names, []),
            lambda: columns,
            batch_key=moving,
        )

    def look(self, tick: int) -> FrameSnapshot:
        return self._frames.snapshot()

    def warm_up(self) -> None:
        self.look(0).poses()

    def make(self, tick: int, seen: FrameSnapshot) -> bytes:
        return self._writer.write(tick * self._step, *seen.poses())

    def make_all(self, ticks: Sequence[int], seen: Sequence[FrameSnapshot]) -> Packed | None:
        times = [tick * self._step for tick in ticks]
        if isinstance(seen, Readings) and seen.columns is not None:
            columns: Any = seen.columns()
            return self._writer.write_many(times, columns.names, columns.moving.relative_poses(columns.motion))
        moving, names = seen[0].moving, seen[0].moving_names
        if any(sight.dynamic or sight.moving is not moving for sight in seen):
            return None
        numbers = moving.relative_poses(stacked([sight.motion for sight in seen]))
        return self._writer.write_many(times, names, numbers)
