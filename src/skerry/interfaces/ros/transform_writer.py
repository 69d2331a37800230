"""Transforms as the bytes of a tf2_msgs/TFMessage: their names are encoded once, and their numbers every time."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from skerry.core.clock import Rate
from skerry.interfaces.ros.bus import Topic
from skerry.interfaces.ros.codec import Codec
from skerry.interfaces.ros.frames import FrameTree, Look, Transform
from skerry.interfaces.ros.outlets import NotingOutlet
from skerry.interfaces.ros.prepared import Fill, prepare, stamp_of


class TransformWriter:
    """Writes the transforms of one topic, which mostly are the same ones with other numbers."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._form: tuple[list[str], Fill] | None = None  # of the latest names; one piece, as several threads may write

    def write(self, time: float, names: list[str], numbers: list[float]) -> bytes:
        """The message of an instant, s, of parents and children by turns and the seven numbers of each pose."""
        form = self._form
        if form is None or names != form[0]:
            form = self._form = (names, self._prepare(names))
        return form[1](*stamp_of(time), *numbers)

    def write_all(self, time: float, transforms: Iterable[Transform]) -> bytes:
        """The message of an instant, s, of transforms as objects."""
        names: list[str] = []
        numbers: list[float] = []
        for parent, child, pose in transforms:
            names += parent, child
            numbers += [*pose.position.tolist(), *pose.orientation.tolist()]
        return self.write(time, names, numbers)

    def _prepare(self, names: list[str]) -> Fill:
        pairs = list(zip(names[::2], names[1::2], strict=True))
        transforms = [{"header": {"frame_id": parent}, "child_frame_id": child} for parent, child in pairs]
        message = self._codec.make("tf2_msgs/TFMessage", transforms=transforms)
        return prepare(self._codec, message, [f"transforms.{number}.transform" for number in range(len(pairs))])


class TransformOutlet(NotingOutlet):
    """Says where frames are that may change."""

    def __init__(self, topic: Topic, rate: Rate, frames: FrameTree, step: Fraction) -> None:
        super().__init__(topic, rate, step)
        self._frames = frames
        self._writer = TransformWriter(topic.codec)

    @property
    def looks_back(self) -> bool:
        """Yes, unless there is among them where robots believe that they are."""
        return not self._frames.are_believed

    def look(self, tick: int) -> Look:
        return self._frames.look()

    def make(self, tick: int, seen: Look) -> bytes:
        return self._writer.write(tick * self._step, *seen())
