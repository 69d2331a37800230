"""Frames that peers publish on /tf and /tf_static, and their poses in the world."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, normalise
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.messages.codec import Message
from skerry.world.frame_tree import Transform

MAX_FRAMES: Final = 1000  # frames of peers that are stored; further frames are ignored


@dataclass(frozen=True)
class PlacedFrame:
    """Frame of a peer with its pose in the world."""

    name: str
    parent: str
    pose: Pose

    def plain(self) -> dict[str, Any]:
        """Return the frame as JSON values."""
        position, orientation = self.pose.position.tolist(), self.pose.orientation.tolist()
        return {"name": self.name, "parent": self.parent, "position": position, "orientation": orientation}


class ExternalFrameFeature(Feature):
    """Stores the latest transform of each frame of a peer.

    Some transports also return the simulator's own transforms; they are ignored.
    """

    def __init__(self, context: BridgeContext) -> None:
        super().__init__(context)
        self._own: set[str] = set()
        self._received: dict[str, Transform] = {}
        self._lock = Lock()  # transports call `_on_transforms` in their own threads

    def finish(self) -> None:
        if self.context.config.subscribe_frames:
            self._own = {item.child for item in self.context.frames.transforms()}
            for topic in ("/tf", "/tf_static"):
                self.bus.subscribe(topic, "tf2_msgs/TFMessage", self._on_transforms)

    def _on_transforms(self, message: Message) -> None:
        found = {}
        for item in message.transforms:
            if item.child_frame_id not in self._own and not self.context.frames.is_dynamic(item.child_frame_id):
                t, q = item.transform.translation, item.transform.rotation
                rotation = [q.x, q.y, q.z, q.w]
                if not np.isfinite([t.x, t.y, t.z, *rotation]).all() or not any(rotation):
                    raise SkerryError(
                        f"the transform of {item.child_frame_id!r} has NaN or infinite values, or a zero quaternion"
                    )
                pose = Pose([t.x, t.y, t.z], normalise(rotation))
                found[item.child_frame_id] = Transform(item.header.frame_id, item.child_frame_id, pose)
        with self._lock:
            self._received |= found
            if len(self._received) > MAX_FRAMES:
                self._received = dict(list(self._received.items())[:MAX_FRAMES])

    def placed(self) -> list[PlacedFrame]:
        """Return the frames that are connected to the map, to UTM or to a frame of the simulator, sorted by name."""
        with self._lock:
            received = dict(self._received)
        if not received:
            return []
        frames = self.context.frames
        edges = {item.child: item for item in frames.transforms()} | received
        known: dict[str, Pose | None] = {frames.map: Pose.identity(), "map": Pose.identity()}
        if frames.projection is not None:
            known["utm"] = Pose(-frames.projection.origin, Pose.identity().orientation)

        def find(name: str) -> Pose | None:
            if name not in known:
                known[name] = None  # ends the recursion if the frames form a loop
                edge = edges.get(name)
                outer = None if edge is None else find(edge.parent)
                known[name] = None if outer is None or edge is None else outer @ edge.pose
            return known[name]

        placed = [(name, find(name)) for name in sorted(received)]
        return [PlacedFrame(name, received[name].parent, pose) for name, pose in placed if pose is not None]
