"""The topics /tf and /tf_static: transforms encoded with templates, in which the frame names are encoded only once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.publishers import SampledPublisher
from skerry.interfaces.ros.bus.bus import LATCHED, Topic
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import stacked
from skerry.interfaces.ros.messages.templates import MessageTemplate, stamp_of
from skerry.parts.observer import PastSamples
from skerry.parts.sensor import ReadingColumns, Readings
from skerry.world.frame_tree import FrameSnapshot, FrameTree, Transform


class FrameFeature(Feature):
    """Publishes moving frames on /tf and static frames on /tf_static, and sets the parameters of the UTM zone."""

    def finish(self) -> None:
        context, frames = self.context, self.context.frames
        moving = self.bus.advertise("/tf", "tf2_msgs/TFMessage")
        rate = context.rate(context.config.frame_frequency)
        context.schedule.add_timed(TransformPublisher(moving, rate, frames, context.world.scenario.step))
        self._publish_static_frames()
        if frames.projection is not None:
            self.bus.parameters["/utm_zone"] = frames.projection.zone
            self.bus.parameters["/utm_band"] = frames.projection.band

    def world_changed(self) -> None:
        self._publish_static_frames()

    def _publish_static_frames(self) -> None:
        topic = self.bus.advertise("/tf_static", "tf2_msgs/TFMessage", LATCHED)
        encode = TransformEncoder(self.bus.codec).encode_transforms
        topic.publish(encode(self.context.world.tick * self.context.step, self.context.frames.static_transforms()))


class TransformEncoder:
    """Encoder of the transforms of one topic; the template is kept until the frame names change."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._template: _FrameTemplate | None = None  # replaced as one object, because several threads may encode

    def encode(self, time: float, names: list[str], numbers: list[float]) -> bytes:
        """Return the tf2_msgs/TFMessage of one time.

        Args:
            time: Simulated time, s.
            names: Names of frames: parent and child of the first transform, then those of the second, and so on.
            numbers: Seven numbers of each transform: position, m, and quaternion (x, y, z, w).
        """
        return self._template_of(names).template.pack(*stamp_of(time), *numbers)

    def encode_batch(self, times: Sequence[float], names: list[str], numbers: NDArray[np.float64]) -> EncodedBatch:
        """Return the messages of many times, s, with the same frames; `numbers` has the shape (times, frames, 7)."""
        found = self._template_of(names)
        columns = {path: numbers[:, number] for number, path in enumerate(found.paths)}
        return found.template.batch.fill(times, columns)

    def encode_transforms(self, time: float, transforms: Iterable[Transform]) -> bytes:
        """Return the message of one time, s, from transforms as objects."""
        names: list[str] = []
        numbers: list[float] = []
        for parent, child, pose in transforms:
            names += parent, child
            numbers += [*pose.position.tolist(), *pose.orientation.tolist()]
        return self.encode(time, names, numbers)

    def _template_of(self, names: list[str]) -> _FrameTemplate:
        found = self._template
        if found is None or names != found.names:
            pairs = list(zip(names[::2], names[1::2], strict=True))
            transforms = [{"header": {"frame_id": parent}, "child_frame_id": child} for parent, child in pairs]
            message = self._codec.make("tf2_msgs/TFMessage", transforms=transforms)
            paths = [f"transforms.{number}.transform" for number in range(len(pairs))]
            template = MessageTemplate.of(self._codec, message, paths)
            found = self._template = _FrameTemplate(names, paths, template)
        return found


@dataclass(frozen=True, eq=False)
class _FrameTemplate:
    """Template of the transforms between some frames, with the path of each transform in the message."""

    names: list[str]
    paths: list[str]
    template: MessageTemplate


class TransformPublisher(SampledPublisher):
    """Publisher of the frames that may move."""

    def __init__(self, topic: Topic, rate: Rate, frames: FrameTree, step: Fraction) -> None:
        super().__init__(topic, rate, step)
        self._frames = frames
        self._encoder = TransformEncoder(topic.codec)

    @property
    def uses_samples(self) -> bool:
        """Whether all frames can be computed from samples, which is not the case for estimated frames."""
        return not self._frames.has_estimates

    @property
    def reads_batches(self) -> bool:
        """Whether samples can be read as a batch, which is not the case with frames of ropes."""
        return not self._frames.has_dynamic_frames

    def read_samples(self, past: PastSamples) -> Readings[FrameSnapshot]:
        motions = past.motions()
        moving, names = self._frames.moving, self._frames.moving_names
        columns = ReadingColumns({"moving": moving, "names": names}, motion=motions)
        return Readings(
            len(motions), lambda row: FrameSnapshot(moving, motions[row], names, []), lambda: columns, batch_key=moving
        )

    def read_sample(self, tick: int) -> FrameSnapshot:
        return self._frames.snapshot()

    def warm_up(self) -> None:
        self.read_sample(0).poses()

    def encode(self, tick: int, data: FrameSnapshot) -> bytes:
        return self._encoder.encode(tick * self._step, *data.poses())

    def encode_batch(self, ticks: Sequence[int], data: Sequence[FrameSnapshot]) -> EncodedBatch | None:
        times = [tick * self._step for tick in ticks]
        if isinstance(data, Readings) and data.columns is not None:
            columns: Any = data.columns()
            return self._encoder.encode_batch(times, columns.names, columns.moving.relative_poses(columns.motion))
        moving, names = data[0].moving, data[0].moving_names
        if any(snapshot.dynamic or snapshot.moving is not moving for snapshot in data):
            return None
        numbers = moving.relative_poses(stacked([snapshot.motion for snapshot in data]))
        return self._encoder.encode_batch(times, names, numbers)
