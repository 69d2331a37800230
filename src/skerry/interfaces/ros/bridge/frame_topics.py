"""The topics /tf and /tf_static: transforms encoded with templates, in which the frame names are encoded only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.publishers import SampledPublisher
from skerry.interfaces.ros.bus.bus import FRAMES, LATCHED, Topic
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.templates import MessageTemplate
from skerry.parts.observer import PastSamples
from skerry.world.frame_tree import FrameSnapshot, FrameTree, frame_poses


class FrameFeature(Feature):
    """Publishes moving frames on /tf and static frames on /tf_static, and sets the parameters of the UTM zone."""

    def finish(self) -> None:
        context, frames = self.context, self.context.frames
        moving = self.bus.advertise("/tf", "tf2_msgs/TFMessage")
        moving.rank = FRAMES
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
        transforms = list(self.context.frames.static_transforms())
        names = [name for parent, child, _ in transforms for name in (parent, child)]
        numbers = np.array([[*pose.position, *pose.orientation] for _, _, pose in transforms]).reshape(1, -1, 7)
        times = [self.context.world.tick * self.context.step]
        message = TransformEncoder(self.bus.codec).encode(times, names, numbers).message(0)
        topic.publish(message)


class TransformEncoder:
    """Encoder of the transforms of one topic; the template is kept until the frame names change."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._template: _FrameTemplate | None = None  # replaced as one object, because several threads may encode

    def encode(self, times: ArrayLike, names: list[str], numbers: NDArray[np.float64]) -> EncodedBatch:
        """Return the tf2_msgs/TFMessage of n ≥ 1 times.

        Args:
            times: Simulated times, s, (n,).
            names: Names of frames: parent and child of the first transform, then those of the second, and so on.
            numbers: Position, m, and quaternion (x, y, z, w) of each transform, (n, transforms, 7).
        """
        found = self._template_of(names)
        columns = {path: numbers[:, number] for number, path in enumerate(found.paths)}
        return found.template.fill(np.asarray(times), columns)

    def _template_of(self, names: list[str]) -> _FrameTemplate:
        found = self._template
        if found is None or names != found.names:
            pairs = list(zip(names[::2], names[1::2], strict=True))
            transforms = [{"header": {"frame_id": parent}, "child_frame_id": child} for parent, child in pairs]
            message = self._codec.make("tf2_msgs/TFMessage", transforms=transforms)
            paths = [f"transforms.{number}.transform" for number in range(len(pairs))]
            template = MessageTemplate(self._codec, message, paths)
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

    def read_samples(self, past: PastSamples) -> list[FrameSnapshot]:
        moving, names = self._frames.moving, self._frames.moving_names
        return [FrameSnapshot(moving, motion, names, []) for motion in past.motions()]

    def read_now(self, tick: int) -> list[FrameSnapshot]:
        return [self._frames.snapshot()]

    def warm_up(self) -> None:
        self.encode([0], self.read_now(0))

    def encode(self, ticks: Sequence[int], data: list[FrameSnapshot]) -> EncodedBatch:
        found, start = [], 0
        for _, group in groupby(data, lambda snapshot: (id(snapshot.moving), snapshot.dynamic_names)):
            snapshots = list(group)
            end = start + len(snapshots)
            found.append(self._encoder.encode(np.array(ticks[start:end]) * self._step, *frame_poses(snapshots)))
            start = end
        return found[0] if len(found) == 1 else EncodedBatch.concat(found)
