"""Transforms as the bytes of a tf2_msgs/TFMessage: their names are encoded once, and their numbers every time."""

from __future__ import annotations

from collections.abc import Iterable

from skerry.interfaces.ros.codec import Codec
from skerry.interfaces.ros.frames import Transform
from skerry.interfaces.ros.prepared import Fill, prepare, stamp_of


class TransformWriter:
    """Writes the transforms of one topic, which mostly are the same ones with other numbers."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._names: list[str] | None = None
        self._fill: Fill

    def write(self, time: float, names: list[str], numbers: list[float]) -> bytes:
        """The message of an instant, s, of parents and children by turns and the seven numbers of each pose."""
        if names != self._names:
            self._names, self._fill = names, self._prepare(names)
        return self._fill(*stamp_of(time), *numbers)

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
