"""Frames that peers say on /tf and /tf_static, beside the simulator's own, and where they are in the world."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, normalise
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.messages.codec import Message
from skerry.world.frame_tree import Transform

MAX_FRAMES: Final = 1000  # that are kept; a peer that makes up more is not heard


@dataclass(frozen=True)
class PlacedFrame:
    """A frame of a peer, in the world."""

    name: str
    parent: str
    pose: Pose

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        position, orientation = self.pose.position.tolist(), self.pose.orientation.tolist()
        return {"name": self.name, "parent": self.parent, "position": position, "orientation": orientation}


class OutsideFrames:
    """Keeps the latest of each frame that is not the simulator's own, as that comes back over some transports."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._own = {item.child for item in context.frames.transforms()}
        self._heard: dict[str, Transform] = {}
        self._lock = Lock()  # peers speak in threads of their own
        for topic in ("/tf", "/tf_static"):
            context.bus.subscribe(topic, "tf2_msgs/TFMessage", self._hear)

    def _hear(self, message: Message) -> None:
        found = {}
        for item in message.transforms:
            if item.child_frame_id not in self._own and not self._context.frames.is_dynamic(item.child_frame_id):
                t, q = item.transform.translation, item.transform.rotation
                turn = [q.x, q.y, q.z, q.w]
                if not np.isfinite([t.x, t.y, t.z, *turn]).all() or not any(turn):
                    raise SkerryError(f"the frame {item.child_frame_id!r} has no pose")
                pose = Pose([t.x, t.y, t.z], normalise(turn))
                found[item.child_frame_id] = Transform(item.header.frame_id, item.child_frame_id, pose)
        with self._lock:
            self._heard |= found
            if len(self._heard) > MAX_FRAMES:
                self._heard = dict(list(self._heard.items())[:MAX_FRAMES])

    def placed(self) -> list[PlacedFrame]:
        """Those whose parents lead to the map, to UTM or to a frame of the simulator, in the order of their names."""
        with self._lock:
            heard = dict(self._heard)
        if not heard:
            return []
        frames = self._context.frames
        edges = {item.child: item for item in frames.transforms()} | heard
        known: dict[str, Pose | None] = {frames.map: Pose.identity(), "map": Pose.identity()}
        if frames.projection is not None:
            known["utm"] = Pose(-frames.projection.origin, Pose.identity().orientation)

        def find(name: str) -> Pose | None:
            if name not in known:
                known[name] = None  # a frame that leads to itself leads nowhere
                edge = edges.get(name)
                outer = None if edge is None else find(edge.parent)
                known[name] = None if outer is None or edge is None else outer @ edge.pose
            return known[name]

        placed = [(name, find(name)) for name in sorted(heard)]
        return [PlacedFrame(name, heard[name].parent, pose) for name, pose in placed if pose is not None]
